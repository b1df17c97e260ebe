"""Read the facts that insights are computed from, once, and sum them up for each question, on a
worker thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from hermes_browse.store.connection.connect import Fingerprint
from hermes_browse.store.connection.reader import Reader
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.insights.facts import Facts, read_facts, read_tools
from hermes_browse.store.insights.periods import UNITS
from hermes_browse.store.insights.sums import Group, Report, make_report, split_report
from hermes_browse.store.sessions.catalog import Catalog, read_catalog
from hermes_browse.store.wording import _

from ..screens.scanning import Scan, follow

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
        self._screen, self._context, self._unread = screen, screen.context, unread
        self._facts: Facts | None = None
        self._tools: Facts | None = None
        self._scan: Scan | None = None
        self._fingerprints: dict[bool, Fingerprint] = {}
        """Of the store when the facts (False) and those of tools (True) were read."""

    @property
    def strays(self) -> int:
        """Messages without a session, which are in no sum."""
        return self._facts.strays if self._facts is not None else 0

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
        self._context.plan_worker.cancel("insights")
        for facts in (self._facts, self._tools):
            if facts is not None:
                facts.interrupt()
        return scan is not None

    def ask(self, question: Question, done: Callable[[GroupedSums], None]) -> None:
        """Compute sums, after reading the store if necessary. The newest question wins."""
        by, period, unit, stack = question
        facts, now = self._tools if by == TOOL else self._facts, self._context.clock()
        if facts is None:
            self._read(question, done)
            return
        self.stop()

        def work(_reader: Reader) -> GroupedSums:
            report = make_report(facts, by, period, now)
            by_time = report if by in UNITS else make_report(facts, unit, period, now)
            split = stack if by in UNITS else "" if by == "hour" else by
            parts = split_report(facts, unit, split, period, now) if split else {}
            return GroupedSums(report, by_time, parts)

        self._context.plan_worker.submit("insights", work, done)

    def _read(self, question: Question, done: Callable[[GroupedSums], None]) -> None:
        """Read the facts, then ask again; for tools every call and answer is read."""
        self.stop()
        now, for_tools, store = self._context.clock(), question.by == TOOL, self._context.store
        scan = self._scan = Scan()

        def work(reader: Reader) -> tuple[Fingerprint, Facts]:
            fingerprint = (
                store.fingerprint()
            )  # first: whatever is written later makes the sums outdated
            catalog = read_catalog(reader, now)
            read = read_tools if for_tools else read_facts
            return fingerprint, read(reader, catalog, stopped=scan.stopped.is_set, tell=scan.tell)

        def read_done(result: tuple[Fingerprint, Facts]) -> None:
            self._fingerprints[for_tools], new_facts = result
            self._scan = None
            if for_tools:
                self._tools = new_facts
            else:
                self._facts = new_facts
            if self._screen.is_whole:
                self._screen.say("")
                self.ask(question, done)

        def failed(error: BrowseError) -> None:
            self._scan = None
            self._context.failed(error)
            self._unread(error)

        self._context.plan_worker.submit("insights", work, read_done, failed)
        follow(scan, self._screen, lambda: self._scan is scan and self._screen.is_whole, self._tell)

    def _tell(self, text: str, _first: bool) -> None:
        self._screen.say(_("reading the store, {progress}").format(progress=text))
