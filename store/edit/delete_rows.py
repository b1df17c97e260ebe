"""The statements of a delete: compare the rows with those of the bundle, delete them, and count what
is gone.

The store is `main`, the bundle is attached as `bundle`, and the sessions are in `temp.chosen`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from ..connection.reader import Reader
from ..connection.schema import Schema, sql_name
from ..connection.stored_values import as_int
from ..errors import RefusedError, StoreRefusedError, WriteUnverifiedError
from ..text import as_text, one_line
from ..trash.bundle import read_only_uri
from ..trash.progress import EVERY, Progress, Stage
from ..trash.tables import Layout, Part, RowFate, differs, ordinary_tables, prompt_columns
from ..wording import _
from .transaction import Transaction

_CHANGES = "hermes_browse_changes"
_IDS_AT_ONCE = 400


def attach(tx: Transaction, path: Path) -> None:
    """Attach a bundle to be read, outside a transaction.

    Attached to be written, SQLite would lock it with the store, and put a journal for both into
    Hermes' home.
    """
    tx.execute("ATTACH ? AS bundle", [read_only_uri(path)])
    tx.execute("CREATE TEMP TABLE IF NOT EXISTS chosen (id PRIMARY KEY)")


def choose(tx: Transaction, sessions: Sequence[str], table: str = "chosen") -> None:
    """Fill a TEMP table of ids."""
    tx.execute(f"CREATE TEMP TABLE IF NOT EXISTS {table} (id PRIMARY KEY)")
    tx.execute(f"DELETE FROM temp.{table}")
    for start in range(0, len(sessions), _IDS_AT_ONCE):
        some = sessions[start : start + _IDS_AT_ONCE]
        marks = ",".join(["(?)"] * len(some))
        tx.execute(f"INSERT OR IGNORE INTO temp.{table} VALUES {marks}", some)


def count_changes(tx: Transaction) -> None:
    """Count from now on what this connection deletes and inserts, by TEMP triggers.

    A delete names the rows it takes, but what else goes with them is decided by the store: by
    triggers and by foreign keys that cascade.
    """
    tx.execute(f"CREATE TEMP TABLE {_CHANGES} (name PRIMARY KEY, gone, new)")
    for number, name in enumerate(ordinary_tables(tx.rows)):
        tx.execute(f"INSERT INTO {_CHANGES} VALUES (?, 0, 0)", [name])
        literal = name.replace("'", "''")
        for event, column in (("DELETE", "gone"), ("INSERT", "new")):
            tx.execute(
                f"CREATE TEMP TRIGGER hermes_browse_{column}_{number} AFTER {event} ON main.{sql_name(name)} "
                f"BEGIN UPDATE {_CHANGES} SET {column} = {column} + 1 WHERE name = '{literal}'; END"
            )


def check_not_busy(tx: Transaction, ids: Sequence[str]) -> None:
    """Refuse if a session has a live lease or lock."""
    for table, column in tx.schema.leases:
        live = f"SELECT {column} FROM {table} WHERE expires_at > ? AND {column} IN ({{keys}})"
        if rows := tx.rows_in(live, ids, [time.time()]):
            begun = _("{session} is being written to: a turn or a compression has begun.")
            raise RefusedError(begun.format(session=as_text(rows[0][0])), is_unchanged=True)


def check_unchanged(tx: Transaction, layout: Layout) -> None:
    """Refuse if the rows of the chosen sessions are not those of the bundle."""
    for part in layout.of(RowFate.TAKEN):
        in_store = _count(tx, f"main.{sql_name(part.table)} WHERE {part.where('main')}")
        in_bundle = _count(tx, f"bundle.{sql_name(part.table)} WHERE {part.where('bundle')}")
        if not in_store == in_bundle == _count_same(tx, layout, part):
            sentence = _("The conversation is being written to: it has changed meanwhile.")
            raise RefusedError(sentence, is_unchanged=True)
    for each in layout.cleared:
        own = [sql_name(name) for name in layout.tables[each.table].key]
        key = " AND ".join(f"r.{name} IS m.{name}" for name in own)
        also = " AND id NOT IN (SELECT id FROM bundle.sessions)" if each.table == "sessions" else ""
        known = f"EXISTS (SELECT 1 FROM bundle.{each.record} AS r WHERE {key})"
        if _count(
            tx,
            f"main.{sql_name(each.table)} AS m WHERE ({each.where('main')}) AND NOT {known}{also}",
        ):
            sentence = _("The conversation has changed meanwhile: it has other children.")
            raise RefusedError(sentence, is_unchanged=True)


def _count(tx: Transaction, counted: str) -> int:
    return as_int(tx.rows(f"SELECT count(*) FROM {counted}")[0][0])


def _count_same(tx: Transaction, layout: Layout, part: Part) -> int:
    table, name = layout.tables[part.table], sql_name(part.table)
    different = [differs(column) for column in table.columns]
    if part.table == "sessions":
        # The delete of a parent in an earlier portion has set it to NULL.
        for at, column in enumerate(table.columns):
            if column in layout.parents:
                own = sql_name(column)
                cut = f"m.{own} IS NULL AND b.{own} IN (SELECT id FROM bundle.sessions)"
                different[at] = f"({different[at]} AND NOT ({cut}))"
    chosen = f"SELECT {table.rowid or 'rowid'} FROM bundle.{name} WHERE {part.where('bundle')}"
    joined = f"bundle.{name} AS b JOIN main.{name} AS m ON {table.join}"
    same = " AND NOT ".join(["1", *different])
    return _count(tx, f"{joined} WHERE b.{table.rowid or 'rowid'} IN ({chosen}) AND {same}")


def delete_rows(tx: Transaction, layout: Layout, progress: Progress, stage: Stage) -> Stage:
    """Delete all rows of the chosen sessions, and their prompts that no other session uses.

    Args:
        tx: The open transaction.
        layout: Of the store.
        progress: Polled for a stop; receives reports.
        stage: What was deleted before.

    Returns:
        What is deleted by now.

    Raises:
        StoreRefusedError: Other rows would go than those of the bundle.
        QueryInterruptedError: It was stopped; the transaction must be rolled back.
    """
    tx.execute(f"UPDATE {_CHANGES} SET gone = 0, new = 0")
    gone: dict[str, int] = {}
    for each in layout.cleared:
        # Also links within the family: then the order of sessions is free, even in a cycle.
        tx.execute(
            f"UPDATE main.{sql_name(each.table)} SET {sql_name(each.column)} = NULL "
            f"WHERE {each.where('main')}"
        )
    # Reversed: rows that refer to others first; messages before sessions, which the triggers of the
    # substring index read (0.22).
    for part in reversed(layout.of(RowFate.TAKEN)):
        progress.check()
        name, where = sql_name(part.table), part.where("main")
        gone[part.table] = _count(tx, f"bundle.{name} WHERE {part.where('bundle')}")
        rowid = layout.tables[part.table].rowid
        if part.table != "messages" or not rowid:
            tx.execute(f"DELETE FROM main.{name} WHERE {where}")
            continue
        portion = f"SELECT {rowid} FROM main.{name} WHERE {where} LIMIT {EVERY}"
        while count := tx.execute(f"DELETE FROM main.{name} WHERE {rowid} IN ({portion})"):
            stage = stage._replace(done=stage.done + count)
            progress.tell(stage)
            progress.check()
    for part in layout.of(RowFate.SHARED):
        used = " AND ".join(
            f"NOT EXISTS (SELECT 1 FROM main.sessions s WHERE s.{column} = system_prompts.hash)"
            for column in prompt_columns(tx.schema.session_columns)
        )
        own = f"SELECT hash FROM bundle.system_prompts WHERE {part.where('bundle')}"
        gone[part.table] = tx.execute(
            f"DELETE FROM main.system_prompts WHERE hash IN ({own}) AND {used}"
        )
    for table, deleted, inserted in tx.rows(f"SELECT name, gone, new FROM temp.{_CHANGES}"):
        expected = gone.get(str(table), 0)
        if deleted != expected or inserted:
            raise StoreRefusedError(
                _(
                    "The table {table} would lose {found:,} rows and get {new:,}, not lose {expected:,}: the trash "
                    "would not have all that is gone, so the delete was taken back."
                ).format(
                    table=one_line(str(table), 100), found=deleted, new=inserted, expected=expected
                ),
                remedy=_(
                    "Something in this store changes rows by itself. Use Hermes' own commands for it."
                ),
            )
    return stage


def check_gone(reader: Reader, layout: Layout, sessions: Sequence[str], name: str) -> None:
    """Raise WriteUnverifiedError if a deleted row is still in the store; `name` is the bundle's."""
    for part in layout.of(RowFate.TAKEN):
        for start in range(0, len(sessions), _IDS_AT_ONCE):
            some = sessions[start : start + _IDS_AT_ONCE]
            where = part.where("main", bound_ids(len(some)))
            if reader.rows(f"SELECT 1 FROM {sql_name(part.table)} WHERE {where} LIMIT 1", some):
                raise WriteUnverifiedError(
                    _("Rows of {table} are still there, though they were deleted.").format(
                        table=part.table
                    ),
                    remedy=_("The bundle {name} in the trash holds all of them.").format(name=name),
                )


def bound_ids(count: int) -> str:
    """Return SQL that selects so many bound ids, for a connection without TEMP tables."""
    marks = ",".join(f"(?{number})" for number in range(1, count + 1))
    return f"SELECT column1 AS id FROM (VALUES {marks})"


def check_search_triggers(tx: Reader | Transaction) -> None:
    """Refuse to delete or restore in a store whose search index does not follow by itself.

    Salvaged stores lack Hermes' triggers. An index that Hermes has detached, it rebuilds as a
    whole.

    Raises:
        StoreRefusedError: A trigger is missing.
    """
    schema: Schema = tx.schema
    if schema.is_index_stale:
        return
    rows = tx.rows(
        "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND lower(tbl_name) = 'messages'"
    )
    headers = [(as_text(sql) or "").upper().partition("BEGIN") for (sql,) in rows]
    for index in (schema.fts, schema.trigram):
        for event in ("INSERT", "DELETE"):
            if index is None or any(
                event in head.split() and index.name.upper() in _names(body)
                for head, _begin, body in headers
            ):
                continue
            raise StoreRefusedError(
                _("The search index {name} has no trigger that follows each {event}.").format(
                    name=index.name, event=event
                ),
                remedy=_("Start a chat in Hermes once: it makes the trigger again."),
            )


def _names(body: str) -> list[str]:
    return body.replace("(", " ").replace('"', " ").replace(".", " ").split()
