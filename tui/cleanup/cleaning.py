"""The controller of clean-ups: makes plans, asks, carries them out with progress, and undoes
them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

from hermes_browse.store.cleanup.bulk import Outcome, Step, Unit, carry_out
from hermes_browse.store.cleanup.plan import Plan, make_plan, measure_more, parents_first
from hermes_browse.store.cleanup.selection import Selection
from hermes_browse.store.connection.reader import Reader
from hermes_browse.store.edit.delete import Deleted
from hermes_browse.store.edit.delete_plan import long_lock_warning
from hermes_browse.store.edit.flags import Change
from hermes_browse.store.errors import RefusedError
from hermes_browse.store.hosts.edits import archive_unit, check_index, delete_unit, restore
from hermes_browse.store.sessions.catalog import Catalog, read_catalog
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line
from hermes_browse.store.trash.progress import EVERY, Stage, Tell
from hermes_browse.store.wording import N_, _, ngettext

from ..context import Context
from ..edit.change_cards import NAMED, SPARED, DeleteCard, ProgressCard
from ..edit.changing import make_undo
from ..formats import counted
from ..list.marks import Undoable
from ..screens.panes import Panes
from ..store_paths import sessions_folder, trash_folder
from ..writer import Written
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


class Cleaning:
    """Makes plans on a worker thread and carries them out on the writer's.

    `panes` show the cards; `done` takes the undo of what was done, and the sessions that have
    changed.
    """

    def __init__(
        self, context: Context, panes: Panes, done: Callable[[Undoable, Sequence[str]], None]
    ) -> None:
        self._context, self._panes, self._done = context, panes, done
        self.last_rules = "older:30d"
        """The rules with which the screen opens."""
        self.last_left_out, self.last_taken = LeftOut(), frozenset[str]()
        """What the user left out of their plan, and the tips of what was taken by hand."""

    # Plans

    def plan(
        self,
        selection: Selection,
        done: Callable[[PreparedPlan], None],
        *,
        archive: bool = False,
        measure: bool = True,
    ) -> None:
        """Make a plan; a newer plan replaces one that is still being made.

        With `archive`, leave out what is archived already. Without `measure`, sizes are left to
        `measure_on`.
        """
        current, now, sizes = self._context.catalog, self._context.clock(), self._context.sizes

        def work(reader: Reader) -> PreparedPlan:
            catalog = current if current.exact else read_catalog(reader, now)
            plan = make_plan(reader, catalog, selection, now, known=sizes, measure_sizes=measure)
            return PreparedPlan(plan.without_archived() if archive else plan, catalog, selection)

        self._context.plan_worker.submit("plan", work, done)

    def measure_on(self, planned: PreparedPlan, done: Callable[[PreparedPlan], None]) -> None:
        """Measure a part of a plan with unknown sizes; another plan can be made between two
        parts."""
        sizes = self._context.sizes

        def work(reader: Reader) -> PreparedPlan:
            return planned._replace(plan=measure_more(reader, planned.plan, sizes))

        self._context.plan_worker.submit("measure", work, done)

    def _plan_for(
        self,
        conversations: Sequence[Conversation],
        done: Callable[[PreparedPlan], None],
        *,
        archive: bool,
    ) -> None:
        marks = frozenset(each.id for each in conversations)
        self.plan(Selection(marks=marks), done, archive=archive, measure=not archive)

    # Archive and delete

    def archive(self, conversations: Sequence[Conversation]) -> None:
        """Archive conversations without asking, as it can be undone; protected ones are spared."""
        self._plan_for(conversations, self.archive_planned, archive=True)

    def archive_planned(self, planned: PreparedPlan) -> None:
        unit = archive_unit(self._context.store, planned.plan)
        self._carry_out(planned, lambda stop, tell: unit, _ARCHIVED, self._archived)

    def delete(self, conversations: Sequence[Conversation]) -> None:
        """Ask, then move conversations to the trash; protected ones are spared."""
        self._context.say(_("making the plan …"))
        self._plan_for(conversations, self.ask, archive=False)

    def ask(self, planned: PreparedPlan) -> None:
        """Ask whether to delete the conversations of a plan."""
        plan = planned.plan
        if not plan.selected:
            self._say_nothing(plan)
            return

        def decided(go: bool | None) -> None:
            if go:
                self.delete_planned(planned)
            else:
                self._context.say(_("nothing was deleted"))

        def work(reader: Reader) -> tuple[Plan, str, str, str | None]:
            """Return the plan with previews of the conversations that the card names, and the
            sentences of the card."""
            detailed = plan.with_details(reader, NAMED, SPARED)
            largest = max(each.rows for each in plan.selected)
            stays = " · ".join(
                filter(None, [along_line(plan, planned.selection.marks), spared_line(plan)])
            )
            return detailed, totals_line(plan), stays, long_lock_warning(largest)

        def show(result: tuple[Plan, str, str, str | None]) -> None:
            location = self._context.location
            trash = (
                _("the sample store's trash")
                if location.demo
                else one_line(str(trash_folder(location)), 300)
            )
            into = _("They go to the trash ({trash}): u restores them, X shows it.").format(
                trash=trash
            )
            if location.host is not None:
                into = _("They go to the trash of {name}: u restores them.").format(
                    name=location.host.name
                )
            self._context.say("")
            self._panes.app.push_screen(DeleteCard(result[0], into, *result[1:]), decided)

        self._context.page_worker.submit("card", work, show)

    def delete_planned(self, planned: PreparedPlan) -> None:
        store, location = self._context.store, self._context.location

        def unit(stop: Callable[[], bool], tell: Tell) -> Unit[Deleted]:
            trash, folder = trash_folder(location), sessions_folder(location)
            return delete_unit(store, planned.catalog, trash, folder, stop=stop, tell=tell)

        self._carry_out(planned, unit, _DELETED, self._deleted)

    def _say_nothing(self, plan: Plan) -> None:
        if plan.spared:
            first = plan.spared[0]
            conversation = self._context.details.complete(first.conversation)[0]
            name = (
                conversation.title or conversation.preview or conversation.id
            )  # the preview may not have been read
            more = len(plan.spared) - 1
            sentence = _("left as it is: {name}: {why}")
            if more:
                sentence = _("left as they are: {name}: {why} (and {more:,} more)")
            self._context.say(sentence.format(name=name, why=first.why.words, more=more))
        else:
            self._context.say(_("nothing to do"))

    # Carrying out

    def _carry_out(
        self,
        planned: PreparedPlan,
        make_unit: Callable[[Callable[[], bool], Tell], Unit[Result]],
        verb: str,
        undoable: Callable[[str, Sequence[Result]], Undoable],
    ) -> None:
        plan, context = planned.plan, self._context
        if not plan.selected:
            self._say_nothing(plan)
            return
        title, progress = self._show_progress(plan, verb)
        store, writer = context.store, context.writer

        def work() -> tuple[Outcome[Result], tuple[str, ...]]:
            began, last = time.monotonic(), Step(0, len(plan.selected), 0.0)

            def tell(step: Step) -> None:
                nonlocal last
                last = step._replace(inside=None)
                if progress is not None:
                    context.post(Written(lambda: progress.show(step.share, step.words)))
                else:
                    context.post(Written(lambda: context.say(f"{title} · {step.words}")))

            def tell_inside(stage: Stage) -> None:
                if stage.total >= EVERY:  # too fast to read for fewer messages
                    tell(last._replace(inside=stage, seconds=time.monotonic() - began))

            def stop() -> bool:
                return writer.stopping.is_set() or (
                    progress is not None and progress.stopped.is_set()
                )

            ordered = plan._replace(selected=tuple(parents_first(planned.catalog, plan.selected)))
            unit = make_unit(stop, tell_inside)
            outcome = carry_out(
                store, ordered, unit, pause=writer.stopping.wait, tell=tell, stop=stop
            )
            touched = [session for each in outcome.plan.selected for session in each.session_ids]
            return outcome, (*touched, *(session.id for session in outcome.plan.reparented))

        def done(result: tuple[Outcome[Result], tuple[str, ...]]) -> None:
            if progress is not None:
                progress.finish()
            self._carried_out(*result, verb, undoable)

        writer.submit(work, done)

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
            words = _("{count:,} spared")
            if spared == 1 and len(why.words) < _SHORT_REASON:  # leaves room for the hint at undo
                words = _("{count:,} spared: {why}")
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
        context, store, location = self._context, self._context.store, self._context.location
        files = sessions_folder(location)
        left = list(results)
        notes = [note for each in results for note in each.notes]
        if notes:
            sentence += f" · {notes[0]}"

        def back() -> tuple[str, tuple[str, ...]]:
            touched: list[str] = []
            refused: list[RefusedError] = []
            conversations, messages, several = 0, 0, len(left) > 1
            total = sum(len(each.conversations) for each in left)
            for each in left[::-1]:  # parents were deleted first, and find their children again
                try:
                    done = restore(store, trash_folder(location), each, files, check=not several)
                except (
                    RefusedError
                ) as error:  # perhaps restored from the trash before; the others can still be
                    refused.append(error)
                    continue
                touched += done.sessions
                messages += done.messages
                conversations += len(each.conversations)
                left.remove(each)
                words = _("{done:,} of {total:,} conversations are back …").format(
                    done=conversations, total=total
                )
                context.post(Written(partial(context.say, words)))
            if refused and not touched:
                raise refused[0]
            restored = _("restored {conversations}: {sessions}, {messages}").format(
                conversations=counted(conversations, "conversation"),
                sessions=counted(len(touched), "session"),
                messages=counted(messages, "message"),
            )
            errors = [each.sentence for each in refused]
            return " · ".join([restored, *errors, *(check_index(store) if several else ())]), tuple(
                touched
            )

        return Undoable(sentence, back)
