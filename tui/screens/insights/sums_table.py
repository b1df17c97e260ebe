"""The table of sums: columns, and a bar in the rest of the width."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from rich.cells import cell_len

from hermes_browse.store.insights.sums import PERIODS, UNITS, Group, bucket_from
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, ngettext

from ...text import formats
from ...text.styled import Line, line_width
from ...text.styled import bar as draw_bar
from ...widgets.list_rows import Column, Columns, NoteRow
from .adding_up import TOOL, GroupedSums
from .chart import OTHERS, OWN, STACKS, looks_of
from .words import by_name, cost, cost_line, label, value_of

_MOST_CONVERSATIONS = 200
_LEAST_BAR = 8
"""Cells; with less room there is no bar."""


def _number(value: float) -> str:
    return formats.number(value) if value else ""


_CONVERSATIONS: Column[Group] = Column(
    N_("convs"), 7, lambda group, now: _number(len(group.conversations))
)
_COLUMNS: Columns[Group] = Columns(
    _CONVERSATIONS,
    Column(N_("begun"), 10, lambda group, now: _number(group.sessions), 112, order="sessions"),
    Column(N_("msgs"), 7, lambda group, now: _number(group.messages), order="messages"),
    Column(N_("input"), 7, lambda group, now: _number(group.tokens.input), 96),
    Column(
        N_("cached"),
        8,
        lambda group, now: _number(group.tokens.cache_read + group.tokens.cache_write),
        96,
    ),
    Column(N_("out"), 7, lambda group, now: _number(group.tokens.output), 96),
    Column(N_("reasoning"), 11, lambda group, now: _number(group.tokens.reasoning), 127),
    Column(N_("tokens"), 8, lambda group, now: _number(group.tokens.total), 48, order="tokens"),
    Column(N_("cost"), 10, lambda group, now: cost(group), order="cost"),
)
_TOOL_COLUMNS: Columns[Group] = Columns(
    _CONVERSATIONS,
    Column(N_("sessions"), 10, lambda group, now: _number(group.sessions), 72),
    Column(N_("calls"), 8, lambda group, now: _number(group.calls), order="calls"),
    Column(N_("answers"), 9, lambda group, now: _number(group.messages)),
    Column(N_("failed"), 8, lambda group, now: _number(group.failed), order="failed"),
    Column(
        N_("rate"),
        8,
        lambda group, now: f"{group.failure_rate:.1%}" if group.failure_rate else "",
    ),
)


class TableLayout(NamedTuple):
    """The properties that all rows share."""

    by: str
    """The grouping."""
    metric: str
    """The metric of bars and order."""
    most: float
    """The largest value, for the length of the bars."""
    longest: int
    """Cells of the longest name."""

    @property
    def columns(self) -> Columns[Group]:
        return _TOOL_COLUMNS if self.by == TOOL else _COLUMNS

    def rooms(self, width: int) -> tuple[int, int]:
        """Return the cells of the name and of the bar, 0 for no bar, in a row of `width` cells."""
        columns = self.columns.width(width, self.metric)
        left = max(width - columns - 1, 0)  # one stays free at the end
        name = min(max(self.longest, cell_len(by_name(self.by))) + 2, left)
        bar = max(left - name - 2, min(left // 3, 40))
        if bar < _LEAST_BAR:
            return left, 0
        return left - bar - 2, bar

    def headings(self, width: int) -> str:
        """Return the headings in exactly `width` cells."""
        name, bar = self.rooms(width)
        order = self.metric if self.by not in UNITS else None
        text = formats.fit(f" {by_name(self.by)}", name)
        text += self.columns.head(width, order, always=self.metric)
        if bar:
            text += "  " + formats.fit(_(self.metric), bar)
        return formats.fit(text, width)


class GroupRow(NamedTuple):
    """A row of the table."""

    group: Group
    table: TableLayout
    look: str
    """That of its bar."""
    name: str
    """Printable."""

    @property
    def by(self) -> str:
        return self.table.by

    @property
    def enter(self) -> str:
        return N_("read") if self.by == "conversation" else N_("open")

    @property
    def key(self) -> str:
        return f"g{self.by} {self.group.key}"

    def spans(self, width: int, now: float) -> Line:
        name, bar = self.table.rooms(width)
        columns = self.table.columns.text(self.group, width, now, always=self.table.metric)
        line = [
            (formats.fit(f" {self.name}", name), "title"),
            (formats.clip(columns, width - name), "plain"),
        ]
        if bar:
            value = value_of(self.group, self.table.metric)
            share = max(value / self.table.most, 1 / (8 * bar)) if value else 0.0
            line += [("  ", "plain"), (draw_bar(share, bar), self.look)]
        return [*line, (" " * (width - line_width(line)), "plain")]

    @property
    def about(self) -> str:
        """Its name and its cost, if it has any."""
        is_any = self.group.cost_usd or self.group.unknown
        costs = cost_line(self.group, 0) if is_any else ""
        return formats.joined(one_line(self.name, 120), costs)


def group_rows(
    answer: GroupedSums, metric: str, name_of: Callable[[str], str]
) -> list[GroupRow | NoteRow]:
    """Make sorted rows: times newest first, other groups by value of the metric, as are the bars.

    `name_of` returns the name of a conversation.
    """
    by = answer.by
    groups = list(answer.report.rows)
    if not groups:
        if answer.question.period == PERIODS[-1]:
            return [NoteRow(_("There is nothing to add up."))]
        return [NoteRow(_("Nothing in this period: ] looks further back."))]
    if answer.is_by_time:
        groups.sort(
            key=lambda group: (bucket_from(group.key, by) is not None, group.key), reverse=True
        )
    else:
        groups.sort(key=lambda group: (-value_of(group, metric), -group.messages, group.key))
    is_named = by == "conversation"
    shown = groups[:_MOST_CONVERSATIONS] if is_named else groups
    names = (name_of(group.key) if is_named else label(by, group.key) for group in shown)
    labels = [one_line(name, 300) for name in names]
    most = max(value_of(group, metric) for group in shown)
    table = TableLayout(by, metric, most, max(map(cell_len, labels)))
    looks = looks_of(answer.parts, metric) if by in STACKS else {}
    other = OTHERS if by in STACKS else OWN[0]
    rows: list[GroupRow | NoteRow] = [
        GroupRow(group, table, looks.get(group.key, other), name)
        for group, name in zip(shown, labels, strict=True)
    ]
    if left_out := len(groups) - len(shown):
        words = ngettext(
            "1 more conversation comes after these",
            "{count:,} more conversations come after these",
            left_out,
        )
        rows.append(NoteRow(words))
    return rows
