"""Archive or delete the conversations of a plan in small units, with pauses for other writers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Generic, NamedTuple, TypedDict, TypeVar, Unpack

from ..connection.connect import Store
from ..connection.reader import Reader
from ..edit.delete import Deleted, deleting
from ..edit.delete_plan import DeletePlan, plan_delete
from ..edit.portions import Portions
from ..errors import BrowseError, QueryInterruptedError, RefusedError
from ..sessions.catalog import Catalog
from ..sessions.protection import SpareReason
from ..trash.progress import EVERY, Progress, Stage, never
from ..wording import _, ngettext, pgettext
from .plan import Plan, Planned, Spared, first_change

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
        left = None
        if self.inside is not None:
            parts.append(self.inside.words)
            left = 1 / self.share - 1 if self.share > _ESTIMATE_FROM else None
        elif self.is_waiting:
            parts.append(_("waiting: another program keeps the store for itself"))
        elif self.done and self.seconds > 0:
            rate = _("{rate:,.0f} a second").format(rate=self.done / self.seconds)
            parts.append(rate)
            left = self.total / self.done - 1
        if left is not None:
            parts.append(_("{time} left").format(time=_clock(self.seconds * left)))
        return " · ".join(parts)


class Carrying(TypedDict, total=False):
    """How a plan is carried out."""

    pause: Callable[[float], object]
    """Sleeps for a number of seconds."""
    tell: Callable[[Step], object]
    """Receives a report after each portion."""
    stop: Callable[[], bool]
    """Polled between portions."""


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
        doubtful = ngettext("{count:,} is uncertain", "{count:,} are uncertain", self.doubtful)
        left = ngettext(
            "stopped, {count:,} is as it was", "stopped, {count:,} are as they were", self.left
        )
        spared = _("{count:,} changed meanwhile and were spared")
        others = ((self.refused, spared), (self.doubtful, doubtful), (self.left, left))
        parts = [done.format(count=count, done=verb)]
        parts += (text.format(count=number) for number, text in others if number)
        return _("{words}.").format(words=pgettext("between what was done", "; ").join(parts))


class _Run:
    """A plan that is carried out in portions, with reports."""

    def __init__(
        self,
        plan: Plan,
        *,
        pause: Callable[[float], object] = time.sleep,
        tell: Callable[[Step], object] = lambda step: None,
        stop: Callable[[], bool] = never,
    ) -> None:
        self._plan, self._pause, self._tell, self.stop = plan, pause, tell, stop
        self._began = time.monotonic()
        self._stage: Stage | None = None
        self._portions: Portions[Planned] = Portions((), lambda each: each.rows, never)
        self.spared: list[Spared] = []

    def run(
        self,
        planned: Sequence[Planned],
        work: Callable[[list[Planned]], None],
        version: Callable[[], object],
    ) -> None:
        """Do the work on conversations; `version` is as of `Portions`."""
        self._portions = Portions(
            planned,
            lambda each: each.rows,
            version,
            self._pause,
            self.stop,
            self._report,
            spares=True,
        )
        self._portions.run(work)

    @property
    def done(self) -> Sequence[Planned]:
        """The conversations that are done."""
        return self._portions.done

    def tell_stage(self, stage: Stage) -> None:
        """Report progress within a portion."""
        if stage.total >= EVERY:  # too fast to read for fewer messages
            self._stage = stage
            self._report(is_waiting=False)

    def _report(self, is_waiting: bool) -> None:
        done = len(self.done) + len(self._portions.spared)
        seconds = time.monotonic() - self._began
        inside = None if is_waiting else self._stage
        self._tell(Step(done, len(self._plan.selected), seconds, inside, is_waiting))

    def spare(self, planned: Planned, why: RefusedError) -> None:
        """Leave out a conversation that must not be touched any more."""
        why.is_unchanged = False  # the others are done
        self.spared.append(Spared(planned.conversation, SpareReason("changed", why.sentence)))

    def outcome(self, act: Callable[[], None], results: Sequence[Result]) -> Outcome[Result]:
        """Carry out the plan by `act`, which adds to `results`."""
        error: BrowseError | None = None
        try:
            act()
        except QueryInterruptedError as failed:
            error = None if self.stop() else failed
        except BrowseError as failed:
            error = failed
        for planned, why in self._portions.spared:
            self.spare(planned, why)
        done, doubtful = self.done, self._portions.doubtful
        if error is not None and done:
            error.is_unchanged = False  # it speaks of its own portion alone
        plan, spared = self._plan, self.spared
        left = len(plan.selected) - len(done) - len(spared) - doubtful
        carried_out = plan._replace(selected=tuple(done), spared=(*plan.spared, *spared))
        return Outcome(carried_out, tuple(results), len(spared), left, error, doubtful)


def carry_out(
    store: Store, plan: Plan, unit: Unit[Result], **how: Unpack[Carrying]
) -> Outcome[Result]:
    """Carry out a plan. If interrupted, each conversation is either done or unchanged.

    After each unit, pause for as long as the unit took, so that a gateway can write. A unit that
    finds the store busy is retried many times, since a clean-up is not urgent.
    """
    run = _Run(plan, **how)
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

    def act() -> None:
        # This reader is held open and never read from. Without a gateway, each connection of each
        # unit would be the only one, and SQLite would make the index of the log anew from the whole
        # log, which grows with every unit.
        with nullcontext() if store.is_elsewhere else closing(store.open()):
            run.run(plan.selected, work, object)  # a pause after each portion

    return run.outcome(act, results)


def delete_planned(
    store: Store,
    plan: Plan,
    catalog: Catalog,
    trash: Path,
    sessions_folder: Path | None,
    **how: Unpack[Carrying],
) -> Outcome[Deleted]:
    """Move the conversations of a plan to the trash, into one bundle, and in portions out of the
    store.

    `catalog` is the one that the plan was made from; the other arguments are as of `delete` and
    `carry_out`. It pauses only while another process writes.
    """
    run = _Run(plan, **how)
    results: list[Deleted] = []

    def act() -> None:
        with store.reader() as reader:
            plans = _plan_deletes(reader, catalog, run, plan.selected)
            if not plans:
                return
            progress = Progress(run.stop, run.tell_stage)
            try:
                with deleting(
                    store,
                    reader,
                    list(plans.values()),
                    trash,
                    time.time(),
                    sessions_folder,
                    progress,
                ) as work:
                    run.run(
                        [each for each in plan.selected if each.conversation.id in plans],
                        lambda some: work.delete([plans[each.conversation.id] for each in some]),
                        work.writer.version,
                    )
            finally:
                if run.done:
                    results.append(work.finish())

    return run.outcome(act, results)


def _plan_deletes(
    reader: Reader, catalog: Catalog, run: _Run, selected: Sequence[Planned]
) -> dict[str, DeletePlan]:
    """Plan the delete of each conversation that may still be touched, by its id."""
    plans: dict[str, DeletePlan] = {}
    taken: set[str] = set()
    now = time.time()
    for each in selected:
        try:
            if (why := first_change(reader, [each])) is not None:
                raise RefusedError(why)
            (plan,) = plan_delete(reader, catalog, [each.conversation.id], now)
        except RefusedError as refused:
            run.spare(each, refused)
            continue
        sessions = tuple(session for session in plan.sessions if session not in taken)
        taken.update(sessions)
        plans[each.conversation.id] = plan._replace(sessions=sessions)
    return plans


def _clock(seconds: float) -> str:
    return "{}:{:02}".format(*divmod(round(seconds), 60))
