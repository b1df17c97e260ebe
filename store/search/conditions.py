"""Filters of a query as conditions: some on the chat message, some on its conversation."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from ..models import Conversation, Kind, State, Status
from .query import Filter, Problem, Query
from .terms import fold

_AGE = re.compile(r"(\d+)\s*(h|d|w|mo|m|y)")
_AGE_DAYS = {"d": 1.0, "w": 7.0, "m": 30.0, "mo": 30.0, "y": 365.0, "h": 1 / 24}
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MESSAGE_KEYS = frozenset(("role", "tool", "before", "after", "on"))
_STATES = ("compacted", "rewound")
_HAS = ("image", "error", "reasoning", "code", "tool", "branch", "subagent")
_HAS_MESSAGE = ("image", "error", "code", "tool")
_IS = ("live", "open", "ended", "empty", "archived", "pinned", "hidden", "chat", "automation", "subagent", "branch")


def parse_date(text: str, now: float) -> tuple[float, float] | None:
    """The span of time a person means, local: `2026`, `2026-03`, `2026-03-05`, `today`, `mon`, `3d`.

    Args:
        text: As typed.
        now: Unix seconds.

    Returns:
        Half-open span; for an age (`3d`) the moment that long ago, twice. None when it is no date.
    """
    word = text.strip().lower()
    today = datetime.fromtimestamp(now).date()
    try:
        if word in ("today", "yesterday"):
            return _span(today - timedelta(days=word == "yesterday"))
        if word[:3] in _DAYS and word.isalpha():
            return _span(today - timedelta(days=(today.weekday() - _DAYS.index(word[:3])) % 7))
        if age := _AGE.fullmatch(word):
            moment = now - int(age[1]) * _AGE_DAYS[age[2]] * 86400
            return moment, moment
        if re.fullmatch(r"\d{4}", word):
            year = int(word)
            return _moment(date(year, 1, 1)), _moment(date(year + 1, 1, 1))
        if re.fullmatch(r"\d{4}-\d{1,2}", word):
            year, month = map(int, word.split("-"))
            return _moment(date(year, month, 1)), _moment(date(year + month // 12, month % 12 + 1, 1))
        return _span(date.fromisoformat(word))
    except (ValueError, OverflowError, OSError):
        return None


def _moment(day: date) -> float:
    return datetime(day.year, day.month, day.day).timestamp()


def _span(day: date) -> tuple[float, float]:
    return _moment(day), _moment(day + timedelta(days=1))


@dataclass(frozen=True)
class MessageCondition:
    """The filters of a query that look at a row."""

    tests: tuple[Callable[[str, float | None, State, str, str, str], bool], ...]

    def accepts(self, role: str, moment: float | None, state: State, content: str, tool: str, calls: str) -> bool:
        """Whether a row passes all of them."""
        return all(test(role, moment, state, content, tool, calls) for test in self.tests)


@dataclass(frozen=True)
class Conditions:
    """All filters of a query, ready."""

    message: MessageCondition | None
    conversation: Callable[[Conversation], bool] | None
    problems: tuple[Problem, ...]


def _date_test(key: str, span: tuple[float, float]) -> Callable[[float | None], bool]:
    start, end = span
    if key == "before":
        return lambda moment: moment is not None and moment < start
    if key == "after":
        return lambda moment: moment is not None and moment >= (end if end > start else start)
    if end == start:  # "on:3d" means that day
        start, end = _span(datetime.fromtimestamp(start).date())
    return lambda moment: moment is not None and start <= moment < end


def _message_test(each: Filter, now: float) -> Callable[[str, float | None, State, str, str, str], bool] | str:
    value = each.value.lower()
    if each.key == "role":
        return lambda role, *_: role == value
    if each.key == "tool":
        needle = fold(each.value)
        return lambda role, moment, state, content, tool, calls: needle == fold(tool) or f'"{needle}"' in fold(calls)
    if each.key == "is":
        wanted = State(value)
        return lambda role, moment, state, *_: state is wanted
    if each.key == "has":
        tests: dict[str, Callable[[str, str, str, str], bool]] = {
            "image": lambda role, content, tool, calls: (
                content.startswith("\x00json:") and '"image' in content[:100_000]
            ),
            "error": lambda role, content, tool, calls: role == "tool" and '"error"' in content[:20_000],
            "code": lambda role, content, tool, calls: "```" in content,
            "tool": lambda role, content, tool, calls: bool(tool or calls),
        }
        test = tests[value]
        return lambda role, moment, state, content, tool, calls: test(role, content, tool, calls)
    span = parse_date(each.value, now)
    if span is None:
        return "no date: write 2026-03-05, 2026-03, today, mon, 3d or 2w"
    when = _date_test(each.key, span)
    return lambda role, moment, *_: when(moment)


def _number(each: Filter) -> Callable[[float | None], bool] | str:
    try:
        limit = float(each.value.lower().removeprefix("$").replace("k", "e3").replace("m", "e6"))
    except ValueError:
        return "no number"
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


def _conversation_test(each: Filter) -> Callable[[Conversation], bool] | str:
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
        if isinstance(test, str):
            return test
        numbers: dict[str, Callable[[Conversation], float | None]] = {
            "cost": lambda found: found.cost_usd,
            "msgs": lambda found: float(found.message_count),
            "tokens": lambda found: float(found.tokens.total),
        }
        amount = numbers[each.key]
        return lambda found: test(amount(found))
    if each.key == "has":
        return lambda found: (found.branches if value == "branch" else found.subagents) > 0
    flags: dict[str, Callable[[Conversation], bool]] = {
        "archived": lambda found: found.archived,
        "pinned": lambda found: found.pinned,
        "hidden": lambda found: found.hidden,
        "branch": lambda found: found.relation.value == "branched",
    }
    if value in flags:
        return flags[value]
    if value in [kind.value for kind in Kind]:
        return lambda found: found.kind.value == value
    return lambda found: found.status is Status(value)


def _unknown(each: Filter) -> str | None:
    if each.key == "is" and each.value.lower() not in (*_IS, *_STATES):
        return "is: knows " + ", ".join((*_IS, *_STATES))
    if each.key == "has" and each.value.lower() not in (*_HAS_MESSAGE, "branch", "subagent"):
        return "has: knows " + ", ".join((*_HAS_MESSAGE, "branch", "subagent"))
    return None


def make_conditions(query: Query, now: float | None = None) -> Conditions:
    """Get the filters of a query ready; a bad value is a problem, and that filter is left out.

    Filters of one key are alternatives (`source:cli source:tui`), filters of different keys add up.

    Args:
        query: Parsed.
        now: Unix seconds, for dates.
    """
    moment = time.time() if now is None else now
    problems: list[Problem] = []
    messages: dict[str, list[Callable[[str, float | None, State, str, str, str], bool]]] = {}
    conversations: dict[str, list[Callable[[Conversation], bool]]] = {}
    for each in query.filters:
        reason = _unknown(each)
        on_message = each.key in _MESSAGE_KEYS or each.value.lower() in (
            _STATES if each.key == "is" else _HAS_MESSAGE if each.key == "has" else ()
        )
        group = f"{each.key}{each.negated}{each.op if each.op != ':' else ''}"
        if reason is None and on_message:
            test = _message_test(each, moment)
            if isinstance(test, str):
                reason = test
            else:
                messages.setdefault(group, []).append(_negated_message(test) if each.negated else test)
        elif reason is None:
            found = _conversation_test(each)
            if isinstance(found, str):
                reason = found
            else:
                conversations.setdefault(group, []).append(_negated(found) if each.negated else found)
        if reason is not None:
            problems.append(Problem(each.start, each.end, reason))
    rows = tuple(_any_message(group) for group in messages.values())
    chats = [_any(group) for group in conversations.values()]
    return Conditions(
        MessageCondition(rows) if rows else None,
        (lambda conversation: all(test(conversation) for test in chats)) if chats else None,
        tuple(problems),
    )


def _negated(test: Callable[[Conversation], bool]) -> Callable[[Conversation], bool]:
    return lambda found: not test(found)


def _negated_message(
    test: Callable[[str, float | None, State, str, str, str], bool],
) -> Callable[[str, float | None, State, str, str, str], bool]:
    return lambda *row: not test(*row)


def _any(tests: list[Callable[[Conversation], bool]]) -> Callable[[Conversation], bool]:
    return lambda found: any(test(found) for test in tests)


def _any_message(
    tests: list[Callable[[str, float | None, State, str, str, str], bool]],
) -> Callable[[str, float | None, State, str, str, str], bool]:
    return lambda *row: any(test(*row) for test in tests)
