"""What stores of each Hermes version look like inside, as statements a test can build a store from.

Schemas 11, 14, 22 and 31 are taken from stores the real Hermes wrote (`tests/data`). 6, 26 and the
upgraded 31 are derived: no such file was at hand.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache

import hermes_triggers
from paths import fixture

from hermes_browse.store.demo import store_writer as sample

NAMES = ("6", "11", "14", "22", "26", "31", "31-migrated")
"""The shapes there are, oldest first."""

_SINCE_7_TO_11 = frozenset({
    "reasoning_content", "api_call_count", "codex_message_items", "handoff_state", "handoff_platform",
    "handoff_error",
})  # fmt: skip
_SINCE_27_TO_31 = frozenset({
    "created_source", "compression_recovery_deadline", "compression_overload_streak", "transport_profile",
    "auto_archived", "tool_names", "_compressed_summary", "display_identity", "display_order", "message_uid",
    "absorbed_message_uids", "tool_call_uids", "tool_call_uid", "origin_session_id",
})  # fmt: skip
_TABLES_OF_31 = frozenset({"conversation_generations", "gateway_heartbeats"})


def fill_statement(name: str) -> str:
    """The statement that indexes all rows in a full-text table."""
    return f"INSERT INTO {name}({name}) VALUES ('rebuild')"


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
            table, _, column = name.partition(".")
            shape = shape._without_column(table, column) if column else shape._without_object(table)
        return shape

    def without_search(self) -> Shape:
        """The same shape without full-text search."""
        triggers = {
            name: sql for name, sql in self.triggers.items() if not name.startswith(sample.WORDS)
        }
        return replace(self, search={}, fill={}, triggers=triggers)

    def _without_column(self, table: str, column: str) -> Shape:
        if column not in self.columns(table):
            raise ValueError(f"shape {self.name} has no column {table}.{column}")
        word = re.compile(rf"\b{re.escape(column)}\b")

        def keep(statements: Mapping[str, str]) -> dict[str, str]:
            on = re.compile(rf"\b{table}\b")
            return {
                name: sql
                for name, sql in statements.items()
                if not (word.search(sql) and on.search(sql))
            }

        kept = tuple(line for line in self.tables[table] if not word.search(line))
        shape = replace(
            self,
            tables={**self.tables, table: kept},
            indexes=keep(self.indexes),
            triggers=keep(self.triggers),
            fill=keep(self.fill),
        )
        if table == "messages":
            for name, sql in self.search.items():
                if name in shape.search and (
                    word.search(sql) or (name in self.fill and name not in shape.fill)
                ):
                    shape = shape._without_object(name)
        return shape

    def _without_object(self, name: str) -> Shape:
        parts = (self.tables, self.indexes, self.search, self.triggers)
        if not any(name in part for part in parts):
            raise ValueError(f"shape {self.name} has no {name}")
        needed = [name]
        gone: set[str] = set()
        while needed:  # a view takes the search tables over it along, and those their triggers
            gone.add(needed.pop())
            needed += [
                key for key, sql in self.search.items() if key not in gone and _names(sql, gone)
            ]

        def keep(statements: Mapping[str, str]) -> dict[str, str]:
            return {
                key: sql
                for key, sql in statements.items()
                if key not in gone and not _names(sql, gone)
            }

        return replace(
            self,
            tables={key: lines for key, lines in self.tables.items() if key not in gone},
            indexes=keep(self.indexes),
            search=keep(self.search),
            triggers=keep(self.triggers),
            fill=keep(self.fill),
        )


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
    lines, depth, current = [], 0, ""
    for letter in body:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            lines.append(" ".join(current.split()))
            current = ""
        else:
            current += letter
    return (*lines, " ".join(current.split()))


@cache
def _fixture(name: str) -> Shape:
    # Immutable, or SQLite would leave -wal and -shm files beside the fixture.
    connection = sqlite3.connect(f"file:{fixture(name)}?immutable=1", uri=True)
    objects = connection.execute(
        "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL"
    ).fetchall()
    version = int(connection.execute("SELECT version FROM schema_version").fetchone()[0])
    connection.close()
    search = {
        str(key): str(sql)
        for _, key, sql in objects
        if sql.startswith(("CREATE VIRTUAL", "CREATE VIEW"))
    }
    shadows = tuple(f"{key}_" for key, sql in search.items() if sql.startswith("CREATE VIRTUAL"))
    plain = {key: sql for kind, key, sql in objects if kind == "table" and key not in search}
    tables = {
        key: _definitions(sql)
        for key, sql in plain.items()
        if not key.startswith("sqlite_") and not (key.startswith(shadows) and key != sample.TRIGRAM)
    }
    fts = [key for key, sql in search.items() if sql.startswith("CREATE VIRTUAL")]
    inline = "content=" not in search[sample.WORDS]
    return Shape(
        name=name,
        version=version,
        tables=tables,
        indexes={key: sql for kind, key, sql in objects if kind == "index"},
        search=search,
        triggers={key: sql for kind, key, sql in objects if kind == "trigger"},
        fill={key: _inline(key) if inline else fill_statement(key) for key in fts},
    )


def _inline(name: str) -> str:
    """The statement that fills a search table of schema 11 to 22, which holds its own copy of the
    text."""
    text = " || ' ' || ".join(
        f"COALESCE({column}, '')" for column in ("content", "tool_name", "tool_calls")
    )
    return f"INSERT INTO {name}(rowid, content) SELECT id, {text} FROM messages"


def _drop(
    shape: Shape, columns: frozenset[str], tables: frozenset[str] = frozenset()
) -> dict[str, tuple[str, ...]]:
    return {
        table: tuple(line for line in lines if column_name(line) not in columns)
        for table, lines in shape.tables.items()
        if table not in tables
    }


def _shape_6() -> Shape:
    base = _fixture("11")
    table = f"CREATE VIRTUAL TABLE {sample.WORDS} USING fts5(content, content='messages', content_rowid='id')"
    return Shape(
        "6", 6, _drop(base, _SINCE_7_TO_11, frozenset({"state_meta"})), base.indexes, {sample.WORDS: table},
        hermes_triggers.of_6_to_10(sample.WORDS), {sample.WORDS: fill_statement(sample.WORDS)},
    )  # fmt: skip


def _shape_26() -> Shape:
    base = _fixture("31")
    columns = ("content", "tool_name", "tool_calls")
    listed = ", ".join(columns)
    view = f"{sample.TRIGRAM}_src"
    source = "content='messages', content_rowid='id'"
    search = {
        sample.WORDS: f"CREATE VIRTUAL TABLE {sample.WORDS} USING fts5({listed}, {source})",
        view: f"CREATE VIEW {view} AS SELECT id, role, {listed} FROM messages WHERE role <> 'tool'",
        sample.TRIGRAM: f"CREATE VIRTUAL TABLE {sample.TRIGRAM} USING fts5({listed}, content='{view}', "
        "content_rowid='id', tokenize='trigram')",
    }
    triggers = hermes_triggers.of_23_to_26(sample.WORDS) | hermes_triggers.of_23_to_26(
        sample.TRIGRAM
    )
    later = re.compile(
        "|".join(rf"\b{name}\b" for name in (*_SINCE_27_TO_31, "idx_sessions_effective_activity"))
    )
    indexes = {name: sql for name, sql in base.indexes.items() if not later.search(sql)}
    fill = {name: fill_statement(name) for name in (sample.WORDS, sample.TRIGRAM)}
    return Shape(
        "26", 26, _drop(base, _SINCE_27_TO_31, _TABLES_OF_31), indexes, search, triggers, fill
    )


def _shape_31_migrated() -> Shape:
    """A store of schema 22 opened by 0.22: new columns at the end, the search tables still
    inline."""
    old, new = _fixture("22"), _fixture("31")
    tables = dict(new.tables)
    for table, lines in old.tables.items():
        known = {column_name(line) for line in lines}
        added = [
            line
            for line in new.tables[table]
            if column_name(line) and column_name(line) not in known
        ]
        # ALTER TABLE appends columns, and constraints of the table come after all of them.
        columns = [line for line in lines if column_name(line)]
        tables[table] = (*columns, *added, *(line for line in lines if not column_name(line)))
    plain = {name: sql for name, sql in new.triggers.items() if not name.startswith(sample.WORDS)}
    rewritten = hermes_triggers.upgraded(old.triggers, "0.22")
    meta = {"fts_optimize_available": "1"}
    return Shape(
        "31-migrated", 31, tables, new.indexes, old.search, plain | rewritten, old.fill, meta
    )


def shape(name: str) -> Shape:
    """One of `NAMES`.

    Raises:
        ValueError: It is none of them.
    """
    if name not in NAMES:
        raise ValueError(f"no shape {name!r}; there are {', '.join(NAMES)}")
    makers = {"6": _shape_6, "26": _shape_26, "31-migrated": _shape_31_migrated}
    return makers[name]() if name in makers else _fixture(name)


@cache
def known_columns(table: str) -> frozenset[str]:
    """Columns a table has in any shape: a name outside them is a slip of the test."""
    return frozenset(column for name in NAMES for column in shape(name).columns(table))
