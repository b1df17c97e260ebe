"""Sums: the facts of a store are read once and summed up for each question, on a reading thread; and
sums in words: names of groups and metrics, and sentences."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from hermes_browse.store.amounts import DAY
from hermes_browse.store.api import OpenStore
from hermes_browse.store.connection.connect import Fingerprint
from hermes_browse.store.insights.facts import UNKNOWN, Facts
from hermes_browse.store.insights.sums import (
    UNITS,
    Group,
    Report,
    all_buckets,
    begin_of,
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
from ...text import calendar, formats, sentences

if TYPE_CHECKING:
    from ..sub_screen import SubScreen

TOOL = "tool"


class Question(NamedTuple):
    """Which sums are requested."""

    grouping: str
    """A grouping of `sums.make_report`; empty for that by `unit`."""
    period: str
    unit: str
    """One column of the chart: day, week or month."""

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
    """By group, or by model if the groups are times: the sums by time."""

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
        dated = sorted(each.key for each in self.by_time.rows if early <= each.key <= late)
        today = key_of(now, unit)
        first = key_of(begin_of(day), unit) if day is not None else min([today, *dated[:1]])
        return all_buckets(first, max([today, *dated[-1:]]), unit)


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
        if scan is not None:
            scan.stopped.set()
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
            catalog, stopped = store.catalog(now), scan.stopped.is_set
            facts = store.facts(catalog, of_tools=of_tools, stopped=stopped, tell=scan.tell)
            return fingerprint, facts

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
    parts = split_report(facts, unit, "model" if by in UNITS else by, period, now)
    without_session = facts.without_session if period == "all" else 0
    return GroupedSums(question, facts.catalog, without_session, report, by_time, parts)


# In words

_PERIODS = {
    "7d": N_("7 days"),
    "30d": N_("30 days"),
    "90d": N_("90 days"),
    "1y": N_("year"),
    "all": N_("all time"),
}
METRICS = (N_("cost"), N_("tokens"), N_("messages"), N_("sessions"))
TOOL_METRICS = (N_("calls"), N_("failed"))
_BY = {
    "hour": N_("hour of the week"),
    "project": N_("directory"),
    "day": N_("day"),
    "week": N_("week"),
    "month": N_("month"),
    "source": N_("source"),
    "model": N_("model"),
    "tool": N_("tool"),
}


def by_name(by: str) -> str:
    return _(_BY[by])


def value_of(group: Group, metric: str) -> float:
    values = {
        "tokens": group.tokens.total,
        "cost": group.cost_usd,
        "messages": group.messages,
        "sessions": group.sessions,
        "calls": max(group.calls, group.messages),
        "failed": group.failed,
    }
    return float(values[metric])


def first_with_value(total: Group) -> str:
    """Return the first metric with a value."""
    return next((metric for metric in METRICS if value_of(total, metric)), METRICS[0])


def printed(value: float, metric: str) -> str:
    """Format a value in few cells."""
    if metric == "cost":
        return formats.money(value) or "$0"
    return formats.number(value)


def cost(group: Group) -> str:
    """`$1.24`; `~$1.24` if a part is estimated, `$1.24?` if a part is unknown."""
    amount = formats.money(group.cost_usd)
    return f"{'~' if amount and group.estimated_usd else ''}{amount}{'?' if group.unknown else ''}"


def label(by: str, key: str) -> str:
    """Return the label of a group by its key."""
    if by == "hour" and key != UNKNOWN:
        day, hour = map(int, key.split("-"))
        return f"{calendar.weekday(day)} {hour:02}:00–{(hour + 1) % 24:02}:00"
    bucket = bucket_from(key, by) if by in UNITS else None
    if bucket is not None:
        if by == "week":
            last = calendar.short_day(bucket + timedelta(days=6))
            return _("{first} to {last}", first=calendar.short_day(bucket), last=last)
        return calendar.month(bucket) if by == "month" else calendar.short_day(bucket)
    return one_line(key, 200)


def tick(by: str, key: str, this_year: int) -> str:
    """Return the label below a column: `5 Mar`, `Mar 2026`; in another year than this one `5 Mar
    2025`."""
    bucket = bucket_from(key, by)
    if bucket is None:
        return key
    if by == "month":
        return calendar.short_month(bucket)
    return calendar.short_date(bucket) if bucket.year == this_year else calendar.full_date(bucket)


def tokens_line(group: Group) -> str:
    """Return the usage in a sentence: conversations, messages, tokens by kind."""
    tokens = group.tokens
    kinds = sentences.token_kinds(tokens)
    used = _("{count} tokens: {kinds}", count=formats.number(tokens.total), kinds=kinds)
    return formats.joined(
        _("{count:,} convs", count=len(group.conversations)),
        _("{count:,} msgs", count=group.messages),
        used if tokens.total else _("no tokens recorded"),
    )


def cost_line(group: Group, without_session: int) -> str:
    """Return the cost in a sentence: actual, estimated, unknown; and the number of messages without
    a session."""
    parts = [
        _(
            "{total}: {actual} actual + {estimated} estimated",
            total=printed(group.cost_usd, "cost"),
            actual=printed(group.actual_usd, "cost"),
            estimated=printed(group.estimated_usd, "cost"),
        )
    ]
    if group.unknown:
        parts.append(
            ngettext(
                "1 session of unknown cost",
                "{count:,} sessions of unknown cost",
                group.unknown,
                count=group.unknown,
            )
        )
    if group.included:
        parts.append(_("{count:,} in a subscription", count=group.included))
    if without_session:
        parts.append(
            ngettext(
                "1 message of no session left out",
                "{count:,} messages of no session left out",
                without_session,
                count=without_session,
            )
        )
    return " · ".join(parts)


def tools_line(group: Group) -> str:
    """Return calls, answers and failures of tools in a sentence."""
    rate = f" ({group.failure_rate:.1%})" if group.failure_rate is not None else ""
    return _(
        "{calls} · {answers} · {failed:,} failed{rate} · in {sessions} of {conversations}",
        calls=formats.counted(group.calls, "call"),
        answers=formats.counted(group.messages, "answer"),
        failed=group.failed,
        rate=rate,
        sessions=formats.counted(group.sessions, "session"),
        conversations=formats.counted(len(group.conversations), "conversation"),
    )


def sums_lines(answer: GroupedSums) -> tuple[str, str]:
    """Return the sums and the cost of an answer, each in a sentence."""
    total = answer.report.total
    if answer.by == TOOL:
        return tools_line(total), _("No store records tokens or cost by tool.")
    cost_words = cost_line(total, answer.without_session)
    return tokens_line(total), _("cost {sum}", sum=cost_words)


def period_notes(question: Question, now: float) -> list[str]:
    """Return the period of a question, and when it begins."""
    notes = [_(_PERIODS[question.period])]
    day = first_day(question.period, now)
    if day is not None:
        notes.append(_("since {day}", day=calendar.full_date(day)))
    return notes
