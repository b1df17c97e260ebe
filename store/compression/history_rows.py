"""Read the rows of a conversation for the analysis of compression, and compare them with each other.

Texts are compared by length and beginning only, so that 5,000 rows take milliseconds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from ..connection.reader import Reader
from ..connection.schema import Schema
from ..connection.stored_values import as_count, as_int, as_time, bytes_sql
from ..messages.chat_message import ChatMessage, State
from ..messages.decode import SENTINEL, state_of
from ..messages.transcript import SLICE, read_messages_of, rows_of_session
from ..sessions.session import Session
from ..text import as_text

STEP = 1e-6
"""Seconds between the timestamps of rows that Hermes writes as one batch (`_insert_message_rows`, 0.14 to 0.19)."""
_TOLERANCE = 3e-7
"""Seconds: the precision of a double near 2e9, plus the rounding errors of adding steps."""
_HEAD = 80
"""Code points of a text that are compared, besides its length."""
_SHORT = 4000
"""Most bytes of a text that is read whole."""
_SPACE, _MARK, _SPEAKERS = " \t\n\r", "[CONTEXT ", ("user", "assistant")
"""Characters trimmed; text in every summary; roles that say something."""
_CALL_ID = re.compile(r'"id":\s*"([^"\\]+)"')

_Place = tuple[int, int]
"""Segment, and position of a row in it."""


class HistoryRow(NamedTuple):
    """One row of `messages`, without its text."""

    id: int
    segment: int
    """Index of its session in the conversation."""
    role: str
    timestamp: float | None
    state: State
    size: int
    """Bytes sent to the model: `api_content` or else the text, and tool calls. Images count in full."""
    fingerprint: tuple[object, ...]
    """Fingerprint, equal for rows with equal content; a copy that compression shortened has another one."""
    call: str
    """Id of its first tool call, or of the call it is the result of; else empty."""
    order: object
    """`display_order` (0.22): equal for all rows of the same message."""
    summary: ChatMessage | None
    """The message, if it holds a compaction summary, alone or merged with other text; else None."""
    is_multimodal: bool


def read_rows(reader: Reader, segments: Sequence[Session]) -> list[list[HistoryRow]]:
    """Read the rows of each segment of a conversation, root first, in order of id, without `session_meta` rows."""
    statement, collected = _statement(reader.schema), _RowCollector()
    for session in segments:
        collected.segments.append([])
        for columns in rows_of_session(reader, statement, session.id):
            collected.add(*columns)
    segment_rows = collected.segments
    candidates = collected.candidates + _read_long(reader, segment_rows, collected.long)
    messages = read_messages_of(reader, [segment_rows[index][at].id for index, at in candidates])
    summaries = {message.id: message for message in messages if message.summary}
    for index, at in candidates:
        row = segment_rows[index][at]
        segment_rows[index][at] = row._replace(summary=summaries.get(row.id))
    return segment_rows


_state = lru_cache(maxsize=64)(state_of)


@lru_cache(maxsize=64)
def _role(stored: object) -> str:
    return as_text(stored) or "unknown"


def _call_id(role: str, calls: object, answers: object) -> str:
    """Return the id of the first call of a message, or of the call that it answers; empty if there is none."""
    if calls and role == "assistant":
        match = _CALL_ID.search(as_text(calls) or "")
        return match[1] if match else ""
    return as_text(answers) or ""


class _RowCollector:
    """Collects rows by segment. Long texts and summaries are read afterwards, at the places kept here."""

    def __init__(self) -> None:
        self.segments: list[list[HistoryRow]] = []
        """`add` continues the last one."""
        self.long: list[_Place] = []
        """Rows whose texts are too long to be read whole."""
        self.candidates: list[_Place] = []
        """Rows that may hold a summary."""

    def add(
        self,
        key: object,
        stored_role: object,
        timestamp: object,
        active: object,
        compacted: object,
        order: object,
        length: object,
        content: object,
        api_length: object,
        call_size: object,
        calls: object,
        answers: object,
        may_hold_summary: object,
    ) -> None:
        """Add a stored row, given as the columns of `_statement`."""
        role = _role(stored_role)
        if role == "session_meta":
            return
        index, rows = len(self.segments) - 1, self.segments[-1]
        head, trimmed_length = None, length
        if content is not None:
            text = (as_text(content) or "").strip(_SPACE)
            # As in SQL: multimodal content begins with a NUL, at which substr stops.
            head = text[:_HEAD].partition("\0")[0]
            if role in _SPEAKERS:
                trimmed_length = len(text.encode())
                may_hold_summary = may_hold_summary or _MARK in text
        elif answers is None and as_count(length) > _SHORT:
            self.long.append((index, len(rows)))
        if may_hold_summary:
            self.candidates.append((index, len(rows)))
        call = _call_id(role, calls, answers)
        rows.append(
            HistoryRow(
                key if type(key) is int else as_int(key), index, role, as_time(timestamp), _state(active, compacted),
                as_count(api_length or length) + as_count(call_size), (role, trimmed_length, head, call, call_size),
                call, order, None, head == "" and as_count(length) > len(SENTINEL),
            )
        )  # fmt: skip


def _statement(schema: Schema) -> str:
    """Return SQL for a slice of the rows of a session; of short texts all, as Python trims and searches them faster."""
    role, content, calls = (schema.message(name) for name in ("role", "content", "tool_calls"))
    flag, answers = schema.message("_compressed_summary"), schema.message("tool_call_id")
    size, is_speech = bytes_sql(content), f"{role} IN ('user', 'assistant')"
    return (
        f"SELECT m.id, {role}, {schema.message('timestamp')}, {schema.active()}, {schema.compacted()}, "
        f"{schema.message('display_order')}, {size}, "
        f"CASE WHEN {answers} IS NULL AND {size} <= {_SHORT} THEN {content} END, "
        f"{bytes_sql(schema.message('api_content'))}, {bytes_sql(calls)}, substr({calls}, 1, 200), {answers}, "
        f"{is_speech} AND {flag} = 1 "
        "FROM (SELECT id FROM messages WHERE session_id = ? AND id > ? "  # sorts the ids only
        f"ORDER BY id LIMIT {SLICE}) o CROSS JOIN messages m ON m.id = o.id"
    )


def _read_long(reader: Reader, segment_rows: Sequence[list[HistoryRow]], long: Sequence[_Place]) -> list[_Place]:
    """Complete the fingerprints of the rows at the places `long`; return the places that may hold a summary."""
    content = reader.schema.message("content")
    trimmed = f"trim({content}, char(32, 9, 10, 13))"
    statement = (
        f"SELECT m.id, {bytes_sql(trimmed)}, substr({trimmed}, 1, {_HEAD}), "
        f"instr(CAST({content} AS BLOB), CAST('{_MARK}' AS BLOB)) FROM messages m WHERE m.id IN ({{keys}})"
    )
    found = {row[0]: row for row in reader.rows_in(statement, [segment_rows[index][at].id for index, at in long])}
    candidates: list[_Place] = []
    for index, at in long:
        row = segment_rows[index][at]
        _id, trimmed_length, head, has_mark = found.get(row.id, (row.id, row.fingerprint[1], None, 0))
        is_speech = row.role in _SPEAKERS
        if has_mark and is_speech:
            candidates.append((index, at))
        # Rows that Hermes loaded and wrote again have lost leading and trailing white space.
        fingerprint = (row.role, trimmed_length if is_speech else row.fingerprint[1], head, *row.fingerprint[3:])
        segment_rows[index][at] = row._replace(fingerprint=fingerprint, is_multimodal=head in ("", "\0"))
    return candidates


def is_copy(row: HistoryRow, original: HistoryRow) -> bool:
    """Return whether a row may be a copy of an earlier one: equal, or shortened by compression.

    Compression reduces old tool results to a line, cuts arguments, and replaces images by a word (0.16 to 0.19).
    """
    if row.role != original.role:
        return False
    if row.order is not None and row.order == original.order:
        return True
    if row.fingerprint == original.fingerprint:
        return True
    if row.call or original.call:
        return row.call == original.call and row.summary is None and original.summary is None
    return row.is_multimodal and original.is_multimodal


def written_at_once(row: HistoryRow, other: HistoryRow, between: int) -> bool:
    """Return whether a row and a later one, so many positions below, got their timestamps in the same batch."""
    if row.timestamp is None or other.timestamp is None:
        return False
    return abs(other.timestamp - row.timestamp - between * STEP) <= _TOLERANCE + 0.1 * STEP * between


def merged_with(row: HistoryRow, original: HistoryRow, text: str) -> bool:
    """Return whether a row that holds a summary, and another text beside it, also holds the text of an earlier row."""
    if row.role != original.role or not (text or row.call):
        return False
    if row.call or original.call:
        return row.call == original.call
    head = original.fingerprint[2]
    return isinstance(head, str) and text.startswith(head.strip()[:_HEAD]) and bool(head.strip())
