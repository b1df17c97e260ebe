"""The conditions in SQL that the filters of a query stand for: on `messages m`, or on
`conversations c`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..ages import day_of, parse_when
from ..connection.stored_values import FIRST_TIME, LAST_TIME
from .conversation_table import Condition, any_of
from .fold import fold


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


def role(typed: Filter, now: float) -> Condition:
    return Condition("COALESCE(CAST(m.role AS TEXT), 'unknown') = ?", (typed.value.lower(),))


def whole_line(column: str) -> Callable[[Filter, float], Condition]:
    """Return a filter that looks for its value, or one of several between commas, among texts of a
    conversation."""

    def condition(typed: Filter, now: float) -> Condition:
        values = [each for each in typed.value.split(",") if each.strip()] or [typed.value]
        return any_of(
            [Condition(f"instr(c.{column}, ?) > 0", (f"\n{fold(each)}\n",)) for each in values]
        )

    return condition


_CALLS = (
    "SELECT 1 FROM json_each(m.tool_calls) t WHERE lower(COALESCE("
    "json_extract(m.tool_calls, t.fullkey || '.function.name'), json_extract(m.tool_calls, t.fullkey || '.name'))) = ?"
)
"""The calls of one tool in a message; only for valid JSON."""


def tool(typed: Filter, now: float) -> Condition:
    name = typed.value.lower()
    return Condition(
        "lower(m.tool_name) = ? OR (instr(lower(m.tool_calls), ?) > 0 "
        f"AND CASE WHEN json_valid(m.tool_calls) THEN EXISTS ({_CALLS}) END)",
        (name, name, name),
    )


def file(typed: Filter, now: float) -> Condition:
    name = typed.value.lower()
    return Condition(
        "instr(lower(m.tool_calls), ?) > 0 OR instr(lower(m.content), ?) > 0", (name, name)
    )


def dated(typed: Filter, now: float) -> Condition:
    """Compare the time of a row: before the beginning of a span, from its end on, or in it."""
    start, end, _age = parse_when(typed.value, now)
    if typed.key == "before":
        start, end = FIRST_TIME, start
    elif typed.key == "after":
        start, end = end, LAST_TIME
    elif end == start:  # "on:3d" means that day
        start, end, _age = day_of(start)
    return Condition("m.timestamp >= ? AND m.timestamp < ?", (start, end))


def in_lines(column: str) -> Callable[[Filter, float], Condition]:
    """Return a filter that looks for its value in the texts of all segments of a conversation."""
    return lambda typed, now: Condition(f"instr(c.{column}, ?) > 0", (fold(typed.value),))


_FROM_THE_TOP = re.compile(r"/|\\|[A-Za-z]:[/\\]")


def folder(typed: Filter, now: float) -> Condition:
    """Look for a part of a path; a whole path with a slash at its end means that folder and those
    below it."""
    path = os.path.expanduser(typed.value)
    is_whole = _FROM_THE_TOP.match(path) is not None and path.endswith(("/", "\\"))
    return Condition("instr(c.folders, ?) > 0", (("\n" if is_whole else "") + fold(path),))


def idle(typed: Filter, now: float) -> Condition:
    """Compare the last activity in any segment with a moment; a conversation without any time is
    never old."""
    return Condition("c.used < ?", (parse_when(typed.value, now).start,))


def compared(column: str, parse: Callable[[str], float]) -> Callable[[Filter, float], Condition]:
    """Return a filter that compares a number of a conversation with its value; an unknown number
    never matches."""

    def condition(typed: Filter, now: float) -> Condition:
        sign = "=" if typed.op == ":" else typed.op
        return Condition(f"c.{column} {sign} ?", (parse(typed.value),))

    return condition


IS_CONVERSATION: Mapping[str, str] = {
    "live": "c.status = 'live'",
    "open": "c.status = 'open'",
    "stale": "c.stale",
    "ended": "c.status = 'ended'",
    "empty": "c.empty",
    "archived": "c.archived",
    "pinned": "c.pinned",
    "hidden": "c.hidden",
    "chat": "c.kind = 'chat'",
    "automation": "c.automation",
    "subagent": "c.kind = 'subagent'",
    "branch": "c.relation = 'branched'",
}
_CONTINUED = (
    "m.session_id IN (SELECT s.id FROM sessions s WHERE s.end_reason = 'compression' AND EXISTS "
    "(SELECT 1 FROM sessions n WHERE n.parent_session_id = s.id AND n.started_at >= s.ended_at))"
)
"""Whether a compression ended the session and another one goes on, so that the model has a summary
of it."""
IS_ROW: Mapping[str, str] = {
    "compacted": "NOT m.active AND m.compacted",
    "rewound": "NOT m.active AND NOT m.compacted",
    "forgotten": f"CASE WHEN m.active THEN {_CONTINUED} ELSE m.compacted END",
}
_FACETS = (
    ("live", "open", "stale", "ended"),
    ("chat", "automation", "subagent", "branch"),
    tuple(IS_ROW),
)
"""States of which a conversation or a message has one, so that several of them are alternatives."""


def facet(state: str) -> str:
    """Return the first of the states that a state is an alternative to; one without alternatives
    itself."""
    return next((states[0] for states in _FACETS if state.lower() in states), state.lower())


def is_state(typed: Filter, now: float) -> Condition:
    value = typed.value.lower()
    return Condition(IS_ROW.get(value) or IS_CONVERSATION[value])


HAS_REASONING = "COALESCE(m.reasoning, '') <> '' OR COALESCE(m.reasoning_content, '') <> ''"
HAS: Mapping[str, str] = {
    "image": "m.content < char(1) AND instr(CAST(m.content AS BLOB), CAST('\"image' AS BLOB)) > 0",
    "error": "m.role = 'tool' AND instr(substr(m.content, 1, 20000), '\"error\"') > 0",
    "reasoning": HAS_REASONING,
    "code": "instr(m.content, '```') > 0",
    "tool": "COALESCE(m.tool_name, '') <> '' OR COALESCE(m.tool_calls, '') <> ''",
    "branch": "c.branches > 0",
    "subagent": "c.subagents > 0",
}


def has_content(typed: Filter, now: float) -> Condition:
    return Condition(HAS[typed.value.lower()])
