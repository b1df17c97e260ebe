"""Insert the rows of a bundle into a store: adapt them to it, link them with their family, and read
them back."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ..connection.reader import Reader
from ..connection.schema import sql_name
from ..errors import RefusedError, WriteUnverifiedError
from ..trash.bundle import read_lines
from ..trash.format import (
    ClearedReference,
    Encoded,
    Manifest,
    RowFate,
    TableRow,
    bind,
    bound,
    encode_row,
    reading,
    text_of,
    write_line,
)
from ..trash.progress import EVERY, Progress, Stage
from ..trash.shelf import RecordedLinks, loose_children
from ..trash.tables import Rows, Tables, prompt_columns
from ..wording import _
from .flags import read_columns, set_columns
from .search_index import SearchIndexes
from .titles import LONGEST_TITLE
from .transaction import Transaction

_PARENT = "parent_session_id"
_AT_ONCE = 100
_OWNERS = {"sessions": "id", "messages": "session_id", "state_meta": "key"}
"""Column with the session that owns a row; in other tables the foreign keys."""
_NUMBERED = re.compile(r"^(.*?) #(\d{1,9})$", re.DOTALL)


@dataclass
class RestoredRows:
    """The rows of one bundle and the state of their restore."""

    folder: Path
    manifest: Manifest
    family: RecordedLinks
    """What the trash knows of the family of its sessions."""
    restored: frozenset[str]
    """Its sessions, except those to leave out."""
    there: frozenset[str]
    """Sessions in the store as the bundle has them: at most their parents are restored."""
    progress: Progress
    """Polled for a stop between rows; receives progress reports."""
    changed: dict[str, dict[str, Encoded]] = field(default_factory=dict)
    """By session: columns that differ from the bundle."""
    missing_parents: list[tuple[str, Encoded]] = field(default_factory=list)
    """Sessions whose parent was in no store when they were deleted, each with that parent."""
    notes: list[str] = field(default_factory=list)
    """A sentence for each difference from the bundle."""
    messages: int = 0
    """Number of inserted messages."""
    _untitled: list[tuple[str, Encoded]] = field(default_factory=list)
    """Sessions whose title another session has, each with that title."""
    _parents: list[tuple[str, str, Encoded]] = field(default_factory=list)
    """Session, column and parent, as in the rows of the bundle."""
    _skipped: set[tuple[str, int]] = field(default_factory=set)
    """Lines whose key is in use, by table and number."""

    @cached_property
    def _excluded(self) -> frozenset[str]:
        return frozenset(self.manifest.sessions) - self.restored

    def _lines(self, tables: Tables, *, without: frozenset[str]) -> Iterator[tuple[int, TableRow]]:
        """Yield the rows whose table the store has, numbered, without the columns it lacks and some
        sessions."""
        excluded = _with_goals(without)
        for number, line in enumerate(read_lines(self.folder)):
            fate = self.manifest.tables[line.table].fate
            if fate is RowFate.MENTIONED or line.table not in tables.columns:
                continue
            if fate is RowFate.TAKEN and excluded and self._belongs_to(tables, line, excluded):
                continue
            if (
                fate is RowFate.SHARED
                and self._excluded
                and str(line.row.get("hash")) in self._unused
            ):
                continue
            yield number, tables.without_unknown_columns(line)

    @cached_property
    def _unused(self) -> set[str]:
        """Hashes of prompts that only excluded sessions use."""
        used: dict[bool, set[str]] = {True: set(), False: set()}
        for line in (each for each in read_lines(self.folder) if each.table == "sessions"):
            used[str(line.row["id"]) in self.restored].update(
                str(line.row[each]) for each in prompt_columns(line.row)
            )
        return used[False] - used[True]

    @staticmethod
    def _belongs_to(tables: Tables, line: TableRow, owners: Container[str]) -> bool:
        if line.table in _OWNERS:
            columns = [_OWNERS[line.table]]
        else:
            columns = [
                ref.column
                for ref in tables.references
                if (ref.table, ref.target) == (line.table, "sessions")
            ]
        return any(
            isinstance(owner := line.row.get(column), str) and owner in owners for column in columns
        )

    def _note_losses(self, tables: Tables) -> None:
        """Note the tables and columns that this store lacks."""
        for name, table in self.manifest.tables.items():
            if table.fate is RowFate.MENTIONED:
                continue
            if name not in tables.columns:
                lost = _("This store has no table {table}: {count:,} rows stay in the bundle.")
                self.notes.append(lost.format(table=name, count=table.rows))
                continue
            missing = [
                f"{name}.{column}" for column in table.columns if column not in tables.columns[name]
            ]
            if missing:
                lost = _("This store has no {columns}: what they held stays in the bundle.")
                self.notes.append(lost.format(columns=", ".join(missing)))

    def insert(self, tx: Transaction) -> None:
        """Insert all rows, then restore the references between them and from rows that stayed in
        the store.

        Raises:
            RefusedError: The key of a session or message has been used by another one meanwhile, or
                a session that was in the store is not any more.
            QueryInterruptedError: It was stopped.
        """
        still_there = {
            row[0]
            for row in tx.rows_in(
                "SELECT id FROM sessions WHERE id IN ({keys})", sorted(self.there)
            )
        }
        for session in sorted(self.there - still_there):
            raise gone_meanwhile(session)
        tables = Tables(tx)
        self._note_losses(tables)
        pending: list[TableRow] = []
        there, indexes = _with_goals(self.there), SearchIndexes(tx)
        for number, line in self._lines(tables, without=self._excluded):
            self.progress.check()
            if there and self._belongs_to(tables, line, there):
                if line.table == "sessions":
                    self._without_parents(tables, line)
                continue
            if pending and (line.table != "messages" or len(pending) == _AT_ONCE):
                self._insert_messages(
                    tx, tables, indexes, pending
                )  # the next row may refer to them
                pending = []
            if line.table == "messages":
                pending.append(line)
                continue
            if line.table == "sessions":  # the parent may follow later or be missing
                line = self._without_taken_title(
                    tx, line._replace(row=self._without_parents(tables, line))
                )
            if not self._insert(tx, tables, line):
                self._note_in_use(line, number)
        self._insert_messages(tx, tables, indexes, pending)
        self._renumber_titles(tx)
        self._restore_references(tx, tables)

    def _without_parents(self, tables: Tables, line: TableRow) -> dict[str, Encoded]:
        """Note the parents of a session; return its row without them."""
        row = dict(line.row)
        for column in tables.parents:
            if row.get(column) is not None:
                self._parents.append((str(row["id"]), column, row[column]))
                row[column] = None
        return row

    def _without_taken_title(self, tx: Transaction, line: TableRow) -> TableRow:
        """Leave out a title that another session has by now, because Hermes looks sessions up by
        title."""
        title = line.row.get("title")
        mark, value = bound(title)
        holders = (
            tx.rows(f"SELECT id FROM sessions WHERE title = {mark}", [value])
            if title is not None
            else []
        )
        allows_twins = "idx_sessions_title_unique" not in tx.schema.indexes
        if not holders or (
            allows_twins and all(row[0] in self.manifest.sessions for row in holders)
        ):
            return line
        self._untitled.append((str(line.row["id"]), title))
        return line._replace(row=line.row | {"title": None})

    def _renumber_titles(self, tx: Transaction) -> None:
        """Number the titles that other sessions have, now that all titles are in the store."""
        for session, title in self._untitled:
            numbered = _next_title(tx, title)
            changes: dict[str, Encoded] = {"title": numbered}
            if numbered is None and "title_source" in tx.schema.session_columns:
                changes["title_source"] = None  # not a person's choice: Hermes may choose a title
            set_columns(tx, session, changes)
            self.changed.setdefault(session, {}).update(changes)
            if numbered is not None:
                note = _(
                    "The title of {session}, “{title}”, is another session's by now: it is “{other}” now."
                )
            else:
                note = _(
                    "The title of {session}, “{title}”, is another session's by now: it has none now."
                )
            self.notes.append(note.format(session=session, title=text_of(title), other=numbered))

    @staticmethod
    def _insert(tx: Transaction, tables: Tables, line: TableRow) -> bool:
        """Insert one row, under its own rowid if that is free; return False if its key is in
        use."""
        columns = [sql_name(name) for name in line.row]
        marks, values = bind(line.row)
        rowid, is_column = tables.rowids[line.table]
        if line.rowid is not None and rowid and not is_column:
            in_use = tx.rows(
                f"SELECT 1 FROM {sql_name(line.table)} WHERE {rowid} = ?", [line.rowid]
            )
            if not in_use:
                columns, marks, values = [*columns, rowid], [*marks, "?"], [*values, line.rowid]
        # OR IGNORE leaves out a row whose key is in use; the caller reports every row that was left
        # out.
        done = tx.execute(
            f"INSERT OR IGNORE INTO {sql_name(line.table)} ({', '.join(columns)}) VALUES ({', '.join(marks)})",
            values,
        )
        return done == 1

    def _note_in_use(self, line: TableRow, number: int) -> None:
        if line.table in ("sessions", "messages"):
            raise RefusedError(
                _(
                    "A row of {table} ({key}) cannot be stored in this store any more. Nothing was changed."
                ).format(table=line.table, key=text_of(line.row["id"]))
            )
        self._skipped.add((line.table, number))
        if self.manifest.tables[line.table].fate is RowFate.TAKEN:
            key = ", ".join(
                text_of(line.row.get(name)) or "" for name in self.manifest.tables[line.table].key
            )
            note = _(
                "A row of {table} ({key}) exists already, or belongs to another session, and was left alone."
            )
            self.notes.append(note.format(table=line.table, key=key))

    def _insert_messages(
        self, tx: Transaction, tables: Tables, indexes: SearchIndexes, lines: Sequence[TableRow]
    ) -> None:
        """Insert messages and update the search indexes."""
        if not lines:
            return
        ids = [line.row["id"] for line in lines]
        indexes.before_insert(ids)
        for line in lines:
            if not self._insert(tx, tables, line):
                self._note_in_use(line, 0)
        indexes.after_insert(ids)
        self.messages += len(lines)
        if self.messages % EVERY < len(lines):
            self.progress.tell(Stage("restoring", self.messages, self.manifest.messages))
        self._undo_triggers(tx, lines)

    @staticmethod
    def _undo_triggers(tx: Transaction, lines: Sequence[TableRow]) -> None:
        """Reset columns that a trigger of the store filled on insert (`message_uid`,
        `display_order`; 0.22)."""
        stored_rows = read_encoded_messages(
            tx, tuple(lines[0].row), [line.row["id"] for line in lines]
        )
        for line in lines:
            id = line.row["id"]
            stored = stored_rows.get(id) if isinstance(id, int) else None
            if stored is None or write_line(line._replace(row=stored)) == write_line(line):
                continue
            differing = {
                name: value
                for name, value in line.row.items()
                if repr(stored[name]) != repr(value) and name != "id"
            }
            value_marks, values = bind(differing)
            pairs = ", ".join(
                f"{sql_name(name)} = {mark}"
                for name, mark in zip(differing, value_marks, strict=True)
            )
            tx.execute(f"UPDATE messages SET {pairs} WHERE id = ?", [*values, id])

    def _restore_references(self, tx: Transaction, tables: Tables) -> None:
        """Restore parents within the bundle, references from rows that stayed, and links known from
        other bundles."""
        for session, column, parent in self._parents:
            self._restore_parent(tx, session, column, parent)
        has_parents = _PARENT in tables.columns["sessions"]
        if has_parents:
            with_parent = {
                session for session, column, _parent in self._parents if column == _PARENT
            }
            for session in sorted(
                self.restored - with_parent
            ):  # its parent may have been deleted before it
                parent = self.family.parents.get(session)
                if parent is not None and _set_parent(tx, session, _PARENT, parent):
                    self.changed.setdefault(session, {})[_PARENT] = parent
        for link in self.manifest.links:
            self._restore_link(tx, tables, link)
        if has_parents:
            for child, parent in loose_children(tx, self.family, sorted(self.restored)):
                if child not in self.restored:
                    _set_parent(tx, child, _PARENT, parent)

    def _restore_parent(self, tx: Transaction, session: str, column: str, parent: Encoded) -> None:
        """Set the parent of a session as in its row, or note why not."""
        if _set_parent(tx, session, column, parent):
            return
        found = read_columns(tx, session, [column])
        if not found:
            raise gone_meanwhile(session)
        current = found[0][column]
        if current is not None:  # the session was in the store before
            if current != parent:
                self._note_elsewhere(session, parent)
            return
        self.changed.setdefault(session, {})[column] = None
        name = text_of(parent) or ""
        bundle = self.family.bundles.get(name)
        if session in self.manifest.orphans and column == _PARENT:
            self.missing_parents.append((session, parent))
        elif bundle is not None and name not in self.restored:
            note = _(
                "{session} has no parent for now: {parent} is in the trash. Restoring {bundle} ties them together "
                "again."
            )
            self.notes.append(note.format(session=session, parent=name, bundle=bundle))
        else:
            note = _("{session} has no parent: {parent}, which it names, is by now in no store.")
            self.notes.append(note.format(session=session, parent=text_of(parent)))

    def _note_elsewhere(self, key: str, parent: Encoded) -> None:
        elsewhere = _("{key} was a child of {parent}; it is gone or has another parent now.")
        self.notes.append(elsewhere.format(key=key, parent=text_of(parent)))

    def _restore_link(self, tx: Transaction, tables: Tables, link: ClearedReference) -> None:
        """Restore the reference of a row that stayed, unless it refers to another session by
        now."""
        columns = tables.columns.get(link.table, ())
        if link.column not in columns or not set(link.key) <= set(columns):
            return
        mark, target = bound(link.was)
        if target not in self.restored and (
            link.table == "sessions" or target in self.manifest.sessions
        ):
            return
        table, column = sql_name(link.table), sql_name(link.column)
        where, values = _where(link.key)
        parameters = [target, *values]
        if tx.execute(
            f"UPDATE {table} SET {column} = {mark} WHERE {where} AND {column} IS NULL", parameters
        ):
            return
        rows = tx.rows(f"SELECT {column} IS {mark} FROM {table} WHERE {where}", parameters)
        if rows and rows[0][0]:  # restored before
            return
        key = ", ".join(text_of(value) or "" for value in link.key.values())
        bundle = self.family.bundles.get(key) if link.table == "sessions" and not rows else None
        if bundle is not None:
            note = _(
                "{key}, a child of {parent}, is in the trash. Restoring {bundle} ties them together again."
            )
            self.notes.append(note.format(key=key, parent=text_of(link.was), bundle=bundle))
        else:
            self._note_elsewhere(key, link.was)

    def check(self, reader: Reader) -> None:
        """Read every row back and compare values and storage classes with the bundle.

        Raises:
            WriteUnverifiedError: A row differs.
        """
        tables = Tables(reader)
        for number, line in self._lines(tables, without=self._excluded | self.there):
            if (line.table, number) in self._skipped:
                continue
            if line.table == "sessions":
                line = line._replace(row=line.row | self.changed.get(str(line.row["id"]), {}))
            columns = tuple(line.row)
            where, values = _where(
                {name: line.row[name] for name in tables.keys[line.table] or columns}
            )
            rows = reader.rows(
                f"SELECT {reading(columns)} FROM {sql_name(line.table)} WHERE {where}", values
            )
            expected = write_line(line)
            if not any(
                write_line(line._replace(row=encode_row(columns, row))) == expected for row in rows
            ):
                key = ", ".join(text_of(line.row[name]) or "" for name in tables.keys[line.table])
                raise WriteUnverifiedError(
                    _(
                        "A row of {table} ({key}) differs from the bundle after it was written."
                    ).format(table=line.table, key=key),
                    remedy=_("The bundle stays in the trash."),
                )


def read_encoded_messages(
    source: Rows, columns: Sequence[str], ids: Sequence[object]
) -> dict[object, dict[str, Encoded]]:
    """Return these columns of the messages that are in the store, by id."""
    rows = source.rows_in(
        f"SELECT id, {reading(columns)} FROM messages WHERE id IN ({{keys}})", ids
    )
    return {row[0]: encode_row(columns, row[1:]) for row in rows}


def _set_parent(tx: Transaction, session: str, column: str, parent: Encoded) -> bool:
    """Set an empty parent of a session to one that is in the store; return False if nothing was
    changed."""
    mark, value = bound(parent)
    count = tx.execute(
        f"UPDATE sessions SET {sql_name(column)} = {mark} WHERE id = ? AND {sql_name(column)} IS NULL "
        f"AND EXISTS (SELECT 1 FROM sessions p WHERE p.id = {mark})",
        [value, session, value],
    )
    return count == 1


def gone_meanwhile(session: Encoded) -> RefusedError:
    """Return the error for a session that was in the store when the restore began, and has been
    deleted since."""
    return RefusedError(
        _("The session {session} is not there any more. Nothing was changed.").format(
            session=text_of(session)
        ),
        remedy=_("Try again."),
    )


def _where(key: Mapping[str, Encoded]) -> tuple[str, list[object]]:
    """Return a condition that matches some columns, and the values to bind."""
    marks, values = bind(key)
    return " AND ".join(
        f"{sql_name(name)} IS {mark}" for name, mark in zip(key, marks, strict=True)
    ), values


def _with_goals(sessions: frozenset[str]) -> frozenset[str]:
    """Add the `state_meta` keys of the sessions' goals to their ids."""
    return sessions | {f"goal:{session}" for session in sessions}


def _next_title(tx: Transaction, title: Encoded) -> str | None:
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
