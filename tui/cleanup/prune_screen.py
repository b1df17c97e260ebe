"""The clean-up screen: filters, the plan they make, the map of bytes; archives or deletes."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.events import Resize
from textual.widgets import Input
from textual.worker import Worker

from hermes_browse.store.cleanup.selection import Selection
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.search.filters import help_lines
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, ngettext

from ..commands.screen_commands import PRUNE
from ..edit.bulk import PlanChoices, planning
from ..screens.main import MainScreen
from ..screens.sub_screen import SubScreen
from ..shared.keys import KeyLine
from ..shared.lines import TextLine, ToggleLine
from .plan_pane import PlanPane
from .plan_view import LeftOut
from .reclaim import open_reclaim
from .rules_box import RulesBox
from .space import SpacePane
from .tile_map import TileMap
from .time_axis import PlanAxis, TimeAxis
from .totals import TotalLines

_REST = 0.15
"""Seconds without a key after which a plan is made."""
_LONGEST = 200
"""Letters of the line that a sentence repeats."""
_AXIS = 20
"""The fewest lines of a screen that shows the time axis."""


class PruneScreen(SubScreen):
    """Shows what rules would delete; changes nothing before the user confirms it."""

    HELP_TITLE = N_("Clean up")
    EXAMPLES_TITLE = N_("Filters")
    EXAMPLES = tuple(help_lines(for_cleanup=True))
    KEYS = PRUNE

    def __init__(self, main: MainScreen) -> None:
        super().__init__(main)
        marks = frozenset(each.id for each in main.marks.conversations)
        self._marked = len(marks)
        choices = PlanChoices("", LeftOut(), marks) if marks else main.edits.choices
        self.plan = PlanPane(self, choices)
        self.space = SpacePane(self)
        self.axis = PlanAxis(self, id="axis")
        self._timer: Worker[None] | None = None
        self._was_early = self._is_planning = False
        """A key that acts on the plan was pressed while it was being made."""

    def compose(self) -> ComposeResult:
        marked = ngettext(
            "1 marked in the list · rules add more",
            "{count:,} marked in the list · rules add more",
            self._marked,
        )
        hint = marked.format(count=self._marked) if self._marked else ""
        yield TextLine(id="header")
        yield RulesBox(self, self.plan.choices.rules, hint)
        yield ToggleLine(id="switches")
        yield self.axis
        with Horizontal(id="panes"):
            yield self.plan
            yield self.space
        yield TotalLines(one_line(self.main.store.path.name, 60))
        yield TextLine(id="status")
        yield KeyLine(id="keys")

    @property
    def rules(self) -> RulesBox:
        return self.query_one(RulesBox)

    def on_mount(self) -> None:
        self.plan.rows.clock = self.main.clock
        self.show_title(_("clean up"), " " + _("preview only: nothing changes until you confirm"))
        self.set_focus(self.plan.rows)
        self.query_one(ToggleLine).show(self.rules.switches())
        self._make_plan()

    def on_resize(self, event: Resize) -> None:
        super().on_resize(event)
        self.axis.display = self.line("plan-head").display = event.size.height >= _AXIS
        self.call_after_refresh(self._show_plan)

    @property
    def is_pending(self) -> bool:
        return self._timer is not None

    @on(Input.Changed, "#rules")
    def rules_changed(self, event: Input.Changed) -> None:
        """Make another plan after a moment without keys."""
        event.stop()
        choices = self.plan.choices
        if event.value == choices.rules:
            return  # the box reports its first text as well
        choices.rules = self.main.edits.choices.rules = event.value
        self.plan.forget()
        self.query_one(ToggleLine).show(self.rules.switches())
        self._show_totals()
        self._timer = self.start_later("rules", _REST, self._make_plan)

    def action_cut(self, by: int) -> None:
        days = self.axis.moved(self.rules.age, by)
        if days is not None:
            self._cut_at(days)

    @on(TimeAxis.Moved)
    def cut_moved(self, event: TimeAxis.Moved) -> None:
        event.stop()
        self._cut_at(event.days)

    def _cut_at(self, days: int) -> None:
        self.rules.set_age(days)
        self.axis.cut_at(self.rules.age)

    def action_measure(self) -> None:
        self.axis.next_measure()
        self._show_plan()

    def action_sort(self) -> None:
        self.plan.sort()

    @on(Input.Submitted, "#rules")
    def rules_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.set_focus(self.plan.rows)

    @on(ToggleLine.Switched)
    def clicked(self, event: ToggleLine.Switched) -> None:
        event.stop()
        self.action_switch(event.index)

    def action_switch(self, index: int) -> None:
        self.rules.switch(index)

    def action_rules(self) -> None:
        self.say("")
        self.set_focus(self.rules)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return not (action == "rules" and self.focused is self.rules)

    def catalog_changed(self) -> None:
        if not self.is_whole:
            return
        self._make_plan()
        if self.app.screen is self:  # not for each portion of a long work
            self.space.again()

    def _make_plan(self) -> None:
        self._timer = None
        if not self.is_whole:
            return
        selection = Selection(self.rules.parsed, marks=self.plan.choices.taken)
        if sentence := self.rules.why_none(selection):
            if self._was_early:
                self.say("")
            self._was_early = self._is_planning = False
            self.cancel("plan")
            self.plan.show_none(sentence)
            return
        if self.plan.planned is None and not self._was_early:
            self.say(_("looking …"))
        self._is_planning = True
        self.start("plan", self._plan, selection)

    async def _plan(self, selection: Selection) -> None:
        try:
            job = planning(self.main, selection, measure=False)
            planned = await self.read(job)
        except BrowseError:
            self._is_planning = False
            raise
        self._is_planning = False
        if self.rules.parsed.problems:
            return
        if self._was_early:
            self.say(_("here is the new plan: D deletes it, a archives it"), look="")
        elif self.plan.planned is None:  # else the line shows another message
            self.say("")
        self._was_early = False
        words = one_line(self.rules.parsed.text.strip(), _LONGEST)
        like = _("Nothing to clean up: no conversation matches {filters}.").format(filters=words)
        self.plan.show(planned, like if words else _("Nothing is selected."))

    @on(PlanPane.Marked)
    def marked(self, event: PlanPane.Marked) -> None:
        event.stop()
        self._make_plan()

    @on(PlanPane.Changed)
    def plan_changed(self, event: PlanPane.Changed) -> None:
        event.stop()
        view = self.plan.view
        self._show_plan()
        self.space.show(view)
        if view is None or view.rows.is_measured:
            self.space.begin()

    @on(SpacePane.Measured)
    def measured(self, event: SpacePane.Measured) -> None:
        event.stop()
        self._show_plan()
        self.read_names(self.space.nameless(), "map-names")

    def _show_plan(self) -> None:
        if self.is_whole:
            self._show_totals()
            self.plan.show_head()
            self.axis.add_up(self.plan.view, self.rules.age)

    def _show_totals(self) -> None:
        totals, plan = self.query_one(TotalLines), self.plan
        totals.show(plan.view, self.space.map, is_old=plan.planned is None)

    def names_read(self) -> None:
        super().names_read()
        self.space.redraw()

    @on(TileMap.Highlighted)
    def tile_highlighted(self, event: TileMap.Highlighted) -> None:
        event.stop()
        self.say(event.tile.about())
        if conversation := self.space.current:
            self.plan.point_at(conversation)

    @on(TileMap.Toggled)
    def tile_clicked(self, event: TileMap.Toggled) -> None:
        event.stop()
        self.action_take()

    @on(TileMap.Selected)
    def tile_selected(self, event: TileMap.Selected) -> None:
        event.stop()
        self.action_read()

    def action_take(self) -> None:
        if not self.space.has_focus_within:
            self.plan.take_or_leave()
        elif conversation := self.space.current:
            self.plan.take_or_leave_one(conversation)
        else:
            self.say(_("this cannot be taken by itself"), look="")

    def action_archive(self) -> None:
        if not self._is_early():
            self.plan.when_ready(self.main.edits.archive_planned, archive=True)

    @property
    def is_planning(self) -> bool:
        """Whether a plan by the present rules is about to be made, or being made."""
        return self._timer is not None or (self.plan.planned is None and self._is_planning)

    def _is_early(self) -> bool:
        """Return whether the plan is still being made, and say so: the old one is of other
        rules."""
        self._was_early = self.is_planning
        if self._was_early:
            self.say(_("the plan is being made: press the key again when it is there"), look="")
        return self._was_early

    def action_delete(self) -> None:
        if not self._is_early():
            self.plan.when_ready(self.main.edits.ask, archive=False)

    def action_reclaim(self) -> None:
        open_reclaim(self.main, self.app)

    def action_other_pane(self) -> None:
        if self.space.has_focus_within:
            self.action_plan_pane()
        else:
            self.set_focus(self.query_one(TileMap))

    def action_read(self) -> None:
        if not self.space.has_focus_within:
            self.plan.rows.action_select()
        elif conversation := self.space.current:
            self.read_conversation(conversation)

    def action_plan_pane(self) -> None:
        self.set_focus(self.plan.rows)
        self.plan.describe()

    def action_back(self) -> None:
        if self.focused is not self.plan.rows:
            self.action_plan_pane()
        else:
            self.dismiss(None)
