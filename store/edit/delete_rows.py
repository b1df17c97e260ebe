"""The statements of a delete: compare the rows with those of the bundle, delete them, and count what
is gone.

The store is `main`, the bundle is attached as `bundle`, and the sessions are in `temp.chosen`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from ..connection.reader import Reader
from ..connection.schema import sql_name
from ..connection.stored_values import as_int
from ..errors import RefusedError, StoreRefusedError, WriteUnverifiedError
from ..text import as_text, one_line
from ..trash.bundle import uri_of
from ..trash.progress import EVERY, Progress
from ..trash.tables import (
    CHILDREN,
    CHOSEN,
    PARENT,
    Layout,
    Part,
    equal,
    prompt_columns,
)
from ..wording import _
from .transaction import Writer

_CHANGES = "hermes_browse_changes"


def attach(connection: Writer | Reader, path: Path) -> None:
    """Attach a bundle to be read, outside a transaction.

    Attached to be written, SQLite would lock it with the store, and put a journal for both into
    Hermes' home.
    """
    if "bundle" not in [row[1] for row in connection.rows("PRAGMA database_list")]:
        connection.rows("ATTACH ? AS bundle", [uri_of(path)])


def choose(tx: Writer, sessions: Sequence[str], table: str = "chosen") -> None:
    """Fill a TEMP table with those of some ids that the bundle has."""
    tx.execute(f"CREATE TEMP TABLE IF NOT EXISTS {table} (id PRIMARY KEY)")
    tx.execute(f"DELETE FROM temp.{table}")
    own = "SELECT id FROM bundle.sessions WHERE id IN ({keys})"
    tx.rows_in(f"INSERT OR IGNORE INTO temp.{table} {own}", sessions)


def count_changes(tx: Writer, layout: Layout) -> None:
    """Count from now on what this connection deletes and inserts, by TEMP triggers.

    A delete names the rows it takes, but what else goes with them is decided by the store: by
    triggers and by foreign keys that cascade.
    """
    tx.execute(f"CREATE TEMP TABLE {_CHANGES} (name PRIMARY KEY, gone, new)")
    for number, name in enumerate(layout.tables):
        tx.execute(f"INSERT INTO {_CHANGES} VALUES (?, 0, 0)", [name])
        literal = name.replace("'", "''")
        for event, column in (("DELETE", "gone"), ("INSERT", "new")):
            tx.execute(
                f"CREATE TEMP TRIGGER hermes_browse_{column}_{number} AFTER {event} ON main.{sql_name(name)} "
                f"BEGIN UPDATE {_CHANGES} SET {column} = {column} + 1 WHERE name = '{literal}'; END"
            )


def check_not_busy(tx: Writer, ids: Sequence[str]) -> None:
    """Refuse if a session has a live lease or lock."""
    for table, column in tx.schema.leases:
        live = f"SELECT {column} FROM {table} WHERE expires_at > ? AND {column} IN ({{keys}})"
        if rows := tx.rows_in(live, ids, [time.time()]):
            raise RefusedError(
                _(
                    "{session} is being written to: a turn or a compression has begun.",
                    session=as_text(rows[0][0]),
                ),
                is_unchanged=True,
            )


def check_unchanged(tx: Writer, layout: Layout) -> None:
    """Refuse if the rows of the chosen sessions are not those of the bundle."""
    for part in layout.taken:
        table = part.table
        # The delete of a parent in an earlier portion has cut its links.
        same = equal(column for column in table.columns if column != PARENT)
        if tx.rows(f"{table.unlike(part.where('b'), same)} LIMIT 1") or (
            _count(tx, f"{table.main} WHERE {part.where('m')}") != _count_in_bundle(tx, part)
        ):
            sentence = _("The conversation is being written to: it has changed meanwhile.")
            raise RefusedError(sentence, is_unchanged=True)
    if tx.rows(
        f"SELECT 1 FROM main.sessions WHERE {PARENT} IN ({CHOSEN}) "
        f"AND id NOT IN (SELECT id FROM bundle.{CHILDREN}) "
        "AND id NOT IN (SELECT id FROM bundle.sessions) LIMIT 1"
    ):
        sentence = _("The conversation has changed meanwhile: it has other children.")
        raise RefusedError(sentence, is_unchanged=True)


def _count(tx: Writer, counted: str) -> int:
    return as_int(tx.rows(f"SELECT count(*) FROM {counted}")[0][0])


def _count_in_bundle(tx: Writer, part: Part) -> int:
    return _count(tx, f"{part.table.bundle} WHERE {part.where('b')}")


def delete_rows(tx: Writer, layout: Layout, progress: Progress) -> None:
    """Delete all rows of the chosen sessions, and their prompts that no other session uses.

    Args:
        tx: In a transaction.
        layout: Of the store.
        progress: Polled for a stop; receives reports.

    Raises:
        StoreRefusedError: Other rows would go than those of the bundle.
        QueryInterruptedError: It was stopped; the transaction must be rolled back.
    """
    tx.execute(f"UPDATE {_CHANGES} SET gone = 0, new = 0")
    expected: dict[object, int] = {}
    # Also links within the family: then the order of sessions is free, even in a cycle.
    tx.execute(f"UPDATE main.sessions SET {PARENT} = NULL WHERE {PARENT} IN ({CHOSEN})")
    # Reversed: rows that refer to others first; messages before sessions, which the triggers of the
    # substring index read (0.22).
    for part in reversed(layout.taken):
        progress.check()
        delete = f"DELETE FROM {part.table.main} WHERE"
        expected[part.table.name] = _count_in_bundle(tx, part)
        if part.table.name != "messages":
            tx.execute(f"{delete} {part.where('m')}")
            continue
        some = f"SELECT m._rowid_ FROM {part.table.main} WHERE {part.where('m')} LIMIT {EVERY}"
        while count := tx.execute(f"{delete} _rowid_ IN ({some})"):
            progress.add(count)
    for part in layout.parts:
        if not part.is_shared:
            continue
        used = " OR ".join(
            f"s.{name} = m.hash" for name in prompt_columns(tx.schema.session_columns)
        )
        own = f"SELECT b.hash FROM {part.table.bundle} WHERE {part.where('b')}"
        expected[part.table.name] = tx.execute(
            f"DELETE FROM {part.table.main} WHERE m.hash IN ({own}) "
            f"AND NOT EXISTS (SELECT 1 FROM main.sessions AS s WHERE {used})"
        )
    for table, gone, new in tx.rows(f"SELECT name, gone, new FROM temp.{_CHANGES}"):
        if gone == expected.get(table, 0) and not new:
            continue
        sentence = _(
            "The table {table} would lose {found:,} rows and get {new:,}, not lose {expected:,}: the trash "
            "would not have all that is gone, so the delete was taken back.",
            table=one_line(str(table), 100),
            found=gone,
            new=new,
            expected=expected.get(table, 0),
        )
        remedy = _(
            "Something in this store changes rows by itself. Use Hermes' own commands for it."
        )
        raise StoreRefusedError(sentence, remedy=remedy)


def check_gone(reader: Reader, name: str, sessions: Sequence[str]) -> None:
    """Raise WriteUnverifiedError if a deleted session or message is still in the store; `name` is
    the bundle's.

    Whatever else went, went in the same transaction.
    """
    for table, column in (("messages", "session_id"), ("sessions", "id")):
        left = f"SELECT 1 FROM {table} WHERE {column} IN ({{keys}}) LIMIT 1"
        if reader.rows_in(left, sessions):
            raise WriteUnverifiedError(
                _("Rows of {table} are still there, though they were deleted.", table=table),
                remedy=_("The deletion {name} in the trash holds all of them.", name=name),
            )
