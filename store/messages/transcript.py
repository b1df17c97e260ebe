"""Read a conversation: first an outline of all its rows, then messages in windows.

The outline lists the rows of all segments with their state, and those that repeat others; texts are
read only for a window. Rows are ordered by id within a segment, as in Hermes, not by time, because
clocks may step back.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from ..connection.reader import Reader, Row
from ..connection.schema import sql_name
from ..connection.stored_values import as_int, as_time
from ..sessions.session import Session
from ..text import as_text, text_of
from .chat_message import ChatMessage, Reading, RowInfo, State
from .copies import find_copies, with_repeated_head
from .decode import is_hidden, select, state_of, to_message

_K = TypeVar("_K")

SLICE = 5000
"""Rows that one statement reads."""
END = -(2**62)
"""Key in `Outline.gaps` for the end of the conversation; no row has this id."""

_MAX_RESULTS = 50
_PLAIN = re.compile(r"[A-Za-z0-9_.:-]+")


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


def _read_rows(reader: Reader, session_id: str, segment: int) -> list[RowInfo]:
    """Read the outline of one session."""
    names = ("role", "timestamp", "display_kind", "display_metadata", "display_order")
    role, time, kind, metadata, order = map(reader.schema.message, names)
    state = f"{reader.schema.active()}, {reader.schema.compacted()}"
    statement = (
        f"SELECT m.id, {role}, {time}, {state}, {kind}, {metadata}, {order} "
        "FROM messages m WHERE m.session_id = ? AND"
    )
    slices = reader.slices(statement, "m.id", SLICE, [session_id])
    return [_row_info(row, segment) for rows in slices for row in rows]


def _row_info(row: Row, segment: int) -> RowInfo:
    message_id, stored_role, time, active, compacted, kind, metadata, order = row
    role = text_of(stored_role, "unknown")
    hidden = is_hidden(role, as_text(kind), metadata)
    return RowInfo(
        as_int(message_id), segment, role, as_time(time), state_of(active, compacted), hidden, order
    )


def is_read(row: RowInfo, reading: Reading, *, is_tip: bool) -> bool:
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
        results += _after_no_call((row.id, row.role) for row in rows)
        every += rows
    shown, gaps = _select(every, reading, copies, len(session_ids) - 1)
    lost = frozenset(_without_call(reader, session_ids, results))
    return Outline(session_ids, tuple(shown), gaps, copies, lost)


def _after_no_call(rows: Iterable[tuple[int, str]]) -> list[int]:
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


def _without_call(reader: Reader, session_ids: Sequence[str], results: Sequence[int]) -> set[int]:
    """Return which tool results, given by id, have no call in the sessions of a conversation;
    checks only the first."""
    if not results or not {"tool_calls", "tool_call_id"} <= reader.schema.message_columns:
        return set()
    rows = reader.rows_in(
        "SELECT m.id, m.tool_call_id FROM messages m WHERE m.id IN ({keys})",
        list(results)[:_MAX_RESULTS],
    )
    calls = {as_int(row[0]): text_of(row[1]) for row in rows}
    # An id with other characters may be escaped in the JSON of the calls.
    statement = (
        "SELECT m.id FROM messages m "
        "WHERE instr(m.tool_calls, ?) AND m.session_id IN ({keys}) LIMIT 1"
    )
    return {
        result
        for result, call in calls.items()
        if _PLAIN.fullmatch(call) and not reader.rows_in(statement, list(session_ids), [call])
    }


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
        if is_read(row, reading, is_tip=row.segment == tip):
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
    """Read chat messages by id, in the order of the ids; rows that do not exist are left out."""
    statement = f"SELECT {select(reader.schema)} FROM messages m WHERE m.id IN ({{keys}})"
    rows = reader.rows_in(statement, list(ids))
    messages = {message.id: message for message in map(to_message, rows)}
    return [messages[id] for id in ids if id in messages]


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
    return {text_of(key): as_int(count) for key, count in reader.rows_in(statement, session_ids)}


def count_rows(reader: Reader, session_ids: Sequence[str]) -> dict[str, int]:
    """Count the chat messages that `read_outline` shows by default, by session; sessions without
    rows are left out.

    SQLite counts them, but for sessions in which rows may repeat others, or need decoding.
    """
    names = ("role", "display_kind", "display_metadata", "display_order", "timestamp")
    role, kind, metadata, order, time = map(reader.schema.message, names)
    active, compacted = reader.schema.active(), reader.schema.compacted()
    kept = f"({active} = 1 OR {compacted} = 1)"
    shown = f"{kept} AND {role} IS NOT 'session_meta' AND {kind} IS NOT 'hidden'"
    unclear = f"{metadata} IS NOT NULL OR {active} NOT IN (0, 1) OR {compacted} NOT IN (0, 1)"
    key = f"CASE WHEN {kept} THEN COALESCE({order}, {time}) END"
    is_key = f"{kept} AND typeof(COALESCE({order}, {time})) IN ('integer', 'real')"
    statement = (
        f"SELECT m.session_id, sum({shown}), sum({unclear}), "
        f"max(CASE WHEN {compacted} = 1 AND {active} <> 1 THEN m.id END), "
        f"sum({kept}), sum({is_key}), count(DISTINCT {key}), "
        f"sum({kept} AND {order} IS NOT NULL) "
        "FROM messages m WHERE m.session_id IN ({keys}) GROUP BY 1"
    )
    counts: dict[str, int] = {}
    without_order: dict[str, int] = {}
    undecided: set[str] = set()
    for row in reader.rows_in(statement, list(session_ids)):
        session_id, last_compacted = text_of(row[0]), row[3]
        shown_rows, unclear_rows, rows, keys, different, ordered = (
            as_int(row[at]) for at in (1, 2, 4, 5, 6, 7)
        )
        counts[session_id] = shown_rows
        is_different = rows == keys == different and ordered in (0, rows)
        if unclear_rows or (last_compacted is not None and not is_different):
            undecided.add(session_id)
        elif last_compacted is not None and not ordered:
            without_order[session_id] = as_int(last_compacted)
    for each in undecided | with_repeated_head(reader, without_order):
        counts[each] = len(read_outline(reader, [Session(each, "")]).rows)
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
