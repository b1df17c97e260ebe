"""The filters of a query, each an entry of `FILTERS`: its names, its values, its test, and its line of the help.

The parser, the conditions, completion, suggestions and the help read this table; a new filter is one more entry.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from ..ages import day_of, parse_when
from ..amounts import parse_count, parse_money
from ..connection.reader import Reader
from ..messages.chat_message import State
from ..messages.decode import SENTINEL, decode_tool_calls
from ..sessions.models import Conversation, ConversationKind, Relation, Status
from ..sessions.relations import is_stale
from ..sessions.session import Session
from ..wording import N_, _
from .filter_values import Vocabulary, known_sources, recent_tools
from .fold import fold

_MOST_TOOLS = 500
"""Tools that a misspelt one is compared with."""


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter as it was typed."""

    key: str
    op: str
    """What was typed between key and value: `:`, or a comparison."""
    value: str
    negated: bool = False
    start: int = 0
    """Position in the query, code points."""
    end: int = 0


@dataclass(frozen=True, slots=True)
class RowFacts:
    """The fields of a row that filters may test; text as stored."""

    role: str
    moment: float | None
    state: State
    content: str
    tool_name: str
    tool_calls: str
    has_reasoning: bool = False
    is_continued: Callable[[], bool] = lambda: False
    """Whether its session was ended by a compression and continued in another one; looked up only when asked for."""


RowTest = Callable[[RowFacts], bool]
ConversationTest = Callable[[Conversation], bool]


class Test(NamedTuple):
    """What a filter tests: a row, or a conversation."""

    row: RowTest | None = None
    conversation: ConversationTest | None = None


def _wants_a_value(typed: Filter, now: float = 0.0) -> str:
    return "" if typed.value.strip() else _("{key}: wants a value").format(key=typed.key)


@dataclass(frozen=True, kw_only=True)
class FilterKind:
    """One kind of filter. Functions with a float take the time in Unix seconds, for dates."""

    key: str
    make_test: Callable[[Filter, float], Test]
    """Return the test; called with valid values only."""
    example: str
    help: str
    """What it means, shown through `_`; filters with the same text share a line of the help."""
    reason: Callable[[Filter, float], str] = _wants_a_value
    """Return what is wrong with the value, a sentence; empty for a valid value."""
    also_called: tuple[str, ...] = ()
    """Names in other programs: recognized as a mistake, with this filter as the suggestion."""
    values: Callable[[Vocabulary, float], Sequence[str]] = lambda stored, now: ()
    """Return the values it can be completed to."""
    stored_values: Callable[[Reader], tuple[str, ...]] | None = None
    """Return all values in the store, for filters that compare whole values: a misspelt one is corrected to these."""
    sign: str = ":"
    """What follows the key: `>` for numbers, which take `<`, `>=`, `<=` and `=` too."""
    is_value: bool = False
    """It needs a number or a date; without one the query cannot be run."""
    is_limit: bool = False
    """Several of this kind must all hold; those of other kinds are alternatives."""
    may_be_words: bool = False
    """Its value may be words that were said in a conversation."""


def _one_of(values: Sequence[str]) -> Callable[[Filter, float], str]:
    def reason(typed: Filter, now: float) -> str:
        if not typed.value.strip() or typed.value.lower() in values:
            return _wants_a_value(typed)
        return _("{key}: knows {values}").format(key=typed.key, values=", ".join(values))

    return reason


def _no_amount(parse: Callable[[str], float]) -> Callable[[Filter, float], str]:
    def reason(typed: Filter, now: float) -> str:
        try:
            parse(typed.value)
        except ValueError:
            return _("{filter} needs a number, e.g. {filter}1").format(filter=f"{typed.key}{typed.op}")
        return ""

    return reason


def _no_date(typed: Filter, now: float) -> str:
    if not typed.value.strip():
        return _wants_a_value(typed)
    try:
        parse_when(typed.value, now)
    except ValueError as error:
        return f"{typed.key}: {error}"
    return ""


def _dates(stored: Vocabulary, now: float) -> Sequence[str]:
    today = datetime.fromtimestamp(now)
    words = ("today", "yesterday", "5h", "3d", "2w", "1mo", "1y", "mon", "tue", "wed", "thu", "fri", "sat", "sun")
    return (*words, f"{today:%Y-%m}", f"{today:%Y-%m-%d}")


_ROLES = ("user", "assistant", "tool", "system")


def _role(typed: Filter, now: float) -> Test:
    role = typed.value.lower()
    return Test(lambda row: row.role == role)


def _source(typed: Filter, now: float) -> Test:
    source = typed.value.lower()
    return Test(conversation=lambda chat: source in (segment.source.lower() for segment in chat.segments))


def _tool(typed: Filter, now: float) -> Test:
    name = fold(typed.value)

    def is_called(row: RowFacts) -> bool:
        if name not in fold(row.tool_calls):  # spares most rows the parsing of JSON
            return False
        return any(fold(call.name) == name for call in decode_tool_calls(row.tool_calls))

    return Test(lambda row: name == fold(row.tool_name) or is_called(row))


def _file(typed: Filter, now: float) -> Test:
    name = fold(typed.value)
    return Test(lambda row: name in fold(row.tool_calls) or name in fold(row.content))


def _dated(typed: Filter, now: float) -> Test:
    """Test the time of a row: before the beginning of a span, from its end on, or in it."""
    start, end, _age = parse_when(typed.value, now)
    if typed.key == "before":
        start, end = -math.inf, start
    elif typed.key == "after":
        start, end = end, math.inf
    elif end == start:  # "on:3d" means that day
        start, end, _age = day_of(start)
    return Test(lambda row: row.moment is not None and start <= row.moment < end)


def _text_of_segments(read: Callable[[Session], str | None]) -> Callable[[Filter, float], Test]:
    """Return a filter that looks for its value in a text of each segment of a conversation."""

    def make_test(typed: Filter, now: float) -> Test:
        part = fold(typed.value)
        return Test(conversation=lambda chat: any(part in fold(text) for text in map(read, chat.segments) if text))

    return make_test


def _compared_number(
    read: Callable[[Conversation], float | None], parse: Callable[[str], float]
) -> Callable[[Filter, float], Test]:
    """Return a filter that compares a number of a conversation with its value; an unknown number matches nothing."""

    def make_test(typed: Filter, now: float) -> Test:
        compare, limit = _COMPARISONS[typed.op], parse(typed.value)
        return Test(conversation=lambda chat: (amount := read(chat)) is not None and compare(amount, limit))

    return make_test


_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    ":": operator.eq,
}
_IS_CONVERSATION: Mapping[str, Callable[[Conversation, float], bool]] = {
    "live": lambda chat, now: chat.status is Status.LIVE,
    "open": lambda chat, now: chat.status is Status.OPEN,
    "stale": is_stale,
    "ended": lambda chat, now: chat.status is Status.ENDED,
    "empty": lambda chat, now: chat.is_empty,
    "archived": lambda chat, now: chat.archived,
    "pinned": lambda chat, now: chat.pinned,
    "hidden": lambda chat, now: chat.hidden,
    "chat": lambda chat, now: chat.kind is ConversationKind.CHAT,
    "automation": lambda chat, now: chat.is_automation,
    "subagent": lambda chat, now: chat.kind is ConversationKind.SUBAGENT,
    "branch": lambda chat, now: chat.relation is Relation.BRANCHED,
}
_IS_ROW: Mapping[str, RowTest] = {
    "compacted": lambda row: row.state is State.COMPACTED,
    "rewound": lambda row: row.state is State.REWOUND,
    "forgotten": lambda row: row.state is State.COMPACTED or (row.state is State.LIVE and row.is_continued()),
}
_IS = (*_IS_CONVERSATION, *_IS_ROW)


def _is(typed: Filter, now: float) -> Test:
    value = typed.value.lower()
    if value in _IS_ROW:
        return Test(_IS_ROW[value])
    test = _IS_CONVERSATION[value]
    return Test(conversation=lambda chat: test(chat, now))


_HAS_ROW: Mapping[str, RowTest] = {
    "image": lambda row: row.content.startswith(SENTINEL) and '"image' in row.content[:100_000],
    "error": lambda row: row.role == "tool" and '"error"' in row.content[:20_000],
    "reasoning": lambda row: row.has_reasoning,
    "code": lambda row: "```" in row.content,
    "tool": lambda row: bool(row.tool_name or row.tool_calls),
}
_HAS_CONVERSATION: Mapping[str, ConversationTest] = {
    "branch": lambda chat: chat.branches > 0,
    "subagent": lambda chat: chat.subagents > 0,
}
_HAS = (*_HAS_ROW, *_HAS_CONVERSATION)


def _has(typed: Filter, now: float) -> Test:
    value = typed.value.lower()
    return Test(_HAS_ROW.get(value), _HAS_CONVERSATION.get(value))


_WHO = N_("where, who, with which tool")
_WHAT = N_("of the conversation")
_WHEN = N_("when; also 30min 5h 2w 6mo 1y, today, 2026-03-05")
_SIZE = N_("size of the conversation")

FILTERS = (
    FilterKind(
        key="source", make_test=_source, example="source:cli", help=_WHO, also_called=("platform", "channel"),
        values=lambda stored, now: stored.sources, stored_values=known_sources,
    ),
    FilterKind(
        key="role", make_test=_role, example="role:user", help=_WHO, also_called=("author", "by"),
        values=lambda stored, now: _ROLES, stored_values=lambda reader: _ROLES,
    ),
    FilterKind(
        key="tool", make_test=_tool, example="tool:terminal", help=_WHO,
        values=lambda stored, now: stored.tools, stored_values=lambda reader: recent_tools(reader, _MOST_TOOLS),
    ),
    FilterKind(
        key="file", make_test=_file, example="file:src/auth.py", also_called=("path",),
        help=N_("conversations that edited this file, then those that mention it"),
    ),
    FilterKind(  # `compile_query` makes the search read reasoning instead
        key="in", make_test=lambda typed, now: Test(_HAS_ROW["reasoning"]), example="in:reasoning",
        help=N_("look in reasoning instead: it is in no index, so this scans"),
        reason=_one_of(("reasoning",)), values=lambda stored, now: ("reasoning",),
    ),
    FilterKind(
        key="title", make_test=_text_of_segments(lambda segment: segment.title), example="title:x", help=_WHAT,
        also_called=("name", "subject"), may_be_words=True,
    ),
    FilterKind(
        key="id", make_test=_text_of_segments(lambda segment: segment.id), example="id:x", help=_WHAT,
        also_called=("session",), may_be_words=True,
    ),
    FilterKind(
        key="cwd", make_test=_text_of_segments(lambda segment: segment.cwd), example="cwd:x", help=_WHAT,
        also_called=("dir", "folder", "repo"), values=lambda stored, now: stored.folders, may_be_words=True,
    ),
    FilterKind(
        key="model", make_test=_text_of_segments(lambda segment: segment.model), example="model:x", help=_WHAT,
        also_called=("provider",), values=lambda stored, now: stored.models, may_be_words=True,
    ),
    FilterKind(
        key="after", make_test=_dated, example="after:3d", help=_WHEN, also_called=("since", "from", "newer"),
        reason=_no_date, values=_dates, is_value=True, is_limit=True,
    ),
    FilterKind(
        key="before", make_test=_dated, example="before:2026-03", help=_WHEN,
        also_called=("until", "older", "to"), reason=_no_date, values=_dates, is_value=True, is_limit=True,
    ),
    FilterKind(
        key="on", make_test=_dated, example="on:mon", help=_WHEN, also_called=("date", "day", "when"),
        reason=_no_date, values=_dates, is_value=True,
    ),
    FilterKind(
        key="is", make_test=_is, example="is:live is:archived -is:rewound …",
        help=N_(
            "live open stale (open, silent for a week) ended empty "
            "archived pinned hidden chat automation subagent branch; messages: compacted, rewound (taken back), "
            "forgotten (compressed: the model has them no longer)"
        ),
        also_called=("state", "status", "type"), reason=_one_of(_IS), values=lambda stored, now: _IS,
    ),
    FilterKind(
        key="has", make_test=_has, example="has:image has:error has:code",
        help=N_("also has:tool has:branch has:subagent"), also_called=("contains",),
        reason=_one_of(_HAS), values=lambda stored, now: _HAS,
    ),
    FilterKind(
        key="cost", make_test=_compared_number(lambda chat: chat.tree_cost_usd, parse_money), example="cost>1",
        help=N_("US dollars, with all subagents"), also_called=("price", "usd"),
        reason=_no_amount(parse_money), sign=">", is_value=True,
    ),
    FilterKind(
        key="msgs", make_test=_compared_number(lambda chat: chat.message_count, parse_count), example="msgs>100",
        help=_SIZE, also_called=("messages",), reason=_no_amount(parse_count), sign=">", is_value=True,
    ),
    FilterKind(
        key="tokens", make_test=_compared_number(lambda chat: chat.tokens.total, parse_count), example="tokens>1m",
        help=_SIZE, also_called=("size",), reason=_no_amount(parse_count), sign=">", is_value=True,
    ),
)  # fmt: skip
"""All filters, in the order of the help."""

BY_KEY: Mapping[str, FilterKind] = {each.key: each for each in FILTERS}
FILTER_KEYS = tuple(each.key for each in FILTERS if each.sign == ":")
"""Filters written `key:value`."""
NUMBER_KEYS: tuple[str, ...] = tuple(each.key for each in FILTERS if each.sign != ":")
"""Filters written `key>value`, also with `<`, `>=`, `<=`, `=` and `:`."""
FOREIGN_NAMES: Mapping[str, str] = {name: each.key for each in FILTERS for name in each.also_called}
"""The filter for each name in other programs."""


def help_lines() -> list[tuple[str, str]]:
    """Return examples and what they mean, in English, one pair for each line of the help."""
    lines: dict[str, list[str]] = {}
    for each in FILTERS:
        lines.setdefault(each.help, []).append(each.example)
    return [(" ".join(examples), text) for text, examples in lines.items()]
