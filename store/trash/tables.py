"""Find the rows of all tables that belong to sessions, and read them in short statements.

Tables are discovered by their foreign keys and by the names that Hermes gives to columns with
session ids, so that tables of later versions of Hermes are found too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple, Protocol, TypeVar

from ..connection.reader import Row
from ..connection.schema import sql_name
from ..connection.stored_values import as_int
from ..errors import RefusedError
from ..wording import _
from .format import ClearedReference, RowFate, TableRow, encode, encode_row, reading
from .progress import NOBODY, Progress

T = TypeVar("T")

_NAMES_OF_IDS = frozenset([
    "session_id", "conversation_id", "parent_session_id", "origin_session", "origin_session_id",
    "origin_ui_session_id",
])  # fmt: skip
"""Columns that hold a session's id without a foreign key (locks, leases, delegations; 0.16 to
0.22)."""
_SHADOWS = ("data", "idx", "content", "docsize", "config")
_PARENT = "parent_session_id"
_KEYS_AT_ONCE = 400
_ROWIDS_AT_ONCE = 20_000
_MOST_ROWS, _TOO_MANY_BYTES, _FEW_BYTES = 400, 4_000_000, 1_000_000
"""Most rows per statement, and the bytes above and below which the next statement reads fewer or
more rows."""
_WITHOUT_ROWID = re.compile(r"\bwithout\s+rowid\b", re.IGNORECASE)


class Rows(Protocol):
    """Source of rows: a reader or a transaction."""

    def rows(self, sql: str, parameters: Sequence[object] = (), /) -> list[Row]:
        """Return all rows of one statement."""

    def rows_in(
        self, sql: str, keys: Sequence[object], before: Sequence[object] = (), /
    ) -> list[Row]:
        """Return the rows for many keys, which replace `{keys}`; `before` is bound first."""


class TableRows(NamedTuple):
    """The rows of one table that belong to some sessions."""

    table: str
    columns: tuple[str, ...]
    """Stored columns in order, without generated ones."""
    key: tuple[str, ...]
    """Its primary key."""
    rowid: str
    """Name of the rowid; empty if the table has none."""
    rowid_is_column: bool
    """Whether a column is the rowid (INTEGER PRIMARY KEY), as with messages."""
    condition: str
    """SQL with `{keys}` or `{values}` in place of the session ids; see `filled`."""
    fate: RowFate


class Loose(NamedTuple):
    """A column that a delete sets to NULL: a parent, or one whose foreign key says so."""

    table: str
    column: str
    key: tuple[str, ...]
    condition: str


class Layout(NamedTuple):
    """All rows and columns of one store that refer to sessions."""

    parts: tuple[TableRows, ...]
    """In the order in which rows can be restored: referenced tables first."""
    loose: tuple[Loose, ...]


class _Reference(NamedTuple):
    table: str
    column: str
    target: str
    to: str
    action: str


class Tables:
    """Columns, keys and foreign keys of the ordinary tables of a store.

    Raises:
        RefusedError: A table refers to sessions or messages by several columns at once.
    """

    def __init__(self, source: Rows) -> None:
        found = source.rows(
            "SELECT name, COALESCE(sql, '') FROM sqlite_master WHERE type = 'table'"
        )
        sql = {str(name): str(text) for name, text in found}
        virtual = {name for name, text in sql.items() if text[:14].upper() == "CREATE VIRTUAL"}
        shadows = {f"{name}_{ending}" for name in virtual for ending in _SHADOWS}
        self.names = sorted(
            n for n in sql if n not in virtual | shadows and not n.startswith("sqlite_")
        )
        self.columns: dict[str, tuple[str, ...]] = {}
        self.keys: dict[str, tuple[str, ...]] = {}
        self.rowids: dict[str, tuple[str, bool]] = {}
        self.references: list[_Reference] = []
        for name in self.names:
            info = source.rows(f"PRAGMA table_xinfo({sql_name(name)})")
            self.columns[name] = tuple(str(row[1]) for row in info if row[6] == 0)
            key = sorted((as_int(row[5]), str(row[1]), str(row[2])) for row in info if row[5])
            self.keys[name] = tuple(column for _, column, _ in key)
            taken = {str(row[1]).lower() for row in info}
            if _WITHOUT_ROWID.search(sql[name][sql[name].rfind(")") :]):
                self.rowids[name] = ("", False)
            elif len(key) == 1 and key[0][2].upper() == "INTEGER":
                self.rowids[name] = (sql_name(key[0][1]), True)
            else:
                self.rowids[name] = (
                    next((n for n in ("rowid", "_rowid_", "oid") if n not in taken), ""),
                    False,
                )
        for name in self.names:
            self._read_references(source, name)

    @property
    def parents(self) -> list[str]:
        """Columns of `sessions` that reference another session, with or without a foreign key."""
        found = {each.column for each in self.references if each.table == each.target == "sessions"}
        return sorted(found | ({_PARENT} & set(self.columns["sessions"])))

    def without_unknown_columns(self, line: TableRow) -> TableRow:
        """Leave out the columns of a row that the store lacks."""
        columns = frozenset(self.columns[line.table])
        return line._replace(
            row={name: value for name, value in line.row.items() if name in columns}
        )

    def part(self, table: str, condition: str, fate: RowFate) -> TableRows:
        """Describe the rows of a table that meet a condition."""
        rowid, is_column = self.rowids[table]
        return TableRows(
            table, self.columns[table], self.keys[table], rowid, is_column, condition, fate
        )

    def _read_references(self, source: Rows, name: str) -> None:
        rows = source.rows(f"PRAGMA foreign_key_list({sql_name(name)})")
        seen = Counter(row[0] for row in rows)
        for number, _place, target, column, to, _update, action, *_rest in rows:
            parent = next(
                (each for each in self.names if each.lower() == str(target).lower()), None
            )
            if parent is None:
                continue
            reached = self.keys[parent]
            if seen[number] > 1 or (to is None and len(reached) != 1):
                if parent in ("sessions", "messages"):
                    raise RefusedError(
                        _(
                            "Table {table} refers to {other} by several columns at once, which we cannot keep."
                        ).format(table=name, other=parent),
                        remedy=_("Delete it in Hermes itself."),
                    )
                continue
            self.references.append(
                _Reference(
                    name,
                    str(column),
                    parent,
                    str(to) if to is not None else reached[0],
                    str(action).upper(),
                )
            )


def find_layout(source: Rows) -> Layout:
    """Find everything in a store that refers to sessions.

    Raises:
        RefusedError: A table refers to them in a way that a restore could not recreate.
    """
    tables = Tables(source)
    conditions = {"sessions": '"id" IN ({keys})'}
    order = ["sessions"]
    loose: list[Loose] = []
    edges = [each for each in tables.references if each.table != each.target]
    # Salvaged stores lack this foreign key.
    if not any(each.table == "messages" and each.column == "session_id" for each in edges):
        edges.append(_Reference("messages", "session_id", "sessions", "id", "NO ACTION"))
    edges.sort(
        key=lambda each: (each.table != "messages", each.table, each.column)
    )  # messages before the rest
    for target in order:  # grows as tables are found
        for each in (edge for edge in edges if edge.target == target):
            if target == "sessions" and each.to == "id":
                condition = f"{sql_name(each.column)} IN ({{keys}})"
            else:
                condition = (
                    f"{sql_name(each.column)} IN (SELECT {sql_name(each.to)} FROM {sql_name(target)} "
                    f"WHERE {conditions[target]})"
                )
            if each.action == "SET NULL":
                loose.append(Loose(each.table, each.column, tables.keys[each.table], condition))
            elif each.action == "SET DEFAULT":
                raise RefusedError(
                    _(
                        "{column} falls back to a default when a session goes, which we do not know how to undo."
                    ).format(column=f"{each.table}.{each.column}"),
                    remedy=_("Delete it in Hermes itself."),
                )
            elif each.table in conditions:
                conditions[each.table] += f" OR {condition}"
            else:
                conditions[each.table] = condition
                order.append(each.table)
    loose += [
        Loose("sessions", column, ("id",), f"{sql_name(column)} IN ({{keys}})")
        for column in tables.parents
    ]
    shared = _shared(tables, conditions)
    taken = [tables.part(table, conditions[table], RowFate.TAKEN) for table in order]
    if "key" in tables.columns.get("state_meta", ()):
        # The goal that the user set for a session, keyed by its id; Hermes does not delete it
        # (0.19).
        goals = "\"key\" IN (SELECT 'goal:' || column1 FROM (VALUES {values}))"
        taken.append(tables.part("state_meta", goals, RowFate.TAKEN))
    known = {part.table for part in (*shared, *taken)}
    mentioned = [
        part for table in tables.names if table not in known for part in _mentioned(tables, table)
    ]
    return Layout((*shared, *taken, *mentioned), tuple(loose))


def _shared(tables: Tables, conditions: dict[str, str]) -> list[TableRows]:
    if tables.keys.get("system_prompts") != ("hash",):
        return []
    users = prompt_columns(tables.columns["sessions"])
    condition = " OR ".join(
        f'"hash" IN (SELECT {sql_name(column)} FROM "sessions" WHERE {conditions["sessions"]})'
        for column in users
    )
    return [tables.part("system_prompts", condition, RowFate.SHARED)] if users else []


def prompt_columns(session_columns: Container[str]) -> list[str]:
    """Return the columns of sessions that hold a hash of `system_prompts` (0.20; `tool_names` since
    0.22)."""
    return [column for column in ("system_prompt_hash", "tool_names") if column in session_columns]


def _mentioned(tables: Tables, table: str) -> Iterator[TableRows]:
    columns = tables.columns[table]
    conditions = [
        f"{sql_name(column)} IN ({{keys}})" for column in columns if column in _NAMES_OF_IDS
    ]
    if "session_key" in columns and "session_key" in tables.columns["sessions"]:
        conditions.append(
            '"session_key" IN (SELECT "session_key" FROM "sessions" WHERE "id" IN ({keys}))'
        )
    if "entry_json" in columns:
        is_named = "instr(\"entry_json\", '\"' || column1 || '\"') > 0"
        conditions.append(
            f"EXISTS (SELECT 1 FROM (VALUES {{values}}) WHERE column1 <> '' AND {is_named})"
        )
    if conditions:
        yield tables.part(table, " OR ".join(conditions), RowFate.MENTIONED)


def chunks(ids: Sequence[T], size: int = _KEYS_AT_ONCE) -> Iterator[list[T]]:
    """Yield the ids in chunks that fit into the parameter limit of any SQLite."""
    for start in range(0, len(ids), size):
        yield list(ids[start : start + size])


def filled(
    condition: str, ids: Sequence[str], size: int = _KEYS_AT_ONCE
) -> Iterator[tuple[str, list[str]]]:
    """Yield a condition for each chunk of the ids, with these ids, which are bound first (`?1`
    …)."""
    for chunk in chunks(ids, size):
        marks = [f"?{number}" for number in range(1, len(chunk) + 1)]
        keys, values = ",".join(marks), ",".join(f"({mark})" for mark in marks)
        yield condition.replace("{keys}", keys).replace("{values}", values), chunk


def read_part(
    source: Rows, part: TableRows, ids: Sequence[str], progress: Progress = NOBODY
) -> Iterator[TableRow]:
    """Yield the rows of some sessions in a part of their store, in a fixed order, by short
    statements.

    Raises:
        QueryInterruptedError: `progress`, which is checked between statements, was asked to stop.
    """
    for condition, chunk in filled(part.condition, ids):
        if not part.rowid:
            order = ", ".join(map(sql_name, part.key)) or "1"
            select = f"SELECT {reading(part.columns)} FROM {sql_name(part.table)} WHERE {condition} ORDER BY {order}"
            for values in source.rows(select, chunk):
                yield TableRow(part.table, None, encode_row(part.columns, values))
            continue
        last = -(2**63)
        # The plus signs keep SQLite from scanning a large table in rowid order.
        select = (
            f"SELECT {part.rowid} FROM {sql_name(part.table)} "
            f"WHERE ({condition}) AND +{part.rowid} > ?{len(chunk) + 1} ORDER BY +{part.rowid} LIMIT {_ROWIDS_AT_ONCE}"
        )
        while True:
            numbers = [as_int(row[0]) for row in source.rows(select, [*chunk, last])]
            yield from _read_rows(source, part, numbers, progress)
            if len(numbers) < _ROWIDS_AT_ONCE:
                break
            last = numbers[-1]


def _read_rows(
    source: Rows, part: TableRows, rowids: Sequence[int], progress: Progress
) -> Iterator[TableRow]:
    """Yield the existing rows with these rowids, in order."""
    start, count = 0, 8
    while start < len(rowids):
        progress.check()
        portion = rowids[start : start + count]
        start += count
        marks = ",".join("?" * len(portion))
        rows = source.rows(
            f"SELECT {part.rowid}, {reading(part.columns)} FROM {sql_name(part.table)} WHERE {part.rowid} IN ({marks}) "
            f"ORDER BY {part.rowid}",
            portion,
        )
        size = sum(len(value) for row in rows for value in row if isinstance(value, bytes))
        if size > _TOO_MANY_BYTES:
            count = max(1, count // 4)
        elif size < _FEW_BYTES:
            count = min(_MOST_ROWS, count * 2)
        for number, *values in rows:
            rowid = None if part.rowid_is_column else as_int(number)
            yield TableRow(part.table, rowid, encode_row(part.columns, values))


def read_links(source: Rows, layout: Layout, ids: Sequence[str]) -> list[ClearedReference]:
    """Return the references to the sessions and their rows from rows that a delete of the sessions
    leaves.

    Raises:
        RefusedError: A table with such references has no primary key.
    """
    gone = set(ids)
    found: list[ClearedReference] = []
    for loose in layout.loose:
        if not loose.key:
            sentence = _(
                "Rows of {table} cannot be told apart, so that a delete could not be undone."
            )
            raise RefusedError(sentence.format(table=loose.table))
        selected = (*loose.key, loose.column)
        order = ", ".join(map(sql_name, loose.key))
        for condition, chunk in filled(loose.condition, ids):
            select = f"SELECT {reading(selected)} FROM {sql_name(loose.table)} WHERE {condition} ORDER BY {order}"
            for values in source.rows(select, chunk):
                row = encode_row(loose.key, values)
                if loose.table == "sessions" and isinstance(row["id"], str) and row["id"] in gone:
                    continue
                found.append(
                    ClearedReference(loose.table, row, loose.column, encode(values[-2], values[-1]))
                )
    return found
