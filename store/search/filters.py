"""The filters of a query, each an entry of `FILTERS`: its names, its values, its condition, and its line of the help.

The parser, the search, completion, suggestions and the help read this table; a new filter is one more entry. A filter
is a condition in SQL: on a row of `messages m` (`message_rows.rows_sql`), or on a row of `conversations c`
(`conversation_table`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from ..ages import day_of, parse_when
from ..amounts import parse_count, parse_money
from ..connection.stored_values import FIRST_TIME, LAST_TIME
from ..wording import N_, _
from .conversation_table import Condition
from .filter_values import Vocabulary
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


def _wants_a_value(typed: Filter, now: float = 0.0) -> str:
    return "" if typed.value.strip() else _("{key}: wants a value").format(key=typed.key)


@dataclass(frozen=True, kw_only=True)
class FilterKind:
    """One kind of filter. Functions with a float take the time in Unix seconds, for dates."""

    key: str
    condition: Callable[[Filter, float], Condition]
    """Return the condition; called with valid values only."""
    example: str
    help: str
    """What it means, shown through `_`; filters with the same text share a line of the help."""
    reason: Callable[[Filter, float], str] = _wants_a_value
    """Return what is wrong with the value, a sentence; empty for a valid value."""
    also_called: tuple[str, ...] = ()
    """Names in other programs: recognized as a mistake, with this filter as the suggestion."""
    values: Callable[[Vocabulary, float], Sequence[str]] = lambda stored, now: ()
    """Return the values it can be completed to."""
    sign: str = ":"
    """What follows the key: `>` for numbers, which take `<`, `>=`, `<=` and `=` too."""
    is_value: bool = False
    """It needs a number or a date; without one the query cannot be run."""
    is_limit: bool = False
    """Several of this kind must all hold; those of other kinds are alternatives."""


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


def _role(typed: Filter, now: float) -> Condition:
    return Condition("COALESCE(CAST(m.role AS TEXT), 'unknown') = ?", (typed.value.lower(),))


def _source(typed: Filter, now: float) -> Condition:
    return Condition("instr(c.sources, ?) > 0", (f"\n{fold(typed.value)}\n",))


_CALLS = (
    "SELECT 1 FROM json_each(m.tool_calls) t WHERE lower(COALESCE("
    "json_extract(m.tool_calls, t.fullkey || '.function.name'), json_extract(m.tool_calls, t.fullkey || '.name'))) = ?"
)
"""The calls of one tool in a message; only for valid JSON."""


def _tool(typed: Filter, now: float) -> Condition:
    name = typed.value.lower()
    return Condition(
        "lower(m.tool_name) = ? OR (instr(lower(m.tool_calls), ?) > 0 "
        f"AND CASE WHEN json_valid(m.tool_calls) THEN EXISTS ({_CALLS}) END)",
        (name, name, name),
    )


def _file(typed: Filter, now: float) -> Condition:
    name = typed.value.lower()
    return Condition("instr(lower(m.tool_calls), ?) > 0 OR instr(lower(m.content), ?) > 0", (name, name))


def _dated(typed: Filter, now: float) -> Condition:
    """Compare the time of a row: before the beginning of a span, from its end on, or in it."""
    start, end, _age = parse_when(typed.value, now)
    if typed.key == "before":
        start, end = FIRST_TIME, start
    elif typed.key == "after":
        start, end = end, LAST_TIME
    elif end == start:  # "on:3d" means that day
        start, end, _age = day_of(start)
    return Condition("m.timestamp >= ? AND m.timestamp < ?", (start, end))


def _in_lines(column: str) -> Callable[[Filter, float], Condition]:
    """Return a filter that looks for its value in the texts of all segments of a conversation."""
    return lambda typed, now: Condition(f"instr(c.{column}, ?) > 0", (fold(typed.value),))


def _compared(column: str, parse: Callable[[str], float]) -> Callable[[Filter, float], Condition]:
    """Return a filter that compares a number of a conversation with its value; an unknown number never matches."""

    def condition(typed: Filter, now: float) -> Condition:
        sign = "=" if typed.op == ":" else typed.op
        return Condition(f"c.{column} {sign} ?", (parse(typed.value),))

    return condition


_IS_CONVERSATION: Mapping[str, str] = {
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
"""Whether a compression ended the session and another one goes on, so that the model has a summary of it."""
_IS_ROW: Mapping[str, str] = {
    "compacted": "NOT m.active AND m.compacted",
    "rewound": "NOT m.active AND NOT m.compacted",
    "forgotten": f"CASE WHEN m.active THEN {_CONTINUED} ELSE m.compacted END",
}
_IS = (*_IS_CONVERSATION, *_IS_ROW)


def _is(typed: Filter, now: float) -> Condition:
    value = typed.value.lower()
    return Condition(_IS_ROW.get(value) or _IS_CONVERSATION[value])


_HAS_REASONING = "COALESCE(m.reasoning, '') <> '' OR COALESCE(m.reasoning_content, '') <> ''"
_HAS: Mapping[str, str] = {
    "image": "m.content < char(1) AND instr(CAST(m.content AS BLOB), CAST('\"image' AS BLOB)) > 0",
    "error": "m.role = 'tool' AND instr(substr(m.content, 1, 20000), '\"error\"') > 0",
    "reasoning": _HAS_REASONING,
    "code": "instr(m.content, '```') > 0",
    "tool": "COALESCE(m.tool_name, '') <> '' OR COALESCE(m.tool_calls, '') <> ''",
    "branch": "c.branches > 0",
    "subagent": "c.subagents > 0",
}


def _has(typed: Filter, now: float) -> Condition:
    return Condition(_HAS[typed.value.lower()])


_WHO = N_("where, who, with which tool")
_WHAT = N_("of the conversation")
_WHEN = N_("when; also 30min 5h 2w 6mo 1y, today, 2026-03-05")
_SIZE = N_("size of the conversation")

FILTERS = (
    FilterKind(
        key="source", condition=_source, example="source:cli", help=_WHO, also_called=("platform", "channel"),
        values=lambda stored, now: stored.sources,
    ),
    FilterKind(
        key="role", condition=_role, example="role:user", help=_WHO, also_called=("author", "by"),
        values=lambda stored, now: _ROLES,
    ),
    FilterKind(
        key="tool", condition=_tool, example="tool:terminal", help=_WHO,
        values=lambda stored, now: stored.tools,
    ),
    FilterKind(
        key="file", condition=_file, example="file:src/auth.py", also_called=("path",),
        help=N_("conversations that edited this file, then those that mention it"),
    ),
    FilterKind(  # `compile_query` makes the search read reasoning instead
        key="in", condition=lambda typed, now: Condition(_HAS_REASONING), example="in:reasoning",
        help=N_("look in reasoning instead: it is in no index, so this scans"),
        reason=_one_of(("reasoning",)), values=lambda stored, now: ("reasoning",),
    ),
    FilterKind(
        key="title", condition=_in_lines("titles"), example="title:x", help=_WHAT,
        also_called=("name", "subject"),
    ),
    FilterKind(
        key="id", condition=_in_lines("ids"), example="id:x", help=_WHAT,
        also_called=("session",),
    ),
    FilterKind(
        key="cwd", condition=_in_lines("folders"), example="cwd:x", help=_WHAT,
        also_called=("dir", "folder", "repo"), values=lambda stored, now: stored.folders,
    ),
    FilterKind(
        key="model", condition=_in_lines("models"), example="model:x", help=_WHAT,
        also_called=("provider",), values=lambda stored, now: stored.models,
    ),
    FilterKind(
        key="after", condition=_dated, example="after:3d", help=_WHEN, also_called=("since", "from", "newer"),
        reason=_no_date, values=_dates, is_value=True, is_limit=True,
    ),
    FilterKind(
        key="before", condition=_dated, example="before:2026-03", help=_WHEN,
        also_called=("until", "older", "to"), reason=_no_date, values=_dates, is_value=True, is_limit=True,
    ),
    FilterKind(
        key="on", condition=_dated, example="on:mon", help=_WHEN, also_called=("date", "day", "when"),
        reason=_no_date, values=_dates, is_value=True,
    ),
    FilterKind(
        key="is", condition=_is, example="is:live is:archived -is:rewound …",
        help=N_(
            "live open stale (open, silent for a week) ended empty "
            "archived pinned hidden chat automation subagent branch; messages: compacted, rewound (taken back), "
            "forgotten (compressed: the model has them no longer)"
        ),
        also_called=("state", "status", "type"), reason=_one_of(_IS), values=lambda stored, now: _IS,
    ),
    FilterKind(
        key="has", condition=_has, example="has:image has:error has:code",
        help=N_("also has:tool has:branch has:subagent"), also_called=("contains",),
        reason=_one_of(tuple(_HAS)), values=lambda stored, now: tuple(_HAS),
    ),
    FilterKind(
        key="cost", condition=_compared("cost", parse_money), example="cost>1",
        help=N_("US dollars, with all subagents"), also_called=("price", "usd"),
        reason=_no_amount(parse_money), sign=">", is_value=True,
    ),
    FilterKind(
        key="msgs", condition=_compared("messages", parse_count), example="msgs>100",
        help=_SIZE, also_called=("messages",), reason=_no_amount(parse_count), sign=">", is_value=True,
    ),
    FilterKind(
        key="tokens", condition=_compared("tokens", parse_count), example="tokens>1m",
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
