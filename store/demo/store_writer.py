"""Write a new store as a single file, readable by its owner alone.

An existing path is refused, so that no call can damage a real store.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

from .fresh_schema import INDEXES, TABLES, VERSION, search_statements, table_statement

Value = str | bytes | int | float | None
"""A value of SQLite."""

Row = Mapping[str, Value]
"""Column → value; missing columns get their defaults."""


@contextmanager
def new_store(path: Path, *, journal: str = "wal") -> Iterator[sqlite3.Connection]:
    """Yield a connection to a new, empty database file, which is committed and closed when the block ends.

    Args:
        path: Must not exist; its folder must.
        journal: `wal` or `delete`: the mode in the header afterwards. No -wal file is left behind.

    Raises:
        FileExistsError: The path exists.
        sqlite3.Error: Raised by the block; the file has been removed.
    """
    # Created before SQLite opens it, so that others can never read it. Closing a descriptor of an open database
    # would drop its locks; here the database is not open yet.
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode=OFF")  # a file that fails is removed, never rolled back
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
        statement = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
        connection.executemany(statement, [list(row.values()) for row in batch])


def write_store(path: Path, tables: Mapping[str, Iterable[Row]], *, generation: str = "") -> None:
    """Write a store of schema 31 (Hermes 0.22) with both search indexes filled and their triggers in place.

    Args:
        path: Must not exist.
        tables: Rows by table; messages must have ids in their order.
        generation: `db_file_generation` of `state_meta`; Hermes sets `application_id` to its first eight digits.

    Raises:
        FileExistsError: The path exists.
    """
    with new_store(path) as connection:
        for name, columns in TABLES.items():
            connection.execute(table_statement(name, columns))
        insert(connection, "schema_version", [{"version": VERSION}])
        for table, rows in tables.items():
            insert(connection, table, rows)
        for statement in (*INDEXES.values(), *search_statements()):
            connection.execute(statement)
        if generation:
            connection.execute(f"PRAGMA application_id = {int(generation[:8], 16) & 0x7FFFFFFF}")
