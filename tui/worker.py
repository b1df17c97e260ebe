"""Threads that read the store for the screen, with one leased reader each.

The screen never waits and never runs SQL. It submits a job to a slot of a worker; a newer job of
the same slot replaces the older one and interrupts it if it runs. Results come back as Textual
messages, and are dropped if a newer job has been submitted meanwhile.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from textual.message import Message

from hermes_browse.store.connection.connect import Fingerprint, Store
from hermes_browse.store.connection.reader import Reader
from hermes_browse.store.errors import BrowseError, QueryInterruptedError

from .logfile import log_expected, unexpected

Result = TypeVar("Result")

IDLE_SECONDS = 1.0
"""An idle reader is closed after this time: Hermes counts an open one as a holder (0.22)."""
POLL_SECONDS = 0.5
"""Between checks whether the file has changed."""
AWAY_POLL_SECONDS = 3.0
"""The same while the terminal has no focus."""


class Answered(Message):
    """The result of a job; the receiver calls `deliver`."""

    def __init__(
        self, worker: Worker, slot: str, generation: int, deliver: Callable[[], None]
    ) -> None:
        super().__init__()
        self._worker, self._slot, self._generation = worker, slot, generation
        self._deliver = deliver

    def deliver(self) -> None:
        """Pass the result to the job's callback, unless a newer job of the slot has made it
        stale."""
        self._worker.answer_taken()
        if self._worker.is_current(self._slot, self._generation):
            self._deliver()


class StoreChanged(Message):
    """The fingerprint of the file has changed."""


@dataclass(slots=True)
class _Job(Generic[Result]):
    slot: str
    generation: int
    work: Callable[[Reader], Result]
    done: Callable[[Result], None]
    failed: Callable[[BrowseError], None]


def trim_memory() -> None:
    """Return free memory to the system; takes a few milliseconds, without Python's lock.

    glibc keeps what a thread has freed for that thread. With a dozen threads, each of which needs
    much memory now and then, that was 13 of 87 MiB after an hour's worth of keys.
    """
    import ctypes  # only idle workers need it

    # Only glibc has `malloc_trim`.
    trim = (
        getattr(ctypes.CDLL(None), "malloc_trim", None)
        if sys.platform.startswith("linux")
        else None
    )
    if trim is not None:
        trim(0)


class Worker:
    """A thread with a leased reader.

    Args:
        post: Posts a message to the screen, from any thread (`post_message`).
        failed: Called with the error of a job that has no callback of its own for errors.
        watch: Check the file for changes and post `StoreChanged`.
    """

    def __init__(
        self,
        store: Store,
        post: Callable[[Message], object],
        failed: Callable[[BrowseError], None],
        name: str,
        *,
        watch: bool = False,
    ) -> None:
        self._store, self._post, self._failed, self._watch = store, post, failed, watch
        self._condition = threading.Condition()
        self._waiting: dict[str, _Job[object]] = {}
        self._generations: dict[str, int] = {}
        self._running: _Job[object] | None = None
        self._reader: Reader | None = None
        self._closing = False
        self._releasing = False
        self._undelivered = 0
        self._awaited = ""
        """The slot whose answer `submit` waits for."""
        self._awaited_answer: Answered | None = None
        self.away = False
        """The terminal has no focus: check the file less often."""
        self._fingerprint: Fingerprint = store.fingerprint() if watch else ()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def submit(
        self,
        slot: str,
        work: Callable[[Reader], Result],
        done: Callable[[Result], None],
        failed: Callable[[BrowseError], None] | None = None,
        *,
        wait: float = 0.0,
    ) -> None:
        """Submit a job; called on the screen's thread, as are `done` and `failed` later.

        Args:
            slot: A newer job of the same slot replaces this one.
            work: Runs on the worker's thread with a reader, which it must not keep.
            wait: Seconds, less than a frame, to wait for the result. It is delivered before this
                returns if it comes in time, else as a message.
        """
        with self._condition:
            self._awaited = slot if wait else ""
            job: _Job[Result] = _Job(
                slot, self._supersede(slot), work, done, failed or self._failed
            )
            self._waiting[slot] = job  # type: ignore[assignment]  # only the job knows the type of its result
            self._condition.notify_all()
            if not wait:
                return
            self._condition.wait_for(lambda: self._awaited_answer is not None, wait)
            self._awaited, answer, self._awaited_answer = "", self._awaited_answer, None
        if answer is not None:
            answer.deliver()

    def cancel(self, slot: str) -> None:
        """Cancel the job of a slot; a result under way is dropped."""
        with self._condition:
            self._supersede(slot)

    def _supersede(self, slot: str) -> int:
        """Drop what a slot waits for, interrupt what it runs, and return the generation of its next
        job."""
        self._generations[slot] = generation = self._generations.get(slot, 0) + 1
        self._waiting.pop(slot, None)
        if self._running is not None and self._running.slot == slot and self._reader is not None:
            self._reader.interrupt()
        return generation

    def answer_taken(self) -> None:
        """Count an answer as delivered."""
        with self._condition:
            self._undelivered -= 1

    @property
    def is_busy(self) -> bool:
        """Whether a job is waiting or running, or its result has not been delivered."""
        with self._condition:
            return bool(self._waiting) or self._running is not None or self._undelivered > 0

    @property
    def holds_reader(self) -> bool:
        """Whether the store is open."""
        return self._reader is not None

    def is_current(self, slot: str, generation: int) -> bool:
        """Whether no newer job has been submitted to the slot."""
        with self._condition:
            return self._generations.get(slot) == generation

    def release(self) -> None:
        """Close the store now instead of when idle; waits up to two seconds for a running job."""
        with self._condition:
            self._releasing = True
            self._condition.notify_all()
            self._condition.wait_for(lambda: self._reader is None, 2.0)
            self._releasing = False

    def stop(self) -> None:
        """End the thread, which closes the store; waits up to two seconds for it."""
        with self._condition:
            self._closing = True
            self._waiting.clear()
            if self._reader is not None:
                self._reader.interrupt()
            self._condition.notify_all()
        if self._thread.is_alive():
            self._thread.join(timeout=2.0)

    def _next(self) -> _Job[object] | None:
        """Wait for the next job; None when the reader is to be closed or the thread is to end."""
        idle_since = time.monotonic()
        with self._condition:
            self._running = None
            while not self._waiting and not self._closing:
                is_idle = self._releasing or time.monotonic() - idle_since >= IDLE_SECONDS
                if self._reader is not None and is_idle:
                    return None
                timeouts = [AWAY_POLL_SECONDS if self.away else POLL_SECONDS] if self._watch else []
                timeouts += [IDLE_SECONDS] if self._reader is not None else []
                self._condition.wait(min(timeouts, default=None))
                if self._watch:
                    self._check_file()
            if self._closing:
                return None
            slot = next(iter(self._waiting))
            job = self._running = self._waiting.pop(slot)
            if self._reader is not None:
                self._reader.begin()
            return job

    def _check_file(self) -> None:
        before, self._fingerprint = self._fingerprint, self._store.fingerprint()
        if self._fingerprint != before:
            self._post(StoreChanged())

    def _close_reader(self) -> None:
        with self._condition:
            reader, self._reader = self._reader, None
            if reader is not None:
                reader.close()
            self._condition.notify_all()

    def _run(self) -> None:
        inode: tuple[int, ...] = ()
        try:
            while True:
                job = self._next()
                if job is None:
                    self._close_reader()
                    if self._closing:
                        return
                    trim_memory()
                    continue
                if self._reader is not None and self._store.fingerprint()[:2] != inode:
                    self._close_reader()  # the file was replaced; this connection would go on reading the old one
                try:
                    if self._reader is None:
                        inode = self._store.fingerprint()[:2]
                        reader = self._store.open()
                        with self._condition:
                            self._reader = reader
                    self._answer(job)
                except BrowseError as error:
                    log_expected()
                    self._fail(job, error)
                except Exception as error:  # thread boundary: reported on the screen and logged
                    self._fail(job, unexpected(error))
                del job  # while it waits, nothing keeps a screen that was left
        finally:
            self._close_reader()

    def _answer(self, job: _Job[object]) -> None:
        assert self._reader is not None
        try:
            result = job.work(self._reader)
        except QueryInterruptedError:
            return  # a newer job took its place
        self._send(job, lambda: job.done(result))

    def _fail(self, job: _Job[object], error: BrowseError) -> None:
        self._close_reader()
        self._send(job, lambda: job.failed(error))

    def _send(self, job: _Job[object], deliver: Callable[[], None]) -> None:
        if self._closing:
            return
        with self._condition:
            self._undelivered += 1
            answer = Answered(self, job.slot, job.generation, deliver)
            if self._awaited == job.slot and self._generations.get(job.slot) == job.generation:
                self._awaited_answer = answer
                self._condition.notify_all()
                return
        self._post(answer)
