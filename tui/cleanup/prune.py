"""The clean-up screen: rules on top, below them what would go, beside it where the bytes are; archive or delete."""

from __future__ import annotations

import os
from collections.abc import Callable, Container
from dataclasses import replace

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Resize
from textual.timer import Timer
from textual.widgets import Input

from hermes_browse.store.cleanup.rules import EXAMPLES, Parsed, parse_rules, toggled, with_age
from hermes_browse.store.connection.connect import Reader
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.wording import N_, _

from ..cleanup.axis import DAY, Axis, Measure, Point, make_axis, moved, read_points
from ..cleanup.widgets import TimeAxis, TreeMap
from ..commands.screens import PRUNE
from ..list.conversation_list import ConversationList
from ..list.rows import FixedRows, NoteRow
from ..screens.cleaning import Planned
from ..screens.controllers import Controllers
from ..shared import header
from ..shared.lines import TextLine
from ..widgets.keys import KeyLine
from ..widgets.text_box import TextBox
from ..widgets.toggles import ToggleLine
from .plan_pane import PlanScreen
from .plan_rows import plan_head
from .reclaim import open_reclaim

_REST = 0.15
"""Seconds the keyboard rests before a plan is made."""
_MAP = (100, 30)
"""Columns and lines from which on the bytes are shown as blocks; below that as bars."""
_AXIS = 20
"""Lines below which the plan needs all the room there is."""
SWITCHES = (
    (N_("older 30d"), "older:30d"),
    (N_("90d"), "older:90d"),
    (N_("1y"), "older:365d"),
    (N_("automation"), "is:automation"),
    (N_("empty"), "is:empty"),
    (N_("stale"), "is:stale"),
    (N_("archived"), "is:archived"),
)


class PruneScreen(PlanScreen):
    """Shows what rules mean; nothing is changed before the question is answered."""

    HELP_TITLE = N_("Clean up")
    EXAMPLES = EXAMPLES
    KEYS = PRUNE

    def __init__(self, main: Controllers) -> None:
        super().__init__(main)
        self._parsed: Parsed | None = None
        self._timer: Timer | None = None
        self._is_looking = False
        self._measure = Measure.BYTES
        self._points: tuple[Catalog, list[Point]] | None = None
        """What stands on the axis, and the catalog it was read from."""
        self._drawn: Axis | None = None

    def compose(self) -> ComposeResult:
        """Rules, switches, plan and map, totals."""
        yield TextLine(id="header")
        yield TextBox(
            "" if self._marked else self.main.cleaning.last_rules,
            placeholder="older:30d source:cron is:automation size>10M title:… cwd:~/src",  # not shown
            id="rules",
            select_on_focus=False,
        )
        yield ToggleLine(id="switches")
        yield TimeAxis(id="axis")
        with Horizontal(id="panes"):
            with Vertical(id="left"):
                yield TextLine(id="plan-head")
                yield ConversationList(id="plan")
            with Vertical(id="side"):
                yield TextLine(id="map-title")
                yield ConversationList(id="space")
                yield TreeMap(id="map")
        yield TextLine(id="totals")
        yield TextLine(id="stays")
        yield TextLine(id="file")
        yield TextLine(id="status")
        yield KeyLine(id="keys")

    def on_mount(self) -> None:
        """Make the first plan, and measure the store behind it."""
        for widget in self.query(ConversationList):
            widget.clock = self.context.clock
        self.axis.clock = self.context.clock
        self.line("header").update(
            Content.assemble(
                (" " + _("clean up") + "  ", "bold"),
                (header.store_name(self.context.location), "$accent"),
                ("   " + _("nothing is changed before you say so"), "dim"),
            )
        )
        self.set_focus(self.plan_list)
        self.space.announce()
        self._show_rules()
        self._make_plan()

    def on_resize(self, event: Resize) -> None:
        """Other words fit, other pictures too."""
        super().on_resize(event)
        self.set_class(event.size.width >= _MAP[0] and event.size.height >= _MAP[1], "-map")
        self.axis.display = self.line("plan-head").display = event.size.height >= _AXIS
        self.space.show_file()
        self.call_after_refresh(self.picture_changed)

    def on_unmount(self) -> None:
        """No more measuring."""
        self.space.end()

    @property
    def is_pending(self) -> bool:
        """Whether a plan is about to be asked for, or the map is being measured."""
        return self._timer is not None or self.space.is_busy

    # Pictures

    @property
    def axis(self) -> TimeAxis:
        """The time axis."""
        return self.query_one(TimeAxis)

    @property
    def cut(self) -> float | None:
        """The time before which things go by the rule of age, Unix seconds."""
        age = self._parsed.rules.older_than if self._parsed is not None and not self._parsed.problems else None
        return self.context.clock() - age if age is not None else None

    def picture_changed(self) -> None:
        """Add up the axis anew, beside the screen's thread; the cutoff moves at once."""
        if not self.is_whole:
            return
        width = self.query_one("#left").size.width
        self.line("plan-head").update(Content.styled(plan_head(width, self.order), "dim"))
        catalog, now, measure, view = self.context.catalog, self.context.clock(), self._measure, self.view
        most, known, sizes = self.axis.columns, self._points, self.main.cleaning.sizes
        goes: Container[str] = view.goes_of if view is not None else ()
        spared: Container[str] = view.spared if view is not None else ()

        def work(reader: Reader) -> tuple[Catalog, list[Point], Axis]:
            points = known[1] if known is not None and known[0] is catalog else read_points(catalog)
            most_columns, have = max(most // 2, 2), dict(sizes)
            axis = make_axis(points, gone=goes, spared=spared, sizes=have, measure=measure, most=most_columns, now=now)
            return catalog, points, axis

        def done(found: tuple[Catalog, list[Point], Axis]) -> None:
            self._points = found[:2]
            if self.is_whole:
                self._drawn = found[2]
                self.axis.show(found[2], self.cut)

        self.context.page_worker.submit("axis", work, done, self.context.failed)  # a plan takes longer

    def action_cut(self, by: int) -> None:
        """Move the cutoff by a column."""
        if self._drawn is None or not self._drawn.columns:
            return
        now, cut = self.context.clock(), self.cut
        days = moved(self._drawn, (now - cut) / DAY if cut is not None else None, by, now)
        if days is not None:
            self._cut_at(days)

    @on(TimeAxis.Moved)
    def cut_moved(self, event: TimeAxis.Moved) -> None:
        """The cutoff was dragged."""
        event.stop()
        self._cut_at(event.days)

    def _cut_at(self, days: int) -> None:
        box = self.query_one("#rules", Input)
        box.value = with_age(box.value, days)
        if self._drawn is not None:
            self._show_rules()
            self.axis.show(self._drawn, self.cut)

    def action_measure(self) -> None:
        """Show another measure on the axis."""
        self._measure = self._measure.following
        self.picture_changed()

    def action_sort(self) -> None:
        """Sort the plan by the next column."""
        self.sort()
        self.line("plan-head").update(Content.styled(plan_head(self.query_one("#left").size.width, self.order), "dim"))

    @on(TreeMap.Pointed)
    def pointed(self, event: TreeMap.Pointed) -> None:
        """Say what the block is; the plan goes where the map is."""
        event.stop()
        self.tell(header.status(self.space.about(event.block), ""))
        if event.block.space is not None:
            self.space.follow(event.block.space)

    @on(TreeMap.Entered)
    def entered(self, event: TreeMap.Entered) -> None:
        """Into a block."""
        event.stop()
        self.space.enter(event.block)

    @on(TreeMap.Left)
    def left_block(self, event: TreeMap.Left) -> None:
        """Out of a block."""
        event.stop()
        self.space.leave()

    @on(TreeMap.Resized)
    def map_resized(self, event: TreeMap.Resized) -> None:
        """Blocks for other room."""
        event.stop()
        self.space.show()

    # Rules

    def _show_rules(self) -> None:
        text = self.query_one("#rules", Input).value
        self._parsed = parse_rules(text, os.path.expanduser)
        words = text.split()
        self.query_one(ToggleLine).show([(_(name), word in words) for name, word in SWITCHES])

    @on(Input.Changed, "#rules")
    def rules_changed(self, event: Input.Changed) -> None:
        """Make another plan when the keyboard rests."""
        event.stop()
        self.main.cleaning.last_rules = event.value
        self._left_out.clear()
        self._planned = None
        self._show_rules()
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(_REST, self._make_plan)

    @on(Input.Submitted, "#rules")
    def rules_submitted(self, event: Input.Submitted) -> None:
        """To the plan."""
        event.stop()
        self.set_focus(self.plan_list)

    @on(ToggleLine.Switched)
    def clicked(self, event: ToggleLine.Switched) -> None:
        """A click on a switch."""
        event.stop()
        self.action_switch(event.index)

    def action_switch(self, index: int) -> None:
        """Add a rule, or take it away."""
        box = self.query_one("#rules", Input)
        box.value = toggled(box.value, SWITCHES[index][1])

    def action_rules(self) -> None:
        """To the line of rules."""
        self.set_focus(self.query_one("#rules", Input))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A slash in the line of rules is a letter."""
        return not (action == "rules" and isinstance(self.focused, Input))

    # The plan

    def catalog_changed(self) -> None:
        """The list has been read again: what was planned may have changed."""
        if self._parsed is None:  # still being put together, its panes last: the first plan is yet to be made
            return
        self._make_plan()
        if self.app.screen is self:  # not for each portion of a long work
            self.space.again()

    def _make_plan(self) -> None:
        self._timer = None
        if not self.is_whole:
            return
        parsed = self._parsed
        if parsed is None or parsed.problems:
            words = _("; ").join(parsed.problems) if parsed is not None else ""
            self._show_nothing(_("A rule cannot be read: {problems}").format(problems=words))
            return
        rules = replace(parsed.rules, marks=self._marked)
        if rules.nothing:
            self._show_nothing(_("No rule, so nothing goes: 1 to 7 switch rules, / edits them, Esc leaves."))
            return
        self._is_looking = self._planned is None
        if self._is_looking:
            self.tell(header.status(_("looking …"), ""))
        self.main.cleaning.plan(rules, self._take_plan, measure=False)

    def _show_nothing(self, sentence: str) -> None:
        self.plan_list.show(FixedRows([NoteRow(sentence)]), top=True)
        self._show_no_plan()
        self.space.begin()

    def _take_plan(self, planned: Planned) -> None:
        if not self.is_whole or self._parsed is None or self._parsed.problems:
            return
        if self._is_looking:  # else something else stands there that is worth reading
            self.tell(header.status("", ""))
        words = self._parsed.rules.words()
        like = _("Nothing goes: no conversation is like this ({rules}).").format(rules=words)
        self._empty = like if words else _("Nothing goes.")
        self._show_plan(planned)

    # Doing it

    def _when_ready(self, then: Callable[[Planned], None], *, archive: bool) -> None:
        """Have the plan narrowed to what is taken, and go on with it."""
        planned, left_out = self._planned, self._left_out
        if planned is None:
            self.tell(header.status(_("nothing goes by these rules"), ""))
            return

        def work(reader: Reader) -> Planned:
            plan = planned.plan.narrowed(planned.catalog, left_out.roots)
            if archive:  # what is put away already stays as it is, and an undo does not bring it back
                plan = plan._replace(would=tuple(each for each in plan.would if not each.conversation.archived))
            return planned._replace(plan=plan)

        def done(ready: Planned) -> None:
            if ready.plan.would:
                then(ready)
            else:
                self.tell(header.status(_("nothing goes by these rules"), ""))

        self.context.plan_worker.submit("ready", work, done, self.context.failed)

    def action_archive(self) -> None:
        """Put all of it away."""
        self._when_ready(self.main.cleaning.archive_planned, archive=True)

    def action_delete(self) -> None:
        """Ask, then move all of it to the trash."""
        self._when_ready(self.main.cleaning.ask, archive=False)

    def action_reclaim(self) -> None:
        """Make the file smaller."""
        open_reclaim(self.main, self.app)

    def action_other_pane(self) -> None:
        """To the map, or back to the plan."""
        if self.space.has_focus:
            self._go(self.plan_list)
        elif isinstance(pane := self.space.pane, ConversationList):
            self._go(pane)
        else:
            self.set_focus(pane)

    def _go(self, pane: ConversationList) -> None:
        self.set_focus(pane)
        self.tell_about(pane.current)

    def action_read(self) -> None:
        """Read the conversation under the cursor, in either pane."""
        if self.space.has_focus:
            self.space.read()
        else:
            self.plan_list.action_select()

    def action_plan_pane(self) -> None:
        """To the plan."""
        self._go(self.plan_list)

    def action_back(self) -> None:
        """From the rules to the plan, then back to the list."""
        if self.space.has_focus and self.space.is_inside:
            self.space.leave()
        elif self.focused is not self.plan_list:
            self._go(self.plan_list)
        else:
            self.dismiss(None)
