"""The insights screen: tokens, cost and activity over time and by model, source, tool, directory or
hour."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.events import Resize
from textual.reactive import var

from hermes_browse.store.errors import BrowseError
from hermes_browse.store.insights.sums import NATURAL_UNITS, PERIODS, UNITS
from hermes_browse.store.wording import N_, _

from ...browser.list.conversation_list import ConversationList
from ...browser.list.list_model import CatalogRows, Order
from ...browser.list.rows import ConversationRow, JobRow
from ...browser.main import MainScreen
from ...settings.keys.screen_commands import INSIGHTS
from ...text import formats
from ...widgets.bindings import following
from ...widgets.lines import TextLine, ToggleLine
from ...widgets.list_rows import FixedRows, ListRow, NoteRow
from ..sub_screen import SubScreen
from .chart import OTHERS, OWN, BarPlot, make_chart
from .sums import (
    METRICS,
    TOOL,
    TOOL_METRICS,
    AddingUp,
    GroupedSums,
    Question,
    first_with_value,
    period_notes,
    sums_lines,
)
from .sums_table import GroupRow, group_rows, newest_first

TABS = (
    (N_("time"), ""),
    (N_("model"), "model"),
    (N_("source"), "source"),
    (N_("tool"), TOOL),
    (N_("directory"), "project"),
    (N_("hours"), "hour"),
)
"""Name and grouping; the empty grouping is by the unit of the chart."""
_GROUPINGS = tuple(grouping for _name, grouping in TABS)
_CHART_LINES = 18
"""The fewest lines of a screen that shows the chart above the table."""

_FIRST = Question("", "30d", NATURAL_UNITS["30d"])
_EXAMPLES = (
    (
        N_("tokens and cost"),
        N_("count where their session began: nobody recorded when each was spent"),
    ),
    (
        N_("begun"),
        N_("sessions that began then: a conversation may be in one that began before"),
    ),
    (
        "~$1.24  $1.24?",
        N_("~ where a part is estimated, ? where some sessions have no cost recorded"),
    ),
    (
        N_("input cached out"),
        N_("new input; input read from and written to the cache; output, which includes reasoning"),
    ),
)


class GroupList(ConversationList):
    """The table, with bars in the colours of the chart."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"list--{look}" for look in (*OWN, OTHERS)}


class InsightsScreen(SubScreen):
    """Keys change the question; the answer is shown as a chart and a table, or the conversations
    behind one of its rows."""

    ENTER = N_("Show the conversations behind a line, or read one")
    HELP_TITLE = N_("Insights")
    EXAMPLES_TITLE = N_("What is counted")
    EXAMPLES = _EXAMPLES
    KEYS = INSIGHTS

    question: var[Question] = var(_FIRST, init=False, always_update=True)
    answer: var[GroupedSums | None] = var(None, init=False, always_update=True)
    """That to an earlier question while another one is asked."""
    behind: var[GroupRow | None] = var(None, init=False, always_update=True)
    """The row whose conversations are listed instead of the table."""

    def __init__(self, main: MainScreen) -> None:
        super().__init__(main)
        self._metrics = {TOOL: TOOL_METRICS[0], "hour": "messages"}
        """The chosen metric by grouping; an empty grouping stands for all others."""
        self._natural = METRICS[0]
        """The metric until one is chosen: the first with a value."""
        self.sums = AddingUp(self)
        self._opened: set[str] = set()

    def content(self) -> ComposeResult:
        yield ToggleLine(id="tabs")
        yield TextLine(id="sums")
        yield TextLine(id="costs")
        with Vertical(id="panes"):
            yield BarPlot(id="bars")
            yield TextLine(id="headings")
            yield GroupList(id="groups")

    def on_mount(self) -> None:
        self.rows.columns = self.main.listing.columns
        self.rows.show(FixedRows([NoteRow(_("adding up …"))]))
        self.watch_question()

    def on_unmount(self) -> None:
        self.sums.stop()

    @property
    def metric(self) -> str:
        return self._metrics.get(self.question.by) or self._metrics.get("") or self._natural

    @property
    def _row(self) -> GroupRow | None:
        row = self.behind or self.rows.current
        return row if isinstance(row, GroupRow) else None

    # Question and answer

    def watch_question(self) -> None:
        self.set_reactive(InsightsScreen.behind, None)
        self._show_head()
        self.sums.stop()
        self.start("insights", self._ask, self.question)

    async def _ask(self, question: Question) -> None:
        try:
            self.answer = await self.sums.answer(question)
        except BrowseError as error:
            if self.answer is None:
                text = _("{error} F5 tries again.", error=error.sentence)
                self.rows.show(FixedRows([NoteRow(text)]))
            raise

    def watch_answer(self, answer: GroupedSums) -> None:
        if answer.by != TOOL:
            self._natural = first_with_value(answer.report.total)
        sums, costs = sums_lines(answer)
        self.line("sums").update(Content(f" {sums}"))
        self.show_line("costs", f" {costs}")
        self._show_table()

    def catalog_changed(self) -> None:
        self._show_head()  # the sums may be outdated; they are read again on request

    def _show_head(self) -> None:
        question = self.question
        notes = period_notes(question, self.main.clock())
        if self.answer is not None and self.sums.is_outdated(self.answer.by):
            notes.append(_("changed meanwhile, F5 reads again"))
        self.show_title(_("insights"), " · ".join(notes))
        tabs = [(_(name), grouping == question.grouping) for name, grouping in TABS]
        self.query_one("#tabs", ToggleLine).show(tabs)

    # Table

    def _show_table(self) -> None:
        """Show the answer; the cursor stays on its row."""
        answer = self.answer
        if answer is None:
            return
        self.rows.show(FixedRows(group_rows(answer, self.metric)))
        self._show_head()
        self.heads_shown()
        self._show_plot()

    def heads_shown(self) -> None:
        width, row = self.rows.scrollable_content_region.width, self.rows.current
        text = row.table.headings(width) if isinstance(row, GroupRow) else ""
        self.show_line("headings", text)

    def watch_behind(self, row: GroupRow | None) -> None:
        """List the conversations behind a row, or show the table again."""
        if row is None or self.answer is None:
            self._show_table()
            return
        catalog, roots = self.answer.catalog, newest_first(self.answer.catalog, row.group)
        rows = CatalogRows(catalog, roots, self.main.details, self._opened, _("None."), Order())
        self.rows.show(rows)
        self.heads_shown()
        count = formats.counted(len(roots), "conversation")
        words = _("behind {what}: {conversations} · Enter reads one, Esc goes back")
        self.say(words.format(what=row.name, conversations=count))

    # Chart

    def on_resize(self, event: Resize) -> None:
        self._show_plot()
        self.call_after_refresh(self.heads_shown)

    def _show_plot(self) -> None:
        answer, row, metric = self.answer, self._row, self.metric
        if answer is None:
            return
        bars, current = self.query_one(BarPlot), row.group.key if row is not None else ""
        bars.display = self.size.height >= _CHART_LINES
        bars.show(make_chart(answer, metric, current, self.main.clock()))

    # Rows

    def came_to(self, row: ListRow, *, by_hand: bool) -> None:
        if isinstance(row, GroupRow) and self.behind is None:
            self._show_plot()
            self.describe(row.about(), by_hand=by_hand)

    def chose(self, row: ListRow) -> None:
        if isinstance(row, ConversationRow):
            self.read_conversation(row.conversation)
        elif isinstance(row, JobRow):
            self._opened ^= {row.name}
            self.watch_behind(self.behind)
        elif isinstance(row, GroupRow):
            self.behind = row

    # Keys

    @on(ToggleLine.Switched)
    def clicked(self, event: ToggleLine.Switched) -> None:
        event.stop()
        self.action_choose(event.index)

    def action_choose(self, index: int) -> None:
        self.question = self.question._replace(grouping=_GROUPINGS[index])

    def action_tab(self, by: int) -> None:
        at = _GROUPINGS.index(self.question.grouping)
        self.action_choose((at + by) % len(TABS))

    def action_period(self, by: int) -> None:
        index = PERIODS.index(self.question.period) + by
        if not 0 <= index < len(PERIODS):
            self.say(_("that is all there is") if by > 0 else _("there is no shorter period"))
            return
        period = PERIODS[index]
        self.question = self.question._replace(period=period, unit=NATURAL_UNITS[period])

    def action_unit(self) -> None:
        self.question = self.question._replace(unit=following(UNITS, self.question.unit))

    def action_metric(self) -> None:
        by = self.question.by
        own = by if by in self._metrics else ""
        self._metrics[own] = following(TOOL_METRICS if by == TOOL else METRICS, self.metric)
        self.behind = None

    def action_reload(self) -> None:
        self.sums.forget()
        self.watch_question()

    def action_back(self) -> None:
        if (row := self.behind) is not None:
            self.behind = None
            self.rows.cursor = self.rows.source.index_of(row.key) or 0
        elif self.sums.stop():
            self.say(_("stopped: F5 reads again"))
        else:
            self.dismiss(None)
