"""Sums as rows and sentences: columns come and go with the width, estimates and unknown costs are marked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import NamedTuple

from rich.cells import cell_len

from hermes_browse.store.insights.periods import bucket_from
from hermes_browse.store.insights.sums import Group
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, ngettext

from . import formats
from .list.rows import NoteRow
from .shared import calendar as days

Span = tuple[str, str]

METRICS = ("tokens", "cost", "messages", "sessions")
TOOL_METRICS = ("calls", "failed")
_BAR = "▏▎▍▌▋▊▉█"


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
            return f"{days.weekday(int(day))} {hour}:00–{(int(hour) + 1) % 24:02}:00"
    bucket = bucket_from(key, by) if by in ("day", "week", "month") else None
    if bucket is not None:
        if by == "week":
            last = days.short_day(bucket + timedelta(days=6))
            return _("{first} to {last}").format(first=days.short_day(bucket), last=last)
        return days.month(bucket) if by == "month" else days.short_day(bucket)
    return one_line(key, 200)


def tick(by: str, key: str) -> str:
    """What a bar is called below it: `5 Mar`, `Mar 26`."""
    bucket = bucket_from(key, by)
    if bucket is None:
        return key
    return days.short_month(bucket) if by == "month" else days.short_date(bucket)


class _Column(NamedTuple):
    title: str
    width: int
    needs: int
    """Shown from this width of the row on."""
    text: Callable[[Group], str]


def _number(read: Callable[[Group], float]) -> Callable[[Group], str]:
    def text(group: Group) -> str:
        value = read(group)
        return formats.number(value) if value else ""

    return text


_COLUMNS = (
    _Column(N_("convs"), 7, 0, _number(lambda group: len(group.conversations))),
    _Column(N_("sessions"), 9, 96, _number(lambda group: group.sessions)),
    _Column(N_("msgs"), 7, 0, _number(lambda group: group.messages)),
    _Column(N_("fresh"), 7, 60, _number(lambda group: group.tokens.input)),
    _Column(N_("cached"), 8, 48, _number(lambda group: group.tokens.cache_read + group.tokens.cache_write)),
    _Column(N_("out"), 7, 60, _number(lambda group: group.tokens.output)),
    _Column(N_("thought"), 8, 76, _number(lambda group: group.tokens.reasoning)),
    _Column(N_("cost"), 10, 0, cost),
)
_TOOL_COLUMNS = (
    _Column(N_("convs"), 7, 0, _number(lambda group: len(group.conversations))),
    _Column(N_("sessions"), 9, 60, _number(lambda group: group.sessions)),
    _Column(N_("calls"), 8, 0, _number(lambda group: group.calls)),
    _Column(N_("answers"), 9, 0, _number(lambda group: group.messages)),
    _Column(N_("failed"), 8, 0, _number(lambda group: group.failed)),
    _Column(N_("rate"), 7, 0, lambda group: f"{group.failure_rate:.1%}" if group.failure_rate and group.failed else ""),
)


def _shown(by: str, width: int) -> list[_Column]:
    return [each for each in (_TOOL_COLUMNS if by == "tool" else _COLUMNS) if width >= each.needs]


def _share_width(width: int) -> int:
    return 12 if width >= 110 else 0


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


def headings(by: str, metric: str, width: int) -> str:
    """The line above the rows.

    Args:
        by: What sums are grouped by.
        metric: What the shares are of.
        width: Cells of a row.
    """
    columns = _shown(by, width)
    text = "".join(formats.fit(_(each.title), each.width, right=True) for each in columns)
    share = formats.fit(metric_name(metric), _share_width(width)) if _share_width(width) else ""
    name = by_name(by)
    return formats.fit(f" {name}", max(width - cell_len(text) - cell_len(share) - 1, 0)) + share + text + " "


class GroupRow(NamedTuple):
    """One line of sums."""

    group: Group
    by: str
    metric: str
    most: float
    """The largest value there is, for the length of the bar."""
    name: str = ""
    """What it is called, where the key does not tell."""

    @property
    def key(self) -> str:
        """What it sums up."""
        return f"g{self.by} {self.group.key}"

    def spans(self, width: int, now: float) -> list[Span]:
        """In exactly so many cells."""
        columns = "".join(formats.fit(each.text(self.group), each.width, right=True) for each in _shown(self.by, width))
        share = _share_width(width)
        bar = _bar(value_of(self.group, self.metric) / self.most if self.most else 0.0, share - 1)
        columns = formats.clip(columns, max(width - 2, 0))
        room = max(width - cell_len(columns) - share - 1, 0)
        name = self.name or label(self.by, self.group.key)
        parts = [(formats.fit(f" {one_line(name, 300)}", room), "title")]
        if share:
            parts.append((formats.fit(bar, share), "accent"))
        return [*parts, (f"{columns} "[: max(width - room - share, 0)], "plain")]


def _bar(share: float, width: int) -> str:
    if width <= 0 or share <= 0:
        return ""
    eighths = max(1, round(share * width * 8))
    return "█" * (eighths // 8) + (_BAR[eighths % 8 - 1] if eighths % 8 else "")


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


def group_rows(
    groups: Sequence[Group], by: str, metric: str, names: Callable[[str], str] | None = None
) -> list[GroupRow | NoteRow]:
    """Rows in order: times newest first, all else most first.

    Args:
        groups: The sums.
        by: What they are grouped by.
        metric: What decides.
        names: What a key is called, where it does not tell.
    """
    most = max((value_of(each, metric) for each in groups), default=0.0)
    if by in ("day", "week", "month"):
        ordered = sorted(groups, key=lambda each: (bucket_from(each.key, by) is not None, each.key), reverse=True)
    else:
        ordered = sorted(groups, key=lambda each: (-value_of(each, metric), -each.messages, each.key))
    rows: list[GroupRow | NoteRow] = [
        GroupRow(each, by, metric, most, names(each.key) if names is not None else "") for each in ordered
    ]
    return rows or [NoteRow(_("Nothing in this period: ] looks further back."))]
