"""Writes for the screen: one after another, on a thread of the application."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cached_property
from typing import TypeVar

Result = TypeVar("Result")

_STOP_SECONDS = 10.0
"""How long `stop` waits for the running job."""


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
        job.add_done_callback(self._jobs.discard)
        return await asyncio.shield(asyncio.wrap_future(job))

    def tell(self, function: Callable[..., object], *given: object) -> None:
        """Call a function on the screen's thread, from that of a job, before the result of the job
        arrives there."""
        if self._loop is not None and not self.stopping.is_set():
            self._loop.call_soon_threadsafe(function, *given)

    @property
    def is_busy(self) -> bool:
        return bool(self._jobs)

    def stop(self) -> None:
        """End the thread after the running job; jobs that wait are dropped."""
        self.stopping.set()
        if not self._jobs:
            return
        self._thread.shutdown(wait=False, cancel_futures=True)
        wait(tuple(self._jobs), _STOP_SECONDS)
