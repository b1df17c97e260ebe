"""Carrying out a plan: a few conversations at a time, with pauses for other writers, and an end between any two."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from ..connect import Store
from ..errors import (
    BrowseError,
    QueryInterruptedError,
    RefusedError,
    StoreBusyError,
    WriteInDoubtError,
    WriteUnverifiedError,
)
from ..prune.plan import Plan, Planned, Spared, changed_since
from ..prune.spare import Why
from ..sessions.catalog import Catalog
from ..trash.slices import never
from ..trash.stages import Stage, Tell, quiet
from ..wording import _, ngettext, pgettext
from .change import Change
from .delete import Deleted, delete
from .flags import archive

Result = TypeVar("Result")
Unit = Callable[[Sequence[Planned]], Result]
"""Archives or deletes some conversations, all of them or none, and says what it did.

Raises:
    RefusedError: One of them will not be touched after all; the others may be.
    WriteInDoubtError, WriteUnverifiedError: They may be done; nothing more will be.
    BrowseError: Nothing was changed, and nothing more will be.
"""

_MOST_AT_ONCE = 25
_MOST_ROWS = 100
"""Messages of a unit: their delete holds the store's one write lock, and a gateway waits for it. With twice as many,
and a third of the pause, half of its writes took four times as long as without us."""
_LONGEST_PAUSE = 0.3
"""Seconds."""
_BUSY_TRIES = 20
"""In a row, each as patient as a unit is, five seconds: Hermes merges its search index with every thousandth message,
and holds the lock meanwhile for some seconds for each gigabyte (0.19: 8 to 12 seconds at 1.2 GB)."""
_BUSY_TRIES_LATER = 180
"""The same once something has been done: what was begun for thousands is not given up over one merge, which on a busy
machine took more than two minutes at 2.3 GB. It can be stopped all the while."""
_BUSY_PAUSE = 0.25
"""Seconds."""


_SHARES = {"saving": (0.0, 0.25), "checking": (0.25, 0.35), "deleting": (0.35, 1.0)}
"""What the stages of a delete take of its time: most of it goes into the search index."""
_TELLING = 0.05
"""From this share on the time that is left can be told."""


class Step(NamedTuple):
    """How far it has come."""

    done: int
    """Conversations, those spared meanwhile included."""
    total: int
    seconds: float
    """Since it began."""
    inside: Stage | None = None
    """How far the unit is that is being done; None between units."""
    is_waiting: bool = False
    """Another program keeps the store for itself."""

    @property
    def share(self) -> float:
        """How much of all is done, up to one."""
        if self.inside is None or not self.inside.total:
            return self.done / self.total if self.total else 1.0
        start, end = _SHARES.get(self.inside.name, (0.0, 1.0))
        within = start + (end - start) * min(1.0, self.inside.done / self.inside.total)
        return min(1.0, (self.done + within) / self.total) if self.total else within

    @property
    def words(self) -> str:
        """`120 of 4,000 · 31 a second · 2:05 left`, or within a large one `0 of 1 · saving 500 of 50,000 messages`."""
        parts = [_("{done:,} of {total:,}").format(done=self.done, total=self.total)]
        if self.inside is not None:
            parts.append(self.inside.words)
            if self.share > _TELLING:
                parts.append(_("{time} left").format(time=_clock(self.seconds * (1 / self.share - 1))))
        elif self.is_waiting:
            parts.append(_("waiting: another program keeps the store for itself"))
        elif self.done and self.seconds > 0:
            rate = self.done / self.seconds
            parts.append(_("{rate:,.0f} a second").format(rate=rate))
            parts.append(_("{time} left").format(time=_clock((self.total - self.done) / rate)))
        return " · ".join(parts)


class Outcome(NamedTuple, Generic[Result]):
    """What was done of a plan."""

    plan: Plan
    """What was done, and what was spared before and meanwhile."""
    results: tuple[Result, ...]
    """Of each unit, in order."""
    refused: int
    """How many were spared meanwhile."""
    left: int = 0
    """How many were not come to: it was stopped."""
    error: BrowseError | None = None
    """What stopped it, if anything went wrong; what was done before stays done."""
    doubtful: int = 0
    """How many were at work when a commit failed, or did not read back: `error` says what is known of them."""

    def sentence(self, verb: str) -> str:
        """What was done, in a sentence.

        Args:
            verb: In the past tense, as it is shown.
        """
        count = len(self.plan.would)
        done = ngettext("{count:,} conversation {done}", "{count:,} conversations {done}", count)
        parts = [done.format(count=count, done=verb)]
        if self.refused:
            parts.append(_("{count:,} changed meanwhile and were spared").format(count=self.refused))
        if self.doubtful:
            doubtful = ngettext("{count:,} is uncertain", "{count:,} are uncertain", self.doubtful)
            parts.append(doubtful.format(count=self.doubtful))
        if self.left:
            left = ngettext("stopped, {count:,} is as it was", "stopped, {count:,} are as they were", self.left)
            parts.append(left.format(count=self.left))
        return _("{words}.").format(words=pgettext("between what was done", "; ").join(parts))


def _no_step(step: Step) -> None:
    """Nobody watches."""


def _no_stop() -> bool:
    """Nobody stops it."""
    return False


def carry_out(
    store: Store,
    plan: Plan,
    unit: Unit[Result],
    *,
    pause: Callable[[float], object] = time.sleep,
    tell: Callable[[Step], object] = _no_step,
    stop: Callable[[], bool] = _no_stop,
) -> Outcome[Result]:
    """Do it. What is broken off leaves each conversation either done or as it was.

    After each unit the store is left alone for as long as it took, so that a gateway writes beside us. Where another
    process keeps it for itself, a unit is tried again and again, for there is all the time in the world.

    Args:
        store: The store of the plan.
        plan: What is to be done.
        unit: Does it for a few.
        pause: Waits so many seconds.
        tell: Is told how far it has come after each unit.
        stop: Looked at between units.
    """
    try:
        beside = store.open()
    except BrowseError as failed:
        return Outcome(plan._replace(would=()), (), 0, len(plan.would), failed)
    # With no gateway to keep the log, and what SQLite knows of it, each connection of each unit would be the first one,
    # and read the whole log, which grows with every unit.
    try:
        return _carry_out(store, plan, unit, pause, tell, stop)
    finally:
        beside.close()


def _carry_out(
    store: Store,
    plan: Plan,
    unit: Unit[Result],
    pause: Callable[[float], object],
    tell: Callable[[Step], object],
    stop: Callable[[], bool],
) -> Outcome[Result]:
    done: list[Planned] = []
    late: list[Spared] = []
    results: list[Result] = []
    error: BrowseError | None = None
    total, began, busy, doubtful = len(plan.would), time.monotonic(), 0, 0
    waiting = _units(plan.would)
    while waiting and not stop():
        some = waiting.pop(0)
        start = time.monotonic()
        try:
            result = _one_unit(store, some, unit)
        except RefusedError as refused:
            if len(some) > 1:  # it may be about one of them alone
                waiting[:0] = [[each] for each in some]
            else:
                late.append(Spared(some[0].conversation, Why("changed", refused.sentence)))
            continue
        except StoreBusyError as failed:
            busy += 1
            if busy < (_BUSY_TRIES_LATER if done else _BUSY_TRIES):
                waiting.insert(0, some)
                tell(Step(len(done) + len(late), total, time.monotonic() - began, is_waiting=True))
                pause(_BUSY_PAUSE)
                continue
            error = failed
            break
        except QueryInterruptedError as failed:
            error = None if stop() else failed
            break
        except (WriteInDoubtError, WriteUnverifiedError) as failed:
            error, doubtful = failed, len(some)
            break
        except BrowseError as failed:
            error = failed
            break
        busy = 0
        done += some
        results.append(result)
        now = time.monotonic()
        tell(Step(len(done) + len(late), total, now - began))
        pause(min(_LONGEST_PAUSE, now - start))
    outcome = plan._replace(would=tuple(done), spared=(*plan.spared, *late))
    left = total - len(done) - len(late) - doubtful
    return Outcome(outcome, tuple(results), len(late), left, error, doubtful)


def _units(would: Sequence[Planned]) -> list[list[Planned]]:
    """The plan in units: few messages each, but never less than a conversation."""
    found: list[list[Planned]] = []
    rows = _MOST_ROWS
    for each in would:
        size = each.own.rows + each.along.rows
        if not found or rows + size > _MOST_ROWS or len(found[-1]) >= _MOST_AT_ONCE:
            found.append([])
            rows = 0
        found[-1].append(each)
        rows += size
    return found


def _one_unit(store: Store, some: Sequence[Planned], unit: Unit[Result]) -> Result:
    with store.reader() as reader:
        reasons = [reason for each in some if (reason := changed_since(reader, each)) is not None]
    if reasons:
        raise RefusedError(reasons[0])
    return unit(some)


def _clock(seconds: float) -> str:
    left = round(seconds)
    return f"{left // 60}:{left % 60:02}"


def archive_unit(store: Store, plan: Plan) -> Unit[Change]:
    """What archives conversations of a store.

    Args:
        store: The store of the plan.
        plan: What it spares stays as it is, though a lineage would take it along.
    """
    spared = [segment.id for each in plan.spared for segment in each.conversation.segments]

    def unit(some: Sequence[Planned]) -> Change:
        return archive(store, [each.conversation.id for each in some], spared=spared)

    return unit


def delete_unit(
    store: Store,
    catalog: Catalog,
    trash: Path,
    sessions_folder: Path | None,
    *,
    stop: Callable[[], bool] = never,
    tell: Tell = quiet,
) -> Unit[Deleted]:
    """What moves conversations of a store to the trash, each portion in one bundle and one transaction.

    Args:
        store: The store of the plan.
        catalog: The plan was made from; what has changed since is refused.
        trash: The folder of the bundles.
        sessions_folder: Where Hermes keeps files of sessions; None where there is none.
        stop: Looked at within a portion: one that is stopped leaves its conversations as they were.
        tell: Is told how far a portion is.
    """

    def unit(some: Sequence[Planned]) -> Deleted:
        ids = [each.conversation.id for each in some]
        return delete(store, ids, trash, catalog=catalog, sessions_folder=sessions_folder, stop=stop, tell=tell)

    return unit
