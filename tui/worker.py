"""Threads that read the store for the screen: one leased reader each, the newest question wins.

The screen never waits and never runs SQL. It submits a job to a slot of a worker; a newer job of the
same slot takes the older one's place, interrupting it where it runs. Answers come back as Textual
messages and are dropped when a newer job has been submitted meanwhile.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from textual.message import Message

from hermes_browse.store.connection.connect import Fingerprint, Reader, Store
from hermes_browse.store.errors import BrowseError, QueryInterruptedError
from hermes_browse.store.wording import _

from .logfile import log_expected, log_failure

Result = TypeVar("Result")

IDLE_SECONDS = 1.0
"""A reader without work for this long is closed: Hermes counts an open one as a holder (0.22)."""
POLL_SECONDS = 0.5
AWAY_POLL_SECONDS = 3.0
"""Between looks at the file while the terminal has no focus."""


class Answered(Message):
    """A job is done; the receiver calls `deliver`."""

    def __init__(self, worker: Worker, slot: str, generation: int, deliver: Callable[[], None]) -> None:
        super().__init__()
        self._worker, self._slot, self._generation = worker, slot, generation
        self._deliver = deliver

    def deliver(self) -> None:
        """Hand over the result, unless a newer job of the slot has made it stale."""
        self._worker.answer_taken()
        if self._worker.is_current(self._slot, self._generation):
            self._deliver()


class StoreChanged(Message):
    """The file looks different from when it was last looked at."""


@dataclass(slots=True)
class _Job(Generic[Result]):
    slot: str
    generation: int
    work: Callable[[Reader], Result]
    done: Callable[[Result], None]
    failed: Callable[[BrowseError], None]


def trim_memory() -> None:
    """Give memory that is free back to the system; takes a few milliseconds, without Python's lock.

    The allocator of glibc keeps what a thread has freed for what that thread may want next. With a dozen threads, each
    of which now and then needs much for a moment, that was 13 of 87 MiB after an hour's worth of keys.
    """
    import ctypes  # there is time while a worker rests

    # Only glibc has it.
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform.startswith("linux") else None
    if trim is not None:
        trim(0)


class Worker:
    """A thread with a leased reader.

    Args:
        store: What to read.
        post: Takes messages from this thread to the screen (`post_message`).
        name: Of the thread.
        watch: Whether to post `StoreChanged`.
    """

    def __init__(self, store: Store, post: Callable[[Message], object], name: str, *, watch: bool = False) -> None:
        self._store, self._post, self._watch = store, post, watch
        self._condition = threading.Condition()
        self._waiting: dict[str, _Job[object]] = {}
        self._generations: dict[str, int] = {}
        self._running: _Job[object] | None = None
        self._reader: Reader | None = None
        self._closing = False
        self._letting_go = False
        self._unanswered = 0
        self._awaited = ""
        self._handed: Answered | None = None
        self.away = False
        """The terminal has no focus: look at the file less often."""
        self._seen: Fingerprint = store.fingerprint() if watch else ()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def submit(
        self,
        slot: str,
        work: Callable[[Reader], Result],
        done: Callable[[Result], None],
        failed: Callable[[BrowseError], None],
        *,
        wait: float = 0.0,
    ) -> None:
        """Have a job done; called on the screen's thread, as are `done` and `failed` later.

        Args:
            slot: A newer job of the same slot takes this one's place.
            work: Runs on the worker's thread with a reader; must not keep it.
            done: Takes the result.
            failed: Takes the sentence for what went wrong.
            wait: Seconds, less than a frame, to wait for the answer: if it comes by then it is taken at once,
                else as a message later.
        """
        with self._condition:
            self._awaited = slot if wait else ""
            generation = self._generations.get(slot, 0) + 1
            self._generations[slot] = generation
            job: _Job[Result] = _Job(slot, generation, work, done, failed)
            self._waiting.pop(slot, None)
            self._waiting[slot] = job  # type: ignore[assignment]  # the result's type is the job's own affair
            if self._running is not None and self._running.slot == slot and self._reader is not None:
                self._reader.interrupt()
            self._condition.notify_all()
        if wait:
            self._wait(wait)

    def _wait(self, seconds: float) -> None:
        """Take the answer of the job just submitted in the same breath, if it comes at once."""
        with self._condition:
            self._condition.wait_for(lambda: self._handed is not None, seconds)
            self._awaited, answer, self._handed = "", self._handed, None
        if answer is not None:
            answer.deliver()

    def cancel(self, slot: str) -> None:
        """Forget what was submitted to a slot; an answer under way is dropped."""
        with self._condition:
            self._generations[slot] = self._generations.get(slot, 0) + 1
            self._waiting.pop(slot, None)
            if self._running is not None and self._running.slot == slot and self._reader is not None:
                self._reader.interrupt()

    def answer_taken(self) -> None:
        """An answer has reached the screen."""
        with self._condition:
            self._unanswered -= 1

    @property
    def is_busy(self) -> bool:
        """Whether a job is waiting or running, or its answer has not been taken."""
        with self._condition:
            return bool(self._waiting) or self._running is not None or self._unanswered > 0

    @property
    def holds_reader(self) -> bool:
        """Whether the store is open."""
        return self._reader is not None

    def is_current(self, slot: str, generation: int) -> bool:
        """Whether no newer job has been submitted to the slot."""
        with self._condition:
            return self._generations.get(slot) == generation

    def let_go(self) -> None:
        """Close the file now, not only after a while without work; waits a moment for what is running."""
        with self._condition:
            self._letting_go = True
            self._condition.notify_all()
            self._condition.wait_for(lambda: self._reader is None, 2.0)
            self._letting_go = False

    def stop(self) -> None:
        """End the thread and let go of the file; returns when it has."""
        with self._condition:
            self._closing = True
            self._waiting.clear()
            if self._reader is not None:
                self._reader.interrupt()
            self._condition.notify_all()
        if self._thread.is_alive():
            self._thread.join(timeout=2.0)

    def _next(self) -> _Job[object] | None:
        """The next job, or None when it is time to let go of the reader or to end."""
        last_work = time.monotonic()
        with self._condition:
            self._running = None
            while not self._waiting and not self._closing:
                idle = self._letting_go or time.monotonic() - last_work >= IDLE_SECONDS
                if self._reader is not None and idle:
                    return None
                pause = AWAY_POLL_SECONDS if self.away else POLL_SECONDS
                timeout = pause if self._watch else IDLE_SECONDS if self._reader is not None else None
                self._condition.wait(min(timeout, IDLE_SECONDS) if timeout and self._reader is not None else timeout)
                self._look()
            if self._closing:
                return None
            slot = next(iter(self._waiting))
            job = self._running = self._waiting.pop(slot)
            if self._reader is not None:
                self._reader.begin()
            return job

    def _look(self) -> None:
        if not self._watch:
            return
        fingerprint = self._store.fingerprint()
        if fingerprint != self._seen:
            self._seen = fingerprint
            self._post(StoreChanged())

    def _release(self) -> None:
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
                    self._release()
                    if self._closing:
                        return
                    trim_memory()
                    continue
                if self._reader is not None and self._store.fingerprint()[:2] != inode:
                    self._release()  # the file was replaced: the old connection would read the dead one for ever
                try:
                    if self._reader is None:
                        inode = self._store.fingerprint()[:2]
                        reader = self._store.open()
                        with self._condition:
                            self._reader = reader
                    self._answer(job)
                except BrowseError as error:
                    log_expected()
                    self._release()
                    self._fail(job, error)
                except Exception as error:  # the border of the thread: the screen says it, the log has the rest
                    self._release()
                    sentence = _("Something unexpected went wrong ({kind}).").format(kind=type(error).__name__)
                    self._fail(job, BrowseError(sentence, remedy=_("Details: {log}").format(log=log_failure())))
        finally:
            self._release()

    def _answer(self, job: _Job[object]) -> None:
        assert self._reader is not None
        try:
            result = job.work(self._reader)
        except QueryInterruptedError:
            return  # a newer job took its place
        self._send(job, lambda: job.done(result))

    def _fail(self, job: _Job[object], error: BrowseError) -> None:
        self._send(job, lambda: job.failed(error))

    def _send(self, job: _Job[object], deliver: Callable[[], None]) -> None:
        if not self._closing:
            with self._condition:
                self._unanswered += 1
                answer = Answered(self, job.slot, job.generation, deliver)
                if self._awaited == job.slot and self._generations.get(job.slot) == job.generation:
                    self._handed = answer
                    self._condition.notify_all()
                    return
            self._post(answer)
