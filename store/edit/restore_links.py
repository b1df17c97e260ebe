"""Link restored sessions with their family again, and tell what could not be linked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..text import as_text
from ..trash.tables import CHILDREN, PARENT
from .restore_rows import WANTED, RestoredRows
from .transaction import Writer


class Unlinked(NamedTuple):
    """A link of the bundle that the store does not have after a restore."""

    child: str
    parent: str
    is_child: bool
    """Whether the child is of the bundle, not the parent alone."""
    has_moved: bool
    """Whether the child is in the store, and was given another parent."""

    @property
    def other(self) -> str:
        """The one of both that is not of the bundle."""
        return self.parent if self.is_child else self.child


def link(tx: Writer, rows: RestoredRows, recorded: Mapping[object, object]) -> None:
    """Set empty parents of the wanted sessions, and of their children.

    `recorded` has parents by child, of any of the store's sessions, as in `links.db`.
    """
    if not rows.has_parents:
        return
    tx.execute("CREATE TEMP TABLE links (child PRIMARY KEY, parent, is_own)")
    if rows.had_parents:
        tx.execute(
            f"INSERT INTO temp.links SELECT id, {PARENT}, 1 FROM bundle.sessions "
            f"WHERE id IN ({WANTED}) AND {PARENT} IS NOT NULL"
        )
        tx.execute(
            "INSERT OR IGNORE INTO temp.links "
            f"SELECT id, was, 1 FROM bundle.{CHILDREN} WHERE was IN ({WANTED})"
        )
    for pair in recorded.items():
        tx.execute("INSERT OR IGNORE INTO temp.links VALUES (?, ?, 0)", pair)
    tx.execute(
        f"UPDATE main.sessions SET {PARENT} = "
        "(SELECT parent FROM temp.links WHERE child = sessions.id) "
        f"WHERE {PARENT} IS NULL AND id IN (SELECT child FROM temp.links "
        "WHERE parent IN (SELECT id FROM main.sessions))"
    )


def unlinked(tx: Writer, rows: RestoredRows) -> list[Unlinked]:
    """Return the links of the bundle, of wanted sessions, that could not be set."""
    if not rows.has_parents:
        return []
    found = tx.rows(
        f"SELECT l.child, l.parent, l.child IN ({WANTED}) AS is_child, "
        f"m.id IS NOT NULL AND (l.child NOT IN ({WANTED}) OR m.{PARENT} IS NOT NULL) "
        "FROM temp.links AS l LEFT JOIN main.sessions AS m ON m.id = l.child "
        f"WHERE l.is_own AND m.{PARENT} IS NOT l.parent ORDER BY l._rowid_"
    )
    return [
        Unlinked(as_text(child) or "", as_text(parent) or "", bool(is_child), bool(has_moved))
        for child, parent, is_child, has_moved in found
    ]
