"""A question that was sent to a host, and the lines that come back about it: its progress, then its
answer."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from ..connection.reader import Stopped
from ..connection.stored_values import Json
from ..errors import BrowseError, QueryInterruptedError
from ..progress import never
from ..wording import _
from .host import HostError
from .ssh import ANSWER_SECONDS

_POLL = 0.1
"""Seconds between two looks whether a call is to be stopped."""
_WAITING = 20
"""Lines about the progress of one question that may wait to be read."""
PROGRESS_BYTES = 1_000_000
"""A longer line about progress is not kept."""


class AnswerLine(NamedTuple):
    """A line that belongs to a question."""

    kind: str
    """Its second key: `answer`, `error`, `tell` or `portion`."""
    value: bytes
    """The value of that key, as JSON."""

    @property
    def is_progress(self) -> bool:
        """Whether another line follows."""
        return self.kind in ("tell", "portion")


@dataclass(eq=False)
class AskedQuestion:
    """A question that was sent.

    Args:
        number: Its own.
        asked: The questions of its connection that have no answer yet, by number.
        tell: Sends a message that has no answer.
        silent: Ends the connection, as the host has not answered for so many seconds.
    """

    _number: int
    _asked: dict[int, AskedQuestion]
    _tell: Callable[[Json], None]
    _silent: Callable[[float], HostError]
    _lines: queue.SimpleQueue[AnswerLine | BrowseError] = field(default_factory=queue.SimpleQueue)

    def heard(self, line: AnswerLine) -> None:
        """Take a line about it; nothing after its answer, and of its progress what there is room
        for."""
        if not line.is_progress:
            self._asked.pop(self._number, None)
        elif len(line.value) > PROGRESS_BYTES or self._lines.qsize() >= _WAITING:
            return
        self._lines.put(line)

    def fail(self, error: BrowseError) -> None:
        """Give up: whoever waits for the answer gets the error at once."""
        self._lines.put(error)

    def cancel(self) -> None:
        """Cancel it, from any thread."""
        self.fail(QueryInterruptedError(_("The query was interrupted.")))
        self._tell({"cancel": self._number})

    def lines(
        self, seconds: float = ANSWER_SECONDS, stopped: Stopped = never, *, changes: bool = False
    ) -> Iterator[AnswerLine]:
        """Yield the lines about it; the last one is its answer.

        Args:
            seconds: How long it may take; a change that reports has its time again.
            stopped: Polled; True asks for an answer with what is done so far.
            changes: Whether it changes the store.

        Raises:
            HostError: The answer does not come.
            QueryInterruptedError: `cancel` was called.
        """
        until, is_asked = time.monotonic() + seconds, False
        try:
            while time.monotonic() <= until:
                if not is_asked and stopped():
                    is_asked = True
                    self._tell({"stop": self._number})
                try:
                    line = self._lines.get(timeout=_POLL)
                except queue.Empty:
                    continue
                if isinstance(line, BrowseError):
                    raise line.with_traceback(None)
                yield line
                if not line.is_progress:
                    return
                if changes:
                    until = time.monotonic() + seconds
            raise self._silent(seconds)
        finally:
            self._asked.pop(self._number, None)
