"""What stores of each Hermes version look like inside, as statements a test can build a store from.

Schemas 11, 14, 22 and 31 are taken from stores the real Hermes wrote (`tests/data`). No store of 6,
26 or the upgraded 31 was at hand: their schemas were read in Hermes' sources (`tests/data/shapes`).

Hermes 0.20 to 0.22 keep the two search indexes in one of two ways: a store of 0.19 that was opened
later keeps the copies of its texts, with other triggers; a new store reads the texts from
`messages`. Which rows an index holds while it is rebuilt is noted in `state_meta`, and each trigger
asks for that.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache

from paths import DATA, fixture

from hermes_browse.store import demo as sample

NAMES = ("6", "11", "14", "22", "26", "31", "31-migrated")
"""The shapes there are, oldest first."""

_REBUILD = "INSERT INTO {0}({0}) VALUES ('rebuild')"
"""The statement that indexes all rows in a full-text table."""
_INLINE = (
    "INSERT INTO {0}(rowid, content) SELECT id, COALESCE(content, '') || ' ' || "
    "COALESCE(tool_name, '') || ' ' || COALESCE(tool_calls, '') FROM messages"
)
"""Likewise, of schema 11 to 22, where it holds its own copy of the text."""


@dataclass(frozen=True)
class Shape:
    """One store layout."""

    name: str
    version: int
    tables: Mapping[str, tuple[str, ...]]
    """Column and constraint definitions by table."""
    indexes: Mapping[str, str]
    """CREATE statements by name."""
    search: Mapping[str, str]
    """CREATE statements of full-text tables and of the views they read, by name, in order."""
    triggers: Mapping[str, str]
    fill: Mapping[str, str]
    """By full-text table: the statement that indexes all rows."""
    meta: Mapping[str, str] = field(default_factory=dict)
    """Rows of `state_meta` that go with it."""

    def columns(self, table: str) -> list[str]:
        """Names of the columns of a table, in order."""
        return [name for name in map(column_name, self.tables.get(table, ())) if name]

    def without(self, names: Iterable[str]) -> Shape:
        """The same shape with something missing.

        Args:
            names: Tables, views, full-text tables, indexes, triggers, or columns as `table.column`.
                What needs the missing thing goes too: the triggers of a search table, an index on a
                column.

        Raises:
            ValueError: There is no such thing in this shape.
        """
        shape = self
        for name in names:
            table, _dot, column = name.partition(".")
            shape = shape._without(table, column)
        return shape

    def without_search(self) -> Shape:
        """The same shape without full-text search."""
        triggers = {
            name: sql for name, sql in self.triggers.items() if not name.startswith(sample.WORDS)
        }
        return replace(self, search={}, fill={}, triggers=triggers)

    def _without(self, table: str, column: str) -> Shape:
        statements = {**self.indexes, **self.search, **self.triggers}
        tables = dict(self.tables)
        if not (column in self.columns(table) if column else table in {*tables, *statements}):
            raise ValueError(f"shape {self.name} has no {table} {column}".rstrip())
        if column:
            gone = {
                key
                for key, sql in (*statements.items(), *self.fill.items())
                if _names(sql, {column}) and (_names(sql, {table}) or self._reads(key, table))
            }
            tables[table] = tuple(line for line in tables[table] if not _names(line, {column}))
        else:
            gone = {table}
            tables.pop(table, None)
        known = 0
        while known != len(
            gone
        ):  # a view takes the search tables over it along, those their triggers
            known = len(gone)
            gone |= {key for key, sql in statements.items() if _names(sql, gone)}

        def kept(part: Mapping[str, str]) -> dict[str, str]:
            return {
                key: sql for key, sql in part.items() if key not in gone and not _names(sql, gone)
            }

        return replace(
            self,
            tables=tables,
            indexes=kept(self.indexes),
            search=kept(self.search),
            triggers=kept(self.triggers),
            fill=kept(self.fill),
        )

    def _reads(self, key: str, table: str) -> bool:
        """Whether it is a search table, which reads the columns of `messages`."""
        return key in self.search and table == "messages"


def _names(sql: str, words: Iterable[str]) -> bool:
    """Whether a statement names one of the words."""
    return any(re.search(rf"\b{re.escape(word)}\b", sql) for word in words)


def column_name(definition: str) -> str:
    """The column a definition is of, empty for a constraint."""
    word = definition.split(None, 1)[0].strip('"')
    return "" if word.upper() in ("PRIMARY", "FOREIGN", "UNIQUE", "CHECK", "CONSTRAINT") else word


def _definitions(sql: str) -> tuple[str, ...]:
    """The lines of a CREATE TABLE, one for each column or constraint."""
    plain = re.sub(r"--[^\n]*", "", sql)
    body = plain[plain.index("(") + 1 : plain.rindex(")")]
    lines = re.split(r",(?![^()]*\))", body)
    return tuple(" ".join(line.split()) for line in lines)


def _opened(name: str) -> sqlite3.Connection:
    """A store of a shape, or one in memory made by the file of its schema."""
    script = DATA / "shapes" / f"{name}.sql"
    if not script.exists():
        # Immutable, or SQLite would leave -wal and -shm files beside the fixture.
        return sqlite3.connect(f"file:{fixture(name)}?immutable=1", uri=True)
    connection = sqlite3.connect(":memory:")
    connection.executescript(script.read_text(encoding="utf-8"))
    return connection


@cache
def shape(name: str) -> Shape:
    """One of `NAMES`."""
    connection = _opened(name)
    objects = connection.execute(
        "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL"
    ).fetchall()
    version = int(connection.execute("SELECT version FROM schema_version").fetchone()[0])
    connection.close()
    search = {
        key: sql for _, key, sql in objects if sql.startswith(("CREATE VIRTUAL", "CREATE VIEW"))
    }
    fts = [key for key, sql in search.items() if sql.startswith("CREATE VIRTUAL")]
    made_by_sqlite = ("sqlite_", *(f"{key}_" for key in fts))
    is_inline = "content=" not in search[sample.WORDS]
    return Shape(
        name=name,
        version=version,
        tables={
            key: _definitions(sql)
            for kind, key, sql in objects
            if kind == "table" and key not in search and not key.startswith(made_by_sqlite)
        },
        indexes={key: sql for kind, key, sql in objects if kind == "index"},
        search=search,
        triggers={key: sql for kind, key, sql in objects if kind == "trigger"},
        fill={key: (_INLINE if is_inline else _REBUILD).format(key) for key in fts},
        meta={"fts_optimize_available": "1"} if name == "31-migrated" else {},
    )


@cache
def known_columns(table: str) -> frozenset[str]:
    """Columns a table has in any shape: a name outside them is a slip of the test."""
    return frozenset(column for name in NAMES for column in shape(name).columns(table))
