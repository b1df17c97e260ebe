"""The list of a plan: what goes, what the user leaves out or adds, in which order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message

from hermes_browse.store.api import OpenStore
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.wording import _

from ..bindings import following
from ..edit.bulk import PlanChoices, PreparedPlan
from ..list.conversation_list import ConversationList
from ..list.list_model import job_key_of
from ..list.list_rows import FixedRows, NoteRow
from ..screens.sub_screen import SubScreen
from ..shared.lines import TextLine
from .plan_rows import BY_HAND, PlanOrder, PlanRow, SparedRow, plan_head
from .plan_view import LeftOut, PlanRows, PlanView, make_view
from .tile_map import TileMap

Result = TypeVar("Result")


class PlanPane(Vertical):
    """Holds the plan of a clean-up: shows it, measures it piece by piece, and takes what the user
    leaves out of it or adds.

    Args:
        owner: Its screen.
        choices: What the user has chosen so far; changed here.
    """

    class Changed(Message):
        """Another view of the plan is shown, or none."""

    class Marked(Message):
        """A conversation that the plan lacks was marked: another plan is to be made."""

    def __init__(self, owner: SubScreen, choices: PlanChoices) -> None:
        super().__init__(id="left")
        self._owner, self._shared = owner, owner.main
        self.choices = choices
        self.order = PlanOrder.IDLE
        self.planned: PreparedPlan | None = None
        """The plan by the rules; it includes what the user leaves out."""
        self.view: PlanView | None = None
        """What is shown: of the last plan while another one is being made."""
        self._opened: set[str] = set()
        self._empty = ""
        self._is_laid_out = False
        """The rows of the view are those of the plan, in its order."""
        self._is_top = False

    def compose(self) -> ComposeResult:
        yield TextLine(id="plan-head")
        yield ConversationList(id="plan")

    @property
    def rows(self) -> ConversationList:
        return self.query_one("#plan", ConversationList)

    def _say(self, words: str) -> None:
        self._owner.say(words, look="")

    # Plans and their views

    def show(self, planned: PreparedPlan, empty: str) -> None:
        """Lay out another plan, show it, measure it; `empty` is the sentence for a plan in which
        nothing goes."""
        self.planned, self._empty = planned, empty
        self._lay_out()

    def show_none(self, sentence: str) -> None:
        """Show a sentence instead of a plan."""
        self.rows.show(FixedRows([NoteRow(sentence)]), top=True)
        self.planned = self.view = None
        self.post_message(self.Changed())

    def forget(self) -> None:
        """Drop the plan and what the user left out, as the rules are being edited."""
        self.choices.left_out = LeftOut()
        self.planned = None

    def sort(self) -> None:
        """Sort by the next column, and show the first row."""
        self.order = following(PlanOrder, self.order)
        self._is_top = True
        self._lay_out()
        self.show_head()
        self._say(_("sorted by {column}").format(column=_(self.order)))

    def show_head(self) -> None:
        """Show the headings, which a narrow pane has no room for."""
        head = plan_head(self.rows.scrollable_content_region.width, self.order)
        self.query_one("#plan-head", TextLine).update(Content.styled(head, "dim"))

    def _lay_out(self) -> None:
        self._is_laid_out = False
        self._compute_view()

    def _compute_view(self) -> None:
        """Work out the view on a reading thread: a large plan takes longer than a frame."""
        planned, order = self.planned, self.order
        if planned is None:
            return
        left_out, opened, empty = self.choices.left_out, frozenset(self._opened), self._empty
        details = self._shared.details
        before = self.view.rows if self.view is not None and self._is_laid_out else None

        def work(store: OpenStore) -> PlanView:
            plan, rows = planned.plan, before
            is_sorted = plan.is_measured or order is not PlanOrder.SIZE
            if rows is None or (is_sorted and not rows.is_sorted):
                plan = plan._replace(selected=order.sorted(plan.selected))
                rows = PlanRows(plan, details, self._left_out, empty, opened, order)
            else:
                rows = rows.measured(plan)
            return make_view(rows, planned.catalog, left_out.roots, planned.selection.marks)

        async def show() -> None:
            self._take_view(planned, await self._owner.read(work))

        self._owner.start("look", show)

    def _left_out(self) -> LeftOut:
        return self.choices.left_out

    def _take_view(self, planned: PreparedPlan, view: PlanView) -> None:
        """Show a view, unless another plan has taken the place of its own."""
        if self.planned is not planned:
            return
        self.planned, self.view = planned._replace(plan=view.rows.plan), view
        self._is_laid_out = True
        gone = self.choices.left_out.roots - view.roots
        if gone:
            self.choices.left_out = self.choices.left_out.without(gone)
        self.rows.show(view.rows, top=self._is_top)
        self._is_top = False
        self.post_message(self.Changed())
        if not view.rows.is_measured:
            self._owner.start("measure", self._measure, self.planned)

    async def _measure(self, planned: PreparedPlan) -> None:
        sizes = self._shared.sizes
        plan = await self._owner.read(lambda store: store.measure_more(planned.plan, sizes))
        if self.planned is planned:
            self.planned = planned._replace(plan=plan)
            self._compute_view()

    def when_ready(self, then: Callable[[PreparedPlan], None], *, archive: bool) -> None:
        """Narrow the plan to what goes, for an archive without archived ones, and pass it on if
        anything goes."""
        planned = self.planned
        if planned is None:
            self._say(_("nothing to clean up by these rules"))
            return

        self._say(_("making the plan …"))
        self._owner.start("ready", self._narrow, planned, then, archive)

    async def _narrow(
        self, planned: PreparedPlan, then: Callable[[PreparedPlan], None], archive: bool
    ) -> None:
        left_out = self.choices.left_out.roots

        def narrow() -> PreparedPlan:
            plan = planned.plan.narrowed(left_out)
            return planned._replace(plan=plan.without_archived() if archive else plan)

        ready = await self._owner.call(narrow)
        if ready.plan.selected:
            then(ready)
        else:
            self._say(_("nothing to clean up by these rules"))

    # Rows

    @on(ConversationList.Shown)
    def rows_shown(self) -> None:
        self.show_head()

    @on(ConversationList.Highlighted)
    def highlighted(self, event: ConversationList.Highlighted) -> None:
        event.stop()
        if not isinstance(self.screen.focused, TileMap):
            self.describe(by_hand=event.by_hand)

    def describe(self, *, by_hand: bool = True) -> None:
        """Say more about the row under the cursor than it has room for."""
        row, words = self.rows.current, ""
        if isinstance(row, SparedRow):
            states = self.planned.selection.states if self.planned is not None else ("stale",)
            words = row.about(with_stale="stale" in states)
        elif isinstance(row, PlanRow):
            words = row.about()
        if words or isinstance(row, NoteRow):  # nothing about the row that was there before
            self._owner.describe(words, by_hand=by_hand)

    def point_at(self, conversation: Conversation) -> None:
        """Move the cursor to a conversation, or to the job that it is a run of."""
        keys = (f"p{conversation.root_id}", f"j{job_key_of(conversation.root)}")
        for key in keys:
            index = self.rows.source.index_of(key)
            if index is not None:
                self.rows.cursor = index
                return

    @on(ConversationList.Selected)
    def selected(self, event: ConversationList.Selected) -> None:
        """Read a conversation, or show the runs of a job."""
        event.stop()
        row = event.row
        if not isinstance(row, PlanRow | SparedRow):
            return
        if row.job:
            self._opened ^= {row.key}
            self._lay_out()
        else:
            self._owner.read_conversation(row.conversation)

    def take_or_leave(self) -> None:
        """Leave the current row out of the plan, or take it back."""
        row = self.rows.current
        if isinstance(row, PlanRow):
            if row.job and self.view is not None:
                self._toggle(self.view.rows.roots_of_job[row.job])
            else:
                self._toggle({row.conversation.root_id: job_key_of(row.conversation.root)})
            self.rows.action_move(1)
        elif isinstance(row, SparedRow) and not row.job:
            self.take_or_leave_one(row.conversation)

    def take_or_leave_one(self, conversation: Conversation) -> None:
        """Leave a conversation out of the plan, or take it back or along; say what protects it."""
        view, root = self.view, conversation.root_id
        if view is not None and root in view.roots:
            self._toggle({root: job_key_of(conversation.root)})
            return
        why = view.spared.get(root) if view is not None else None
        if why is not None and why.code not in BY_HAND:
            self._say(_("it stays whatever is marked: {reason}").format(reason=why.words))
            return
        self.choices.taken |= {conversation.id}
        self.post_message(self.Marked())

    def _toggle(self, roots: Mapping[str, str | None]) -> None:
        """Leave conversations out, given by root with their jobs, or take them back if some are
        left out."""
        self.choices.left_out = self.choices.left_out.toggled(roots)
        self.rows.refresh_rows()
        self._compute_view()
