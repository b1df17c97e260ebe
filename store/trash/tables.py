"""Find the rows of all tables that belong to sessions.

Tables are discovered by their foreign keys and by the names that Hermes gives to columns with
session ids, so that tables of later versions of Hermes are found too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from ..connection.reader import Row
from ..connection.schema import sql_name
from ..connection.stored_values import as_int
from ..errors import RefusedError
from ..wording import _

Query = Callable[[str], list[Row]]
"""Runs a SELECT or PRAGMA and returns all its rows."""

CHOSEN = "SELECT id FROM temp.chosen"
"""The sessions in question: a TEMP table, so that ids of any kind pass through no parameter."""

_NAMES_OF_IDS = frozenset([
    "session_id", "conversation_id", "parent_session_id", "origin_session", "origin_session_id",
    "origin_ui_session_id",
])  # fmt: skip
"""Columns that hold a session's id without a foreign key (locks, leases, delegations; 0.16 to
0.22)."""
_SHADOWS = ("data", "idx", "content", "docsize", "config")
"""Endings of the tables in which FTS5 keeps an index."""
_PARENT = "parent_session_id"
_WITHOUT_ROWID = re.compile(r"\bwithout\s+rowid\b", re.IGNORECASE)


class RowFate(StrEnum):
    """The effect of a delete on rows."""

    TAKEN = "taken"
    """Deleted with the sessions they belong to."""
    SHARED = "shared"
    """Deleted once no session uses them: system prompts (0.20 and later)."""
    MENTIONED = "mentioned"
    """Left in the store, as by Hermes; the bundle has a copy for the record."""


class Table(NamedTuple):
    """An ordinary table of a store."""

    columns: tuple[str, ...]
    """Stored columns in order, without generated ones."""
    key: tuple[str, ...]
    """Its primary key."""
    rowid: str
    """Name of the rowid; empty if the table has none."""
    rowid_is_column: bool
    """Whether a column is the rowid (INTEGER PRIMARY KEY), as with messages."""

    @property
    def join(self) -> str:
        """SQL for whether rows `m` of the store and `b` of a bundle are the same row."""
        if self.rowid:
            return f"m.{self.rowid} = b.{self.rowid}"
        return " AND ".join(f"m.{name} IS b.{name}" for name in map(sql_name, self.key))


class ForeignKey(NamedTuple):
    """A foreign key of one column."""

    table: str
    column: str
    target: str
    to: str
    action: str


class Part(NamedTuple):
    """The rows of one table that belong to some sessions."""

    table: str
    condition: str
    """SQL with `{schema}` for that of the tables in it, and `{ids}` for the sessions."""
    fate: RowFate

    def where(self, schema: str, ids: str = CHOSEN) -> str:
        """Return the condition for the rows of the table in a schema: `main` or `bundle`."""
        return self.condition.replace("{schema}", schema).replace("{ids}", ids)


class Cleared(NamedTuple):
    """A column that a delete sets to NULL: a parent, or one whose foreign key says so."""

    table: str
    column: str
    condition: str
    """As of `Part`."""

    @property
    def record(self) -> str:
        """Quoted name of the table of a bundle with the rows that stayed: their key, and `was`."""
        return sql_name(f"cleared {self.table}.{self.column}")

    def where(self, schema: str) -> str:
        """Return the condition for the rows of the table in a schema."""
        return self.condition.replace("{schema}", schema).replace("{ids}", CHOSEN)


class Layout(NamedTuple):
    """All rows and columns of one store that refer to sessions."""

    tables: dict[str, Table]
    references: tuple[ForeignKey, ...]
    parts: tuple[Part, ...]
    """In the order in which rows can be restored: referenced tables first."""
    cleared: tuple[Cleared, ...]

    def of(self, *fates: RowFate) -> list[Part]:
        """Return the parts with one of these fates."""
        return [part for part in self.parts if part.fate in fates]

    def references_of(self, table: str) -> list[ForeignKey]:
        """Return the foreign keys of a table, and the parent of a session in any case."""
        found = [each for each in self.references if each.table == table]
        has_parent = table == "sessions" and _PARENT in self.tables[table].columns
        if has_parent and not any(each.column == _PARENT for each in found):
            found.append(ForeignKey(table, _PARENT, table, "id", ""))
        return found

    @property
    def parents(self) -> list[str]:
        """Columns of `sessions` that refer to another session, with or without a foreign key."""
        return [each.column for each in self.cleared if each.table == "sessions"]

    @property
    def written(self) -> set[str]:
        """Tables whose rows a delete removes or changes."""
        parts = self.of(RowFate.TAKEN, RowFate.SHARED)
        return {each.table for each in parts} | {each.table for each in self.cleared}


def ordinary_tables(query: Query) -> dict[str, str]:
    """Return name and SQL of the tables of a store that hold rows of its own, not a search
    index."""
    found = query("SELECT name, COALESCE(sql, '') FROM main.sqlite_master WHERE type = 'table'")
    sql = {str(name): str(text) for name, text in found}
    virtual = {name for name, text in sql.items() if text[:14].upper() == "CREATE VIRTUAL"}
    shadows = {f"{name}_{ending}" for name in virtual for ending in _SHADOWS}
    return {
        name: text
        for name, text in sorted(sql.items())
        if name not in virtual | shadows and not name.startswith("sqlite_")
    }


def _read_table(query: Query, name: str, sql: str) -> Table:
    info = query(f"PRAGMA main.table_xinfo({sql_name(name)})")
    columns = tuple(str(row[1]) for row in info if row[6] == 0)
    key = sorted((as_int(row[5]), str(row[1]), str(row[2])) for row in info if row[5])
    names = tuple(column for _number, column, _type in key)
    if _WITHOUT_ROWID.search(sql[sql.rfind(")") :]):
        return Table(columns, names, "", False)
    taken = {str(row[1]).lower() for row in info}
    free = next((each for each in ("rowid", "_rowid_", "oid") if each not in taken), "")
    return Table(columns, names, free, len(key) == 1 and key[0][2].upper() == "INTEGER")


def _read_references(query: Query, name: str, tables: dict[str, Table]) -> Iterator[ForeignKey]:
    rows = query(f"PRAGMA main.foreign_key_list({sql_name(name)})")
    columns = Counter(row[0] for row in rows)
    by_lower = {each.lower(): each for each in tables}
    for number, _place, target, column, to, _update, action, *_rest in rows:
        parent = by_lower.get(str(target).lower())
        if parent is None:
            continue
        reached = tables[parent].key
        if columns[number] == 1 and (to is not None or len(reached) == 1):
            to = str(to) if to is not None else reached[0]
            yield ForeignKey(name, str(column), parent, to, str(action).upper())
        elif parent in ("sessions", "messages"):
            sentence = _(
                "Table {table} refers to {other} by several columns at once, which we cannot keep."
            )
            raise RefusedError(
                sentence.format(table=name, other=parent), remedy=_("Delete it in Hermes itself.")
            )


def find_layout(query: Query) -> Layout:
    """Find everything in a store that refers to sessions.

    Raises:
        RefusedError: A table refers to them in a way that a restore could not recreate.
    """
    tables = {name: _read_table(query, name, sql) for name, sql in ordinary_tables(query).items()}
    references = [each for name in tables for each in _read_references(query, name, tables)]
    conditions = {"sessions": '"id" IN ({ids})'}
    cleared: list[Cleared] = []
    order = ["sessions"]
    edges: list[ForeignKey] = [each for each in references if each.table != each.target]
    # Salvaged stores lack this foreign key.
    if not any(each.table == "messages" and each.column == "session_id" for each in edges):
        edges.append(ForeignKey("messages", "session_id", "sessions", "id", "NO ACTION"))
    edges.sort(key=lambda each: (each.table != "messages", each.table, each.column))
    for target in order:  # grows as tables are found
        for each in (edge for edge in edges if edge.target == target):
            condition = _condition(each, conditions[target])
            if each.action == "SET NULL":
                cleared.append(_cleared(tables, each.table, each.column, condition))
            elif each.action == "SET DEFAULT":
                sentence = _(
                    "{column} falls back to a default when a session goes, which we do not know how to undo."
                )
                raise RefusedError(
                    sentence.format(column=f"{each.table}.{each.column}"),
                    remedy=_("Delete it in Hermes itself."),
                )
            elif each.table in conditions:
                conditions[each.table] += f" OR {condition}"
            else:
                conditions[each.table] = condition
                order.append(each.table)
    parents = {each.column for each in references if each.table == each.target == "sessions"}
    for column in sorted(parents | ({_PARENT} & set(tables["sessions"].columns))):
        condition = f"{sql_name(column)} IN ({{ids}})"
        cleared.append(_cleared(tables, "sessions", column, condition))
    taken = [Part(table, conditions[table], RowFate.TAKEN) for table in order]
    if "state_meta" in tables and "key" in tables["state_meta"].columns:
        # The goal that the user set for a session, keyed by its id; Hermes does not delete it
        # (0.19).
        goals = "\"key\" IN (SELECT 'goal:' || id FROM ({ids}))"
        taken.append(Part("state_meta", goals, RowFate.TAKEN))
    parts = (*_shared(tables), *taken)
    known = {part.table for part in parts}
    mentioned = [
        part for table in tables if table not in known for part in _mentioned(tables, table)
    ]
    return Layout(tables, tuple(references), (*parts, *mentioned), tuple(cleared))


def _condition(reference: ForeignKey, of_target: str) -> str:
    column = sql_name(reference.column)
    if (reference.target, reference.to) == ("sessions", "id"):
        return f"{column} IN ({{ids}})"
    target = f"{{schema}}.{sql_name(reference.target)}"
    return f"{column} IN (SELECT {sql_name(reference.to)} FROM {target} WHERE {of_target})"


def _cleared(tables: dict[str, Table], table: str, column: str, condition: str) -> Cleared:
    if not tables[table].key:
        sentence = _("Rows of {table} cannot be told apart, so that a delete could not be undone.")
        raise RefusedError(sentence.format(table=table))
    return Cleared(table, column, condition)


def prompt_columns(session_columns: Container[str]) -> list[str]:
    """Return the columns of sessions that hold a hash of `system_prompts` (0.20; `tool_names` since
    0.22)."""
    return [column for column in ("system_prompt_hash", "tool_names") if column in session_columns]


def _shared(tables: dict[str, Table]) -> Iterator[Part]:
    if "system_prompts" not in tables or tables["system_prompts"].key != ("hash",):
        return
    users = prompt_columns(tables["sessions"].columns)
    if users:
        chosen = 'FROM {schema}."sessions" WHERE "id" IN ({ids})'
        used = [f'"hash" IN (SELECT {sql_name(column)} {chosen})' for column in users]
        yield Part("system_prompts", " OR ".join(used), RowFate.SHARED)


def _mentioned(tables: dict[str, Table], table: str) -> Iterator[Part]:
    columns = tables[table].columns
    conditions = [
        f"{sql_name(column)} IN ({{ids}})" for column in columns if column in _NAMES_OF_IDS
    ]
    if "session_key" in columns and "session_key" in tables["sessions"].columns:
        keys = 'SELECT "session_key" FROM {schema}."sessions" WHERE "id" IN ({ids})'
        conditions.append(f'"session_key" IN ({keys})')
    if "entry_json" in columns:
        is_named = "instr(\"entry_json\", '\"' || id || '\"') > 0"
        conditions.append(f"EXISTS (SELECT 1 FROM ({{ids}}) WHERE id <> '' AND {is_named})")
    if conditions:
        yield Part(table, " OR ".join(conditions), RowFate.MENTIONED)


def names_of(columns: Sequence[str], prefix: str = "") -> str:
    """Return quoted column names for a SELECT or INSERT, each after a prefix such as `b.`."""
    return ", ".join(f"{prefix}{sql_name(column)}" for column in columns)


def differs(column: str) -> str:
    """Return SQL for whether a column of row `m` has another storage class or value than of `b`.

    `CAST` to a blob would not do: it keeps 15 digits of a real (SQLite 3.40). The plus takes away
    the affinity of the column, so that values are compared as they are stored.
    """
    name = sql_name(column)
    return (
        f"(typeof(m.{name}) IS NOT typeof(b.{name}) OR +m.{name} IS NOT +b.{name} COLLATE BINARY)"
    )
