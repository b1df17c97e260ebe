"""Find the rows of all tables that belong to sessions, and compare rows of a store with a bundle.

Tables are discovered by their foreign keys, so that a table that Hermes makes only when it is needed
is found too. Rows that only name a session (locks, leases, routing, delegations) stay in the store,
as in Hermes (0.16 to 0.22). In all SQL the store is `main` and its row is `m`, the bundle is
`bundle` and its row is `b`. `chosen` has the sessions to act on: a TEMP table, so that ids of any
kind pass through no parameter; on a read-only connection a common table expression.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from itertools import groupby, starmap
from operator import itemgetter
from typing import NamedTuple

from ..connection.reader import Row
from ..connection.schema import sql_name
from ..connection.stored_values import as_int
from ..errors import RefusedError
from ..wording import _

Query = Callable[..., list[Row]]
"""Runs a statement with its parameters, if any, and returns all its rows."""

CHILDREN = sql_name("cleared sessions.parent_session_id")
"""Table of a bundle with the sessions that stayed: `id`, and the parent that each of them `was`
given."""
_PROMPTS = "system_prompts"

_IS_INDEX = (
    "t.sql LIKE 'CREATE VIRTUAL%' OR EXISTS (SELECT 1 FROM main.sqlite_master AS v "
    "WHERE v.sql LIKE 'CREATE VIRTUAL%' AND t.name IN (v.name || '_data', v.name || '_idx', "
    "v.name || '_content', v.name || '_docsize', v.name || '_config'))"
)
"""Whether a table is one of FTS5, or one in which that keeps an index."""


class ForeignKey(NamedTuple):
    """A column of a foreign key, which is mostly the only one."""

    table: str
    column: str
    target: str
    to: str
    action: str
    """What a delete of the row it refers to does."""

    @property
    def dangling(self) -> str:
        """SQL for whether the reference of a row `b` leads nowhere in the store."""
        column, target, to = map(sql_name, (self.column, self.target, self.to))
        target_row = f"SELECT 1 FROM main.{target} AS t WHERE t.{to} = b.{column}"
        return f"b.{column} IS NOT NULL AND NOT EXISTS ({target_row})"

    @property
    def was_dangling(self) -> str:
        """SELECT of the rowids, in the bundle, of rows whose reference led nowhere already."""
        return (
            f'SELECT "row" FROM bundle.bundle_dangling WHERE "table" = {literal(self.table)} '
            f'AND "column" = {literal(self.column)}'
        )


class Table(NamedTuple):
    """An ordinary table of a store."""

    name: str
    columns: tuple[str, ...]
    """Stored columns in order, without generated ones."""
    key: tuple[str, ...]
    """Its primary key, or the rowid."""
    has_hidden_rowid: bool
    """Whether no column is the rowid, as `messages.id` is."""
    own: str = ""
    """SQL for the rows `m` of the store that belong to the chosen sessions; empty if none do."""
    saved: str = ""
    """The same for the rows `b` of the bundle."""
    references: tuple[ForeignKey, ...] = ()
    """Its foreign keys."""

    @property
    def is_shared(self) -> bool:
        """Whether its rows are deleted once no session uses them: system prompts (0.20 and
        later)."""
        return self.name == _PROMPTS

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
        return " AND ".join(f"m.{name} IS b.{name}" for name in map(sql_name, self.key))

    @property
    def miscounted(self) -> str:
        """SELECT that has a row if store and bundle have another number of these rows."""
        count = f"SELECT count(*) FROM {self.main} WHERE {self.own}"
        return f"{count} EXCEPT SELECT count(*) FROM {self.bundle} WHERE {self.saved}"

    def unlike(self, rows: str, same: str) -> str:
        """Return a SELECT of the keys of those rows `b` that the store does not have alike.

        `rows` and `same` are conditions, as `equal` makes the second one.
        """
        alike = f"SELECT 1 FROM {self.main} WHERE {self.join} AND {same}"
        key = names_of(self.key, "b.")
        return f"SELECT {key} FROM {self.bundle} WHERE ({rows}) AND NOT EXISTS ({alike})"


LINK = ForeignKey("sessions", "parent_session_id", "sessions", "id", "")
"""That of a session to its parent, which salvaged stores do not declare."""


class Layout(NamedTuple):
    """All rows and columns of one store that refer to sessions."""

    tables: dict[str, Table]
    owned: tuple[Table, ...]
    """Those with rows that belong to sessions, in the order in which these can be restored:
    referenced tables first."""

    @property
    def taken(self) -> list[Table]:
        """Those whose rows are deleted with their sessions."""
        return [table for table in self.owned if not table.is_shared]


def read_tables(query: Query, schema: str = "main") -> dict[str, Table]:
    """Return the tables of a store, or of an attached one, that hold rows of its own, not a search
    index."""
    rows = query(
        f"SELECT t.name, c.name, c.pk, upper(c.type) FROM {schema}.sqlite_master AS t "
        f"JOIN pragma_table_xinfo(t.name, '{schema}') AS c WHERE t.type = 'table' AND c.hidden = 0 "
        f"AND substr(t.name, 1, 7) <> 'sqlite_' AND NOT ({_IS_INDEX}) ORDER BY t.name, c.cid"
    )
    tables = {}
    for name, found in groupby(rows, itemgetter(0)):
        columns = [(as_int(pk), str(column), str(kind)) for _name, column, pk, kind in found]
        key = sorted(column for column in columns if column[0])
        tables[str(name)] = Table(
            str(name),
            tuple(column for _pk, column, _kind in columns),
            tuple(column for _pk, column, _kind in key) or ("_rowid_",),
            has_hidden_rowid=[kind for _pk, _column, kind in key] != ["INTEGER"],
        )
    return tables


def find_layout(query: Query, saved: Mapping[str, Table] | None = None) -> Layout:
    """Find everything in a store that refers to sessions.

    Args:
        query: Asks the store.
        saved: Tables of a bundle, which may be of another schema: other tables and columns are left
            out. None for none.

    Raises:
        RefusedError: A table refers to them in a way that a restore could not recreate.
    """
    stored = read_tables(query)
    tables = {
        name: stored[name]._replace(
            columns=tuple(each for each in table.columns if each in stored[name].columns)
        )
        for name, table in (stored if saved is None else saved).items()
        if name in stored
    }
    keys = query(
        'SELECT t.name, f."from", f."table", COALESCE(f."to", \'id\'), upper(f.on_delete) '
        "FROM main.sqlite_master AS t JOIN pragma_foreign_key_list(t.name, 'main') AS f "
        "WHERE t.type = 'table' ORDER BY t.name, f.id"
    )
    references = [
        key
        for key in starmap(ForeignKey, keys)
        if key[:2] != LINK[:2]
        and key.target in stored
        and key.table in tables
        and key.column in tables[key.table].columns
    ]
    owned = {**_shared(tables), **_taken(tables, references)}
    references.append(LINK)
    of_sessions = (
        tables[name]._replace(
            own=f"({_of(own, 'm', 'main')})",
            saved=f"({_of(own, 'b', 'bundle')})",
            references=tuple(key for key in references if key.table == name),
        )
        for name, own in owned.items()
    )
    return Layout(tables, tuple(of_sessions))


def _of(condition: str, row: str, schema: str) -> str:
    """Return a condition for the rows of the store, or of the bundle."""
    return condition.replace("{row}", row).replace("{schema}", schema)


def _taken(tables: Mapping[str, Table], references: Iterable[ForeignKey]) -> dict[str, str]:
    """Return the condition, by table, for the rows `{row}` of `{schema}` that go with their
    sessions: these, and what refers to them or to their messages. What refers to any of the others
    stops a delete: see `begin_counting` in `edit/guards.py`."""
    ids = {
        "sessions": "SELECT id FROM chosen",
        "messages": 'SELECT x."id" FROM {schema}.messages AS x '
        'WHERE x."session_id" IN (SELECT id FROM chosen)',
    }
    # Salvaged stores lack the foreign key of messages.
    conditions = {
        "sessions": ['{row}."id" IN (SELECT id FROM chosen)'],
        "messages": ['{row}."session_id" IN (SELECT id FROM chosen)'],
    }
    for key in [each for each in references if each.target in ids]:
        is_plain = key.to == "id" and key.table != key.target
        if not is_plain or key.action.startswith("SET"):
            raise RefusedError(
                _(
                    "{column} refers to {table} in a way that we do not know how to bring back.",
                    column=f"{key.table}.{key.column}",
                    table=key.target,
                ),
                remedy=_("Delete it in Hermes itself."),
            )
        if key.table != "messages":
            condition = f"{{row}}.{sql_name(key.column)} IN ({ids[key.target]})"
            conditions.setdefault(key.table, []).append(condition)
    if "state_meta" in tables:
        # The goal that the user set for a session, keyed by its id; Hermes does not delete it
        # (0.19).
        conditions["state_meta"] = ["{row}.\"key\" IN (SELECT 'goal:' || id FROM chosen)"]
    return {name: " OR ".join(parts) for name, parts in conditions.items()}


def prompt_columns(session_columns: Container[str]) -> list[str]:
    """Return the columns of sessions that hold a hash of `system_prompts` (0.20; `tool_names` since
    0.22)."""
    return [column for column in ("system_prompt_hash", "tool_names") if column in session_columns]


def _shared(tables: Mapping[str, Table]) -> dict[str, str]:
    """Return the condition for the system prompts that sessions name."""
    used = " OR ".join(
        f'{{row}}."hash" IN (SELECT s."{column}" FROM {{schema}}.sessions AS s '
        "WHERE s.id IN (SELECT id FROM chosen))"
        for column in prompt_columns(tables["sessions"].columns)
    )
    return {_PROMPTS: used} if used and _PROMPTS in tables else {}


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
