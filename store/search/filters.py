"""The filters of a query, each an entry of `FILTERS`: its names, its condition, its line of the
help, its values.

The parser, the search, clean-ups, completion, suggestions and the help read this table; a new
filter is one more entry. A filter is a condition in SQL: on a row of `message_rows m`
(`Schema.views`), or on a row of `conversations c` (`scope.ConversationTable`). A clean-up takes
whole conversations, so it has no use for the former.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import filterfalse, groupby
from operator import attrgetter
from string import ascii_lowercase, ascii_uppercase
from typing import NamedTuple

from ..amounts import When, bytes_to_free, day_of, parse_bytes, parse_count, parse_money, parse_when
from ..connection.stored_values import FIRST_TIME, LAST_TIME
from ..wording import N_, _
from .conditions import (
    AT,
    CONTINUED,
    EVERYTHING,
    HAS_FAILED,
    HAS_IMAGE,
    HAS_REASONING,
    USES,
    Condition,
    any_of,
)
from .terms import fold_composed, in_json


class Filter(NamedTuple):
    """A filter as it was typed."""

    key: str
    op: str
    """What was typed between key and value: `:`, or a comparison."""
    value: str
    negated: bool = False
    start: int = -1
    """Position in the query, code points; -1 if it was not typed there."""
    end: int = -1


# What a typed value is compared with: each function returns alternatives, each with the values for
# the placeholders of a condition, and raises ValueError, with a sentence, for what it cannot read.

_Values = Sequence[tuple[object, ...]]
_Read = Callable[[Filter, float], _Values]
"""Takes the time in Unix seconds, for dates."""


def _words(typed: Filter, now: float) -> _Values:
    """Read a word, or one of several between commas."""
    return [(each.lower(),) for each in _alternatives(typed)]


def _alternatives(typed: Filter) -> list[str]:
    return [each for each in typed.value.split(",") if each.strip()] or [typed.value]


_LOWER_ASCII = str.maketrans(ascii_uppercase, ascii_lowercase)


def _file(typed: Filter, now: float) -> _Values:
    """Read a path as texts and JSON have it. SQL compares in lower case, but for letters beyond
    ASCII."""
    name = typed.value
    forms = {each.translate(_LOWER_ASCII) for each in (name, name.lower(), name.upper())}
    return [(each,) for form in sorted(forms) for each in in_json(form)]


def _part(typed: Filter, now: float) -> _Values:
    return [(fold_composed(typed.value),)]


def _lines(typed: Filter, now: float) -> _Values:
    """Read a whole line of a text, or one of several between commas."""
    return [(f"\n{fold_composed(each)}\n",) for each in _alternatives(typed)]


_FROM_THE_TOP = re.compile(r"/|\\|[A-Za-z]:[/\\]")


def _folder(typed: Filter, now: float) -> _Values:
    """Read a part of a path; a whole path with a slash at its end means that folder and those below
    it."""
    path = os.path.expanduser(typed.value)
    is_whole = _FROM_THE_TOP.match(path) is not None and path.endswith(("/", "\\"))
    return [("\n" * is_whole + fold_composed(path),)]


def _span(typed: Filter, now: float) -> When:
    try:
        return parse_when(typed.value, now)
    except ValueError as error:
        raise ValueError(f"{typed.key}: {error}") from error


def _bound(name: str) -> _Read:
    return lambda typed, now: [(getattr(_span(typed, now), name),)]


def _day(typed: Filter, now: float) -> _Values:
    span = _span(typed, now)
    start, end, _age = span if span.start < span.end else day_of(span.start)  # of an age
    return [(start, end)]


_NEEDS = N_("{filter} needs a number, e.g. {filter}{example}")


def _number(parse: Callable[[str], float], example: str = "1", needs: str = _NEEDS) -> _Read:
    def read(typed: Filter, now: float) -> _Values:
        try:
            return [(parse(typed.value),)]
        except ValueError as error:
            text = _(needs, filter=f"{typed.key}{typed.op}", example=example)
            raise ValueError(text) from error

    return read


_goal = _number(
    partial(bytes_to_free, used=0),
    needs=N_("free: wants a share or a size, e.g. free:50% or free:2GB"),
)


# The words that filters know

_STATES = {
    "live": "c.status = 'live'",
    "open": "c.status = 'open'",
    "stale": "c.stale",
    "ended": "c.status = 'ended'",
    "empty": "c.is_empty",
    "archived": "c.archived",
    "pinned": "c.pinned",
    "hidden": "c.hidden",
    "chat": "c.kind = 'chat'",
    "automation": "c.is_automation",
    "subagent": "c.kind = 'subagent'",
    "branch": "c.relation = 'branched'",
    "new": "c.unread",
    "waiting": "c.waiting",
    "compacted": "m.state = 'compacted'",
    "rewound": "m.state = 'rewound'",
    "forgotten": f"CASE m.state WHEN 'live' THEN {CONTINUED} ELSE m.state = 'compacted' END",
}
_FACETS = (
    ("live", "open", "stale", "ended"),
    ("chat", "automation", "subagent", "branch"),
    ("compacted", "rewound", "forgotten"),
)
FACETS = {state: states[0] for states in _FACETS for state in states}
"""States of which a conversation or a message has one, each with the first of its kind: several of
them are alternatives."""
_CONTENTS = {
    "image": f"m.content < char(1) AND ({HAS_IMAGE})",
    "error": HAS_FAILED,
    "reasoning": HAS_REASONING,
    "code": "instr(m.content, '```') > 0",
    "tool": "COALESCE(m.tool_name, '') <> '' OR COALESCE(m.tool_calls, '') <> ''",
    "branch": "c.branches > 0",
    "subagent": "c.subagents > 0",
}
_LEFT_OUT = dict.fromkeys(("archived", "stale", "open"), EVERYTHING.sql)
"""What a clean-up leaves out unless a filter names it."""


class FilterKind(NamedTuple):
    """One kind of filter."""

    key: str
    sql: str
    """Its condition, with `?` for values and `{sign}` for a comparison; empty if it knows some words
    only. The values repeat if there are more placeholders."""
    read: _Read
    """Reads the values for the condition."""
    example: str
    help: str
    """What it means, shown through `_`; filters with the same text share a line of the help."""
    also_called: tuple[str, ...] = ()
    """Names in other programs: recognized as a mistake, with this filter as the suggestion."""
    choices: tuple[str, ...] = ()
    """The values it can be completed to, beside the words that it knows and those of the store."""
    known: Mapping[str, str] = {}
    """The condition for each word that it knows; empty if it takes any value."""
    sign: str = ":"
    """What follows the key: `>` for numbers, which take `<`, `>=`, `<=` and `=` too."""
    is_required: bool = False
    """A bad value stops the query: without this filter it would find, or delete, too much."""
    is_limit: bool = False
    """Several of this kind must all hold; those of other kinds are alternatives."""
    of_messages: bool = False
    """Its condition is on single messages, whatever the value: a clean-up has no use for it."""
    is_cleanup_only: bool = False
    """It chooses among what the other filters of a clean-up mean; it has no condition."""

    def condition(self, typed: Filter, now: float) -> Condition:
        """Return its condition; ValueError, with a sentence, for a value it cannot take."""
        sql = self.known.get(typed.value.lower(), self.sql)
        if not sql:
            raise ValueError(
                _("{key}: knows {values}", key=typed.key, values=", ".join(self.known))
            )
        sql = sql.format(sign="=" if typed.op == ":" else typed.op)
        alternatives = self.read(typed, now)
        times = sql.count("?") // len(alternatives[0])
        return any_of([Condition(sql, values * times) for values in alternatives])

    def reason(self, typed: Filter, now: float) -> str:
        """Return what is wrong with a value, a sentence; empty for a valid value."""
        if not typed.value.strip() and self.sign == ":":
            return _("{key}: wants a value", key=typed.key)
        try:
            self.condition(typed, now)
        except ValueError as error:
            return str(error)
        return ""

    def reads_messages(self, typed: Filter, now: float) -> bool:
        """Whether a valid filter is a condition on messages."""
        return "m." in self.condition(typed, now).sql


_DATES = (
    "today", "yesterday", "5h", "3d", "2w", "1mo", "1y", "mon", "tue", "wed", "thu", "fri", "sat", "sun",
    "%Y-%m", "%Y-%m-%d",
)  # fmt: skip
_FROM = N_("whole names: who, in which chat or kind of chat, Git branch, provider, why it ended")
_WHO = N_("where, who, with which tool")
_WHAT = N_("of the conversation")
_WHEN = N_("when; also 30min 5h 2w 6mo 1y, today, 2026-03-05")
_SIZE = N_("size of the conversation")

FILTERS = (
    FilterKind("source", "instr(c.source, ?) > 0", _lines, "source:cli", _WHO, ("platform", "channel")),
    FilterKind("role", "m.role = ?", _words, "role:user", _WHO,
               ("author", "by"), ("user", "assistant", "tool", "system"), of_messages=True),
    FilterKind("tool", USES, _words, "tool:terminal", _WHO, of_messages=True),
    FilterKind("file", "instr(lower(m.tool_calls), ?) > 0 OR instr(lower(m.content), ?) > 0", _file,
               "file:src/auth.py",
               N_("conversations that edited this file, then those that mention it"), ("path",), of_messages=True),
    # a query with it searches reasoning instead, see `Query.in_reasoning`
    FilterKind("in", "", _words, "in:reasoning",
               N_("look in reasoning instead: it is in no index, so this scans"),
               known={"reasoning": HAS_REASONING}, of_messages=True),
    FilterKind("title", "instr(c.title, ?) > 0", _part, "title:x", _WHAT, ("name", "subject")),
    FilterKind("id", "instr(c.id, ?) > 0", _part, "id:x", _WHAT, ("session",)),
    FilterKind("cwd", "instr(c.folders, ?) > 0", _folder, "cwd:x", _WHAT, ("dir", "folder", "repo")),
    FilterKind("model", "instr(c.model, ?) > 0", _part, "model:x", _WHAT),
    FilterKind("tag", "instr(c.tags, ?) > 0", _lines, "tag:urgent", _WHAT, ("label", "group", "hashtag")),
    FilterKind("user", "instr(c.users, ?) > 0", _lines, "user:42", _FROM, ("user_id",)),
    FilterKind("chat", "instr(c.chats, ?) > 0", _lines, "chat:group", _FROM, ("chat_id", "chat_type")),
    FilterKind("branch", "instr(c.git_branch, ?) > 0", _lines, "branch:main", _FROM, ("git",)),
    FilterKind("provider", "instr(c.providers, ?) > 0", _lines, "provider:openai", _FROM),
    FilterKind("ended", "instr(c.ended, ?) > 0", _lines, "ended:cli_close", _FROM, ("end_reason",)),
    FilterKind("after", f"{AT} >= ? AND {AT} < {LAST_TIME}", _bound("end"), "after:3d", _WHEN,
               ("since", "from", "newer"), _DATES, is_required=True, is_limit=True, of_messages=True),
    FilterKind("before", f"{AT} >= {FIRST_TIME} AND {AT} < ?", _bound("start"), "before:2026-03", _WHEN,
               ("until", "to"), _DATES, is_required=True, is_limit=True, of_messages=True),
    FilterKind("on", f"{AT} >= ? AND {AT} < ?", _day, "on:mon", _WHEN, ("date", "day", "when"), _DATES,
               is_required=True, of_messages=True),
    # of the last activity in any segment; a conversation without any time is never old
    FilterKind("older", "c.last_active < ?", _bound("start"), "older:30d",
               N_("no activity for so long, or since a date; -older:7d: used since then"), ("idle",), _DATES,
               is_required=True, is_limit=True),
    FilterKind("is", "", _words, "is:live is:archived -is:rewound …",
               N_("live open stale (open, silent for a week) ended empty "
                  "new (not read yet) waiting (for you) "
                  "archived pinned hidden chat automation subagent branch; messages: compacted, rewound (taken back), "
                  "forgotten (compressed: the model has them no longer)"),
               ("state", "status", "type"), known=_STATES),
    FilterKind("has", "", _words, "has:image has:error has:code",
               N_("also has:tool has:reasoning has:branch has:subagent"), ("contains",), known=_CONTENTS),
    # an unknown number never matches
    FilterKind("cost", "c.tree_cost_usd {sign} ?", _number(parse_money), "cost>1",
               N_("US dollars, with all subagents"), ("price", "usd"), sign=">", is_required=True),
    FilterKind("msgs", "c.messages {sign} ?", _number(parse_count), "msgs>100", _SIZE, ("messages",),
               sign=">", is_required=True),
    FilterKind("tokens", "c.tokens {sign} ?", _number(parse_count), "tokens>1m", _SIZE, sign=">", is_required=True),
    FilterKind("tools", "c.tool_call_count {sign} ?", _number(parse_count), "tools>20", _SIZE, ("calls",),
               sign=">", is_required=True),
    FilterKind("size", "c.size {sign} ?", _number(parse_bytes, "10M"), "size>10M",
               N_("bytes with their share of the search index, without subagents: they are measured first"),
               ("bytes",), sign=">", is_required=True),
    FilterKind("include", "", _words, "include:archived include:stale",
               N_("a clean-up leaves out archived and open conversations; these go as well (also include:open)"),
               known=_LEFT_OUT, is_required=True, is_cleanup_only=True),
    FilterKind("free", EVERYTHING.sql, _goal, "free:50% free:2GB",
               N_("of a clean-up, the longest idle until this share of the used bytes, or so many, is given back"),
               choices=("10%", "25%", "50%", "1GB"), is_required=True, is_cleanup_only=True),
)  # fmt: skip
"""All filters, in the order of the help."""

BY_KEY: Mapping[str, FilterKind] = {each.key: each for each in FILTERS}
FILTER_KEYS = tuple(each.key for each in FILTERS if each.sign == ":")
"""Filters written `key:value`."""
NUMBER_KEYS = tuple(each.key for each in FILTERS if each.sign != ":")
"""Filters written `key>value`, also with `<`, `>=`, `<=`, `=` and `:`."""


def help_lines(*, for_cleanup: bool = False) -> list[tuple[str, str]]:
    """Return examples and what they mean, in English, one pair for each line of the help."""
    kinds = groupby(kinds_for(for_cleanup=for_cleanup), attrgetter("help"))
    return [(" ".join(each.example for each in some), text) for text, some in kinds]


def kinds_for(*, for_cleanup: bool) -> Iterable[FilterKind]:
    """Return the filters that a clean-up takes, or a search."""
    unfit = attrgetter("of_messages" if for_cleanup else "is_cleanup_only")
    return filterfalse(unfit, FILTERS)
