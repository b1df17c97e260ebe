"""Archive the conversations of a plan, or delete them in portions, with pauses for other writers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from ..connection.connect import Far, Store
from ..connection.reader import Reader, Stopped
from ..edit.delete import Deleted, deleting
from ..edit.delete_plan import DeletePlan, sort_deletes
from ..edit.flags import Change
from ..edit.portions import Portions
from ..errors import BrowseError, QueryInterruptedError, RefusedError
from ..sessions.catalog import Catalog
from ..sessions.protection import SpareReason
from ..trash.progress import EVERY, Progress, Stage, never, quiet
from ..wording import _, ngettext, pgettext
from .plan import Plan, Planned, Spared, first_change

Result = TypeVar("Result")
_STAGES = {"saving": (0.0, 0.25), "deleting": (0.25, 1.0)}
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
    """Progress in messages; None if only conversations are counted."""
    is_waiting: bool = False
    """Whether another program holds the store."""

    @property
    def share(self) -> float:
        """The share done, 0 to 1."""
        if self.inside is None or not self.inside.total:
            return self.done / self.total if self.total else 1.0
        start, end = _STAGES.get(self.inside.name, (0.0, 1.0))
        return start + (end - start) * min(1.0, self.inside.done / self.inside.total)

    @property
    def words(self) -> str:
        """`120 of 4,000 · 31 a second · 2:05 left`, or within a unit `0 of 1 · saving 500 of 50,000
        messages`."""
        parts = [_("{done:,} of {total:,}", done=self.done, total=self.total)]
        left = None
        if self.inside is not None:
            parts.append(self.inside.words)
            left = 1 / self.share - 1 if self.share > _ESTIMATE_FROM else None
        elif self.is_waiting:
            parts.append(_("waiting: another program keeps the store for itself"))
        elif self.done and self.seconds > 0:
            rate = _("{rate:,.0f} a second", rate=self.done / self.seconds)
            parts.append(rate)
            left = self.total / self.done - 1
        if left is not None:
            parts.append(_("{time} left", time=_clock(self.seconds * left)))
        return " · ".join(parts)


Tell = Callable[[Step], object]
"""Receives a report, on the working thread."""


class Outcome(NamedTuple, Generic[Result]):
    """Result of carrying out a plan; counts are conversations."""

    plan: Plan
    """What was done, and what was spared before and meanwhile."""
    results: tuple[Result, ...]
    """Of each portion elsewhere, else of the whole."""
    refused: int
    """Spared meanwhile."""
    left: int = 0
    """Not begun because it was stopped."""
    error: BrowseError | None = None
    """What ended it early; what was done before stays done."""
    doubtful: int = 0
    """In a portion whose commit failed, or that did not read back: `error` says what is known of
    them."""

    def sentence(self, verb: str) -> str:
        """Return a summary; `verb` is translated and in the past tense."""
        count = len(self.plan.selected)
        done = ngettext("{count:,} conversation {done}", "{count:,} conversations {done}", count)
        doubtful = ngettext("{count:,} is uncertain", "{count:,} are uncertain", self.doubtful)
        left = ngettext(
            "stopped, {count:,} is as it was", "stopped, {count:,} are as they were", self.left
        )
        spared = _("{count:,} changed meanwhile and were spared")
        others = ((self.refused, spared), (self.doubtful, doubtful), (self.left, left))
        parts = [done.format(count=count, done=verb)]
        parts += (text.format(count=number) for number, text in others if number)
        return _("{words}.", words=pgettext("between what was done", "; ").join(parts))


class _Run:
    """A plan that is carried out in portions, with reports."""

    def __init__(self, plan: Plan, tell: Tell, stop: Stopped) -> None:
        self._plan, self._tell, self._stop = plan, tell, stop
        self._began = time.monotonic()
        self._stage: Stage | None = None
        self.progress = Progress(stop, self._tell_stage)
        self.portions: Portions[Planned] = Portions(
            plan.selected, lambda planned: planned.rows, stop, self._report, spares=True
        )

    def _tell_stage(self, stage: Stage) -> None:
        if stage.total >= EVERY:  # too fast to read for fewer messages
            self._stage = stage
            self._report(is_waiting=False)

    def _report(self, is_waiting: bool) -> None:
        done = len(self.portions.done) + len(self.portions.spared)
        seconds = time.monotonic() - self._began
        inside = None if is_waiting else self._stage
        self._tell(Step(done, len(self._plan.selected), seconds, inside, is_waiting))

    def outcome(self, act: Callable[[], None], results: Sequence[Result]) -> Outcome[Result]:
        """Carry out the plan by `act`, which adds to `results`."""
        error: BrowseError | None = None
        try:
            act()
        except BrowseError as failed:
            was_stopped = isinstance(failed, QueryInterruptedError) and self._stop()
            error = None if was_stopped else failed
        done, plan = self.portions.done, self._plan
        if error is not None and done:
            error.is_unchanged = False  # it speaks of its own portion alone
        spared = list(plan.spared)
        for planned, why in self.portions.spared:
            reason = SpareReason("changed", why.sentence)
            spared.append(Spared(planned.conversation, reason))
        return Outcome(
            plan._replace(selected=tuple(done), spared=tuple(spared)),
            tuple(results),
            len(self.portions.spared),
            self.portions.left,
            error,
            self.portions.doubtful,
        )


def archive_planned(plan: Plan, archive: Callable[..., Change]) -> Outcome[Change]:
    """Archive the conversations of a plan in one transaction by `flags.archive` of its store; those
    that the plan spares stay, even members of a lineage."""
    spared = [segment.id for each in plan.spared for segment in each.conversation.segments]
    tips = [planned.conversation.id for planned in plan.selected]
    return Outcome(plan, (archive(tips, spared=spared),), 0)


def delete_elsewhere(
    far: Far,
    plan: Plan,
    delete: Callable[[list[str]], Deleted],
    *,
    tell: Tell = quiet,
    stop: Stopped = never,
) -> Outcome[Deleted]:
    """Delete the conversations of a plan on another machine, by `delete` of its store in portions.

    After each portion, pause for as long as that took, so that a gateway can write. A store that is
    busy is tried many times, since a clean-up is not urgent. Reports and stops are as of
    `delete_planned`.
    """
    run = _Run(plan, tell, stop)
    results: list[Deleted] = []

    def work(conversations: list[Planned]) -> None:
        if (why := far.call("why_changed", {"conversations": conversations})) is not None:
            raise RefusedError(str(why))
        results.append(delete([planned.conversation.id for planned in conversations]))

    return run.outcome(lambda: run.portions.run(work, object), results)


def delete_planned(
    store: Store,
    plan: Plan,
    catalog: Catalog,
    trash: Path,
    sessions_folder: Path | None,
    *,
    tell: Tell = quiet,
    stop: Stopped = never,
) -> Outcome[Deleted]:
    """Move the conversations of a plan to the trash, into one bundle, and in portions out of the
    store.

    If interrupted, each conversation is either done or unchanged. It pauses only while another
    process writes.

    Args:
        store: That of the plan.
        plan: What is to be done.
        catalog: The one that the plan was made from.
        trash: The folder of the bundles.
        sessions_folder: As of `delete`.
        tell: Receives a report after each portion.
        stop: Polled between portions.
    """
    run = _Run(plan, tell, stop)
    portions, results = run.portions, list[Deleted]()

    def act() -> None:
        with store.reader() as reader:
            plans = _plan_deletes(reader, catalog, portions)
            if not plans:
                return
            planned, now = list(plans.values()), time.time()
            begun = deleting(store, reader, planned, trash, now, sessions_folder, run.progress)
            try:
                with begun as work:
                    portions.run(
                        lambda some: work.delete([plans[each.conversation.id] for each in some]),
                        work.writer.version,
                    )
            finally:
                if portions.done:
                    results.append(work.finish())

    return run.outcome(act, results)


def _plan_deletes(
    reader: Reader, catalog: Catalog, portions: Portions[Planned]
) -> dict[str, DeletePlan]:
    """Plan the delete of each conversation that may still be touched, by its id; spare the
    others."""
    changed = {
        planned.conversation.id: RefusedError(why)
        for planned in portions.items
        if (why := first_change(reader, [planned])) is not None
    }
    ids = [planned.conversation.id for planned in portions.items]
    unchanged = [id for id in ids if id not in changed]
    plans, refused = sort_deletes(reader, catalog, unchanged, time.time())
    reasons = changed | refused
    for planned in portions.items:
        if planned.conversation.id in reasons:
            portions.spared.append((planned, reasons[planned.conversation.id]))
    return {plan.conversation.id: plan for plan in plans}


def _clock(seconds: float) -> str:
    return "{}:{:02}".format(*divmod(round(seconds), 60))
