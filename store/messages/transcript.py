"""Read a conversation: first an outline of all its rows, then messages in windows.

The outline lists the rows of all segments with their state, and those that repeat others; texts are
read only for a window. Rows are ordered by id within a segment, as in Hermes, not by time, because
clocks may step back.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from ..connection.reader import Reader, Row
from ..connection.schema import sql_name
from ..connection.stored_values import as_int, as_time
from ..errors import ValueTooLongError
from ..sessions.session import Session
from ..text import as_text
from .chat_message import ChatMessage, Reading, RowInfo, State
from .copies import find_copies, may_have_copies
from .decode import is_hidden, select, state_of, to_message
from .lost_calls import after_no_call, without_call

SLICE = 5000
"""Rows that one statement reads."""
END = -(2**62)
"""Key in `Outline.gaps` for the end of the conversation; no row has this id."""


class Outline(NamedTuple):
    """The rows of a conversation in a reading, root segment first."""

    session_ids: tuple[str, ...]
    rows: tuple[RowInfo, ...]
    gaps: Mapping[int, tuple[int, int]] = MappingProxyType({})
    """Where rows are left out: id of the next row, or `END` → number of rewound, of compacted
    rows."""
    copies: Mapping[int, int] = MappingProxyType({})
    """Rows that repeat another → that one; `Reading.SAID` leaves them out."""
    lost_calls: frozenset[int] = frozenset()
    """Tool results whose call is in no row of the conversation."""

    def index_of(self, message_id: int) -> int | None:
        """Return the position of a chat message, or of the row that repeats it; None if neither is
        in this reading."""
        ids = [row.id for row in self.rows]
        shown = (each for each in (message_id, self.copies.get(message_id)) if each in ids)
        return next(map(ids.index, shown), None)


def rows_of_session(reader: Reader, statement: str, session_id: str) -> Iterator[Row]:
    """Yield rows of a session in order of id, read in slices.

    The statement takes the session and the last id before a slice, and selects at most `SLICE`
    rows, the id first.
    """
    last = -(2**63)
    while True:
        rows = reader.rows(statement, [session_id, last])
        yield from rows
        if len(rows) < SLICE:
            return
        last = as_int(rows[-1][0])


def _read_rows(reader: Reader, session_id: str, segment: int) -> list[RowInfo]:
    """Read the outline of one session."""
    names = ("role", "timestamp", "display_kind", "display_metadata", "display_order")
    role, time, kind, metadata, order = map(reader.schema.message, names)
    statement = (
        f"SELECT m.id, {role}, {time}, {reader.schema.active()}, {reader.schema.compacted()}, {kind}, {metadata}, "
        f"{order} FROM messages m WHERE m.session_id = ? AND m.id > ? ORDER BY m.id LIMIT {SLICE}"
    )
    return [_row_info(row, segment) for row in rows_of_session(reader, statement, session_id)]


def _row_info(row: Row, segment: int) -> RowInfo:
    message_id, stored_role, time, active, compacted, kind, metadata, order = row
    role = as_text(stored_role) or "unknown"
    hidden = is_hidden(role, as_text(kind), metadata)
    return RowInfo(
        as_int(message_id), segment, role, as_time(time), state_of(active, compacted), hidden, order
    )


def _is_read(row: RowInfo, reading: Reading, *, is_tip: bool) -> bool:
    """Tell whether a row is part of a reading.

    The model only receives the live rows of the tip, with a summary of earlier segments
    (`get_resume_conversations`, Hermes 0.19). It does see rows that are hidden from people, except
    bookkeeping.
    """
    if reading is Reading.EVERYTHING:
        return True
    if reading is Reading.LIVE:
        return is_tip and row.state is State.LIVE and row.role != "session_meta"
    return not row.hidden and row.state is not State.REWOUND


def read_outline(
    reader: Reader, segments: Sequence[Session], reading: Reading = Reading.SAID
) -> Outline:
    """Read the outline of a conversation from its segments, root first."""
    session_ids = tuple(session.id for session in segments)
    copies: dict[int, int] = {}
    every: list[RowInfo] = []
    results: list[int] = []
    for index, session_id in enumerate(session_ids):
        rows = _read_rows(reader, session_id, index)
        if reading is not Reading.LIVE:
            copies |= find_copies(reader, rows)
        results += after_no_call((row.id, row.role) for row in rows)
        every += rows
    shown, gaps = _select(every, reading, copies, len(session_ids) - 1)
    lost = frozenset(without_call(reader, session_ids, results))
    return Outline(session_ids, tuple(shown), gaps, copies, lost)


def _select(
    every: Sequence[RowInfo], reading: Reading, copies: Mapping[int, int], tip: int
) -> tuple[list[RowInfo], dict[int, tuple[int, int]]]:
    """Return the rows of a reading, and where rows for people are left out of it
    (`Outline.gaps`)."""
    shown: list[RowInfo] = []
    gaps: dict[int, tuple[int, int]] = {}
    left_out: Counter[State] = Counter()

    def note(before: int) -> None:
        if left_out:
            rewound = left_out[State.REWOUND]
            gaps[before] = (rewound, left_out.total() - rewound)
            left_out.clear()

    for row in every:
        if reading is Reading.SAID and row.id in copies:
            continue
        if _is_read(row, reading, is_tip=row.segment == tip):
            note(row.id)
            shown.append(row)
        elif not row.hidden:
            left_out[row.state] += 1
    note(END)
    return shown, gaps


def read_messages(reader: Reader, rows: Sequence[RowInfo]) -> list[ChatMessage]:
    """Read the chat messages of a slice of a outline, in order; rows deleted meanwhile are left
    out."""
    return read_messages_of(reader, [row.id for row in rows])


def read_messages_of(reader: Reader, ids: Sequence[int]) -> list[ChatMessage]:
    """Read chat messages by id, in the order of the ids; rows that do not exist are left out.

    One that is longer than a host sends says so in place of its text.
    """
    statement = f"SELECT {select(reader.schema)} FROM messages m WHERE m.id IN ({{keys}})"
    try:
        rows = reader.rows_in(statement, list(ids))
    except ValueTooLongError as too_long:
        if len(ids) == 1:
            return _without_text(reader, ids[0], too_long)
        half = len(ids) // 2
        return [*read_messages_of(reader, ids[:half]), *read_messages_of(reader, ids[half:])]
    messages = {message.id: message for message in map(to_message, rows)}
    return [messages[id] for id in ids if id in messages]


def _without_text(
    reader: Reader, message_id: int, too_long: ValueTooLongError
) -> list[ChatMessage]:
    """Read what is short of a message whose texts are too long; nothing if there is no such row."""
    schema = reader.schema
    columns = f"m.session_id, {schema.message('role')}, {schema.message('timestamp')}"
    statement = (
        f"SELECT {columns}, {schema.active()}, {schema.compacted()} FROM messages m WHERE m.id = ?"
    )
    return [
        ChatMessage(
            id=message_id,
            session_id=as_text(session_id) or "",
            role=as_text(role) or "unknown",
            text=too_long.sentence,
            timestamp=as_time(stamp),
            state=state_of(active, compacted),
        )
        for session_id, role, stamp, active, compacted in reader.rows(statement, [message_id])
    ]


def read_system_prompt(reader: Reader, session_id: str) -> str | None:
    """Read the system prompt of a session; None if none is stored. Segments of a conversation may
    differ.

    Since 0.20 prompts are in a table of their own, by hash; older rows keep theirs.
    """
    schema = reader.schema
    own = schema.session("system_prompt")
    if "system_prompts" in schema.tables and "system_prompt_hash" in schema.session_columns:
        shared = "(SELECT p.prompt FROM system_prompts p WHERE p.hash = s.system_prompt_hash)"
        own = f"COALESCE({shared}, {own})"
    return (
        as_text(reader.value(f"SELECT {own} FROM sessions s WHERE s.id = ?", [session_id])) or None
    )


def count_stored_rows(reader: Reader, session_ids: Sequence[str]) -> dict[str, int]:
    """Count the rows of `messages` by session, shown or not, from an index; sessions without rows
    are left out."""
    statement = "SELECT session_id, count(*) FROM messages WHERE session_id IN ({keys}) GROUP BY 1"
    return {
        as_text(key) or "": as_int(count) for key, count in reader.rows_in(statement, session_ids)
    }


def count_rows(reader: Reader, session_ids: Sequence[str]) -> dict[str, int]:
    """Count the chat messages that `read_outline` shows by default, by session; sessions without
    rows are left out."""
    schema = reader.schema
    role, kind, metadata = (
        schema.message(name) for name in ("role", "display_kind", "display_metadata")
    )
    active, compacted = schema.active(), schema.compacted()
    shown = f"({active} = 1 OR {compacted} = 1) AND {role} IS NOT 'session_meta' AND {kind} IS NOT 'hidden'"
    unclear = f"{metadata} IS NOT NULL OR {active} NOT IN (0, 1) OR {compacted} NOT IN (0, 1)"
    statement = (
        f"SELECT m.session_id, sum({shown}), max(CASE WHEN {compacted} = 1 AND {active} <> 1 THEN m.id END), "
        f"sum({unclear}) FROM messages m WHERE m.session_id IN ({{keys}}) GROUP BY 1"
    )
    counts: dict[str, int] = {}
    compressed: dict[str, int] = {}
    slow: set[str] = set()
    for session_id, rows, last_compacted, is_unclear in reader.rows_in(
        statement, list(session_ids)
    ):
        key = as_text(session_id) or ""
        counts[key] = as_int(rows)
        if is_unclear:  # model-only rows, and flags that are not 0 or 1: Python must decode them
            slow.add(key)
        elif last_compacted is not None:
            compressed[key] = as_int(last_compacted)
    for key in slow | may_have_copies(reader, compressed):
        counts[key] = len(read_outline(reader, [Session(key, "")]).rows)
    return counts


def _plain(value: object) -> object:
    """Return a stored value for JSON; bytes as an object with their length and hex digits."""
    if isinstance(value, bytes):
        return {"bytes": len(value), "hex": value.hex()}
    return as_text(value) if isinstance(value, str) else value


def read_raw(reader: Reader, message_id: int) -> str | None:
    """Read all columns of a message as indented JSON, in the order of the table; None if the row is
    missing.

    Texts are not decoded, even if they hold JSON.
    """
    names = reader.columns("messages")
    rows = reader.rows(
        f"SELECT {', '.join(map(sql_name, names))} FROM messages WHERE id = ?", [message_id]
    )
    if not rows:
        return None
    return json.dumps(
        dict(zip(names, map(_plain, rows[0]), strict=True)), ensure_ascii=False, indent=2
    )
