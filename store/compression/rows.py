"""The rows of a conversation as far as compression is concerned: which are summaries, and which repeat which.

Texts are not read here, only their lengths and beginnings: rows of 5,000 messages are told apart within milliseconds.
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
"""Seconds between the times that Hermes gives to rows it writes at once (`_insert_message_rows`, 0.14 to 0.19)."""
_TOLERANCE = 3e-7
"""Of a time near 2e9 seconds stored in eight bytes, with what adding steps to it loses."""
_HEAD = 80
"""Code points of a text that are compared; its length is, too."""
_SLICE = 5000
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
    """Bytes of what is sent of it: its text, or the form that was sent, and its tool calls. Images count in full."""
    mark: tuple[object, ...]
    """Rows that say the same have equal marks; a copy that compression shortened has another."""
    call: str
    """The call it asks for first, or answers; empty for none."""
    order: object
    """`display_order` (0.22): one for all rows that stand for the same message."""
    summary: ChatMessage | None
    """The message itself where it holds a compaction summary, alone or merged with something said."""
    is_multimodal: bool


def read_rows(reader: Reader, segments: Sequence[Session]) -> list[list[Row]]:
    """The rows of each segment in order of id, without bookkeeping (`session_meta`).

    Args:
        reader: An open reader.
        segments: The sessions of a conversation, root first.
    """
    statement = _statement(reader.schema)
    states: dict[tuple[object, object], State] = {}
    found: list[list[Row]] = []
    candidates: list[tuple[int, int]] = []
    for index, session in enumerate(segments):
        rows: list[Row] = []
        last = -(2**63)
        while True:
            read = reader.rows(statement, [session.id, last])
            for columns in read:
                (
                    key,
                    who,
                    stamp,
                    active,
                    compacted,
                    order,
                    length,
                    said,
                    head,
                    sent,
                    call_size,
                    calls,
                    answers,
                    holds,
                ) = columns
                role = as_text(who) or "unknown"
                if role == "session_meta":
                    continue
                message_id = int(str(key))
                state = states.get((active, compacted))
                if state is None:
                    state = states[active, compacted] = state_of(active, compacted)
                call = as_text(answers) or ""
                if calls and role == "assistant":
                    match = _CALL_ID.search(as_text(calls) or "")
                    call = match[1] if match else ""
                if holds:
                    candidates.append((index, len(rows)))
                bytes_sent = as_count(sent) or as_count(length)
                # Multimodal content begins with a NUL, which ends what substr sees.
                is_multimodal = (head == "" or head == "\x00") and as_count(length) > len(SENTINEL)
                mark = (role, said, head, call, call_size)
                rows.append(
                    Row(
                        message_id, index, role, as_time(stamp), state, bytes_sent + as_count(call_size), mark, call,
                        order, None, is_multimodal,
                    )
                )  # fmt: skip
            if len(read) < _SLICE:
                break
            last = int(str(read[-1][0]))
        found.append(rows)
    summaries = _read_summaries(reader, [found[index][at].id for index, at in candidates])
    for index, at in candidates:
        row = found[index][at]
        found[index][at] = row._replace(summary=summaries.get(row.id))
    return found


def _statement(schema: Schema) -> str:
    """SQL for a slice of the rows of a session; of results of tools, which are long, no text is looked at."""
    role, content, calls = (schema.message(name) for name in ("role", "content", "tool_calls"))
    flag, answers = schema.message("_compressed_summary"), schema.message("tool_call_id")
    speaks = f"{role} IN ('user', 'assistant')"  # not shown
    # What was loaded from the store and is written again has lost the white space around it.
    trimmed = f"trim({content}, char(32, 9, 10, 13))"
    holds = f"instr(CAST({content} AS BLOB), CAST('[CONTEXT ' AS BLOB)) OR {flag} = 1"  # not shown
    return (
        f"SELECT m.id, {role}, {schema.message('timestamp')}, {schema.active()}, {schema.compacted()}, "
        f"{schema.message('display_order')}, {bytes_sql(content)}, "
        f"CASE WHEN {speaks} THEN {bytes_sql(trimmed)} ELSE {bytes_sql(content)} END, "
        f"CASE WHEN {answers} IS NULL THEN substr({trimmed}, 1, {_HEAD}) END, "
        f"{bytes_sql(schema.message('api_content'))}, {bytes_sql(calls)}, substr({calls}, 1, 200), {answers}, "
        f"{speaks} AND ({holds}) FROM messages m WHERE m.session_id = ? AND m.id > ? ORDER BY m.id LIMIT {_SLICE}"
    )


def _read_summaries(reader: Reader, ids: Sequence[int]) -> dict[int, ChatMessage]:
    return {message.id: message for message in read_messages_of(reader, ids) if texts_of(message).summary}


def is_copy(row: Row, original: Row) -> bool:
    """Whether a row may stand for an earlier one: it says the same, or compression has shortened what it says.

    Old results of tools are cut to a line, arguments of calls are cut, and images become a word (0.16 to 0.19).
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
    """Whether two rows got their times in one go.

    Args:
        row: One row.
        other: A later one.
        between: How many rows later, by position in the session.
    """
    if row.timestamp is None or other.timestamp is None:
        return False
    return abs(other.timestamp - row.timestamp - between * STEP) <= _TOLERANCE + 0.1 * STEP * between


def merged_with(row: Row, original: Row, said: str) -> bool:
    """Whether a row that holds a summary holds the text of an earlier row, too.

    Args:
        row: A row with a summary.
        original: An earlier row.
        said: What stands beside the summary.
    """
    if row.role != original.role or not (said or row.call):
        return False
    if row.call or original.call:
        return row.call == original.call
    head = original.mark[2]
    return isinstance(head, str) and said.startswith(head.strip()[:_HEAD]) and bool(head.strip())
