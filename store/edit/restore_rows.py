"""The rows of a bundle inserted into a store: adapted to it, tied to their family, and read back."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from ..connection.reader import Reader
from ..errors import RefusedError, WriteUnverifiedError
from ..trash.bundle import read_lines
from ..trash.format import (
    Encoded,
    Fate,
    Line,
    Link,
    Manifest,
    bind,
    bound,
    encode_row,
    quoted,
    reading,
    text_of,
    write_line,
)
from ..trash.progress import EVERY, NOBODY, Progress, Stage
from ..trash.shelf import Known, loose_children
from ..trash.tables import Tables, prompt_columns
from ..wording import _
from .search_index import SearchIndexes
from .transaction import Transaction

_PARENT = "parent_session_id"
_AT_ONCE = 100
_LONGEST_TITLE = 100
"""Code points; Hermes takes no longer one (0.13 to 0.22)."""
_OWNERS = {"sessions": "id", "messages": "session_id", "state_meta": "key"}
"""The column that says whose a row is; for other tables their foreign keys do."""
_NUMBERED = re.compile(r"^(.*?) #(\d{1,9})$", re.DOTALL)


class RestoredRows:
    """One bundle on its way into a store.

    Args:
        folder: Of the bundle.
        manifest: Of the same bundle.
        known: What the trash knows of the family of its sessions.
        refused: Sessions to leave out.
        there: Sessions that are in the store as the bundle has them, so that only their parents may be missing.
        progress: Asked for a stop between rows, and told how far it is.
    """

    def __init__(
        self,
        folder: Path,
        manifest: Manifest,
        known: Known,
        refused: Collection[str],
        there: frozenset[str] = frozenset(),
        progress: Progress = NOBODY,
    ) -> None:
        self._folder = folder
        self._manifest = manifest
        self._known = known
        self._refused, self._there = frozenset(refused), there
        self._back = frozenset(manifest.sessions) - self._refused
        self._progress = progress
        self._untitled: list[tuple[str, Encoded]] = []
        self._parents: list[tuple[str, str, Encoded]] = []
        """Session, column and parent, as the rows of the bundle name them."""
        self._skipped: set[tuple[str, int]] = set()
        """Lines whose key is in use, by table and number."""
        self.changed: dict[str, dict[str, Encoded]] = {}
        """By session: columns that differ from the bundle."""
        self.missing_parents: list[tuple[str, Encoded]] = []
        """Sessions whose parent was in no store when they were deleted, each with that parent."""
        self.notes: list[str] = []
        """A sentence for each thing that is not as it was."""
        self.messages = 0
        """Rows of messages that were put back."""

    def _lines(self, tables: Tables, *, without: frozenset[str]) -> Iterator[tuple[int, Line]]:
        """Yield the rows that have a place in a store with these tables, numbered, without columns it lacks."""
        out = _with_goals(without)
        for number, line in enumerate(read_lines(self._folder)):
            known = self._manifest.tables[line.table]
            if known.fate is Fate.MENTIONED or line.table not in tables.columns:
                continue
            if known.fate is Fate.TAKEN and out and self._is_out(tables, line, out):
                continue
            if known.fate is Fate.SHARED and self._refused and str(line.row.get("hash")) in self._unused:
                continue
            columns = frozenset(tables.columns[line.table])
            row = {name: value for name, value in line.row.items() if name in columns}
            yield number, Line(line.table, line.rowid, row)

    @cached_property
    def _unused(self) -> set[str]:
        """Hashes of prompts that only sessions use which are left out."""
        used: dict[bool, set[str]] = {True: set(), False: set()}
        for line in (each for each in read_lines(self._folder) if each.table == "sessions"):
            used[str(line.row["id"]) in self._back].update(str(line.row[each]) for each in prompt_columns(line.row))
        return used[False] - used[True]

    @staticmethod
    def _is_out(tables: Tables, line: Line, out: Container[str]) -> bool:
        """Tell whether a row belongs to one of these sessions."""
        names = [each.column for each in tables.references if (each.table, each.target) == (line.table, "sessions")]
        if line.table in _OWNERS:
            names = [_OWNERS[line.table]]
        return any(isinstance(owner := line.row.get(name), str) and owner in out for name in names)

    def _note_losses(self, tables: Tables) -> None:
        """Note what this store has no place for."""
        for name, known in self._manifest.tables.items():
            if known.fate is Fate.MENTIONED:
                continue
            if name not in tables.columns:
                self.notes.append(
                    _("This store has no table {table}: {count:,} rows stay in the bundle.").format(
                        table=name, count=known.rows
                    )
                )
                continue
            gone = [column for column in known.columns if column not in tables.columns[name]]
            if gone:
                self.notes.append(
                    _("This store has no {columns}: what they held stays in the bundle.").format(
                        columns=", ".join(f"{name}.{column}" for column in gone)
                    )
                )

    def insert(self, tx: Transaction) -> None:
        """Insert all rows, then restore the references to each other and from rows that stayed.

        Raises:
            RefusedError: Something has taken the place of a session or message meanwhile.
            QueryInterruptedError: It was stopped.
        """
        tables = Tables(tx)
        self._note_losses(tables)
        pending: list[Line] = []
        there, indexes = _with_goals(self._there), SearchIndexes(tx)
        for number, line in self._lines(tables, without=self._refused):
            self._progress.check()
            if there and self._is_out(tables, line, there):
                if line.table == "sessions":
                    self._without_parents(tables, line)
                continue
            if pending and (line.table != "messages" or len(pending) == _AT_ONCE):
                self._insert_messages(tx, tables, indexes, pending)  # the next row may refer to them
                pending = []
            if line.table == "messages":
                pending.append(line)
                continue
            if line.table == "sessions":  # its parent may follow later or be gone
                line = self._without_title(tx, line._replace(row=self._without_parents(tables, line)))
            if not self._insert(tx, tables, line):
                self._note_in_use(line, number)
        self._insert_messages(tx, tables, indexes, pending)
        self._number_titles(tx)
        self._restore_references(tx, tables)

    def _without_parents(self, tables: Tables, line: Line) -> dict[str, Encoded]:
        row = dict(line.row)
        for column in tables.parents:
            if row.get(column) is not None:
                self._parents.append((str(row["id"]), column, row[column]))
                row[column] = None
        return row

    def _without_title(self, tx: Transaction, line: Line) -> Line:
        """Leave out a title that another session has by now, because Hermes finds a session by it."""
        title = line.row.get("title")
        mark, value = bound(title)
        holders = tx.rows(f"SELECT id FROM sessions WHERE title = {mark}", [value]) if title is not None else []
        alike = "idx_sessions_title_unique" not in tx.schema.indexes  # then a store may hold one twice
        if not holders or (alike and all(row[0] in self._manifest.sessions for row in holders)):
            return line
        self._untitled.append((str(line.row["id"]), title))
        return line._replace(row=line.row | {"title": None})

    def _number_titles(self, tx: Transaction) -> None:
        """Renumber titles that other sessions have, now that all titles are in the store."""
        for session, title in self._untitled:
            other = _next_title(tx, title)
            changes: dict[str, Encoded] = {"title": other}
            if other is None and "title_source" in tx.schema.session_columns:
                changes["title_source"] = None  # nobody chose to have no title: Hermes may find one
            pairs = ", ".join(f"{name} = ?" for name in changes)
            tx.execute(f"UPDATE sessions SET {pairs} WHERE id = ?", [*changes.values(), session])
            self.changed.setdefault(session, {}).update(changes)
            if other is not None:
                said = _("The title of {session}, “{title}”, is another session's by now: it is “{other}” now.")
            else:
                said = _("The title of {session}, “{title}”, is another session's by now: it has none now.")
            self.notes.append(said.format(session=session, title=text_of(title), other=other))

    @staticmethod
    def _insert(tx: Transaction, tables: Tables, line: Line) -> bool:
        """Insert one row, under its own rowid where that is free; return False where its key is in use."""
        columns = [quoted(name) for name in line.row]
        marks, values = bind(line.row)
        rowid, is_column = tables.rowids[line.table]
        if line.rowid is not None and rowid and not is_column:
            in_use = tx.rows(f"SELECT 1 FROM {quoted(line.table)} WHERE {rowid} = ?", [line.rowid])
            if not in_use:
                columns, marks, values = [*columns, rowid], [*marks, "?"], [*values, line.rowid]
        # A key that is in use leaves the row out; anything else that is wrong with it must not go unseen.
        done = tx.execute(
            f"INSERT OR IGNORE INTO {quoted(line.table)} ({', '.join(columns)}) VALUES ({', '.join(marks)})", values
        )
        return done == 1

    def _note_in_use(self, line: Line, number: int) -> None:
        if line.table in ("sessions", "messages"):
            raise RefusedError(
                _("A row of {table} ({key}) does not go into this store any more. Nothing was changed.").format(
                    table=line.table, key=text_of(line.row["id"])
                )
            )
        self._skipped.add((line.table, number))
        if self._manifest.tables[line.table].fate is Fate.TAKEN:
            key = ", ".join(text_of(line.row.get(name)) or "" for name in self._manifest.tables[line.table].key)
            there = _("A row of {table} ({key}) is there again, or another one's, and was left as it is.")
            self.notes.append(there.format(table=line.table, key=key))

    def _insert_messages(self, tx: Transaction, tables: Tables, indexes: SearchIndexes, lines: Sequence[Line]) -> None:
        """Insert rows of messages, together with their place in the search indexes."""
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
            self._progress.tell(Stage("putting back", self.messages, self._manifest.messages))  # not shown
        self._undo_triggers(tx, lines)

    @staticmethod
    def _undo_triggers(tx: Transaction, lines: Sequence[Line]) -> None:
        """Set columns back that a trigger of the store filled on insert (`message_uid`, `display_order`; 0.22)."""
        columns = tuple(lines[0].row)
        marks = ",".join("?" * len(lines))
        found = tx.rows(
            f"SELECT id, {reading(columns)} FROM messages WHERE id IN ({marks})", [line.row["id"] for line in lines]
        )
        stored = {row[0]: encode_row(columns, row[1:]) for row in found}
        for line in lines:
            number = line.row["id"]
            there = stored.get(number) if isinstance(number, int) else None
            if there is None or write_line(line._replace(row=there)) == write_line(line):
                continue
            differing = {
                name: value for name, value in line.row.items() if repr(there[name]) != repr(value) and name != "id"
            }
            marked, values = bind(differing)
            pairs = ", ".join(f"{quoted(name)} = {mark}" for name, mark in zip(differing, marked, strict=True))
            tx.execute(f"UPDATE messages SET {pairs} WHERE id = ?", [*values, number])

    def _restore_references(self, tx: Transaction, tables: Tables) -> None:
        """Restore parents within the bundle, references from rows that stayed, and ties that other bundles know of."""
        for session, column, parent in self._parents:
            self._restore_parent(tx, session, column, parent)
        has_parents = _PARENT in tables.columns["sessions"]
        if has_parents:
            named = {session for session, column, _was in self._parents if column == _PARENT}
            for session in sorted(self._back - named):  # its parent was deleted before it was
                parent = self._known.parents.get(session)
                if parent is not None and _set_parent(tx, session, _PARENT, parent):
                    self.changed.setdefault(session, {})[_PARENT] = parent
        for link in self._manifest.links:
            self._restore_link(tx, tables, link)
        if has_parents:
            for child, parent in loose_children(tx, self._known, sorted(self._back)):
                if child not in self._back:
                    _set_parent(tx, child, _PARENT, parent)

    def _restore_parent(self, tx: Transaction, session: str, column: str, parent: Encoded) -> None:
        """Give a session the parent that its row names."""
        if _set_parent(tx, session, column, parent):
            return
        found = tx.rows(f"SELECT {reading([column])} FROM sessions WHERE id = ?", [session])
        now = encode_row([column], found[0])[column]
        if now is not None:  # it was there before
            if now != parent:
                self._note_elsewhere(session, parent)
            return
        self.changed.setdefault(session, {})[column] = None
        name = text_of(parent) or ""
        bundle = self._known.bundles.get(name)
        if session in self._manifest.orphans and column == _PARENT:
            self.missing_parents.append((session, parent))
        elif bundle is not None and name not in self._back:
            waiting = _(
                "{session} has no parent for now: {parent} is in the trash. Restoring {bundle} ties them together "
                "again."
            )
            self.notes.append(waiting.format(session=session, parent=name, bundle=bundle))
        else:
            gone = _("{session} has no parent: {parent}, which it names, is by now in no store.")
            self.notes.append(gone.format(session=session, parent=text_of(parent)))

    def _note_elsewhere(self, key: str, parent: Encoded) -> None:
        elsewhere = _("{key} hung on {parent} and is gone or hangs elsewhere by now.")
        self.notes.append(elsewhere.format(key=key, parent=text_of(parent)))

    def _restore_link(self, tx: Transaction, tables: Tables, link: Link) -> None:
        """Restore the reference of a row that stayed, unless it refers to something else by now."""
        columns = tables.columns.get(link.table, ())
        if link.column not in columns or not set(link.key) <= set(columns):
            return
        target = bound(link.was)
        if target[1] not in self._back and (link.table == "sessions" or target[1] in self._manifest.sessions):
            return
        where, values = _where(link.key)
        done = tx.execute(
            f"UPDATE {quoted(link.table)} SET {quoted(link.column)} = {target[0]} "
            f"WHERE {where} AND {quoted(link.column)} IS NULL",
            [target[1], *values],
        )
        if done:
            return
        there = tx.rows(
            f"SELECT {quoted(link.column)} IS {target[0]} FROM {quoted(link.table)} WHERE {where}",
            [target[1], *values],
        )
        if there and there[0][0]:  # restored before
            return
        key = ", ".join(text_of(value) or "" for value in link.key.values())
        bundle = self._known.bundles.get(key) if link.table == "sessions" and not there else None
        if bundle is not None:
            waiting = _("{key}, a child of {parent}, is in the trash. Restoring {bundle} ties them together again.")
            self.notes.append(waiting.format(key=key, parent=text_of(link.was), bundle=bundle))
        else:
            self._note_elsewhere(key, link.was)

    def check(self, reader: Reader) -> None:
        """Read every row back and compare it with the bundle, value for value and class for class.

        Raises:
            WriteUnverifiedError: With the first row that differs.
        """
        tables = Tables(reader)
        for number, line in self._lines(tables, without=self._refused | self._there):
            if (line.table, number) in self._skipped:
                continue
            if line.table == "sessions":
                line = line._replace(row=line.row | self.changed.get(str(line.row["id"]), {}))
            columns = tuple(line.row)
            where, values = _where({name: line.row[name] for name in tables.keys[line.table] or columns})
            found = reader.rows(f"SELECT {reading(columns)} FROM {quoted(line.table)} WHERE {where}", values)
            wanted = write_line(line)
            if not any(write_line(line._replace(row=encode_row(columns, each))) == wanted for each in found):
                key = ", ".join(text_of(line.row[name]) or "" for name in tables.keys[line.table])
                raise WriteUnverifiedError(
                    _("A row of {table} ({key}) does not read back as it stands in the bundle.").format(
                        table=line.table, key=key
                    ),
                    remedy=_("The bundle stays in the trash."),
                )


def _set_parent(tx: Transaction, session: str, column: str, parent: Encoded) -> bool:
    """Name a parent that is in the store where there is none; return False where nothing was done."""
    mark, value = bound(parent)
    done = tx.execute(
        f"UPDATE sessions SET {quoted(column)} = {mark} WHERE id = ? AND {quoted(column)} IS NULL "
        f"AND EXISTS (SELECT 1 FROM sessions p WHERE p.id = {mark})",
        [value, session, value],
    )
    return done == 1


def _where(key: Mapping[str, Encoded]) -> tuple[str, list[object]]:
    """Return SQL and values that find a row by some columns."""
    marks, values = bind(key)
    return " AND ".join(f"{quoted(name)} IS {mark}" for name, mark in zip(key, marks, strict=True)), values


def _with_goals(sessions: frozenset[str]) -> frozenset[str]:
    """Add the keys of what sessions were told to pursue to their ids."""
    return sessions | {f"goal:{session}" for session in sessions}


def _next_title(tx: Transaction, title: Encoded) -> str | None:
    """Return the next `title #n`, as Hermes numbers them (0.13 to 0.22); None where that would be too long for it."""
    if not isinstance(title, str):
        return None
    numbered = _NUMBERED.match(title)
    start = f"{numbered[1] if numbered else title} #"
    rows = tx.rows("SELECT title FROM sessions WHERE substr(title, 1, ?) = ?", [len(start), start])
    numbers = [int(found[2]) for found in (_NUMBERED.match(str(row[0])) for row in rows) if found]
    tried = f"{start}{max(numbers, default=1) + 1}"
    return tried if len(tried) <= _LONGEST_TITLE else None
