"""The thread that changes the store for the screen: one thing after another, in the order asked for."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import TypeVar

from textual.message import Message

from hermes_browse.store.errors import BrowseError
from hermes_browse.store.wording import _

from .logfile import log_expected, log_failure

Result = TypeVar("Result")

_PARTING = 10.0
"""Seconds that leaving waits for what is being written: a unit ends whole, or not at all."""


class Written(Message):
    """Something was done, or failed; the receiver calls `deliver`."""

    def __init__(self, deliver: Callable[[], None]) -> None:
        super().__init__()
        self.deliver = deliver


class Writer:
    """Runs writes away from the screen; its thread starts with the first.

    Args:
        post: Takes messages from the thread to the screen (`post_message`).
    """

    def __init__(self, post: Callable[[Message], object]) -> None:
        self._post = post
        self._queue: queue.Queue[Callable[[], None] | None] = queue.Queue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._open = 0
        self.stopping = threading.Event()
        """Set when the browser ends: long work looks at it between units."""

    def submit(
        self,
        work: Callable[[], Result],
        done: Callable[[Result], None],
        failed: Callable[[BrowseError], None],
    ) -> None:
        """Have something written; called on the screen's thread, as are `done` and `failed` later.

        Args:
            work: Runs on the writer's thread.
            done: Takes its result.
            failed: Takes the sentence for what went wrong.
        """
        with self._lock:
            self._open += 1
        self._queue.put(lambda: self._do(work, done, failed))
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
            self._thread.start()

    def _do(
        self, work: Callable[[], Result], done: Callable[[Result], None], failed: Callable[[BrowseError], None]
    ) -> None:
        try:
            result = work()
        except BrowseError as error:
            log_expected()
            self._answer(failed, error)
        except Exception as error:  # the border of the thread: the screen says it, the log has the rest
            sentence = _("Something unexpected went wrong ({kind}).").format(kind=type(error).__name__)
            self._answer(failed, BrowseError(sentence, remedy=_("Details: {log}").format(log=log_failure())))
        else:
            self._answer(done, result)

    def _answer(self, take: Callable[[Result], None], result: Result) -> None:
        def deliver() -> None:
            with self._lock:
                self._open -= 1
            take(result)

        self._post(Written(deliver))

    @property
    def is_busy(self) -> bool:
        """Whether something is being written, or its answer has not been taken."""
        with self._lock:
            return self._open > 0

    def _run(self) -> None:
        while (job := self._queue.get()) is not None:
            job()

    def stop(self) -> None:
        """End after what is being written; what waits is not begun."""
        self.stopping.set()
        if self._thread is None:
            return
        while not self._queue.empty():
            try:
                self._queue.get_nowait()
            except queue.Empty:
                break
        self._queue.put(None)
        self._thread.join(timeout=_PARTING)
