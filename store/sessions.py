"""Rows of `sessions` read for lists and lineage, never with their blobs.

`system_prompt` (8 to 20 KB) sits mid-record and is never selected. `model_config` is parsed in
Python: `json_extract` on one malformed value would break the whole list, as it does in Hermes 0.19.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from math import nan
from sys import intern
from typing import TYPE_CHECKING

from .columns import Columns, columns_of
from .connect import Reader, Row
from .schema import Schema
from .session import Session, pack_numbers
from .text import as_text
from .values import as_count, as_flag, as_mapping, as_money, as_time

if TYPE_CHECKING:
    from .table import Packed

_COLUMNS = (
    "id",
    "source",
    "parent_session_id",
    "title",
    "model",
    "model_config",
    "cwd",
    "git_branch",
    "started_at",
    "ended_at",
    "end_reason",
    "session_key",
    "archived",
    "pinned",
    "hidden",
    "message_count",
    "tool_call_count",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
    "estimated_cost_usd",
    "actual_cost_usd",
    "last_activity_at",
)
_TIMES = ("started_at", "ended_at", "last_activity_at")
_COUNTS = (
    "message_count",
    "tool_call_count",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
)
_FLAGS = ("archived", "pinned", "hidden")
_MONEY = ("estimated_cost_usd", "actual_cost_usd")
_COMMON = ("source", "model", "cwd", "git_branch", "end_reason")
"""Text that many rows have in common, held once: it is a third of a large list's memory."""
_MARKERS = ("_branched_from", "_delegate_from", "_reset_from")
_NO_MARKERS = (None, None, None)
_DECODED_TOGETHER = 1000
"""Rows: the columns of fewer cost more than their values, those of more take room."""

Column = Sequence[object]


def _select(schema: Schema) -> str:
    # Most rows carry settings without a marker: SQLite keeps those to itself.
    config = schema.session("model_config")
    marked = f"CASE WHEN instr({config}, '\"_') THEN {config} END" if config != "NULL" else config  # not shown
    return ", ".join(marked if column == "model_config" else schema.session(column) for column in _COLUMNS)


def newest_message_sql(schema: Schema, session: str) -> str:
    """SQL for the newest timestamp of one session: one seek to the end of a covering index."""
    return (
        f"(SELECT max(m.timestamp) FROM messages m WHERE m.session_id = {session})"
        if ("timestamp" in schema.message_columns)
        else "NULL"
    )


# Columns are decoded whole: one that holds only what it should is taken as it is, which a look at the types
# of its values tells at a fraction of what decoding each of them costs.

_NONE = type(None)
_TEXT = frozenset((str, _NONE))
_SANE_TIMES = (0.0, 1e11)
_SANE_MONEY = 1e12
_MOST = 2**63 - 1  # what SQLite counts to; a number with a fraction may be larger


def _texts(values: Column) -> Column:
    return values if _TEXT.issuperset(map(type, values)) else list(map(as_text, values))


def _times(values: Column) -> Column:
    kinds = set(map(type, values))
    if kinds == {_NONE}:
        return values
    if kinds <= {float, _NONE}:
        known = [value for value in values if type(value) is float]
        if _SANE_TIMES[0] <= min(known) and max(known) <= _SANE_TIMES[1]:  # false for what is no number, too
            return values
    return list(map(as_time, values))


def _counts(values: Column) -> Column:
    if set(map(type, values)) == {int} and min(values) >= 0:  # type: ignore[type-var,operator]  # all are int
        return values
    return [min(as_count(value), _MOST) for value in values]


def _flags(values: Column) -> Column:
    kinds = set(map(type, values))
    if kinds == {_NONE}:
        return [False] * len(values)
    return list(map(bool, values)) if kinds == {int} else list(map(as_flag, values))


def _money(values: Column) -> Column:
    kinds = set(map(type, values))
    if kinds <= {float, _NONE}:
        known = [value for value in values if type(value) is float]
        if not known or -_SANE_MONEY <= min(known) <= max(known) <= _SANE_MONEY:
            return values
    return list(map(as_money, values))


def _markers(configs: Column) -> tuple[Column, Column, Column]:
    if not any(configs):
        nothing = [None] * len(configs)
        return nothing, nothing, nothing
    found = []
    for config in configs:
        settings = as_mapping(as_text(config)) if config is not None else {}
        found.append(tuple(as_text(settings.get(name)) for name in _MARKERS) if settings else _NO_MARKERS)
    branched, delegated, reset = zip(*found, strict=True)
    return branched, delegated, reset


def _newest(newest: Column, activity: Column, started: Column) -> Column:
    """The later of newest message and recorded activity, else the start."""
    found = []
    for message, recorded, start in zip(newest, activity, started, strict=True):
        if message is None:
            found.append(start if recorded is None else recorded)
        else:
            found.append(message if recorded is None or recorded < message else recorded)  # type: ignore[operator]
    return found


def _columns(rows: Sequence[Row], busy: frozenset[str]) -> Columns:
    """The sessions of rows that begin with `_COLUMNS` and the newest message's time, NULL where there is no message.

    A row without an id is left out: nothing can refer to it.

    Args:
        rows: Any number, but not none.
        busy: From `read_busy`.
    """
    columns: dict[str, Column] = dict(zip((*_COLUMNS, "newest"), zip(*rows, strict=True), strict=False))
    ids = _texts(columns["id"])
    if None in ids:
        named = [row for row in rows if row[0] is not None]
        return _columns(named, busy) if named else columns_of([])
    for name in _COMMON:
        columns[name] = [intern(text) if isinstance(text, str) else text for text in _texts(columns[name])]
    times = {name: _times(columns[name]) for name in (*_TIMES, "newest")}
    counts = [_counts(columns[name]) for name in _COUNTS]
    archived, pinned, hidden = (_flags(columns[name]) for name in _FLAGS)
    estimated, actual = (_money(columns[name]) for name in _MONEY)
    branched, delegated, reset = _markers(columns["model_config"])
    sources = [source or "unknown" for source in columns["source"]]
    is_busy = [session_id in busy for session_id in ids] if busy else [False] * len(rows)
    spoken = [newest is not None for newest in columns["newest"]]
    costs = [
        paid if paid is not None else nan if guessed is None else guessed
        for paid, guessed in zip(actual, estimated, strict=True)
    ]
    marks = zip(
        sources, columns["end_reason"], columns["model"], archived, pinned, hidden, is_busy, spoken, strict=True
    )
    fields: tuple[object, ...] = (
        ids,
        _texts(columns["parent_session_id"]),
        _texts(columns["title"]),
        times["started_at"],
        times["ended_at"],
        _newest(times["newest"], times["last_activity_at"], times["started_at"]),
        columns["cwd"],
        columns["git_branch"],
        branched,
        delegated,
        reset,
        _texts(columns["session_key"]),
        list(marks),
        b"".join(map(pack_numbers, *counts, costs)),
    )
    return Columns._make(fields)


def _decode(rows: Sequence[Row], busy: frozenset[str]) -> list[Session]:
    """The sessions of rows as `_columns` takes them."""
    return _columns(rows, busy).sessions() if rows else []


def read_busy(reader: Reader, now: float | None = None) -> frozenset[str]:
    """Ids that a live turn lease or compression lock names (0.16 and later; leases since 0.20).

    A lease is keyed by the root of a lineage; the caller applies it to the conversation.
    """
    moment = time.time() if now is None else now
    found: set[str] = set()
    for table, column in reader.schema.leases:
        rows = reader.rows(f"SELECT {column} FROM {table} WHERE expires_at > ?", [moment])
        found.update(text for text in (as_text(row[0]) for row in rows) if text)
    return frozenset(found)


def _newest_sql(schema: Schema) -> str:
    """SQL for the newest message's time: an empty text for messages without a time, NULL where there are none."""
    has = "CASE WHEN EXISTS (SELECT 1 FROM messages m WHERE m.session_id = s.id) THEN '' END"
    return f"COALESCE({newest_message_sql(schema, 's.id')}, {has})"


def _statement(schema: Schema) -> str:
    return f"SELECT {_select(schema)}, {_newest_sql(schema)} FROM sessions s"


def read_sessions(reader: Reader, ids: Sequence[str], *, busy: frozenset[str] = frozenset()) -> list[Session]:
    """The named sessions that exist, in no order.

    Args:
        reader: An open reader.
        ids: Session ids, any number.
        busy: From `read_busy`.
    """
    return _decode(reader.rows_in(f"{_statement(reader.schema)} WHERE s.id IN ({{keys}})", list(ids)), busy)


def read_child_ids(reader: Reader, ids: Sequence[str]) -> list[str]:
    """Ids of all sessions whose parent is one of the named ones (by `idx_sessions_parent`).

    An id stands first in its row: most children are known already, and to read them whole again costs ten times that.
    """
    if "parent_session_id" not in reader.schema.session_columns:
        return []
    rows = reader.rows_in("SELECT s.id FROM sessions s WHERE s.parent_session_id IN ({keys})", list(ids))
    return [text for text in (as_text(row[0]) for row in rows) if text is not None]


def read_table(reader: Reader, *, slice_rows: int = 250) -> Packed:
    """Every session of the store, in slices by rowid so that no read holds its lock for long.

    In DELETE journal mode a read blocks each commit while it lasts (Hermes 0.20), so a store of
    100,000 sessions is read in many short statements instead of one of half a second.
    """
    busy = read_busy(reader)
    newest = _newest_sql(reader.schema)
    statement = (
        f"SELECT {_select(reader.schema)}, {newest}, s.rowid FROM sessions s WHERE s.rowid > ? ORDER BY s.rowid LIMIT ?"
    )
    from .table import Packer  # the first page goes without

    packer = Packer()
    waiting: list[Row] = []
    last = -(2**63)
    while True:
        rows = reader.rows(statement, [last, slice_rows])
        waiting += rows
        if waiting and (len(rows) < slice_rows or len(waiting) >= _DECODED_TOGETHER):
            packer.add(_columns(waiting, busy))
            waiting = []
        if len(rows) < slice_rows:
            return packer.packed()
        last = int(str(rows[-1][-1]))
