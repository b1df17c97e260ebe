"""Read a conversation: first a skeleton of all its rows, then messages in windows.

The skeleton lists the rows of all segments with their state, and those that repeat others; texts are read only for a
window. Rows are ordered by id within a segment, as in Hermes, not by time, because clocks may step back.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from ..connection.reader import Reader, Row
from ..connection.schema import sql_name
from ..connection.stored_values import as_int, as_time
from ..errors import ValueTooLongError
from ..sessions.session import Session
from ..text import as_text
from .chat_message import ChatMessage, Reading, State
from .decode import is_hidden, select, state_of, to_message
from .lost_calls import after_no_call, without_call

SLICE = 5000
"""Rows that one statement reads."""
_IDENTITY = ("role", "content", "tool_call_id", "tool_calls", "tool_name")
"""Columns that are equal in rows for the same message."""
END = -(2**62)
"""Key in `Skeleton.gaps` for the end of the conversation; no row has this id."""


class Bone(NamedTuple):
    """One row of the skeleton."""

    id: int
    segment: int
    """Index of its session in the conversation."""
    role: str
    timestamp: float | None
    state: State
    hidden: bool


class Skeleton(NamedTuple):
    """The rows of a conversation in a reading, root segment first."""

    session_ids: tuple[str, ...]
    bones: tuple[Bone, ...]
    folded: Mapping[int, int] = MappingProxyType({})
    """Rows left out as twins → the row shown instead."""
    gaps: Mapping[int, tuple[int, int]] = MappingProxyType({})
    """Where rows for people are left out: id of the next bone, or `END` → number of rewound, of compacted rows."""
    twins: Mapping[int, int] = MappingProxyType({})
    """In `Reading.EVERYTHING`: rows that repeat another → that one."""
    lost_calls: frozenset[int] = frozenset()
    """Tool results whose call is in no row of the conversation."""

    def index_of(self, message_id: int) -> int | None:
        """Return the position of a chat message, or of its twin; None if it is not in this reading."""
        shown = self.folded.get(message_id, message_id)
        return next((index for index, bone in enumerate(self.bones) if bone.id == shown), None)


def rows_of_session(reader: Reader, statement: str, session_id: str) -> Iterator[Row]:
    """Yield rows of a session in order of id, read in slices.

    The statement takes the session and the last id before a slice, and selects at most `SLICE` rows, the id first.
    """
    last = -(2**63)
    while True:
        rows = reader.rows(statement, [session_id, last])
        yield from rows
        if len(rows) < SLICE:
            return
        last = as_int(rows[-1][0])


def _read_bones(reader: Reader, session_id: str, segment: int) -> list[tuple[Bone, object]]:
    """Read the bones of one session with their `display_order`."""
    schema = reader.schema
    statement = (
        f"SELECT m.id, {schema.message('role')}, {schema.message('timestamp')}, {schema.active()}, "
        f"{schema.compacted()}, {schema.message('display_kind')}, {schema.message('display_metadata')}, "
        f"{schema.message('display_order')} "
        f"FROM messages m WHERE m.session_id = ? AND m.id > ? ORDER BY m.id LIMIT {SLICE}"
    )
    bones: list[tuple[Bone, object]] = []
    rows = rows_of_session(reader, statement, session_id)
    for message_id, role, stamp, active, compacted, kind, metadata, order in rows:
        who = as_text(role) or "unknown"
        bone = Bone(
            id=as_int(message_id),
            segment=segment,
            role=who,
            timestamp=as_time(stamp),
            state=state_of(active, compacted),
            hidden=is_hidden(who, as_text(kind), metadata),
        )
        bones.append((bone, order))
    return bones


def read_identities(reader: Reader, ids: Sequence[int]) -> dict[int, tuple[object, ...]]:
    columns = ", ".join(map(reader.schema.message, _IDENTITY))
    rows = reader.rows_in(f"SELECT m.id, {columns} FROM messages m WHERE m.id IN ({{keys}})", list(ids))
    return {as_int(row[0]): row[1:] for row in rows}


def _find_twins(reader: Reader, bones: Sequence[tuple[Bone, object]]) -> dict[int, int]:
    """Find rows of one session for the same message: compaction inserts the tail that it keeps again.

    With `display_order` (0.22), rows of equal order are one message. Without it, rows that differ only in their state
    are, and so is a live row that repeats the compacted tail right after a summary.

    Returns:
        Left-out id → shown id. The live row is shown, else the newest (Hermes 0.22, display order).
    """
    kept = [(bone, order) for bone, order in bones if bone.state is not State.REWOUND]
    if not any(bone.state is State.COMPACTED for bone, _ in kept):
        return {}
    groups: dict[object, list[Bone]] = {}
    unordered = [bone for bone, order in kept if order is None]
    for bone, order in kept:
        if order is not None:
            groups.setdefault(("order", order), []).append(bone)
    identities = read_identities(reader, [bone.id for bone in unordered]) if unordered else {}
    for bone in unordered:
        groups.setdefault((bone.timestamp, identities.get(bone.id, bone.id)), []).append(bone)
    folded: dict[int, int] = {}
    for group in groups.values():
        if len(group) > 1:
            shown = max(group, key=lambda bone: (bone.state is State.LIVE, bone.id))
            folded.update({bone.id: shown.id for bone in group if bone.id != shown.id})
    folded.update(_find_repeated_tail([bone for bone in unordered if bone.id not in folded], identities))
    return folded


def _find_repeated_tail(bones: Sequence[Bone], identities: dict[int, tuple[object, ...]]) -> dict[int, int]:
    """Find the end of the compacted rows that the live rows repeat at their start, after at most one summary row."""
    compacted = [bone for bone in bones if bone.state is State.COMPACTED]
    live = [bone for bone in bones if bone.state is State.LIVE and compacted and bone.id > compacted[-1].id]
    for skipped in (0, 1):
        head = live[skipped:]
        for length in range(min(len(head), len(compacted)), 0, -1):
            tail = compacted[-length:]
            if all(identities[old.id] == identities[new.id] for old, new in zip(tail, head, strict=False)):
                return {old.id: new.id for old, new in zip(tail, head, strict=False)}
    return {}


def _is_read(bone: Bone, reading: Reading, *, is_tip: bool) -> bool:
    """Tell whether a row is part of a reading.

    The model only receives the live rows of the tip, with a summary of earlier segments (`get_resume_conversations`,
    Hermes 0.19). It does see rows that are hidden from people, except bookkeeping.
    """
    if reading is Reading.EVERYTHING:
        return True
    if reading is Reading.LIVE:
        return is_tip and bone.state is State.LIVE and bone.role != "session_meta"
    return not bone.hidden and bone.state is not State.REWOUND


def read_skeleton(reader: Reader, segments: Sequence[Session], reading: Reading = Reading.SAID) -> Skeleton:
    """Read the skeleton of a conversation from its segments, root first."""
    bones: list[Bone] = []
    repeated: dict[int, int] = {}
    gaps: dict[int, tuple[int, int]] = {}
    rewound = compacted = 0
    doubtful: list[int] = []
    for index, session in enumerate(segments):
        rows = _read_bones(reader, session.id, index)
        twins = _find_twins(reader, rows) if reading is not Reading.LIVE else {}
        repeated.update(twins)
        doubtful += after_no_call((bone.id, bone.role) for bone, _ in rows)
        for bone, _ in rows:
            if bone.id in twins and reading is Reading.SAID:
                continue
            if not _is_read(bone, reading, is_tip=index == len(segments) - 1):
                rewound += bone.state is State.REWOUND and not bone.hidden
                compacted += bone.state is not State.REWOUND and not bone.hidden
                continue
            if rewound or compacted:
                gaps[bone.id] = (rewound, compacted)
                rewound = compacted = 0
            bones.append(bone)
    if rewound or compacted:
        gaps[END] = (rewound, compacted)
    session_ids = tuple(session.id for session in segments)
    lost = frozenset(without_call(reader, session_ids, doubtful))
    folded, twins = (repeated, {}) if reading is Reading.SAID else ({}, repeated)
    return Skeleton(session_ids, tuple(bones), folded, gaps, twins, lost)


def read_messages(reader: Reader, bones: Sequence[Bone]) -> list[ChatMessage]:
    """Read the chat messages of a slice of a skeleton, in order; rows deleted meanwhile are left out."""
    return read_messages_of(reader, [bone.id for bone in bones])


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


def _without_text(reader: Reader, message_id: int, too_long: ValueTooLongError) -> list[ChatMessage]:
    """Read what is short of a message whose texts are too long; nothing if there is no such row."""
    schema = reader.schema
    columns = f"m.session_id, {schema.message('role')}, {schema.message('timestamp')}"
    statement = f"SELECT {columns}, {schema.active()}, {schema.compacted()} FROM messages m WHERE m.id = ?"
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
    """Read the system prompt of a session; None if none is stored. Segments of a conversation may differ.

    Since 0.20 prompts are in a table of their own, by hash; older rows keep theirs.
    """
    schema = reader.schema
    own = schema.session("system_prompt")
    if "system_prompts" in schema.tables and "system_prompt_hash" in schema.session_columns:
        shared = "(SELECT p.prompt FROM system_prompts p WHERE p.hash = s.system_prompt_hash)"
        own = f"COALESCE({shared}, {own})"
    return as_text(reader.value(f"SELECT {own} FROM sessions s WHERE s.id = ?", [session_id])) or None


def count_stored_rows(reader: Reader, session_ids: Sequence[str]) -> dict[str, int]:
    """Count the rows of `messages` by session, shown or not, from an index; sessions without rows are left out."""
    statement = "SELECT session_id, count(*) FROM messages WHERE session_id IN ({keys}) GROUP BY 1"
    return {as_text(key) or "": as_int(count) for key, count in reader.rows_in(statement, session_ids)}


def count_rows(reader: Reader, session_ids: Sequence[str]) -> dict[str, int]:
    """Count the chat messages that `read_skeleton` shows by default, by session; sessions without rows are left out."""
    schema = reader.schema
    shown = [f"({schema.active()} = 1 OR {schema.compacted()} = 1)"]
    if "role" in schema.message_columns:
        shown.append("m.role IS NOT 'session_meta'")
    if "display_kind" in schema.message_columns:
        shown.append("m.display_kind IS NOT 'hidden'")
    where = " AND ".join(shown)
    metadata, active, compacted = schema.message("display_metadata"), schema.active(), schema.compacted()
    statement = (
        f"SELECT m.session_id, sum({where}), max(CASE WHEN {compacted} = 1 AND {active} <> 1 THEN m.id END), "
        f"sum({metadata} IS NOT NULL OR {active} NOT IN (0, 1) OR {compacted} NOT IN (0, 1)) "
        "FROM messages m WHERE m.session_id IN ({keys}) GROUP BY 1"
    )
    counts: dict[str, int] = {}
    last_compacted: dict[str, object] = {}
    slow: list[str] = []
    for session_id, rows, last, unclear in reader.rows_in(statement, list(session_ids)):
        key = as_text(session_id) or ""
        counts[key] = as_int(rows)
        if unclear:  # model-only rows, and flags that are not 0 or 1: Python must decode them
            slow.append(key)
        elif last is not None:
            last_compacted[key] = last
    slow += last_compacted.keys() - _without_twins(reader, last_compacted)
    for key in slow:
        counts[key] = len(read_skeleton(reader, [Session(key, "")]).bones)
    return counts


def _without_twins(reader: Reader, last_compacted: Mapping[str, object]) -> set[str]:
    """Return sessions in which `_find_twins` surely finds nothing, without reading most texts.

    These are sessions whose rows all have different orders; and those whose rows all have different times, if no
    compacted row equals one of the two rows with which a repeated tail could start.

    Args:
        reader: An open reader.
        last_compacted: By session id, the last compacted row; all flags in these sessions are 0 or 1.
    """
    schema, unique = reader.schema, set[str]()
    active, compacted, order = schema.active(), schema.compacted(), schema.message("display_order")
    where = "FROM messages m WHERE m.session_id IN ({keys})"
    unordered = list(last_compacted)
    if order != "NULL":
        kept = f"({active} = 1 OR {compacted} = 1)"
        distinct = f"count(DISTINCT CASE WHEN {kept} THEN {order} END)"
        integers = f"sum({kept} AND typeof({order}) = 'integer')"
        statement = f"SELECT m.session_id, sum({kept}), {integers}, {distinct}, count({order}) {where} GROUP BY 1"
        ordered: set[str] = set()
        for session_id, rows, orders, different, any_order in reader.rows_in(statement, list(last_compacted)):
            key = as_text(session_id) or ""
            if any_order:
                ordered.add(key)
            if rows == orders == different:
                unique.add(key)
        unordered = [each for each in last_compacted if each not in ordered]
    if "timestamp" not in schema.message_columns:
        return unique
    heads: list[object] = []
    # From an index alone, so including rewound rows: they seldom have the same time as others.
    valid = "sum(typeof(m.timestamp) IN ('real', 'integer') AND m.timestamp BETWEEN 0 AND 1e11)"
    statement = f"SELECT m.session_id, count(*), {valid}, count(DISTINCT m.timestamp) {where} GROUP BY 1"
    first_live = (
        f"SELECT m.id FROM messages m WHERE m.session_id = ? AND +m.id > ? AND {active} = 1 ORDER BY m.id LIMIT 2"
    )
    for session_id, rows, times, different in reader.rows_in(statement, unordered):
        if rows == times == different:
            key = as_text(session_id) or ""
            unique.add(key)
            heads += [row[0] for row in reader.rows(first_live, [session_id, last_compacted[key]])]
    equal = " AND ".join(f"m.{name} IS h.{name}" for name in _IDENTITY if name in schema.message_columns)
    repeated = reader.rows_in(
        "SELECT DISTINCT h.session_id FROM messages h CROSS JOIN messages m ON m.session_id = h.session_id "
        f"AND +m.id < h.id AND {compacted} = 1 AND {active} <> 1 AND {equal or '1'} WHERE h.id IN ({{keys}})",
        heads,
    )
    return unique - {as_text(row[0]) or "" for row in repeated}


def _plain(value: object) -> object:
    """Return a stored value for JSON; bytes as an object with their length and hex digits."""
    if isinstance(value, bytes):
        return {"bytes": len(value), "hex": value.hex()}
    return as_text(value) if isinstance(value, str) else value


def read_raw(reader: Reader, message_id: int) -> str | None:
    """Read all columns of a message as indented JSON, in the order of the table; None if the row is missing.

    Texts are not decoded, even if they hold JSON.
    """
    names = reader.columns("messages")
    rows = reader.rows(f"SELECT {', '.join(map(sql_name, names))} FROM messages WHERE id = ?", [message_id])
    if not rows:
        return None
    return json.dumps(dict(zip(names, map(_plain, rows[0]), strict=True)), ensure_ascii=False, indent=2)
