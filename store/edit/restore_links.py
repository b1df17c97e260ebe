"""Link restored sessions with their family again, and tell what could not be linked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ..connection.reader import Row
from ..text import as_text
from ..trash.tables import CHILDREN, PARENT
from ..wording import _
from .restore_rows import WANTED, RestoredRows
from .transaction import Writer


def link(tx: Writer, rows: RestoredRows, recorded: Iterable[Row]) -> None:
    """Set empty parents of the wanted sessions, and of their children.

    `recorded` has pairs of child and parent, of any of the store's sessions, as in `links.db`.
    """
    if not rows.has_parents:
        return
    tx.execute("CREATE TEMP TABLE links (child PRIMARY KEY, parent, is_own)")
    tx.execute(
        f"INSERT INTO temp.links SELECT id, {PARENT}, 1 FROM bundle.sessions "
        f"WHERE id IN ({WANTED}) AND {PARENT} IS NOT NULL"
    )
    tx.execute(
        "INSERT OR IGNORE INTO temp.links "
        f"SELECT id, was, 1 FROM bundle.{CHILDREN} WHERE was IN ({WANTED})"
    )
    for pair in recorded:
        tx.execute("INSERT OR IGNORE INTO temp.links VALUES (?, ?, 0)", pair)
    tx.execute(
        f"UPDATE main.sessions SET {PARENT} = "
        "(SELECT parent FROM temp.links WHERE child = sessions.id) "
        f"WHERE {PARENT} IS NULL AND id IN (SELECT child FROM temp.links "
        "WHERE parent IN (SELECT id FROM main.sessions))"
    )


def unlinked(tx: Writer, rows: RestoredRows, bundles: Mapping[object, str]) -> Iterator[str]:
    """Yield a sentence for each link of the wanted sessions in the bundle that could not be set.

    `bundles` has the bundle of each session that is in the trash.
    """
    if not rows.has_parents:
        return
    for child, parent, is_child, has_moved in tx.rows(
        f"SELECT l.child, l.parent, l.child IN ({WANTED}) AS is_child, "
        f"m.id IS NOT NULL AND (l.child NOT IN ({WANTED}) OR m.{PARENT} IS NOT NULL) "
        "FROM temp.links AS l LEFT JOIN main.sessions AS m ON m.id = l.child "
        f"WHERE l.is_own AND m.{PARENT} IS NOT l.parent ORDER BY l._rowid_"
    ):
        bundle = bundles.get(parent if is_child else child)
        if has_moved or not (is_child or bundle):
            note = _("{child} was a child of {parent}; it is gone or has another parent now.")
        elif not is_child:
            note = _(
                "{child}, a child of {parent}, is in the trash. Restoring {bundle} ties them together again."
            )
        elif bundle:
            note = _(
                "{child} has no parent for now: {parent} is in the trash. Restoring {bundle} ties them together "
                "again."
            )
        else:
            note = _("{child} has no parent: {parent}, which it names, is by now in no store.")
        yield note.format(child=as_text(child), parent=as_text(parent), bundle=bundle)
