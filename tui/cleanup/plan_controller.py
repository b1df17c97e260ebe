"""The list of a plan: what goes, what the user leaves out or adds, in which order."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from hermes_browse.store.connection.reader import Reader
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.wording import _, ngettext

from .. import formats
from ..bindings import following
from ..list.conversation_list import ConversationList
from ..list.list_model import job_key_of
from ..list.list_rows import FixedRows, ListRow, NoteRow
from ..screens.sub_screen import SubScreen
from .cleaning import PreparedPlan
from .plan_rows import PlanJobRow, PlanOrder, PlanRow, SparedJobRow, SparedRow
from .plan_view import LeftOut, PlanRows, PlanView, make_view

if TYPE_CHECKING:
    from hermes_browse.store.cleanup.protection import SpareReason

Result = TypeVar("Result")

_BY_HAND = frozenset(["open", "hidden"])
"""Reasons for sparing that a mark by hand overrides."""


class PlanController:
    """Shows a plan, measures it piece by piece, and remembers what the user leaves out.

    `changed` is called when another view is shown, or none; `remake` to make another plan, as
    another conversation is marked.
    """

    def __init__(
        self, screen: SubScreen, changed: Callable[[], None], remake: Callable[[], None]
    ) -> None:
        self._screen, self._context, self._cleaning = (
            screen,
            screen.context,
            screen.controllers.cleaning,
        )
        self._changed, self._remake = changed, remake
        self.planned: PreparedPlan | None = None
        """The plan by the rules; it includes what the user leaves out."""
        self.view: PlanView | None = None
        """What is shown of the plan."""
        marks = frozenset(each.id for each in screen.controllers.marks.conversations)
        self.marks_in_list = len(marks)
        """If there are any, the plan begins with them instead of the last rules."""
        self.marked = marks or self._cleaning.last_taken
        """Tips that were marked by hand, in the main list or here."""
        self.order = PlanOrder.IDLE
        self._left_out = LeftOut() if marks else self._cleaning.last_left_out
        self._opened: set[str] = set()
        self._empty = ""
        self._laid_out: PlanRows | None = None
        self._has_news = False
        """The next view belongs to a plan, or to sizes, that have not been shown yet."""
        self._is_top = False

    @property
    def rows(self) -> ConversationList:
        return self._screen.query_one("#plan", ConversationList)

    # Plans and their views

    def show(self, planned: PreparedPlan, empty: str) -> None:
        """Lay out another plan, show it, measure it; `empty` is the sentence for a plan in which
        nothing goes."""
        self.planned, self._laid_out, self._empty = planned, None, empty
        self._has_news = True
        self._compute_view()

    def show_none(self, sentence: str) -> None:
        """Show a sentence instead of a plan."""
        self.rows.show(FixedRows([NoteRow(sentence)]), top=True)
        self.planned = self._laid_out = self.view = None
        self._changed()

    def forget(self) -> None:
        """Drop the plan and what the user left out, as the rules are being edited."""
        self._remember(LeftOut())
        self.planned = None

    def _remember(self, left_out: LeftOut) -> None:
        """Take what the user leaves out, also for the next time that the screen opens with the same
        rules."""
        self._left_out = left_out
        if not self.marks_in_list:
            self._cleaning.last_left_out = left_out

    def sort(self) -> None:
        """Sort by the next column, and show the first row."""
        self.order = following(PlanOrder, self.order)
        self._lay_out(top=True)
        self._say(
            _("sorted by {column}").format(column=self.order.heading)
        )  # a narrow pane has no room for each column

    def _lay_out(self, *, top: bool = False) -> None:
        self._is_top = top
        self._laid_out = None
        self._compute_view()

    def _compute_view(self) -> None:
        """Work out the view on a worker thread: a large plan takes longer than a frame."""
        planned = self.planned
        if planned is None:
            return
        details, left_out, empty, opened = (
            self._context.details,
            self._left_out,
            self._empty,
            frozenset(self._opened),
        )
        order, laid_out = self.order, self._laid_out

        def work(reader: Reader) -> PlanView:
            plan, rows = planned.plan, laid_out
            if rows is None:
                plan = plan._replace(selected=order.sorted(plan.selected))
                rows = PlanRows(plan, details, lambda: self._left_out, empty, opened, order)
            return make_view(plan, rows, planned.catalog, left_out.roots, planned.selection.marks)

        self._submit("look", work, lambda view: self.take_view(planned, view))

    def take_view(self, planned: PreparedPlan, view: PlanView) -> None:
        """Show a view, unless another plan has taken the place of its own."""
        if not self._screen.is_whole or self.planned is not planned:
            return
        self.view = view
        if view.gone:
            self._remember(self._left_out.without(view.gone))
        if view.rows is not self._laid_out:
            self._laid_out = view.rows
            self.planned = planned = planned._replace(plan=view.plan)
            self.rows.show(view.rows, top=self._is_top)
            self._is_top = False
        else:
            view.rows.take(view.plan, view.sums, view.biggest)
            self.rows.refresh_rows()
        self._changed()
        if not self._has_news:
            return
        self._has_news = False
        if not view.is_measured:
            self._cleaning.measure_on(planned, lambda more: self._take_sizes(planned, more))
        elif (
            self.order is PlanOrder.SIZE and not view.rows.was_measured
        ):  # rows keep their places until then
            self._lay_out()

    def _take_sizes(self, asked: PreparedPlan, more: PreparedPlan) -> None:
        if self._screen.is_whole and self.planned is asked:
            self.planned = more
            self._has_news = True
            self._compute_view()

    def _submit(
        self, slot: str, work: Callable[[Reader], Result], done: Callable[[Result], None]
    ) -> None:
        self._context.plan_worker.submit(slot, work, done)

    def when_ready(self, then: Callable[[PreparedPlan], None], *, archive: bool) -> None:
        """Narrow the plan to what goes, for an archive without archived ones, and pass it on if
        anything goes."""
        planned, left_out = self.planned, self._left_out
        if planned is None:
            self._say(_("nothing to clean up by these rules"))
            return

        def work(reader: Reader) -> PreparedPlan:
            plan = planned.plan.narrowed(planned.catalog, left_out.roots)
            return planned._replace(plan=plan.without_archived() if archive else plan)

        def done(ready: PreparedPlan) -> None:
            if ready.plan.selected:
                then(ready)
            else:
                self._say(_("nothing to clean up by these rules"))

        self._say(_("making the plan …"))
        self._submit("ready", work, done)

    # Rows

    def nameless(self, first: int, last: int) -> list[Conversation]:
        """Conversations of some rows that have no title and no preview yet."""
        source = self.rows.source
        return source.nameless(first, last) if isinstance(source, PlanRows) else []

    def about(self, row: ListRow | None) -> str:
        """Return more about a row than it has room for; empty if there is nothing to add."""
        if isinstance(row, SparedRow):
            why = row.spared.why
            parts = [
                why.words,
                *([_("Space takes it all the same")] if why.code in _BY_HAND else []),
            ]
            if (
                why.code == "open"
                and self.planned is not None
                and "stale" not in self.planned.selection.states
            ):
                parts.append(_("6 includes stale open ones"))
            return " · ".join(parts)
        if isinstance(row, PlanRow):
            goes, stays = (
                _("goes with D · Space keeps it"),
                _("stays, as you removed it · Space adds it again"),
            )
            parts = [goes if row.goes else stays, _("Enter reads it")]
            if along := len(row.planned.subagents):
                sentence = ngettext(
                    "1 subagent session along in a delete",
                    "{count:,} subagent sessions along in a delete",
                    along,
                )
                parts.append(sentence.format(count=along))
                own, whole = row.planned.conversation.cost_usd, row.planned.cost_usd
                if own != whole:
                    costs = (
                        _("{whole} with them")
                        if own is None
                        else _("{own} without them, {whole} with them")
                    )
                    parts.append(
                        costs.format(own=formats.money(own) or "$0", whole=formats.money(whole))
                    )
            return " · ".join([*parts, row.planned.conversation.id])
        if isinstance(row, PlanJobRow):
            return _("Enter shows the runs of this job · Space removes or adds all of them")
        if isinstance(row, SparedJobRow):
            return " · ".join([row.words, _("Enter shows the runs of this job")])
        return ""

    def select(self, row: ListRow) -> None:
        """Read a conversation, or show the runs of a job."""
        if isinstance(row, PlanJobRow | SparedJobRow):
            self._opened ^= {row.key}
            self._laid_out = None
            self._compute_view()
        elif isinstance(row, PlanRow):
            self._screen.read(row.planned.conversation)
        elif isinstance(row, SparedRow):
            self._screen.read(row.spared.conversation)

    def take_or_leave(self) -> None:
        """Leave the current row out of the plan, or take it back."""
        row = self.rows.current
        if isinstance(row, PlanRow):
            self.toggle(row.planned.conversation)
            self.rows.action_move(1)
        elif isinstance(row, PlanJobRow):
            runs, job = row.runs, row.name
            self.toggle_all(lambda: {each.conversation.root_id: job for each in runs})
            self.rows.action_move(1)
        elif isinstance(row, SparedRow):
            self.take_by_hand(row.spared.conversation, row.spared.why)

    def toggle(self, conversation: Conversation) -> None:
        """Leave a conversation of the plan out, or take it back."""
        self._leave_out(
            self._left_out.toggled({conversation.root_id: job_key_of(conversation.root)})
        )

    def _leave_out(self, left_out: LeftOut) -> None:
        self._remember(left_out)
        self.rows.refresh_rows()
        self._compute_view()

    def toggle_all(self, find_roots: Callable[[], dict[str, str | None]]) -> None:
        """Leave many conversations out, or take them back if some are left out.

        `find_roots` returns their roots, each with its job if it is a cron run; it runs on a worker
        thread.
        """
        before = self._left_out

        def work(reader: Reader) -> LeftOut | None:
            roots = find_roots()
            return before.toggled(roots) if roots else None

        def done(after: LeftOut | None) -> None:
            if not self._screen.is_whole:
                return
            if after is None:
                self._say(_("none of it goes by these rules"))
            elif self._left_out is not before:
                self.toggle_all(find_roots)  # another key has changed it meanwhile
            else:
                self._leave_out(after)

        self._submit("toggle", work, done)

    def take_by_hand(self, conversation: Conversation, why: SpareReason | None) -> bool:
        """Mark a conversation that the plan does not have; or say what protects it, and return
        False.

        `why` is the reason for sparing it; None if it matches no rule.
        """
        if why is not None and why.code not in _BY_HAND:
            self._say(_("it stays whatever is marked: {reason}").format(reason=why.words))
            return False
        self.marked |= {conversation.id}
        if not self.marks_in_list:
            self._cleaning.last_taken = self.marked
        self._remake()
        return True

    def _say(self, words: str) -> None:
        self._screen.say(words, look="")
