"""Filters of a query as conditions: some on the chat message, some on its conversation."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from .edits import edits_file
from .filters import BY_KEY, Asked, ConversationTest, RowFacts, RowTest, reason_against
from .fold import fold
from .query import Problem, Query

_Tested = TypeVar("_Tested")


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
        kind = BY_KEY[each.key]
        test = kind.admits(Asked(each.key, each.value, each.op, moment))
        # Alternatives share a group; limits and exclusions stand alone, so that all of them hold.
        alternative = not each.negated and each.op in (":", "=") and not kind.is_limit
        group: object = each.key if alternative else each
        if test.row is not None:
            rows.setdefault(group, []).append(_unless(test.row, each.negated))
        elif test.conversation is not None:
            chats.setdefault(group, []).append(_unless(test.conversation, each.negated))
    message = MessageCondition(tuple(map(_any, rows.values()))) if rows else None
    all_of = list(map(_any, chats.values()))
    conversation: ConversationTest | None = (lambda found: all(test(found) for test in all_of)) if all_of else None
    return Conditions(message, conversation, tuple(problems))


def _unless(test: Callable[[_Tested], bool], negated: bool) -> Callable[[_Tested], bool]:
    return (lambda found: not test(found)) if negated else test


def _any(tests: list[Callable[[_Tested], bool]]) -> Callable[[_Tested], bool]:
    return lambda found: any(test(found) for test in tests)
