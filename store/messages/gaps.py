"""Detect missing rows: ids that no row has, and tool results without a call.

All sessions of a store share the ids of `messages`, so a jump within one session alone proves nothing. An id that no
row has belonged to a deleted row (AUTOINCREMENT never reuses one, https://sqlite.org/autoinc.html), of this session or
of another; it is unknown which. A result without a call is proof: Hermes writes the call first (0.13 to 0.22).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..connection.reader import Reader
from ..connection.stored_values import as_int
from ..text import as_text

_MOST_IDS = 20_000
"""Ids looked up per conversation: tenths of a second if nothing is cached."""
_MOST_OF_ONE = 2000
"""Ids looked up between two neighbours; a longer step means hours of other sessions."""
_MOST_RESULTS = 50
_PLAIN = re.compile(r"[A-Za-z0-9_.:-]+")


class IdGap(NamedTuple):
    """Ids between two neighbouring rows of a session that no row of the store has."""

    first: int
    last: int
    number: int
    """Missing ids from `first` to `last`."""


def read_id_gaps(reader: Reader, neighbours: Iterable[tuple[int, int]]) -> dict[int, IdGap]:
    """Find missing ids between neighbouring rows of a session, given as pairs of ids.

    Returns:
        Id of the row behind a gap → the gap. Very long steps are not checked.
    """
    steps: list[tuple[int, int]] = []
    ids: list[int] = []
    for before, after in neighbours:
        if 0 < before < after - 1 and after - before <= _MOST_OF_ONE and len(ids) < _MOST_IDS:
            steps.append((before, after))
            ids += range(before + 1, after)
    existing = {row[0] for row in reader.rows_in("SELECT m.id FROM messages m WHERE m.id IN ({keys})", ids)}
    gaps: dict[int, IdGap] = {}
    for before, after in steps:
        missing = [each for each in range(before + 1, after) if each not in existing]
        if missing:
            gaps[after] = IdGap(missing[0], missing[-1], len(missing))
    return gaps


def after_no_call(rows: Iterable[tuple[int, str]]) -> list[int]:
    """Return the ids of tool results that do not follow an assistant message, from ids and roles of one session.

    Their call is missing, or another message was written between the two.
    """
    results: list[int] = []
    speaker = ""
    for message_id, role in rows:
        if role != "tool":
            speaker = role
        elif speaker != "assistant":
            results.append(message_id)
    return results


def without_call(reader: Reader, session_ids: Sequence[str], results: Sequence[int]) -> set[int]:
    """Return which tool results, given by id, have no call in the sessions of a conversation; checks only the first."""
    if not results or not {"tool_calls", "tool_call_id"} <= reader.schema.message_columns:
        return set()
    rows = reader.rows_in(
        "SELECT m.id, m.tool_call_id FROM messages m WHERE m.id IN ({keys})", list(results)[:_MOST_RESULTS]
    )
    calls = {as_int(row[0]): as_text(row[1]) or "" for row in rows}
    # An id with other characters may be escaped in the JSON of the calls.
    statement = "SELECT m.id FROM messages m WHERE instr(m.tool_calls, ?) AND m.session_id IN ({keys}) LIMIT 1"
    return {
        result
        for result, call in calls.items()
        if _PLAIN.fullmatch(call) and not reader.rows_in(statement, list(session_ids), [call])
    }
