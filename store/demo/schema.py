"""The schema of a fresh store of Hermes 0.19 (22): tables and indexes from `schema.sql`, and the search tables.

Columns are kept one by one so that tests can leave some out and build the stores of other versions.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

VERSION = 22
"""What `schema_version` says (Hermes 0.19.0)."""

_SQL = (Path(__file__).resolve().parent / "schema.sql").read_text(encoding="utf-8")

TABLES: Mapping[str, Sequence[str]] = {
    name: tuple(body.split(",\n    ")) for name, body in re.findall(r"(?s)CREATE TABLE (\w+) \(\n    (.*?)\n\);", _SQL)
}
"""Column and constraint definitions by table, in the order Hermes declares them."""

INDEXES: Mapping[str, str] = {name: sql for sql, name in re.findall(r"(CREATE (?:UNIQUE )?INDEX (\w+) .*);", _SQL)}
"""Statements by index, in the order Hermes makes them."""

WORDS, TRIGRAM = "messages_fts", "messages_fts_trigram"
"""The two full-text tables: by word (unicode61), by substring of three letters (needs SQLite 3.34)."""


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


def search_tables() -> list[str]:
    """The search tables this SQLite can make: the trigram one is left out where the tokenizer is missing."""
    return [WORDS, TRIGRAM] if sqlite3.sqlite_version_info >= (3, 34) else [WORDS]
