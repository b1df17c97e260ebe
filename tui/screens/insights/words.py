"""Sums in words: names of groups and metrics, sentences, and the search that corresponds to a
row."""

from __future__ import annotations

from datetime import date, timedelta

from rich.cells import cell_len

from hermes_browse.store.insights.facts import UNKNOWN
from hermes_browse.store.insights.sums import UNITS, Group, bucket_from, first_day
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, ngettext

from ...text import formats
from .adding_up import TOOL, GroupedSums, Question

_WEEKDAYS = N_(("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"))
_MONTHS = N_((
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct",
    "Nov", "Dec",
))  # fmt: skip
_PERIODS = {
    "7d": N_("7 days"),
    "30d": N_("30 days"),
    "90d": N_("90 days"),
    "1y": N_("year"),
    "all": N_("all time"),
}
HOW_COUNTED = (
    (
        N_("tokens and cost"),
        N_("count where their session began: nobody recorded when each was spent"),
    ),
    (
        N_("begun"),
        N_("sessions that began then: a conversation may be in one that began before"),
    ),
    (
        "~$1.24  $1.24?",
        N_("~ where a part is estimated, ? where some sessions have no cost recorded"),
    ),
    (
        N_("input cached out"),
        N_("new input; input read from and written to the cache; output, which includes reasoning"),
    ),
)
"""Examples for the help, and their meanings."""
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
    "conversation": N_("conversation"),
}


def by_name(by: str) -> str:
    return _(_BY[by])


def value_of(group: Group, metric: str) -> float:
    if metric == "tokens":
        return group.tokens.total
    return float(group.cost_usd if metric == "cost" else getattr(group, metric))


def cost(group: Group) -> str:
    """`$1.24`; `~$1.24` if a part is estimated, `$1.24?` if a part is unknown."""
    amount = formats.money(group.cost_usd)
    return f"{'~' if amount and group.estimated_usd else ''}{amount}{'?' if group.unknown else ''}"


def weekday(number: int) -> str:
    """Return `Mon` for 0; at most four cells in every language."""
    return _(_WEEKDAYS[number])


def _short_day(day: date) -> str:
    """Return `Thu 5 Mar 2026`, as a two-digit year would look like a day."""
    return _(
        "{weekday} {day} {month} {year}",
        weekday=weekday(day.weekday()),
        day=day.day,
        month=_(_MONTHS[day.month - 1]),
        year=day.year,
    )


def label(by: str, key: str) -> str:
    """Return the label of a group by its key."""
    if by == "hour" and key != UNKNOWN:
        day, hour = key.split("-")
        return f"{weekday(int(day))} {hour}:00–{(int(hour) + 1) % 24:02}:00"
    bucket = bucket_from(key, by) if by in UNITS else None
    if bucket is not None:
        if by == "week":
            last = _short_day(bucket + timedelta(days=6))
            return _("{first} to {last}", first=_short_day(bucket), last=last)
        if by == "day":
            return _short_day(bucket)
        return _("{month} {year}", month=_(formats.MONTHS[bucket.month - 1]), year=bucket.year)
    return one_line(key, 200)


def tick(by: str, key: str, this_year: int) -> str:
    """Return the label below a column: `5 Mar`, `Mar 2026`, at most eight cells in every language;
    in another year than this one `5 Mar 2025`."""
    bucket = bucket_from(key, by)
    if bucket is None:
        return key
    if by == "month":
        return bucket.strftime(_("%b %Y"))
    return bucket.strftime(_("%-d %b") if bucket.year == this_year else _("%-d %b %Y"))


def tokens_line(group: Group, width: int) -> str:
    """Return the usage in a sentence of `width` cells: conversations, sessions, messages, tokens by
    kind; conversations, messages and tokens if not all fit."""
    tokens = group.tokens
    many = len(group.conversations)
    total = formats.number(tokens.total)
    kinds = _(
        "{fresh} input, {cached} cached, {out} output",
        fresh=formats.number(tokens.input),
        cached=formats.number(tokens.cache_read + tokens.cache_write),
        out=formats.number(tokens.output),
    )
    reasoning = _(" ({count} reasoning)", count=formats.number(tokens.reasoning))
    every = kinds + (reasoning if tokens.reasoning else "")
    used = _("{count} tokens: {kinds}", count=total, kinds=every)
    begun = ngettext("1 session begun", "{count:,} sessions begun", group.sessions)
    whole = formats.joined(
        formats.counted(many, "conversation"),
        begun,
        formats.counted(group.messages, "message"),
        used if tokens.total else _("no tokens recorded"),
    )
    if cell_len(whole) <= width:
        return whole
    used = _("{count} tok: {kinds}", count=total, kinds=kinds)
    return formats.joined(
        _("{count:,} convs", count=many),
        _("{count:,} msgs", count=group.messages),
        used if tokens.total else _("no tok recorded"),
    )


def cost_line(group: Group, without_session: int) -> str:
    """Return the cost in a sentence: all, estimated, unknown; and the number of messages without
    a session."""
    known = _(
        "cost {total}, {estimated} of it estimated",
        total=formats.amount(group.cost_usd, "cost"),
        estimated=formats.amount(group.estimated_usd, "cost"),
    )
    unknown = ngettext(
        "1 session of unknown cost",
        "{count:,} sessions of unknown cost",
        group.unknown,
    )
    included = ngettext(
        "1 session on a subscription",
        "{count:,} sessions on a subscription",
        group.included,
    )
    left_out = ngettext(
        "1 message of no session left out",
        "{count:,} messages of no session left out",
        without_session,
    )
    return formats.joined(
        known if group.cost_usd else _("no cost recorded"),
        unknown if group.unknown else "",
        included if group.included else "",
        left_out if without_session else "",
    )


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


def sums_lines(answer: GroupedSums, width: int) -> tuple[str, str]:
    """Return the sums and the cost of an answer, each in a sentence."""
    total = answer.report.total
    if answer.by == TOOL:
        return tools_line(total), _("No store records tokens or cost by tool.")
    return tokens_line(total, width), cost_line(total, answer.without_session)


def period_notes(question: Question, metric: str, now: float) -> list[str]:
    """Return the period of a question, when it begins, and the metric if no chart names it."""
    notes = [_(_PERIODS[question.period])]
    day = first_day(question.period, now)
    if day is not None:
        month = _(_MONTHS[day.month - 1])
        notes.append(_("since {day} {month} {year}", day=day.day, month=month, year=day.year))
    if question.by == "hour":
        notes.append(_("{metric} by {unit}", metric=_(metric), unit=by_name("hour")))
    return notes


_FILTERS = {
    "source": "source",
    "model": "model",
    "project": "cwd",
    "tool": "tool",
    "conversation": "id",
}


def search_for(by: str, key: str, period: str, now: float) -> tuple[str, str]:
    """Return the search that corresponds to a group in one of `sums.PERIODS`; `now` is in Unix
    seconds.

    Returns:
        The query, empty if there is none; and why there is none, or how its results differ from
            the group.
    """
    if key == UNKNOWN:
        return "", _("the search cannot ask for what is unknown")
    if by == "hour":
        return "", _("the search cannot ask for an hour of the week")
    no_messages = _("those without messages then are left out")
    bucket = bucket_from(key, by) if by in UNITS else None
    if bucket is not None:
        if by == "week":
            before = bucket + timedelta(days=7)
            after = bucket - timedelta(days=1)
            return f"after:{after} before:{before}", no_messages
        return f"on:{key}", no_messages
    if by not in _FILTERS or '"' in key or not key.strip():
        return "", _("the search cannot ask for this name")
    name = f'"{key}"' if any(map(str.isspace, key)) else key
    notes = []
    query = f"{_FILTERS[by]}:{name}"
    if by == "model":
        notes.append(_("models helpers used are left out"))
    if by in ("model", "project"):
        notes.append(_("longer names match"))
    since = first_day(period, now)
    if since is not None and by != "conversation":
        query += f" after:{since - timedelta(days=1)}"
        if by != "tool":  # which needs a message anyway
            notes.append(no_messages)
    return query, _("; ").join(notes)
