"""The schema of a fresh store of Hermes 0.22 (31): tables and indexes from `schema.sql`, search and triggers from
`search.sql`."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

VERSION = 31
"""Schema version of Hermes 0.22.2."""

_HERE = Path(__file__).resolve().parent
_SQL = (_HERE / "schema.sql").read_text(encoding="utf-8")

TABLES: Mapping[str, Sequence[str]] = {
    name: tuple(body.split(",\n    ")) for name, body in re.findall(r"(?s)CREATE TABLE (\w+) \(\n    (.*?)\n\);", _SQL)
}
"""Column and constraint definitions by table, in the order of Hermes."""

INDEXES: Mapping[str, str] = {name: sql for sql, name in re.findall(r"(CREATE (?:UNIQUE )?INDEX (\w+) .*);", _SQL)}
"""Statements by index, in the order of Hermes."""

WORDS, TRIGRAM = "messages_fts", "messages_fts_trigram"
"""The two full-text tables: by word (unicode61), by substring of three letters (needs SQLite 3.34)."""


def table_statement(name: str, columns: Iterable[str]) -> str:
    """Return CREATE TABLE for definitions as in `TABLES`."""
    return f"CREATE TABLE {name} (\n    " + ",\n    ".join(columns) + "\n)"


def fill_statement(name: str) -> str:
    """Return a statement that indexes all rows: ten times faster than triggers."""
    return f"INSERT INTO {name}({name}) VALUES ('rebuild')"


def search_tables() -> list[str]:
    """Return the search tables that this SQLite supports: the trigram tokenizer may be missing."""
    return [WORDS, TRIGRAM] if sqlite3.sqlite_version_info >= (3, 34) else [WORDS]


def search_statements() -> list[str]:
    """Return the statements to run after inserting rows: views and search tables, their contents, then triggers."""
    paragraphs = (_HERE / "search.sql").read_text(encoding="utf-8").split("\n\n")
    statements = [each.strip() for each in paragraphs if each.startswith("CREATE")]
    names = search_tables()
    if TRIGRAM not in names:
        statements = [each for each in statements if TRIGRAM not in each]
    triggers = [each for each in statements if each.startswith("CREATE TRIGGER")]
    return [each for each in statements if each not in triggers] + [fill_statement(name) for name in names] + triggers
