"""Sums as rows and sentences: columns come and go with the width, estimates and unknown costs are marked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from rich.cells import cell_len

from hermes_browse.store.insights.periods import bucket_from
from hermes_browse.store.insights.sums import Group
from hermes_browse.store.text import one_line

from . import formats
from .rows import NoteRow

Span = tuple[str, str]

METRICS = ("tokens", "cost", "messages", "sessions")
TOOL_METRICS = ("calls", "failed")
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_BAR = "▏▎▍▌▋▊▉█"


def value_of(group: Group, metric: str) -> float:
    """A sum as a number, for bars and order."""
    values: dict[str, Callable[[], float]] = {
        "tokens": lambda: group.tokens.total,
        "cost": lambda: group.cost_usd,
        "messages": lambda: group.messages,
        "sessions": lambda: group.sessions,
        "calls": lambda: max(group.calls, group.results),
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
        day, _, hour = key.partition("-")
        if day.isdecimal() and hour.isdecimal():
            return f"{_DAYS[int(day)]} {hour}:00–{(int(hour) + 1) % 24:02}:00"
    bucket = bucket_from(key, by) if by in ("day", "week", "month") else None
    if bucket is not None:
        return f"{_short(bucket)} to {_short(bucket + timedelta(days=6))}" if by == "week" else _short(bucket, by)
    return one_line(key, 200)


def _short(day: date, unit: str = "day") -> str:
    return day.strftime("%B %Y") if unit == "month" else f"{day:%a} {day.day} {day:%b %Y}"


def tick(by: str, key: str) -> str:
    """What a bar is called below it: `5 Mar`, `Mar 26`."""
    bucket = bucket_from(key, by)
    if bucket is None:
        return key
    return f"{bucket:%b %y}" if by == "month" else f"{bucket.day} {bucket:%b}"


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
    _Column("convs", 7, 0, _number(lambda group: len(group.conversations))),
    _Column("sessions", 9, 96, _number(lambda group: group.sessions)),
    _Column("msgs", 7, 0, _number(lambda group: group.messages)),
    _Column("fresh", 7, 60, _number(lambda group: group.tokens.input)),
    _Column("cached", 8, 48, _number(lambda group: group.tokens.cache_read + group.tokens.cache_write)),
    _Column("out", 7, 60, _number(lambda group: group.tokens.output)),
    _Column("thought", 8, 76, _number(lambda group: group.tokens.reasoning)),
    _Column("cost", 10, 0, cost),
)
_TOOL_COLUMNS = (
    _Column("convs", 7, 0, _number(lambda group: len(group.conversations))),
    _Column("sessions", 9, 60, _number(lambda group: group.sessions)),
    _Column("calls", 8, 0, _number(lambda group: group.calls)),
    _Column("answers", 9, 0, _number(lambda group: group.results)),
    _Column("failed", 8, 0, _number(lambda group: group.failed)),
    _Column("rate", 7, 0, lambda group: f"{group.failure_rate:.1%}" if group.failure_rate and group.failed else ""),
)


def _shown(by: str, width: int) -> list[_Column]:
    return [each for each in (_TOOL_COLUMNS if by == "tool" else _COLUMNS) if width >= each.needs]


def _share_width(width: int) -> int:
    return 12 if width >= 110 else 0


def headings(by: str, metric: str, width: int) -> str:
    """The line above the rows.

    Args:
        by: What sums are grouped by.
        metric: What the shares are of.
        width: Cells of a row.
    """
    columns = _shown(by, width)
    text = "".join(each.title.rjust(each.width) for each in columns)
    share = f"{metric}".ljust(_share_width(width)) if _share_width(width) else ""
    name = {"hour": "hour of the week", "project": "directory"}.get(by, by)
    return formats.fit(f" {name}", max(width - cell_len(text) - len(share) - 1, 0)) + share + text + " "


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
    kinds = (
        f"{formats.number(tokens.input)} fresh, {formats.number(cached)} cached, {formats.number(tokens.output)} out"
    )
    thought = f" ({formats.number(tokens.reasoning)} thought)" if tokens.reasoning else ""
    many = len(group.conversations)
    told = ""
    heads = (
        [_many(many, "conversation"), f"{_many(group.sessions, 'session')} begun", _many(group.messages, "message")],
        [f"{many:,} convs", _many(group.sessions, "session"), f"{group.messages:,} msgs"],
        [f"{many:,} convs", f"{group.messages:,} msgs"],
    )
    for head, used, more in zip(heads, ("tokens", "tok", "tok"), (thought, thought, ""), strict=True):
        used = f"{formats.number(tokens.total)} {used}: {kinds}{more}" if tokens.total else f"no {used} recorded"
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
    told = [f"{_paid(group.cost_usd)}: {_paid(group.actual_usd)} actual + {_paid(group.estimated_usd)} estimated"]
    if group.unknown:
        told.append(f"{_many(group.unknown, 'session')} of unknown cost")
    if group.included:
        told.append(f"{group.included:,} in a subscription")
    if strays:
        told.append(f"{_many(strays, 'message')} of no session left out")
    return " · ".join(told)


def _many(number: int, one: str) -> str:
    return f"{number:,} {one}" + ("" if number == 1 else "s")


def _paid(amount: float) -> str:
    return formats.money(amount) or "$0"


def tools_line(group: Group) -> str:
    """What tools did, in a sentence."""
    rate = f" ({group.failure_rate:.1%})" if group.failure_rate is not None else ""
    return (
        f"{_many(group.calls, 'call')} · {_many(group.results, 'answer')} · {group.failed:,} tell of a failure{rate} · "
        f"in {_many(group.sessions, 'session')} of {_many(len(group.conversations), 'conversation')}"
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
    return rows or [NoteRow("Nothing in this period: ] looks further back.")]
