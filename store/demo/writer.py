"""A fresh store file: made for its owner alone, filled in bulk, complete in a single file.

A path that is taken is refused: no call here can spoil a real store.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

from .schema import INDEXES, TABLES, VERSION, search_statements, table_statement

Value = str | bytes | int | float | None
"""What SQLite stores."""

Row = Mapping[str, Value]
"""Column name to value; a column left out gets its default."""


@contextmanager
def new_store(path: Path, *, journal: str = "wal") -> Iterator[sqlite3.Connection]:
    """A connection to a new, empty database file; complete and closed when the block ends.

    Args:
        path: Where; its folder must exist.
        journal: `wal` or `delete`, what the header says afterwards. No -wal file is left behind.

    Raises:
        FileExistsError: Something is there already.
        sqlite3.Error: What the block raised; the half-made file is gone then.
    """
    # Made before SQLite opens it, so that it is never readable by others, not even for a moment;
    # a later raw open of a database would drop the locks of the connection, this one cannot.
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode=OFF")  # a file that fails is removed, never rolled back
        connection.execute("PRAGMA cache_size=-16000")  # KiB: nothing is written twice
        connection.execute("PRAGMA synchronous=OFF")
        connection.execute("PRAGMA foreign_keys=OFF")  # samples hold children of parents that are gone
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
    """Insert rows in their order; neighbours with the same columns share one prepared statement.

    Args:
        connection: Open, in a transaction.
        table: A table of it.
        rows: May differ in their columns; columns left out get their defaults.
    """
    for columns, batch in groupby(rows, key=tuple):
        statement = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
        connection.executemany(statement, [list(row.values()) for row in batch])


def write_store(path: Path, tables: Mapping[str, Iterable[Row]], *, generation: str = "") -> None:
    """Write a store of schema 31 (Hermes 0.22) with both search indexes filled and their triggers in place.

    Args:
        path: A path that is free.
        tables: Rows by table; messages must carry ids in the order wanted.
        generation: What `db_file_generation` of `state_meta` says; Hermes stamps the file with its first eight digits.

    Raises:
        FileExistsError: Something is at the path already.
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
