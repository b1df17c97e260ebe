"""Read the rows of a conversation for the analysis of compression, and compare them with each other.

Texts are compared by length and beginning only, so that 5,000 rows take milliseconds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ..cleanup.sizes import bytes_sql
from ..connection.connect import Reader
from ..connection.schema import Schema
from ..connection.values import as_count, as_time
from ..messages.blocks import texts_of
from ..messages.decode import SENTINEL, state_of
from ..messages.models import ChatMessage, State
from ..messages.transcript import read_messages_of
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
_SLICE = 5000
_SPACE, _MARK, _SPEAKERS = " \t\n\r", "[CONTEXT ", ("user", "assistant")
"""Characters trimmed; text in every summary; roles that say something."""
_CALL_ID = re.compile(r'"id":\s*"([^"\\]+)"')


class Row(NamedTuple):
    """One row of `messages`, without its text."""

    id: int
    segment: int
    """Index of its session in the conversation."""
    role: str
    timestamp: float | None
    state: State
    size: int
    """Bytes sent to the model: `api_content` or else the text, and tool calls. Images count in full."""
    mark: tuple[object, ...]
    """Fingerprint, equal for rows with equal content; a copy that compression shortened has another one."""
    call: str
    """Id of its first tool call, or of the call it is the result of; else empty."""
    order: object
    """`display_order` (0.22): equal for all rows of the same message."""
    summary: ChatMessage | None
    """The message, if it holds a compaction summary, alone or merged with other text; else None."""
    is_multimodal: bool


def read_rows(reader: Reader, segments: Sequence[Session]) -> list[list[Row]]:
    """Read the rows of each segment in order of id, without `session_meta` rows.

    Args:
        reader: An open reader.
        segments: The sessions of a conversation, root first.
    """
    statement = _statement(reader.schema)
    states: dict[tuple[object, object], State] = {}
    roles: dict[object, str] = {}
    segment_rows: list[list[Row]] = []
    candidates: list[tuple[int, int]] = []
    long: list[tuple[int, int]] = []
    for index, session in enumerate(segments):
        rows: list[Row] = []
        last = -(2**63)
        while True:
            slice_rows = reader.rows(statement, [session.id, last])
            for columns in slice_rows:
                (
                    key,
                    stored_role,
                    timestamp,
                    active,
                    compacted,
                    order,
                    length,
                    content,
                    api_length,
                    call_size,
                    calls,
                    answers,
                    may_hold_summary,
                ) = columns
                role = roles.get(stored_role) or roles.setdefault(stored_role, as_text(stored_role) or "unknown")
                if role == "session_meta":
                    continue
                state = states.get((active, compacted))
                if state is None:
                    state = states[active, compacted] = state_of(active, compacted)
                call = (answers if type(answers) is str and answers.isascii() else as_text(answers)) or ""
                if calls and role == "assistant":
                    match = _CALL_ID.search(as_text(calls) or "")
                    call = match[1] if match else ""
                head, trimmed_length, is_speech = None, length, role in _SPEAKERS
                if content is not None:
                    text = (as_text(content) or "").strip(_SPACE)
                    # As in SQL: multimodal content begins with a NUL, at which substr stops.
                    head = text[:_HEAD].partition("\0")[0]
                    trimmed_length = len(text.encode()) if is_speech else length
                    may_hold_summary = may_hold_summary or (is_speech and _MARK in text)
                elif answers is None and as_count(length) > _SHORT:
                    long.append((index, len(rows)))
                if may_hold_summary:
                    candidates.append((index, len(rows)))
                is_multimodal = head == "" and as_count(length) > len(SENTINEL)
                mark = (role, trimmed_length, head, call, call_size)
                rows.append(
                    Row(
                        key if type(key) is int else int(str(key)), index, role, as_time(timestamp), state,
                        as_count(api_length or length) + as_count(call_size), mark,
                        call, order, None, is_multimodal,
                    )
                )  # fmt: skip
            if len(slice_rows) < _SLICE:
                break
            last = int(str(slice_rows[-1][0]))
        segment_rows.append(rows)
    candidates += _read_long(reader, segment_rows, long)
    summaries = _read_summaries(reader, [segment_rows[index][at].id for index, at in candidates])
    for index, at in candidates:
        row = segment_rows[index][at]
        segment_rows[index][at] = row._replace(summary=summaries.get(row.id))
    return segment_rows


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
        f"ORDER BY id LIMIT {_SLICE}) o CROSS JOIN messages m ON m.id = o.id"
    )


def _read_long(
    reader: Reader, segment_rows: Sequence[list[Row]], long: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Complete the fingerprints of rows with long texts; return those that may hold a summary.

    Args:
        reader: An open reader.
        segment_rows: The rows by segment.
        long: Segment and position of each.
    """
    content = reader.schema.message("content")
    trimmed = f"trim({content}, char(32, 9, 10, 13))"
    statement = (
        f"SELECT m.id, {bytes_sql(trimmed)}, substr({trimmed}, 1, {_HEAD}), "
        f"instr(CAST({content} AS BLOB), CAST('{_MARK}' AS BLOB)) FROM messages m WHERE m.id IN ({{keys}})"
    )
    found = {row[0]: row for row in reader.rows_in(statement, [segment_rows[index][at].id for index, at in long])}
    candidates: list[tuple[int, int]] = []
    for index, at in long:
        row = segment_rows[index][at]
        _id, trimmed_length, head, has_mark = found.get(row.id, (row.id, row.mark[1], None, 0))
        is_speech = row.role in _SPEAKERS
        if has_mark and is_speech:
            candidates.append((index, at))
        # Rows that Hermes loaded and wrote again have lost leading and trailing white space.
        mark = (row.role, trimmed_length if is_speech else row.mark[1], head, *row.mark[3:])
        segment_rows[index][at] = row._replace(mark=mark, is_multimodal=head in ("", "\0"))
    return candidates


def _read_summaries(reader: Reader, ids: Sequence[int]) -> dict[int, ChatMessage]:
    return {message.id: message for message in read_messages_of(reader, ids) if texts_of(message).summary}


def is_copy(row: Row, original: Row) -> bool:
    """Return whether a row may be a copy of an earlier one: equal, or shortened by compression.

    Compression reduces old tool results to a line, cuts arguments, and replaces images by a word (0.16 to 0.19).
    """
    if row.role != original.role:
        return False
    if row.order is not None and row.order == original.order:
        return True
    if row.mark == original.mark:
        return True
    if row.call or original.call:
        return row.call == original.call and row.summary is None and original.summary is None
    return row.is_multimodal and original.is_multimodal


def written_at_once(row: Row, other: Row, between: int) -> bool:
    """Return whether two rows got their timestamps in the same batch.

    Args:
        row: One row.
        other: A later one.
        between: Distance of their positions in the session.
    """
    if row.timestamp is None or other.timestamp is None:
        return False
    return abs(other.timestamp - row.timestamp - between * STEP) <= _TOLERANCE + 0.1 * STEP * between


def merged_with(row: Row, original: Row, text: str) -> bool:
    """Return whether a row that holds a summary also holds the text of an earlier row.

    Args:
        row: A row with a summary.
        original: An earlier row.
        text: Its text beside the summary.
    """
    if row.role != original.role or not (text or row.call):
        return False
    if row.call or original.call:
        return row.call == original.call
    head = original.mark[2]
    return isinstance(head, str) and text.startswith(head.strip()[:_HEAD]) and bool(head.strip())
