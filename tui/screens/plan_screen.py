"""A plan on a screen: its lines, what is taken and left by hand, what it comes to; the map beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.content import Content

from hermes_browse.store.models import Conversation
from hermes_browse.store.preview import with_details
from hermes_browse.store.prune.plan import narrowed
from hermes_browse.store.prune.planned import Plan

from .. import header
from ..clean_rows import PlanJobRow, PlanRow, SparedRow
from ..plan_rows import PlanRows
from ..widgets.conversation_list import ConversationList
from .cleaning import Planned
from .deleting import spared_line, totals_line
from .space_pane import SpacePane
from .sub_screen import SubScreen

if TYPE_CHECKING:
    from .main import MainScreen

_BY_HAND = frozenset(["open", "hidden"])
"""Reasons for sparing that a mark by hand overrules; the others protect whatever is marked."""


class PlanScreen(SubScreen):
    """Shows a plan; how it is made is the business of what inherits from it."""

    def __init__(self, main: MainScreen) -> None:
        super().__init__(main)
        self._planned: Planned | None = None
        self._marked = frozenset(each.id for each in main.changing.marks.conversations)
        self._unmarked: set[str] = set()
        self._opened: set[str] = set()
        self._empty = ""
        self.space = SpacePane(self)

    def _make_plan(self) -> None:
        """Make it anew: what is marked by hand has changed."""
        raise NotImplementedError

    @property
    def plan_list(self) -> ConversationList:
        """What would go."""
        return self.query_one("#plan", ConversationList)

    def _show_rows(self) -> None:
        if self._planned is not None:
            plan, details = self._planned.plan, self.main.details
            self.plan_list.show(PlanRows(plan, details, self._unmarked, self._empty, self._opened))

    def _measure_on(self, planned: Planned) -> None:
        if planned.plan.is_measured:
            self.space.begin()
        else:
            self.main.cleaning.measure_on(planned, lambda more: self._take_sizes(planned, more))

    def _take_sizes(self, asked: Planned, more: Planned) -> None:
        """A piece of the plan has been measured: the rows stay where they are, and know more."""
        if not self.is_attached or self._planned is not asked:
            return
        self._planned = more
        rows = self.plan_list.source
        if isinstance(rows, PlanRows):
            rows.take(more.plan)
        self.plan_list.refresh_rows()
        self.show_totals()
        self._measure_on(more)

    @property
    def planned(self) -> Planned | None:
        """The plan by the rules, unmarked ones included."""
        return self._planned

    @property
    def unmarked(self) -> frozenset[str]:
        """Roots that stay after all."""
        return frozenset(self._unmarked)

    @property
    def plan(self) -> Plan | None:
        """The plan without what was unmarked by hand."""
        if self._planned is None:
            return None
        return narrowed(self._planned.plan, self._planned.catalog, self._unmarked)

    def show_totals(self) -> None:
        """What goes, in numbers."""
        plan = self.plan
        goes, stays = Content.styled(" nothing goes", "dim"), []
        if plan is not None and plan.would:
            count = len(plan.would)
            share = f" · {plan.totals().bytes / self.space.total:.0%} of all" if self.space.total else ""
            goes = Content.assemble(
                (f" ✓ {count:,} conversation{'s' if count != 1 else ''}", "bold $accent"),
                f" · {totals_line(plan)}{share}",
            )
        if plan is not None:
            stays = [spared_line(plan)] if plan.spared else []
            stays += [f"{len(plan.reparented):,} lose their parent and stay"] if plan.reparented else []
        self.line("totals").update(goes)
        self.line("stays").update(Content.styled(f" {' · '.join(stays)}", "dim"))

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
            self.main.details.add(found)
            if self.is_attached:
                self.plan_list.refresh_rows()
                if not is_plan:
                    self.space.show()

        slot = "plan names" if is_plan else "map names"
        self.main.page_worker.submit(slot, lambda reader: with_details(reader, wanted), done, self.main.failed)

    @on(ConversationList.Highlighted)
    def highlighted(self, event: ConversationList.Highlighted) -> None:
        """Say what the row has no room for."""
        event.stop()
        row = event.row
        if isinstance(row, SparedRow):
            more = " · space takes it all the same" if row.spared.why.code in _BY_HAND else ""
            self.tell(header.status(row.spared.why.words + more, ""))
        elif isinstance(row, PlanRow):
            along = len(row.planned.subagents)
            words = f" · {along:,} subagent session{'s' if along != 1 else ''} along in a delete" if along else ""
            self.tell(header.status(f"{row.planned.conversation.id}{words} · Enter reads it", ""))
        elif isinstance(row, PlanJobRow):
            self.tell(header.status("Enter shows the runs of this job · space leaves all of them, or takes them", ""))

    @on(ConversationList.Selected, "#plan")
    def selected(self, event: ConversationList.Selected) -> None:
        """Enter: read it; on a job show its runs."""
        event.stop()
        if isinstance(event.row, PlanJobRow):
            self._opened ^= {event.row.key}
            self._show_rows()
        elif isinstance(event.row, PlanRow):
            self.read(event.row.planned.conversation)
        elif isinstance(event.row, SparedRow):
            self.read(event.row.spared.conversation)

    def action_take(self) -> None:
        """Leave a conversation out, or take it after all."""
        row = self.plan_list.current
        if isinstance(row, PlanRow | PlanJobRow):
            runs = row.runs if isinstance(row, PlanJobRow) else (row.planned,)
            roots = {each.conversation.root_id for each in runs}
            if roots & self._unmarked:
                self._unmarked -= roots
            else:
                self._unmarked |= roots
            self.plan_list.refresh_rows()
            self.plan_list.action_move(1)
            self.show_totals()
            self.space.show()
        elif isinstance(row, SparedRow):
            why = row.spared.why
            if why.code not in _BY_HAND:
                self.tell(header.status(f"it stays whatever is marked: {why.words}", ""))
                return
            self._marked |= {row.spared.conversation.id}
            self._make_plan()

    @on(ConversationList.Selected, "#space")
    def space_selected(self, event: ConversationList.Selected) -> None:
        """Enter: open a line of the map, or read a conversation."""
        event.stop()
        found = self.space.take(event.row)
        if found is not None:
            self.read(found)
