"""Reads for the screen: jobs on a few threads, each with a leased connection to the store."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cached_property
from typing import Generic, TypeVar

from hermes_browse.store.api import OpenStore
from hermes_browse.store.errors import QueryInterruptedError
from hermes_browse.store.wording import _

Result = TypeVar("Result")

THREADS = 6
"""Maximum number of jobs at once."""
IDLE_SECONDS = 1.0
"""An idle connection is closed after this time: Hermes counts an open one as a holder (0.22)."""
_STOP_SECONDS = 2.0
"""How long `stop` and `released` wait for jobs."""


def trim_memory() -> None:
    """Return free memory to the system; takes a few milliseconds, without Python's lock.

    glibc keeps what a thread has freed for that thread. With a dozen threads, each of which needs
    much memory now and then, that was 13 of 87 MiB after an hour's worth of keys.
    """
    import ctypes  # only needed when nothing else is to be done

    # Only glibc has `malloc_trim`.
    trim = (
        getattr(ctypes.CDLL(None), "malloc_trim", None)
        if sys.platform.startswith("linux")
        else None
    )
    if trim is not None:
        trim(0)


class _Job(Generic[Result]):
    """A job, which is interrupted on its own connection only."""

    def __init__(self, work: Callable[[OpenStore], Result]) -> None:
        self._work = work
        self._lock = threading.Lock()
        self._store: OpenStore | None = None
        self._is_interrupted = False

    def run(self, store: OpenStore) -> Result:
        with self._lock:
            if self._is_interrupted:
                raise QueryInterruptedError(_("The query was interrupted."))
            store.begin()
            self._store = store
        try:
            return self._work(store)
        finally:
            with self._lock:
                self._store = None

    def interrupt(self) -> None:
        """Stop the job, from any thread."""
        with self._lock:
            self._is_interrupted = True
            if self._store is not None:
                self._store.interrupt()


class _Lease:
    """A connection to a store, opened by the first job that reads."""

    def __init__(self, store: OpenStore) -> None:
        self.store = store
        self.idle_since = 0.0
        """By `time.monotonic`."""
        self._file: tuple[int, ...] = ()

    def check_file(self) -> None:
        """Close it if the file was replaced: it would go on reading the old one."""
        file = self.store.store.fingerprint()[:2]
        if self.store.is_open and file != self._file:
            self.store.close()
        self._file = file


class Reads:
    """Reads of one store. `run` and `call` are awaited on the screen's thread.

    Args:
        connect: Returns a store that has not been opened.
    """

    def __init__(self, connect: Callable[[], OpenStore]) -> None:
        self._connect = connect
        self._changed = threading.Condition()
        self._idle: list[_Lease] = []
        self._running: dict[_Job[object], _Lease] = {}
        self._is_stopped = self._is_released = False
        self._is_closing_planned = False

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(THREADS, "read")

    async def run(self, work: Callable[[OpenStore], Result], *, glance: float = 0.0) -> Result:
        """Run a job on a thread and return its result; it must not keep the store.

        If the await is cancelled it ends at once, and the job is interrupted.

        Args:
            glance: Seconds, less than a frame, for which nothing else is done: the frame that is
                drawn next then has the result of a quick job.
        """
        if self._is_stopped:
            raise asyncio.CancelledError
        job = _Job(work)
        loop = asyncio.get_running_loop()
        running = self._threads.submit(self._do, job, loop)
        if glance:
            wait((running,), glance)
        try:
            return await asyncio.wrap_future(running)
        except asyncio.CancelledError:
            job.interrupt()
            raise

    async def call(self, work: Callable[[], Result]) -> Result:
        """Run other work that takes long on a thread, without the store."""
        if self._is_stopped:
            raise asyncio.CancelledError
        return await asyncio.wrap_future(self._threads.submit(work))

    def _do(self, job: _Job[Result], loop: asyncio.AbstractEventLoop) -> Result:
        lease = self._take(job)
        try:
            lease.check_file()
            return job.run(lease.store)
        except QueryInterruptedError:
            raise
        except Exception:  # whatever it was, the connection may be broken: the next job opens anew
            lease.store.close()
            raise
        finally:
            self._put_back(job, lease, loop)

    def _take(self, job: _Job[Result]) -> _Lease:
        with self._changed:
            self._changed.wait_for(lambda: self._is_stopped or not self._is_released)
            if self._is_stopped:
                raise QueryInterruptedError(_("The query was interrupted."))
            lease = self._idle.pop() if self._idle else _Lease(self._connect())
            self._running[job] = lease  # type: ignore[index]  # only the job knows the type of its result
            return lease

    def _put_back(self, job: _Job[Result], lease: _Lease, loop: asyncio.AbstractEventLoop) -> None:
        lease.idle_since = time.monotonic()
        with self._changed:
            del self._running[job]  # type: ignore[arg-type]  # as above
            if self._is_stopped or self._is_released:
                lease.store.close()
            elif lease.store.is_open:
                self._idle.append(lease)
                loop.call_soon_threadsafe(self._plan_closing, loop)
            self._changed.notify_all()

    def _plan_closing(self, loop: asyncio.AbstractEventLoop) -> None:
        if not (self._is_closing_planned or self._is_stopped):
            self._is_closing_planned = True
            loop.call_later(IDLE_SECONDS, self._begin_closing, loop)

    def _begin_closing(self, loop: asyncio.AbstractEventLoop) -> None:
        self._is_closing_planned = False
        if not self._is_stopped:
            self._threads.submit(self._close_idle, loop)

    def _close_idle(self, loop: asyncio.AbstractEventLoop) -> None:
        """Close the connections that have been idle long enough; runs on a thread."""
        latest = time.monotonic() - IDLE_SECONDS
        with self._changed:
            for lease in [lease for lease in self._idle if lease.idle_since <= latest]:
                self._idle.remove(lease)
                lease.store.close()
            if self._idle and not self._is_stopped:
                loop.call_soon_threadsafe(self._plan_closing, loop)
                return
        trim_memory()

    @property
    def is_busy(self) -> bool:
        """Whether a job is running, or has been cancelled and its thread has not ended."""
        return bool(self._running)

    @property
    def holds_store(self) -> bool:
        """Whether a connection is open."""
        return bool(self._idle or self._running)

    @contextmanager
    def released(self) -> Iterator[None]:
        """Keep no connection open within the block: interrupts running jobs, waits up to two
        seconds for them, and has those that come meanwhile wait for the end of the block."""
        with self._changed:
            self._is_released = True
            self._interrupt_all()
        try:
            yield
        finally:
            with self._changed:
                self._is_released = False
                self._changed.notify_all()

    def stop(self) -> None:
        """Interrupt all jobs, wait up to two seconds for them, and close the store."""
        with self._changed:
            self._is_stopped = True
            self._changed.notify_all()
            self._threads.shutdown(wait=False, cancel_futures=True)
            self._interrupt_all()

    def _interrupt_all(self) -> None:
        """Close what is idle, interrupt all jobs, and wait for them."""
        for lease in self._idle:
            lease.store.close()
        self._idle.clear()
        for job in self._running:
            job.interrupt()
        self._changed.wait_for(lambda: not self._running, _STOP_SECONDS)
