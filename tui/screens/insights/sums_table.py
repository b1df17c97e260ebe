"""The sums: read once, added up for each question on a reading thread, and the table of them, with a
bar in the rest of its width."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from rich.cells import cell_len

from hermes_browse.store.amounts import DAY, begin_of
from hermes_browse.store.api import OpenStore
from hermes_browse.store.connection.connect import Fingerprint
from hermes_browse.store.insights.facts import Facts
from hermes_browse.store.insights.sums import (
    PERIODS,
    UNITS,
    Group,
    Report,
    all_buckets,
    bucket_from,
    first_day,
    key_of,
    make_report,
    split_report,
)
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, ngettext

from ...browser.search.run import TELL_SECONDS, Scan
from ...text import formats
from ...text.styled import Line, line_width
from ...text.styled import bar as draw_bar
from ...widgets.list_rows import Column, Columns, NoteRow
from ..sub_screen import SubScreen
from .words import by_name, cost, cost_line, label, value_of

OWN = ("series-1", "series-2", "series-3", "series-4")
"""Looks of the largest parts."""
OTHERS, PICKED = "others", "picked"
"""Looks of all others together, and of a part that is not one of the largest but is under the
cursor."""
STACKS = {
    "model": N_("Columns are stacked by model."),
    "source": N_("Columns are stacked by source."),
    "": N_("Columns are not stacked."),
}
"""By what columns of time can be stacked, empty for not at all; and a sentence."""
Parts = Mapping[str, Mapping[str, Group]]
"""By key of a part, the sums by key of a column."""


TOOL = "tool"


class Question(NamedTuple):
    """Which sums are requested."""

    grouping: str
    """A grouping of `sums.make_report`; empty for that by `unit`."""
    period: str
    unit: str
    """One column of the chart: day, week or month."""
    stack: str
    """By what columns are stacked if the grouping is by time; empty for not at all."""

    @property
    def by(self) -> str:
        return self.grouping or self.unit


class GroupedSums(NamedTuple):
    """Sums by group and by time."""

    question: Question
    catalog: Catalog
    """The conversations behind them."""
    without_session: int
    """Messages without a session, which are in no sum; 0 if the period leaves them out."""
    report: Report
    by_time: Report
    """All groups together."""
    parts: Parts
    """By group, or by what columns are stacked by: the sums by time."""

    @property
    def by(self) -> str:
        return self.report.by

    @property
    def is_by_time(self) -> bool:
        return self.by in UNITS

    def columns(self, now: float) -> Sequence[str]:
        """Return the keys of the columns, without gaps, up to today; of clocks that were wrong by
        more than a year only those of the table."""
        unit, day = self.question.unit, first_day(self.question.period, now)
        early, late = key_of(0.0, unit), key_of(now + 366 * DAY, unit)
        dated = [each.key for each in self.by_time.rows if early <= each.key <= late]
        dated.append(key_of(now, unit))
        first = key_of(begin_of(day), unit) if day is not None else min(dated)
        return all_buckets(first, max(dated), unit)


class AddingUp:
    """The facts read from a store, and sums of them; `screen` shows the progress of reading."""

    def __init__(self, screen: SubScreen) -> None:
        self._screen, self._main = screen, screen.main
        self._facts: dict[bool, tuple[Fingerprint, Facts]] = {}
        """Those of tools (True) and the others, and what the store was when they were read."""
        self._scan: Scan | None = None

    def is_outdated(self, by: str) -> bool:
        """Whether the store may have changed since it was read. Takes microseconds."""
        known = self._facts.get(by == TOOL)
        return known is not None and known[0] != self._main.store.fingerprint()

    def forget(self) -> None:
        """Read the store again for the next question."""
        self._facts.clear()

    def stop(self) -> bool:
        """Stop reading and adding up; return whether the store was being read."""
        scan, self._scan = self._scan, None
        self._screen.cancel("insights")
        self._screen.cancel("scan")
        for _fingerprint, facts in self._facts.values():
            facts.interrupt()
        return scan is not None

    async def answer(self, question: Question) -> GroupedSums:
        """Compute sums, after reading the store if necessary."""
        of_tools = question.by == TOOL
        if of_tools not in self._facts:
            self._facts[of_tools] = await self._read(of_tools=of_tools)
        facts, now = self._facts[of_tools][1], self._main.clock()
        return await self._screen.call(lambda: _add_up(facts, question, now))

    async def _read(self, *, of_tools: bool) -> tuple[Fingerprint, Facts]:
        """Read the facts; for tools every call and answer is read."""
        now, scan = self._main.clock(), Scan()

        def read(store: OpenStore) -> tuple[Fingerprint, Facts]:
            # First: whatever is written later makes the sums outdated.
            fingerprint = store.store.fingerprint()
            catalog = store.catalog(now)
            return fingerprint, store.facts(catalog, of_tools=of_tools, tell=scan.tell)

        self._scan = scan
        self._screen.start("scan", self._show_progress, scan)
        try:
            facts = await self._screen.read(read)
        finally:
            if self._scan is scan:
                self._scan = None
                self._screen.cancel("scan")
        self._screen.say("")
        return facts

    async def _show_progress(self, scan: Scan) -> None:
        while True:
            await asyncio.sleep(TELL_SECONDS)
            if scan.share is not None:
                progress = " · ".join(scan.words(scan.share))
                self._screen.say(_("reading the store, {progress}", progress=progress))


def _add_up(facts: Facts, question: Question, now: float) -> GroupedSums:
    by, period, unit = question.by, question.period, question.unit
    report = make_report(facts, by, period, now)
    by_time = report if by in UNITS else make_report(facts, unit, period, now)
    split = question.stack if by in UNITS else by
    is_split = split not in ("", "hour")
    parts = split_report(facts, unit, split, period, now) if is_split else {}
    without_session = facts.without_session if period == "all" else 0
    return GroupedSums(question, facts.catalog, without_session, report, by_time, parts)


def looks_of(parts: Parts, metric: str, picked: str = "") -> dict[str, str]:
    """Return the looks of the largest parts by their keys, the picked one first; all other parts
    have `OTHERS`."""
    weights = {
        key: sum(value_of(group, metric) for group in groups.values())
        for key, groups in parts.items()
    }
    ranked = sorted(weights, key=lambda key: (-weights[key], key))
    largest = [key for key in ranked if weights[key] > 0][: len(OWN)]
    looks = dict(zip(largest, OWN, strict=False))
    if picked in weights:
        looks = {picked: looks.get(picked, PICKED)} | looks
    return looks


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
        return _TOOL_COLUMNS if self.by == "tool" else _COLUMNS

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
    by, groups = answer.by, list(answer.report.rows)
    if answer.is_by_time:
        groups.sort(
            key=lambda group: (bucket_from(group.key, by) is not None, group.key), reverse=True
        )
    else:
        groups.sort(key=lambda group: (-value_of(group, metric), -group.messages, group.key))
    is_named = by == "conversation"
    room = _MOST_CONVERSATIONS if is_named else len(groups)
    left_out, groups = len(groups) - room, groups[:room]
    names = (name_of(group.key) if is_named else label(by, group.key) for group in groups)
    labels = [one_line(name, 300) for name in names]
    most = max((value_of(group, metric) for group in groups), default=0.0)
    table = TableLayout(by, metric, most, max(map(cell_len, labels), default=0))
    looks = looks_of(answer.parts, metric)
    rows = [
        GroupRow(group, table, looks.get(group.key, OTHERS) if by in STACKS else OWN[0], name)
        for group, name in zip(groups, labels, strict=True)
    ]
    if not rows:
        further = answer.question.period != PERIODS[-1]
        nothing = _("Nothing in this period: ] looks further back.")
        return [NoteRow(nothing if further else _("There is nothing to add up."))]
    if left_out > 0:
        words = ngettext(
            "1 more conversation comes after these",
            "{count:,} more conversations come after these",
            left_out,
        )
        return [*rows, NoteRow(words)]
    return list(rows)


def newest_first(catalog: Catalog, group: Group) -> list[str]:
    """Return the roots of the conversations of a group, by their last activity."""
    conversations = map(catalog.conversation, group.conversations)
    ordered = sorted(conversations, key=lambda each: (each.last_active or 0.0, each.id))
    return [conversation.root_id for conversation in reversed(ordered)]
