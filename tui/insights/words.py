"""Sums in words: what keys and measures are called, sentences, and the search that comes nearest to a line."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import NamedTuple

from rich.cells import cell_len

from hermes_browse.store.insights.facts import UNKNOWN
from hermes_browse.store.insights.periods import bucket_from, first_day
from hermes_browse.store.insights.sums import Group
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, ngettext

from .. import formats
from ..shared import calendar

METRICS = ("cost", "tokens", "messages", "sessions")
TOOL_METRICS = ("calls", "failed")
_METRICS = {
    "tokens": N_("tokens"),
    "cost": N_("cost"),
    "messages": N_("messages"),
    "sessions": N_("sessions"),
    "calls": N_("calls"),
    "failed": N_("failed"),
}
_BY = {
    "hour": N_("hour of the week"),
    "project": N_("directory"),
    "day": N_("day"),
    "week": N_("week"),
    "month": N_("month"),
    "source": N_("source"),
    "model": N_("model"),
    "tool": N_("tool"),
    "conversation": N_("conversation"),
}


def metric_name(metric: str) -> str:
    """A metric in words."""
    return _(_METRICS[metric])


def by_name(by: str) -> str:
    """What sums are grouped by, in words."""
    return _(_BY[by]) if by in _BY else by


def value_of(group: Group, metric: str) -> float:
    """A sum as a number, for bars and order."""
    values: dict[str, Callable[[], float]] = {
        "tokens": lambda: group.tokens.total,
        "cost": lambda: group.cost_usd,
        "messages": lambda: group.messages,
        "sessions": lambda: group.sessions,
        "calls": lambda: max(group.calls, group.messages),
        "failed": lambda: group.failed,
    }
    return float(values[metric]())


def printed(value: float, metric: str) -> str:
    """A value in few cells."""
    if metric == "cost":
        return formats.money(value) or "$0"
    return formats.number(value)


def cost(group: Group) -> str:
    """`$1.24` paid, `~$1.24` where a part is estimated, `?` behind it where a part is unknown."""
    known = formats.money(group.cost_usd)
    return f"{'~' if known and group.estimated_usd else ''}{known}{'?' if group.unknown else ''}"


def label(by: str, key: str) -> str:
    """What a key is called.

    Args:
        by: What sums are grouped by.
        key: As of a group.
    """
    if by == "hour":
        day, dash, hour = key.partition("-")
        if dash and day.isdecimal() and hour.isdecimal():
            return f"{calendar.weekday(int(day))} {hour}:00–{(int(hour) + 1) % 24:02}:00"
    bucket = bucket_from(key, by) if by in ("day", "week", "month") else None
    if bucket is not None:
        if by == "week":
            last = calendar.short_day(bucket + timedelta(days=6))
            return _("{first} to {last}").format(first=calendar.short_day(bucket), last=last)
        return calendar.month(bucket) if by == "month" else calendar.short_day(bucket)
    return one_line(key, 200)


def tick(by: str, key: str, this_year: int) -> str:
    """What a bar is called below it: `5 Mar`, `Mar 2026`; a day of another year than this one is `5 Mar 2025`."""
    bucket = bucket_from(key, by)
    if bucket is None:
        return key
    if by == "month":
        return calendar.short_month(bucket)
    return calendar.short_date(bucket) if bucket.year == this_year else calendar.full_date(bucket)


def tokens_line(group: Group, width: int) -> str:
    """What was used, in a sentence: conversations, messages, tokens of each kind.

    Args:
        group: The sums.
        width: Cells there are; where they are few, words are short.
    """
    tokens = group.tokens
    cached = tokens.cache_read + tokens.cache_write
    kinds = _("{fresh} fresh, {cached} cached, {out} out").format(
        fresh=formats.number(tokens.input), cached=formats.number(cached), out=formats.number(tokens.output)
    )
    thought = _(" ({count} thought)").format(count=formats.number(tokens.reasoning)) if tokens.reasoning else ""
    many = len(group.conversations)
    told = ""
    convs = _("{count:,} convs").format(count=many)
    msgs = _("{count:,} msgs").format(count=group.messages)
    sessions = formats.counted(group.sessions, "session")
    begun = ngettext("1 session begun", "{count:,} sessions begun", group.sessions).format(count=group.sessions)
    heads = (
        [formats.counted(many, "conversation"), begun, formats.counted(group.messages, "message")],
        [convs, sessions, msgs],
        [convs, msgs],
    )
    for head, is_short, more in zip(heads, (False, True, True), (thought, thought, ""), strict=True):
        if tokens.total:
            used = _("{count} tok: {kinds}") if is_short else _("{count} tokens: {kinds}")
        else:
            used = _("no tok recorded") if is_short else _("no tokens recorded")
        used = used.format(count=formats.number(tokens.total), kinds=f"{kinds}{more}")
        told = " · ".join([*head, used])
        if cell_len(told) <= width:
            break
    return told


def cost_line(group: Group, strays: int) -> str:
    """What it cost, in a sentence: what was billed, what is estimated, what nobody knows.

    Args:
        group: The sums.
        strays: Messages of no session.
    """
    told = [
        _("{total}: {actual} actual + {estimated} estimated").format(
            total=_paid(group.cost_usd), actual=_paid(group.actual_usd), estimated=_paid(group.estimated_usd)
        )
    ]
    if group.unknown:
        unknown = ngettext("1 session of unknown cost", "{count:,} sessions of unknown cost", group.unknown)
        told.append(unknown.format(count=group.unknown))
    if group.included:
        told.append(_("{count:,} in a subscription").format(count=group.included))
    if strays:
        left = ngettext("1 message of no session left out", "{count:,} messages of no session left out", strays)
        told.append(left.format(count=strays))
    return " · ".join(told)


def _paid(amount: float) -> str:
    return formats.money(amount) or "$0"


def tools_line(group: Group) -> str:
    """What tools did, in a sentence."""
    rate = f" ({group.failure_rate:.1%})" if group.failure_rate is not None else ""
    told = _("{calls} · {answers} · {failed:,} tell of a failure{rate} · in {sessions} of {conversations}")
    return told.format(
        calls=formats.counted(group.calls, "call"),
        answers=formats.counted(group.messages, "answer"),
        failed=group.failed,
        rate=rate,
        sessions=formats.counted(group.sessions, "session"),
        conversations=formats.counted(len(group.conversations), "conversation"),
    )


_FILTERS = {"source": "source", "model": "model", "project": "cwd", "tool": "tool", "conversation": "id"}


class Search(NamedTuple):
    """A search; empty where there is none."""

    query: str
    word: str
    """In what it differs from the sums, in a few words; empty where it does not."""


def _written(key: str, value: str) -> str:
    return f'{key}:"{value}"' if any(map(str.isspace, value)) else f"{key}:{value}"


def search_for(by: str, key: str, period: str, now: float) -> Search:
    """The search for what a line sums up.

    Args:
        by: What sums are grouped by.
        key: The line's.
        period: One of `periods.PERIODS`.
        now: Unix seconds.
    """
    if key == UNKNOWN:
        return Search("", _("the search cannot ask for what is unknown"))
    if by == "hour":
        return Search("", _("the search cannot ask for an hour of the week"))
    bucket = bucket_from(key, by) if by in ("day", "week", "month") else None
    if bucket is not None:
        if by == "week":
            before, after = bucket + timedelta(days=7), bucket - timedelta(days=1)
            return Search(f"after:{after} before:{before}", "")  # not shown
        return Search(f"on:{key}", "")
    if '"' in key or not key.strip():
        return Search("", _("the search cannot ask for this name"))
    query, words = _written(_FILTERS[by], key), []
    if by == "model":
        words.append(_("models helpers used are left out"))
    if by in ("model", "project"):
        words.append(_("longer names match"))
    since = first_day(period, now)
    if since is not None and by != "conversation":
        query += f" after:{since - timedelta(days=1)}"
    return Search(query, _("; ").join(words))
