"""The controller of clean-ups: makes plans, asks, carries them out with progress, and undoes
them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, TypeVar, Unpack

from hermes_browse.store.api import OpenStore
from hermes_browse.store.cleanup.bulk import Carrying, Outcome, Step
from hermes_browse.store.cleanup.plan import Plan, parents_first
from hermes_browse.store.cleanup.selection import Selection
from hermes_browse.store.edit.delete import Deleted
from hermes_browse.store.edit.delete_plan import long_lock_warning
from hermes_browse.store.edit.flags import Change
from hermes_browse.store.errors import RefusedError
from hermes_browse.store.hosts.edits import (
    archive_planned,
    check_index,
    delete_planned,
    restore,
)
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line
from hermes_browse.store.trash.progress import EVERY, Stage
from hermes_browse.store.wording import N_, _, ngettext

from ..context import Context
from ..edit.change_cards import NAMED, SPARED, DeleteCard, ProgressCard
from ..edit.changing import make_undo
from ..formats import counted
from ..list.marks import Undoable
from ..screens.panes import Panes
from ..store_paths import sessions_folder, trash_folder
from .plan_view import LeftOut, along_line, spared_line, totals_line

Result = TypeVar("Result")

_FEW_CONVERSATIONS = 25
"""The progress of so few is shown in the status line, and that of more on a card …"""
_MANY_MESSAGES = 2_000
"""… unless they have so many messages, which take many seconds to delete."""
_SHORT_REASON = 50
"""Letters of a reason that fits into the status line."""
_ARCHIVED, _DELETED = N_("archived"), N_("moved to the trash")


class PreparedPlan(NamedTuple):
    """A plan, and what it was made from."""

    plan: Plan
    catalog: Catalog
    selection: Selection = Selection()
    """Its `marks` are the tips of conversations that were marked by hand."""


@dataclass
class PlanChoices:
    """What the user has chosen for a plan; remembered for the next one."""

    rules: str = "older:30d"
    left_out: LeftOut = field(default_factory=LeftOut)
    taken: frozenset[str] = frozenset()
    """Tips of conversations that were marked by hand."""


class Cleaning:
    """Makes plans on a reading thread and carries them out on the writing one.

    `panes` show the cards; `done` takes the undo of what was done, and the sessions that have
    changed.
    """

    def __init__(
        self, context: Context, panes: Panes, done: Callable[[Undoable, Sequence[str]], None]
    ) -> None:
        self._context, self._panes, self._done = context, panes, done
        self.choices = PlanChoices()
        """With these the screen opens, unless conversations are marked in the list."""

    # Plans

    def planning(
        self, selection: Selection, *, archive: bool = False, measure: bool = True
    ) -> Callable[[OpenStore], PreparedPlan]:
        """Return a job that makes a plan.

        With `archive`, leave out what is archived already. Without `measure`, sizes are left to
        `measuring`.
        """
        current, now, sizes = self._context.catalog, self._context.clock(), self._context.sizes

        def plan(store: OpenStore) -> PreparedPlan:
            catalog = current if current.exact else store.catalog(now)
            plan = store.plan(selection, catalog, now, sizes, measure_sizes=measure)
            return PreparedPlan(plan.without_archived() if archive else plan, catalog, selection)

        return plan

    def measuring(self, planned: PreparedPlan) -> Callable[[OpenStore], PreparedPlan]:
        """Return a job that measures a part of a plan with unknown sizes."""
        sizes = self._context.sizes
        return lambda store: planned._replace(plan=store.measure_more(planned.plan, sizes))

    # Archive and delete

    def archive(self, conversations: Sequence[Conversation]) -> None:
        """Archive conversations without asking, as it can be undone; protected ones are spared."""
        self._panes.start("plan", self._archive, conversations)

    async def _archive(self, conversations: Sequence[Conversation]) -> None:
        selection = Selection(marks=frozenset(each.id for each in conversations))
        job = self.planning(selection, archive=True, measure=False)
        self.archive_planned(await self._panes.read(job))

    def archive_planned(self, planned: PreparedPlan) -> None:
        archive = partial(archive_planned, self._context.store)
        self._panes.start_write(self._carry_out, planned, archive, _ARCHIVED, self._archived)

    def delete(self, conversations: Sequence[Conversation]) -> None:
        """Ask, then move conversations to the trash; protected ones are spared."""
        self._context.say(_("making the plan …"))
        self._panes.start("plan", self._delete, conversations)

    async def _delete(self, conversations: Sequence[Conversation]) -> None:
        selection = Selection(marks=frozenset(each.id for each in conversations))
        self.ask(await self._panes.read(self.planning(selection)))

    def ask(self, planned: PreparedPlan) -> None:
        """Ask whether to delete the conversations of a plan."""
        if planned.plan.selected:
            self._panes.start("delete-card", self._ask, planned)
        else:
            self._say_nothing(planned.plan)

    async def _ask(self, planned: PreparedPlan) -> None:
        plan, location = planned.plan, self._context.location

        def describe(store: OpenStore) -> tuple[Plan, str, str, str | None]:
            """Return the plan with previews of the conversations that the card names, and the
            sentences of the card."""
            detailed = plan.with_details(store.with_details, NAMED, SPARED)
            largest = max(each.rows for each in plan.selected)
            lines = [along_line(plan, planned.selection.marks), spared_line(plan)]
            shown = " · ".join(filter(None, lines))
            return detailed, totals_line(plan), shown, long_lock_warning(largest)

        def decided(go: bool | None) -> None:
            if go:
                self.delete_planned(planned)
            else:
                self._context.say(_("nothing was deleted"))

        detailed, totals, stays, warning = await self._panes.read(describe)
        trash = (
            _("the sample store's trash")
            if location.demo
            else one_line(str(trash_folder(location)), 300)
        )
        into = _("They go to the trash ({trash}): u restores them, X shows it.").format(trash=trash)
        if location.host is not None:
            into = _("They go to the trash of {name}: u restores them.").format(
                name=location.host.name
            )
        self._context.say("")
        self._panes.app.push_screen(DeleteCard(detailed, into, totals, stays, warning), decided)

    def delete_planned(self, planned: PreparedPlan) -> None:
        store, location = self._context.store, self._context.location

        def delete(plan: Plan, **how: Unpack[Carrying]) -> Outcome[Deleted]:
            trash, folder = trash_folder(location), sessions_folder(location)
            return delete_planned(store, plan, planned.catalog, trash, folder, **how)

        self._panes.start_write(self._carry_out, planned, delete, _DELETED, self._deleted)

    def _say_nothing(self, plan: Plan) -> None:
        if plan.spared:
            first = plan.spared[0]
            conversation = self._context.details.complete(first.conversation)[0]
            name = (
                conversation.title or conversation.preview or conversation.id
            )  # the preview may not have been read
            more = len(plan.spared) - 1
            sentence = _("protected: {name}: {why}")
            if more:
                sentence = _("protected: {name}: {why} (and {more:,} more)")
            self._context.say(sentence.format(name=name, why=first.why.words, more=more))
        else:
            self._context.say(_("nothing to do"))

    # Carrying out

    async def _carry_out(
        self,
        planned: PreparedPlan,
        carry_out: Callable[..., Outcome[Result]],
        verb: str,
        undoable: Callable[[str, Sequence[Result]], Undoable],
    ) -> None:
        plan, context = planned.plan, self._context
        if not plan.selected:
            self._say_nothing(plan)
            return
        title, progress = self._show_progress(plan, verb)
        stopping = context.writes.stopping

        def work() -> tuple[Outcome[Result], tuple[str, ...]]:
            def tell(step: Step) -> None:
                if progress is not None:
                    context.writes.tell(progress.show, step.share, step.words)
                else:
                    context.writes.tell(context.say, f"{title} · {step.words}")

            def stop() -> bool:
                return stopping.is_set() or (progress is not None and progress.stopped.is_set())

            ordered = plan._replace(selected=tuple(parents_first(planned.catalog, plan.selected)))
            outcome = carry_out(ordered, pause=stopping.wait, tell=tell, stop=stop)
            touched = [session for each in outcome.plan.selected for session in each.session_ids]
            return outcome, (*touched, *(session.id for session in outcome.plan.reparented))

        outcome, touched = await self._panes.write(work)
        if progress is not None:
            progress.finish()
        self._carried_out(outcome, touched, verb, undoable)

    def _show_progress(self, plan: Plan, verb: str) -> tuple[str, ProgressCard | None]:
        """Say at once what is being done, in the status line or on a card; return the sentence and
        the card."""
        count = len(plan.selected)
        if verb == _ARCHIVED:
            title = ngettext("Archiving 1 conversation", "Archiving {count:,} conversations", count)
        else:
            title = ngettext(
                "Moving 1 conversation to the trash",
                "Moving {count:,} conversations to the trash",
                count,
            )
        title = title.format(count=count)
        self._context.say(f"{title} …")  # also behind a card, which may be closed before the end
        is_many = count > _FEW_CONVERSATIONS
        messages = sum(each.rows for each in plan.selected) if not is_many else 0
        if not is_many and messages < _MANY_MESSAGES:
            return title, None
        progress = ProgressCard(f"{title} · {counted(messages, 'message')}" if messages else title)
        self._panes.app.push_screen(progress)
        return title, progress

    def _carried_out(
        self,
        outcome: Outcome[Result],
        touched: Sequence[str],
        verb: str,
        undoable: Callable[[str, Sequence[Result]], Undoable],
    ) -> None:
        sentence = outcome.sentence(_(verb)).rstrip(".。")
        spared = len(outcome.plan.spared) - outcome.refused
        if spared:
            why = outcome.plan.spared[0].why
            words = _("{count:,} protected")
            if spared == 1 and len(why.words) < _SHORT_REASON:  # leaves room for the hint at undo
                words = _("{count:,} protected: {why}")
            sentence += " · " + words.format(count=spared, why=why.words)
        if outcome.results:
            self._done(undoable(sentence, outcome.results), touched)
        if outcome.error is not None:
            self._context.failed(outcome.error)
        elif not outcome.results:
            self._context.say(sentence)

    def _archived(self, sentence: str, changes: Sequence[Change]) -> Undoable:
        return Undoable(sentence, make_undo(self._context.store, changes))

    def _deleted(self, sentence: str, results: Sequence[Deleted]) -> Undoable:
        left = list(results)
        notes = [note for each in results for note in each.notes]
        if notes:
            sentence += f" · {notes[0]}"
        return Undoable(sentence, lambda: _restore(self._context, left))


def _restore(context: Context, left: list[Deleted]) -> tuple[str, tuple[str, ...]]:
    """Restore deletions, and take them out of the list; on the writing thread.

    Returns:
        A sentence, and the sessions that are back.

    Raises:
        RefusedError: Of the first, if none of them can be restored.
    """
    store, location = context.store, context.location
    files, trash = sessions_folder(location), trash_folder(location)
    touched: list[str] = []
    refused: list[RefusedError] = []
    said: list[str] = []
    conversations, messages, several = 0, 0, len(left) > 1

    def tell(stage: Stage) -> None:
        if stage.total >= EVERY:  # too fast to read for fewer messages
            context.writes.tell(context.say, f"{stage.words} …")

    for each in left[::-1]:  # parents were deleted first, and find their children again
        try:
            done = restore(store, trash, each, files, check=not several, tell=tell)
        except RefusedError as error:
            refused.append(error)  # perhaps restored from the trash before; the others can be
            continue
        touched += done.sessions
        messages += done.messages
        conversations += len(set(each.conversations).intersection(done.sessions))
        said += done.notes
        left.remove(each)
    if refused and not touched:
        raise refused[0]
    restored = _("restored {conversations}: {sessions}, {messages}").format(
        conversations=counted(conversations, "conversation"),
        sessions=counted(len(touched), "session"),
        messages=counted(messages, "message"),
    )
    said += [each.sentence for each in refused]
    said += check_index(store) if several else ()
    return " · ".join([restored, *said]), tuple(touched)
