"""Link restored sessions with their family again, and tell what could not be linked."""

from __future__ import annotations

from collections.abc import Mapping

from ..connection.schema import sql_name
from ..text import as_text
from ..trash.tables import Cleared, ForeignKey, names_of
from .restore_rows import RestoredRows
from .transaction import Transaction

_PARENT = "parent_session_id"


def link(tx: Transaction, rows: RestoredRows, recorded: Mapping[str, str]) -> None:
    """Set empty parents and other cleared references of the wanted sessions, and to them.

    `recorded` has parents by child, of any of the store's sessions, as in `links.db`.
    """
    wanted = "SELECT id FROM temp.wanted"
    for column in rows.parents():
        name = sql_name(column)
        saved = f"SELECT b.{name} FROM bundle.sessions AS b WHERE b.id = sessions.id"
        tx.execute(
            f"UPDATE main.sessions SET {name} = ({saved}) WHERE id IN ({wanted}) "
            f"AND {name} IS NULL AND EXISTS (SELECT 1 FROM main.sessions p WHERE p.id = ({saved}))"
        )
    _link_recorded(tx, rows, recorded)
    for each in rows.layout.cleared:
        reference = _reference(tx, rows, each)
        if reference is None:
            continue
        column, target = sql_name(each.column), sql_name(reference.target)
        mine = f"r.was IN ({wanted}) AND" if reference.target == "sessions" else ""
        saved = (
            f"SELECT r.was FROM bundle.{each.record} AS r WHERE {_key(rows, each.table)} AND {mine} "
            f"EXISTS (SELECT 1 FROM main.{target} t WHERE t.{sql_name(reference.to)} = r.was)"
        )
        tx.execute(
            f"UPDATE main.{sql_name(each.table)} AS m SET {column} = ({saved}) "
            f"WHERE m.{column} IS NULL AND EXISTS ({saved})"
        )


def _link_recorded(tx: Transaction, rows: RestoredRows, recorded: Mapping[str, str]) -> None:
    if _PARENT not in rows.layout.tables["sessions"].columns:
        return
    tx.execute("CREATE TEMP TABLE IF NOT EXISTS links (child PRIMARY KEY, parent)")
    tx.execute("DELETE FROM temp.links")
    for pair in recorded.items():
        tx.execute("INSERT INTO temp.links VALUES (?, ?)", pair)
    saved = "SELECT l.parent FROM temp.links l WHERE l.child = sessions.id"
    own = f"SELECT id FROM bundle.sessions WHERE {_PARENT} IS NOT NULL"
    if _PARENT not in rows.columns["sessions"]:
        own = "SELECT NULL WHERE 0"
    tx.execute(
        f"UPDATE main.sessions SET {_PARENT} = ({saved}) WHERE {_PARENT} IS NULL "
        "AND id IN (SELECT child FROM temp.links) "
        f"AND NOT (id IN (SELECT id FROM temp.wanted) AND id IN ({own})) "
        f"AND EXISTS (SELECT 1 FROM main.sessions p WHERE p.id = ({saved}))"
    )


def _reference(tx: Transaction, rows: RestoredRows, cleared: Cleared) -> ForeignKey | None:
    """Return what a cleared column refers to; None if the bundle has no record of it."""
    name = f"cleared {cleared.table}.{cleared.column}"
    if not tx.rows("SELECT 1 FROM bundle.sqlite_master WHERE name = ?", [name]):
        return None
    references = rows.layout.references_of(cleared.table)
    return next(each for each in references if each.column == cleared.column)


def _key(rows: RestoredRows, table: str) -> str:
    names = map(sql_name, rows.layout.tables[table].key)
    return " AND ".join(f"r.{name} IS m.{name}" for name in names)


def unlinked(tx: Transaction, rows: RestoredRows) -> list[tuple[str, str, bool, bool]]:
    """Return references to or from wanted sessions that were not set again: child, parent,
    whether the child is of the bundle, and whether it has another parent by now."""
    found: list[tuple[str, str, bool, bool]] = []
    for column in rows.parents():
        name = sql_name(column)
        found_rows = tx.rows(
            f"SELECT b.id, b.{name}, m.{name} IS NOT NULL FROM bundle.sessions AS b "
            f"JOIN main.sessions AS m ON m.id = b.id WHERE b.id IN (SELECT id FROM temp.wanted) "
            f"AND b.{name} IS NOT NULL AND m.{name} IS NOT b.{name} ORDER BY b.rowid"
        )
        found += [(str(a), as_text(p) or "", True, bool(other)) for a, p, other in found_rows]
    for each in rows.layout.cleared:
        reference = _reference(tx, rows, each)
        if reference is None:
            continue
        known = rows.layout.tables[each.table].key
        mine = "r.was IN (SELECT id FROM temp.wanted) AND" if reference.target == "sessions" else ""
        left = tx.rows(
            f"SELECT r.was, m.{sql_name(known[0])} IS NOT NULL, {names_of(known, 'r.')} "
            f"FROM bundle.{each.record} AS r "
            f"LEFT JOIN main.{sql_name(each.table)} AS m ON {_key(rows, each.table)} "
            f"WHERE {mine} m.{sql_name(each.column)} IS NOT r.was"
        )
        for was, there, *values in left:
            named = ", ".join(as_text(value) or "" for value in values)
            is_gone = not there and each.table == "sessions"
            found.append((named, as_text(was) or "", False, not is_gone))
    return found
