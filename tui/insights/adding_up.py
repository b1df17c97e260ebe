"""Read the facts that insights are computed from, once, and sum them up for each question, on a
reading thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from hermes_browse.store.api import OpenStore
from hermes_browse.store.connection.connect import Fingerprint
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.insights.facts import Facts
from hermes_browse.store.insights.periods import UNITS
from hermes_browse.store.insights.sums import Group, Report, make_report, split_report
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.wording import _

from ..search.scan import TELL_SECONDS, Scan

if TYPE_CHECKING:
    from ..screens.sub_screen import SubScreen

TOOL = "tool"


class Question(NamedTuple):
    """Which sums are requested."""

    by: str
    """The grouping: `tool`, or a grouping of `sums.make_report`."""
    period: str
    unit: str
    """One column of the chart: day, week or month."""
    stack: str
    """By what columns are stacked if the grouping is by time; empty for not at all."""


class GroupedSums(NamedTuple):
    """Sums by group and by time."""

    report: Report
    by_time: Report
    """All groups together."""
    parts: Mapping[str, Mapping[str, Group]]
    """By group, or by what columns are stacked by: the sums by time."""


class AddingUp:
    """The facts read from a store, and sums of them.

    The screen shows the progress of reading; `unread` takes the error if the store cannot be read.
    """

    def __init__(self, screen: SubScreen, unread: Callable[[BrowseError], None]) -> None:
        self._screen, self._context, self._unread = screen, screen.main, unread
        self._facts: Facts | None = None
        self._tools: Facts | None = None
        self._scan: Scan | None = None
        self._fingerprints: dict[bool, Fingerprint] = {}
        """Of the store when the facts (False) and those of tools (True) were read."""

    @property
    def without_session(self) -> int:
        """Messages without a session, which are in no sum."""
        return self._facts.without_session if self._facts is not None else 0

    def catalog(self, by: str) -> Catalog:
        """Return the conversations behind the sums of an answer."""
        facts = self._tools if by == TOOL else self._facts
        assert facts is not None  # there is an answer
        return facts.catalog

    def is_outdated(self, by: str) -> bool:
        """Whether the store may have changed since it was read. Takes microseconds."""
        fingerprint = self._fingerprints.get(by == TOOL)
        return fingerprint is not None and fingerprint != self._context.store.fingerprint()

    def forget(self) -> None:
        """Read the store again for the next question."""
        self._facts = self._tools = None
        self._fingerprints.clear()

    def stop(self) -> bool:
        """Stop reading and adding up; return whether the store was being read."""
        scan, self._scan = self._scan, None
        if scan is not None:
            scan.stopped.set()
        self._screen.cancel("insights")
        self._screen.cancel("scan")
        for facts in (self._facts, self._tools):
            if facts is not None:
                facts.interrupt()
        return scan is not None

    def ask(self, question: Question, done: Callable[[GroupedSums], None]) -> None:
        """Compute sums, after reading the store if necessary. The newest question wins."""
        self.stop()
        self._screen.start("insights", self._answer, question, done)

    async def _answer(self, question: Question, done: Callable[[GroupedSums], None]) -> None:
        facts = self._tools if question.by == TOOL else self._facts
        if facts is None:
            facts = await self._read(for_tools=question.by == TOOL)
        now = self._context.clock()
        done(await self._screen.call(lambda: _add_up(facts, question, now)))

    async def _read(self, *, for_tools: bool) -> Facts:
        """Read the facts; for tools every call and answer is read."""
        now, scan = self._context.clock(), Scan()

        def read(store: OpenStore) -> tuple[Fingerprint, Facts]:
            # First: whatever is written later makes the sums outdated.
            fingerprint = store.store.fingerprint()
            catalog = store.catalog(now)
            facts = store.facts(
                catalog, of_tools=for_tools, stopped=scan.stopped.is_set, tell=scan.tell
            )
            return fingerprint, facts

        self._scan = scan
        self._screen.start("scan", self._show_progress, scan)
        try:
            self._fingerprints[for_tools], facts = await self._screen.read(read)
        except BrowseError as error:
            self._unread(error)
            raise
        finally:
            if self._scan is scan:
                self._scan = None
                self._screen.cancel("scan")
        if for_tools:
            self._tools = facts
        else:
            self._facts = facts
        self._screen.say("")
        return facts

    async def _show_progress(self, scan: Scan) -> None:
        while True:
            await asyncio.sleep(TELL_SECONDS)
            if scan.share is not None:
                progress = " · ".join(scan.words(scan.share))
                self._screen.say(_("reading the store, {progress}").format(progress=progress))


def _add_up(facts: Facts, question: Question, now: float) -> GroupedSums:
    by, period, unit, stack = question
    report = make_report(facts, by, period, now)
    by_time = report if by in UNITS else make_report(facts, unit, period, now)
    split = stack if by in UNITS else "" if by == "hour" else by
    parts = split_report(facts, unit, split, period, now) if split else {}
    return GroupedSums(report, by_time, parts)
