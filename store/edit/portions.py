"""Work on many conversations in one short transaction after another, with pauses while other
processes write to the store."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from ..errors import (
    QueryInterruptedError,
    RefusedError,
    StoreBusyError,
    StoreRefusedError,
    WriteUnverifiedError,
)
from ..trash.progress import never
from .transaction import CommitFailedError

T = TypeVar("T")

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


def _nothing(*_: object) -> None:
    pass


@dataclass
class Portions(Generic[T]):
    """Items that are done in portions, and what became of them."""

    items: Sequence[T]
    rows_of: Callable[[T], int]
    has_moved: Callable[[], bool]
    """Whether another process has committed to the store since this was last asked."""
    pause: Callable[[float], object] = time.sleep
    stop: Callable[[], bool] = never
    tell: Callable[[bool], object] = _nothing
    """Receives a report after each portion; True: another program holds the store."""
    spares: bool = False
    """Whether an item that is refused is left out, rather than all that follows with it."""
    done: list[T] = field(default_factory=list)
    spared: list[tuple[T, RefusedError]] = field(default_factory=list)
    doubtful: int = 0
    """Items in a portion whose commit failed, or that did not read back."""

    @property
    def left(self) -> int:
        """Items that were not begun."""
        return len(self.items) - len(self.done) - len(self.spared) - self.doubtful

    def run(self, work: Callable[[list[T]], None]) -> None:
        """Do the work on all items; whatever it raises ends it, and what was done before stays
        done.

        `work` is one transaction, all of its items or none.
        """
        queue, singles, size, busy = list(self.items), 0, FEW_ROWS, 0
        while queue and not self.stop():
            portion = queue[:1] if singles else self._next(queue, size)
            began, is_disturbed = time.monotonic(), False
            try:
                work(portion)
                self.done += portion
            except StoreRefusedError:
                raise
            except RefusedError as refused:
                if not self.spares:
                    raise
                if len(portion) > 1:  # maybe because of only one of them
                    singles = len(portion)
                    continue
                self.spared.append((portion[0], refused))
            except StoreBusyError:
                busy += 1
                if busy >= (BUSY_TRIES_LATER if self.done else self._busy_tries()):
                    raise
                is_disturbed, size = True, FEW_ROWS
                self.tell(True)
                self.pause(BUSY_PAUSE)
                continue
            except QueryInterruptedError:
                if self.stop() and self.done:
                    return
                raise
            except (CommitFailedError, WriteUnverifiedError):
                self.doubtful = len(portion)
                raise
            del queue[: len(portion)]
            is_disturbed = self.has_moved() or busy > 0
            singles, busy = max(0, singles - 1), 0
            size = FEW_ROWS if is_disturbed else min(MOST_ROWS, size * 2)
            self.tell(False)
            if is_disturbed:
                self.pause(min(_LONGEST_PAUSE, time.monotonic() - began))

    def _busy_tries(self) -> int:
        return BUSY_TRIES if self.spares else 1

    def _next(self, queue: Sequence[T], most_rows: int) -> list[T]:
        """Return the first items: at least one, and together no more rows than that."""
        portion, rows = [queue[0]], self.rows_of(queue[0])
        for each in queue[1:MOST_AT_ONCE]:
            rows += self.rows_of(each)
            if rows > most_rows:
                break
            portion.append(each)
        return portion
