"""How far one large piece of work is: a conversation of fifty thousand messages is one unit, and takes a minute."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeVar

from ..wording import N_, _

T = TypeVar("T")

EVERY = 500
"""Messages between two words on how far it is."""


_WORDS = {
    "saving": N_("saving {done:,} of {total:,} messages"),
    "checking": N_("checking {done:,} of {total:,} messages"),
    "deleting": N_("deleting {done:,} of {total:,} messages"),
    "putting back": N_("putting back {done:,} of {total:,} messages"),  # not shown
}


class Stage(NamedTuple):
    """What is being done with the messages of a unit, and how many are done."""

    name: str
    """`saving`, `checking`, `deleting` or `putting back`."""
    done: int
    total: int

    @property
    def words(self) -> str:
        """`saving 12,000 of 50,000 messages`."""
        return _(_WORDS[self.name]).format(done=min(self.done, self.total), total=self.total)


Tell = Callable[[Stage], object]
"""Is told how far it is, on the thread that works."""


def quiet(stage: Stage) -> None:
    """A `Tell` for work nobody watches."""


def counted(lines: Iterable[T], is_message: Callable[[T], bool], name: str, total: int, tell: Tell) -> Iterator[T]:
    """The same lines; tells after every few hundred messages.

    Args:
        lines: Any.
        is_message: Which of them count.
        name: Of the stage.
        total: Messages there are.
        tell: Is told.
    """
    done = 0
    if total:
        tell(Stage(name, 0, total))
    for line in lines:
        yield line
        if is_message(line):
            done += 1
            if done % EVERY == 0:
                tell(Stage(name, done, total))
