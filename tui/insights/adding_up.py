"""Reads what insights are made of, once, and adds it up for each question, off the screen's thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Event
from typing import TYPE_CHECKING, NamedTuple

from hermes_browse.store.connection.connect import Fingerprint, Reader
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.insights.facts import Facts, ToolFacts, read_facts, read_tools
from hermes_browse.store.insights.periods import UNITS
from hermes_browse.store.insights.sums import Group, Report, make_report, split_report, split_tools, tool_report
from hermes_browse.store.sessions.catalog import Catalog, read_catalog
from hermes_browse.store.wording import _

from ..screens.scanning import Scan, follow
from ..shared import header

if TYPE_CHECKING:
    from ..screens.sub_screen import SubScreen

TOOL = "tool"


class Question(NamedTuple):
    """What is asked."""

    by: str
    """What sums are grouped by: `tool`, or one of `sums.GROUPINGS`."""
    period: str
    unit: str
    """What the columns stand for."""
    stack: str
    """What columns are stacked by where lines are stretches of time; empty for nothing."""


class Answer(NamedTuple):
    """Sums, and how they came about over time."""

    question: Question
    report: Report
    course: Report
    """All of it by time."""
    parts: Mapping[str, Mapping[str, Group]]
    """What it consists of, by time in turn: by the keys of the lines, or by what columns of time are stacked by."""


class AddingUp:
    """What has been read of a store; sums of it.

    Args:
        main: Whose store and worker.
        screen: Is told how far a reading is.
        unread: Takes why the store could not be read.
    """

    def __init__(self, screen: SubScreen, unread: Callable[[BrowseError], None]) -> None:
        self._screen, self._context, self._unread = screen, screen.context, unread
        self._facts: Facts | None = None
        self._tools: ToolFacts | None = None
        self._scan: Scan | None = None
        self._wanted = Event()
        """Set when sums are not wanted any more: Python cannot be interrupted as SQLite can."""
        self._marks: dict[bool, Fingerprint] = {}
        """Of the store before facts were read, and before those of tools were."""

    @property
    def strays(self) -> int:
        """Messages of no session, which are in no sum."""
        return self._facts.strays if self._facts is not None else 0

    def catalog(self, by: str) -> Catalog:
        """The conversations the sums were made of."""
        facts = self._tools if by == TOOL else self._facts
        assert facts is not None  # there are sums
        return facts.catalog

    def is_outdated(self, by: str) -> bool:
        """Whether the store may have changed since the sums were read. Costs microseconds."""
        mark = self._marks.get(by == TOOL)
        return mark is not None and mark != self._context.store.fingerprint()

    def forget(self) -> None:
        """Read the store again for the next question."""
        self._facts = self._tools = None
        self._marks.clear()

    def stop(self) -> bool:
        """Give up a reading under way.

        Returns:
            Whether there was one.
        """
        scan, self._scan = self._scan, None
        if scan is not None:
            scan.stopped.set()
        self._wanted.set()
        self._context.plan_worker.cancel("insights")
        return scan is not None

    def ask(self, question: Question, done: Callable[[Answer], None]) -> None:
        """Add up; reads the store first where that has not been done. The newest question wins.

        Args:
            question: What is asked.
            done: Takes the sums.
        """
        facts, tools, now = self._facts, self._tools, self._context.clock()
        by, period, unit, _stack = question
        if (tools if by == TOOL else facts) is None:
            self._read(question, done)
            return
        self.stop()
        self._wanted = wanted = Event()
        stopped = wanted.is_set

        def work(reader: Reader) -> Answer:
            if by == TOOL:
                assert tools is not None
                course, parts = tool_report(tools, period, now, unit), split_tools(tools, unit, period, now)
                return Answer(question, tool_report(tools, period, now), course, parts)
            assert facts is not None
            report = make_report(facts, by, period, now, stopped=stopped)
            course = report if by in UNITS else make_report(facts, unit, period, now, stopped=stopped)
            split = question.stack if by in UNITS else "" if by == "hour" else by
            parts = split_report(facts, unit, split, period, now, stopped=stopped) if split else {}
            return Answer(question, report, course, parts)

        self._context.plan_worker.submit("insights", work, done, self._context.failed)

    def _read(self, question: Question, done: Callable[[Answer], None]) -> None:
        """Read what is to be added up; for the tools every call and answer."""
        self.stop()
        now, for_tools, store = self._context.clock(), question.by == TOOL, self._context.store
        scan = self._scan = Scan()

        def work(reader: Reader) -> tuple[Fingerprint, Facts | ToolFacts]:
            mark = store.fingerprint()  # before anything is read, the catalog too: what comes later is news
            catalog = read_catalog(reader, now)
            read = read_tools if for_tools else read_facts
            return mark, read(reader, catalog, stopped=scan.stopped.is_set, tell=scan.tell)

        def taken(answer: tuple[Fingerprint, Facts | ToolFacts]) -> None:
            mark, found = answer
            self._scan, self._marks[for_tools] = None, mark
            if isinstance(found, Facts):
                self._facts = found
            else:
                self._tools = found
            if self._screen.is_whole:
                self._screen.tell(header.status("", ""))
                self.ask(question, done)

        def failed(error: BrowseError) -> None:
            self._scan = None
            self._context.failed(error)
            self._unread(error)

        self._context.plan_worker.submit("insights", work, taken, failed)
        follow(scan, self._screen, lambda: self._scan is scan and self._screen.is_whole, self._tell)

    def _tell(self, text: str, *, first: bool) -> None:
        self._screen.tell(header.status(_("reading the store, {progress}").format(progress=text), ""))
