"""Archiving or deleting the conversations of a plan, a few at a time, with pauses for other writers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from ..connection.connect import Store
from ..edit.delete import Deleted, delete
from ..edit.flags import Change, archive
from ..errors import (
    BrowseError,
    QueryInterruptedError,
    RefusedError,
    StoreBusyError,
    WriteInDoubtError,
    WriteUnverifiedError,
)
from ..sessions.catalog import Catalog
from ..trash.progress import Stage, Tell, never, quiet
from ..wording import _, ngettext, pgettext
from .plan import Plan, Planned, Spared, changed_since
from .protection import Why

Result = TypeVar("Result")
Unit = Callable[[Sequence[Planned]], Result]
"""Archives or deletes a few conversations in one transaction, all of them or none, and returns what it did.

Raises:
    RefusedError: One of them must not be touched; the others may still be done, one by one.
    WriteInDoubtError, WriteUnverifiedError: They may have been done; the rest is left.
    BrowseError: Nothing was changed; the rest is left.
"""

_MOST_AT_ONCE = 25
_MOST_ROWS = 100
"""Messages of a unit. Their delete holds the only write lock of the store, and a gateway waits for it: with twice as
many messages and a third of the pause, half of its writes took four times as long as without us."""
_LONGEST_PAUSE = 0.3
"""Seconds."""
_BUSY_TRIES = 20
"""In a row, each of which waits five seconds. Hermes merges its search index with every thousandth message and holds
the lock for some seconds per gigabyte (0.19: 8 to 12 seconds at 1.2 GB)."""
_BUSY_TRIES_LATER = 180
"""The same once something has been done: a clean-up of thousands is not given up over one merge, which took more than
two minutes at 2.3 GB on a busy machine. It can be stopped all the while."""
_BUSY_PAUSE = 0.25
"""Seconds."""


_SHARES = {"saving": (0.0, 0.25), "checking": (0.25, 0.35), "deleting": (0.35, 1.0)}
"""The part of its time that each stage of a delete takes; the search index takes most of it."""
_TELLING = 0.05
"""The share from which on the time that is left is shown."""


class Step(NamedTuple):
    """How far a plan has been carried out."""

    done: int
    """Conversations, including those spared meanwhile."""
    total: int
    seconds: float
    """Since it began."""
    inside: Stage | None = None
    """How far the current unit is; None between units."""
    is_waiting: bool = False
    """Whether another program holds the store."""

    @property
    def share(self) -> float:
        """The part of all that is done, up to one."""
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
    """How many were not begun because it was stopped."""
    error: BrowseError | None = None
    """What stopped it, if anything went wrong; what was done before stays done."""
    doubtful: int = 0
    """How many were in a unit whose commit failed, or that did not read back: `error` says what is known of them."""

    def sentence(self, verb: str) -> str:
        """Say what was done.

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
    """Ignore a report."""


def carry_out(
    store: Store,
    plan: Plan,
    unit: Unit[Result],
    *,
    pause: Callable[[float], object] = time.sleep,
    tell: Callable[[Step], object] = _no_step,
    stop: Callable[[], bool] = never,
) -> Outcome[Result]:
    """Carry out a plan. Wherever it is interrupted, each conversation is either done or as it was.

    After each unit the store is left alone for as long as the unit took, so that a gateway can write. A unit that finds
    the store held by another process is tried again and again, since nothing depends on the time it takes.

    Args:
        store: The store of the plan.
        plan: What is to be done.
        unit: Does it for a few conversations.
        pause: Waits so many seconds.
        tell: Receives a report after each unit.
        stop: Asked between units.
    """
    try:
        beside = store.open()
    except BrowseError as failed:
        return Outcome(plan._replace(would=()), (), 0, len(plan.would), failed)
    done: list[Planned] = []
    late: list[Spared] = []
    results: list[Result] = []
    error: BrowseError | None = None
    total, began, busy, doubtful = len(plan.would), time.monotonic(), 0, 0
    waiting = _units(plan.would)
    # With no gateway connected, each connection of each unit would be the first one and read the whole log, which grows
    # with every unit. This connection keeps the index of the log alive.
    with closing(beside):
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
    """Divide the plan into units of few messages, but never less than one conversation."""
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
    """Return the unit that archives conversations of a store.

    Args:
        store: The store of the plan.
        plan: What it spares is left as it is, even where Hermes would archive it with its lineage.
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
    """Return the unit that moves conversations of a store to the trash, in one bundle and one transaction.

    Args:
        store: The store of the plan.
        catalog: From which the plan was made; what has changed since is refused.
        trash: The folder of the bundles.
        sessions_folder: Where Hermes keeps files of sessions; None where there is none.
        stop: Asked within a unit; one that is stopped leaves its conversations as they were.
        tell: Receives reports on how far a unit is.
    """

    def unit(some: Sequence[Planned]) -> Deleted:
        ids = [each.conversation.id for each in some]
        return delete(store, ids, trash, catalog=catalog, sessions_folder=sessions_folder, stop=stop, tell=tell)

    return unit
