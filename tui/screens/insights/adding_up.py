"""Read the facts that insights are computed from, once, and sum them up for each question, on a
reading thread."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hermes_browse.store.amounts import DAY, begin_of
from hermes_browse.store.api import OpenStore
from hermes_browse.store.connection.connect import Fingerprint
from hermes_browse.store.insights.facts import Facts
from hermes_browse.store.insights.sums import (
    UNITS,
    Group,
    Report,
    all_buckets,
    first_day,
    key_of,
    make_report,
    split_report,
)
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.wording import _

from ...browser.main import MainScreen
from ...browser.search.search_jobs import TELL_SECONDS, Scan
from ..sub_screen import SubScreen

TOOL = "tool"
"""The grouping by tool, whose facts are read apart."""


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
    parts: Mapping[str, Mapping[str, Group]]
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
        unit = self.question.unit
        day = first_day(self.question.period, now)
        early = key_of(0.0, unit)
        late = key_of(now + 366 * DAY, unit)
        dated = sorted(each.key for each in self.by_time.rows if early <= each.key <= late)
        today = key_of(now, unit)
        first = key_of(begin_of(day), unit) if day is not None else min([today, *dated[:1]])
        return all_buckets(first, max([today, *dated[-1:]]), unit)


class SummingScreen(SubScreen):
    """A screen that reads the facts of a store, shows how far that is, and adds them up."""

    def __init__(self, main: MainScreen) -> None:
        super().__init__(main)
        self.facts: dict[bool, tuple[Fingerprint, Facts]] = {}
        """Those of tools (True) and the others, and what the store was when they were read."""
        self._scan: Scan | None = None

    def is_outdated(self, by: str) -> bool:
        """Whether the store may have changed since it was read. Takes microseconds."""
        known = self.facts.get(by == TOOL)
        return known is not None and known[0] != self.main.store.fingerprint()

    def stop_summing(self) -> bool:
        """Stop reading and adding up; return whether the store was being read."""
        scan = self._scan
        self._scan = None
        self.cancel("insights")
        self.cancel("scan")
        for _fingerprint, facts in self.facts.values():
            facts.interrupt()
        return scan is not None

    async def sums(self, question: Question) -> GroupedSums:
        """Compute sums, after reading the store if necessary."""
        of_tools = question.by == TOOL
        if of_tools not in self.facts:
            self.facts[of_tools] = await self._read_facts(of_tools=of_tools)
        facts = self.facts[of_tools][1]
        now = self.main.clock()
        return await self.call(lambda: _add_up(facts, question, now))

    async def _read_facts(self, *, of_tools: bool) -> tuple[Fingerprint, Facts]:
        """Read the facts; for tools every call and answer is read."""
        now = self.main.clock()
        scan = Scan()

        def read(store: OpenStore) -> tuple[Fingerprint, Facts]:
            # First: whatever is written later makes the sums outdated.
            fingerprint = store.source.fingerprint()
            catalog = store.catalog(now)
            return fingerprint, store.facts(catalog, of_tools=of_tools, tell=scan.tell)

        self._scan = scan
        self.start("scan", self._show_progress, scan)
        try:
            facts = await self.read(read)
        finally:
            if self._scan is scan:
                self._scan = None
                self.cancel("scan")
        self.say("")
        return facts

    async def _show_progress(self, scan: Scan) -> None:
        while True:
            await asyncio.sleep(TELL_SECONDS)
            if scan.share is not None:
                progress = scan.words(scan.share)
                self.say(_("reading the store, {progress}", progress=progress))


def _add_up(facts: Facts, question: Question, now: float) -> GroupedSums:
    by = question.by
    period = question.period
    unit = question.unit
    report = make_report(facts, by, period, now)
    by_time = report if by in UNITS else make_report(facts, unit, period, now)
    split = question.stack if by in UNITS else by
    is_split = split not in ("", "hour")
    parts = split_report(facts, unit, split, period, now) if is_split else {}
    without_session = facts.without_session if period == "all" else 0
    return GroupedSums(question, facts.catalog, without_session, report, by_time, parts)
