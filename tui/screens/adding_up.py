"""Reads what insights are made of, once, and adds it up for each question, off the screen's thread."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from typing import TYPE_CHECKING, NamedTuple

from hermes_browse.store.connection.connect import Reader
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.insights.facts import Facts, ToolFacts, read_facts, read_tools
from hermes_browse.store.insights.periods import UNITS
from hermes_browse.store.insights.sums import Only, Report, make_report, tool_report
from hermes_browse.store.sessions.catalog import Catalog, read_catalog
from hermes_browse.store.wording import _

from ..shared import header
from .controllers import Controllers
from .scanning import Scan, follow

if TYPE_CHECKING:
    from .sub_screen import SubScreen

TOOL = "tool"


class Question(NamedTuple):
    """What is asked."""

    by: str
    """What sums are grouped by: `tool`, or one of `sums.GROUPINGS`."""
    period: str
    unit: str
    """What the bars stand for."""


class Answer(NamedTuple):
    """Sums, and how they came about over time."""

    question: Question
    report: Report
    course: Report
    """All of it by time."""


class AddingUp:
    """What has been read of a store; sums of it.

    Args:
        main: Whose store and worker.
        screen: Is told how far a reading is.
        unread: Takes why the store could not be read.
    """

    def __init__(self, main: Controllers, screen: SubScreen, unread: Callable[[BrowseError], None]) -> None:
        self._main, self._screen, self._unread = main, screen, unread
        self._facts: Facts | None = None
        self._tools: ToolFacts | None = None
        self._scan: Scan | None = None
        self._wanted = [Event(), Event()]
        """Set when sums, or those of one line, are not wanted any more: Python cannot be interrupted as SQLite can."""

    @property
    def strays(self) -> int:
        """Messages of no session, which are in no sum."""
        return self._facts.strays if self._facts is not None else 0

    def catalog(self, by: str) -> Catalog:
        """The conversations the sums were made of."""
        facts = self._tools if by == TOOL else self._facts
        assert facts is not None  # there are sums
        return facts.catalog

    def _newest(self, place: int) -> Callable[[], bool]:
        """Another question takes the place of the one before; whether it has been replaced itself."""
        self._wanted[place].set()
        self._wanted[place] = mine = Event()
        return mine.is_set

    def forget(self) -> None:
        """Read the store again for the next question."""
        self._facts = self._tools = None

    def stop(self) -> bool:
        """Give up a reading under way.

        Returns:
            Whether there was one.
        """
        scan, self._scan = self._scan, None
        if scan is not None:
            scan.stopped.set()
        for each in self._wanted:
            each.set()
        self._main.context.plan_worker.cancel("insights")
        return scan is not None

    def ask(self, question: Question, done: Callable[[Answer], None]) -> None:
        """Add up; reads the store first where that has not been done. The newest question wins.

        Args:
            question: What is asked.
            done: Takes the sums.
        """
        facts, tools, now = self._facts, self._tools, self._main.context.clock()
        by, period, unit = question
        if (tools if by == TOOL else facts) is None:
            self._read(question, done)
            return
        self.stop()
        stopped = self._newest(0)

        def work(reader: Reader) -> Answer:
            if by == TOOL:
                assert tools is not None
                return Answer(question, tool_report(tools, period, now), tool_report(tools, period, now, unit=unit))
            assert facts is not None
            report = make_report(facts, by, period, now, stopped=stopped)
            course = report if by in UNITS else make_report(facts, unit, period, now, stopped=stopped)
            return Answer(question, report, course)

        self._main.context.plan_worker.submit("insights", work, done, self._main.context.failed)

    def ask_part(self, question: Question, key: str, done: Callable[[Report], None]) -> None:
        """How one key of a grouping came about over time.

        Args:
            question: As it was asked.
            key: Of one of the groups.
            done: Takes the sums by time.
        """
        facts, tools, now = self._facts, self._tools, self._main.context.clock()
        stopped = self._newest(1)

        def work(reader: Reader) -> Report:
            if question.by == TOOL:
                assert tools is not None
                return tool_report(tools, question.period, now, key, question.unit)
            assert facts is not None
            return make_report(facts, question.unit, question.period, now, Only(question.by, key), stopped=stopped)

        self._main.context.plan_worker.submit("insights part", work, done, self._main.context.failed)  # not shown

    def _read(self, question: Question, done: Callable[[Answer], None]) -> None:
        """Read what is to be added up; for the tools every call and answer."""
        self.stop()
        known, now, for_tools = self._main.context.catalog, self._main.context.clock(), question.by == TOOL
        scan = self._scan = Scan()

        def work(reader: Reader) -> Facts | ToolFacts:
            catalog = known if known.exact else read_catalog(reader, now)
            read = read_tools if for_tools else read_facts
            return read(reader, catalog, stopped=scan.stopped.is_set, tell=scan.tell)

        def taken(found: Facts | ToolFacts) -> None:
            self._scan = None
            if isinstance(found, Facts):
                self._facts = found
            else:
                self._tools = found
            if self._screen.is_whole:
                self._screen.tell(header.status("", ""))
                self.ask(question, done)

        def failed(error: BrowseError) -> None:
            self._scan = None
            self._main.context.failed(error)
            self._unread(error)

        self._main.context.plan_worker.submit("insights", work, taken, failed)
        follow(scan, self._screen, lambda: self._scan is scan and self._screen.is_whole, self._tell)

    def _tell(self, text: str, *, first: bool) -> None:
        self._screen.tell(header.status(_("reading the store, {progress}").format(progress=text), ""))
