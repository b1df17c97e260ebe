"""Jobs behind the screen: reads on a few threads, each with a leased connection to the store; writes
one after another, on a thread of the application; and the base class of screens that await them."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Any, ParamSpec, TypeVar

from textual.css.query import NoMatches
from textual.screen import ScreenResultType
from textual.worker import Worker

from hermes_browse.store.api import OpenStore
from hermes_browse.store.errors import BrowseError, QueryInterruptedError
from hermes_browse.store.wording import _

from ..terminal.logfile import log_expected, unexpected
from .left_once import LeftOnce

Result = TypeVar("Result")
Given = ParamSpec("Given")
Work = Callable[Given, Coroutine[object, object, object]]

THREADS = 6
"""Maximum number of jobs at once."""
IDLE_SECONDS = 1.0
"""An idle connection is closed after this time: Hermes counts an open one as a holder (0.22)."""
_WRITE = "write"
"""The group of coroutines that write."""
_READING_SECONDS = 2.0
"""How long `stop` and `released` of `Reads` wait for jobs."""
_WRITING_SECONDS = 10.0
"""How long `stop` of `Writes` waits for the running job."""


def trim_memory() -> None:
    """Return free memory to the system; takes a few milliseconds, without Python's lock.

    glibc keeps what a thread has freed for that thread. With a dozen threads, each of which needs
    much memory now and then, that was 13 of 87 MiB after an hour's worth of keys.
    """
    import ctypes  # only needed when nothing else is to be done

    if sys.platform.startswith("linux"):
        # Only glibc has it.
        if (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)) is not None:
            trim(0)


class Reads:
    """Reads of one store, asked for on the screen's thread.

    Args:
        connect: Returns a store that has not been opened; the first job that reads opens it.
    """

    def __init__(self, connect: Callable[[], OpenStore]) -> None:
        self._connect = connect
        self._changed = threading.Condition()
        self._idle: dict[OpenStore, float] = {}
        """Connections, and since when they are idle, by `time.monotonic`."""
        self._running: dict[threading.Event, OpenStore] = {}
        """By an event that is set when the job is cancelled."""
        self._is_stopped = self._is_released = self._is_closing_planned = False

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(THREADS, "read")

    def submit(self, work: Callable[[OpenStore], Result]) -> asyncio.Future[Result]:
        """Begin a job on a thread; it must not keep the store. It is interrupted if the future is
        cancelled."""
        cancelled = threading.Event()
        if self._is_stopped:
            running: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
            running.cancel()
        else:
            running = asyncio.wrap_future(self._threads.submit(self._do, work, cancelled))
            running.add_done_callback(partial(self._ended, cancelled))
        return running

    def _ended(self, cancelled: threading.Event, running: asyncio.Future[Any]) -> None:
        if running.cancelled():
            with self._changed:
                cancelled.set()
                if (store := self._running.get(cancelled)) is not None:
                    store.interrupt()
        else:
            running.exception()  # or asyncio reports it where nobody awaits the future any more

    async def call(self, work: Callable[[], Result]) -> Result:
        """Run other work that takes long on a thread, without the store."""
        if self._is_stopped:
            raise asyncio.CancelledError
        return await asyncio.wrap_future(self._threads.submit(work))

    def _do(self, work: Callable[[OpenStore], Result], cancelled: threading.Event) -> Result:
        with self._changed:
            self._changed.wait_for(lambda: self._is_stopped or not self._is_released)
            if self._is_stopped or cancelled.is_set():
                raise QueryInterruptedError(_("The query was interrupted."))
            store = self._idle.popitem()[0] if self._idle else self._connect()
            store.begin()
            self._running[cancelled] = store
        try:
            return work(store)
        except QueryInterruptedError:
            if not self._is_released or cancelled.is_set():
                raise
        except Exception:  # whatever it was, the connection may be broken: the next job opens anew
            store.close()
            raise
        finally:
            self._put_back(cancelled, store)
        return self._do(work, cancelled)  # from the beginning, when the store may be opened again

    def _put_back(self, cancelled: threading.Event, store: OpenStore) -> None:
        with self._changed:
            del self._running[cancelled]
            if self._is_stopped or self._is_released:
                store.close()
            elif store.is_open:
                self._idle[store] = time.monotonic()
                self._plan_closing()
            self._changed.notify_all()

    def _plan_closing(self) -> None:
        if not self._is_closing_planned:
            self._is_closing_planned = True
            timer = threading.Timer(IDLE_SECONDS, self._close_idle)
            timer.daemon = True
            timer.start()

    def _close_idle(self) -> None:
        """Close the connections that have been idle long enough; runs on a thread."""
        latest = time.monotonic() - IDLE_SECONDS
        with self._changed:
            self._is_closing_planned = False
            for store in [each for each, since in self._idle.items() if since <= latest]:
                del self._idle[store]
                store.close()
            if self._idle:
                self._plan_closing()
                return
        trim_memory()

    @property
    def is_busy(self) -> bool:
        """Whether a job is running, or has been cancelled and its thread has not ended."""
        return bool(self._running)

    @property
    def holds_store(self) -> bool:
        return bool(self._idle or self._running)

    @contextmanager
    def released(self) -> Iterator[None]:
        """Keep no connection open within the block: interrupts running jobs, and waits up to two
        seconds for them; they and those that come meanwhile are done after the block."""
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
        for store in self._idle:
            store.close()
        self._idle.clear()
        for store in self._running.values():
            store.interrupt()
        self._changed.wait_for(lambda: not self._running, _READING_SECONDS)


class Writes:
    """The queue of jobs that write, of any store."""

    def __init__(self) -> None:
        self._jobs: set[Future[object]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.stopping = threading.Event()
        """Set when the browser ends; long jobs check it between units."""

    @cached_property
    def _thread(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(1, "write")

    async def run(self, work: Callable[[], Result]) -> Result:
        """Run a job after those before it and return its result; it goes on if this is
        cancelled."""
        if self.stopping.is_set():
            raise asyncio.CancelledError
        self._loop = asyncio.get_running_loop()
        job = self._thread.submit(work)
        self._jobs.add(job)  # type: ignore[arg-type]  # its result is not looked at
        try:
            return await asyncio.shield(asyncio.wrap_future(job))
        finally:  # not before whoever awaits it knows the result: an undo waits for that
            job.add_done_callback(self._jobs.discard)

    def tell(self, function: Callable[..., object], *args: object) -> None:
        """Call a function on the screen's thread, from that of a job, before the result of the job
        arrives there."""
        if self._loop is not None and not self.stopping.is_set():
            self._loop.call_soon_threadsafe(function, *args)

    @property
    def is_busy(self) -> bool:
        return bool(self._jobs)

    def stop(self) -> None:
        """End the thread after the running job; jobs that wait are dropped."""
        self.stopping.set()
        self._thread.shutdown(wait=False, cancel_futures=True)
        # A job that is cancelled before it began is never done for `wait`.
        wait([job for job in self._jobs if not job.cancelled()], _WRITING_SECONDS)


class StoreScreen(LeftOnce[ScreenResultType]):
    """A screen that reads and writes a store in coroutines.

    These are started by `start`, never awaited in the handler of a message, and cancelled when the
    screen is closed.
    """

    reads: Reads
    writes: Writes

    def __init__(self) -> None:
        super().__init__()
        self._failures: dict[str, BrowseError] = {}
        """The errors of groups whose last coroutine failed."""

    def failed(self, error: BrowseError) -> None:
        """Show an error in the status line."""
        raise NotImplementedError

    def recovered(self, error: BrowseError) -> None:
        """Remove an error from the status line: the next coroutine of its group was successful."""
        raise NotImplementedError

    def start(
        self, group: str, work: Work[Given], *args: Given.args, **kwargs: Given.kwargs
    ) -> Worker[None]:
        """Run a coroutine instead of the one that was started for this group before; an error is
        shown in the status line until another one of the group is successful."""
        job = partial(self._reporting, group, work, *args, **kwargs)
        return self.run_worker(job, group=group, exclusive=group != _WRITE)

    def start_write(
        self, work: Work[Given], *args: Given.args, **kwargs: Given.kwargs
    ) -> Worker[None]:
        """Run a coroutine that writes; another one does not replace it."""
        return self.start(_WRITE, work, *args, **kwargs)

    def is_under_way(self, group: str) -> bool:
        """Whether the coroutine of a group is under way."""
        own = (each for each in self.workers if each.node is self and each.group == group)
        return not all(each.is_finished for each in own)

    def cancel(self, group: str) -> None:
        """Cancel the coroutine of a group, and interrupt what it reads."""
        self.workers.cancel_group(self, group)

    async def _reporting(
        self, group: str, work: Work[Given], *args: Given.args, **kwargs: Given.kwargs
    ) -> None:
        try:
            await work(*args, **kwargs)
            error = self._failures.pop(group, None)
            others = map(str, self._failures.values())
            if error is not None and str(error) not in others:  # else it holds of another group
                self.recovered(error)
        except BrowseError as error:
            self._failures[group] = error
            self.failed(error)
        except NoMatches:
            # Textual removes the widgets of a screen before it cancels what the screen has started.
            if not self._pruning:
                raise

    async def read(self, job: Callable[[OpenStore], Result]) -> Result:
        """Run a job with the store on a thread and return its result.

        Raises:
            BrowseError: It failed; the exception is logged.
        """
        return await self.result_of(self.reads.submit(job))

    async def call(self, work: Callable[[], Result]) -> Result:
        """Run other work that takes long on a thread; raises as `read` does."""
        return await self.result_of(self.reads.call(work))

    async def write(self, work: Callable[[], Result]) -> Result:
        """Run a job that writes, after those before it; raises as `read` does."""
        return await self.result_of(self.writes.run(work))

    async def result_of(self, job: Awaitable[Result]) -> Result:
        """Wait for a job that was begun, and return its result; raises as `read` does."""
        try:
            return await job
        except QueryInterruptedError as error:  # the browser ends
            raise asyncio.CancelledError from error
        except BrowseError:
            log_expected()
            raise
        except Exception as error:  # thread boundary: reported on the screen and logged
            raise unexpected(error) from error
        finally:
            if self._pruning:  # nothing is left that could show it
                raise asyncio.CancelledError
