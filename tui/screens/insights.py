"""Insights: tokens, cost and activity over time and by what it was for; Enter shows the conversations behind a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Resize

from hermes_browse.store.catalog import Catalog, read_catalog
from hermes_browse.store.connect import Reader
from hermes_browse.store.insights.facts import Facts, read_facts
from hermes_browse.store.insights.groups import Group, Only, Report, make_report
from hermes_browse.store.insights.periods import (
    PERIODS,
    UNITS,
    Calendar,
    all_buckets,
    begin_of,
    first_day,
    natural_unit,
)
from hermes_browse.store.insights.tools import ToolFacts, read_tools, tool_report
from hermes_browse.store.models import Conversation
from hermes_browse.store.preview import with_details
from hermes_browse.store.text import one_line

from .. import formats, header
from ..insight_query import search_for
from ..insight_rows import (
    METRICS,
    TOOL_METRICS,
    GroupRow,
    cost_line,
    group_rows,
    headings,
    label,
    printed,
    tick,
    tokens_line,
    tools_line,
    value_of,
)
from ..list_model import CatalogRows, incomplete
from ..rows import ConversationRow, FixedRows, JobRow, NoteRow
from ..widgets.conversation_list import ConversationList
from ..widgets.keys import KeyLine
from ..widgets.line import TextLine
from ..widgets.plot import BarPlot, Course, WeekPlot
from ..widgets.toggles import ToggleLine
from .card import counted
from .scanning import Scan, follow
from .sub_screen import BACK, SubScreen

if TYPE_CHECKING:
    from .main import MainScreen

_TABS = (
    ("time", ""),
    ("model", "model"),
    ("source", "source"),
    ("tool", "tool"),
    ("directory", "project"),
    ("hours", "hour"),
    ("biggest", "conversation"),
)
_PERIODS = {"7d": "7 days", "30d": "30 days", "90d": "90 days", "1y": "year", "all": "all time"}
_MOST_CONVERSATIONS = 200


class _Answer(NamedTuple):
    """Sums, and how they came about over time."""

    report: Report
    course: Report
    """All of it by time."""


class InsightsScreen(SubScreen):
    """Bars, the lines they stand for, and behind a line its conversations."""

    HELP_TITLE = "Insights"
    EXAMPLES = (
        ("tokens and cost", "count where their session began: nobody recorded when each was spent"),
        ("~$1.24  $1.24?", "~ where a part is estimated, ? where some sessions have no cost recorded"),
        ("fresh cached out", "new input; input read from and written to the cache; output, of which thought is a part"),
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left_square_bracket", "period(-1)", "shorter", tooltip="A shorter period", key_display="["),
        Binding("right_square_bracket", "period(1)", "longer", tooltip="A longer period", key_display="]"),
        Binding("m", "metric", "measure", tooltip="What bars and order go by: tokens, cost, messages, sessions"),
        Binding("b", "unit", "day/week/month", tooltip="Bars of days, weeks or months"),
        Binding("tab", "tab(1)", "next", tooltip="Group by the next thing"),
        Binding("shift+tab", "tab(-1)", "previous", tooltip="Group by the thing before", show=False),
        *[
            Binding(str(number), f"choose({number - 1})", name, tooltip=f"Group by {name}", show=False)
            for number, (name, _) in enumerate(_TABS, 1)
        ],
        Binding("slash", "search", "search", tooltip="The search for this line, in the list"),
        Binding("f5", "reload", "reload", tooltip="Read the store again", show=False),
        *BACK,
    ]

    def __init__(self, main: MainScreen) -> None:
        super().__init__(main)
        self._period, self._tab, self._unit = "30d", 0, natural_unit("30d")
        self._metric, self._tool_metric = "", TOOL_METRICS[0]
        self._facts: Facts | None = None
        self._tools: ToolFacts | None = None
        self._answer: _Answer | None = None
        self._part: Report | None = None
        self._scan: Scan | None = None
        self._behind: GroupRow | None = None
        self._opened: set[str] = set()
        self._is_stale = False

    def compose(self) -> ComposeResult:
        """Title, tabs, sums, bars, lines."""
        yield TextLine(id="header")
        yield ToggleLine(id="tabs")
        yield TextLine(id="sums")
        yield TextLine(id="costs")
        with Vertical(id="panes"):
            yield BarPlot(id="bars")
            yield WeekPlot(id="week")
            yield TextLine(id="headings")
            yield ConversationList(id="groups")
        yield TextLine(id="status")
        yield KeyLine(id="keys")

    def on_mount(self) -> None:
        """Read."""
        self.groups.clock = self.main.clock
        self.set_focus(self.groups)
        self._show_title()
        self._read()

    def on_unmount(self) -> None:
        """What is still being read is not wanted any more."""
        self._stop()
        self.main.plan_worker.cancel("insights")

    @property
    def groups(self) -> ConversationList:
        """The lines, or the conversations behind one."""
        return self.query_one("#groups", ConversationList)

    @property
    def by(self) -> str:
        """What sums are grouped by."""
        return _TABS[self._tab][1] or self._unit

    @property
    def metric(self) -> str:
        """What bars and order go by."""
        return self._tool_metric if self.by == "tool" else self._metric or METRICS[0]

    # Reading

    def _stop(self) -> bool:
        scan, self._scan = self._scan, None
        if scan is not None:
            scan.stopped.set()
        return scan is not None

    def _read(self) -> None:
        """Read what is to be added up; for the tools every call and answer."""
        self._stop()
        known, now, for_tools = self.main.listing.catalog, self.main.clock(), self.by == "tool"
        scan = self._scan = Scan()

        def work(reader: Reader) -> tuple[Facts | None, ToolFacts | None]:
            catalog: Catalog = known if known.exact else read_catalog(reader, now)
            if for_tools:
                return None, read_tools(reader, catalog, stopped=scan.stopped.is_set, tell=scan.tell)
            return read_facts(reader, catalog, stopped=scan.stopped.is_set, tell=scan.tell), None

        def done(found: tuple[Facts | None, ToolFacts | None]) -> None:
            self._scan = None
            facts, tools = found
            self._facts, self._tools = facts or self._facts, tools or self._tools
            if self.is_attached:
                self.tell(header.status("", ""))
                self._add_up()

        if self._answer is None:
            self.groups.show(FixedRows([NoteRow("adding up …")]))
        self.main.plan_worker.submit("insights", work, done, self.main.failed)
        follow(scan, self, lambda: self._scan is scan and self.is_attached, self._tell_scan)

    def _tell_scan(self, text: str, *, first: bool) -> None:
        self.tell(header.status(f"reading the store, {text}", ""))

    def _add_up(self) -> None:
        """Sums for the tab, off the screen's thread: 100,000 sessions take a moment."""
        by, period, unit, now = self.by, self._period, self._unit, self.main.clock()
        facts, tools = self._facts, self._tools
        if (tools if by == "tool" else facts) is None:
            self._read()
            return

        def work(reader: Reader) -> _Answer:
            if by == "tool":
                assert tools is not None
                return _Answer(tool_report(tools, period, now), tool_report(tools, period, now, unit=unit))
            assert facts is not None
            report = make_report(facts, by, period, now)
            return _Answer(report, report if by in UNITS else make_report(facts, unit, period, now))

        self.main.plan_worker.submit("insights", work, self._take, self.main.failed)

    def _take(self, answer: _Answer) -> None:
        if not self.is_attached:
            return
        self._answer, self._part = answer, None
        if not self._metric and answer.report.by != "tool":
            total = answer.report.total
            self._metric = "tokens" if total.tokens.total else "messages"
        self._show_rows()

    # Showing

    def _show_title(self) -> None:
        day, unit = first_day(self._period, self.main.clock()), self._unit
        since = f" · since {day:%A}, {day.day} {day:%B %Y}" if day is not None else ""
        told = f"{_PERIODS[self._period]}{since} · {self.metric} by {unit}"
        if self._is_stale:
            told += " · changed meanwhile, F5 reads again"
        name = header.store_name(self.main.location)
        self.line("header").update(Content.assemble((" insights  ", "bold"), (name, "$accent"), (f"  {told}", "dim")))
        tabs = [(name, number == self._tab) for number, (name, _) in enumerate(_TABS)]
        self.query_one("#tabs", ToggleLine).show(tabs)

    def _show_rows(self) -> None:
        """Lines for the sums there are; the cursor stays on its line."""
        answer = self._answer
        if answer is None:
            return
        self._behind = None
        total, by = answer.report.total, answer.report.by
        self._show_title()
        strays = self._facts.strays if self._facts is not None and self._period == "all" else 0
        sums = tools_line(total) if by == "tool" else tokens_line(total, self.size.width - 2)
        costs = "No store records tokens or cost by tool." if by == "tool" else f"cost {cost_line(total, strays)}"
        self.line("sums").update(Content(f" {sums}"))
        self.line("costs").update(Content.styled(f" {costs}", "dim"))
        groups = list(answer.report.rows)
        if by == "conversation":
            groups.sort(key=lambda each: -value_of(each, self.metric))
            groups = groups[:_MOST_CONVERSATIONS]
        rows = group_rows(groups, by, self.metric, self._called if by == "conversation" else None)
        self.groups.show(FixedRows(rows))
        self._show_headings()
        self._show_plot()
        self._ask_part()
        if by == "conversation":
            self._complete([each.key for each in groups])

    def _show_headings(self) -> None:
        width = self.groups.scrollable_content_region.width
        text = "" if self._behind is not None else headings(self.by, self.metric, width)
        self.line("headings").update(Content.styled(text, "dim"))

    def on_resize(self, event: Resize) -> None:
        """Columns come and go."""
        super().on_resize(event)
        self.call_after_refresh(self._show_headings)

    def _catalog(self) -> Catalog:
        """The conversations the sums were made of."""
        facts = self._tools if self.by == "tool" else self._facts
        assert facts is not None
        return facts.catalog

    def _called(self, root_id: str) -> str:
        conversation, _ = self.main.details.complete(self._catalog().conversation(root_id))
        return formats.name(conversation)

    def _complete(self, roots: list[str]) -> None:
        """Read how conversations without a title begin."""
        found = [self.main.details.complete(self._catalog().conversation(each)) for each in roots]
        wanted = [each for each, is_complete in found if not is_complete and not each.title]
        if not wanted:
            return

        def done(named: list[Conversation]) -> None:
            self.main.details.add(named)
            if self.is_attached and self.by == "conversation" and self._behind is None:
                self._show_rows()

        self.main.page_worker.submit(
            "insight names", lambda reader: with_details(reader, wanted), done, self.main.failed
        )

    @property
    def _current(self) -> Group | None:
        row = self._behind or self.groups.current
        return row.group if isinstance(row, GroupRow) else None

    def _show_plot(self) -> None:
        answer, current = self._answer, self._current
        bars, week = self.query_one("#bars", BarPlot), self.query_one("#week", WeekPlot)
        if answer is None:
            return
        is_week = answer.report.by == "hour"
        bars.display, week.display = not is_week, is_week
        if is_week:
            values = {each.key: float(each.messages) for each in answer.report.rows}
            week.show(values, current.key if current is not None else "")
            return
        unit, metric = self._unit, self.metric
        by_key = {each.key: value_of(each, metric) for each in answer.course.rows}
        keys = self._bars(answer)
        part: list[float] | None = None
        chosen: int | None = None
        if answer.report.by == unit:
            chosen = keys.index(current.key) if current is not None and current.key in keys else None
        else:
            own = {each.key: value_of(each, metric) for each in self._part.rows} if self._part is not None else {}
            part = [own.get(key, 0.0) for key in keys]
        bars.show(
            Course(
                [tick(unit, key) for key in keys],
                [by_key.get(key, 0.0) for key in keys],
                part,
                chosen,
                lambda value: printed(value, metric),
            )
        )

    def _bars(self, answer: _Answer) -> list[str]:
        """Keys of the bars, without a gap, to today."""
        unit, now = self._unit, self.main.clock()
        dated = sorted(each.key for each in answer.course.rows if each.key[:1].isdecimal())
        today = Calendar().key(now, unit)
        day = first_day(self._period, now)
        first = dated[0] if dated else today
        if day is not None:
            first = Calendar().key(begin_of(day), unit)
        return all_buckets(first, max([today, *dated[-1:]]), unit)

    def _ask_part(self) -> None:
        """How the current line came about over time."""
        answer, current = self._answer, self._current
        if answer is None or current is None or answer.report.by in (self._unit, "hour"):
            return
        by, key, period, unit, now = answer.report.by, current.key, self._period, self._unit, self.main.clock()
        facts, tools = self._facts, self._tools

        def work(reader: Reader) -> Report:
            if by == "tool":
                assert tools is not None
                return tool_report(tools, period, now, key, unit)
            assert facts is not None
            return make_report(facts, unit, period, now, Only(by, key))

        def done(found: Report) -> None:
            if self.is_attached and self._answer is answer:
                self._part = found
                self._show_plot()

        self.main.plan_worker.submit("insights part", work, done, self.main.failed)

    # Events

    def catalog_changed(self) -> None:
        """The list has been read again: sums stay as they are until they are asked for."""
        self._is_stale = self._answer is not None
        self._show_title()

    @on(ConversationList.Highlighted, "#groups")
    def highlighted(self, event: ConversationList.Highlighted) -> None:
        """Light the bar of the line."""
        event.stop()
        if isinstance(event.row, GroupRow) and self._behind is None:
            self._show_plot()
            self._ask_part()
            group = event.row.group
            told = f"cost {cost_line(group, 0)}" if group.cost_usd or group.unknown else ""
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
            self.main.details.add(found)
            if self.is_attached:
                self.groups.refresh_rows()

        self.main.page_worker.submit(
            "insight rows", lambda reader: with_details(reader, wanted), done, self.main.failed
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
                self.read(self._catalog().conversation(row.group.key))
                return
            self._behind = row
            self._show_behind()

    def _show_behind(self) -> None:
        row = self._behind
        if row is None:
            return
        catalog = self._catalog()
        found = [catalog.conversation(root) for root in row.group.conversations]
        found.sort(key=lambda each: (each.last_active or 0.0, each.id), reverse=True)
        rows = CatalogRows(catalog, [each.root_id for each in found], self.main.details, self._opened, "None.")
        self.groups.show(rows)
        self._show_headings()
        what = label(row.by, row.group.key)
        told = f"behind {what}: {counted(len(found), 'conversation')} · Enter reads one, Esc goes back"
        self.tell(header.status(told, ""))

    @on(BarPlot.Chosen)
    def bar_chosen(self, event: BarPlot.Chosen) -> None:
        """A click on a bar goes to its line."""
        event.stop()
        answer = self._answer
        if answer is not None and self._behind is None and answer.report.by == self._unit:
            self._go_to(self._bars(answer)[event.index])

    @on(WeekPlot.Chosen)
    def hour_chosen(self, event: WeekPlot.Chosen) -> None:
        """A click on an hour goes to its line."""
        event.stop()
        if self._behind is None:
            self._go_to(event.key)

    def _go_to(self, key: str) -> None:
        index = self.groups.source.index_of(f"g{self.by} {key}")
        if index is not None:
            self.groups.cursor = index
        else:
            self.tell(header.status(f"{label(self.by, key)}: nothing", ""))

    @on(ToggleLine.Switched)
    def clicked(self, event: ToggleLine.Switched) -> None:
        """A click on a tab."""
        event.stop()
        self.action_choose(event.index)

    # Actions

    def action_choose(self, index: int) -> None:
        """Group by something else."""
        self._tab = index
        self._behind = None
        self._show_title()
        self._add_up()

    def action_tab(self, by: int) -> None:
        """Group by the next thing."""
        self.action_choose((self._tab + by) % len(_TABS))

    def action_period(self, by: int) -> None:
        """Look further back, or less far."""
        index = min(max(PERIODS.index(self._period) + by, 0), len(PERIODS) - 1)
        if PERIODS[index] == self._period:
            self.tell(header.status("that is all there is" if by > 0 else "there is no shorter period", ""))
            return
        self._period = PERIODS[index]
        self._unit = natural_unit(self._period)
        self._behind = None
        self._show_title()
        self._add_up()

    def action_unit(self) -> None:
        """Bars of days, weeks or months."""
        self._unit = UNITS[(UNITS.index(self._unit) + 1) % len(UNITS)]
        self._behind = None
        self._show_title()
        self._add_up()

    def action_metric(self) -> None:
        """Another measure."""
        if self.by == "tool":
            self._tool_metric = TOOL_METRICS[1 - TOOL_METRICS.index(self._tool_metric)]
        else:
            self._metric = METRICS[(METRICS.index(self.metric) + 1) % len(METRICS)]
        self._show_rows()

    def action_reload(self) -> None:
        """Read the store again."""
        self._is_stale = False
        self._facts = self._tools = None
        self._read()

    def action_search(self) -> None:
        """The search for the current line, in the list of the main screen."""
        row = self._behind or self.groups.current
        if not isinstance(row, GroupRow):
            return
        search = search_for(row.by, row.group.key, self._period, self.main.clock())
        if not search.query:
            self.tell(header.status(f"{search.word}: Enter shows the conversations", ""))
            return
        self.dismiss(None)
        self.main.typing.put(f"{search.query} ")
        self.main.set_focus(self.main.rows)

    def action_back(self) -> None:
        """One step: from conversations to the lines, from reading to what there is, then out."""
        if self._behind is not None:
            row, self._behind = self._behind, None
            self._show_rows()
            self._go_to(row.group.key)
        elif self._stop():
            self.main.plan_worker.cancel("insights")
            self.tell(header.status("stopped: F5 reads again", ""))
        else:
            self.dismiss(None)
