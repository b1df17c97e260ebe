"""The whole conversation as one scroll: a skeleton of ids over all segments, read in windows.

The skeleton says which rows there are, in what state, and which are folded; texts are read only for
the window asked for. Rows are ordered by id within a segment, not by time: clocks step backwards
(Hermes orders by id too).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

from ..connection.connect import Reader
from ..connection.values import as_time
from ..sessions.session import Session
from ..text import as_text
from .decode import is_hidden, select, state_of, to_message
from .gaps import IdGap, after_no_call, read_id_gaps, without_call
from .models import ChatMessage, Reading, State

_SLICE = 5000
_IDENTITY = ("role", "content", "tool_call_id", "tool_calls", "tool_name")
"""Columns alike in rows that stand for the same message."""
END = -(2**62)
"""Stands in `Skeleton.gaps` for the end of the conversation; no row has this id."""


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
    """Which chat messages a conversation shows, root segment first."""

    session_ids: tuple[str, ...]
    bones: tuple[Bone, ...]
    reading: Reading
    folded: Mapping[int, int] = MappingProxyType({})
    """Rows left out as twins → the row shown in their place."""
    left_out: int = 0
    """Rows not in this reading (rewound, hidden, or compacted when only live ones are asked for)."""
    gaps: Mapping[int, tuple[int, int]] = MappingProxyType({})
    """Where rows are left out that were once said: id of the bone that follows, or `END` → rewound, compacted."""
    id_gaps: Mapping[int, IdGap] = MappingProxyType({})
    """When everything is read: id of a bone → ids before it that are in no row of the store."""
    twins: Mapping[int, int] = MappingProxyType({})
    """When everything is read: rows that repeat another → that one."""
    lost_calls: frozenset[int] = frozenset()
    """Results of tools whose call is in no row of the conversation."""

    def index_of(self, message_id: int) -> int | None:
        """Position of a chat message, through folds; None when this reading leaves it out."""
        wanted = self.folded.get(message_id, message_id)
        return next((index for index, bone in enumerate(self.bones) if bone.id == wanted), None)


def _identity_columns(reader: Reader) -> str:
    return ", ".join(reader.schema.message(name) for name in _IDENTITY)


def _read_bones(reader: Reader, session_id: str, segment: int) -> list[tuple[Bone, object]]:
    """Bones of one session with their `display_order`, in slices by id."""
    schema = reader.schema
    statement = (
        f"SELECT m.id, {schema.message('role')}, {schema.message('timestamp')}, {schema.active()}, "
        f"{schema.compacted()}, {schema.message('display_kind')}, {schema.message('display_metadata')}, "
        f"{schema.message('display_order')} "
        "FROM messages m WHERE m.session_id = ? AND m.id > ? ORDER BY m.id LIMIT ?"
    )
    found: list[tuple[Bone, object]] = []
    last = -(2**63)
    while True:
        rows = reader.rows(statement, [session_id, last, _SLICE])
        for message_id, role, stamp, active, compacted, kind, metadata, order in rows:
            who = as_text(role) or "unknown"
            bone = Bone(
                id=int(str(message_id)),
                segment=segment,
                role=who,
                timestamp=as_time(stamp),
                state=state_of(active, compacted),
                hidden=is_hidden(who, as_text(kind), metadata),
            )
            found.append((bone, order))
        if len(rows) < _SLICE:
            return found
        last = int(str(rows[-1][0]))


def read_identities(reader: Reader, ids: Sequence[int]) -> dict[int, tuple[object, ...]]:
    columns = _identity_columns(reader)
    rows = reader.rows_in(f"SELECT m.id, {columns} FROM messages m WHERE m.id IN ({{keys}})", list(ids))
    return {int(str(row[0])): row[1:] for row in rows}


def _twins(reader: Reader, bones: Sequence[tuple[Bone, object]]) -> dict[int, int]:
    """Rows of one session that stand for the same message: compaction re-inserts the tail it keeps.

    With `display_order` (0.22) equal orders are one message. Without, rows alike in everything but
    their state are one, and so is a live row that repeats the compacted tail right after a summary.

    Returns:
        Left-out id → shown id. The live row is shown, else the newest (Hermes 0.22, display order).
    """
    said = [(bone, order) for bone, order in bones if bone.state is not State.REWOUND]
    if not any(bone.state is State.COMPACTED for bone, _ in said):
        return {}
    groups: dict[object, list[Bone]] = {}
    loose = [bone for bone, order in said if order is None]
    for bone, order in said:
        if order is not None:
            groups.setdefault(("order", order), []).append(bone)
    identities = read_identities(reader, [bone.id for bone in loose]) if loose else {}
    for bone in loose:
        groups.setdefault((bone.timestamp, identities.get(bone.id, bone.id)), []).append(bone)
    folded: dict[int, int] = {}
    for group in groups.values():
        if len(group) > 1:
            shown = max(group, key=lambda bone: (bone.state is State.LIVE, bone.id))
            folded.update({bone.id: shown.id for bone in group if bone.id != shown.id})
    folded.update(_repeated_tail([bone for bone in loose if bone.id not in folded], identities))
    return folded


def _repeated_tail(bones: Sequence[Bone], identities: dict[int, tuple[object, ...]]) -> dict[int, int]:
    """The compacted tail that the live rows begin with again, after at most one row of summary."""
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
    """Whether a row is part of a reading.

    The model is sent the live rows of the tip alone; of earlier segments only what the summary in it tells
    (`get_resume_conversations`, Hermes 0.19). It does see rows that are hidden from people, bookkeeping excepted.
    """
    if reading is Reading.EVERYTHING:
        return True
    if reading is Reading.LIVE:
        return is_tip and bone.state is State.LIVE and bone.role != "session_meta"
    return not bone.hidden and bone.state is not State.REWOUND


def read_skeleton(reader: Reader, segments: Sequence[Session], reading: Reading = Reading.SAID) -> Skeleton:
    """The skeleton of a conversation.

    Args:
        reader: An open reader.
        segments: Its sessions, root first.
        reading: What to leave out.
    """
    bones: list[Bone] = []
    repeated: dict[int, int] = {}
    gaps: dict[int, tuple[int, int]] = {}
    left_out = rewound = compacted = 0
    neighbours: list[tuple[int, int]] = []
    doubtful: list[int] = []
    for index, session in enumerate(segments):
        rows = _read_bones(reader, session.id, index)
        twins = _twins(reader, rows) if reading is not Reading.LIVE else {}
        repeated.update(twins)
        doubtful += after_no_call((bone.id, bone.role) for bone, _ in rows)
        if reading is Reading.EVERYTHING:
            neighbours += pairwise(bone.id for bone, _ in rows)
        for bone, _ in rows:
            if bone.id in twins and reading is Reading.SAID:
                continue
            if not _is_read(bone, reading, is_tip=index == len(segments) - 1):
                left_out += 1
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
    missing = read_id_gaps(reader, neighbours)
    lost = frozenset(without_call(reader, session_ids, doubtful))
    folded, twins = (repeated, {}) if reading is Reading.SAID else ({}, repeated)
    return Skeleton(session_ids, tuple(bones), reading, folded, left_out, gaps, missing, twins, lost)


def read_messages(reader: Reader, bones: Sequence[Bone]) -> list[ChatMessage]:
    """The chat messages of a window, in its order; rows deleted meanwhile are missing.

    Args:
        reader: An open reader.
        bones: A slice of a skeleton.
    """
    return read_messages_of(reader, [bone.id for bone in bones])


def read_messages_of(reader: Reader, ids: Sequence[int]) -> list[ChatMessage]:
    """The same of ids of `messages`."""
    statement = f"SELECT {select(reader.schema)} FROM messages m WHERE m.id IN ({{keys}})"
    found = {message.id: message for message in map(to_message, reader.rows_in(statement, list(ids)))}
    return [found[each] for each in ids if each in found]


def read_system_prompt(reader: Reader, session_id: str) -> str | None:
    """What the model was told before the first message; None where nothing is stored.

    Since 0.20 prompts stand in a table of their own, by hash; older rows keep theirs.

    Args:
        reader: An open reader.
        session_id: One session; segments of a conversation may differ.
    """
    schema = reader.schema
    own = schema.session("system_prompt")
    if "system_prompts" in schema.tables and "system_prompt_hash" in schema.session_columns:
        shared = "(SELECT p.prompt FROM system_prompts p WHERE p.hash = s.system_prompt_hash)"
        own = f"COALESCE({shared}, {own})"
    return as_text(reader.value(f"SELECT {own} FROM sessions s WHERE s.id = ?", [session_id])) or None


def count_rows(reader: Reader, session_ids: Sequence[str]) -> dict[str, int]:
    """Chat messages shown by default, by session; equals what `read_skeleton` would show.

    Args:
        reader: An open reader.
        session_ids: Any number of ids; sessions without rows are missing from the answer.
    """
    schema = reader.schema
    shown = [f"({schema.active()} = 1 OR {schema.compacted()} = 1)"]
    if "role" in schema.message_columns:
        shown.append("m.role IS NOT 'session_meta'")  # not shown
    if "display_kind" in schema.message_columns:
        shown.append("m.display_kind IS NOT 'hidden'")  # not shown
    where = " AND ".join(shown)
    metadata, active, compacted = schema.message("display_metadata"), schema.active(), schema.compacted()
    statement = (
        f"SELECT m.session_id, sum({where}), max(CASE WHEN {compacted} = 1 AND {active} <> 1 THEN m.id END), "
        f"sum({metadata} IS NOT NULL OR {active} NOT IN (0, 1) OR {compacted} NOT IN (0, 1)) "
        "FROM messages m WHERE m.session_id IN ({keys}) GROUP BY 1"
    )
    counts: dict[str, int] = {}
    parted: dict[str, object] = {}
    slow: list[str] = []
    for session_id, rows, last, unclear in reader.rows_in(statement, list(session_ids)):
        key = as_text(session_id) or ""
        counts[key] = int(str(rows or 0))
        if unclear:  # model-only rows are told by their notes, and flags that are none as Python reads them
            slow.append(key)
        elif last is not None:
            parted[key] = last
    slow += parted.keys() - _without_twins(reader, parted)
    for key in slow:
        counts[key] = len(read_skeleton(reader, [Session(key, "")]).bones)
    return counts


def _without_twins(reader: Reader, parted: Mapping[str, object]) -> set[str]:
    """Of sessions with compacted rows those of which `_twins` would fold none; told without a look at most texts.

    Where orders are given and differ, or times are given and differ and no compacted row repeats one of the two that a
    repeated tail could begin with. Not named is whatever is in doubt.

    Args:
        reader: An open reader.
        parted: The last compacted row of each, by session id; all flags in them are 0 or 1.
    """
    schema, found = reader.schema, set[str]()
    active, compacted, order = schema.active(), schema.compacted(), schema.message("display_order")
    where = "FROM messages m WHERE m.session_id IN ({keys})"
    loose = list(parted)
    if order != "NULL":
        said = f"({active} = 1 OR {compacted} = 1)"
        differ = f"count(DISTINCT CASE WHEN {said} THEN {order} END)"  # not shown
        integers = f"sum({said} AND typeof({order}) = 'integer')"
        statement = f"SELECT m.session_id, sum({said}), {integers}, {differ}, count({order}) {where} GROUP BY 1"
        ordered: set[str] = set()
        for session_id, rows, orders, different, any_order in reader.rows_in(statement, list(parted)):
            key = as_text(session_id) or ""
            if any_order:
                ordered.add(key)
            if rows == orders == different:
                found.add(key)
        loose = [each for each in parted if each not in ordered]
    if "timestamp" not in schema.message_columns:
        return found
    heads: list[object] = []
    # From an index alone, so of rewound rows too: they seldom share a time with others.
    valid = "sum(typeof(m.timestamp) IN ('real', 'integer') AND m.timestamp BETWEEN 0 AND 1e11)"
    statement = f"SELECT m.session_id, count(*), {valid}, count(DISTINCT m.timestamp) {where} GROUP BY 1"
    begins = f"SELECT m.id FROM messages m WHERE m.session_id = ? AND +m.id > ? AND {active} = 1 ORDER BY m.id LIMIT 2"
    for session_id, rows, times, moments in reader.rows_in(statement, loose):
        if rows == times == moments:
            key = as_text(session_id) or ""
            found.add(key)
            heads += [row[0] for row in reader.rows(begins, [session_id, parted[key]])]
    alike = " AND ".join(f"m.{name} IS h.{name}" for name in _IDENTITY if name in schema.message_columns)
    repeated = reader.rows_in(
        "SELECT DISTINCT h.session_id FROM messages h CROSS JOIN messages m ON m.session_id = h.session_id "
        f"AND +m.id < h.id AND {compacted} = 1 AND {active} <> 1 AND {alike or '1'} WHERE h.id IN ({{keys}})",
        heads,
    )
    return found - {as_text(row[0]) or "" for row in repeated}


def _plain(value: object) -> object:
    """A stored value as JSON can hold it; bytes are told from text by what stands around them."""
    if isinstance(value, bytes):
        return {"bytes": len(value), "hex": value.hex()}
    return as_text(value) if isinstance(value, str) else value


def read_raw(reader: Reader, message_id: int) -> str | None:
    """All columns of a message as indented JSON, in the order of the table; None when the row is gone.

    Texts stand there as texts, also where they hold JSON themselves: nothing is decoded.

    Args:
        reader: An open reader.
        message_id: `messages.id`.
    """
    names = [str(row[1]) for row in reader.rows('PRAGMA table_info("messages")')]
    quoted = ", ".join('m."' + name.replace('"', '""') + '"' for name in names)
    rows = reader.rows(f"SELECT {quoted} FROM messages m WHERE m.id = ?", [message_id])
    if not rows:
        return None
    return json.dumps(dict(zip(names, map(_plain, rows[0]), strict=True)), ensure_ascii=False, indent=2)
