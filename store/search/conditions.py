"""Which rows may be hits, apart from the words: the filters of a query, the sessions and the roles."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TypeVar

from ..connection.reader import Reader
from ..connection.stored_values import read_json
from ..messages.decode import decode_tool_calls
from ..sessions.catalog import Catalog, read_catalog
from ..sessions.models import Conversation, View
from .filters import BY_KEY, ConversationTest, RowFacts, RowTest
from .fold import fold
from .query import Query

_T = TypeVar("_T")


@dataclass(frozen=True)
class Conditions:
    """All filters of a query as two tests; None admits everything."""

    message: RowTest | None = None
    conversation: ConversationTest | None = None


def make_conditions(query: Query, now: float | None = None) -> Conditions:
    """Return the tests for the filters of a query.

    Filters of one key are alternatives (`source:cli source:tui`); filters of different keys and negated filters
    (`-source:cron -source:tool`) must all hold. `now` is in Unix seconds, for dates.
    """
    moment = time.time() if now is None else now
    rows: dict[object, list[RowTest]] = {}
    conversations: dict[object, list[ConversationTest]] = {}
    for each in query.filters:
        kind = BY_KEY[each.key]
        test = kind.make_test(each, moment)
        # Alternatives share a group; a limit or an exclusion is a group of its own.
        is_alternative = not each.negated and each.op in (":", "=") and not kind.is_limit
        group: object = each.key if is_alternative else each
        if test.row is not None:
            rows.setdefault(group, []).append(_unless(test.row, each.negated))
        elif test.conversation is not None:
            conversations.setdefault(group, []).append(_unless(test.conversation, each.negated))
    return Conditions(_all_groups(rows), _all_groups(conversations))


def _unless(test: Callable[[_T], bool], negated: bool) -> Callable[[_T], bool]:
    return (lambda value: not test(value)) if negated else test


def _all_groups(groups: dict[object, list[Callable[[_T], bool]]]) -> Callable[[_T], bool] | None:
    """Return a test that passes where any test of each group does; None where there is none."""
    if not groups:
        return None
    return lambda value: all(any(test(value) for test in group) for group in groups.values())


def split_by_edits(query: Query, conditions: Conditions) -> tuple[Conditions, Conditions] | None:
    """Return the conditions for rows that edit a requested file, and for those that only mention one.

    Returns:
        None where no file is requested.
    """
    needles = [fold(each) for each in query.files]
    if not needles:
        return None
    test = conditions.message

    def edits(row: RowFacts) -> bool:
        return bool(row.tool_calls) and any(edits_file(row.tool_calls, needle) for needle in needles)

    return (
        replace(conditions, message=lambda row: (test is None or test(row)) and edits(row)),
        replace(conditions, message=lambda row: (test is None or test(row)) and not edits(row)),
    )


_CHANGES = re.compile(r"write|edit|patch|create|replace|append|insert|delete|remove|rename|move")
"""Parts of the names of tools that change files: `write_file` and `patch` are Hermes' own (0.22)."""
_PATCH_HEADERS = ("*** ", "+++ ", "--- ")
"""How a line of a patch begins that names a file."""


def _names_file(argument: object, needle: str) -> bool:
    """Whether an argument names the file: a bare path, or the headers of a patch, not the text written."""
    if not isinstance(argument, str):
        return False
    lines = argument.split("\n")
    return any(needle in fold(line) for line in lines if len(lines) == 1 or line.startswith(_PATCH_HEADERS))


def edits_file(tool_calls: str, needle: str) -> bool:
    """Whether tool calls, as stored, change a file whose path contains a folded text."""
    if needle not in fold(tool_calls):
        return False
    for call in decode_tool_calls(tool_calls):
        if not _CHANGES.search(call.name.lower()):
            continue
        try:
            arguments = read_json(call.arguments)
        except ValueError:
            arguments = None
        values = arguments.values() if isinstance(arguments, dict) else [call.arguments]
        if any(_names_file(value, needle) for value in values):
            return True
    return False


@dataclass(frozen=True)
class Scope:
    """Which rows may be hits, apart from the words."""

    sessions: Callable[[str], bool] | None = None
    """A test of a session's id; None admits all."""
    roles: frozenset[str] = frozenset()
    """Only these roles; empty admits all."""
    message: RowTest | None = None
    """The filters of the query that test the row itself."""

    def narrowed(self, sessions: Callable[[str], bool] | None, roles: frozenset[str]) -> Scope:
        """Return the scope with a further test of sessions, and with these roles only."""
        one, other = self.sessions, sessions
        if one is not None and other is not None:
            return replace(self, sessions=lambda session_id: one(session_id) and other(session_id), roles=roles)
        return replace(self, sessions=one or other, roles=roles)


EVERYTHING = Scope()


def allowed_sessions(
    catalog: Catalog,
    view: View,
    sources: Collection[str] = (),
    condition: Callable[[Conversation], bool] | None = None,
) -> frozenset[str]:
    """Return the ids of all sessions of the conversations in a view that pass the filters of a query.

    The catalog is of the whole store. Only roots of these `sources` count; empty means any.
    """
    return frozenset(
        segment.id
        for chain in catalog.forest.in_view(view)
        if (not sources or chain.root.source in sources) and (condition is None or condition(chain))
        for segment in chain.segments
    )


def make_scope(conditions: Conditions, catalog: Catalog | None, view: View = View.ALL) -> Scope:
    """Return the scope of a query's filters in a view; the catalog may be None if neither needs it."""
    sessions: Callable[[str], bool] | None = None
    if catalog is not None and conditions.conversation is not None:
        sessions = allowed_sessions(catalog, view, (), conditions.conversation).__contains__
    elif catalog is not None and view is not View.ALL:
        sessions = cache(partial(catalog.forest.is_in, view=view))  # a keystroke tests few of all sessions
    return Scope(sessions, message=conditions.message)


def read_scope(reader: Reader, query: Query, now: float | None = None) -> Scope:
    """Return the scope of a query's filters in the whole store; reads all sessions where a filter tests those.

    `now` is in Unix seconds, for dates and for what is live.
    """
    moment = time.time() if now is None else now
    conditions = make_conditions(query, moment)
    catalog = read_catalog(reader, moment) if conditions.conversation is not None else None
    return make_scope(conditions, catalog)
