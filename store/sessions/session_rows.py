"""Read rows of `sessions` without their large columns.

`system_prompt` (8 to 20 KB, in the middle of a record) is never selected. `model_config` is parsed in Python: in SQL,
`json_extract` of one malformed value would fail the whole statement, as it does in Hermes 0.19.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from sys import intern
from typing import Any

from ..connection.reader import Reader, Row
from ..connection.schema import Schema
from ..connection.stored_values import as_count, as_flag, as_int, as_mapping, as_money, as_time, first_texts
from ..text import as_text
from .session import Session

_MARKERS = ("_branched_from", "_delegate_from", "_reset_from")
_NO_MARKERS = (None, None, None)
_BATCH = 1000
"""Rows decoded in one go: with fewer the overhead per column dominates, with more the memory does."""
_SLICE = 250
"""Rows of `read_all` per statement."""

Column = Sequence[object]


def newest_message_sql(schema: Schema) -> str:
    """Return SQL for the newest timestamp of a row of `sessions s`: one seek to the end of a covering index."""
    if "timestamp" not in schema.message_columns:
        return "NULL"
    return "(SELECT max(m.timestamp) FROM messages m WHERE m.session_id = s.id)"


# Columns are decoded whole. Checking the types of all values is much cheaper than decoding each of them, and most
# columns need no decoding.

_NONE = type(None)
_TEXT = frozenset((str, _NONE))
_SANE_TIMES = (0.0, 1e11)
_SANE_MONEY = 1e12
_MAX_INTEGER = 2**63 - 1  # the largest SQLite integer; a real may be larger


def _texts(values: Column) -> Column:
    return values if _TEXT.issuperset(map(type, values)) else list(map(as_text, values))


def _common(values: Column) -> Column:
    """Decode text that is equal in many rows, and intern it."""
    return [intern(text) if isinstance(text, str) else text for text in _texts(values)]


def _sources(values: Column) -> Column:
    return [source or "unknown" for source in _common(values)]


def _times(values: Column) -> Column:
    kinds = set(map(type, values))
    if kinds == {_NONE}:
        return values
    if kinds <= {float, _NONE}:
        present = [value for value in values if type(value) is float]
        if _SANE_TIMES[0] <= min(present) and max(present) <= _SANE_TIMES[1]:  # also false for NaN
            return values
    return list(map(as_time, values))


def _counts(values: Column) -> Column:
    if set(map(type, values)) == {int} and min(values) >= 0:  # type: ignore[type-var,operator]  # all are int
        return values
    return [min(as_count(value), _MAX_INTEGER) for value in values]


def _flags(values: Column) -> Column:
    kinds = set(map(type, values))
    if kinds == {_NONE}:
        return [False] * len(values)
    return list(map(bool, values)) if kinds == {int} else list(map(as_flag, values))


def _money(values: Column) -> Column:
    kinds = set(map(type, values))
    if kinds <= {float, _NONE}:
        present = [value for value in values if type(value) is float]
        if not present or -_SANE_MONEY <= min(present) <= max(present) <= _SANE_MONEY:
            return values
    return list(map(as_money, values))


def _markers(configs: Column) -> tuple[Column, Column, Column]:
    if not any(configs):
        empty = [None] * len(configs)
        return empty, empty, empty
    markers = []
    for config in configs:
        settings = as_mapping(as_text(config)) if config is not None else {}
        markers.append(tuple(as_text(settings.get(name)) for name in _MARKERS) if settings else _NO_MARKERS)
    branched, delegated, reset = zip(*markers, strict=True)
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
"""The selected columns of `sessions` with their decoders; most are fields of `Session` of the same name."""


def _statement(schema: Schema) -> str:
    """Return SQL for `_COLUMNS`, the time of the newest message, and the rowid.

    The time is an empty text for messages without a time, and NULL without messages.
    """
    # Most rows have settings without a marker: do not read those.
    config = schema.session("model_config")
    marked = f"CASE WHEN instr({config}, '\"_') THEN {config} END" if config != "NULL" else config
    columns = (marked if column == "model_config" else schema.session(column) for column in _COLUMNS)
    has = "CASE WHEN EXISTS (SELECT 1 FROM messages m WHERE m.session_id = s.id) THEN '' END"
    newest = f"COALESCE({newest_message_sql(schema)}, {has})"
    return f"SELECT {', '.join(columns)}, {newest}, s.rowid FROM sessions s"


def _last_active(newest: object, recorded: object, started: object) -> object:
    """Return the later of newest message and recorded activity, else the start."""
    if newest is None:
        return started if recorded is None else recorded
    return newest if recorded is None or recorded < newest else recorded  # type: ignore[operator]  # both are times


def _decode(
    rows: Sequence[Row], busy: frozenset[str], alike: dict[Any, Any], known: Mapping[Any, Session]
) -> Iterator[Session]:
    """Decode rows of `_statement`; rows without an id are skipped, because nothing can refer to them.

    `busy` is from `read_busy`; `known` as of `read_all`; `alike` caches shared values and grows.
    """
    rows = [row for row in rows if row[0] is not None]
    if not rows:
        return iter(())
    *stored, newest, _rowid = zip(*rows, strict=True)
    columns = {name: read(values) for (name, read), values in zip(_COLUMNS.items(), stored, strict=True)}

    def unified(values: Column) -> Column:
        """Replace equal ids by one object."""
        return [session.id if (session := known.get(each)) else alike.setdefault(each, each) for each in values]

    columns["id"] = unified(columns["id"])
    columns["parent_id"] = unified(columns.pop("parent_session_id"))
    columns["branched_from"], columns["delegate_from"], columns["reset_from"] = map(
        unified, _markers(columns["model_config"])
    )
    columns["busy"] = [session_id in busy for session_id in columns["id"]]
    columns["has_messages"] = [moment is not None for moment in newest]
    moments = (_times(newest), columns["last_activity_at"], columns["started_at"])
    columns["last_active"] = list(map(_last_active, *moments))
    paid = zip(columns["actual_cost_usd"], columns["estimated_cost_usd"], strict=True)
    columns["cost_usd"] = [guessed if actual is None else actual for actual, guessed in paid]
    return Session.from_columns(columns, alike)


def read_busy(reader: Reader, now: float | None = None) -> frozenset[str]:
    """Read the session ids in live compression locks (0.16 and later) and turn leases (0.20 and later).

    A lease names the root of a lineage; the caller applies it to the whole conversation.
    """
    moment = time.time() if now is None else now
    ids: set[str] = set()
    for table, column in reader.schema.leases:
        rows = reader.rows(f"SELECT {column} FROM {table} WHERE expires_at > ?", [moment])
        ids.update(filter(None, first_texts(rows)))
    return frozenset(ids)


def read_sessions(reader: Reader, ids: Sequence[str], *, busy: frozenset[str] = frozenset()) -> list[Session]:
    """Read the sessions with these ids, any number, as far as they exist, in no order; `busy` is from `read_busy`."""
    rows = reader.rows_in(f"{_statement(reader.schema)} WHERE s.id IN ({{keys}})", list(ids))
    return list(_decode(rows, busy, {}, {}))


def read_child_ids(reader: Reader, ids: Sequence[str]) -> list[str]:
    """Read the ids of all children of these sessions, by `idx_sessions_parent`.

    Callers know most of them already, and reading whole rows costs ten times as much as ids.
    """
    if "parent_session_id" not in reader.schema.session_columns:
        return []
    return first_texts(reader.rows_in("SELECT s.id FROM sessions s WHERE s.parent_session_id IN ({keys})", list(ids)))


def read_all(reader: Reader, known: Mapping[str, Session]) -> Iterator[Session]:
    """Read all sessions of a store, in slices by rowid.

    In DELETE journal mode a read blocks every commit (Hermes 0.20), so many short statements are used instead of one
    that takes half a second at 100,000 sessions. `known` has sessions read earlier, by id: their id objects are reused.
    """
    busy = read_busy(reader)
    statement = f"{_statement(reader.schema)} WHERE s.rowid > ? ORDER BY s.rowid LIMIT ?"
    alike: dict[Any, Any] = {}
    pending: list[Row] = []
    last = -(2**63)
    while True:
        rows = reader.rows(statement, [last, _SLICE])
        pending += rows
        is_last = len(rows) < _SLICE
        if is_last or len(pending) >= _BATCH:
            yield from _decode(pending, busy, alike, known)
            pending.clear()
        if is_last:
            return
        last = as_int(rows[-1][-1])
