"""Rows of `sessions` read for lists and lineage, never with their blobs.

`system_prompt` (8 to 20 KB) sits mid-record and is never selected. `model_config` is parsed in
Python: `json_extract` on one malformed value would break the whole list, as it does in Hermes 0.19.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from .connect import Reader, Row
from .models import Session, Tokens
from .schema import Schema
from .text import as_text
from .values import as_count, as_flag, as_mapping, as_money, as_time

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
_NO_TOKENS = Tokens()


def _select(schema: Schema) -> str:
    return ", ".join(schema.session(column) for column in _COLUMNS)


def newest_message_sql(schema: Schema, session: str) -> str:
    """SQL for the newest timestamp of one session: one seek to the end of a covering index."""
    return (
        f"(SELECT max(m.timestamp) FROM messages m WHERE m.session_id = {session})"
        if ("timestamp" in schema.message_columns)
        else "NULL"
    )


def _shared(value: object) -> str | None:
    """Text that many rows have in common, held once: it is a third of a large list's memory."""
    text = as_text(value)
    return sys.intern(text) if text is not None else None


def _tokens(*counts: object) -> Tokens:
    return Tokens(*map(as_count, counts)) if any(counts) else _NO_TOKENS


def to_session(row: Row, *, busy: frozenset[str] = frozenset()) -> Session | None:
    """Decode one row of `_COLUMNS` plus newest message time and a has-messages flag.

    Returns:
        None for a row without an id: nothing can refer to it.
    """
    (
        raw_id, source, parent, title, model, config, cwd, branch, started, ended, reason, key, archived,
        pinned, hidden, messages, calls, tokens_in, tokens_out, cache_read, cache_write, reasoning,
        estimated, actual, activity, newest, has_messages,
    ) = row  # fmt: skip
    session_id = as_text(raw_id)
    if session_id is None:
        return None
    # Most rows carry settings without a marker: not worth parsing.
    written = as_text(config)
    markers = as_mapping(written) if written is not None and '"_' in written else {}
    started_at = as_time(started)
    times = [moment for moment in (as_time(newest), as_time(activity)) if moment is not None]
    actual_cost = as_money(actual)
    return Session(
        id=session_id,
        source=_shared(source) or "unknown",
        parent_id=as_text(parent),
        title=as_text(title),
        model=_shared(model),
        cwd=_shared(cwd),
        git_branch=_shared(branch),
        started_at=started_at,
        ended_at=as_time(ended) if ended is not None else None,
        end_reason=_shared(reason),
        last_active=max(times) if times else started_at,
        branched_from=as_text(markers.get("_branched_from")),
        delegate_from=as_text(markers.get("_delegate_from")),
        reset_from=as_text(markers.get("_reset_from")),
        session_key=as_text(key),
        archived=as_flag(archived),
        pinned=as_flag(pinned),
        hidden=as_flag(hidden),
        message_count=as_count(messages),
        tool_call_count=as_count(calls),
        tokens=_tokens(tokens_in, tokens_out, cache_read, cache_write, reasoning),
        cost_usd=actual_cost if actual_cost is not None else as_money(estimated),
        busy=session_id in busy,
        has_messages=bool(has_messages),
    )


def read_busy(reader: Reader, now: float | None = None) -> frozenset[str]:
    """Ids that a live turn lease or compression lock names (0.16 and later; leases since 0.20).

    A lease is keyed by the root of a lineage; the caller applies it to the conversation.
    """
    moment = time.time() if now is None else now
    found: set[str] = set()
    for table, column in (("session_turn_leases", "conversation_id"), ("compression_locks", "session_id")):
        if table in reader.schema.tables:
            columns = {row[1] for row in reader.rows(f"PRAGMA table_info({table})")}
            if {column, "expires_at"} <= columns:
                rows = reader.rows(f"SELECT {column} FROM {table} WHERE expires_at > ?", [moment])
                found.update(text for text in (as_text(row[0]) for row in rows) if text)
    return frozenset(found)


def _statement(schema: Schema) -> str:
    newest = newest_message_sql(schema, "s.id")
    has = "EXISTS (SELECT 1 FROM messages m WHERE m.session_id = s.id)"
    return f"SELECT {_select(schema)}, {newest}, {has} FROM sessions s"


def _decode(rows: Sequence[Row], busy: frozenset[str]) -> list[Session]:
    return [session for session in (to_session(row, busy=busy) for row in rows) if session is not None]


def read_sessions(reader: Reader, ids: Sequence[str], *, busy: frozenset[str] = frozenset()) -> list[Session]:
    """The named sessions that exist, in no order.

    Args:
        reader: An open reader.
        ids: Session ids, any number.
        busy: From `read_busy`.
    """
    return _decode(reader.rows_in(f"{_statement(reader.schema)} WHERE s.id IN ({{keys}})", list(ids)), busy)


def read_children(reader: Reader, ids: Sequence[str], *, busy: frozenset[str] = frozenset()) -> list[Session]:
    """All sessions whose parent is one of the named ones (by `idx_sessions_parent`)."""
    if "parent_session_id" not in reader.schema.session_columns:
        return []
    return _decode(
        reader.rows_in(f"{_statement(reader.schema)} WHERE s.parent_session_id IN ({{keys}})", list(ids)), busy
    )


def read_all_sessions(reader: Reader, *, slice_rows: int = 2000) -> list[Session]:
    """Every session of the store, in slices by rowid so that no read holds its lock for long.

    In DELETE journal mode a read blocks each commit while it lasts (Hermes 0.20), so a store of
    100,000 sessions is read in many short statements instead of one of half a second.
    """
    busy = read_busy(reader)
    statement = f"{_statement(reader.schema)} WHERE s.rowid > ? ORDER BY s.rowid LIMIT ?"
    statement = statement.replace("SELECT ", "SELECT s.rowid, ", 1)
    found: list[Session] = []
    last = -(2**63)
    while True:
        rows = reader.rows(statement, [last, slice_rows])
        found.extend(_decode([row[1:] for row in rows], busy))
        if len(rows) < slice_rows:
            return found
        last = int(str(rows[-1][0]))
