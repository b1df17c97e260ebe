"""Read rows of `sessions` without their large columns.

`system_prompt` (8 to 20 KB, in the middle of a record) is never selected. `model_config` is parsed
in Python: in SQL, `json_extract` of one malformed value would fail the whole statement, as it does
in Hermes 0.19.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..connection.reader import Reader, Row
from ..connection.schema import Schema
from ..connection.stored_values import (
    as_count,
    as_flag,
    as_int,
    as_mapping,
    as_money,
    as_time,
    first_texts,
)
from ..text import as_text
from .session import Session

_MARKERS = ("_branched_from", "_delegate_from", "_reset_from")
_NO_MARKERS = (None, None, None)
_PORTION = 2_000
"""Sessions of a portion, about."""
_SLICE = 250
"""Rows of `read_all` per statement."""
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
"""The selected columns of `sessions`, in the order in which `_Decoder` unpacks them."""


def newest_message_sql(schema: Schema) -> str:
    """Return SQL for the newest timestamp of a row of `sessions s`: one seek to the end of a
    covering index."""
    if "timestamp" not in schema.message_columns:
        return "NULL"
    return "(SELECT max(m.timestamp) FROM messages m WHERE m.session_id = s.id)"


def _statement(schema: Schema) -> str:
    """Return SQL for the rowid, `_COLUMNS`, and the time of the newest message.

    The time is an empty text for messages without a time, and NULL without messages.
    """
    # Most rows have settings without a marker: do not read those.
    config = schema.session("model_config")
    marked = f"CASE WHEN instr({config}, '\"_') THEN {config} END" if config != "NULL" else config
    columns = [marked if name == "model_config" else schema.session(name) for name in _COLUMNS]
    has = "CASE WHEN EXISTS (SELECT 1 FROM messages m WHERE m.session_id = s.id) THEN '' END"
    newest = f"COALESCE({newest_message_sql(schema)}, {has})"
    return f"SELECT s.rowid, {', '.join(columns)}, {newest} FROM sessions s"


def _markers(config: object) -> tuple[str | None, ...]:
    """Return the values of `_MARKERS` in stored settings."""
    settings = as_mapping(as_text(config))
    return tuple(as_text(settings.get(name)) for name in _MARKERS) if settings else _NO_MARKERS


def _last_active(newest: float | None, recorded: float | None) -> float | None:
    """Return the later of the newest message and the recorded activity."""
    if newest is None or recorded is None:
        return recorded if newest is None else newest
    return max(newest, recorded)


class _Texts(dict[object, str | None]):
    """The text of each stored value: equal values of all rows give one object."""

    def __missing__(self, value: object) -> str | None:
        text = self[value] = as_text(value)
        return text


class _Decoder:
    """Decodes rows of `_statement`; `busy` is from `read_busy`."""

    def __init__(self, busy: frozenset[str]) -> None:
        self._busy = busy
        self._texts = _Texts()

    def sessions(self, rows: Sequence[Row]) -> Iterator[Session]:
        """Yield the sessions; rows without an id are skipped, because nothing can refer to them."""
        return (self._session(row) for row in rows if row[1] is not None)

    def _session(self, row: Row) -> Session:
        # fmt: off
        (
            _rowid, stored_id, source, parent_id, title, model, config, cwd, branch, started, ended,
            end_reason, key, archived, pinned, hidden, messages, calls, input_tokens,
            output_tokens, cache_read, cache_write, reasoning, estimated, paid, recorded, newest,
        ) = row
        # fmt: on
        texts = self._texts
        session_id = texts[stored_id] or ""
        markers = _NO_MARKERS if config is None else _markers(config)
        branched, delegated, reset = [texts[each] for each in markers]
        started_at = as_time(started)
        active = _last_active(as_time(newest), as_time(recorded))
        cost = as_money(paid)
        return Session(
            session_id,
            texts[source] or "unknown",
            texts[parent_id],
            as_text(title),
            texts[model],
            texts[cwd],
            texts[branch],
            started_at,
            as_time(ended),
            texts[end_reason],
            started_at if active is None else active,
            branched,
            delegated,
            reset,
            texts[key],
            as_flag(archived),
            as_flag(pinned),
            as_flag(hidden),
            as_count(messages),
            as_count(calls),
            as_count(input_tokens),
            as_count(output_tokens),
            as_count(cache_read),
            as_count(cache_write),
            as_count(reasoning),
            as_money(estimated) if cost is None else cost,
            session_id in self._busy,
            newest is not None,
        )


def read_busy(reader: Reader, now: float | None = None) -> frozenset[str]:
    """Read the session ids in live compression locks (0.16 and later) and turn leases (0.20 and
    later).

    A lease names the root of a lineage; the caller applies it to the whole conversation.
    """
    moment = time.time() if now is None else now
    ids: set[str] = set()
    for table, column in reader.schema.leases:
        rows = reader.rows(f"SELECT {column} FROM {table} WHERE expires_at > ?", [moment])
        ids.update(filter(None, first_texts(rows)))
    return frozenset(ids)


def read_sessions(
    reader: Reader, ids: Sequence[str], *, busy: frozenset[str] = frozenset()
) -> list[Session]:
    """Read the sessions with these ids, any number, as far as they exist, in no order.

    `busy` is from `read_busy`.
    """
    rows = reader.rows_in(f"{_statement(reader.schema)} WHERE s.id IN ({{keys}})", list(ids))
    return list(_Decoder(busy).sessions(rows))


class SessionsPortion(NamedTuple):
    """Some sessions of a store, by rowid."""

    sessions: list[Session]
    last: int | None
    """The rowid behind which the next portion begins; None after the last one."""


def read_portion(reader: Reader, after: int | None) -> SessionsPortion:
    """Read the sessions behind a rowid, None for the first, in short statements."""
    decoder = _Decoder(read_busy(reader))
    statement = f"{_statement(reader.schema)} WHERE s.rowid > ? ORDER BY s.rowid LIMIT ?"
    last: int | None = -(2**63) if after is None else after
    sessions: list[Session] = []
    while last is not None and len(sessions) < _PORTION:
        rows = reader.rows(statement, [last, _SLICE])
        sessions += decoder.sessions(rows)
        last = as_int(rows[-1][0]) if len(rows) == _SLICE else None
    return SessionsPortion(sessions, last)


def read_all(reader: Reader) -> Iterator[Session]:
    """Read all sessions of a store, in slices by rowid.

    In DELETE journal mode a read blocks every commit (Hermes 0.20), so many short statements are
    used instead of one that takes half a second at 100,000 sessions.
    """
    decoder = _Decoder(read_busy(reader))
    statement = f"{_statement(reader.schema)} WHERE"
    for rows in reader.slices(statement, "s.rowid", _SLICE):
        yield from decoder.sessions(rows)
