"""The statements of a restore: compare the rows of a bundle with a store, and insert them.

The store is `main`, the bundle is attached as `bundle`. `temp.wanted` has the sessions that the
store is to have in the end, `temp.chosen` those of one transaction.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ..connection.reader import Reader
from ..connection.schema import sql_name
from ..connection.stored_values import as_int
from ..errors import RefusedError, WriteUnverifiedError
from ..text import as_text
from ..trash.progress import EVERY, Progress
from ..trash.tables import (
    PARENT,
    Part,
    Table,
    differs,
    equal,
    find_layout,
    names_of,
)
from ..wording import _
from .delete_rows import attach, choose
from .titles import LONGEST_TITLE
from .transaction import Writer

_NUMBERED = re.compile(r"^(.*?) #(\d{1,9})$", re.DOTALL)
_FILLED = ("message_uid", "display_order")
"""Columns of messages that Hermes' triggers fill on insert if they are NULL (0.22)."""
_STRICT = ("sessions", "messages")
"""Tables whose rows are inserted all or none."""
WANTED = "SELECT id FROM temp.wanted"


class Comparison(NamedTuple):
    """The wanted sessions of a bundle compared with a store."""

    refused: dict[str, str]
    """Those that cannot be restored, each with the reason."""
    there: frozenset[str]
    """Those in the store as the bundle has them, as after an interrupted restore."""
    file_owners: frozenset[str]
    """Those with all their messages in the store, changed since or not: the files belong to
    them."""
    messages: Mapping[str, int]
    """Number of messages of each session in the bundle."""


class RestoredRows:
    """The rows of a bundle that a store has a place for, and what became of them."""

    def __init__(self, tx: Writer, path: Path, progress: Progress) -> None:
        attach(tx, path)
        self._path, self._progress = path, progress
        saved = dict(_bundle_tables(tx))
        self._layout = find_layout(tx.rows, saved["sessions"])
        self._columns: dict[str, list[str]] = {}
        """By table, the columns that both have."""
        self.notes: list[str] = []
        """A sentence for each difference from the bundle."""
        self._left: dict[str, int] = {}
        """By table, how many rows of the last transaction the store does not have alike."""
        for name, columns in saved.items():
            self._compare_columns(tx, name, columns)
        self._parts = [part for part in self._layout.parts if part.table.name in self._columns]
        self.written = {part.table.name for part in self._parts}
        """Tables that are written to."""
        self.has_parents = self._layout.has_parents
        """Whether the store has a column for parents."""
        self.had_parents = PARENT in self._columns["sessions"]
        """Whether the bundle has one as well."""

    def _compare_columns(self, tx: Writer, name: str, saved: Sequence[str]) -> None:
        table = self._layout.tables.get(name)
        known = table.columns if table is not None else ()
        missing = [f"{name}.{column}" for column in saved if column not in known]
        count = as_int(tx.rows(f"SELECT count(*) FROM bundle.{sql_name(name)}")[0][0])
        if table is None and count:
            lost = _("This store has no table {table}: {count:,} rows stay in the trash.")
            self.notes.append(lost.format(table=name, count=count))
        elif missing and count:
            lost = _("This store has no {columns}: what they held stays in the trash.")
            self.notes.append(lost.format(columns=", ".join(missing)))
        if table is not None:
            self._columns[name] = [column for column in saved if column in known]

    def _same(self, table: Table) -> str:
        """Return SQL for whether rows `m` and `b` agree, apart from links, and from titles that
        another session has by now."""
        columns = self._columns[table.name]
        if table.name != "sessions":
            return equal(columns)
        titles = [column for column in ("title", "title_source") if column in columns]
        same = equal(column for column in columns if column not in (*titles, PARENT))
        taken = "SELECT 1 FROM main.sessions AS o WHERE o.title = b.title AND o.id IS NOT b.id"
        for column in titles:
            same += f" AND (NOT {differs(column)} OR EXISTS ({taken}))"
        return same

    # Comparing

    def compare(self, tx: Writer, sessions: Collection[str]) -> Comparison:
        """Compare some sessions of the bundle with those of the store."""
        choose(tx, sorted(sessions), "wanted")
        owner, messages = self._layout.tables["sessions"], self._layout.tables["messages"]
        both = (
            f"{messages.bundle} JOIN {messages.main} ON {messages.join} WHERE b.session_id = owner"
        )
        found = tx.rows(
            "SELECT owner, is_present, is_same, "
            f"(SELECT count(*) FROM {messages.bundle} WHERE b.session_id = owner), "
            f"(SELECT count(*) FROM {messages.main} WHERE m.session_id = owner), "
            f"(SELECT count(*) FROM {both} AND {self._same(messages)}), "
            f"(SELECT min(b.id) FROM {both}) "
            f"FROM (SELECT b.id AS owner, m.id IS NOT NULL AS is_present, {self._same(owner)} AS is_same "
            f"FROM {owner.bundle} LEFT JOIN {owner.main} ON m.id = b.id WHERE b.id IN ({WANTED})) "
            "ORDER BY owner"
        )
        refused: dict[str, str] = {}
        there, owners, counts = set[str](), set[str](), dict[str, int]()
        for session, is_present, is_same, *numbers, taken in found:
            expected, stored, alike = map(as_int, numbers)
            name, is_complete = str(session), alike == expected
            counts[name] = expected
            if is_present and is_same and is_complete and stored == expected:
                there.add(name)
            elif is_present and is_complete and expected:
                refused[name] = _("it is in the store, and has changed since it went to the trash")
                owners.add(name)
            elif is_present:
                refused[name] = _("a session of that id is in the store")
            elif taken is not None:
                refused[name] = _("message {id} is another one's by now", id=taken)
        return Comparison(refused, frozenset(there), frozenset(owners | there), counts)

    def check(self, reader: Reader, sessions: Sequence[str]) -> None:
        """Compare each value and storage class of restored rows with the bundle.

        Raises:
            WriteUnverifiedError: A row differs.
        """
        attach(reader, self._path)
        chosen = "WITH chosen AS (SELECT id FROM bundle.sessions WHERE id IN ({keys}))"
        for part in self._parts:
            unlike = f"{chosen} {part.table.unlike(part.where('b'), self._same(part.table))}"
            rows = reader.rows_in(unlike, sessions)
            if len(rows) > self._left.get(part.table.name, 0):
                raise WriteUnverifiedError(
                    _(
                        "A row of {table} ({key}) differs from the deletion after it was written.",
                        table=part.table.name,
                        key=_named(rows[-1]),
                    ),
                    remedy=_("The deletion stays in the trash."),
                )

    # Inserting

    def insert(self, tx: Writer) -> None:
        """Insert the rows of the chosen sessions.

        Raises:
            RefusedError: A row cannot be stored without a loss.
            QueryInterruptedError: It was stopped.
        """
        tx.execute("CREATE TEMP TABLE IF NOT EXISTS untitled (id, title)")
        tx.execute("DELETE FROM temp.untitled")
        if "title" in self._columns["sessions"]:
            _choose_titles(tx)
        for part in self._parts:
            for rows in self._slices(tx, part):
                self._progress.check()
                count = self._insert(tx, part.table, rows)
                if part.table.name == "messages":
                    self._empty_filled(tx, part.table, rows)
                    self._progress.add(count)
            if part.table.name not in _STRICT:
                self._note_left(tx, part)
        self._cut_missing_parents(tx)
        self._check_references(tx)
        self.notes += _renumber_titles(tx)

    def _slices(self, tx: Writer, part: Part) -> Iterator[str]:
        """Yield conditions for the rows of a part; for messages, of 500 each."""
        if part.table.name != "messages":
            yield part.where("b")
            return
        tx.execute("CREATE TEMP TABLE IF NOT EXISTS picked (n INTEGER PRIMARY KEY, id)")
        tx.execute("DELETE FROM temp.picked")
        total = tx.execute(
            f"INSERT INTO temp.picked (id) SELECT b._rowid_ FROM {part.table.bundle} "
            f"WHERE {part.where('b')} ORDER BY 1"
        )
        for first in range(1, total + 1, EVERY):
            picked = f"SELECT id FROM temp.picked WHERE n BETWEEN {first} AND {first + EVERY - 1}"
            yield f"b._rowid_ IN ({picked})"

    def _insert(self, tx: Writer, table: Table, rows: str) -> int:
        columns, name = self._columns[table.name], sql_name(table.name)
        verb = "INSERT" if table.name in _STRICT else "INSERT OR IGNORE"
        values = [f"b.{sql_name(column)}" for column in columns]
        if table.name == "sessions" and "title" in columns:
            untitled = "b.id IN (SELECT id FROM temp.untitled)"
            values[columns.index("title")] = f"CASE WHEN {untitled} THEN NULL ELSE b.title END"
        into, order = names_of(columns), "1"
        if table.has_hidden_rowid:
            # Under its own rowid if that is free; those that need another come last.
            in_use = f"EXISTS (SELECT 1 FROM main.{name} AS x WHERE x._rowid_ = b._rowid_)"
            into = f"_rowid_, {into}"
            values.insert(0, f"CASE WHEN {in_use} THEN NULL ELSE b._rowid_ END")
            order = f"{in_use}, b._rowid_"
        return tx.execute(
            f"{verb} INTO main.{name} ({into}) SELECT {', '.join(values)} "
            f"FROM {table.bundle} WHERE {rows} ORDER BY {order}"
        )

    def _empty_filled(self, tx: Writer, table: Table, rows: str) -> None:
        """Empty the columns that a trigger of the store filled on insert."""
        filled = [column for column in _FILLED if column in self._columns["messages"]]
        if filled:
            saved = f"SELECT {names_of(filled, 'b.')} FROM {table.bundle} WHERE b.id = m.id"
            different = " OR ".join(map(differs, filled))
            both = f"{table.bundle} JOIN {table.main} ON {table.join}"
            tx.execute(
                f"UPDATE {table.main} SET ({names_of(filled)}) = ({saved}) "
                f"WHERE id IN (SELECT b.id FROM {both} WHERE {rows} AND ({different}))"
            )

    def _note_left(self, tx: Writer, part: Part) -> None:
        """Name the rows whose key is in use, or that a newer Hermes wants another column of."""
        rows = tx.rows(part.table.unlike(part.where("b"), self._same(part.table)))
        self._left[part.table.name] = len(rows)
        if not part.is_shared:
            note = _(
                "A row of {table} ({key}) exists already, or cannot be stored here, and was left alone."
            )
            self.notes += [note.format(table=part.table.name, key=_named(row)) for row in rows]

    def _cut_missing_parents(self, tx: Writer) -> None:
        """Clear parents that are not in the store, unless they were missing before the delete."""
        if self.had_parents:
            (parent,) = (
                key for key in self._layout.references_of("sessions") if key.column == PARENT
            )
            missing = f"SELECT id FROM bundle.sessions WHERE _rowid_ IN ({parent.was_dangling})"
            tx.execute(
                f"UPDATE main.sessions AS m SET {PARENT} = NULL WHERE id IN (SELECT id FROM chosen) "
                f"AND {parent.dangling('m')} AND id NOT IN ({missing})"
            )

    def _check_references(self, tx: Writer) -> None:
        """Refuse what leads nowhere now and did not before: foreign keys are off."""
        for part in self._parts:
            for key in self._layout.references_of(part.table.name):
                if key.column == PARENT or key.column not in self._columns[part.table.name]:
                    continue
                if tx.rows(
                    f"SELECT 1 FROM {part.table.bundle} WHERE {part.where('b')} "
                    f"AND {key.dangling('b')} AND b._rowid_ NOT IN ({key.was_dangling}) LIMIT 1"
                ):
                    raise RefusedError(
                        _(
                            "Rows of {table} refer to rows of {target} that are not in this store.",
                            table=key.table,
                            target=key.target,
                        ),
                        is_unchanged=True,
                    )


def _bundle_tables(tx: Writer) -> Iterator[tuple[str, list[str]]]:
    """Yield name and columns of those tables of the bundle that are from the store."""
    for (name,) in tx.rows("SELECT name FROM bundle.sqlite_master WHERE type = 'table'"):
        if not str(name).startswith(("bundle", "cleared ", "schema_version")):
            info = tx.rows(f"PRAGMA bundle.table_info({sql_name(str(name))})")
            yield str(name), [str(row[1]) for row in info]


def _named(key: Sequence[object]) -> str:
    return ", ".join(as_text(value) or "" for value in key)


def _choose_titles(tx: Writer) -> None:
    """Find the titles that other sessions have by now: Hermes looks sessions up by title."""
    taken = "SELECT 1 FROM main.sessions AS o WHERE o.title = b.title"
    if "idx_sessions_title_unique" in tx.schema.indexes:
        taken += (
            " UNION ALL SELECT 1 FROM bundle.sessions AS o WHERE o.title = b.title "
            "AND o._rowid_ < b._rowid_ AND o.id IN (SELECT id FROM chosen)"
        )
    else:
        taken += " AND o.id NOT IN (SELECT id FROM bundle.sessions)"
    tx.execute(
        "INSERT INTO temp.untitled SELECT b.id, b.title FROM bundle.sessions AS b "
        f"WHERE b.id IN (SELECT id FROM chosen) AND EXISTS ({taken})"
    )


def _renumber_titles(tx: Writer) -> Iterator[str]:
    """Number the titles that other sessions have, now that all titles are in the store; yield a
    sentence for each."""
    for session, title in tx.rows("SELECT id, title FROM temp.untitled"):
        numbered = _next_title(tx, title)
        tx.execute("UPDATE main.sessions SET title = ? WHERE id = ?", [numbered, session])
        note = _(
            "The title of {session}, “{title}”, is another session's by now: it is “{other}” now."
        )
        if numbered is None:
            note = _(
                "The title of {session}, “{title}”, is another session's by now: it has none now."
            )
            if "title_source" in tx.schema.session_columns:
                # Not a person's choice: Hermes may choose a title.
                tx.execute("UPDATE main.sessions SET title_source = NULL WHERE id = ?", [session])
        yield note.format(session=session, title=as_text(title), other=numbered)


def _next_title(tx: Writer, title: object) -> str | None:
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
