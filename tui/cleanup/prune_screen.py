"""The clean-up screen: filters, the plan they make, the map of bytes; archives or deletes."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Resize
from textual.timer import Timer
from textual.widgets import Input

from hermes_browse.store.cleanup.selection import Selection, parse_line, toggled, with_age
from hermes_browse.store.search.filter_values import Vocabulary, read_vocabulary
from hermes_browse.store.search.filters import help_lines
from hermes_browse.store.search.query import Query
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, ngettext

from ..commands.screen_commands import PRUNE
from ..formats import counted
from ..list.conversation_list import ConversationList
from ..list.list_rows import ListRow, NoteRow
from ..screens.controllers import Controllers
from ..screens.sub_screen import SubScreen
from ..search.box import QueryBox
from ..search.completion import complete
from ..shared.keys import KeyLine
from ..shared.lines import TextLine, ToggleLine
from .axis_controller import AxisController, TimeAxis
from .cleaning import PreparedPlan
from .plan_controller import PlanController
from .plan_rows import plan_head
from .reclaim import open_reclaim
from .space_controller import SpaceController
from .space_rows import KindRow, SpaceRow
from .treemap import TreeMap

_REST = 0.15
"""Seconds without a key after which a plan is made."""
_LONGEST = 200
"""Letters of the line that a sentence repeats."""
_MAP = (100, 30)
"""The smallest screen, in columns and lines, that shows the bytes as blocks; a smaller one shows
bars."""
_AXIS = 20
"""The fewest lines of a screen that shows the time axis."""
SWITCHES = (
    (N_("older 30d"), "older:30d"),
    (N_("90d"), "older:90d"),
    (N_("1y"), "older:365d"),
    (N_("automation"), "is:automation"),
    (N_("empty"), "is:empty"),
    (N_("stale"), "include:stale"),
    (N_("archived"), "include:archived"),
)


_HINT = "older:30d source:cron is:automation size>10M free:50% title:… cwd:~/src"


class PruneScreen(SubScreen):
    """Shows what rules would delete; changes nothing before the user confirms it."""

    HELP_TITLE = N_("Clean up")
    EXAMPLES_TITLE = N_("Filters")
    EXAMPLES = tuple(help_lines(for_cleanup=True))
    KEYS = PRUNE

    def __init__(self, controllers: Controllers) -> None:
        super().__init__(controllers)
        self.plan = PlanController(self, self._plan_changed, self._make_plan)
        self.space = SpaceController(self, self.plan, self._measured)
        self._rules = "" if self.plan.marks_in_list else controllers.cleaning.last_rules
        """The text of the rules."""
        self._parsed: Query | None = None
        self._vocabulary = Vocabulary()
        self._timer: Timer | None = None
        self._is_looking = False
        self._was_early = False
        """A key that acts on the plan was pressed while it was being made."""
        self.axis = AxisController(self, self.plan, self._age)

    def compose(self) -> ComposeResult:
        """Rules, switches, plan and map, totals."""
        yield TextLine(id="header")
        marked = ngettext(
            "1 marked in the list · rules add more",
            "{count:,} marked in the list · rules add more",
            self.plan.marks_in_list,
        ).format(count=self.plan.marks_in_list)
        box = QueryBox(
            self._rules, placeholder=marked if self.plan.marks_in_list else _HINT, id="rules"
        )
        box.on_edit = self._edited
        yield box
        yield ToggleLine(id="switches")
        yield TimeAxis(id="axis")
        with Horizontal(id="panes"):
            with Vertical(id="left"):
                yield TextLine(id="plan-head")
                yield ConversationList(id="plan")
            with Vertical(id="side"):
                yield TextLine(id="map-title")
                yield ConversationList(id="space")
                yield TreeMap(
                    self.space.point_at,
                    self.space.enter,
                    self.space.leave,
                    self.space.show,
                    id="map",
                )
        yield TextLine(id="totals")
        yield TextLine(id="stays")
        yield TextLine(id="file")
        yield TextLine(id="status")
        yield KeyLine(id="keys")

    def on_mount(self) -> None:
        """Make the first plan, and measure the store behind it."""
        for widget in self.query(ConversationList):
            widget.clock = self.context.clock
        self.axis.widget.clock = self.context.clock
        self.show_title(_("clean up"), " " + _("nothing is changed before you say so"))
        self.set_focus(self.plan.rows)
        self.line("map-title").update(
            Content.styled("  " + _("disk usage · after the plan"), "dim")
        )
        self._edited(self._rules)
        self._show_rules()
        self._make_plan()
        catalog = self.context.catalog
        self.context.page_worker.submit(
            "vocabulary",
            lambda reader: read_vocabulary(reader, catalog),
            self._take_vocabulary,
            self.context.failed,
        )

    def on_resize(self, event: Resize) -> None:
        """Fit words and pictures to the size."""
        super().on_resize(event)
        self.set_class(event.size.width >= _MAP[0] and event.size.height >= _MAP[1], "-map")
        self.axis.widget.display = self.line("plan-head").display = event.size.height >= _AXIS
        self.space.show_file()
        self.call_after_refresh(self._show_pictures)

    def on_unmount(self) -> None:
        self.space.end()

    @property
    def is_pending(self) -> bool:
        """Whether a plan is about to be made, or the map is being measured."""
        return self._timer is not None or self.space.is_busy

    # Pictures

    def _age(self) -> float | None:
        """The age of the rules, seconds."""
        if self._parsed is None or self._parsed.problems:
            return None
        return Selection(self._parsed).age(self.context.clock())

    def _show_pictures(self) -> None:
        if self.is_whole:
            self._show_head()
            self.axis.show()

    def _show_head(self) -> None:
        width = self.plan.rows.scrollable_content_region.width
        self.line("plan-head").update(Content.styled(plan_head(width, self.plan.order), "dim"))

    def action_cut(self, by: int) -> None:
        """Move the cutoff by a column."""
        days = self.axis.moved(by)
        if days is not None:
            self._cut_at(days)

    @on(TimeAxis.Moved)
    def cut_moved(self, event: TimeAxis.Moved) -> None:
        """The user dragged the cutoff."""
        event.stop()
        self._cut_at(event.days)

    def _cut_at(self, days: int) -> None:
        box = self.query_one("#rules", Input)
        box.value = with_age(box.value, days)
        self._show_rules()
        self.axis.show_cut()

    def action_measure(self) -> None:
        self.axis.next_measure()

    def action_sort(self) -> None:
        """Sort the plan by the next column."""
        self.plan.sort()
        self._show_head()

    # Rules

    def _take_vocabulary(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary

    def _edited(self, text: str) -> None:
        """Mark what is read as a filter, and offer to complete the last one; called within the
        keystroke."""
        now, box = self.context.clock(), self.query_one("#rules", QueryBox)
        query = parse_line(text, now)
        box.marks = [("filter", each.start, each.end) for each in query.filters]
        offered = complete(text, self._vocabulary, now, for_cleanup=True) if text else None
        typing = len(text) if offered is not None else -1
        box.marks += [
            ("problem", each.start, each.end) for each in query.problems if each.end != typing
        ]
        box.offer(text[: offered.start] + offered.choices[0] if offered is not None else "")

    def _show_rules(self) -> None:
        text = self.query_one("#rules", Input).value
        self._parsed = parse_line(text, self.context.clock())
        words = text.split()
        self.query_one(ToggleLine).show([(_(name), word in words) for name, word in SWITCHES])

    @on(Input.Changed, "#rules")
    def rules_changed(self, event: Input.Changed) -> None:
        """Make another plan after a moment without keys."""
        event.stop()
        if event.value == self._rules:
            return  # the box reports its first text as well
        self._rules = self.controllers.cleaning.last_rules = event.value
        self.plan.forget()
        self._show_rules()
        self._show_totals()
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(_REST, self._make_plan)

    @on(Input.Submitted, "#rules")
    def rules_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.set_focus(self.plan.rows)

    @on(ToggleLine.Switched)
    def clicked(self, event: ToggleLine.Switched) -> None:
        """Switch a rule with the mouse."""
        event.stop()
        self.action_switch(event.index)

    def action_switch(self, index: int) -> None:
        """Add a rule, or remove it."""
        box = self.query_one("#rules", Input)
        box.value = toggled(box.value, SWITCHES[index][1])

    def action_rules(self) -> None:
        """Focus the line of rules; what was said before is over."""
        self.say("")
        self.set_focus(self.query_one("#rules", Input))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The key that focuses the rules is an ordinary letter inside them."""
        return not (action == "rules" and isinstance(self.focused, Input))

    # The plan

    def catalog_changed(self) -> None:
        """Make the plan again, as the list has been read again."""
        if self._parsed is None:  # not composed yet: `on_mount` makes the first plan
            return
        self._make_plan()
        if self.app.screen is self:  # not for each portion of a long work
            self.space.again()

    def _make_plan(self) -> None:
        self._timer = None
        if not self.is_whole:
            return
        parsed = self._parsed
        self._is_looking = False
        if parsed is None or parsed.problems:
            words = (
                _("; ").join(each.text for each in parsed.problems) if parsed is not None else ""
            )
            self._show_none(_("A filter cannot be read: {problems}").format(problems=words))
            return
        selection = Selection(parsed, marks=self.plan.marked)
        if selection.nothing:
            if parsed.filters:
                self._show_none(
                    _("include: only adds to what others choose: 1 to 5 say which ones go.")
                )
            else:
                self._show_none(
                    _("No filters yet: 1 to 7 switch some on, / edits them, Esc leaves.")
                )
            return
        self._is_looking = self.plan.planned is None
        if self._is_looking and not self._was_early:
            self.say(_("looking …"))
        self.controllers.cleaning.plan(selection, self._take_plan, measure=False)

    def _show_none(self, sentence: str) -> None:
        """Show a sentence instead of a plan."""
        if self._was_early:
            self._was_early = False
            self.say("")
        self.plan.show_none(sentence)

    def _take_plan(self, planned: PreparedPlan) -> None:
        if not self.is_whole or self._parsed is None or self._parsed.problems:
            return
        if self._was_early:
            self._was_early = False
            self.say(_("here is the new plan: D deletes it, a archives it"), look="")
        elif self._is_looking:  # else the line shows another message
            self.say("")
        words = one_line(self._parsed.text.strip(), _LONGEST)
        like = _("Nothing to clean up: no conversation matches {filters}.").format(filters=words)
        self.plan.show(planned, like if words else _("Nothing goes."))

    def _plan_changed(self) -> None:
        self._measured()
        self.space.show()
        if (
            self.plan.view is None or self.plan.view.is_measured
        ):  # the plan is measured before the map
            self.space.begin()

    def _measured(self) -> None:
        self._show_totals()
        self._show_pictures()

    def _show_totals(self) -> None:
        """Show what goes, in numbers."""
        view = self.plan.view
        goes = Content.styled(" " + _("nothing to clean up"), "dim")
        if view is not None and view.goes:
            count = counted(view.goes, "conversation")
            parts = [view.totals]
            if (
                self.space.total >= view.bytes > 0
            ):  # after a delete the map is measured before the next plan is made
                parts.insert(
                    0, _("{share:.0%} of the store").format(share=view.bytes / self.space.total)
                )
            goes = Content.assemble((f" ✓ {count}", "bold $accent"), f" · {' · '.join(parts)}")
            if self.plan.planned is None:  # they belong to the rules before
                goes = Content.styled(goes.plain, "dim")
        self.line("totals").update(goes)
        self.space.show_file()
        self.line("stays").update(
            Content.styled(f" {view.stays if view is not None else ''}", "dim")
        )

    @on(ConversationList.Shown)
    def rows_shown(self, event: ConversationList.Shown) -> None:
        """Read the names that are missing."""
        event.stop()
        if event.list is self.plan.rows:
            self._show_head()
            self.read_names(
                "plan-names",
                self.plan.nameless(event.first, event.last),
                self.plan.rows.refresh_rows,
            )
        else:
            self.read_names(
                "map-names", self.space.nameless(event.first, event.last), self.space.names_read
            )

    @on(ConversationList.Highlighted)
    def highlighted(self, event: ConversationList.Highlighted) -> None:
        """Show more about the row."""
        event.stop()
        if event.list.has_focus or not (
            self.space.has_focus or event.list is self.space.rows
        ):  # not of the other pane
            self._tell_about(event.row, by_hand=event.by_hand)

    def _tell_about(self, row: ListRow | None, *, by_hand: bool = True) -> None:
        words = (
            self.space.about(row) if isinstance(row, SpaceRow | KindRow) else self.plan.about(row)
        )
        if words or isinstance(row, NoteRow):  # nothing about the row that was there before
            self.describe(words, by_hand=by_hand)

    @on(ConversationList.Selected)
    def selected(self, event: ConversationList.Selected) -> None:
        """Enter: read a conversation of the plan, or open what has parts."""
        event.stop()
        pane = self.plan if event.list is self.plan.rows else self.space
        pane.select(event.row)

    def action_take(self) -> None:
        """Leave out what is under the cursor, or take it back."""
        pane = self.space if self.space.has_focus else self.plan
        pane.take_or_leave()

    # Doing it

    def action_archive(self) -> None:
        """Archive what the plan contains."""
        if not self._is_early():
            self.plan.when_ready(self.controllers.cleaning.archive_planned, archive=True)

    @property
    def is_planning(self) -> bool:
        """Whether a plan by the present rules is about to be made, or being made."""
        is_looking = self._is_looking and self.context.plan_worker.is_busy  # not after a failure
        return self._timer is not None or (is_looking and self.plan.planned is None)

    def _is_early(self) -> bool:
        """Return whether the plan is still being made, and say so: the old one is of other
        rules."""
        self._was_early = self.is_planning
        if self._was_early:
            self.say(_("the plan is being made: press the key again when it is there"), look="")
        return self._was_early

    def action_delete(self) -> None:
        """Ask, then move what the plan contains to the trash."""
        if not self._is_early():
            self.plan.when_ready(self.controllers.cleaning.ask, archive=False)

    def action_reclaim(self) -> None:
        """Open the card for making the file smaller."""
        open_reclaim(self.controllers, self.app)

    def action_other_pane(self) -> None:
        """Focus the map, or the plan again."""
        if self.space.has_focus:
            self._go(self.plan.rows)
        elif isinstance(pane := self.space.pane, ConversationList):
            self._go(pane)
        else:
            self.set_focus(pane)

    def _go(self, pane: ConversationList) -> None:
        self.set_focus(pane)
        self._tell_about(pane.current)

    def action_read(self) -> None:
        """Read the conversation under the cursor, in either pane."""
        if self.space.has_focus:
            self.space.read()
        else:
            self.plan.rows.action_select()

    def action_plan_pane(self) -> None:
        self._go(self.plan.rows)

    def action_back(self) -> None:
        """Leave a block of the map, then focus the plan, then close the screen."""
        if self.space.has_focus and self.space.leave():
            return
        if self.focused is not self.plan.rows:
            self._go(self.plan.rows)
        else:
            self.dismiss(None)
