"""A plan on a screen: its lines, what is taken and left by hand, what it comes to; the map beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual import on
from textual.content import Content

from hermes_browse.store.connection.connect import Reader
from hermes_browse.store.messages.preview import with_details
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.wording import _, ngettext

from ..list.conversation_list import ConversationList
from ..list.rows import ListRow
from ..list_model import job_name
from ..screens.cleaning import Planned
from ..screens.controllers import Controllers
from ..screens.sub_screen import SubScreen
from ..shared import header
from .plan_rows import PlanJobRow, PlanOrder, PlanRow, SparedJobRow, SparedRow
from .plan_view import LeftOut, PlanRows, PlanView, look_at
from .space_pane import SpacePane
from .space_rows import KindRow, SpaceRow

if TYPE_CHECKING:
    from hermes_browse.store.cleanup.protection import Why


_BY_HAND = frozenset(["open", "hidden"])
"""Reasons for sparing that a mark by hand overrules; the others protect whatever is marked."""


class PlanScreen(SubScreen):
    """Shows a plan; how it is made is the business of what inherits from it."""

    def __init__(self, main: Controllers) -> None:
        super().__init__(main)
        self._planned: Planned | None = None
        self._marked = frozenset(each.id for each in main.marks.conversations)
        self._left_out = LeftOut()
        self._opened: set[str] = set()
        self._empty = ""
        self._rows: PlanRows | None = None
        self._view: PlanView | None = None
        self._goes_on = False
        self.order = PlanOrder.IDLE
        """Of the rows."""
        self._is_sorted_by_size = False
        self._is_top = False
        self.space = SpacePane(self, self)

    def _make_plan(self) -> None:
        """Make it anew: what is marked by hand has changed."""
        raise NotImplementedError

    @property
    def plan_list(self) -> ConversationList:
        """What would go."""
        return self.query_one("#plan", ConversationList)

    def _measure_on(self, planned: Planned) -> None:
        self.main.cleaning.measure_on(planned, lambda more: self._take_sizes(planned, more))

    def _take_sizes(self, asked: Planned, more: Planned) -> None:
        """A piece of the plan has been measured: the rows stay where they are, and know more."""
        if self.is_whole and self._planned is asked:
            self._planned = more
            self._goes_on = True
            self._look()

    @property
    def planned(self) -> Planned | None:
        """The plan by the rules, unmarked ones included."""
        return self._planned

    @property
    def view(self) -> PlanView | None:
        """What is shown of it."""
        return self._view

    def _show_plan(self, planned: Planned) -> None:
        """Another plan: lay it out, show it, measure it."""
        self._planned, self._rows = planned, None
        self._is_sorted_by_size = planned.plan.is_measured
        self._goes_on = True
        self._look()

    def _look(self) -> None:
        """Have what is to be shown worked out: a large plan takes longer than a frame."""
        planned = self._planned
        if planned is None:
            return
        left_out = self._left_out
        details, empty, opened = self.context.details, self._empty, frozenset(self._opened)
        order = self.order
        rows = self._rows if self._rows is not None else lambda plan: PlanRows(plan, details, left_out, empty, opened)

        def work(reader: Reader) -> PlanView:
            return look_at(planned.plan, planned.catalog, left_out.roots, rows, planned.marks, order)

        self.context.plan_worker.submit("look", work, lambda view: self._take_view(planned, view), self.context.failed)

    def _take_view(self, planned: Planned, view: PlanView) -> None:
        if not self.is_whole or self._planned is not planned:
            return
        self._view = view
        self._left_out.take(view.gone)
        if view.rows is not None:
            self._rows = view.rows
            self._planned = planned = planned._replace(plan=view.plan)
            self.plan_list.show(view.rows, top=self._is_top)
            self._is_top = False
        elif self._rows is not None:
            self._rows.take(planned.plan, view.sums)
            self.plan_list.refresh_rows()
        self.show_totals()
        self.space.show()
        self.picture_changed()
        if self._goes_on:  # not for each of several looks at one piece
            self._goes_on = False
            if view.is_measured:
                self._sort_measured()
                self.space.begin()
            else:
                self._measure_on(planned)

    def _show_no_plan(self) -> None:
        """There is none."""
        self._planned = self._rows = self._view = None
        self.show_totals()
        self.space.show()
        self.picture_changed()

    def picture_changed(self) -> None:
        """What goes, or what is known of it, is another."""

    def sort(self) -> None:
        """Sort the rows by the next column, and show the first of them."""
        self.order = self.order.following
        self._lay_out(top=True)

    def _sort_measured(self) -> None:
        """By size rows can be sorted only when all sizes are known; until then they keep their places."""
        if self.order is PlanOrder.SIZE and not self._is_sorted_by_size:
            self._is_sorted_by_size = True
            self._lay_out()

    def _lay_out(self, *, top: bool = False) -> None:
        view = self._view
        self._is_top = top
        self._is_sorted_by_size = view is not None and view.is_measured
        self._rows = None
        self._look()

    def show_totals(self) -> None:
        """What goes, in numbers."""
        view = self._view
        goes = Content.styled(" " + _("nothing goes"), "dim")
        if view is not None and view.goes:
            count = ngettext("1 conversation", "{count:,} conversations", view.goes).format(count=view.goes)
            parts = [view.totals]
            if self.space.total:
                parts.append(_("{share:.0%} of all").format(share=view.bytes / self.space.total))
            goes = Content.assemble((f" ✓ {count}", "bold $accent"), f" · {' · '.join(parts)}")
        self.line("totals").update(goes)
        self.space.show_file()
        self.line("stays").update(Content.styled(f" {view.stays if view is not None else ''}", "dim"))

    @on(ConversationList.Shown)
    def rows_shown(self, event: ConversationList.Shown) -> None:
        """Read how nameless ones begin."""
        event.stop()
        source = event.list.source
        is_plan = isinstance(source, PlanRows)
        ask = source.nameless if isinstance(source, PlanRows) else self.space.nameless
        wanted = ask(event.first, event.last)
        if not wanted:
            return

        def done(found: list[Conversation]) -> None:
            self.context.details.add(found)
            if self.is_whole:
                self.plan_list.refresh_rows()
                if not is_plan:
                    self.space.show()

        slot = "plan names" if is_plan else "map names"  # not shown
        self.context.page_worker.submit(slot, lambda reader: with_details(reader, wanted), done, self.context.failed)

    @on(ConversationList.Highlighted)
    def highlighted(self, event: ConversationList.Highlighted) -> None:
        """Say what the row has no room for."""
        event.stop()
        if event.list is self.plan_list or event.list.has_focus:  # the map comes later, and is not what is looked at
            self.tell_about(event.row)

    def tell_about(self, row: ListRow | None) -> None:
        """Say what a row has no room for."""
        words = ""
        if isinstance(row, SparedRow):
            more = [_("space takes it all the same")] if self.may_take(row.spared.why) else []
            words = " · ".join([row.spared.why.words, *more])
        elif isinstance(row, PlanRow):
            along = len(row.planned.subagents)
            parts = [row.planned.conversation.id]
            if along:
                sentence = ngettext(
                    "1 subagent session along in a delete", "{count:,} subagent sessions along in a delete", along
                )
                parts.append(sentence.format(count=along))
            words = " · ".join([*parts, _("Enter reads it")])
        elif isinstance(row, PlanJobRow):
            words = _("Enter shows the runs of this job · space leaves all of them, or takes them")
        elif isinstance(row, SparedJobRow):
            words = " · ".join([row.words, _("Enter shows the runs of this job")])
        elif isinstance(row, SpaceRow | KindRow):
            words = self.space.about(row)
        if words:
            self.tell(header.status(words, ""))

    @on(ConversationList.Selected, "#plan")
    def selected(self, event: ConversationList.Selected) -> None:
        """Enter: read it; on a job show its runs."""
        event.stop()
        if isinstance(event.row, PlanJobRow | SparedJobRow):
            self._opened ^= {event.row.key}
            self._rows = None
            self._look()
        elif isinstance(event.row, PlanRow):
            self.read(event.row.planned.conversation)
        elif isinstance(event.row, SparedRow):
            self.read(event.row.spared.conversation)

    def action_take(self) -> None:
        """Leave a conversation out, or take it after all; in the map all of a line."""
        if self.space.has_focus:
            self.space.take_or_leave()
            return
        row = self.plan_list.current
        if isinstance(row, PlanRow):
            self.toggle(row.planned.conversation)
            self.plan_list.action_move(1)
        elif isinstance(row, PlanJobRow):
            runs, job = row.runs, row.name
            self.toggle_all(lambda: [(each.conversation.root_id, job) for each in runs])
            self.plan_list.action_move(1)
        elif isinstance(row, SparedRow):
            if self.may_take(row.spared.why):
                self.take_by_hand(row.spared.conversation)
            else:
                told = _("it stays whatever is marked: {reason}").format(reason=row.spared.why.words)
                self.tell(header.status(told, ""))

    def toggle(self, conversation: Conversation) -> None:
        """Leave a conversation of the plan out, or take it after all."""
        root = conversation.root_id
        if root in self._left_out:
            self._left_out.take([root])
        else:
            self._left_out.leave([(root, job_name(conversation.root))])
        self.plan_list.refresh_rows()
        self._look()

    def toggle_all(self, meant: Callable[[], list[tuple[str, str | None]]]) -> None:
        """Leave many conversations out, or where some of them are, take all of them.

        Args:
            meant: Finds their roots, each with its job where it is a cron run; beside the screen's thread.
        """
        left_out = self._left_out

        def work(reader: Reader) -> tuple[int, LeftOut | None]:
            before, found = left_out.changes, meant()
            return before, left_out.toggled(found) if found else None

        def done(found: tuple[int, LeftOut | None]) -> None:
            before, more = found
            if not self.is_whole:
                return
            if more is None:
                self.tell(header.status(_("nothing of it goes by these rules"), ""))
                return
            if self._left_out is not left_out or left_out.changes != before:
                self.toggle_all(meant)  # another key came in between, and counts as well
                return
            self._left_out = more
            if self._rows is not None:
                self._rows.left_out = more
            self.plan_list.refresh_rows()
            self._look()

        self.context.plan_worker.submit("toggle", work, done, self.context.failed)

    @staticmethod
    def may_take(why: Why) -> bool:
        """Whether a mark by hand overrules what a conversation is spared for."""
        return why.code in _BY_HAND

    def take_by_hand(self, conversation: Conversation) -> None:
        """Take one along that the rules do not mean, or spare; what is protected stays all the same."""
        self._marked |= {conversation.id}
        self._make_plan()

    @on(ConversationList.Selected, "#space")
    def space_selected(self, event: ConversationList.Selected) -> None:
        """Enter: open a line of the map."""
        event.stop()
        self.space.take(event.row)
