"""What insights look like: title, sums, bars or a map of the week, and the lines they stand for."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.events import Resize

from hermes_browse.store.errors import BrowseError
from hermes_browse.store.insights.periods import all_buckets, begin_of, first_day, key_of, natural_unit
from hermes_browse.store.insights.sums import Group
from hermes_browse.store.messages.preview import with_details
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.wording import N_, _

from .. import formats
from ..list.conversation_list import ConversationList
from ..list.rows import FixedRows, NoteRow
from ..screens.controllers import Controllers
from ..screens.sub_screen import SubScreen
from ..shared import header
from ..shared.calendar import MONTHS
from ..shared.columns import Part
from ..shared.keys import KeyLine
from ..shared.lines import TextLine
from ..shared.toggles import ToggleLine
from .adding_up import TOOL, AddingUp, Answer
from .plot import BarPlot, Course, WeekPlot
from .rows import GroupRow, group_rows
from .series import LOOKS, OTHERS, OWN, STACKS, Stacking
from .words import METRICS, TOOL_METRICS, cost_line, metric_name, printed, tick, tokens_line, tools_line, value_of

TABS = (
    (N_("time"), ""),
    (N_("model"), "model"),
    (N_("source"), "source"),
    (N_("tool"), TOOL),
    (N_("directory"), "project"),
    (N_("hours"), "hour"),
    (N_("biggest"), "conversation"),
)
"""What can be chosen, and what sums are then grouped by; empty where that is the unit of the bars."""

_PERIODS = {
    "7d": N_("7 days"),
    "30d": N_("30 days"),
    "90d": N_("90 days"),
    "1y": N_("year"),
    "all": N_("all time"),
}
_UNITS = {"day": N_("day"), "week": N_("week"), "month": N_("month")}
_MOST_CONVERSATIONS = 200


class GroupList(ConversationList):
    """The lines, with bars in the colours of the columns."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"list--{look}" for look in LOOKS}  # not shown


class InsightPanes(SubScreen):
    """Shows sums; what is asked for is the business of what inherits from it."""

    def __init__(self, main: Controllers) -> None:
        super().__init__(main)
        self.period, self.tab, self.unit = "30d", 0, natural_unit("30d")
        self.stack = STACKS[0]
        self.tool_metric, self.hour_metric, self.plain_metric = TOOL_METRICS[0], "messages", ""
        self._natural = METRICS[0]
        """The measure as long as none has been asked for: the first of which there is any."""
        self.sums = AddingUp(main, self, self.unread)
        self.answer: Answer | None = None
        self.behind: GroupRow | None = None
        """The line whose conversations are listed in place of the lines."""

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
            yield GroupList(id="groups")
        yield TextLine(id="status")
        yield KeyLine(id="keys")

    @property
    def groups(self) -> ConversationList:
        """The lines, or the conversations behind one."""
        return self.query_one("#groups", ConversationList)

    @property
    def by(self) -> str:
        """What sums are grouped by."""
        return TABS[self.tab][1] or self.unit

    @property
    def metric(self) -> str:
        """What bars and order go by."""
        own = {TOOL: self.tool_metric, "hour": self.hour_metric}
        return own.get(self.by) or self.plain_metric or self._natural

    @property
    def current(self) -> Group | None:
        """The sums of the line under the cursor, or of the line whose conversations are listed."""
        row = self.behind or self.groups.current
        return row.group if isinstance(row, GroupRow) else None

    def on_resize(self, event: Resize) -> None:
        """Columns come and go."""
        super().on_resize(event)
        self.call_after_refresh(self.show_headings)

    def show_title(self) -> None:
        """What is shown, over which time."""
        day = first_day(self.period, self.context.clock())
        told = [_(_PERIODS[self.period])]
        if day is not None:
            since, month = _("since {day} {month} {year}"), _(MONTHS[day.month - 1])
            told.append(since.format(day=day.day, month=month, year=day.year))
        if self.by == "hour":
            told.append(_("{metric} by {unit}").format(metric=metric_name(self.metric), unit=_("hour of the week")))
        if self.answer is not None and self.sums.is_outdated(self.answer.report.by):
            told.append(_("changed meanwhile, F5 reads again"))
        name, said = header.store_name(self.context.location), " · ".join(told)
        title = Content.assemble((" " + _("insights") + "  ", "bold"), (name, "$accent"), (f"  {said}", "dim"))
        self.line("header").update(title)
        tabs = [(_(name), number == self.tab) for number, (name, *_by) in enumerate(TABS)]
        self.query_one("#tabs", ToggleLine).show(tabs)

    def take(self, answer: Answer) -> None:
        """Show other sums."""
        if not self.is_whole:
            return
        self.answer = answer
        if answer.report.by != TOOL:
            total = answer.report.total
            self._natural = next((each for each in METRICS if value_of(total, each)), METRICS[0])
        self.show_rows()

    def unread(self, error: BrowseError) -> None:
        """The store could not be read."""
        if self.is_whole and self.answer is None:
            self.groups.show(FixedRows([NoteRow(_("{error} F5 tries again.").format(error=error.sentence))]))

    def show_rows(self) -> None:
        """Lines for the sums there are; the cursor stays on its line."""
        answer = self.answer
        if answer is None:
            return
        self.behind = None
        total, by = answer.report.total, answer.report.by
        self.show_title()
        sums = tools_line(total) if by == TOOL else tokens_line(total, self.size.width - 2)
        strays = self.sums.strays if self.period == "all" else 0
        costs = _("No store records tokens or cost by tool.")
        if by != TOOL:
            costs = _("cost {sum}").format(sum=cost_line(total, strays))
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
            return [(stacking.looks.get(group.key, OTHERS) if by in STACKS else OWN[0], value_of(group, metric))]

        names = self._title if by == "conversation" else None
        self.groups.show(FixedRows(group_rows(groups, by, metric, parts, names)))
        self.show_headings()
        self.show_plot()
        if by == "conversation":
            self._complete([each.key for each in groups])

    def show_headings(self) -> None:
        """What the columns are."""
        width = self.groups.scrollable_content_region.width
        first = self.groups.source.row(0) if len(self.groups.source) else None
        text = first.table.headings(width) if isinstance(first, GroupRow) else ""
        self.line("headings").update(Content.styled(text, "dim"))

    def _title(self, root_id: str) -> str:
        conversation, _is_whole = self.context.details.complete(self.sums.catalog(self.by).conversation(root_id))
        return formats.name(conversation)

    def _complete(self, roots: list[str]) -> None:
        """Read how conversations without a title begin."""
        catalog = self.sums.catalog(self.by)
        found = [self.context.details.complete(catalog.conversation(each)) for each in roots]
        wanted = [each for each, is_complete in found if not is_complete and not each.title]
        if not wanted:
            return

        def done(named: list[Conversation]) -> None:
            self.context.details.add(named)
            if self.is_whole and self.by == "conversation" and self.behind is None:
                self.show_rows()

        self.context.page_worker.submit(
            "insight names",  # not shown
            lambda reader: with_details(reader, wanted),
            done,
            self.context.failed,
        )

    # Bars

    def bars(self, answer: Answer) -> list[str]:
        """Keys of the bars, without a gap, to today."""
        unit, now = self.unit, self.context.clock()
        dated = sorted(each.key for each in answer.course.rows if each.key[:1].isdecimal())
        today, day = key_of(now, unit), first_day(self.period, now)
        first = key_of(begin_of(day), unit) if day is not None else dated[0] if dated else today
        return all_buckets(first, max([today, *dated[-1:]]), unit)

    def show_plot(self) -> None:
        """The bars, or the map of the week, with what is chosen lit."""
        answer, current = self.answer, self.current
        bars, week = self.query_one("#bars", BarPlot), self.query_one("#week", WeekPlot)
        if answer is None:
            return
        is_week = answer.report.by == "hour"
        bars.display, week.display = not is_week, is_week
        if is_week:
            values = {each.key: value_of(each, self.metric) for each in answer.report.rows}
            form = partial(printed, metric=self.metric)
            week.show(values, current.key if current is not None else "", form)
            return
        keys, is_time = self.bars(answer), answer.report.by == self.unit
        chosen = keys.index(current.key) if is_time and current is not None and current.key in keys else None
        series = self._stacking(answer, "" if is_time or current is None else current.key).series(keys)
        title = _("{metric} by {unit}").format(metric=metric_name(self.metric), unit=_(_UNITS[self.unit]))
        this_year = datetime.fromtimestamp(self.context.clock()).year
        labels = [tick(self.unit, key, this_year) for key in keys]
        bars.show(Course(labels, series, chosen, partial(printed, metric=self.metric), title))

    def _stacking(self, answer: Answer, picked: str = "") -> Stacking:
        """What columns are made of; the picked line is the lowest part."""
        alone = answer.report.by not in (self.unit, *STACKS)
        return Stacking(answer.course.rows, answer.parts, self.metric, picked, alone=alone)
