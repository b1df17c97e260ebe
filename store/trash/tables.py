"""Find the rows of all tables that belong to sessions, and compare rows of a store with a bundle.

Rows that only name a session (locks, leases, routing, delegations) stay in the store, as in Hermes
(0.16 to 0.22). In all SQL the store is `main` and its row is `m`, the bundle is
`bundle` and its row is `b`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from ..connection.reader import Row
from ..connection.schema import sql_name
from ..connection.stored_values import as_int
from ..errors import RefusedError
from ..wording import _

Query = Callable[..., list[Row]]
"""Runs a statement with its parameters, if any, and returns all its rows."""

CHOSEN = "SELECT id FROM chosen"
"""The sessions in question: a TEMP table, so that ids of any kind pass through no parameter; where
there are none of those, a common table expression."""
PARENT = "parent_session_id"
CHILDREN = sql_name("cleared " + f"sessions.{PARENT}")
"""Table of a bundle with the sessions that stayed: `id`, and the parent that each of them `was`
given."""

_IS_INDEX = (
    "t.sql LIKE 'CREATE VIRTUAL%' OR EXISTS (SELECT 1 FROM main.sqlite_master AS v "
    "WHERE v.sql LIKE 'CREATE VIRTUAL%' AND t.name IN (v.name || '_data', v.name || '_idx', "
    "v.name || '_content', v.name || '_docsize', v.name || '_config'))"
)
"""Whether a table is one of FTS5, or one in which that keeps an index."""
_OWN_SESSION = f'{{row}}."session_id" IN ({CHOSEN})'
_OWNED = {
    "sessions": f'{{row}}."id" IN ({CHOSEN})',
    "messages": _OWN_SESSION,
    "session_model_usage": _OWN_SESSION,
    # The goal that the user set for a session; Hermes does not delete it (0.19).
    "state_meta": "{row}.\"key\" IN (SELECT 'goal:' || id FROM chosen)",
}
"""The rows that go with their sessions, by table; in the order in which they can be restored."""
_REFERENCES = (
    f"(VALUES ('sessions', '{PARENT}'), ('messages', 'session_id'), "
    "('session_model_usage', 'session_id'))"
)
"""Tables of Hermes with a foreign key to sessions, and its column (0.13 to 0.22)."""


class Table(NamedTuple):
    """An ordinary table of a store."""

    name: str
    columns: tuple[str, ...]
    """Stored columns in order, without generated ones."""
    key: tuple[str, ...]
    """Its primary key; without one, its rowid."""

    @property
    def main(self) -> str:
        """SQL of the table in the store, for FROM."""
        return f"main.{sql_name(self.name)} AS m"

    @property
    def bundle(self) -> str:
        """SQL of the table in the bundle, for FROM."""
        return f"bundle.{sql_name(self.name)} AS b"

    @property
    def join(self) -> str:
        """SQL for whether two rows are the same row, equal or not."""
        names = map(sql_name, self.key)
        return " AND ".join(f"m.{name} IS b.{name}" for name in names)

    def unlike(self, rows: str, same: str) -> str:
        """Return a SELECT of the keys of those rows `b` that the store does not have alike.

        `rows` and `same` are conditions, as `equal` makes the second one.
        """
        key = names_of(self.key, "b.")
        alike = f"SELECT 1 FROM {self.main} WHERE {self.join} AND {same}"
        return f"SELECT {key} FROM {self.bundle} WHERE ({rows}) AND NOT EXISTS ({alike})"


class Part(NamedTuple):
    """The rows of one table that belong to some sessions."""

    table: Table
    condition: str
    """SQL with `{row}` for the row and `{schema}` for that of the tables in it."""
    is_shared: bool = False
    """Deleted once no session uses them: system prompts (0.20 and later)."""

    def where(self, row: str) -> str:
        """Return the condition for the rows `m` of the store, or `b` of the bundle."""
        schema = "main" if row == "m" else "bundle"
        return self.condition.replace("{row}", row).replace("{schema}", schema)

    def counted(self, row: str) -> str:
        """Return a SELECT of the number of these rows in the store or in the bundle."""
        table = self.table.main if row == "m" else self.table.bundle
        return f"SELECT count(*) FROM {table} WHERE {self.where(row)}"


class Layout(NamedTuple):
    """All rows and columns of one store that belong to sessions."""

    tables: dict[str, Table]
    parts: tuple[Part, ...]
    """In the order in which rows can be restored: referenced tables first."""

    @property
    def taken(self) -> list[Part]:
        """The parts that are deleted with their sessions."""
        return [part for part in self.parts if not part.is_shared]


def _read_tables(query: Query) -> Iterator[Table]:
    """Yield the tables of a store that hold rows of its own, not a search index."""
    rows = query(
        "SELECT t.name, c.name, c.pk FROM main.sqlite_master AS t "
        "JOIN pragma_table_xinfo(t.name, 'main') AS c WHERE t.type = 'table' AND c.hidden = 0 "
        f"AND substr(t.name, 1, 7) <> 'sqlite_' AND NOT ({_IS_INDEX}) ORDER BY t.name, c.cid"
    )
    for name, found in groupby(rows, lambda row: row[0]):
        columns = {str(column): as_int(place) for _name, column, place in found}
        key = sorted((place, column) for column, place in columns.items() if place)
        names = tuple(column for _place, column in key)
        yield Table(str(name), tuple(columns), names or ("_rowid_",))


def find_layout(query: Query, saved: Mapping[str, Sequence[str]] | None = None) -> Layout:
    """Find everything in a store that belongs to sessions.

    Args:
        query: Asks the store.
        saved: Columns by table of a bundle, which may be of another schema: all others are left
            out. None for none.
    """
    tables = {table.name: table for table in _read_tables(query)}
    if saved is not None:
        tables = {
            name: table._replace(
                columns=tuple(column for column in saved[name] if column in table.columns)
            )
            for name, table in tables.items()
            if name in saved
        }
    owned = (Part(tables[name], rows) for name, rows in _OWNED.items() if name in tables)
    return Layout(tables, (*_shared(tables), *owned))


def check_references(query: Query) -> None:
    """Refuse a delete if a table that is not Hermes' own refers to sessions or messages: a restore
    could not bring that back.

    Raises:
        RefusedError: There is one.
    """
    for table, column, target in query(
        'SELECT t.name, f."from", f."table" FROM main.sqlite_master AS t '
        "JOIN pragma_foreign_key_list(t.name, 'main') AS f WHERE t.type = 'table' "
        "AND lower(f.\"table\") IN ('sessions', 'messages') "
        f'AND (t.name, f."from") NOT IN {_REFERENCES}'
    ):
        raise RefusedError(
            _(
                "{column} refers to {table} in a way that we do not know how to bring back.",
                column=f"{table}.{column}",
                table=target,
            ),
            remedy=_("Delete it in Hermes itself."),
        )


def prompt_columns(session_columns: Container[str]) -> list[str]:
    """Return the columns of sessions that hold a hash of `system_prompts` (0.20; `tool_names` since
    0.22)."""
    return [column for column in ("system_prompt_hash", "tool_names") if column in session_columns]


def _shared(tables: dict[str, Table]) -> Iterator[Part]:
    """Yield the system prompts that sessions name."""
    used = " OR ".join(
        f'{{row}}."hash" IN (SELECT s."{column}" FROM {{schema}}.sessions AS s '
        f"WHERE s.id IN ({CHOSEN}))"
        for column in prompt_columns(tables["sessions"].columns)
    )
    if used and "system_prompts" in tables:
        yield Part(tables["system_prompts"], f"({used})", is_shared=True)


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


def equal(columns: Iterable[str]) -> str:
    """Return SQL for whether rows `m` and `b` agree in each storage class and value."""
    return " AND ".join(["1", *(f"NOT {differs(column)}" for column in columns)])


def literal(text: str) -> str:
    """Quote a text for SQL."""
    return "'" + text.replace("'", "''") + "'"
