"""The clean-up screen: rules on top, below them what would go, beside it where the bytes are; archive or delete."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Resize
from textual.timer import Timer
from textual.widgets import Input

from hermes_browse.store.connect import Reader
from hermes_browse.store.prune.language import EXAMPLES, Parsed, parse_rules, toggled
from hermes_browse.store.prune.plan import narrowed
from hermes_browse.store.wording import N_, _

from ..list.conversation_list import ConversationList
from ..list.rows import FixedRows, NoteRow
from ..shared import header
from ..shared.lines import TextLine
from ..widgets.keys import KeyLine
from ..widgets.text_box import TextBox
from ..widgets.toggles import ToggleLine
from .cleaning import Planned
from .plan_screen import PlanScreen
from .sub_screen import BACK

if TYPE_CHECKING:
    from .main import MainScreen

_REST = 0.15
"""Seconds the keyboard rests before a plan is made."""
_SWITCHES = (
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
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "rules", N_("rules"), tooltip=N_("Edit the rules"), priority=True),
        Binding(
            "space",
            "take",
            N_("take/leave"),
            tooltip=N_("Take this one along, or leave it; in the map all of a line"),
        ),
        Binding("a", "archive", N_("archive"), tooltip=N_("Put all of these away; no question, u undoes")),
        Binding("D", "delete", N_("delete"), tooltip=N_("Move all of these to the trash, after a question")),
        Binding("tab,right", "other_pane", N_("map"), tooltip=N_("To the map, and back"), show=False),
        Binding("left", "plan_pane", N_("plan"), show=False),
        Binding("o", "read", N_("read"), tooltip=N_("Read this conversation"), show=False),
        Binding("v", "reclaim", N_("reclaim"), tooltip=N_("Make the file smaller, by Hermes' own means")),
        *[Binding(str(n), f"switch({n - 1})", name, show=False) for n, (name, _) in enumerate(_SWITCHES, 1)],
        *BACK,
    ]

    def __init__(self, main: MainScreen) -> None:
        super().__init__(main)
        self._parsed: Parsed | None = None
        self._timer: Timer | None = None
        self._is_looking = False

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
        with Horizontal(id="panes"):
            yield ConversationList(id="plan")
            with Vertical(id="side"):
                yield TextLine(id="map-title")
                yield ConversationList(id="space")
        yield TextLine(id="totals")
        yield TextLine(id="stays")
        yield TextLine(id="file")
        yield TextLine(id="status")
        yield KeyLine(id="keys")

    def on_mount(self) -> None:
        """Make the first plan, and measure the store behind it."""
        for widget in self.query(ConversationList):
            widget.clock = self.main.clock
        self.line("header").update(
            Content.assemble(
                (" " + _("clean up") + "  ", "bold"),
                (header.store_name(self.main.location), "$accent"),
                ("   " + _("nothing is changed before you say so"), "dim"),
            )
        )
        self.set_focus(self.plan_list)
        self.space.announce()
        self._show_rules()
        self._make_plan()

    def on_resize(self, event: Resize) -> None:
        """Other words fit."""
        super().on_resize(event)
        self.space.show_file()

    def on_unmount(self) -> None:
        """No more measuring."""
        self.space.end()

    @property
    def is_pending(self) -> bool:
        """Whether a plan is about to be asked for, or the map is being measured."""
        return self._timer is not None or self.space.is_busy

    # Rules

    def _show_rules(self) -> None:
        text = self.query_one("#rules", Input).value
        self._parsed = parse_rules(text, os.path.expanduser)
        words = text.split()
        self.query_one(ToggleLine).show([(_(name), word in words) for name, word in _SWITCHES])

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
        box.value = toggled(box.value, _SWITCHES[index][1])

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
        from dataclasses import replace

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
            plan = narrowed(planned.plan, planned.catalog, left_out.roots)
            if archive:  # what is put away already stays as it is, and an undo does not bring it back
                plan = plan._replace(would=tuple(each for each in plan.would if not each.conversation.archived))
            return planned._replace(plan=plan)

        def done(ready: Planned) -> None:
            if ready.plan.would:
                then(ready)
            else:
                self.tell(header.status(_("nothing goes by these rules"), ""))

        self.main.plan_worker.submit("ready", work, done, self.main.failed)

    def action_archive(self) -> None:
        """Put all of it away."""
        self._when_ready(self.main.cleaning.archive_planned, archive=True)

    def action_delete(self) -> None:
        """Ask, then move all of it to the trash."""
        self._when_ready(self.main.cleaning.ask, archive=False)

    def action_reclaim(self) -> None:
        """Make the file smaller."""
        from .reclaim import open_reclaim

        open_reclaim(self.main)

    def action_other_pane(self) -> None:
        """To the map, or back to the plan."""
        self._go(self.plan_list if self.space.rows.has_focus else self.space.rows)

    def _go(self, pane: ConversationList) -> None:
        self.set_focus(pane)
        self.tell_about(pane.current)

    def action_read(self) -> None:
        """Read the conversation under the cursor, in either pane."""
        if self.space.rows.has_focus:
            self.space.read()
        else:
            self.plan_list.action_select()

    def action_plan_pane(self) -> None:
        """To the plan."""
        self._go(self.plan_list)

    def action_back(self) -> None:
        """From the rules to the plan, then back to the list."""
        if self.focused is not self.plan_list:
            self._go(self.plan_list)
        else:
            self.dismiss(None)
