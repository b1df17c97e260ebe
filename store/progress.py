"""Long work: reports of how far it is, stopping, summaries, and doing it in portions.

50,000 messages take a minute. Portions are short transactions, with pauses while other processes
write to the store.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Generic, NamedTuple, TypeVar

from .connection.reader import Stopped
from .errors import (
    BrowseError,
    QueryInterruptedError,
    RefusedError,
    StoreBusyError,
    StoreRefusedError,
    WriteInDoubtError,
    WriteUnverifiedError,
)
from .wording import N_, _, ngettext

T = TypeVar("T")

EVERY = 500
"""Messages between two reports."""

FEW_ROWS, MOST_ROWS = 100, 800
"""Messages of a portion while others write, and the most while nobody does. The search indexes make
a delete of 100 take some 60 ms, in which a gateway waits for the lock."""
MOST_AT_ONCE = 100
_LONGEST_PAUSE = 0.3
"""Seconds."""
BUSY_TRIES = 20
"""Attempts in a row, of five seconds each. Hermes merges its search index with every thousandth
message and holds the lock for some seconds per gigabyte (0.19: 8 to 12 seconds at 1.2 GB)."""
BUSY_TRIES_LATER = 180
"""The same once something has been done: one merge, which took over two minutes at 2.3 GB on a busy
machine, must not end a clean-up of thousands. The user can stop it at any time."""
BUSY_PAUSE = 0.25
"""Seconds."""

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
    is_waiting: bool = False
    """Whether another program holds the store."""

    @property
    def words(self) -> str:
        """`saving 12,000 of 50,000 messages`."""
        if self.is_waiting:
            return _("waiting: another program keeps the store for itself")
        return _(_WORDS[self.name], done=min(self.done, self.total), total=self.total)


TellStage = Callable[[Stage], object]
"""Receives a report, on the working thread."""
TellShare = Callable[[float], object]
"""The same with the share that is done, 0 to 1."""


def quiet(report: object) -> None:
    """Ignore a report."""


def never() -> bool:
    """Never ask for a stop."""
    return False


class Progress:
    """How far one piece of work is, and whether it is to stop."""

    def __init__(self, stopped: Stopped = never, tell: TellStage = quiet) -> None:
        self._stopped = stopped
        self._tell, self._stage = tell, Stage("saving", 0, 0)

    def begin(self, name: str, messages: int) -> None:
        """Begin a stage of so many messages."""
        self._report(Stage(name, 0, messages))

    def add(self, messages: int) -> None:
        """Report further messages, and stop if requested; see `check`."""
        self._report(self._stage._replace(done=self._stage.done + messages))
        self.check()

    def wait(self, is_waiting: bool) -> None:
        """Report whether another program holds the store."""
        self._report(self._stage._replace(is_waiting=is_waiting))

    def _report(self, stage: Stage) -> None:
        self._stage = stage
        self._tell(stage)

    def check(self) -> None:
        """Stop between two statements if requested.

        Raises:
            QueryInterruptedError: A stop was requested; the caller must roll back.
        """
        if self._stopped():
            raise QueryInterruptedError(_("Stopped."), is_unchanged=True)


NOBODY = Progress()
"""Neither reports nor stops."""


def summary(sentence: str, sessions: int, messages: int) -> str:
    """Fill the fields `sessions` and `messages` of a translated sentence with these numbers and
    their nouns."""
    return sentence.format(
        sessions=ngettext("1 session", "{count:,} sessions", sessions),
        messages=ngettext("1 message", "{count:,} messages", messages),
    )


def batches(
    items: Iterable[T], rows_of: Callable[[T], int], most_rows: int, most: int = 200
) -> Iterator[list[T]]:
    """Split items into batches with limited messages and items, but at least one item each."""
    left = list(items)
    while left:
        sums = accumulate(map(rows_of, left[:most]))
        count = max(1, sum(total <= most_rows for total in sums))
        yield left[:count]
        del left[:count]


class Portions(Generic[T]):
    """What became of items that `run` does in portions: it alone fills the lists, as it goes.

    Args:
        progress: Checked for a stop between portions, and receives a report after each.
        rows_of: Returns the messages of an item; without it all items are one portion.
        spares: Leave out an item that is refused, rather than all that follows with it.
    """

    def __init__(
        self,
        progress: Progress,
        rows_of: Callable[[T], int] | None = None,
        *,
        spares: bool = False,
    ) -> None:
        self.progress, self._rows_of, self._spares = progress, rows_of, spares
        self.done: list[T] = []
        self.spared: list[tuple[T, RefusedError]] = []
        self.doubtful: list[T] = []
        """Items in a portion whose commit failed, or that did not read back."""
        self.error: BrowseError | None = None
        """What ended it when a part was done already; set by who calls `run`."""

    def run(
        self,
        items: Sequence[T],
        work: Callable[[list[T]], None],
        version: Callable[[], object],
    ) -> None:
        """Do the work on all items; whatever it raises ends it, and what was done before stays
        done.

        Args:
            items: In the order in which they are done.
            work: One transaction, all of its items or none.
            version: Returns something else once another process has committed to the store.
        """
        queue = list(items)
        size, before, busy, began = FEW_ROWS, version(), 0, 0.0
        while queue:
            self.progress.check()
            portion = queue[:]
            if self._rows_of is not None:
                portion = next(batches(queue, self._rows_of, size, MOST_AT_ONCE))
            began = began if busy else time.monotonic()
            try:
                work(portion)
                self.done += portion
            except StoreBusyError:
                busy += 1
                tries = BUSY_TRIES if self._spares else 1
                if busy == (BUSY_TRIES_LATER if self.done else tries):
                    raise
                self.progress.wait(True)
                time.sleep(BUSY_PAUSE)
                continue
            except (WriteInDoubtError, WriteUnverifiedError):
                self.doubtful = portion
                raise
            except RefusedError as refused:
                if not self._spares or isinstance(refused, StoreRefusedError):
                    raise
                if len(portion) > 1:  # maybe because of only one of them
                    size = 1
                    continue
                self.spared.append((portion[0], refused))
            del queue[: len(portion)]
            after = version()
            self.progress.wait(False)
            size = min(MOST_ROWS, size * 2)
            if busy or before != after:
                size = FEW_ROWS
                time.sleep(min(_LONGEST_PAUSE, time.monotonic() - began))
            before, busy = after, 0
