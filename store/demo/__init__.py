"""The sample home of `--demo`, also used by screenshots and tests, in the schema of Hermes 0.22.

It holds a year and a half of the fictional Noor, who writes software for a small ferry line: code,
storms, bread, Italian. Every feature of a store occurs at least once. `home/` is the home as files,
with each store as JSON lines: `[table, row]`, and a third item where a row was not written at its
own time (a clock was set back, a compaction copied it); Hermes numbers messages in the order of
writing. Times are relative: `<now-60>` is a minute before the given moment, `<day+21600:%H:%M>` six
hours after the midnight before it (UTC), formatted.

A store is written as Hermes 0.22 does it, in a single file that only its owner can read. Its tables
and indexes are in `schema.sql`, search and triggers in `search.sql`. An existing path is refused,
so that no call can damage a real store.
"""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).resolve().parent
_HOME = _FOLDER / "home"
_DAY = 86_400
_TIME = re.compile(r'("?)<(now|day)([-+][\d.]+)(?::([^>]+))?>\1')
VERSION = 31
"""Schema version of Hermes 0.22.2."""

WORDS, TRIGRAM = "messages_fts", "messages_fts_trigram"
"""The two full-text tables: by word (unicode61), by substring of three letters (needs SQLite
3.34)."""


def _statements(name: str) -> list[str]:
    """Return the statements of a file, in the order of Hermes, without those on trigrams if this
    SQLite has no tokenizer for them."""
    has_trigrams = sqlite3.sqlite_version_info >= (3, 34)
    _comment, *statements = (_FOLDER / name).read_text(encoding="utf-8").split("\n\n")
    return [each.strip() for each in statements if has_trigrams or TRIGRAM not in each]


*TABLES, _indexes = _statements("schema.sql")
"""Statements, in the order of Hermes."""
INDEXES = _indexes.splitlines()
"""Likewise."""

Value = str | bytes | int | float | None
"""A value of SQLite."""

Row = Mapping[str, Value]
"""Column → value; missing columns get their defaults."""


def build_home(home: Path, *, now: float) -> Path:
    """Write a sample Hermes home: the sample store, other profiles, `cron/jobs.json` and
    `config.yaml`.

    Args:
        home: An existing folder without files of Hermes.
        now: Unix seconds. The same value gives the same rows, independent of clock and time zone.

    Returns:
        The path of the sample store.

    Raises:
        FileExistsError: There is a store already; it is not changed.
    """
    for source in sorted(_HOME.rglob("*.*")):
        target = home / source.relative_to(_HOME)
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if source.suffix == ".jsonl":
            build_store(target.with_suffix(".db"), source.relative_to(_HOME), now=now)
        else:
            shutil.copyfile(source, target)
    return home / "state.db"


def build_store(path: Path, source: Path = Path("state.jsonl"), *, now: float) -> None:
    """Write one store of the sample home, given by its place in `home/`.

    Raises:
        FileExistsError: The path exists.
    """
    tables: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    text = _at(now, (_HOME / source).read_text(encoding="utf-8"))
    lines = map(json.loads, text.rstrip("\n").split("\n"))
    for table, row, *_written in sorted(lines, key=_moment):
        tables[table].append(row)
    meta = {row["key"]: row["value"] for row in tables["state_meta"]}
    generation = meta["db_file_generation"]
    numbers = {row["id"]: number for number, row in enumerate(tables["messages"], 1)}
    for row in tables["messages"]:
        number, shown = numbers[row["id"]], numbers[row.get("display_order", row["id"])]
        uid = f"{meta['store_instance_id'][:24]}{number:08x}"
        row |= {"id": number, "display_order": shown, "message_uid": uid}
    with new_store(path) as connection:
        for statement in TABLES:
            connection.execute(statement)
        insert(connection, "schema_version", [{"version": VERSION}])
        for table, rows in tables.items():
            insert(connection, table, rows)
        for statement in (*INDEXES, *_statements("search.sql")):
            connection.execute(statement)
        stamp = int(generation[:8], 16) & 0x7FFFFFFF  # as Hermes does
        connection.execute(f"PRAGMA application_id = {stamp}")


def _moment(line: Sequence[Any]) -> float:
    """Return when a line of a store was written."""
    _table, row, *written = line
    return float(written[0] if written else row.get("timestamp", row.get("started_at", 0.0)))


def _at(now: float, text: str) -> str:
    """Fill in the relative times of a text."""
    bases = {"now": now, "day": now - now % _DAY}

    def filled(match: re.Match[str]) -> str:
        quote, base, seconds, form = match.groups()
        moment = round(bases[base] + float(seconds), 6)
        return f"{quote}{time.strftime(form, time.gmtime(moment))}{quote}" if form else repr(moment)

    return _TIME.sub(filled, text)


# Writing a store

_SETTINGS = (
    "journal_mode=OFF",  # a file that fails is removed, never rolled back
    "cache_size=-16000",  # KiB: nothing is written twice
    "synchronous=OFF",
    "foreign_keys=OFF",  # samples hold children of missing parents
)


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
    path.touch(mode=0o600, exist_ok=False)
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            for setting in _SETTINGS:
                connection.execute(f"PRAGMA {setting}")
            connection.execute("BEGIN")
            yield connection
            connection.execute("COMMIT")
            connection.execute(f"PRAGMA journal_mode={journal}")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except BaseException:
        path.unlink()
        raise


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
