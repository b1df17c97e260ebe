"""The widgets of the insights screen: title, sums, chart or map of the week, and the table."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.events import Resize

from hermes_browse.store.errors import BrowseError
from hermes_browse.store.insights.periods import (
    NATURAL_UNITS,
    all_buckets,
    begin_of,
    first_day,
    key_of,
)
from hermes_browse.store.insights.sums import Group
from hermes_browse.store.wording import N_, _

from .. import formats
from ..list.conversation_list import ConversationList
from ..list.list_rows import FixedRows, NoteRow
from ..screens.main import MainScreen
from ..screens.sub_screen import SubScreen
from ..shared.calendar import MONTHS
from ..shared.keys import KeyLine
from ..shared.lines import TextLine, ToggleLine
from ..shared.stacked_columns import Part
from .adding_up import TOOL, AddingUp, GroupedSums
from .plot import BarPlot, Chart, WeekPlot
from .series import LOOKS, OTHERS, OWN, STACKS, Stacking
from .sums_table import GroupRow, group_rows
from .words import (
    METRICS,
    TOOL_METRICS,
    by_name,
    cost_line,
    label,
    printed,
    tick,
    tokens_line,
    tools_line,
    value_of,
)

TABS = (
    (N_("time"), ""),
    (N_("model"), "model"),
    (N_("source"), "source"),
    (N_("tool"), TOOL),
    (N_("directory"), "project"),
    (N_("hours"), "hour"),
    (N_("biggest"), "conversation"),
)
"""Name and grouping; the empty grouping is by the unit of the chart."""

_PERIODS = {
    "7d": N_("7 days"),
    "30d": N_("30 days"),
    "90d": N_("90 days"),
    "1y": N_("year"),
    "all": N_("all time"),
}
_MOST_CONVERSATIONS = 200
_CHART_LINES, _WEEK_LINES = 18, 22
"""The fewest lines of a screen that shows the chart, or the map of the week, above the table."""


class GroupList(ConversationList):
    """The table, with bars in the colours of the chart."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"list--{look}" for look in LOOKS}


class InsightPanes(SubScreen):
    """Shows answers; the subclass handles keys and asks."""

    def __init__(self, main: MainScreen) -> None:
        super().__init__(main)
        self.period, self.tab, self.unit = "30d", 0, NATURAL_UNITS["30d"]
        self.stack = STACKS[0]
        self.metrics = {TOOL: TOOL_METRICS[0], "hour": "messages"}
        """The chosen metric by grouping; an empty grouping stands for all others."""
        self._natural = METRICS[0]
        """The metric until one is chosen: the first with a value."""
        self.sums = AddingUp(self, self.unread)
        self.answer: GroupedSums | None = None
        self.behind: GroupRow | None = None
        """The row whose conversations are listed instead of the table."""

    def compose(self) -> ComposeResult:
        yield TextLine(id="header")
        yield ToggleLine(id="tabs")
        yield TextLine(id="sums")
        yield TextLine(id="costs")
        with Vertical(id="panes"):
            yield BarPlot(id="bars")
            yield WeekPlot(id="week")
            yield TextLine(id="headings")
            yield GroupList(id="groups")
        yield TextLine(id="status")
        yield KeyLine(id="keys")

    @property
    def groups(self) -> ConversationList:
        """The table, or the conversations behind a row."""
        return self.query_one("#groups", ConversationList)

    @property
    def by(self) -> str:
        """The grouping."""
        return TABS[self.tab][1] or self.unit

    @property
    def metric(self) -> str:
        """The metric of chart, bars and order."""
        return self.metrics.get(self.by) or self.metrics.get("") or self._natural

    @property
    def current_row(self) -> GroupRow | None:
        """The row under the cursor, or the row whose conversations are listed."""
        row = self.behind or self.groups.current
        return row if isinstance(row, GroupRow) else None

    def on_resize(self, event: Resize) -> None:
        super().on_resize(event)
        self.show_plot()
        self.call_after_refresh(self.show_headings)

    def show_head(self) -> None:
        """Show the title, the period and the tabs."""
        day = first_day(self.period, self.main.clock())
        notes = [_(_PERIODS[self.period])]
        if day is not None:
            since, month = _("since {day} {month} {year}"), _(MONTHS[day.month - 1])
            notes.append(since.format(day=day.day, month=month, year=day.year))
        if self.by == "hour":
            notes.append(
                _("{metric} by {unit}").format(metric=_(self.metric), unit=by_name(self.by))
            )
        if self.answer is not None and self.sums.is_outdated(self.answer.report.by):
            notes.append(_("changed meanwhile, F5 reads again"))
        self.show_title(_("insights"), " · ".join(notes))
        tabs = [(_(name), number == self.tab) for number, (name, *_by) in enumerate(TABS)]
        self.query_one("#tabs", ToggleLine).show(tabs)

    def take(self, answer: GroupedSums) -> None:
        """Show an answer."""
        if not self.is_whole:
            return
        self.answer = answer
        if answer.report.by != TOOL:
            total = answer.report.total
            self._natural = next((each for each in METRICS if value_of(total, each)), METRICS[0])
        self.show_rows()

    def unread(self, error: BrowseError) -> None:
        """Show why the store could not be read."""
        if self.is_whole and self.answer is None:
            self.groups.show(
                FixedRows([NoteRow(_("{error} F5 tries again.").format(error=error.sentence))])
            )

    def show_rows(self) -> None:
        """Show the answer; the cursor stays on its row."""
        answer = self.answer
        if answer is None:
            return
        self.behind = None
        total, by = answer.report.total, answer.report.by
        self.show_head()
        sums = tools_line(total) if by == TOOL else tokens_line(total, self.size.width - 2)
        without_session = self.sums.without_session if self.period == "all" else 0
        costs = _("No store records tokens or cost by tool.")
        if by != TOOL:
            costs = _("cost {sum}").format(sum=cost_line(total, without_session))
        self.line("sums").update(Content(f" {sums}"))
        self.line("costs").update(Content.styled(f" {costs}", "dim"))
        groups = list(answer.report.rows)
        if by == "conversation":
            groups.sort(key=lambda each: -value_of(each, self.metric))
            groups = groups[:_MOST_CONVERSATIONS]
        stacking, metric = self._stacking(answer), self.metric

        def parts(group: Group) -> list[Part]:
            if by == self.unit:
                return stacking.at(group.key)
            return [
                (
                    stacking.looks.get(group.key, OTHERS) if by in STACKS else OWN[0],
                    value_of(group, metric),
                )
            ]

        names = self._title if by == "conversation" else partial(label, by)
        self.groups.show(FixedRows(group_rows(groups, by, metric, parts, names)))
        self.show_headings()
        self.show_plot()
        if by == "conversation":
            details, catalog = self.main.details, self.sums.catalog(by)
            conversations = (catalog.conversation(each.key) for each in groups)
            self.read_names(details.nameless(conversations), "conversations")

    def names_read(self) -> None:
        super().names_read()
        if self.by == "conversation" and self.behind is None:
            self.show_rows()

    def show_headings(self) -> None:
        """Show the headings of the table."""
        width = self.groups.scrollable_content_region.width
        first = self.groups.source.row(0) if len(self.groups.source) else None
        text = first.table.headings(width) if isinstance(first, GroupRow) else ""
        self.line("headings").update(Content.styled(text, "dim"))

    def _title(self, root_id: str) -> str:
        conversation, _is_whole = self.main.details.complete(
            self.sums.catalog(self.by).conversation(root_id)
        )
        return formats.name(conversation)

    # Chart

    def column_keys(self, answer: GroupedSums) -> list[str]:
        """Return the keys of the columns, without gaps, up to today."""
        unit, now = self.unit, self.main.clock()
        dated = sorted(each.key for each in answer.by_time.rows if each.key[:1].isdecimal())
        today, day = key_of(now, unit), first_day(self.period, now)
        first = key_of(begin_of(day), unit) if day is not None else dated[0] if dated else today
        return all_buckets(first, max([today, *dated[-1:]]), unit)

    def show_plot(self) -> None:
        """Show the chart, or the map of the week, with the current row highlighted."""
        answer, row = self.answer, self.current_row
        bars, week = self.query_one("#bars", BarPlot), self.query_one("#week", WeekPlot)
        if answer is None:
            return
        current = row.group.key if row is not None else ""
        is_week = answer.report.by == "hour"
        bars.display = not is_week and self.size.height >= _CHART_LINES
        week.display = is_week and self.size.height >= _WEEK_LINES
        if is_week:
            values = {each.key: value_of(each, self.metric) for each in answer.report.rows}
            week.show(values, current, partial(printed, metric=self.metric))
            return
        keys, is_time = self.column_keys(answer), answer.report.by == self.unit
        chosen = keys.index(current) if is_time and current in keys else None
        name_of = self._title if answer.report.by == "conversation" else None
        series = self._stacking(answer, "" if is_time else current).series(keys, name_of)
        title = _("{metric} by {unit}").format(metric=_(self.metric), unit=by_name(self.unit))
        this_year = datetime.fromtimestamp(self.main.clock()).year
        labels = [tick(self.unit, key, this_year) for key in keys]
        bars.show(Chart(labels, series, chosen, partial(printed, metric=self.metric), title))

    def _stacking(self, answer: GroupedSums, picked: str = "") -> Stacking:
        alone = answer.report.by not in (self.unit, *STACKS)
        return Stacking(answer.by_time.rows, answer.parts, self.metric, picked, alone=alone)
