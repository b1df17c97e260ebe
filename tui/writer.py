"""The thread that writes to the store for the screen, one job after another."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable
from typing import TypeVar

from textual.message import Message

from hermes_browse.store.errors import BrowseError

from .logfile import log_expected, unexpected

Result = TypeVar("Result")

_STOP_SECONDS = 10.0
"""How long `stop` waits for the running job."""


class Written(Message):
    """The result of a job; the receiver calls `deliver`."""

    def __init__(self, deliver: Callable[[], None]) -> None:
        super().__init__()
        self.deliver = deliver


class Writer:
    """Runs jobs that write; the thread starts with the first one.

    Args:
        post: Posts a message to the screen, from any thread (`post_message`).
        failed: Called with the error of a job that has no callback of its own for errors.
    """

    def __init__(
        self, post: Callable[[Message], object], failed: Callable[[BrowseError], None]
    ) -> None:
        self._post, self._failed = post, failed
        self._queue: queue.Queue[Callable[[], None] | None] = queue.Queue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._pending = 0
        self.stopping = threading.Event()
        """Set when the browser ends; long jobs check it between units."""

    def submit(
        self,
        work: Callable[[], Result],
        done: Callable[[Result], None],
        failed: Callable[[BrowseError], None] | None = None,
    ) -> None:
        """Submit a job; called on the screen's thread, as are `done` and `failed` later."""
        with self._lock:
            self._pending += 1
        self._queue.put(lambda: self._do(work, done, failed or self._failed))
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
            self._thread.start()

    def _do(
        self,
        work: Callable[[], Result],
        done: Callable[[Result], None],
        failed: Callable[[BrowseError], None],
    ) -> None:
        try:
            result = work()
        except BrowseError as error:
            log_expected()
            self._answer(failed, error)
        except Exception as error:  # thread boundary: reported on the screen and logged
            self._answer(failed, unexpected(error))
        else:
            self._answer(done, result)

    def _answer(self, callback: Callable[[Result], None], result: Result) -> None:
        def deliver() -> None:
            with self._lock:
                self._pending -= 1
            callback(result)

        self._post(Written(deliver))

    @property
    def is_busy(self) -> bool:
        """Whether a job is waiting or running, or its result has not been delivered."""
        with self._lock:
            return self._pending > 0

    def _run(self) -> None:
        while (job := self._queue.get()) is not None:
            job()

    def stop(self) -> None:
        """End the thread after the running job; jobs that wait are dropped."""
        self.stopping.set()
        if self._thread is None:
            return
        with contextlib.suppress(queue.Empty):
            while True:
                self._queue.get_nowait()
        self._queue.put(None)
        self._thread.join(timeout=_STOP_SECONDS)
