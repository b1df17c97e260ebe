"""The schema of a store file: its columns, tables, indexes and the shape of its search index.

The version number in a store says little: every writable open of any Hermes adds missing columns,
an older Hermes opens a newer file, and at schema 31 alone three shapes of the search index exist.
So everything is discovered, and all queries are built from this description.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, KeysView, Mapping
from pathlib import Path
from typing import NamedTuple

from ..errors import Advice, NotAStoreError, StoreEmptyError
from ..wording import _

NEWEST_KNOWN = 31
"""The newest schema seen in a released Hermes (0.22.2)."""

_CONTENT = re.compile(r"""(?i)\bcontent\s*=\s*["']?(\w*)""")
"""The option of `USING fts5(…)` that names the table or view an index reads."""
_LEASES = (("session_turn_leases", "conversation_id"), ("compression_locks", "session_id"))

_MESSAGES = (
    "id", "session_id", "content", "tool_call_id", "tool_calls", "tool_name", "timestamp",
    "finish_reason", "reasoning", "reasoning_content", "reasoning_details", "display_kind",
    "display_order", "api_content", "effect_disposition", "_compressed_summary", "token_count",
    "codex_reasoning_items", "codex_message_items",
)  # fmt: skip
_SESSIONS = (
    "id", "source", "parent_session_id", "title", "model", "cwd", "git_branch", "end_reason",
    "session_key", "started_at", "ended_at", "archived", "pinned", "hidden", "message_count",
    "tool_call_count", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens",
    "reasoning_tokens", "estimated_cost_usd", "actual_cost_usd", "model_config", "last_activity_at",
    "system_prompt", "system_prompt_hash", "tool_names", "user_id", "chat_id", "chat_type", "thread_id",
    "display_name", "billing_provider", "billing_base_url", "billing_mode", "title_source",
    "git_repo_root", "profile_name", "cost_status", "cost_source", "last_activity_description",
    "last_read_at", "origin_json", "api_call_count", "handoff_state", "handoff_platform",
    "handoff_error",
)  # fmt: skip
_USAGE = (
    "session_id", "model", "billing_provider", "task", "api_call_count", "input_tokens", "output_tokens",
    "cache_read_tokens", "cache_write_tokens", "reasoning_tokens", "estimated_cost_usd", "actual_cost_usd",
    "first_seen",
)  # fmt: skip
"""Columns that statements of ours name; a file may lack all but the ids of sessions and messages."""


def sql_name(name: str) -> str:
    """Quote the name of a table or column for SQL."""
    return '"' + name.replace('"', '""') + '"'


class FtsIndex(NamedTuple):
    """A full-text table whose rowid is `messages.id`."""

    name: str
    sql: str
    """Its own SQL: names its columns, since 26 perhaps `tool_name` and `tool_calls` too."""
    is_inline: bool
    """It has a copy of the text (schema 11 to 22, and upgraded files); else that is in `messages` or
    a view over it (schema 6 to 9, and fresh files since 26)."""
    definition: str
    """The SQL of the table or view that an external index reads, else empty: tells which rows are
    left out."""


class Schema(NamedTuple):
    """The schema of a store file."""

    version: int | None
    """The number in `schema_version`; None when that is empty or absent."""
    tables: frozenset[str]
    triggers: frozenset[str]
    session_columns: KeysView[str]
    message_columns: KeysView[str]
    usage_columns: KeysView[str]
    """Of `session_model_usage` (0.19 and later); all in the order of the file."""
    fts: FtsIndex | None
    """The word index."""
    trigram: FtsIndex | None
    """The substring index."""
    notes: Mapping[str, str]
    """The `fts_*` rows of `state_meta`: what Hermes notes about its search index."""
    leases: tuple[tuple[str, str], ...]
    """Tables of turn leases and compression locks that have an expiry time, each with its column of
    ids."""

    @property
    def is_newer(self) -> bool:
        """Whether the file was written by a Hermes newer than any we have seen."""
        return self.version is not None and self.version > NEWEST_KNOWN

    @property
    def is_index_stale(self) -> bool:
        """Whether Hermes (0.22) has marked its search index as stale, until it has rebuilt it."""
        return "fts_stale" in self.notes

    def session(self, column: str) -> str:
        """Return SQL for a column of `sessions s`, NULL where this file lacks it."""
        return f"s.{column}" if column in self.session_columns else "NULL"

    def message(self, column: str) -> str:
        """Return SQL for a column of `messages m`, NULL where this file lacks it."""
        return f"m.{column}" if column in self.message_columns else "NULL"

    def active(self) -> str:
        """Return SQL that is 1 for rows of `messages m` the model still sees; upgraded files hold
        NULL for active."""
        return f"COALESCE({self.message('active')}, 1)"

    def views(self) -> Iterator[str]:
        """Yield SQL that makes three views in the temporary database of a connection.

        `session_rows`, `message_rows` and `usage_rows` have the columns that statements name, NULL
        where this file lacks them; without its table the last one has no rows. SQLite reads the
        tables through them as if they were named themselves. Of a message they also say its `role`
        as text, its `state` (the values of `State`), and whether it is `hidden` from people:
        `session_meta`, `display_kind='hidden'`, `model_only` (0.20, 0.22).
        """
        role = f"COALESCE(NULLIF(CAST({self.message('role')} AS TEXT), ''), 'unknown')"
        metadata = self.message("display_metadata")
        is_hidden = f"{self.message('display_kind')} IS 'hidden'"
        computed = {
            "role": role,
            # A summary replaced those that are compacted (0.18 and later); they are still shown.
            "state": f"CASE WHEN {self.active()} THEN 'live' WHEN {self.message('compacted')} "
            "THEN 'compacted' ELSE 'rewound' END",
            "hidden": f"{role} = 'session_meta' OR {is_hidden} OR CASE WHEN json_valid({metadata}) "
            f"THEN json_type({metadata}, '$.model_only') IS 'true' ELSE 0 END",
        }
        messages = {name: self.message(name) for name in _MESSAGES} | computed
        sessions = {"rowid": "s.rowid"} | {name: self.session(name) for name in _SESSIONS}
        own = {"rowid", *self.usage_columns}
        usage = {name: name if name in own else "NULL" for name in ("rowid", *_USAGE)}
        usages = "session_model_usage" if self.usage_columns else "(SELECT 1 AS rowid LIMIT 0)"
        for view, table, columns in (
            ("message_rows", "messages m", messages),
            ("session_rows", "sessions s", sessions),
            ("usage_rows", usages, usage),
        ):
            listed = ", ".join(f"{sql} AS {name}" for name, sql in columns.items())
            yield f"CREATE TEMP VIEW {view} AS SELECT {listed} FROM {table}"


def _describe_fts(name: str, definitions: Mapping[str, str]) -> FtsIndex | None:
    """Describe a full-text table by its SQL: SQLite does not describe a damaged one.

    None if it is missing, or another kind of table.
    """
    sql = definitions.get(name, "")
    if "fts5" not in sql.lower():
        return None
    content = _CONTENT.search(sql)
    read = content[1] if content is not None else ""
    return FtsIndex(name, sql, content is None, definitions.get(read, ""))


def _columns(connection: sqlite3.Connection, table: str) -> KeysView[str]:
    columns = f"PRAGMA table_info({sql_name(table)})"
    return dict.fromkeys(str(row[1]) for row in connection.execute(columns).fetchall()).keys()


def read_again(connection: sqlite3.Connection, schema: Schema) -> Schema:
    """Return a schema with what rows say of it: its version, and the notes about the search index.

    They may change while tables, columns and the schema cookie of SQLite stay as they are.

    Raises:
        sqlite3.Error: As SQLite says it; the caller translates it.
    """
    version, notes = None, {}
    if "version" in _columns(connection, "schema_version"):
        (version,) = connection.execute("SELECT max(version) FROM schema_version").fetchone()
    if {"key", "value"} <= _columns(connection, "state_meta"):
        sql = "SELECT key, value FROM state_meta WHERE key >= 'fts_' AND key < 'fts`'"
        notes = {str(key): str(value) for key, value in connection.execute(sql).fetchall()}
    return schema._replace(version=version if isinstance(version, int) else None, notes=notes)


def read_schema(connection: sqlite3.Connection, path: Path) -> Schema:
    """Describe the file behind an open read connection; nothing is assumed from its version number.

    Raises:
        StoreEmptyError: It has no tables yet.
        NotAStoreError: It has tables, but not those of Hermes.
        sqlite3.Error: As SQLite says it; the caller translates it.
    """
    objects = connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall()

    def names(kind: str) -> frozenset[str]:
        return frozenset(str(name) for of_kind, name, _sql in objects if of_kind == kind)

    tables = names("table")
    if not tables:
        raise StoreEmptyError(
            _("{path} has no tables yet: Hermes makes them at its first chat.", path=path),
            remedy=_("Start a chat in Hermes."),
            advice=Advice.START_CHAT,
        )
    sessions, messages = _columns(connection, "sessions"), _columns(connection, "messages")
    if "id" not in sessions or not {"id", "session_id"} <= messages:
        raise NotAStoreError(
            _(
                "{path} is an SQLite database, but not a Hermes session store: it has other tables.",
                path=path,
            ),
            advice=Advice.NAME_STORE,
        )
    definitions = {str(name): str(sql) for kind, name, sql in objects if kind in ("table", "view")}
    schema = Schema(
        version=None,
        tables=tables,
        triggers=names("trigger"),
        session_columns=sessions,
        message_columns=messages,
        usage_columns=_columns(connection, "session_model_usage"),
        fts=_describe_fts("messages_fts", definitions),
        trigram=_describe_fts("messages_fts_trigram", definitions),
        notes={},
        leases=tuple(
            (table, column)
            for table, column in _LEASES
            if {column, "expires_at"} <= _columns(connection, table)
        ),
    )
    return read_again(connection, schema)
