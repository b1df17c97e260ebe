"""The statements of a restore: insert the rows of a bundle into a store, link them with their family,
and compare them.

The store is `main`, the bundle is attached as `bundle`. `temp.wanted` has the sessions that the
store is to have in the end, `temp.chosen` those of one transaction.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ..connection.schema import sql_name
from ..connection.stored_values import as_int
from ..errors import RefusedError
from ..text import as_text
from ..trash.progress import EVERY, Progress, Stage
from ..trash.tables import Part, RowFate, differs, find_layout, names_of
from ..wording import _
from .delete_rows import attach
from .flags import set_columns
from .titles import LONGEST_TITLE
from .transaction import Transaction
from .values import Value

_PARENT = "parent_session_id"
_NUMBERED = re.compile(r"^(.*?) #(\d{1,9})$", re.DOTALL)
_TITLE_COLUMNS = ("title", "title_source")


class RestoredRows:
    """The rows of an attached bundle that a store has a place for, and what became of them."""

    def __init__(self, tx: Transaction, path: Path, progress: Progress) -> None:
        attach(tx, path)
        self.path, self._progress = path, progress
        self.layout = find_layout(tx.rows)
        """Of the store."""
        self.columns: dict[str, tuple[str, ...]] = {}
        """By table, the columns that both have."""
        self.notes: list[str] = []
        """A sentence for each difference from the bundle."""
        self.stage = Stage("restoring", 0, 0)
        self.skipped: dict[str, list[int]] = {}
        """Rowids, in the bundle, of rows whose key is in use."""
        self.retitled: list[str] = []
        self._compare_columns(tx)
        self.parts = [
            part
            for part in self.layout.of(RowFate.SHARED, RowFate.TAKEN)
            if part.table in self.columns
        ]

    def _compare_columns(self, tx: Transaction) -> None:
        tables = self.layout.tables
        rows = tx.rows("SELECT name FROM bundle.sqlite_master WHERE type = 'table'")
        for name in (str(row[0]) for row in rows if not str(row[0]).startswith("bundle")):
            if name.startswith("cleared ") or name == "schema_version":
                continue
            count = as_int(tx.rows(f"SELECT count(*) FROM bundle.{sql_name(name)}")[0][0])
            if name not in tables:
                if count:
                    lost = _("This store has no table {table}: {count:,} rows stay in the bundle.")
                    self.notes.append(lost.format(table=name, count=count))
                continue
            info = tx.rows(f"PRAGMA bundle.table_info({sql_name(name)})")
            saved = [str(row[1]) for row in info]
            self.columns[name] = tuple(each for each in saved if each in tables[name].columns)
            missing = [f"{name}.{each}" for each in saved if each not in tables[name].columns]
            if missing and count:
                lost = _("This store has no {columns}: what they held stays in the bundle.")
                self.notes.append(lost.format(columns=", ".join(missing)))

    def same(self, table: str, leaving: Sequence[str] = ()) -> str:
        """Return SQL for whether rows `m` and `b` agree, apart from some columns."""
        different = [differs(each) for each in self.columns[table] if each not in leaving]
        return " AND NOT ".join(["1", *different])

    def joined(self, table: str) -> str:
        """Return SQL for the rows of a table that are in both, by key."""
        known = self.layout.tables[table]
        key = " AND ".join(f"m.{name} = b.{name}" for name in map(sql_name, known.key))
        if known.rowid_is_column or not key:
            key = known.join
        name = sql_name(table)
        return f"bundle.{name} AS b JOIN main.{name} AS m ON {key}"

    # Inserting

    def insert(self, tx: Transaction) -> None:
        """Insert the rows of the chosen sessions.

        Raises:
            RefusedError: A row cannot be stored without a loss.
            QueryInterruptedError: It was stopped.
        """
        self._choose_titles(tx)
        for part in self.parts:
            if part.table == "messages":
                self._insert_messages(tx, part)
            else:
                self._insert_part(tx, part)
        self._cut_missing_parents(tx)
        self._check_references(tx)
        self._renumber_titles(tx)

    def _choose_titles(self, tx: Transaction) -> None:
        """Find the titles that other sessions have by now: Hermes looks sessions up by title."""
        tx.execute("CREATE TEMP TABLE IF NOT EXISTS untitled (id, title)")
        tx.execute("DELETE FROM temp.untitled")
        if "title" not in self.columns["sessions"]:
            return
        is_unique = "idx_sessions_title_unique" in tx.schema.indexes
        others = "SELECT 1 FROM main.sessions o WHERE o.title = b.title"
        if not is_unique:
            others += " AND o.id NOT IN (SELECT id FROM bundle.sessions)"
        taken = f"EXISTS ({others})"
        if is_unique:
            before = "SELECT 1 FROM bundle.sessions o WHERE o.title = b.title AND o.rowid < b.rowid"
            taken += f" OR EXISTS ({before} AND o.id IN (SELECT id FROM temp.chosen))"
        tx.execute(
            "INSERT INTO temp.untitled SELECT b.id, b.title FROM bundle.sessions AS b "
            f"WHERE b.id IN (SELECT id FROM temp.chosen) AND ({taken})"
        )

    def _renumber_titles(self, tx: Transaction) -> None:
        """Number the titles that other sessions have, now that all titles are in the store."""
        for session, title in tx.rows("SELECT id, title FROM temp.untitled"):
            numbered = _next_title(tx, title)
            changes: dict[str, Value] = {"title": numbered}
            if numbered is None and "title_source" in tx.schema.session_columns:
                changes["title_source"] = None  # not a person's choice: Hermes may choose a title
            set_columns(tx, str(session), changes)
            self.retitled.append(str(session))
            if numbered is not None:
                note = _(
                    "The title of {session}, “{title}”, is another session's by now: it is “{other}” now."
                )
            else:
                note = _(
                    "The title of {session}, “{title}”, is another session's by now: it has none now."
                )
            self.notes.append(note.format(session=session, title=as_text(title), other=numbered))

    def _insert_part(self, tx: Transaction, part: Part) -> None:
        self._progress.check()
        where = part.where("bundle")
        if part.table == "sessions":
            self._insert(tx, part.table, "INSERT", where)
            return
        chosen = f"b.rowid IN ({rowids_of(part, where)})"
        if self.layout.tables[part.table].key:
            self._skip(tx, part, f"{self.joined(part.table)} WHERE {chosen}")
        self._insert(tx, part.table, "INSERT OR IGNORE", where)
        # A column that a newer Hermes insists on.
        there = f"SELECT b.rowid FROM {self.joined(part.table)}"
        name = sql_name(part.table)
        self._skip(tx, part, f"bundle.{name} AS b WHERE {chosen} AND b.rowid NOT IN ({there})")

    def _insert(self, tx: Transaction, table: str, verb: str, where: str) -> int:
        known, columns, name = self.layout.tables[table], self.columns[table], sql_name(table)
        values = [f"b.{sql_name(each)}" for each in columns]
        if table == "sessions" and "title" in columns:
            untitled = "b.id IN (SELECT id FROM temp.untitled)"
            values[columns.index("title")] = f"CASE WHEN {untitled} THEN NULL ELSE b.title END"
        into, order = names_of(columns), ""
        if known.rowid and not known.rowid_is_column:
            # Under its own rowid if that is free; those that need another come last.
            in_use = f"EXISTS (SELECT 1 FROM main.{name} x WHERE x.{known.rowid} = b.{known.rowid})"
            into = f"{known.rowid}, {into}"
            values.insert(0, f"CASE WHEN {in_use} THEN NULL ELSE b.{known.rowid} END")
            order = f" ORDER BY {in_use}, b.{known.rowid}"
        chosen = f"SELECT rowid FROM bundle.{name} WHERE {where}"
        return tx.execute(
            f"{verb} INTO main.{name} ({into}) SELECT {', '.join(values)} FROM bundle.{name} AS b "
            f"WHERE b.rowid IN ({chosen}){order}"
        )

    def _skip(self, tx: Transaction, part: Part, rows: str) -> None:
        """Leave rows out, and name those that belonged to the sessions."""
        key = names_of(self.layout.tables[part.table].key or self.columns[part.table], "b.")
        for rowid, *values in tx.rows(f"SELECT b.rowid, {key} FROM {rows}"):
            self.skipped.setdefault(part.table, []).append(as_int(rowid))
            if part.fate is RowFate.TAKEN:
                note = _(
                    "A row of {table} ({key}) exists already, or cannot be stored here, and was left alone."
                )
                named = ", ".join(as_text(value) or "" for value in values)
                self.notes.append(note.format(table=part.table, key=named))

    def _insert_messages(self, tx: Transaction, part: Part) -> None:
        tx.execute("CREATE TEMP TABLE IF NOT EXISTS picked (n INTEGER PRIMARY KEY, id)")
        tx.execute("DELETE FROM temp.picked")
        total = tx.execute(
            f"INSERT INTO temp.picked (id) {rowids_of(part, part.where('bundle'))} ORDER BY 1"
        )
        for first in range(1, total + 1, EVERY):
            self._progress.check()
            picked = f"SELECT id FROM temp.picked WHERE n BETWEEN {first} AND {first + EVERY - 1}"
            count = self._insert(tx, "messages", "INSERT", f"rowid IN ({picked})")
            self._undo_triggers(tx, picked)
            self.stage = self.stage._replace(done=self.stage.done + count)
            self._progress.tell(self.stage)

    def _undo_triggers(self, tx: Transaction, picked: str) -> None:
        """Reset columns that a trigger of the store filled on insert (`message_uid`,
        `display_order`; 0.22)."""
        columns = self.columns["messages"]
        rows = f"{self.joined('messages')} WHERE b.rowid IN ({picked})"
        counts = ", ".join(f"total({differs(each)})" for each in columns)
        ((*found,),) = tx.rows(f"SELECT {counts} FROM {rows}")
        filled = [each for each, count in zip(columns, found, strict=True) if count]
        if filled:
            names = names_of(filled)
            different = " OR ".join(map(differs, filled))
            tx.execute(
                f"UPDATE main.messages SET ({names}) = (SELECT {names_of(filled, 'b.')} "
                "FROM bundle.messages AS b WHERE b.id = messages.id) "
                f"WHERE id IN (SELECT b.id FROM {rows} AND ({different}))"
            )

    def _cut_missing_parents(self, tx: Transaction) -> None:
        """Clear parents that are not in the store, unless they were missing before the delete."""
        for column in self.parents():
            name = sql_name(column)
            tx.execute(
                f"UPDATE main.sessions SET {name} = NULL WHERE id IN (SELECT id FROM temp.chosen) "
                f"AND {name} IS NOT NULL AND NOT EXISTS "
                f"(SELECT 1 FROM main.sessions p WHERE p.id = sessions.{name}) "
                f"AND id NOT IN ({_was_dangling('sessions', column, 'id')})"
            )

    def parents(self) -> list[str]:
        return [each for each in self.layout.parents if each in self.columns["sessions"]]

    def _check_references(self, tx: Transaction) -> None:
        """Refuse what leads nowhere now and did not before: foreign keys are off."""
        for part in self.parts:
            name = sql_name(part.table)
            for each in self.layout.references_of(part.table):
                is_cleared = part.table == "sessions" and each.column in self.layout.parents
                if is_cleared or each.column not in self.columns[part.table]:
                    continue
                column, target = f"b.{sql_name(each.column)}", sql_name(each.target)
                if tx.rows(
                    f"SELECT 1 FROM bundle.{name} AS b "
                    f"WHERE b.rowid IN ({rowids_of(part, part.where('bundle'))}) "
                    f"AND {column} IS NOT NULL AND NOT EXISTS "
                    f"(SELECT 1 FROM main.{target} t WHERE t.{sql_name(each.to)} = {column}) "
                    f"AND b.rowid NOT IN ({_was_dangling(part.table, each.column, 'rowid')}) LIMIT 1"
                ):
                    sentence = _(
                        "Rows of {table} refer to rows of {target} that are not in this store."
                    )
                    raise RefusedError(
                        sentence.format(table=part.table, target=each.target), is_unchanged=True
                    )


def rowids_of(part: Part, where: str) -> str:
    return f"SELECT rowid FROM bundle.{sql_name(part.table)} WHERE {where}"


def _was_dangling(table: str, column: str, key: str) -> str:
    """Return SQL for the rows of a bundle whose reference led nowhere before the delete, by rowid or
    another column."""
    recorded = (
        'SELECT d."row" FROM bundle.bundle_dangling d '
        f'WHERE d."table" = {_literal(table)} AND d."column" = {_literal(column)}'
    )
    return f"SELECT x.{key} FROM bundle.{sql_name(table)} x WHERE x.rowid IN ({recorded})"


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _next_title(tx: Transaction, title: object) -> str | None:
    """Return the next `title #n`, numbered as in Hermes (0.13 to 0.22); None if it would be too
    long."""
    if not isinstance(title, str):
        return None
    numbered = _NUMBERED.match(title)
    start = f"{numbered[1] if numbered else title} #"
    rows = tx.rows("SELECT title FROM sessions WHERE substr(title, 1, ?) = ?", [len(start), start])
    numbers = [int(match[2]) for match in (_NUMBERED.match(str(row[0])) for row in rows) if match]
    following = f"{start}{max(numbers, default=1) + 1}"
    return following if len(following) <= LONGEST_TITLE else None
