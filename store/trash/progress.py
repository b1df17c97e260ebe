"""Progress reports, stopping and summaries of long work: 50,000 messages take a minute."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..connection.reader import Stopped
from ..errors import QueryInterruptedError
from ..wording import N_, _, ngettext

EVERY = 500
"""Messages between two reports."""

_WORDS = {
    "saving": N_("saving {done:,} of {total:,} messages"),
    "deleting": N_("deleting {done:,} of {total:,} messages"),
    "restoring": N_("restoring {done:,} of {total:,} messages"),
}


class Stage(NamedTuple):
    """Progress of one stage of the work, in messages."""

    name: str
    """`saving`, `deleting` or `restoring`."""
    done: int
    total: int

    @property
    def words(self) -> str:
        """`saving 12,000 of 50,000 messages`."""
        return _(_WORDS[self.name], done=min(self.done, self.total), total=self.total)


Tell = Callable[[Stage], object]
"""Receives a report, on the working thread."""


def quiet(report: object) -> None:
    """Ignore a report."""


def never() -> bool:
    """Never ask for a stop."""
    return False


class Progress:
    """How far one piece of work is, and whether it is to stop."""

    def __init__(self, stop: Stopped = never, tell: Tell = quiet) -> None:
        self.stop = stop
        self._tell, self._stage = tell, Stage("saving", 0, 0)

    def begin(self, name: str, messages: int) -> None:
        """Begin a stage of so many messages."""
        self._stage = Stage(name, 0, messages)
        self._tell(self._stage)

    def add(self, messages: int) -> None:
        """Report further messages, and stop if requested; see `check`."""
        self._stage = self._stage._replace(done=self._stage.done + messages)
        self._tell(self._stage)
        self.check()

    def check(self) -> None:
        """Stop between two statements if requested.

        Raises:
            QueryInterruptedError: A stop was requested; the caller must roll back.
        """
        if self.stop():
            raise QueryInterruptedError(_("Stopped."), is_unchanged=True)


NOBODY = Progress()
"""Neither reports nor stops."""


def summary(sentence: str, sessions: int, messages: int) -> str:
    """Fill the fields `sessions` and `messages` of a translated sentence with these numbers and
    their nouns."""
    return sentence.format(
        sessions=ngettext("1 session", "{count:,} sessions", sessions, count=sessions),
        messages=ngettext("1 message", "{count:,} messages", messages, count=messages),
    )
