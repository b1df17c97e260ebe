"""Archive or delete the conversations of a plan in small units, with pauses for other writers."""

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
    StoreRefusedError,
    WriteInDoubtError,
    WriteUnverifiedError,
)
from ..sessions.catalog import Catalog
from ..trash.progress import Stage, Tell, never, quiet
from ..wording import _, ngettext, pgettext
from .plan import Plan, Planned, Spared, changed_since
from .protection import SpareReason
from .sizes import batches

Result = TypeVar("Result")
Unit = Callable[[Sequence[Planned]], Result]
"""Archives or deletes a few conversations in one transaction, all of them or none.

Raises:
    RefusedError: One of them must not be touched; the others may still be done, one by one.
    WriteInDoubtError, WriteUnverifiedError: They may have been done; the rest is left.
    BrowseError: Nothing was changed; the rest is left.
"""

_MOST_AT_ONCE = 25
_MOST_ROWS = 100
"""Messages of a unit. Deleting them holds the write lock that a gateway waits for: with twice as
many messages and a third of the pause, half of its writes took four times as long as without a
clean-up."""
_LONGEST_PAUSE = 0.3
"""Seconds."""
_BUSY_TRIES = 20
"""Attempts in a row, of five seconds each. Hermes merges its search index with every thousandth
message and holds the lock for some seconds per gigabyte (0.19: 8 to 12 seconds at 1.2 GB)."""
_BUSY_TRIES_LATER = 180
"""The same once a unit has been done: one merge, which took over two minutes at 2.3 GB on a busy
machine, must not end a clean-up of thousands. The user can stop it at any time."""
_BUSY_PAUSE = 0.25
"""Seconds."""
_STAGES = {"saving": (0.0, 0.25), "checking": (0.25, 0.35), "deleting": (0.35, 1.0)}
"""Start and end of each stage of a delete as a share of its time; the search index takes most of
it."""
_ESTIMATE_FROM = 0.05
"""Share done from which on the remaining time is shown."""


class Step(NamedTuple):
    """Progress of carrying out a plan."""

    done: int
    """Conversations, including those spared meanwhile."""
    total: int
    seconds: float
    """Since the start."""
    inside: Stage | None = None
    """Progress within the current unit; None between units."""
    is_waiting: bool = False
    """Whether another program holds the store."""

    @property
    def share(self) -> float:
        """The share done, 0 to 1."""
        if self.inside is None or not self.inside.total:
            return self.done / self.total if self.total else 1.0
        start, end = _STAGES.get(self.inside.name, (0.0, 1.0))
        within = start + (end - start) * min(1.0, self.inside.done / self.inside.total)
        return min(1.0, (self.done + within) / self.total) if self.total else within

    @property
    def words(self) -> str:
        """`120 of 4,000 · 31 a second · 2:05 left`, or within a unit `0 of 1 · saving 500 of 50,000
        messages`."""
        parts = [_("{done:,} of {total:,}").format(done=self.done, total=self.total)]
        if self.inside is not None:
            parts.append(self.inside.words)
            if self.share > _ESTIMATE_FROM:
                parts.append(
                    _("{time} left").format(time=_clock(self.seconds * (1 / self.share - 1)))
                )
        elif self.is_waiting:
            parts.append(_("waiting: another program keeps the store for itself"))
        elif self.done and self.seconds > 0:
            rate = self.done / self.seconds
            parts.append(_("{rate:,.0f} a second").format(rate=rate))
            parts.append(_("{time} left").format(time=_clock((self.total - self.done) / rate)))
        return " · ".join(parts)


class Outcome(NamedTuple, Generic[Result]):
    """Result of carrying out a plan; counts are conversations."""

    plan: Plan
    """What was done, and what was spared before and meanwhile."""
    results: tuple[Result, ...]
    """Of each unit, in order."""
    refused: int
    """Spared meanwhile."""
    left: int = 0
    """Not begun because it was stopped."""
    error: BrowseError | None = None
    """What ended it early; what was done before stays done."""
    doubtful: int = 0
    """In a unit whose commit failed, or that did not read back: `error` says what is known of
    them."""

    def sentence(self, verb: str) -> str:
        """Return a summary; `verb` is translated and in the past tense."""
        count = len(self.plan.selected)
        done = ngettext("{count:,} conversation {done}", "{count:,} conversations {done}", count)
        parts = [done.format(count=count, done=verb)]
        if self.refused:
            parts.append(
                _("{count:,} changed meanwhile and were spared").format(count=self.refused)
            )
        if self.doubtful:
            doubtful = ngettext("{count:,} is uncertain", "{count:,} are uncertain", self.doubtful)
            parts.append(doubtful.format(count=self.doubtful))
        if self.left:
            left = ngettext(
                "stopped, {count:,} is as it was", "stopped, {count:,} are as they were", self.left
            )
            parts.append(left.format(count=self.left))
        return _("{words}.").format(words=pgettext("between what was done", "; ").join(parts))


def carry_out(
    store: Store,
    plan: Plan,
    unit: Unit[Result],
    *,
    pause: Callable[[float], object] = time.sleep,
    tell: Callable[[Step], object] = lambda step: None,
    stop: Callable[[], bool] = never,
) -> Outcome[Result]:
    """Carry out a plan. If interrupted, each conversation is either done or unchanged.

    After each unit, pause for as long as the unit took, so that a gateway can write. A unit that
    finds the store busy is retried many times, since a clean-up is not urgent.

    `pause` sleeps for a number of seconds; `tell` receives a report after each unit; `stop` is
    polled between units.
    """
    # This reader is held open and never read from. Without a gateway, each connection of each unit
    # would be the only one, and SQLite would make the index of the log anew from the whole log,
    # which grows with every unit.
    try:
        reader = store.open()
    except BrowseError as failed:
        return Outcome(plan._replace(selected=()), (), 0, len(plan.selected), failed)
    done: list[Planned] = []
    spared: list[Spared] = []
    results: list[Result] = []
    error: BrowseError | None = None
    total, began, busy, doubtful = len(plan.selected), time.monotonic(), 0, 0
    queue = list(batches(plan.selected, lambda each: each.rows, _MOST_ROWS, _MOST_AT_ONCE))
    with closing(reader):
        while queue and not stop():
            conversations = queue.pop(0)
            start = time.monotonic()
            try:
                result = _run_unit(store, conversations, unit)
            except StoreRefusedError as failed:
                error = failed
                break
            except RefusedError as refused:
                if len(conversations) > 1:  # maybe because of only one of them
                    queue[:0] = [[each] for each in conversations]
                else:
                    spared.append(
                        Spared(
                            conversations[0].conversation, SpareReason("changed", refused.sentence)
                        )
                    )
                continue
            except StoreBusyError as failed:
                busy += 1
                if busy < (_BUSY_TRIES_LATER if done else _BUSY_TRIES):
                    queue.insert(0, conversations)
                    tell(
                        Step(
                            len(done) + len(spared),
                            total,
                            time.monotonic() - began,
                            is_waiting=True,
                        )
                    )
                    pause(_BUSY_PAUSE)
                    continue
                error = failed
                break
            except QueryInterruptedError as failed:
                error = None if stop() else failed
                break
            except (WriteInDoubtError, WriteUnverifiedError) as failed:
                error, doubtful = failed, len(conversations)
                break
            except BrowseError as failed:
                error = failed
                break
            busy = 0
            done += conversations
            results.append(result)
            now = time.monotonic()
            tell(Step(len(done) + len(spared), total, now - began))
            pause(min(_LONGEST_PAUSE, now - start))
    if error is not None and done:
        error.is_unchanged = False  # it speaks of its own unit alone
    outcome = plan._replace(selected=tuple(done), spared=(*plan.spared, *spared))
    left = total - len(done) - len(spared) - doubtful
    return Outcome(outcome, tuple(results), len(spared), left, error, doubtful)


def _run_unit(store: Store, conversations: Sequence[Planned], unit: Unit[Result]) -> Result:
    with store.reader() as reader:
        reasons = [
            reason for each in conversations if (reason := changed_since(reader, each)) is not None
        ]
    if reasons:
        raise RefusedError(reasons[0])
    return unit(conversations)


def _clock(seconds: float) -> str:
    return "{}:{:02}".format(*divmod(round(seconds), 60))


def archive_unit(store: Store, plan: Plan) -> Unit[Change]:
    """Return the unit that archives conversations; those that the plan spares stay, even members of
    a lineage."""
    spared = [segment.id for each in plan.spared for segment in each.conversation.segments]
    return lambda planned: archive(store, [each.conversation.id for each in planned], spared=spared)


def delete_unit(
    store: Store,
    catalog: Catalog,
    trash: Path,
    sessions_folder: Path | None,
    *,
    stop: Callable[[], bool] = never,
    tell: Tell = quiet,
) -> Unit[Deleted]:
    """Return the unit that moves conversations to the trash, in one bundle and one transaction.

    `catalog` is the one that the plan was made from; the other arguments are as of `delete`.
    """

    def unit(planned: Sequence[Planned]) -> Deleted:
        ids = [each.conversation.id for each in planned]
        return delete(
            store,
            ids,
            trash,
            catalog=catalog,
            sessions_folder=sessions_folder,
            stop=stop,
            tell=tell,
        )

    return unit
