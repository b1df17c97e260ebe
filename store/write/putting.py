"""The rows of a bundle on their way into a store: what goes where, what has changed there since, what is left out."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from pathlib import Path

from ..errors import QueryInterruptedError, RefusedError
from ..trash.bundle import read_lines
from ..trash.kin import Known
from ..trash.layout import Fate, Tables
from ..trash.manifest import Manifest
from ..trash.slices import never
from ..trash.stages import EVERY, Stage, Tell, quiet
from ..trash.values import Encoded, Line, bind, bound, encode_row, quoted, reading, text_of, write_line
from ..wording import _
from .indexing import Indexing
from .tying import Tying
from .unit import Unit

_AT_ONCE = 100
_LONGEST_TITLE = 100
"""Code points; Hermes takes no longer one (0.13 to 0.22)."""
_OWNERS = {"sessions": "id", "messages": "session_id", "state_meta": "key"}
"""The column that says whose a row is; for other tables their foreign keys do."""
_NUMBERED = re.compile(r"^(.*?) #(\d{1,9})$", re.DOTALL)


class Putting:
    """One bundle being put back.

    Args:
        folder: Of the bundle.
        manifest: Of the same bundle.
        known: What the trash knows of the family of its sessions.
        refused: Sessions to leave out, with reasons.
        there: Sessions that are in the store as the bundle has them: only their ties may be missing.
        stop: Looked at between rows.
        tell: Is told how far it is.
    """

    def __init__(
        self,
        folder: Path,
        manifest: Manifest,
        known: Known,
        refused: Mapping[str, str],
        there: frozenset[str] = frozenset(),
        stop: Callable[[], bool] = never,
        tell: Tell = quiet,
    ) -> None:
        self._folder = folder
        self._manifest = manifest
        self._known = known
        self._refused = frozenset(refused)
        self._there = there
        self._stop, self._tell = stop, tell
        self._untitled: list[tuple[str, Encoded]] = []
        self._parents: tuple[str, ...] = ()
        self._skipped: set[tuple[str, int]] = set()
        """Lines that found their place taken, by table and number."""
        self.changed: dict[str, dict[str, Encoded]] = {}
        """By session: columns that are not what they were."""
        self.dangling: list[tuple[str, Encoded]] = []
        """Sessions whose parent was in no store when they went, with the parent they name: see `dangling.py`."""
        self.notes: list[str] = []
        """A sentence for all that is not as it was."""
        self.messages = 0
        """Rows of messages that are put back."""

    def lines(self, tables: Tables, *, without: frozenset[str]) -> Iterator[tuple[int, Line]]:
        """The rows that belong into a store with these tables, without columns it lacks; numbered.

        Args:
            tables: Of the store.
            without: Sessions whose rows are left out.
        """
        out = _with_goals(without)
        for number, line in enumerate(read_lines(self._folder)):
            known = self._manifest.tables[line.table]
            if known.fate is Fate.MENTIONED or line.table not in tables.columns:
                continue
            if known.fate is Fate.TAKEN and out and self._is_out(tables, line, out):
                continue
            columns = frozenset(tables.columns[line.table])
            row = {name: value for name, value in line.row.items() if name in columns}
            yield number, Line(line.table, line.rowid, row)

    @staticmethod
    def _is_out(tables: Tables, line: Line, out: Container[str]) -> bool:
        """Whether a row belongs to a session that is left out."""
        names = [each.column for each in tables.references if (each.table, each.target) == (line.table, "sessions")]
        if line.table in _OWNERS:
            names = [_OWNERS[line.table]]
        return any(isinstance(owner := line.row.get(name), str) and owner in out for name in names)

    def _note_losses(self, tables: Tables) -> None:
        """What this store has no place for."""
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

    def run(self, unit: Unit) -> None:
        """Insert all rows, then tie them to each other and to what stayed.

        Raises:
            RefusedError: Something took the place of a session or message meanwhile.
        """
        tables = Tables(unit)
        self._parents = tuple(
            sorted(
                {each.column for each in tables.references if each.table == each.target == "sessions"}
                | ({"parent_session_id"} & set(tables.columns["sessions"]))
            )
        )
        self._note_losses(tables)
        parents: list[tuple[str, str, Encoded]] = []
        pending: list[Line] = []
        there = _with_goals(self._there)
        indexing = Indexing(unit)
        for number, line in self.lines(tables, without=self._refused):
            if self._stop():
                raise QueryInterruptedError(_("Stopped; nothing was changed."))
            if there and self._is_out(tables, line, there):
                if line.table == "sessions":
                    self._without_parents(line, parents)
                continue
            if pending and (line.table != "messages" or len(pending) == _AT_ONCE):
                self._insert_messages(unit, tables, indexing, pending)  # what comes next may refer to them
                pending = []
            if line.table == "messages":
                pending.append(line)
            elif not self._insert(unit, tables, self._adapted(unit, line, parents)):
                self._was_taken(line, number)
        self._insert_messages(unit, tables, indexing, pending)
        self._number_titles(unit)
        back = frozenset(self._manifest.sessions) - self._refused
        tying = Tying(unit, tables, self._manifest, self._known, back)
        tying.run(parents)
        for session, changes in tying.changed.items():
            self.changed.setdefault(session, {}).update(changes)
        self.dangling += tying.dangling
        self.notes += tying.notes

    def _adapted(self, unit: Unit, line: Line, parents: list[tuple[str, str, Encoded]]) -> Line:
        """A row of sessions with no parent yet, for that may come later or be gone, and with no title of another."""
        if line.table != "sessions":
            return line
        return self._without_title(unit, line._replace(row=self._without_parents(line, parents)))

    def _without_parents(self, line: Line, parents: list[tuple[str, str, Encoded]]) -> dict[str, Encoded]:
        row = dict(line.row)
        for column in self._parents:
            if row.get(column) is not None:
                parents.append((str(row["id"]), column, row[column]))
                row[column] = None
        return row

    def _without_title(self, unit: Unit, line: Line) -> Line:
        """The row without a title that is another session's by now: Hermes finds a session by it."""
        title = line.row.get("title")
        mark, value = bound(title)
        holders = unit.rows(f"SELECT id FROM sessions WHERE title = {mark}", [value]) if title is not None else []
        alike = "idx_sessions_title_unique" not in unit.schema.indexes  # then a store may hold one twice
        if not holders or (alike and all(row[0] in self._manifest.sessions for row in holders)):
            return line
        self._untitled.append((str(line.row["id"]), title))
        return line._replace(row=line.row | {"title": None})

    def _number_titles(self, unit: Unit) -> None:
        """Give sessions whose title is another's the next number, now that all titles are in the store."""
        for session, title in self._untitled:
            other = _next_title(unit, title)
            changes: dict[str, Encoded] = {"title": other}
            if other is None and "title_source" in unit.schema.session_columns:
                changes["title_source"] = None  # nobody chose to have none: Hermes may find one
            pairs = ", ".join(f"{name} = ?" for name in changes)
            unit.execute(f"UPDATE sessions SET {pairs} WHERE id = ?", [*changes.values(), session])
            self.changed.setdefault(session, {}).update(changes)
            if other is not None:
                said = _("The title of {session}, “{title}”, is another session's by now: it is “{other}” now.")
            else:
                said = _("The title of {session}, “{title}”, is another session's by now: it has none now.")
            self.notes.append(said.format(session=session, title=text_of(title), other=other))

    @staticmethod
    def _insert(unit: Unit, tables: Tables, line: Line) -> bool:
        """Insert one row under its own rowid where that is free; False where its key is taken."""
        columns = [quoted(name) for name in line.row]
        marks, values = bind(line.row)
        rowid, is_column = tables.rowids[line.table]
        if line.rowid is not None and rowid and not is_column:
            taken = unit.rows(f"SELECT 1 FROM {quoted(line.table)} WHERE {rowid} = ?", [line.rowid])
            if not taken:
                columns, marks, values = [*columns, rowid], [*marks, "?"], [*values, line.rowid]
        # A key that is taken leaves the row out; all else that is wrong with it must not go unseen.
        done = unit.execute(
            f"INSERT OR IGNORE INTO {quoted(line.table)} ({', '.join(columns)}) VALUES ({', '.join(marks)})", values
        )
        return done == 1

    def _was_taken(self, line: Line, number: int) -> None:
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

    def _insert_messages(self, unit: Unit, tables: Tables, indexing: Indexing, lines: Sequence[Line]) -> None:
        """Insert rows of messages that belong together."""
        if not lines:
            return
        ids = [line.row["id"] for line in lines]
        indexing.before_insert(ids)
        for line in lines:
            if not self._insert(unit, tables, line):
                self._was_taken(line, 0)
        indexing.after_insert(ids)
        self.messages += len(lines)
        if self.messages % EVERY < len(lines):
            self._tell(Stage("putting back", self.messages, self._manifest.messages))  # not shown
        self._undo_triggers(unit, lines)

    @staticmethod
    def _undo_triggers(unit: Unit, lines: Sequence[Line]) -> None:
        """Put back columns that a trigger of the store filled on insert (`message_uid`, `display_order`; 0.22)."""
        columns = tuple(lines[0].row)
        marks = ",".join("?" * len(lines))
        found = unit.rows(
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
            unit.execute(f"UPDATE messages SET {pairs} WHERE id = ?", [*values, number])

    def expected(self, tables: Tables) -> Iterator[Line]:
        """The rows that were put back, as they must stand in the store now."""
        for number, line in self.lines(tables, without=self._refused | self._there):
            if (line.table, number) in self._skipped:
                continue
            changes = self.changed.get(str(line.row.get("id"))) if line.table == "sessions" else None
            yield line._replace(row=line.row | changes) if changes else line


def _with_goals(sessions: frozenset[str]) -> frozenset[str]:
    """Ids of sessions, and the keys of what they were told to pursue."""
    return sessions | {f"goal:{session}" for session in sessions}


def _next_title(unit: Unit, title: Encoded) -> str | None:
    """The next `title #n`, as Hermes numbers them (0.13 to 0.22); None where that would be too long for it."""
    if not isinstance(title, str):
        return None
    numbered = _NUMBERED.match(title)
    start = f"{numbered[1] if numbered else title} #"
    rows = unit.rows("SELECT title FROM sessions WHERE substr(title, 1, ?) = ?", [len(start), start])
    numbers = [int(found[2]) for found in (_NUMBERED.match(str(row[0])) for row in rows) if found]
    tried = f"{start}{max(numbers, default=1) + 1}"
    return tried if len(tried) <= _LONGEST_TITLE else None
