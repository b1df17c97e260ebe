"""How far a large piece of work has come, and whether it is to stop: 50,000 messages take a minute."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeVar

from ..errors import QueryInterruptedError
from ..wording import N_, _

T = TypeVar("T")

EVERY = 500
"""Messages between two reports."""

_WORDS = {
    "saving": N_("saving {done:,} of {total:,} messages"),
    "checking": N_("checking {done:,} of {total:,} messages"),
    "deleting": N_("deleting {done:,} of {total:,} messages"),
    "putting back": N_("restoring {done:,} of {total:,} messages"),  # not shown
}


class Stage(NamedTuple):
    """What is being done with the messages of a conversation, and how many are done."""

    name: str
    """`saving`, `checking`, `deleting` or `putting back`."""
    done: int
    total: int

    @property
    def words(self) -> str:
        """`saving 12,000 of 50,000 messages`."""
        return _(_WORDS[self.name]).format(done=min(self.done, self.total), total=self.total)


Tell = Callable[[Stage], object]
"""Receives a report, on the thread that works."""


def quiet(stage: Stage) -> None:
    """Ignore a report."""


def never() -> bool:
    """Never ask for a stop."""
    return False


class Progress(NamedTuple):
    """Whom the work reports to, and who may stop it."""

    stop: Callable[[], bool] = never
    tell: Tell = quiet

    def check(self) -> None:
        """Leave off between two statements if the work is to stop.

        Raises:
            QueryInterruptedError: It is; the caller takes back what it has begun.
        """
        if self.stop():
            raise QueryInterruptedError(_("Stopped; nothing was changed."))

    def counted(self, lines: Iterable[T], is_message: Callable[[T], bool], name: str, total: int) -> Iterator[T]:
        """Pass lines on, with a report after every 500 messages.

        Args:
            lines: Any.
            is_message: Which of them count.
            name: Of the stage.
            total: Messages there are; without any, the beginning is not reported.
        """
        done = 0
        if total:
            self.tell(Stage(name, 0, total))
        for line in lines:
            yield line
            if is_message(line):
                done += 1
                if done % EVERY == 0:
                    self.tell(Stage(name, done, total))


NOBODY = Progress()
"""Nobody watches, and nobody stops it."""
