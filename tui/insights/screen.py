"""Insights: tokens, cost and activity over time and by what it was for; Enter shows the conversations behind a line."""

from __future__ import annotations

from textual import on

from hermes_browse.store.insights.periods import PERIODS, UNITS, natural_unit
from hermes_browse.store.messages.preview import with_details
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, ngettext

from ..commands.screens import INSIGHTS
from ..list.conversation_list import ConversationList
from ..list.model import CatalogRows, incomplete
from ..list.rows import ConversationRow, FixedRows, JobRow, NoteRow
from ..screens.controllers import Controllers
from ..shared import header
from ..shared.toggles import ToggleLine
from .adding_up import TOOL, Question
from .panes import TABS, InsightPanes
from .plot import BarPlot, WeekPlot
from .rows import GroupRow
from .series import STACKED, STACKS
from .words import METRICS, TOOL_METRICS, cost_line, label, search_for


class InsightsScreen(InsightPanes):
    """Columns over time, the lines they stand for, and behind a line its conversations."""

    ENTER = N_("Show the conversations behind a line, or read one")
    HELP_TITLE = N_("Insights")
    EXAMPLES_TITLE = N_("What is counted")
    EXAMPLES = (
        (N_("tokens and cost"), N_("count where their session began: nobody recorded when each was spent")),
        ("~$1.24  $1.24?", N_("~ where a part is estimated, ? where some sessions have no cost recorded")),
        (
            N_("fresh cached out"),
            N_("new input; input read from and written to the cache; output, of which thought is a part"),
        ),
    )
    KEYS = INSIGHTS

    def __init__(self, controllers: Controllers) -> None:
        super().__init__(controllers)
        self._opened: set[str] = set()

    def on_mount(self) -> None:
        """Read."""
        self.groups.clock = self.context.clock
        self.set_focus(self.groups)
        self.groups.show(FixedRows([NoteRow(_("adding up …"))]))
        self._ask()

    def on_unmount(self) -> None:
        """What is still being read is not wanted any more."""
        self.sums.stop()

    def _ask(self) -> None:
        self.behind = None
        self.show_title()
        self.sums.ask(Question(self.by, self.period, self.unit, self.stack), self.take)

    # Events

    def catalog_changed(self) -> None:
        """The list has been read again: sums stay as they are until they are asked for, and the title says so."""
        if self.answer is not None and self.is_whole:  # else nothing is shown yet, or any more
            self.show_title()

    @on(ConversationList.Highlighted, "#groups")
    def highlighted(self, event: ConversationList.Highlighted) -> None:
        """Light the bar of the line."""
        event.stop()
        if isinstance(event.row, GroupRow) and self.behind is None:
            self.show_plot()
            group = event.row.group
            told = _("cost {sum}").format(sum=cost_line(group, 0)) if group.cost_usd or group.unknown else ""
            what = event.row.name or label(event.row.by, group.key)
            self.tell(header.status(" · ".join(each for each in (one_line(what, 120), told) if each), ""))

    @on(ConversationList.Shown)
    def rows_shown(self, event: ConversationList.Shown) -> None:
        """Read what conversations on screen lack."""
        event.stop()
        wanted = incomplete(event.list.source, event.first, event.last)
        if not wanted:
            return

        def done(found: list[Conversation]) -> None:
            self.context.details.add(found)
            if self.is_whole:
                self.groups.refresh_rows()

        self.context.page_worker.submit(
            "insight rows",  # not shown
            lambda reader: with_details(reader, wanted),
            done,
            self.context.failed,
        )

    @on(ConversationList.Selected, "#groups")
    def selected(self, event: ConversationList.Selected) -> None:
        """Enter: the conversations behind a line; on one of them, read it."""
        event.stop()
        row = event.row
        if isinstance(row, ConversationRow):
            self.read(row.conversation)
        elif isinstance(row, JobRow):
            self._opened ^= {row.name}
            self._show_behind()
        elif isinstance(row, GroupRow):
            if row.by == "conversation":
                self.read(self.sums.catalog(self.by).conversation(row.group.key))
                return
            self.behind = row
            self._show_behind()

    def _show_behind(self) -> None:
        row = self.behind
        if row is None:
            return
        catalog = self.sums.catalog(self.by)
        found = [catalog.conversation(root) for root in row.group.conversations]
        found.sort(key=lambda each: (each.last_active or 0.0, each.id), reverse=True)
        rows = CatalogRows(catalog, [each.root_id for each in found], self.context.details, self._opened, _("None."))
        self.groups.show(rows)
        self.show_headings()
        what = label(row.by, row.group.key)
        many = ngettext("1 conversation", "{count:,} conversations", len(found)).format(count=len(found))
        told = _("behind {what}: {conversations} · Enter reads one, Esc goes back")
        self.tell(header.status(told.format(what=what, conversations=many), ""))

    @on(BarPlot.Chosen)
    def bar_chosen(self, event: BarPlot.Chosen) -> None:
        """A click on a bar goes to its line."""
        event.stop()
        answer = self.answer
        if answer is not None and self.behind is None and answer.report.by == self.unit:
            self._go_to(self.bars(answer)[event.index])

    @on(WeekPlot.Chosen)
    def hour_chosen(self, event: WeekPlot.Chosen) -> None:
        """A click on an hour goes to its line."""
        event.stop()
        if self.behind is None:
            self._go_to(event.key)

    def _go_to(self, key: str) -> None:
        index = self.groups.source.index_of(f"g{self.by} {key}")
        if index is not None:
            self.groups.cursor = index
        else:
            self.tell(header.status(_("{what}: nothing").format(what=label(self.by, key)), ""))

    @on(ToggleLine.Switched)
    def clicked(self, event: ToggleLine.Switched) -> None:
        """A click on a tab."""
        event.stop()
        self.action_choose(event.index)

    # Actions

    def action_choose(self, index: int) -> None:
        """Group by something else."""
        self.tab = index
        self._ask()

    def action_tab(self, by: int) -> None:
        """Group by the next thing."""
        self.action_choose((self.tab + by) % len(TABS))

    def action_period(self, by: int) -> None:
        """Look further back, or less far."""
        index = min(max(PERIODS.index(self.period) + by, 0), len(PERIODS) - 1)
        if PERIODS[index] == self.period:
            self.tell(header.status(_("that is all there is") if by > 0 else _("there is no shorter period"), ""))
            return
        self.period = PERIODS[index]
        self.unit = natural_unit(self.period)
        self._ask()

    def action_unit(self) -> None:
        """Bars of days, weeks or months."""
        self.unit = UNITS[(UNITS.index(self.unit) + 1) % len(UNITS)]
        self._ask()

    def action_stack(self) -> None:
        """Stack the columns of time by something else."""
        if self.by != self.unit:
            self.tell(header.status(_("Columns are stacked by what the lines are."), ""))
            return
        self.stack = STACKS[(STACKS.index(self.stack) + 1) % len(STACKS)]
        self._ask()
        self.tell(header.status(_(STACKED[self.stack]), ""))

    def action_metric(self) -> None:
        """Another measure."""
        if self.by == TOOL:
            self.tool_metric = TOOL_METRICS[1 - TOOL_METRICS.index(self.tool_metric)]
        elif self.by == "hour":
            self.hour_metric = METRICS[(METRICS.index(self.metric) + 1) % len(METRICS)]
        else:
            self.plain_metric = METRICS[(METRICS.index(self.metric) + 1) % len(METRICS)]
        self.show_rows()

    def action_reload(self) -> None:
        """Read the store again."""
        self.sums.forget()
        self._ask()

    def action_search(self) -> None:
        """The search for the current line, in the list of the main screen."""
        row = self.behind or self.groups.current
        if not isinstance(row, GroupRow):
            return
        search = search_for(row.by, row.group.key, self.period, self.context.clock())
        if not search.query:
            self.tell(header.status(_("{why}: Enter shows the conversations").format(why=search.word), ""))
            return
        self.dismiss(None)
        self.controllers.search_for(f"{search.query} ", search.word)

    def action_back(self) -> None:
        """One step: from conversations to the lines, from reading to what there is, then out."""
        if self.behind is not None:
            row, self.behind = self.behind, None
            self.show_rows()
            self._go_to(row.group.key)
        elif self.sums.stop():
            self.tell(header.status(_("stopped: F5 reads again"), ""))
        else:
            self.dismiss(None)
