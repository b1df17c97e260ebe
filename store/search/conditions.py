"""Filters of a query as conditions: some on the chat message, some on its conversation."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from ..messages import SENTINEL, decode_tool_calls
from ..models import State
from ..sessions.models import Conversation, Kind, Status
from .edits import edits_file
from .fold import fold
from .query import Filter, Problem, Query
from .values import day_of, parse_date, parse_number, reason_against

_STATES = ("compacted", "rewound")
_MESSAGE_KEYS = frozenset(("role", "tool", "file", "in", "before", "after", "on"))
_STALE_SECONDS = 86400.0
"""Open, but silent for longer: whoever had it open has gone without a word."""

_Asked = TypeVar("_Asked")


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


@dataclass(frozen=True)
class MessageCondition:
    """The filters of a query that look at a row."""

    tests: tuple[RowTest, ...]

    def accepts(self, row: RowFacts) -> bool:
        """Whether a row passes all of them."""
        return all(test(row) for test in self.tests)


@dataclass(frozen=True)
class Conditions:
    """All filters of a query, ready."""

    message: MessageCondition | None
    conversation: ConversationTest | None
    problems: tuple[Problem, ...]


def _date_test(key: str, span: tuple[float, float]) -> RowTest:
    start, end = span
    if key == "before":
        return lambda row: row.moment is not None and row.moment < start
    if key == "after":
        edge = end if end > start else start
        return lambda row: row.moment is not None and row.moment >= edge
    if end == start:  # "on:3d" means that day
        start, end = day_of(start)
    return lambda row: row.moment is not None and start <= row.moment < end


def _calls(needle: str, tool_calls: str) -> bool:
    """Whether a call of a row is to this tool; JSON is read only where the name occurs at all."""
    return needle in fold(tool_calls) and any(fold(call.name) == needle for call in decode_tool_calls(tool_calls))


_HAS_TESTS: dict[str, RowTest] = {
    "image": lambda row: row.content.startswith(SENTINEL) and '"image' in row.content[:100_000],
    "error": lambda row: row.role == "tool" and '"error"' in row.content[:20_000],
    "code": lambda row: "```" in row.content,
    "tool": lambda row: bool(row.tool_name or row.tool_calls),
    "reasoning": lambda row: row.has_reasoning,
}


def _message_test(each: Filter, now: float) -> RowTest:
    value, needle = each.value.lower(), fold(each.value)
    if each.key == "role":
        return lambda row: row.role == value
    if each.key == "tool":
        return lambda row: needle == fold(row.tool_name) or _calls(needle, row.tool_calls)
    if each.key == "file":
        return lambda row: needle in fold(row.tool_calls) or needle in fold(row.content)
    if each.key == "in":  # where in a row is looked is seen to by `make_plan`
        return lambda row: row.has_reasoning
    if each.key == "is":
        wanted = State(value)
        return lambda row: row.state is wanted
    if each.key == "has":
        return _HAS_TESTS[value]
    span = parse_date(each.value, now)
    return _date_test(each.key, span) if span is not None else lambda row: True


def _number(each: Filter) -> Callable[[float | None], bool]:
    limit = parse_number(each.value) or 0.0
    tests: dict[str, Callable[[float], bool]] = {
        ">": lambda value: value > limit,
        ">=": lambda value: value >= limit,
        "<": lambda value: value < limit,
        "<=": lambda value: value <= limit,
    }

    def equal(value: float) -> bool:
        return value == limit

    test = tests.get(each.op, equal)
    return lambda value: value is not None and test(value)


def _conversation_test(each: Filter, now: float) -> ConversationTest:
    value, needle = each.value.lower(), fold(each.value)
    texts: dict[str, Callable[[Conversation], list[str | None]]] = {
        "title": lambda found: [segment.title for segment in found.segments],
        "id": lambda found: [segment.id for segment in found.segments],
        "cwd": lambda found: [segment.cwd for segment in found.segments],
        "model": lambda found: [segment.model for segment in found.segments],
    }
    if each.key == "source":
        return lambda found: value in (segment.source.lower() for segment in found.segments)
    if each.key in texts:
        read = texts[each.key]
        return lambda found: any(needle in fold(text) for text in read(found) if text)
    if each.key in ("cost", "msgs", "tokens"):
        test = _number(each)
        numbers: dict[str, Callable[[Conversation], float | None]] = {
            "cost": lambda found: found.cost_usd,
            "msgs": lambda found: float(found.message_count),
            "tokens": lambda found: float(found.tokens.total),
        }
        amount = numbers[each.key]
        return lambda found: test(amount(found))
    if each.key == "has":
        return lambda found: (found.branches if value == "branch" else found.subagents) > 0
    flags: dict[str, ConversationTest] = {
        "archived": lambda found: found.archived,
        "pinned": lambda found: found.pinned,
        "hidden": lambda found: found.hidden,
        "branch": lambda found: found.relation.value == "branched",
        "stale": lambda found: found.status is Status.OPEN and (found.last_active or 0.0) < now - _STALE_SECONDS,
    }
    if value in flags:
        return flags[value]
    if value in [kind.value for kind in Kind]:
        return lambda found: found.kind.value == value
    return lambda found: found.status is Status(value)


def split_by_edits(query: Query, conditions: Conditions) -> tuple[Conditions, Conditions] | None:
    """The same conditions for rows that edit a file asked for, and for those that only mention one.

    Returns:
        None where no file is asked for.
    """
    needles = [fold(each) for each in query.files]
    if not needles:
        return None
    known = conditions.message.tests if conditions.message is not None else ()

    def edits(row: RowFacts) -> bool:
        return bool(row.tool_calls) and any(edits_file(row.tool_calls, needle) for needle in needles)

    def mentions(row: RowFacts) -> bool:
        return not edits(row)

    return (
        replace(conditions, message=MessageCondition((*known, edits))),
        replace(conditions, message=MessageCondition((*known, mentions))),
    )


def _is_on_message(each: Filter) -> bool:
    if each.key in ("is", "has"):
        return each.value.lower() in (_STATES if each.key == "is" else _HAS_TESTS)
    return each.key in _MESSAGE_KEYS


def make_conditions(query: Query, now: float | None = None) -> Conditions:
    """Get the filters of a query ready; a bad value is a problem, and that filter is left out.

    Filters of one key are alternatives (`source:cli source:tui`), filters of different keys add up;
    what is left out (`-source:cron -source:tool`) adds up too.

    Args:
        query: Parsed.
        now: Unix seconds, for dates.
    """
    moment = time.time() if now is None else now
    problems: list[Problem] = []
    rows: dict[object, list[RowTest]] = {}
    chats: dict[object, list[ConversationTest]] = {}
    for each in query.filters:
        reason = reason_against(each.key, each.value, moment, each.op)
        if reason:
            problems.append(Problem(each.start, each.end, reason))
            continue
        # Alternatives share a group; limits and exclusions stand alone, so that all of them hold.
        alternative = not each.negated and each.op in (":", "=") and each.key not in ("before", "after")
        group: object = each.key if alternative else each
        if _is_on_message(each):
            rows.setdefault(group, []).append(_unless(_message_test(each, moment), each.negated))
        else:
            chats.setdefault(group, []).append(_unless(_conversation_test(each, moment), each.negated))
    message = MessageCondition(tuple(map(_any, rows.values()))) if rows else None
    all_of = list(map(_any, chats.values()))
    conversation: ConversationTest | None = (lambda found: all(test(found) for test in all_of)) if all_of else None
    return Conditions(message, conversation, tuple(problems))


def _unless(test: Callable[[_Asked], bool], negated: bool) -> Callable[[_Asked], bool]:
    return (lambda found: not test(found)) if negated else test


def _any(tests: list[Callable[[_Asked], bool]]) -> Callable[[_Asked], bool]:
    return lambda found: any(test(found) for test in tests)
