"""The insights screen: tokens, cost and activity over time and by model, source, tool, directory or
hour."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.events import Resize
from textual.reactive import var

from hermes_browse.store.errors import BrowseError
from hermes_browse.store.insights.sums import NATURAL_UNITS, PERIODS, UNITS
from hermes_browse.store.sessions.catalog import rank
from hermes_browse.store.wording import N_, _

from ...browser.list.conversation_list import ConversationList
from ...browser.list.list_model import CatalogRows, Order
from ...browser.list.rows import JobRow
from ...browser.main import MainScreen
from ...settings.keys.screen_commands import INSIGHTS
from ...text import formats
from ...widgets.bindings import following
from ...widgets.lines import TextLine, ToggleLine
from ...widgets.list_rows import FixedRows, ListRow, NoteRow
from .adding_up import TOOL, GroupedSums, Question, SummingScreen
from .chart import STACKS, BarPlot, Chosen, WeekPlot, make_chart
from .sums_table import GroupRow, group_rows
from .words import (
    HOW_COUNTED,
    METRICS,
    TOOL_METRICS,
    label,
    period_notes,
    search_for,
    sums_lines,
    value_of,
)

GROUPINGS = ("", "model", "source", TOOL, "project", "hour", "conversation")
"""Those of the keys 1, 2, …; the empty one is by the unit of the chart."""
_CHART_LINES, _WEEK_LINES = 18, 22
"""The fewest lines of a screen that shows the chart, or the map of the week, above the table."""

_FIRST = Question("", "30d", NATURAL_UNITS["30d"], "model")


class InsightsScreen(SummingScreen):
    """Keys change the question; the answer is shown as a chart and a table, or the conversations
    behind one of its rows."""

    ENTER = N_("Show the conversations behind a line, or read one")
    TITLE = N_("insights")
    EXAMPLES = (N_("What is counted"), HOW_COUNTED)
    KEYS = INSIGHTS

    question = var(_FIRST, init=False, always_update=True)
    grouped: var[GroupedSums | None] = var(None, init=False, always_update=True)
    """That to an earlier question while another one is asked."""
    behind: var[GroupRow | None] = var(None, init=False, always_update=True)
    """The row whose conversations are listed instead of the table."""

    def __init__(self, main: MainScreen) -> None:
        super().__init__(main)
        self._metrics = {TOOL: TOOL_METRICS[0], "hour": "messages"}
        """The chosen metric by grouping; an empty grouping stands for all others."""
        self._opened: set[str] = set()

    def content(self) -> ComposeResult:
        yield ToggleLine(INSIGHTS, id="tabs")
        yield TextLine(id="sums")
        yield TextLine(id="costs")
        yield Vertical(
            BarPlot(id="bars"),
            WeekPlot(id="week"),
            TextLine(id="headings"),
            ConversationList(id="groups"),
            id="panes",
        )

    def on_mount(self) -> None:
        self.rows.columns = self.main.listing.columns
        self.rows.show(FixedRows([NoteRow(_("adding up …"))]))
        self.watch_question()

    def on_unmount(self) -> None:
        self.stop_summing()

    @property
    def _by(self) -> str:
        """What is shown is grouped by this; another answer may be on its way."""
        return self.grouped.by if self.grouped is not None else self.question.by

    @property
    def metric(self) -> str:
        """The one that was chosen, else the first with a value."""
        total = self.grouped.report.total if self.grouped is not None else None
        valued = (each for each in METRICS if total is not None and value_of(total, each))
        return self._metrics.get(self._by) or self._metrics.get("") or next(valued, METRICS[0])

    @property
    def _row(self) -> GroupRow | None:
        row = self.behind or self.rows.current
        return row if isinstance(row, GroupRow) else None

    # Question and answer

    def watch_question(self) -> None:
        self.set_reactive(InsightsScreen.behind, None)
        self._show_head()
        self.stop_summing()
        self.start("insights", self._ask, self.question)

    async def _ask(self, question: Question) -> None:
        try:
            self.grouped = await self.sums(question)
        except BrowseError as error:
            if self.grouped is None:
                text = _("{error} F5 tries again.", error=error.sentence)
                self.rows.show(FixedRows([NoteRow(text)]))
            raise

    def watch_grouped(self, grouped: GroupedSums) -> None:
        sums, costs = sums_lines(grouped, self.size.width - 2)
        self.line("sums").update(Content(f" {sums}"))
        self.show_line("costs", f" {costs}")
        self._show_table()

    def catalog_changed(self) -> None:
        self._show_head()  # the sums may be outdated; they are read again on request

    def _show_head(self) -> None:
        question = self.question
        notes = period_notes(question, self.metric, self.main.clock())
        if self.grouped is not None and self.is_outdated(self.grouped.by):
            notes.append(_("changed meanwhile, F5 reads again"))
        self.show_title(" · ".join(notes))
        self.query_one(ToggleLine).show([GROUPINGS.index(question.grouping)])

    # Table

    def _show_table(self) -> None:
        """Show the answer; the cursor stays on its row."""
        grouped = self.grouped
        if grouped is None:
            return
        rows = group_rows(grouped, self.metric, self._title)
        self.rows.show(FixedRows(rows))
        self._show_head()
        self.heads_shown()
        self._show_plot()
        if grouped.by == "conversation":
            keys = (row.group.key for row in rows if isinstance(row, GroupRow))
            nameless = self.main.details.nameless(map(grouped.catalog.conversation, keys))
            self.read_names(nameless, "conversations")

    def names_read(self) -> None:
        super().names_read()
        if self._by == "conversation" and self.behind is None:
            self._show_table()

    def heads_shown(self) -> None:
        width = self.rows.scrollable_content_region.width
        row = self.rows.source.row(0)
        text = row.table.headings(width) if isinstance(row, GroupRow) else ""
        if self.behind is not None:
            head = self.rows.columns.head(width, is_sorted=False)
            text = "".join(name for name, _look, _sort in head)
        self.show_line("headings", text)

    def _title(self, root_id: str) -> str:
        assert self.grouped is not None  # it has the conversation
        conversation = self.grouped.catalog.conversation(root_id)
        return formats.name_so_far(self.main.details.complete(conversation))

    def watch_behind(self, row: GroupRow | None) -> None:
        """List the conversations behind a row, or show the table again."""
        if row is None or self.grouped is None:
            self._show_table()
            return
        catalog = self.grouped.catalog
        conversations = map(catalog.conversation, row.group.conversations)
        roots = [each.root_id for each in sorted(conversations, key=rank, reverse=True)]
        rows = CatalogRows(catalog, roots, self.main.details, self._opened, _("None."), Order())
        # Where a job was opened, the cursor stays on it.
        self.rows.show(rows, top=not isinstance(self.rows.source, CatalogRows))
        self.heads_shown()
        count = formats.counted(len(roots), "conversation")
        words = _("{what}: {conversations} · Enter reads one, Esc goes back")
        self.say(words.format(what=row.name, conversations=count))

    # Chart

    def on_resize(self, event: Resize) -> None:
        self._show_plot()
        self.call_after_refresh(self.heads_shown)

    def _show_plot(self) -> None:
        grouped = self.grouped
        row = self._row
        metric = self.metric
        if grouped is None:
            return
        bars = self.query_one(BarPlot)
        week = self.query_one(WeekPlot)
        current = row.group.key if row is not None else ""
        is_week = grouped.by == "hour"
        bars.display = not is_week and self.size.height >= _CHART_LINES
        week.display = is_week and self.size.height >= _WEEK_LINES
        if is_week:
            values = {group.key: value_of(group, metric) for group in grouped.report.rows}
            week.show(values, current, metric)
        else:
            bars.show(make_chart(grouped, metric, current, self.main.clock(), self._title))

    @on(Chosen)
    def chosen(self, event: Chosen) -> None:
        if self.behind is None:
            self._go_to(event.key)

    def _go_to(self, key: str) -> None:
        by = self._by
        index = self.rows.source.index_of(f"g{by} {key}")
        if index is not None:
            self.rows.cursor = index
        else:
            self.say(_("{what}: nothing", what=label(by, key)))

    # Rows

    def came_to(self, row: ListRow, *, by_hand: bool) -> None:
        if self.behind is None:
            self._show_plot()
            super().came_to(row, by_hand=by_hand)

    def chose(self, row: ListRow) -> None:
        if isinstance(row, JobRow):
            self._opened ^= {row.job}
            self.watch_behind(self.behind)
        elif isinstance(row, GroupRow) and row.by != "conversation":
            self.behind = row
        elif isinstance(row, GroupRow) and self.grouped is not None:
            self.read_conversation(self.grouped.catalog.conversation(row.group.key))
        else:
            super().chose(row)

    # Keys

    def action_choose(self, index: int) -> None:
        self.question = self.question._replace(grouping=GROUPINGS[index])

    def action_tab(self, by: int) -> None:
        grouping = following(GROUPINGS, self.question.grouping, by)
        self.question = self.question._replace(grouping=grouping)

    def action_period(self, by: int) -> None:
        index = PERIODS.index(self.question.period) + by
        if 0 <= index < len(PERIODS):
            period = PERIODS[index]
            self.question = self.question._replace(period=period, unit=NATURAL_UNITS[period])
        else:
            self.say(_("that is all there is") if by > 0 else _("there is no shorter period"))

    def action_unit(self) -> None:
        self.question = self.question._replace(unit=following(UNITS, self.question.unit))

    def action_stack(self) -> None:
        if self.question.grouping:
            self.say(_("Columns are stacked by the lines of the table."))
        else:
            self.question = self.question._replace(stack=following(STACKS, self.question.stack))
            self.say(_(STACKS[self.question.stack]))

    def action_metric(self) -> None:
        by = self._by
        own = by if by in self._metrics else ""
        self._metrics[own] = following(TOOL_METRICS if by == TOOL else METRICS, self.metric)
        self.behind = None

    def action_reload(self) -> None:
        self.facts.clear()
        self.watch_question()

    def action_search(self) -> None:
        if (row := self._row) is None:
            return
        query, note = search_for(row.by, row.group.key, self.question.period, self.main.clock())
        if query:
            self.search(f"{query} ", note)
        else:
            self.say(_("{why}: Enter shows the conversations", why=note))

    def action_back(self) -> None:
        if (row := self.behind) is not None:
            self.behind = None
            self._go_to(row.group.key)
        elif self.stop_summing():
            self.say(_("stopped: F5 reads again"))
        else:
            self.dismiss(None)
