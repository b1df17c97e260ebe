"""Archive or delete the conversations of a plan in small units, with pauses for other writers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from ..connection.connect import Store
from ..connection.reader import Reader
from ..edit.delete import Deleted, Deleting, deleting
from ..edit.delete_plan import DeletePlan, plan_delete
from ..edit.flags import Change, archive
from ..edit.portions import Portions
from ..errors import BrowseError, QueryInterruptedError, RefusedError
from ..sessions.catalog import Catalog
from ..sessions.protection import SpareReason
from ..trash.progress import EVERY, Progress, Stage, never
from ..wording import _, ngettext, pgettext
from .plan import Plan, Planned, Spared, changed_since, first_change

Item = TypeVar("Item")
Result = TypeVar("Result")
Unit = Callable[[Sequence[Planned]], Result]
"""Archives or deletes a few conversations in one transaction, all of them or none.

Raises:
    RefusedError: One of them must not be touched; the others may still be done, one by one.
    WriteInDoubtError, WriteUnverifiedError: They may have been done; the rest is left.
    BrowseError: Nothing was changed; the rest is left.
"""

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


class _Run(NamedTuple):
    """What reports on a plan that is carried out, and stops it."""

    total: int
    began: float
    pause: Callable[[float], object]
    tell: Callable[[Step], object]
    stop: Callable[[], bool]

    def report(self, done: int, inside: Stage | None = None, *, is_waiting: bool = False) -> None:
        """Tell how many conversations are done."""
        seconds = time.monotonic() - self.began
        self.tell(Step(done, self.total, seconds, inside, is_waiting))


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
    run = _Run(len(plan.selected), time.monotonic(), pause, tell, stop)
    results: list[Result] = []

    def work(conversations: list[Planned]) -> None:
        if (far := store.far()) is not None:
            why = far.call("why_changed", (conversations,), {})
        else:
            with store.reader() as reader:
                why = first_change(reader, conversations)
        if why is not None:
            raise RefusedError(str(why))
        results.append(unit(conversations))

    portions = _portions(run, plan.selected, lambda each: each.rows, object)
    # This reader is held open and never read from. Without a gateway, each connection of each unit
    # would be the only one, and SQLite would make the index of the log anew from the whole log,
    # which grows with every unit.
    try:
        held = nullcontext() if store.is_elsewhere else closing(store.open())
    except BrowseError as failed:
        return Outcome(plan._replace(selected=()), (), 0, len(plan.selected), failed)
    with held:
        error = _run_portions(run, portions, work)
    spared = [_spared(each, why) for each, why in portions.spared]
    return _outcome(plan, portions.done, spared, results, error, portions.doubtful)


def _portions(
    run: _Run,
    items: Sequence[Item],
    rows_of: Callable[[Item], int],
    version: Callable[[], object],
    inside: Callable[[], Stage | None] = lambda: None,
) -> Portions[Item]:
    def tell(is_waiting: bool) -> None:
        done = len(portions.done) + len(portions.spared)
        run.report(done, None if is_waiting else inside(), is_waiting=is_waiting)

    portions = Portions(items, rows_of, version, run.pause, run.stop, tell, spares=True)
    return portions


def _run_portions(
    run: _Run, portions: Portions[Item], work: Callable[[list[Item]], None]
) -> BrowseError | None:
    """Do the work in portions; return what ended it early."""
    try:
        portions.run(work)
    except QueryInterruptedError as failed:
        return None if run.stop() else failed
    except BrowseError as failed:
        return failed
    return None


def _outcome(
    plan: Plan,
    done: Sequence[Planned],
    spared: Sequence[Spared],
    results: Sequence[Result],
    error: BrowseError | None,
    doubtful: int,
) -> Outcome[Result]:
    if error is not None and done:
        error.is_unchanged = False  # it speaks of its own unit alone
    left = len(plan.selected) - len(done) - len(spared) - doubtful
    carried_out = plan._replace(selected=tuple(done), spared=(*plan.spared, *spared))
    return Outcome(carried_out, tuple(results), len(spared), left, error, doubtful)


def _spared(planned: Planned, why: RefusedError) -> Spared:
    why.is_unchanged = False  # the others are done
    return Spared(planned.conversation, SpareReason("changed", why.sentence))


def _check_as_planned(reader: Reader, planned: Planned) -> None:
    reason = changed_since(reader, planned)
    if reason is not None:
        raise RefusedError(reason)


def delete_planned(
    store: Store,
    plan: Plan,
    catalog: Catalog,
    trash: Path,
    sessions_folder: Path | None,
    *,
    pause: Callable[[float], object] = time.sleep,
    tell: Callable[[Step], object] = lambda step: None,
    stop: Callable[[], bool] = never,
) -> Outcome[Deleted]:
    """Move the conversations of a plan to the trash, into one bundle, and in portions out of the
    store.

    `catalog` is the one that the plan was made from; the other arguments are as of `delete` and
    `carry_out`. It pauses only while another process writes.
    """
    run = _Run(len(plan.selected), time.monotonic(), pause, tell, stop)
    stage: Stage | None = None
    by_id = {each.conversation.id: each for each in plan.selected}
    spared: list[Spared] = []
    portions: Portions[DeletePlan] | None = None
    error: BrowseError | None = None
    work: Deleting | None = None

    def tell_stage(told: Stage) -> None:
        nonlocal stage
        if told.total >= EVERY:  # too fast to read for fewer messages
            stage = told
            run.report(len(portions.done) if portions is not None else 0, stage)

    try:
        with store.reader() as reader:
            plans = _plan_deletes(reader, catalog, plan.selected, spared)
            progress, now = Progress(stop, tell_stage), time.time()
            if plans:
                with deleting(store, reader, plans, trash, now, sessions_folder, progress) as work:
                    portions = _portions(
                        run, plans, lambda each: each.messages, work.writer.version, lambda: stage
                    )
                    portions.run(work.delete)
    except QueryInterruptedError as failed:
        error = None if stop() else failed
    except BrowseError as failed:
        error = failed
    done = portions.done if portions is not None else []
    if portions is not None:
        spared += [_spared(by_id[each.conversation.id], why) for each, why in portions.spared]
    results = [work.finish()] if work is not None and done else []
    finished = [by_id[each.conversation.id] for each in done]
    doubtful = portions.doubtful if portions is not None else 0
    return _outcome(plan, finished, spared, results, error, doubtful)


def _plan_deletes(
    reader: Reader, catalog: Catalog, selected: Sequence[Planned], spared: list[Spared]
) -> list[DeletePlan]:
    """Plan the delete of each conversation; add to `spared` those that must not be touched any
    more."""
    plans: list[DeletePlan] = []
    taken: set[str] = set()
    now = time.time()
    for each in selected:
        try:
            _check_as_planned(reader, each)
            (plan,) = plan_delete(reader, catalog, [each.conversation.id], now)
        except RefusedError as refused:
            spared.append(_spared(each, refused))
            continue
        sessions = tuple(session for session in plan.sessions if session not in taken)
        taken.update(sessions)
        plans.append(plan._replace(sessions=sessions))
    return plans


def _clock(seconds: float) -> str:
    return "{}:{:02}".format(*divmod(round(seconds), 60))


def archive_unit(store: Store, plan: Plan) -> Unit[Change]:
    """Return the unit that archives conversations; those that the plan spares stay, even members of
    a lineage."""
    spared = [segment.id for each in plan.spared for segment in each.conversation.segments]
    return lambda planned: archive(store, [each.conversation.id for each in planned], spared=spared)
