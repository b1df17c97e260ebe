"""Add up sessions, messages, tokens, cost and tool calls over a period, by anything."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Set
from datetime import date, timedelta
from operator import attrgetter
from typing import Any, NamedTuple

from ..amounts import begin_of, month_after
from ..connection.reader import Reader
from ..sessions.catalog import read_catalog
from ..sessions.models import Tokens
from .facts import Facts, read_facts

UNITS = ("day", "week", "month")

_DAYS = {"7d": 7, "30d": 30, "90d": 90, "1y": 365}
NATURAL_UNITS = {"7d": "day", "30d": "day", "90d": "day", "1y": "week", "all": "month"}
"""The unit that divides each period into a readable number of bars."""
PERIODS = tuple(NATURAL_UNITS)
WITH_BYTES = ("model", "source", "day", "tool")
"""Groupings that also sum bytes, over all time (`read_report`)."""
_LOCAL = "at, 'unixepoch', 'localtime'"
_KEYS = {
    "day": f"date({_LOCAL})",
    "week": f"date({_LOCAL}, 'weekday 0', '-6 days')",
    "month": f"strftime('%Y-%m', {_LOCAL})",
    "hour": f"((strftime('%w', {_LOCAL}) + 6) % 7) || strftime('-%H', {_LOCAL})",
    "model": "NULLIF(model, '')",
    "source": "source",
    "project": "NULLIF(project, '')",
    "conversation": "root",
    "tool": "tool",
    "": "''",
}
"""The groupings, as SQL over the events; the keys of time are those of `key_of`, and the hour of
the week: `0-14` is Monday, 14:00 to 15:00."""
_SUMS = """
    SELECT COALESCE({split}, 'unknown'), COALESCE({key}, 'unknown'),
        json_group_array(DISTINCT {conversation}) FILTER (WHERE {conversation} IS NOT NULL),
        count(DISTINCT CASE WHEN begun THEN id END), CAST(total(messages) AS INTEGER),
        CAST(total(input) AS INTEGER), CAST(total(output) AS INTEGER),
        CAST(total(cache_read) AS INTEGER), CAST(total(cache_write) AS INTEGER),
        CAST(total(reasoning) AS INTEGER), total(estimated), total(actual),
        count(DISTINCT CASE WHEN unknown THEN id END),
        count(DISTINCT CASE WHEN included THEN id END),
        count(DISTINCT CASE WHEN begun AND archived THEN id END),
        CAST(total(bytes) AS INTEGER), CAST(total(calls) AS INTEGER), CAST(total(failed) AS INTEGER)
    FROM event WHERE (:is_whole OR root IS NOT NULL) AND (:since IS NULL OR at >= :since)
"""
"""In the order of the fields of `Group`, with the key of `split` ahead."""


class Group(NamedTuple):
    """The sums of one key."""

    key: str
    conversations: Set[str] = frozenset()
    """Root ids of the conversations with a part in it."""
    sessions: int = 0
    """Sessions that began in it; by tool, those that used it."""
    messages: int = 0
    """Rows in it, shown or not; by tool, its answers."""
    tokens: Tokens = Tokens()
    """Of the sessions that began in it: Hermes does not record when tokens were spent."""
    estimated_usd: float = 0.0
    """Cost of the sessions with an estimate and no actual cost."""
    actual_usd: float = 0.0
    unknown: int = 0
    """Sessions with tokens and no cost."""
    included: int = 0
    """Sessions whose cost is included in a subscription, according to Hermes."""
    archived: int = 0
    """Number of archived sessions; `hermes sessions stats` (0.19) counts only the others."""
    bytes: int = 0
    """Bytes of the messages without the search index; 0 if not read."""
    calls: int = 0
    """By tool: number of calls."""
    failed: int = 0
    """By tool: number of answers that report a failure."""

    @property
    def cost_usd(self) -> float:
        """Known cost: the actual one, else the estimate of each session."""
        return self.estimated_usd + self.actual_usd

    @property
    def failure_rate(self) -> float | None:
        """Share of failed answers of a tool, 0 to 1; None without an answer."""
        return self.failed / self.messages if self.messages else None


class Report(NamedTuple):
    """Sums over a period."""

    by: str
    total: Group
    rows: tuple[Group, ...]
    """In the order of their keys, except from `read_report`."""


def _group(key: object, conversations: Any, sessions: Any, messages: Any, *others: Any) -> Group:
    """Return a group from a row of `_SUMS`."""
    roots = set(json.loads(conversations))
    return Group(str(key), roots, sessions, messages, Tokens(*others[:5]), *others[5:])


def split_report(
    facts: Facts, by: str, split: str, period: str, now: float, *, is_whole: bool = False
) -> dict[str, dict[str, Group]]:
    """Add up by two groupings, as `make_report` does; without either all is in one group.

    Returns:
        Sums by the key of `split`, and in them by the key of `by`, in order.

    Raises:
        QueryInterruptedError: `facts.interrupt` was called.
    """
    conversation = "root"
    if is_whole and not facts.of_tools:
        of_root = "" if "model" in (by, split) else "AND id = root"
        conversation = f"CASE WHEN begun {of_root} THEN root END"
    day = first_day(period, now)
    sql = _SUMS.format(key=_KEYS[by], split=_KEYS[split], conversation=conversation)
    bounds = {"is_whole": is_whole, "since": None if day is None else begin_of(day)}
    parts: defaultdict[str, dict[str, Group]] = defaultdict(dict)
    order = " GROUP BY 1, 2 ORDER BY 2, 1" if by else ""  # all in one row otherwise
    for part, *row in facts.rows(sql + order, bounds):
        group = _group(*row)
        parts[str(part)][group.key] = group
    return parts


def make_report(
    facts: Facts, by: str, period: str, now: float, *, is_whole: bool = False
) -> Report:
    """Add up a period.

    A session, with its tokens and cost, counts at its start; messages, calls and answers count at
    their own time. A conversation counts in every group it has a part in. Whatever has no time
    counts only in the period `all`.

    Args:
        facts: From `read_facts`.
        by: One of `UNITS`; else `tool` for facts of tools, and `hour` (of the week), `model`,
            `source`, `project` or `conversation` for the others.
        period: One of `PERIODS`.
        now: Unix seconds.
        is_whole: Count messages without a session too, and, unless by model, a conversation only in
            the group of its root.

    Raises:
        QueryInterruptedError: `facts.interrupt` was called.
    """
    groups = split_report(facts, by, "", period, now, is_whole=is_whole).get("", {})
    every = split_report(facts, "", "", period, now, is_whole=is_whole)
    return Report(by, every[""][""], tuple(groups.values()))


def read_report(reader: Reader, by: str, period: str, now: float) -> Report:
    """Add up a whole store, or a period.

    Over all time and by one of `WITH_BYTES` there are the bytes of the messages, and the total is
    the same for each grouping. By source and model, messages and bytes count there for the source
    and model of their session; by day for the local day of the message, and sessions, tokens and
    cost for the day of the session's start. By tool, messages and bytes are those of its answers;
    tokens and cost are not recorded by tool, so they are 0.

    Returns:
        Units of time in order, other keys by their size, largest first.
    """
    catalog = read_catalog(reader, now)
    is_whole = period == "all" and by in WITH_BYTES
    facts = read_facts(reader, catalog, of_tools=by == "tool", sizes=is_whole)
    report = make_report(facts, by, period, now, is_whole=is_whole)
    if is_whole and by == "tool":
        every = read_facts(reader, catalog, sizes=True)
        report = report._replace(total=make_report(every, "", period, now, is_whole=True).total)
    if by in (*UNITS, "hour"):
        return report
    amounts = ("calls", "messages", "bytes") if is_whole else ("calls", "tokens.total", "messages")
    rows = sorted(report.rows, key=attrgetter(*amounts), reverse=True)
    return report._replace(rows=tuple(rows))


# Local days, weeks and months


def first_day(period: str, now: float) -> date | None:
    """Return the first local day of one of `PERIODS`; None for all time. `now` is in Unix
    seconds."""
    days = _DAYS.get(period)
    return None if days is None else date.fromtimestamp(now) - timedelta(days=days - 1)


def bucket_of(day: date, unit: str) -> date:
    """Return the first day of the unit of time that a day is in; of a week its Monday."""
    if unit == "week":
        return day - timedelta(days=day.weekday())  # the first day of all is a Monday
    return day.replace(day=1) if unit == "month" else day


def bucket_after(day: date, unit: str) -> date:
    """Return the first day of the unit after the one that begins with a day."""
    if unit == "month":
        return month_after(day)
    return day + timedelta(days=7 if unit == "week" else 1)


def _day_key(day: date, unit: str) -> str:
    """Return `2026-03-05` for a day, or for a week its Monday; `2026-03` for a month."""
    first = bucket_of(day, unit).isoformat()
    return first[:7] if unit == "month" else first


def key_of(moment: float, unit: str) -> str:
    """Return the key of a moment, in Unix seconds; `unit` is one of `UNITS`."""
    return _day_key(date.fromtimestamp(moment), unit)


def bucket_from(key: str, unit: str) -> date | None:
    """Return the first day of a key's time span; None for a text that is not a key of this unit."""
    try:
        return date.fromisoformat(f"{key}-01" if unit == "month" else key)
    except ValueError:
        return None


def all_buckets(first: str, last: str, unit: str) -> list[str]:
    """List the keys of a unit from one to another, without a gap."""
    day, end = bucket_from(first, unit), bucket_from(last, unit)
    keys: list[str] = []
    while day and end and day <= end:
        keys.append(_day_key(day, unit))
        day = bucket_after(day, unit)
    return keys
