"""Delete the conversations of a plan in portions, with pauses for other writers."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from ..connection.connect import Store
from ..connection.reader import Reader, Stopped
from ..edit.delete import Deleted, delete_portions
from ..edit.delete_plan import DeletePlan, Expected, plans_of, sort_deletes
from ..errors import BrowseError, QueryInterruptedError
from ..messages.transcript import count_stored_rows
from ..progress import EVERY, Portions, Progress, Stage, never, quiet
from ..sessions.catalog import SpareReason, read_catalog
from ..trash.copying import ChangedMeanwhileError
from ..wording import N_, _, ngettext, pgettext
from .plan import Plan, Spared

_STAGES = {"saving": (0.0, 0.25), "deleting": (0.25, 1.0)}
"""Start and end of each stage of a delete as a share of its time; the search index takes most of
it."""
_WAS_CHANGED = N_("changed after the plan was made")
_ESTIMATE_FROM = 0.05
"""Share done from which on the remaining time is shown."""


class Step(NamedTuple):
    """Progress of carrying out a plan."""

    done: int
    """Conversations, including those spared meanwhile."""
    total: int
    seconds: float
    """Since the start."""
    stage: Stage

    @property
    def _is_long(self) -> bool:
        """Whether messages are counted: of fewer it is too fast to read."""
        return self.stage.total >= EVERY

    @property
    def share(self) -> float:
        """The share done, 0 to 1."""
        if not self._is_long:
            return self.done / max(self.total, 1)
        start, end = _STAGES[self.stage.name]
        return start + (end - start) * min(1.0, self.stage.done / self.stage.total)

    @property
    def words(self) -> str:
        """`120 of 400 · 0:09 left`, or `0 of 1 · saving 500 of 50,000 messages · 2:05 left`."""
        parts = [_("{done:,} of {total:,}", done=self.done, total=self.total)]
        if self.stage.is_waiting or self._is_long:
            parts.append(self.stage.words)
        if not self.stage.is_waiting and self.share > _ESTIMATE_FROM:
            left = round(self.seconds * (1 / self.share - 1))
            parts.append(_("{time} left", time=f"{left // 60}:{left % 60:02}"))
        return " · ".join(parts)


class CleanedUp(NamedTuple):
    """What became of the conversations of a clean-up, by their ids."""

    deleted: Deleted | None = None
    """None if nothing was."""
    done: tuple[str, ...] = ()
    spared: tuple[tuple[str, str], ...] = ()
    """Those that have changed, or are protected by now, each with the reason."""
    left: int = 0
    """Not begun because it was stopped."""
    doubtful: int = 0
    """In a portion whose commit failed, or that did not read back: `error` says what is known of
    them."""
    error: BrowseError | None = None
    """What ended it early; what was done before stays done."""
    notes: tuple[str, ...] = ()
    """As of `Deleted`, also if nothing was."""

    def sentence(self, verb: str) -> str:
        """Return a summary; `verb` is translated and in the past tense."""
        done = ngettext(
            "{count:,} conversation {done}",
            "{count:,} conversations {done}",
            len(self.done),
            done=verb,
        )
        doubtful = ngettext("{count:,} is uncertain", "{count:,} are uncertain", self.doubtful)
        left = ngettext(
            "stopped, {count:,} is as it was", "stopped, {count:,} are as they were", self.left
        )
        spared = _("{count:,} changed meanwhile and were spared", count=len(self.spared))
        others = ((len(self.spared), spared), (self.doubtful, doubtful), (self.left, left))
        parts = [done, *(text for number, text in others if number)]
        return _("{words}.", words=pgettext("between what was done", "; ").join(parts))


def done_of(plan: Plan, cleaned: CleanedUp) -> Plan:
    """Return what was done of a plan, with what was spared before and meanwhile."""
    by_id = {planned.conversation.id: planned for planned in plan.selected}
    changed = (
        Spared(by_id[id].conversation, SpareReason("changed", why)) for id, why in cleaned.spared
    )
    return Plan(tuple(by_id[id] for id in cleaned.done), (*plan.spared, *changed))


def archived_of(plan: Plan, changed: Collection[str]) -> CleanedUp:
    """Return what became of the conversations of an archive by a plan, which has `changed` these
    sessions: another program may have archived some before."""
    spared = {
        each.conversation.id: _(_WAS_CHANGED)
        for each in plan.selected
        if set(each.session_ids).isdisjoint(changed)
    }
    done = (tip for tip in plan.tips() if tip not in spared)
    return CleanedUp(done=tuple(done), spared=tuple(spared.items()))


def clean_up(
    store: Store,
    expected: Sequence[Expected],
    trash: Path,
    sessions_folder: Path | None,
    *,
    tell: Callable[[Step], object] = quiet,
    stopped: Stopped = never,
) -> CleanedUp:
    """Move the conversations of a plan to the trash, into one bundle, and in portions out of the
    store.

    If interrupted, each conversation is either done or unchanged. It pauses only while another
    process writes.

    Args:
        store: That of the plan.
        expected: The conversations of the plan.
        trash: The folder of the bundles.
        sessions_folder: As of `delete`.
        tell: Receives a report after each portion, on the working thread.
        stopped: Polled between portions.
    """
    began, now = time.monotonic(), time.time()
    spared: dict[str, str] = {}

    def report(stage: Stage) -> None:
        done = len(spared) + len(portions.done) + len(portions.spared)
        tell(Step(done, len(expected), time.monotonic() - began, stage))

    portions = Portions[DeletePlan](
        Progress(stopped, report), lambda plan: plan.messages, spares=True
    )

    def carry_out(before: Sequence[DeletePlan]) -> Deleted | None:
        """Plan anew and delete; again if another program changed something during the copy, as long
        as the plan is another one than before."""
        nonlocal spared
        with store.reader() as reader:
            plans, spared = _plans(reader, expected, now)
            if not plans:
                return None
            try:
                return delete_portions(store, plans, portions, trash, now, sessions_folder)
            except ChangedMeanwhileError:
                if plans == before:
                    raise
        return carry_out(plans)

    deleted = None
    try:
        deleted = carry_out(())
    except BrowseError as failed:
        portions.error = failed
    was_stopped = isinstance(portions.error, QueryInterruptedError) and stopped()
    spared |= {plan.conversation.id: why.sentence for plan, why in portions.spared}
    touched = len(spared) + len(portions.done) + len(portions.doubtful)
    return CleanedUp(
        deleted if portions.done else None,
        tuple(plan.conversation.id for plan in portions.done),
        tuple(spared.items()),
        len(expected) - touched,
        len(portions.doubtful),
        None if was_stopped else portions.error,
        deleted.notes if deleted is not None else (),
    )


def _plans(
    reader: Reader, expected: Sequence[Expected], now: float
) -> tuple[list[DeletePlan], dict[str, str]]:
    """Plan to delete what is as expected; return with it why the others are spared, by their
    ids."""
    catalog = read_catalog(reader, now)
    current = plans_of(catalog, [each.id for each in expected if each.id in catalog.sessions])
    counts = count_stored_rows(reader, [id for plan in current for id in plan.session_ids])
    found = {plan.counted(counts).expected: plan for plan in current}
    same = [found[each] for each in dict.fromkeys(expected) if each in found]
    changed = {each.id: _(_WAS_CHANGED) for each in expected if each not in found}
    plans, kept = sort_deletes(reader, catalog, same, now)
    return plans, kept | changed
