"""Write a new store as Hermes 0.22 does, in a single file that only its owner can read.

Its tables and indexes are in `schema.sql`, search and triggers in `search.sql`. An existing path is
refused, so that no call can damage a real store.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

VERSION = 31
"""Schema version of Hermes 0.22.2."""
_HERE = Path(__file__).resolve().parent
_SQL = (_HERE / "schema.sql").read_text(encoding="utf-8")

TABLES: Mapping[str, str] = {
    name: sql for sql, name in re.findall(r"(?s)(CREATE TABLE (\w+) .*?\n\));", _SQL)
}
"""Statements by table, in the order of Hermes."""

INDEXES: Mapping[str, str] = {
    name: sql for sql, name in re.findall(r"(CREATE (?:UNIQUE )?INDEX (\w+) .*);", _SQL)
}
"""Statements by index, in the order of Hermes."""

WORDS, TRIGRAM = "messages_fts", "messages_fts_trigram"
"""The two full-text tables: by word (unicode61), by substring of three letters (needs SQLite
3.34)."""

Value = str | bytes | int | float | None
"""A value of SQLite."""

Row = Mapping[str, Value]
"""Column → value; missing columns get their defaults."""


def _search_statements() -> list[str]:
    """Return the statements to run after inserting rows, without those on trigrams if this SQLite
    has no tokenizer for them."""
    has_trigrams = sqlite3.sqlite_version_info >= (3, 34)
    _comment, *statements = (_HERE / "search.sql").read_text(encoding="utf-8").split("\n\n")
    return [each.strip() for each in statements if has_trigrams or TRIGRAM not in each]


@contextmanager
def new_store(path: Path, *, journal: str = "wal") -> Iterator[sqlite3.Connection]:
    """Yield a connection to a new, empty database file, which is committed and closed when the
    block ends.

    Args:
        path: Must not exist; its folder must.
        journal: `wal` or `delete`: the mode in the header afterwards. No -wal file is left behind.

    Raises:
        FileExistsError: The path exists.
        sqlite3.Error: Raised by the block; the file has been removed.
    """
    # Created before SQLite opens it, so that others can never read it. Closing a descriptor of an
    # open database would drop its locks; here the database is not open yet.
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute(
            "PRAGMA journal_mode=OFF"
        )  # a file that fails is removed, never rolled back
        connection.execute("PRAGMA cache_size=-16000")  # KiB: nothing is written twice
        connection.execute("PRAGMA synchronous=OFF")
        connection.execute("PRAGMA foreign_keys=OFF")  # samples hold children of missing parents
        connection.execute("BEGIN")
        yield connection
        connection.execute("COMMIT")
        connection.execute(f"PRAGMA journal_mode={journal}")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except BaseException:
        connection.close()
        path.unlink()
        raise
    connection.close()


def insert(connection: sqlite3.Connection, table: str, rows: Iterable[Row]) -> None:
    """Insert rows in order; neighbours with the same columns share one prepared statement.

    Args:
        connection: Open, in a transaction.
        table: Name of a table.
        rows: May differ in their columns.
    """
    for columns, batch in groupby(rows, key=tuple):
        statement = (
            f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
        )
        connection.executemany(statement, [list(row.values()) for row in batch])


def write_store(path: Path, tables: Mapping[str, Iterable[Row]], *, generation: str = "") -> None:
    """Write a store of schema 31 (Hermes 0.22) with both search indexes filled and their triggers
    in place.

    Args:
        path: Must not exist.
        tables: Rows by table; messages must have ids in their order.
        generation: `db_file_generation` of `state_meta`; Hermes sets `application_id` to its first
            eight digits.

    Raises:
        FileExistsError: The path exists.
    """
    with new_store(path) as connection:
        for statement in TABLES.values():
            connection.execute(statement)
        insert(connection, "schema_version", [{"version": VERSION}])
        for table, rows in tables.items():
            insert(connection, table, rows)
        for statement in (*INDEXES.values(), *_search_statements()):
            connection.execute(statement)
        if generation:
            connection.execute(f"PRAGMA application_id = {int(generation[:8], 16) & 0x7FFFFFFF}")
