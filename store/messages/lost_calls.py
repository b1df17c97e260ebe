"""Find tool results without a call, which proves that rows are gone: Hermes writes the call first
(0.13 to 0.22)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..connection.reader import Reader
from ..connection.stored_values import as_int
from ..text import as_text

_MOST_RESULTS = 50
_PLAIN = re.compile(r"[A-Za-z0-9_.:-]+")


def after_no_call(rows: Iterable[tuple[int, str]]) -> list[int]:
    """Return the ids of tool results that do not follow an assistant message, from ids and roles of
    one session.

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
    """Return which tool results, given by id, have no call in the sessions of a conversation;
    checks only the first."""
    if not results or not {"tool_calls", "tool_call_id"} <= reader.schema.message_columns:
        return set()
    rows = reader.rows_in(
        "SELECT m.id, m.tool_call_id FROM messages m WHERE m.id IN ({keys})",
        list(results)[:_MOST_RESULTS],
    )
    calls = {as_int(row[0]): as_text(row[1]) or "" for row in rows}
    # An id with other characters may be escaped in the JSON of the calls.
    statement = "SELECT m.id FROM messages m WHERE instr(m.tool_calls, ?) AND m.session_id IN ({keys}) LIMIT 1"
    return {
        result
        for result, call in calls.items()
        if _PLAIN.fullmatch(call) and not reader.rows_in(statement, list(session_ids), [call])
    }
