"""The tables, indexes and triggers Hermes 0.19 gives a fresh store (schema 22), for the sample store.

Columns are kept as data so that tests can leave some out and build the stores of other versions. The order matters:
`PRAGMA table_info` of a sample store equals that of a real one (a test compares them).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence

VERSION = 22
"""What `schema_version` says (Hermes 0.19.0)."""

_TOKEN_COUNTERS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")

TABLES: Mapping[str, Sequence[str]] = {
    "schema_version": ("version INTEGER NOT NULL",),
    "sessions": (
        "id TEXT PRIMARY KEY",
        "source TEXT NOT NULL",
        *(f"{name} TEXT" for name in ("user_id", "session_key", "chat_id", "chat_type", "thread_id", "display_name")),
        "origin_json TEXT",
        "expiry_finalized INTEGER DEFAULT 0",
        *(f"{name} TEXT" for name in ("model", "model_config", "system_prompt", "parent_session_id")),
        "started_at REAL NOT NULL",
        "ended_at REAL",
        "end_reason TEXT",
        *(f"{name} INTEGER DEFAULT 0" for name in ("message_count", "tool_call_count", *_TOKEN_COUNTERS)),
        *(f"{name} TEXT" for name in ("cwd", "git_branch", "git_repo_root")),
        *(f"{name} TEXT" for name in ("billing_provider", "billing_base_url", "billing_mode")),
        "estimated_cost_usd REAL",
        "actual_cost_usd REAL",
        *(f"{name} TEXT" for name in ("cost_status", "cost_source", "pricing_version", "title")),
        "api_call_count INTEGER DEFAULT 0",
        *(f"{name} TEXT" for name in ("handoff_state", "handoff_platform", "handoff_error")),
        "compression_failure_cooldown_until REAL",
        "compression_failure_error TEXT",
        "compression_fallback_streak INTEGER NOT NULL DEFAULT 0",
        "profile_name TEXT",
        "rewind_count INTEGER NOT NULL DEFAULT 0",
        "archived INTEGER NOT NULL DEFAULT 0",
        "FOREIGN KEY (parent_session_id) REFERENCES sessions(id)",
    ),
    "messages": (
        "id INTEGER PRIMARY KEY AUTOINCREMENT",
        "session_id TEXT NOT NULL REFERENCES sessions(id)",
        "role TEXT NOT NULL",
        *(f"{name} TEXT" for name in ("content", "tool_call_id", "tool_calls", "tool_name", "effect_disposition")),
        "timestamp REAL NOT NULL",
        "token_count INTEGER",
        *(f"{name} TEXT" for name in ("finish_reason", "reasoning", "reasoning_content", "reasoning_details")),
        *(f"{name} TEXT" for name in ("codex_reasoning_items", "codex_message_items", "platform_message_id")),
        "observed INTEGER DEFAULT 0",
        "active INTEGER NOT NULL DEFAULT 1",
        "compacted INTEGER NOT NULL DEFAULT 0",
        "api_content TEXT",
    ),
    "session_model_usage": (
        "session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE",
        "model TEXT NOT NULL",
        *(f"{name} TEXT NOT NULL DEFAULT ''" for name in ("billing_provider", "billing_base_url", "billing_mode")),
        "task TEXT NOT NULL DEFAULT ''",
        *(f"{name} INTEGER NOT NULL DEFAULT 0" for name in ("api_call_count", *_TOKEN_COUNTERS)),
        "estimated_cost_usd REAL NOT NULL DEFAULT 0",
        "actual_cost_usd REAL NOT NULL DEFAULT 0",
        "cost_status TEXT",
        "cost_source TEXT",
        "first_seen REAL",
        "last_seen REAL",
        "PRIMARY KEY (session_id, model, billing_provider, billing_base_url, billing_mode, task)",
    ),
    "state_meta": ("key TEXT PRIMARY KEY", "value TEXT"),
    "gateway_routing": (
        "scope TEXT NOT NULL DEFAULT ''",
        "session_key TEXT NOT NULL",
        "entry_json TEXT NOT NULL",
        "updated_at REAL NOT NULL",
        "PRIMARY KEY (scope, session_key)",
    ),
    "compression_locks": (
        "session_id TEXT PRIMARY KEY",
        "holder TEXT NOT NULL",
        "acquired_at REAL NOT NULL",
        "expires_at REAL NOT NULL",
    ),
    "async_delegations": (
        "delegation_id TEXT PRIMARY KEY",
        "origin_session TEXT NOT NULL",
        "origin_ui_session_id TEXT NOT NULL DEFAULT ''",
        "parent_session_id TEXT",
        "state TEXT NOT NULL",
        "dispatched_at REAL NOT NULL",
        "completed_at REAL",
        "updated_at REAL NOT NULL",
        "event_json TEXT",
        "result_json TEXT",
        "delivery_state TEXT NOT NULL DEFAULT 'pending'",
        "delivery_attempts INTEGER NOT NULL DEFAULT 0",
        "delivered_at REAL",
        "owner_pid INTEGER",
        "owner_started_at INTEGER",
        *(f"{name} TEXT" for name in ("task_json", "delivery_claim")),
        "delivery_claimed_at REAL",
    ),
}
"""Column and constraint definitions by table, in the order Hermes declares them."""

INDEXES: Mapping[str, str] = {
    "idx_sessions_source": "sessions(source)",
    "idx_sessions_source_id": "sessions(source, id)",
    "idx_sessions_parent": "sessions(parent_session_id)",
    "idx_sessions_started": "sessions(started_at DESC)",
    "idx_messages_session": "messages(session_id, timestamp)",
    "idx_compression_locks_expires": "compression_locks(expires_at)",
    "idx_session_model_usage_session": "session_model_usage(session_id)",
    "idx_session_model_usage_model": "session_model_usage(model)",
    "idx_async_delegations_delivery": "async_delegations(delivery_state, completed_at)",
    "idx_messages_platform_msg_id": "messages(session_id, platform_message_id) WHERE platform_message_id IS NOT NULL",
    "idx_messages_session_active": "messages(session_id, active, timestamp)",
    "idx_messages_active_null": "messages(active) WHERE active IS NULL",
    "idx_sessions_session_key": "sessions(session_key, started_at DESC)",
    "idx_sessions_gateway_peer": "sessions(source, user_id, chat_id, chat_type, thread_id, started_at DESC)",
    "idx_sessions_handoff_state": "sessions(handoff_state, started_at)",
}
"""Plain indexes by name, in the order Hermes makes them; the unique one on titles comes after them."""

TITLE_INDEX = "CREATE UNIQUE INDEX idx_sessions_title_unique ON sessions(title) WHERE title IS NOT NULL"

WORDS, TRIGRAM = "messages_fts", "messages_fts_trigram"
"""The two full-text tables: by word (unicode61), by substring of three letters (needs SQLite 3.34)."""

_TRIGRAM_SINCE = (3, 34, 0)


def indexed_text(row: str) -> str:
    """SQL for what the inline search tables hold of a row of `messages` (schema 11 to 22).

    Args:
        row: `new`, `old`, or the table's name.
    """
    return " || ' ' || ".join(f"COALESCE({row}.{column}, '')" for column in ("content", "tool_name", "tool_calls"))


def table_statement(name: str, columns: Iterable[str]) -> str:
    """CREATE TABLE from definitions as in `TABLES`."""
    return f"CREATE TABLE {name} (\n    " + ",\n    ".join(columns) + "\n)"


def fts_table(name: str) -> str:
    """CREATE VIRTUAL TABLE of one inline search table."""
    tokenize = ", tokenize='trigram'" if name == TRIGRAM else ""
    return f"CREATE VIRTUAL TABLE {name} USING fts5(content{tokenize})"


def fts_triggers(name: str) -> list[str]:
    """The three triggers that keep one inline search table in step with `messages`."""
    insert = f"INSERT INTO {name}(rowid, content) VALUES (new.id, {indexed_text('new')});"
    delete = f"DELETE FROM {name} WHERE rowid = old.id;"
    bodies = {"insert": insert, "delete": delete, "update": f"{delete} {insert}"}
    return [
        f"CREATE TRIGGER {name}_{event} AFTER {event.upper()} ON messages BEGIN {body} END"
        for event, body in bodies.items()
    ]


def fts_fill(name: str) -> str:
    """INSERT that indexes every row of `messages` at once: ten times quicker than by trigger."""
    return f"INSERT INTO {name}(rowid, content) SELECT messages.id, {indexed_text('messages')} FROM messages"


def base_statements() -> list[str]:
    """All tables and indexes but the search tables, in Hermes' order."""
    tables = [table_statement(name, columns) for name, columns in TABLES.items()]
    indexes = [f"CREATE INDEX {name} ON {target}" for name, target in INDEXES.items()]
    return [*tables, *indexes, TITLE_INDEX]


def search_tables() -> list[str]:
    """The search tables this SQLite can make: the trigram one is left out where the tokenizer is missing."""
    return [WORDS, TRIGRAM] if sqlite3.sqlite_version_info >= _TRIGRAM_SINCE else [WORDS]
