"""The filters of a query, each in one place: its names, its values, what it admits, and its line of the help.

A new filter is one more entry of `FILTERS`. All that knows of filters reads this table: the parser, the conditions,
what is offered for a filter misspelt or a value that nothing has, completion, and the help.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from ..connection.connect import Reader
from ..messages.decode import SENTINEL, decode_tool_calls
from ..messages.models import State
from ..sessions.models import Conversation, Kind, Relation, Status
from ..sessions.session import Session
from ..wording import N_, _
from .fold import fold
from .values import Vocabulary, day_of, known_sources, parse_date, parse_number, recent_tools

_STALE_SECONDS = 86400.0
"""Open, but silent for longer: whoever had it open has gone without a word."""
_MOST_TOOLS = 500
"""Tools that a misspelt one is compared with."""


@dataclass(frozen=True, slots=True)
class RowFacts:
    """What filters may ask of a row; text as stored."""

    role: str
    moment: float | None
    state: State
    content: str
    tool_name: str
    tool_calls: str
    has_reasoning: bool = False


RowTest = Callable[[RowFacts], bool]
ConversationTest = Callable[[Conversation], bool]


class Test(NamedTuple):
    """What a filter admits: one of the two is given."""

    row: RowTest | None = None
    conversation: ConversationTest | None = None


class Asked(NamedTuple):
    """A filter as it was typed."""

    key: str
    value: str
    op: str
    """What stands between the two."""
    now: float
    """Unix seconds, for dates."""


def _wants_a_value(asked: Asked) -> str:
    return "" if asked.value.strip() else _("{key}: wants a value").format(key=asked.key)


@dataclass(frozen=True, kw_only=True)
class FilterKind:
    """One filter."""

    key: str
    admits: Callable[[Asked], Test]
    """What it admits; asked only where there is nothing against its value."""
    example: str
    help: str
    """What it means, to be shown through `_`; filters with the same text share a line of the help."""
    reason: Callable[[Asked], str] = _wants_a_value
    """What is wrong with its value, a sentence; empty when nothing is."""
    also_called: tuple[str, ...] = ()
    """What other programs call it: told where it is typed, and offered."""
    values: Callable[[Vocabulary, float], Sequence[str]] = lambda known, now: ()
    """What it can be completed to, with what the store has and the time."""
    known: Callable[[Reader], tuple[str, ...]] | None = None
    """The values of the store, where it wants one whole: they are offered for one that nothing has."""
    sign: str = ":"
    """What is written behind the key: `>` for numbers, which take `<`, `>=`, `<=` and `=` too."""
    is_value: bool = False
    """It wants a number or a date, and without one there is nothing like it to search for."""
    is_limit: bool = False
    """Several of it all hold; those of other filters are alternatives."""
    may_be_words: bool = False
    """Its value may as well have been said in a conversation."""


def _one_of(values: Sequence[str]) -> Callable[[Asked], str]:
    def reason(asked: Asked) -> str:
        if not asked.value.strip() or asked.value.lower() in values:
            return _wants_a_value(asked)
        return _("{key}: knows {values}").format(key=asked.key, values=", ".join(values))

    return reason


def _no_number(asked: Asked) -> str:
    if parse_number(asked.value) is not None:
        return ""
    return _("{filter} needs a number, e.g. {filter}1").format(filter=f"{asked.key}{asked.op}")


def _no_date(asked: Asked) -> str:
    if not asked.value.strip() or parse_date(asked.value, asked.now) is not None:
        return _wants_a_value(asked)
    text = _("{filter} needs a date, e.g. {filter}2026-03-05, {filter}today or {filter}3d")
    return text.format(filter=f"{asked.key}:")


def _dates(known: Vocabulary, now: float) -> Sequence[str]:
    today = datetime.fromtimestamp(now)
    words = ("today", "yesterday", "3d", "1w", "2w", "1mo", "mon", "tue", "wed", "thu", "fri", "sat", "sun")
    return (*words, f"{today:%Y-%m}", f"{today:%Y-%m-%d}")


_ROLES = ("user", "assistant", "tool", "system")


def _role(asked: Asked) -> Test:
    role = asked.value.lower()
    return Test(lambda row: row.role == role)


def _source(asked: Asked) -> Test:
    source = asked.value.lower()
    return Test(conversation=lambda found: source in (segment.source.lower() for segment in found.segments))


def _tool(asked: Asked) -> Test:
    name = fold(asked.value)

    def is_called(row: RowFacts) -> bool:  # JSON is read only where the name occurs at all
        return name in fold(row.tool_calls) and any(
            fold(call.name) == name for call in decode_tool_calls(row.tool_calls)
        )

    return Test(lambda row: name == fold(row.tool_name) or is_called(row))


def _file(asked: Asked) -> Test:
    name = fold(asked.value)
    return Test(lambda row: name in fold(row.tool_calls) or name in fold(row.content))


def _dated(key: str) -> Callable[[Asked], Test]:
    """A filter for the time of a row: before the beginning of a span, from its end on, or in it."""

    def admits(asked: Asked) -> Test:
        start, end = parse_date(asked.value, asked.now) or (asked.now, asked.now)
        if key == "before":
            start, end = -math.inf, start
        elif key == "after":
            start, end = end, math.inf
        elif end == start:  # "on:3d" means that day
            start, end = day_of(start)
        return Test(lambda row: row.moment is not None and start <= row.moment < end)

    return admits


def _segments(read: Callable[[Session], str | None]) -> Callable[[Asked], Test]:
    """A filter for a part of a text that one of the segments of a conversation has."""

    def admits(asked: Asked) -> Test:
        part = fold(asked.value)
        return Test(conversation=lambda found: any(part in fold(text) for text in map(read, found.segments) if text))

    return admits


def _amount(read: Callable[[Conversation], float | None]) -> Callable[[Asked], Test]:
    """A filter for a number that a conversation has."""

    def admits(asked: Asked) -> Test:
        limit = parse_number(asked.value) or 0.0

        def passes(found: Conversation) -> bool:
            value = read(found)
            if value is None:
                return False
            if asked.op in (">", ">="):
                return value > limit or (value == limit and asked.op == ">=")
            if asked.op in ("<", "<="):
                return value < limit or (value == limit and asked.op == "<=")
            return value == limit

        return Test(conversation=passes)

    return admits


_IS_CONVERSATION: Mapping[str, Callable[[Conversation, float], bool]] = {
    "live": lambda found, now: found.status is Status.LIVE,
    "open": lambda found, now: found.status is Status.OPEN,
    "stale": lambda found, now: found.status is Status.OPEN and (found.last_active or 0.0) < now - _STALE_SECONDS,
    "ended": lambda found, now: found.status is Status.ENDED,
    "empty": lambda found, now: found.status is Status.EMPTY,
    "archived": lambda found, now: found.archived,
    "pinned": lambda found, now: found.pinned,
    "hidden": lambda found, now: found.hidden,
    "chat": lambda found, now: found.kind is Kind.CHAT,
    "automation": lambda found, now: found.kind is Kind.AUTOMATION,
    "subagent": lambda found, now: found.kind is Kind.SUBAGENT,
    "branch": lambda found, now: found.relation is Relation.BRANCHED,
}
_IS_ROW = {"compacted": State.COMPACTED, "rewound": State.REWOUND}
_IS = (*_IS_CONVERSATION, *_IS_ROW)


def _is(asked: Asked) -> Test:
    value = asked.value.lower()
    if value in _IS_ROW:
        state = _IS_ROW[value]
        return Test(lambda row: row.state is state)
    test = _IS_CONVERSATION[value]
    return Test(conversation=lambda found: test(found, asked.now))


_HAS_ROW: Mapping[str, RowTest] = {
    "image": lambda row: row.content.startswith(SENTINEL) and '"image' in row.content[:100_000],
    "error": lambda row: row.role == "tool" and '"error"' in row.content[:20_000],
    "reasoning": lambda row: row.has_reasoning,
    "code": lambda row: "```" in row.content,
    "tool": lambda row: bool(row.tool_name or row.tool_calls),
}
_HAS_CONVERSATION: Mapping[str, ConversationTest] = {
    "branch": lambda found: found.branches > 0,
    "subagent": lambda found: found.subagents > 0,
}
_HAS = (*_HAS_ROW, *_HAS_CONVERSATION)


def _has(asked: Asked) -> Test:
    value = asked.value.lower()
    return Test(_HAS_ROW.get(value), _HAS_CONVERSATION.get(value))


_WHO = N_("where, who, with which tool")
_WHAT = N_("of the conversation")
_WHEN = N_("when; also today, yesterday, 2w, 2026-03-05")
_SIZE = N_("size of the conversation")

FILTERS = (
    FilterKind(
        key="source", admits=_source, example="source:cli", help=_WHO, also_called=("platform", "channel"),
        values=lambda known, now: known.sources, known=known_sources,
    ),
    FilterKind(
        key="role", admits=_role, example="role:user", help=_WHO, also_called=("author", "by"),
        values=lambda known, now: _ROLES, known=lambda reader: _ROLES,
    ),
    FilterKind(
        key="tool", admits=_tool, example="tool:terminal", help=_WHO,
        values=lambda known, now: known.tools, known=lambda reader: recent_tools(reader, _MOST_TOOLS),
    ),
    FilterKind(
        key="file", admits=_file, example="file:src/auth.py", also_called=("path",),
        help=N_("conversations that edited this file, then those that mention it"),
    ),
    FilterKind(  # where in a row is looked is seen to by `make_plan`
        key="in", admits=lambda asked: Test(_HAS_ROW["reasoning"]), example="in:reasoning",
        help=N_("look in reasoning instead: it is in no index, so this scans"),
        reason=_one_of(("reasoning",)), values=lambda known, now: ("reasoning",),
    ),
    FilterKind(
        key="title", admits=_segments(lambda segment: segment.title), example="title:x", help=_WHAT,
        also_called=("name", "subject"), may_be_words=True,
    ),
    FilterKind(
        key="id", admits=_segments(lambda segment: segment.id), example="id:x", help=_WHAT,
        also_called=("session",), may_be_words=True,
    ),
    FilterKind(
        key="cwd", admits=_segments(lambda segment: segment.cwd), example="cwd:x", help=_WHAT,
        also_called=("dir", "folder", "repo"), values=lambda known, now: known.folders, may_be_words=True,
    ),
    FilterKind(
        key="model", admits=_segments(lambda segment: segment.model), example="model:x", help=_WHAT,
        also_called=("provider",), values=lambda known, now: known.models, may_be_words=True,
    ),
    FilterKind(
        key="after", admits=_dated("after"), example="after:3d", help=_WHEN, also_called=("since", "from", "newer"),
        reason=_no_date, values=_dates, is_value=True, is_limit=True,
    ),
    FilterKind(
        key="before", admits=_dated("before"), example="before:2026-03", help=_WHEN,
        also_called=("until", "older", "to"), reason=_no_date, values=_dates, is_value=True, is_limit=True,
    ),
    FilterKind(
        key="on", admits=_dated("on"), example="on:mon", help=_WHEN, also_called=("date", "day", "when"),
        reason=_no_date, values=_dates, is_value=True,
    ),
    FilterKind(
        key="is", admits=_is, example="is:live is:archived -is:rewound …",  # not shown otherwise
        help=N_(
            "live open stale (open, silent for a day) ended empty "
            "archived pinned hidden chat automation subagent branch; compacted or rewound (taken back) messages"
        ),
        also_called=("state", "status", "type"), reason=_one_of(_IS), values=lambda known, now: _IS,
    ),
    FilterKind(
        key="has", admits=_has, example="has:image has:error has:code",  # not shown otherwise
        help=N_("also has:tool has:branch has:subagent"), also_called=("contains",),
        reason=_one_of(_HAS), values=lambda known, now: _HAS,
    ),
    FilterKind(
        key="cost", admits=_amount(lambda found: found.cost_usd), example="cost>1", help=_SIZE,
        also_called=("price", "usd"), reason=_no_number, sign=">", is_value=True,
    ),
    FilterKind(
        key="msgs", admits=_amount(lambda found: float(found.message_count)), example="msgs>100", help=_SIZE,
        also_called=("messages",), reason=_no_number, sign=">", is_value=True,
    ),
    FilterKind(
        key="tokens", admits=_amount(lambda found: float(found.tokens.total)), example="tokens>1m", help=_SIZE,
        also_called=("size",), reason=_no_number, sign=">", is_value=True,
    ),
)  # fmt: skip
"""All filters, in the order of the help."""

BY_KEY: Mapping[str, FilterKind] = {each.key: each for each in FILTERS}
FILTER_KEYS = tuple(each.key for each in FILTERS if each.sign == ":")
"""Filters written `key:value`."""
NUMBER_KEYS: tuple[str, ...] = tuple(each.key for each in FILTERS if each.sign != ":")
"""Filters written `key>value`, also with `<`, `>=`, `<=`, `=` and `:`."""
MEANT: Mapping[str, str] = {name: each.key for each in FILTERS for name in each.also_called}
"""What other programs call a filter, and what it is called here."""


def reason_against(key: str, value: str, now: float | None = None, op: str = ":") -> str:
    """Why a filter cannot mean anything with this value; empty when it can.

    Args:
        key: A known filter.
        value: As typed.
        now: Unix seconds, for dates.
        op: What stands between the two.
    """
    return BY_KEY[key].reason(Asked(key, value, op, time.time() if now is None else now))


def help_lines() -> list[tuple[str, str]]:
    """What is typed and what it means, English, a line for each kind of filter."""
    lines: dict[str, list[str]] = {}
    for each in FILTERS:
        lines.setdefault(each.help, []).append(each.example)
    return [(" ".join(examples), text) for text, examples in lines.items()]
