"""Compare the sessions of a bundle with a store: before a restore, and read back after it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from ..connection.reader import Reader
from ..connection.schema import sql_name
from ..connection.stored_values import as_int
from ..errors import WriteUnverifiedError
from ..text import as_text
from ..trash.bundle import read_only_uri
from ..trash.tables import differs, names_of
from ..wording import _
from .delete_rows import bound_ids
from .restore_rows import RestoredRows, rowids_of
from .transaction import Transaction

_TITLE_COLUMNS = ("title", "title_source")


class Comparison(NamedTuple):
    """The sessions of a bundle compared with a store."""

    refused: dict[str, str]
    """Those that cannot be restored, each with the reason."""
    there: frozenset[str]
    """Those in the store as the bundle has them, as after an interrupted restore."""
    file_owners: frozenset[str]
    """Those with all their messages in the store, changed since or not: the files belong to
    them."""
    messages: Mapping[str, int]
    """Number of messages of each session in the bundle."""

    def of(self, sessions: Collection[str]) -> Comparison:
        """Return the comparison of some of the sessions."""
        refused = {each: reason for each, reason in self.refused.items() if each in sessions}
        return self._replace(
            refused=refused,
            there=self.there.intersection(sessions),
            file_owners=self.file_owners.intersection(sessions),
        )


def check_rows(reader: Reader, rows: RestoredRows, sessions: Sequence[str]) -> None:
    """Compare each value and storage class of restored rows with the bundle.

    Raises:
        WriteUnverifiedError: A row differs.
    """
    if "bundle" not in [row[1] for row in reader.rows("PRAGMA database_list")]:
        reader.rows("ATTACH ? AS bundle", [read_only_uri(rows.path)])
    for part in rows.parts if sessions else ():
        leaving = rows.parents() if part.table == "sessions" else ()
        same = rows.same(part.table, leaving)
        if part.table == "sessions":
            kept = [each for each in rows.columns["sessions"] if each in _TITLE_COLUMNS]
            plain = rows.same(part.table, [*leaving, *kept])
            retitled = ", ".join("'" + each.replace("'", "''") + "'" for each in rows.retitled)
            same = f"CASE WHEN b.id IN ({retitled}) THEN {plain} ELSE {same} END"
        skipped = ", ".join(map(str, rows.skipped.get(part.table, ())))
        where = part.where("bundle", bound_ids(len(sessions)))
        found_rows = f"b.rowid IN ({rowids_of(part, where)}) AND b.rowid NOT IN ({skipped})"
        name = sql_name(part.table)
        expected = as_int(
            reader.value(f"SELECT count(*) FROM bundle.{name} AS b WHERE {found_rows}", sessions)
        )
        found = f"SELECT b.rowid FROM {rows.joined(part.table)} WHERE {found_rows} AND {same}"
        if expected == as_int(reader.value(f"SELECT count(*) FROM ({found})", sessions)):
            continue
        key = names_of(rows.layout.tables[part.table].key, "b.") or "b.rowid"
        odd = (
            f"SELECT {key} FROM bundle.{name} AS b WHERE {found_rows} AND b.rowid NOT IN ({found})"
        )
        first = reader.rows(f"{odd} LIMIT 1", sessions)
        raise WriteUnverifiedError(
            _("A row of {table} ({key}) differs from the bundle after it was written.").format(
                table=part.table, key=", ".join(as_text(each) or "" for each in first[0])
            ),
            remedy=_("The bundle stays in the trash."),
        )


def compare(tx: Transaction, rows: RestoredRows) -> Comparison:
    """Compare the sessions of the bundle with those of the store."""
    tx.execute("CREATE TEMP TABLE IF NOT EXISTS present (id PRIMARY KEY)")
    tx.execute("DELETE FROM temp.present")
    tx.execute(
        "INSERT OR IGNORE INTO temp.present SELECT b.id FROM bundle.sessions AS b "
        "JOIN main.sessions AS m ON m.id = b.id"
    )
    present = {str(row[0]) for row in tx.rows("SELECT id FROM temp.present")}
    kept = [each for each in rows.columns["sessions"] if each in _TITLE_COLUMNS]
    same = rows.same("sessions", [*rows.parents(), *kept])
    if "title" in kept:
        # If another session has its title by now, this one was renumbered.
        taken = (
            "EXISTS (SELECT 1 FROM main.sessions o WHERE o.title = b.title AND o.id IS NOT b.id)"
        )
        same += "".join(f" AND (NOT {differs(each)} OR {taken})" for each in kept)
    found_rows = tx.rows(f"SELECT b.id FROM {rows.joined('sessions')} WHERE {same}")
    equal = {str(row[0]) for row in found_rows}
    by_session = "SELECT session_id, count(*) FROM"
    ours = "session_id IN (SELECT id FROM temp.present)"
    expected = _counts(tx, f"{by_session} bundle.messages GROUP BY 1")
    stored = _counts(tx, f"{by_session} main.messages WHERE {ours} GROUP BY 1")
    matching = _counts(
        tx,
        f"SELECT b.session_id, count(*) FROM {rows.joined('messages')} "
        f"WHERE b.{ours} AND {rows.same('messages')} GROUP BY 1",
    )
    taken_ids = tx.rows(
        f"SELECT b.session_id, min(b.id) FROM {rows.joined('messages')} WHERE b.session_id "
        "NOT IN (SELECT id FROM temp.present) GROUP BY 1"
    )
    refused = {
        str(owner): _("message {id} is another one's by now").format(id=id)
        for owner, id in taken_ids
    }
    complete = {each for each in present if matching.get(each, 0) == expected.get(each, 0)}
    there = {e for e in complete & equal if stored.get(e, 0) == expected.get(e, 0)}
    for session in sorted(present - there):
        refused[session] = (
            _("it is in the store, and has changed since it went to the trash")
            if session in complete and expected.get(session)
            else _("a session of that id is in the store")
        )
    owners = frozenset(each for each in complete if each in there or expected.get(each))
    return Comparison(refused, frozenset(there), owners, expected)


def _counts(tx: Transaction, sql: str) -> dict[str, int]:
    return {str(session): as_int(count) for session, count in tx.rows(sql)}
