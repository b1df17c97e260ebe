"""Read the tool calls of sessions with their results, as far as they are stored."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from ..compression.compactions import read_history
from ..connection.reader import Reader, Row
from ..connection.stored_values import Json, as_int, as_time
from ..messages.decode import decode_content, decode_tool_calls
from ..messages.transcript import SLICE
from ..sessions.models import Conversation
from ..text import as_text

_PLAIN = re.compile(r"[A-Za-z0-9_ .+-]*")
"""Text that stands in stored JSON as it is."""
_DECODER = json.JSONDecoder()


class ToolUse(NamedTuple):
    """A tool call and where its result is."""

    message_id: int
    """The assistant message that has the call."""
    session_id: str
    name: str
    arguments: str
    """As stored: a JSON text, possibly cut short."""
    at: float | None
    result_id: int | None = None
    """The message that has the result; None if none is stored."""
    ended_at: float | None = None
    """When the result was stored."""

    @property
    def order(self) -> tuple[int, int]:
        """Sort key over all sessions of a store: rows are numbered as they are written."""
        return self.result_id or self.message_id, self.message_id


class CallRow(NamedTuple):
    """A row of `messages` with calls or with a result, without its text."""

    id: int
    role: str
    call_id: str
    tool_calls: object
    at: float | None


def json_at_start(text: str) -> Json:
    """Parse the JSON object that a text begins with; an empty one if there is none.

    Hermes may append hints for the model to a result (0.14 to 0.19).
    """
    start = text.lstrip()
    if not start.startswith("{"):
        return {}
    try:
        value, _end = _DECODER.raw_decode(start)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def copied_rows(reader: Reader, conversation: Conversation) -> set[int]:
    """Read which rows repeat an earlier one, because a compression wrote it again."""
    if len(conversation.segments) == 1 and not _has_compacted(reader, conversation.id):
        return set()
    return set(read_history(reader, conversation.segments).copies)


def _has_compacted(reader: Reader, session_id: str) -> bool:
    compacted = reader.schema.compacted()
    sql = f"SELECT 1 FROM messages m WHERE m.session_id = ? AND {compacted} = 1 LIMIT 1"
    return bool(reader.rows(sql, [session_id]))


def _statement(reader: Reader, naming: str) -> str:
    schema = reader.schema
    text = naming if _PLAIN.fullmatch(naming) else ""
    role, calls = schema.message("role"), schema.message("tool_calls")
    answered = schema.message("tool_call_id")
    return (
        f"SELECT m.id, {role}, {answered}, {calls}, {schema.message('timestamp')} "
        f"FROM messages m WHERE ({role} = 'tool' OR instr({calls}, '{text}')) "
        "AND m.session_id = ? AND"
    )


def _call_row(row: Row) -> CallRow:
    message_id, role, call_id, calls, time = row
    return CallRow(
        as_int(message_id), as_text(role) or "", as_text(call_id) or "", calls, as_time(time)
    )


def read_tool_uses(
    reader: Reader, session_ids: Iterable[str], copies: Collection[int] = (), naming: str = ""
) -> list[ToolUse]:
    """Read the tool calls of sessions in the order of their results.

    Args:
        reader: Of the store.
        session_ids: Of the sessions.
        copies: Rows that are left out.
        naming: Only messages whose calls contain this text.
    """
    statement = _statement(reader, naming)
    uses: list[ToolUse] = []
    for session_id in session_ids:
        slices = reader.slices(statement, "m.id", SLICE, [session_id])
        rows = (_call_row(row) for rows in slices for row in rows)
        uses += pair(session_id, (row for row in rows if row.id not in copies))
    return sorted(uses, key=lambda use: use.order)


def pair(session_id: str, rows: Iterable[CallRow]) -> list[ToolUse]:
    """Pair the calls of one session with their results, from its rows in order of id."""
    uses: list[ToolUse] = []
    open_calls: dict[str, int] = {}
    for row in rows:
        if row.role == "tool":
            index = open_calls.pop(row.call_id, None)
            if index is not None:
                uses[index] = uses[index]._replace(result_id=row.id, ended_at=row.at)
            continue
        for call in decode_tool_calls(row.tool_calls):
            open_calls[call.id] = len(uses)
            uses.append(ToolUse(row.id, session_id, call.name, call.arguments, row.at))
    return uses


def read_results(reader: Reader, uses: Sequence[ToolUse]) -> dict[int, str]:
    """Read the texts of results, by the id of their message."""
    ids = [use.result_id for use in uses if use.result_id is not None]
    content = reader.schema.message("content")
    rows = reader.rows_in(f"SELECT m.id, {content} FROM messages m WHERE m.id IN ({{keys}})", ids)
    return {as_int(message_id): decode_content(text)[0] for message_id, text in rows}
