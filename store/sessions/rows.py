"""Rows of `sessions` read for lists and lineage, never with their blobs.

`system_prompt` (8 to 20 KB) sits mid-record and is never selected. `model_config` is parsed in
Python: `json_extract` on one malformed value would break the whole list, as it does in Hermes 0.19.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from sys import intern
from typing import Any

from ..connection.connect import Reader, Row
from ..connection.schema import Schema
from ..connection.values import as_count, as_flag, as_mapping, as_money, as_time
from ..text import as_text
from .session import Session

_MARKERS = ("_branched_from", "_delegate_from", "_reset_from")
_NO_MARKERS = (None, None, None)
_DECODED_TOGETHER = 1000
"""Rows: the columns of fewer cost more than their values, those of more take room."""

Column = Sequence[object]


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


def _common(values: Column) -> Column:
    """Text that many rows have in common, held once."""
    return [intern(text) if isinstance(text, str) else text for text in _texts(values)]


def _sources(values: Column) -> Column:
    return [source or "unknown" for source in _common(values)]


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


_COLUMNS: dict[str, Callable[[Column], Column]] = {
    "id": _texts,
    "source": _sources,
    "parent_session_id": _texts,
    "title": _texts,
    "model": _common,
    "model_config": list,
    "cwd": _common,
    "git_branch": _common,
    "started_at": _times,
    "ended_at": _times,
    "end_reason": _common,
    "session_key": _texts,
    "archived": _flags,
    "pinned": _flags,
    "hidden": _flags,
    "message_count": _counts,
    "tool_call_count": _counts,
    "input_tokens": _counts,
    "output_tokens": _counts,
    "cache_read_tokens": _counts,
    "cache_write_tokens": _counts,
    "reasoning_tokens": _counts,
    "estimated_cost_usd": _money,
    "actual_cost_usd": _money,
    "last_activity_at": _times,
}
"""The columns of `sessions` that are read, and how each is decoded; most are fields of `Session` by the same name."""


def _statement(schema: Schema) -> str:
    """Rows of `_COLUMNS`, then the newest message's time: an empty text for messages without a time, NULL for none."""
    # Most rows carry settings without a marker: SQLite keeps those to itself.
    config = schema.session("model_config")
    marked = f"CASE WHEN instr({config}, '\"_') THEN {config} END" if config != "NULL" else config  # not shown
    columns = (marked if column == "model_config" else schema.session(column) for column in _COLUMNS)
    has = "CASE WHEN EXISTS (SELECT 1 FROM messages m WHERE m.session_id = s.id) THEN '' END"
    newest = f"COALESCE({newest_message_sql(schema, 's.id')}, {has})"
    return f"SELECT {', '.join(columns)}, {newest}, s.rowid FROM sessions s"


def _last_active(newest: object, recorded: object, started: object) -> object:
    """The later of newest message and recorded activity, else the start."""
    if newest is None:
        return started if recorded is None else recorded
    return newest if recorded is None or recorded < newest else recorded  # type: ignore[operator]  # both are times


def _decode(
    rows: Sequence[Row], busy: frozenset[str], alike: dict[Any, Any], known: Mapping[Any, Session]
) -> Iterator[Session]:
    """The sessions of rows of `_statement`; a row without an id is left out, for nothing can refer to it.

    Args:
        rows: Any number.
        busy: From `read_busy`.
        alike: What sessions have in common; grows.
        known: As of `read_all`.
    """
    rows = [row for row in rows if row[0] is not None]
    if not rows:
        return iter(())
    *stored, newest, _rowid = zip(*rows, strict=True)
    columns = {name: read(values) for (name, read), values in zip(_COLUMNS.items(), stored, strict=True)}

    def named(values: Column) -> Column:
        """The same ids, held once."""
        return [before.id if (before := known.get(each)) else alike.setdefault(each, each) for each in values]

    columns["id"] = named(columns["id"])
    columns["parent_id"] = named(columns.pop("parent_session_id"))
    columns["branched_from"], columns["delegate_from"], columns["reset_from"] = map(
        named, _markers(columns["model_config"])
    )
    columns["busy"] = [session_id in busy for session_id in columns["id"]]
    columns["has_messages"] = [moment is not None for moment in newest]
    moments = (_times(newest), columns["last_activity_at"], columns["started_at"])
    columns["last_active"] = list(map(_last_active, *moments))
    paid = zip(columns["actual_cost_usd"], columns["estimated_cost_usd"], strict=True)
    columns["cost_usd"] = [guessed if actual is None else actual for actual, guessed in paid]
    return Session.made_of(columns, alike)


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


def read_sessions(reader: Reader, ids: Sequence[str], *, busy: frozenset[str] = frozenset()) -> list[Session]:
    """The named sessions that exist, in no order.

    Args:
        reader: An open reader.
        ids: Session ids, any number.
        busy: From `read_busy`.
    """
    rows = reader.rows_in(f"{_statement(reader.schema)} WHERE s.id IN ({{keys}})", list(ids))
    return list(_decode(rows, busy, {}, {}))


def read_child_ids(reader: Reader, ids: Sequence[str]) -> list[str]:
    """Ids of all sessions whose parent is one of the named ones (by `idx_sessions_parent`).

    An id stands first in its row: most children are known already, and to read them whole again costs ten times that.
    """
    if "parent_session_id" not in reader.schema.session_columns:
        return []
    rows = reader.rows_in("SELECT s.id FROM sessions s WHERE s.parent_session_id IN ({keys})", list(ids))
    return [text for text in (as_text(row[0]) for row in rows) if text is not None]


def read_all(reader: Reader, known: Mapping[str, Session], *, slice_rows: int = 250) -> Iterator[Session]:
    """Every session of the store, in slices by rowid so that no read holds its lock for long.

    In DELETE journal mode a read blocks each commit while it lasts (Hermes 0.20), so a store of
    100,000 sessions is read in many short statements instead of one of half a second.

    Args:
        reader: An open reader.
        known: Sessions of an earlier reading, by id: what is named again is held once.
        slice_rows: Rows of a statement.
    """
    busy = read_busy(reader)
    statement = f"{_statement(reader.schema)} WHERE s.rowid > ? ORDER BY s.rowid LIMIT ?"
    alike: dict[Any, Any] = {}
    waiting: list[Row] = []
    last = -(2**63)
    while True:
        rows = reader.rows(statement, [last, slice_rows])
        waiting += rows
        if len(rows) < slice_rows or len(waiting) >= _DECODED_TOGETHER:
            yield from _decode(waiting, busy, alike, known)
            waiting.clear()
        if len(rows) < slice_rows:
            return
        last = int(str(rows[-1][-1]))
