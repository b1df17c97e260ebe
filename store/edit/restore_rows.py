"""The statements of a restore: compare the rows of a bundle with a store, and insert them.

The store is `main`, the bundle is attached as `bundle`. `temp.wanted` has the sessions that the
store is to have in the end, `temp.chosen` those of one transaction.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path

from ..connection.reader import Reader, chunks
from ..connection.schema import sql_name
from ..connection.stored_values import as_int
from ..errors import RefusedError, WriteUnverifiedError
from ..progress import EVERY, Progress
from ..text import text_of
from ..trash.bundle import BundleDamagedError, attach, choose
from ..trash.tables import (
    LINK,
    Table,
    differs,
    equal,
    find_layout,
    names_of,
    read_tables,
)
from ..wording import _
from .flags import LONGEST_TITLE
from .guards import check_triggers
from .transaction import Writer

_NUMBER = re.compile(r" #\d{1,9}$")
_FILLED = ("message_uid", "display_order")
"""Columns of messages that Hermes' triggers fill on insert if they are NULL (0.22)."""
_OF_BUNDLE = ("bundle", "cleared ", "schema_version")
"""How the names of those tables of a bundle begin that are not rows of sessions."""
_STRICT = ("sessions", "messages")
"""Tables whose rows are inserted all or none."""


class RestoredRows:
    """The rows of a bundle that a store has a place for, and what became of them."""

    def __init__(
        self, tx: Writer, path: Path, sessions: Collection[str], progress: Progress
    ) -> None:
        attach(tx.rows, path)
        self._path, self.progress = path, progress
        self.refused: dict[str, str] = {}
        """Sessions that cannot be restored, each with the reason."""
        self.present: set[str] = set()
        """Those in the store as the bundle has them, as after an interrupted restore."""
        self.messages: dict[str, int] = {}
        """Number of messages of each session in the bundle."""
        saved = {
            name: table
            for name, table in read_tables(tx.rows, "bundle").items()
            if not name.startswith(_OF_BUNDLE)
        }
        self._layout = find_layout(tx.rows, saved)
        self.notes = list(_differences(tx, saved, self._layout.tables))
        """A sentence for each difference from the bundle."""
        check_triggers(tx.rows, [table.name for table in self._layout.owned])
        self._compare(tx, sessions)

    def _same(self, table: Table) -> str:
        """Return SQL for whether rows `m` and `b` agree, apart from links, and from titles that
        another session has by now."""
        if table.name != "sessions":
            return equal(table.columns)
        same = equal(
            column for column in table.columns if column not in ("title", "parent_session_id")
        )
        taken = "SELECT 1 FROM main.sessions AS o WHERE o.title = b.title AND o.id IS NOT b.id"
        return f"{same} AND (NOT {differs('title')} OR EXISTS ({taken}))"

    # Comparing

    def _compare(self, tx: Writer, sessions: Collection[str]) -> None:
        """Find out which sessions of the bundle are in the store already, and which cannot be
        restored; count their messages. `temp.wanted` then holds all of them.

        Raises:
            BundleDamagedError: It has no row of one of them.
        """
        choose(tx.rows, sorted(sessions), "wanted")
        owner, messages = (self._same(self._layout.tables[name]) for name in _STRICT)
        both = (
            "FROM bundle.messages AS b JOIN main.messages AS m ON m.id IS b.id "
            "WHERE b.session_id = owner"
        )
        for id, expected, is_present, is_alike, taken in tx.rows(
            "SELECT owner, expected, is_present, is_same "
            "AND (SELECT count(*) FROM main.messages AS m WHERE m.session_id = owner) = expected "
            f"AND (SELECT count(*) {both} AND {messages}) = expected, "
            f"(SELECT min(b.id) {both}) "
            f"FROM (SELECT b.id AS owner, m.id IS NOT NULL AS is_present, {owner} AS is_same, "
            "(SELECT count(*) FROM bundle.messages AS x WHERE x.session_id = b.id) AS expected "
            "FROM bundle.sessions AS b LEFT JOIN main.sessions AS m ON m.id = b.id "
            "WHERE b.id IN (SELECT id FROM temp.wanted)) ORDER BY owner"
        ):
            session = str(id)
            self.messages[session] = as_int(expected)
            if is_present and is_alike:
                self.present.add(session)
            elif is_present:
                self.refused[session] = _("it is in the store, and differs from the deletion")
            elif taken is not None:
                self.refused[session] = _("message {id} is another one's by now", id=taken)
        if self.messages.keys() != set(sessions):
            raise BundleDamagedError(_("Its facts are broken."))

    def check(self, reader: Reader, sessions: Sequence[str]) -> None:
        """Compare each value and storage class of restored rows with the bundle; note the rows of
        other tables that are left: their key is in use, or a newer Hermes wants another column.

        Raises:
            WriteUnverifiedError: A session or a message differs.
        """
        attach(reader.rows, self._path)
        chosen = "WITH chosen AS (SELECT id FROM bundle.sessions WHERE id IN ({keys}))"
        for table in self._layout.taken:
            unlike = f"{chosen} {table.unlike(table.saved, self._same(table))}"
            for row in reader.rows_in(unlike, sessions):
                key = ", ".join(map(text_of, row))
                if table.name in _STRICT:
                    raise WriteUnverifiedError(
                        _(
                            "A row of {table} ({key}) differs from the deletion after it was written.",
                            table=table.name,
                            key=key,
                        ),
                        remedy=_("The deletion stays in the trash."),
                    )
                self.notes.append(
                    _(
                        "A row of {table} ({key}) exists already, or cannot be stored here, and was left alone.",
                        table=table.name,
                        key=key,
                    )
                )

    # Inserting

    def insert_chosen(self, tx: Writer) -> None:
        """Insert the rows of the chosen sessions, and note titles that had to be numbered.

        Parents that are not in the store are cleared, unless they were missing before the delete.
        Columns that a trigger fills are emptied as they were.

        Raises:
            RefusedError: A row cannot be stored without a loss.
            QueryInterruptedError: It was stopped.
        """
        for table in self._layout.owned:
            for rows in _slices(tx, table):
                self.progress.check()
                count = _insert_rows(tx, table, rows)
                if table.name == "messages":
                    _empty_filled(tx, table, rows)
                    self.progress.add(count)
        missing = f"SELECT id FROM bundle.sessions WHERE _rowid_ IN ({LINK.was_dangling})"
        tx.execute(
            "UPDATE main.sessions AS m SET parent_session_id = NULL "
            "WHERE id IN (SELECT id FROM chosen) "
            "AND parent_session_id IS NOT NULL AND NOT EXISTS "
            "(SELECT 1 FROM main.sessions AS t WHERE t.id = m.parent_session_id) "
            f"AND id NOT IN ({missing})"
        )
        self._check_references(tx)
        self.notes += _set_titles(tx)

    def _check_references(self, tx: Writer) -> None:
        """Refuse what leads nowhere now and did not before: foreign keys are off."""
        for table in self._layout.owned:
            for key in table.references:
                if key != LINK and tx.rows(
                    f"SELECT 1 FROM {table.bundle} WHERE {table.saved} "
                    f"AND {key.dangling} AND b._rowid_ NOT IN ({key.was_dangling}) LIMIT 1"
                ):
                    raise RefusedError(
                        _(
                            "Rows of {table} refer to rows of {target} that are not in this store.",
                            table=key.table,
                            target=key.target,
                        )
                    )


def _differences(
    tx: Writer, saved: Mapping[str, Table], tables: Mapping[str, Table]
) -> Iterator[str]:
    """Yield a sentence for the columns of each table of a bundle that a store lacks, if it has
    rows."""
    for name, table in saved.items():
        missing = [name]
        if name in tables:
            known = tables[name].columns
            missing = [f"{name}.{each}" for each in table.columns if each not in known]
        if missing and tx.rows(f"SELECT 1 FROM bundle.{sql_name(name)} LIMIT 1"):
            yield _(
                "This store has no {names}: what the deletion has of that stays in the trash.",
                names=", ".join(missing),
            )


def _slices(tx: Writer, table: Table) -> Iterator[str]:
    """Yield conditions on rows `b` that each select at most `EVERY` of these rows."""
    ids = f"SELECT b._rowid_ FROM {table.bundle} WHERE {table.saved} ORDER BY 1"
    for some in chunks(tx.rows(ids), EVERY):
        yield f"b._rowid_ IN ({', '.join(str(id) for (id,) in some)})"


def _insert_rows(tx: Writer, table: Table, rows: str) -> int:
    name = sql_name(table.name)
    verb = "INSERT" if table.name in _STRICT else "INSERT OR IGNORE"
    # Titles are set when all rows are there.
    columns = [each for each in table.columns if (table.name, each) != ("sessions", "title")]
    into, values, order = names_of(columns), names_of(columns, "b."), "1"
    if table.has_hidden_rowid:
        # Under its own rowid if that is free; those that need another come last.
        in_use = f"EXISTS (SELECT 1 FROM main.{name} AS x WHERE x._rowid_ = b._rowid_)"
        into = f"_rowid_, {into}"
        values = f"CASE WHEN {in_use} THEN NULL ELSE b._rowid_ END, {values}"
        order = f"{in_use}, b._rowid_"
    return tx.execute(
        f"{verb} INTO main.{name} ({into}) SELECT {values} "
        f"FROM {table.bundle} WHERE {rows} ORDER BY {order}"
    )


def _empty_filled(tx: Writer, messages: Table, rows: str) -> None:
    """Empty the columns that a trigger of the store filled on insert."""
    filled = [column for column in _FILLED if column in messages.columns]
    if filled:
        different = " OR ".join(map(differs, filled))
        tx.execute(
            f"UPDATE main.messages AS m SET ({names_of(filled)}) = "
            f"(SELECT {names_of(filled, 'b.')} FROM bundle.messages AS b WHERE b.id = m.id) "
            "WHERE id IN (SELECT b.id FROM bundle.messages AS b JOIN main.messages AS m "
            f"ON m.id IS b.id WHERE {rows} AND ({different}))"
        )


def _set_titles(tx: Writer) -> Iterator[str]:
    """Set the titles of the chosen sessions, and number those that other sessions have by now:
    Hermes looks sessions up by title. Yield a sentence for each.

    A unique index, which nearly all stores have, ignores them in the first statement."""
    title = "SELECT b.title FROM bundle.sessions AS b WHERE b.id = sessions.id"
    tx.execute(
        f"UPDATE OR IGNORE main.sessions SET title = ({title}) WHERE id IN (SELECT id FROM chosen)"
    )
    for session, stored in tx.rows(
        "SELECT b.id, b.title FROM bundle.sessions AS b JOIN main.sessions AS m ON m.id = b.id "
        "WHERE b.id IN (SELECT id FROM chosen) AND (m.title IS NOT b.title OR EXISTS ("
        "SELECT 1 FROM main.sessions AS o WHERE o.title = b.title AND o.id IS NOT b.id "
        "AND (o._rowid_ < m._rowid_ OR o.id NOT IN (SELECT id FROM chosen))))"
    ):
        wanted = text_of(stored)
        numbered = _next_title(tx, wanted)
        tx.execute("UPDATE main.sessions SET title = ? WHERE id = ?", [numbered, session])
        yield _(
            "The title of {session}, “{title}”, is another session's by now: it is “{other}” now.",
            session=session,
            title=wanted,
            other=numbered,
        )


def _next_title(tx: Writer, title: str) -> str:
    """Return the first free `title #n`, which Hermes reads as a continuation (0.13 to 0.22), cut if
    it would be too long."""
    base = _NUMBER.sub("", title)
    suffixes = (f" #{number}" for number in count(2))
    titles = (base[: LONGEST_TITLE - len(suffix)] + suffix for suffix in suffixes)
    taken = "SELECT 1 FROM sessions WHERE title = ?"
    return next(each for each in titles if not tx.rows(taken, [each]))
