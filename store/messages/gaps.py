"""What is no longer there: ids that stand in no row, and results of tools whose call is gone.

The ids of `messages` are shared by all sessions of a store: that they jump inside one session says nothing while others
are written. An id that is in no row at all was given to a row that is gone (the column counts on: AUTOINCREMENT,
https://sqlite.org/autoinc.html), of this session or of another one; which of them, nothing tells. That a result has no
call does tell: Hermes writes the call first (0.13 to 0.22).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..connection.connect import Reader
from ..text import as_text

_MOST_IDS = 20_000
"""Ids of one conversation that are looked up: tenths of a second where nothing is in memory."""
_MOST_OF_ONE = 2000
"""Ids between two neighbours that are looked up; a longer step is hours of other sessions."""
_MOST_RESULTS = 50
_PLAIN = re.compile(r"[A-Za-z0-9_.:-]+")


class IdGap(NamedTuple):
    """Ids between two neighbouring rows of a session that stand in no row of the store."""

    first: int
    last: int
    number: int
    """How many of the ids from `first` to `last`."""


def read_id_gaps(reader: Reader, neighbours: Iterable[tuple[int, int]]) -> dict[int, IdGap]:
    """Where rows between two of a session are gone from the store.

    Args:
        reader: An open reader.
        neighbours: Ids of rows that follow each other in one session.

    Returns:
        Id of the row behind the gap → the gap. Steps too long to be looked through are not in it.
    """
    steps: list[tuple[int, int]] = []
    ids: list[int] = []
    for before, after in neighbours:
        if 0 < before < after - 1 and after - before <= _MOST_OF_ONE and len(ids) < _MOST_IDS:
            steps.append((before, after))
            ids += range(before + 1, after)
    there = {row[0] for row in reader.rows_in("SELECT m.id FROM messages m WHERE m.id IN ({keys})", ids)}
    found: dict[int, IdGap] = {}
    for before, after in steps:
        gone = [each for each in range(before + 1, after) if each not in there]
        if gone:
            found[after] = IdGap(gone[0], gone[-1], len(gone))
    return found


def after_no_call(rows: Iterable[tuple[int, str]]) -> list[int]:
    """Results of tools before which no assistant spoke: a call that is gone, or someone wrote between the two.

    Args:
        rows: Of one session, in order: id and role.
    """
    found: list[int] = []
    speaker = ""
    for message_id, role in rows:
        if role != "tool":
            speaker = role
        elif speaker != "assistant":
            found.append(message_id)
    return found


def without_call(reader: Reader, session_ids: Sequence[str], results: Sequence[int]) -> set[int]:
    """Of rows that are results of tools those whose call is in no row of the conversation.

    Args:
        reader: An open reader.
        session_ids: All sessions of the conversation.
        results: Ids of rows in doubt; more than a few are not looked at.
    """
    columns = reader.schema.message_columns
    if not results or not {"tool_calls", "tool_call_id"} <= columns:
        return set()
    rows = reader.rows_in(
        "SELECT m.id, m.tool_call_id FROM messages m WHERE m.id IN ({keys})", list(results)[:_MOST_RESULTS]
    )
    wanted = {int(str(row[0])): as_text(row[1]) or "" for row in rows}
    # An id with other signs in it may be spelled otherwise in the JSON of the calls.
    statement = "SELECT m.id FROM messages m WHERE instr(m.tool_calls, ?) AND m.session_id IN ({keys}) LIMIT 1"
    lost: set[int] = set()
    for key, call in wanted.items():
        if _PLAIN.fullmatch(call) and not reader.rows_in(statement, list(session_ids), [call]):
            lost.add(key)
    return lost
