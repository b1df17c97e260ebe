"""Which rows of which tables belong to sessions, found in the store itself.

Nothing is assumed of a table but its foreign keys and the names Hermes gives to columns that hold a session's id: a
table that a later Hermes adds is found as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol

from ..errors import RefusedError
from ..reader import Row
from ..wording import _
from .values import Encoded, quoted

_NAMES_OF_IDS = frozenset([
    "session_id", "conversation_id", "parent_session_id", "origin_session", "origin_session_id",
    "origin_ui_session_id",
])  # fmt: skip
"""Columns that hold a session's id without a foreign key (locks, leases, delegations; 0.16 to 0.22)."""
_SHADOWS = ("data", "idx", "content", "docsize", "config")
_WITHOUT_ROWID = re.compile(r"\bwithout\s+rowid\b", re.IGNORECASE)


class Rows(Protocol):
    """Whoever answers a statement: a reader, or a unit of writing."""

    def rows(self, sql: str, parameters: Sequence[object] = (), /) -> list[Row]:
        """All rows of one statement."""


class Fate(StrEnum):
    """What a delete does to rows."""

    TAKEN = "taken"
    """Deleted with the sessions they belong to."""
    SHARED = "shared"
    """Deleted when no session is left that uses them: system prompts (0.20 and later)."""
    MENTIONED = "mentioned"
    """Left in the store as Hermes leaves them; copied for the record."""


class Part(NamedTuple):
    """The rows of one table that belong to some sessions."""

    table: str
    columns: tuple[str, ...]
    """Stored ones, in order; generated columns are not."""
    key: tuple[str, ...]
    """Its primary key."""
    rowid: str
    """The name its rowid answers to; empty for a table without."""
    rowid_is_column: bool
    """Whether a column is the rowid (INTEGER PRIMARY KEY), as with messages."""
    condition: str
    """SQL with `{keys}` or `{values}` where the ids of sessions go."""
    fate: Fate


class Loose(NamedTuple):
    """A column that refers to what is deleted and is set to NULL: a parent, or what a foreign key asks for."""

    table: str
    column: str
    key: tuple[str, ...]
    condition: str


class Layout(NamedTuple):
    """All that refers to sessions in one store."""

    parts: tuple[Part, ...]
    """In the order in which rows can be put back: what others refer to first."""
    loose: tuple[Loose, ...]

    def part(self, table: str) -> Part | None:
        """The part of a table, None where the store has none."""
        return next((part for part in self.parts if part.table == table), None)


class Link(NamedTuple):
    """A reference that a delete cuts."""

    table: str
    key: dict[str, Encoded]
    """The row it stands in, by primary key."""
    column: str
    was: Encoded


class _Reference(NamedTuple):
    table: str
    column: str
    target: str
    to: str
    action: str


class Tables:
    """Columns and foreign keys of the ordinary tables of a store."""

    def __init__(self, source: Rows) -> None:
        found = source.rows("SELECT name, COALESCE(sql, '') FROM sqlite_master WHERE type = 'table'")
        sql = {str(name): str(text) for name, text in found}
        virtual = {name for name, text in sql.items() if text[:14].upper() == "CREATE VIRTUAL"}
        shadows = {f"{name}_{ending}" for name in virtual for ending in _SHADOWS}
        self.names = sorted(n for n in sql if n not in virtual | shadows and not n.startswith("sqlite_"))
        self.columns: dict[str, tuple[str, ...]] = {}
        self.keys: dict[str, tuple[str, ...]] = {}
        self.rowids: dict[str, tuple[str, bool]] = {}
        self.references: list[_Reference] = []
        for name in self.names:
            info = source.rows(f"PRAGMA table_xinfo({quoted(name)})")
            self.columns[name] = tuple(str(row[1]) for row in info if row[6] == 0)
            key = sorted((int(str(row[5])), str(row[1]), str(row[2])) for row in info if row[5])
            self.keys[name] = tuple(column for _, column, _ in key)
            taken = {str(row[1]).lower() for row in info}
            if _WITHOUT_ROWID.search(sql[name][sql[name].rfind(")") :]):
                self.rowids[name] = ("", False)
            elif len(key) == 1 and key[0][2].upper() == "INTEGER":
                self.rowids[name] = (quoted(key[0][1]), True)
            else:
                self.rowids[name] = (next((n for n in ("rowid", "_rowid_", "oid") if n not in taken), ""), False)
        for name in self.names:
            self._read_references(source, name)

    def _read_references(self, source: Rows, name: str) -> None:
        seen: dict[object, int] = {}
        rows = source.rows(f"PRAGMA foreign_key_list({quoted(name)})")
        for row in rows:
            seen[row[0]] = seen.get(row[0], 0) + 1
        for number, _place, target, column, to, _update, action, *_rest in rows:
            parent = next((each for each in self.names if each.lower() == str(target).lower()), None)
            if parent is None:
                continue
            reached = self.keys[parent]
            if seen[number] > 1 or (to is None and len(reached) != 1):
                if parent in ("sessions", "messages"):
                    raise RefusedError(
                        _("Table {table} refers to {other} by several columns at once, which we cannot keep.").format(
                            table=name, other=parent
                        ),
                        remedy=_("Delete it in Hermes itself."),
                    )
                continue
            self.references.append(
                _Reference(name, str(column), parent, str(to) if to is not None else reached[0], str(action).upper())
            )


def _part(tables: Tables, table: str, condition: str, fate: Fate) -> Part:
    rowid, is_column = tables.rowids[table]
    return Part(table, tables.columns[table], tables.keys[table], rowid, is_column, condition, fate)


def discover(source: Rows) -> Layout:
    """What refers to sessions in this store.

    Raises:
        RefusedError: Something refers to them in a way that a delete cannot keep true.
    """
    tables = Tables(source)
    conditions = {"sessions": '"id" IN ({keys})'}
    order = ["sessions"]
    loose: list[Loose] = []
    edges = [each for each in tables.references if each.table != each.target]
    # Salvaged stores lack it.
    if not any(each.table == "messages" and each.column == "session_id" for each in edges):
        edges.append(_Reference("messages", "session_id", "sessions", "id", "NO ACTION"))  # not shown
    edges.sort(key=lambda each: (each.table != "messages", each.table, each.column))  # messages before the rest
    for target in order:  # grows as tables are found
        for each in (edge for edge in edges if edge.target == target):
            if target == "sessions" and each.to == "id":
                condition = f"{quoted(each.column)} IN ({{keys}})"
            else:
                condition = (
                    f"{quoted(each.column)} IN (SELECT {quoted(each.to)} FROM {quoted(target)} "
                    f"WHERE {conditions[target]})"
                )
            if each.action == "SET NULL":  # not shown
                loose.append(Loose(each.table, each.column, tables.keys[each.table], condition))
            elif each.action == "SET DEFAULT":  # not shown
                raise RefusedError(
                    _("{column} falls back to a default when a session goes, which we do not know how to undo.").format(
                        column=f"{each.table}.{each.column}"
                    ),
                    remedy=_("Delete it in Hermes itself."),
                )
            elif each.table in conditions:
                conditions[each.table] += f" OR {condition}"
            else:
                conditions[each.table] = condition
                order.append(each.table)
    parents = {each.column for each in tables.references if each.table == each.target == "sessions"}
    if "parent_session_id" in tables.columns["sessions"]:
        parents.add("parent_session_id")
    loose += [Loose("sessions", column, ("id",), f"{quoted(column)} IN ({{keys}})") for column in sorted(parents)]
    shared = _shared(tables, conditions)
    taken = [_part(tables, table, conditions[table], Fate.TAKEN) for table in order]
    if "key" in tables.columns.get("state_meta", ()):
        # What the user told a session to pursue, keyed by its id; Hermes leaves it behind (0.19).
        goals = "\"key\" IN (SELECT 'goal:' || column1 FROM (VALUES {values}))"
        taken.append(_part(tables, "state_meta", goals, Fate.TAKEN))
    known = {part.table for part in (*shared, *taken)}
    mentioned = [part for table in tables.names if table not in known for part in _mentioned(tables, table)]
    return Layout((*(p for p in shared if p.fate is Fate.SHARED), *taken, *mentioned), tuple(loose))


def _shared(tables: Tables, conditions: dict[str, str]) -> list[Part]:
    if tables.keys.get("system_prompts") != ("hash",):
        return []
    users = prompt_columns(tables.columns["sessions"])
    condition = " OR ".join(
        f'"hash" IN (SELECT {quoted(column)} FROM "sessions" WHERE {conditions["sessions"]})' for column in users
    )
    return [_part(tables, "system_prompts", condition, Fate.SHARED)] if users else []


def prompt_columns(session_columns: Sequence[str]) -> list[str]:
    """Columns of sessions that hold a hash of `system_prompts` (0.20; `tool_names` since 0.22)."""
    return [column for column in ("system_prompt_hash", "tool_names") if column in session_columns]


def _mentioned(tables: Tables, table: str) -> Iterator[Part]:
    columns = tables.columns[table]
    found = [f"{quoted(column)} IN ({{keys}})" for column in columns if column in _NAMES_OF_IDS]
    if "session_key" in columns and "session_key" in tables.columns["sessions"]:
        found.append('"session_key" IN (SELECT "session_key" FROM "sessions" WHERE "id" IN ({keys}))')
    if "entry_json" in columns:
        named = "instr(\"entry_json\", '\"' || column1 || '\"') > 0"
        found.append(f"EXISTS (SELECT 1 FROM (VALUES {{values}}) WHERE column1 <> '' AND {named})")
    if found:
        yield _part(tables, table, " OR ".join(found), Fate.MENTIONED)
