"""Read the rows of a conversation for the analysis of compression, and compare them with each
other.

Texts are compared by length and beginning only, so that 5,000 rows take milliseconds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from ..connection.reader import Reader, Row
from ..connection.schema import Schema
from ..connection.stored_values import as_count, as_int, as_time, bytes_sql
from ..messages.chat_message import ChatMessage, State
from ..messages.decode import SENTINEL, state_of
from ..messages.transcript import SLICE, read_messages_of, rows_of_session
from ..sessions.session import Session
from ..text import as_text

STEP = 1e-6
"""Seconds between the timestamps of rows that Hermes writes as one batch (`_insert_message_rows`,
0.14 to 0.19)."""
_TOLERANCE = 3e-7
"""Seconds: the precision of a double near 2e9, plus the rounding errors of adding steps."""
_HEAD = 80
"""Code points of a text that are compared, besides its length."""
_MARK = "[CONTEXT "
"""Text in every summary."""
_CALL_ID = re.compile(r'"id":\s*"([^"\\]+)"')


class HistoryRow(NamedTuple):
    """One row of `messages`, without its text."""

    id: int
    segment: int
    """Index of its session in the conversation."""
    role: str
    timestamp: float | None
    state: State
    size: int
    """Bytes sent to the model: `api_content` or else the text, and tool calls. Images count in
    full."""
    fingerprint: tuple[object, ...]
    """Equal for rows with equal content; a copy that compression shortened has another one."""
    call: str
    """Id of its first tool call, or of the call it is the result of; else empty."""
    order: object
    """`display_order` (0.22): equal for all rows of the same message."""
    summary: ChatMessage | None
    """The message, if it holds a compaction summary, alone or merged with other text; else None."""
    is_multimodal: bool


def read_rows(reader: Reader, segments: Sequence[Session]) -> list[list[HistoryRow]]:
    """Read the rows of each segment of a conversation, root first, in order of id, without
    `session_meta` rows."""
    statement = _statement(reader.schema)
    stored = [list(rows_of_session(reader, statement, session.id)) for session in segments]
    marked = [as_int(row[0]) for rows in stored for row in rows if row[-1]]
    summaries = {each.id: each for each in read_messages_of(reader, marked) if each.summary}
    return [
        [_history_row(row, segment, summaries) for row in rows if row[1] != "session_meta"]
        for segment, rows in enumerate(stored)
    ]


def _statement(schema: Schema) -> str:
    """Return SQL for a slice of the rows of a session.

    Rows that Hermes loaded and wrote again have lost leading and trailing white space.
    """
    role, content, calls = (schema.message(name) for name in ("role", "content", "tool_calls"))
    flag, answers = schema.message("_compressed_summary"), schema.message("tool_call_id")
    is_speech = f"{role} IN ('user', 'assistant')"
    text = f"CASE WHEN {is_speech} THEN trim({content}, char(32, 9, 10, 13)) ELSE {content} END"
    return (
        f"SELECT m.id, {role}, {schema.message('timestamp')}, {schema.active()}, "
        f"{schema.compacted()}, {schema.message('display_order')}, {bytes_sql(content)}, "
        f"{bytes_sql(text)}, CASE WHEN {answers} IS NULL THEN substr({text}, 1, {_HEAD}) END, "
        f"{bytes_sql(schema.message('api_content'))}, {bytes_sql(calls)}, "
        f"substr({calls}, 1, 200), {answers}, {is_speech} AND "
        f"(COALESCE({flag}, 0) = 1 OR instr({content}, '{_MARK}')) "
        "FROM (SELECT id FROM messages WHERE session_id = ? AND id > ? "  # sorts the ids only
        f"ORDER BY id LIMIT {SLICE}) o CROSS JOIN messages m ON m.id = o.id"
    )


_state = lru_cache(maxsize=64)(state_of)


def _history_row(row: Row, segment: int, summaries: Mapping[int, ChatMessage]) -> HistoryRow:
    """Decode a row of `_statement`."""
    (
        message_id, stored_role, time, active, compacted, order, size, trimmed_size, head, sent_size,
        calls_size, calls, answers, _is_marked,
    ) = row  # fmt: skip
    key, role = as_int(message_id), as_text(stored_role) or "unknown"
    call = as_text(answers) or ""
    if calls and role == "assistant":
        match = _CALL_ID.search(as_text(calls) or "")
        call = match[1] if match else ""
    sent = as_count(sent_size or size) + as_count(calls_size)
    fingerprint = (role, trimmed_size, head, call, calls_size)
    is_multimodal = head in ("", "\0") and as_count(size) > len(SENTINEL)
    state = _state(active, compacted)
    summary = summaries.get(key)
    return HistoryRow(
        key,
        segment,
        role,
        as_time(time),
        state,
        sent,
        fingerprint,
        call,
        order,
        summary,
        is_multimodal,
    )


def is_copy(row: HistoryRow, original: HistoryRow) -> bool:
    """Return whether a row may be a copy of an earlier one: equal, or shortened by compression.

    Compression reduces old tool results to a line, cuts arguments, and replaces images by a word
    (0.16 to 0.19).
    """
    if row.role != original.role:
        return False
    if row.fingerprint == original.fingerprint or (
        row.order is not None and row.order == original.order
    ):
        return True
    if row.call or original.call:
        return row.call == original.call and row.summary is None and original.summary is None
    return row.is_multimodal and original.is_multimodal


def written_at_once(row: HistoryRow, other: HistoryRow, between: int) -> bool:
    """Return whether a row and another, so many positions below, got their timestamps in the same
    batch."""
    if row.timestamp is None or other.timestamp is None:
        return False
    tolerance = _TOLERANCE + 0.1 * STEP * abs(between)
    return abs(other.timestamp - row.timestamp - between * STEP) <= tolerance


def merged_with(row: HistoryRow, original: HistoryRow, text: str) -> bool:
    """Return whether a row that holds a summary, and another text beside it, also holds the text of
    an earlier row."""
    if row.role != original.role or not (text or row.call):
        return False
    if row.call or original.call:
        return row.call == original.call
    head = original.fingerprint[2]
    return isinstance(head, str) and bool(head.strip()) and text.startswith(head.strip())
