"""A bundle put back into its store, row by row, and read back; what cannot be put back without loss stays out.

The store may have changed since: columns may have come or gone, ids and titles may be in use, parents may be gone. The
result has a sentence for each such thing, and the bundle stays in the trash.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from ..connection.connect import Store
from ..connection.reader import Reader
from ..errors import BrowseError, RefusedError, WriteInDoubtError, WriteUnverifiedError
from ..trash import files
from ..trash.bundle import is_same_store, origin_of, read_lines, verify
from ..trash.format import Encoded, Line, Manifest, bound, encode_row, reading, text_of, write_line
from ..trash.progress import NOBODY, Progress, Tell, never, quiet
from ..trash.shelf import family_of, find, mark_restored
from ..trash.tables import Tables
from ..wording import _, ngettext
from .guards import check_writable
from .restore_rows import RestoredRows
from .search_index import SearchIndexes
from .transaction import Needs, Transaction, write

NEEDS = Needs(tables=frozenset({"sessions", "messages"}))
_AT_ONCE = 400
_PARENT = "parent_session_id"


class Restored(NamedTuple):
    """What a restore did."""

    name: str
    """Of the bundle."""
    sessions: tuple[str, ...]
    messages: int
    files: int
    verified: bool
    """Every row was read back and is as it was, or as `notes` say; the search indexes agree, every file is there."""
    notes: tuple[str, ...]
    there: frozenset[str] = frozenset()
    """Those of the sessions that were in the store already, as the bundle has them."""

    @property
    def sentence(self) -> str:
        """Says what was done, in the past tense."""
        count = len(self.sessions)
        return _("restored {sessions}, {messages}").format(
            sessions=ngettext("1 session", "{count:,} sessions", count).format(count=count),
            messages=ngettext("1 message", "{count:,} messages", self.messages).format(count=self.messages),
        )


def restore(
    store: Store,
    trash: Path,
    name: str,
    *,
    now: float | None = None,
    sessions_folder: Path | None = None,
    any_store: bool = False,
    patience: float = 5.0,
    stop: Callable[[], bool] = never,
    tell: Tell = quiet,
    check: bool = True,
    only: Collection[str] | None = None,
) -> Restored:
    """Put a bundle back in one transaction; a second one restores references to parents that were missing before.

    It can be repeated: rows that are in the store as the bundle has them count as restored, and only the rest is put
    back.

    Args:
        store: The store.
        trash: The folder of the bundles.
        name: Of the bundle.
        now: Unix seconds; those of the clock where not given.
        sessions_folder: Where Hermes keeps files of sessions; None where there is none.
        any_store: Whether it may go into another store than the one it is from.
        patience: Seconds to wait for other writers.
        stop: Asked between rows until all are in.
        tell: Receives reports.
        check: Whether the search index is compared with the rows; after several bundles `check_index` does so once.
        only: Ids of the sessions to put back; None for all. The bundle keeps every row whatever is put back of it, and
            whichever part of a family comes back later is tied to the part that is there.

    Raises:
        BundleNotFoundError: There is no such bundle.
        BundleDamagedError: It differs from its sums; nothing was changed.
        RefusedError: None of it can be put back; nothing was changed.
        StoreError: The store cannot be read or written, or is busy.
        WriteUnverifiedError: It was put back, and does not read back as it should.
        WriteInDoubtError: The commit failed; the sentence says what the store holds now, and it can be tried again.
    """
    folder, progress = find(trash, name), Progress(stop, tell)
    manifest = verify(folder, None, progress)
    with store.reader() as reader:
        notes = _check_store(reader, store, manifest, any_store=any_store)
        check_writable(store, reader, NEEDS)
        found = compare(reader, folder, manifest, progress)
    asked = frozenset(manifest.sessions) if only is None else frozenset(manifest.sessions).intersection(only)
    if not asked:
        raise RefusedError(_("The bundle {name} holds none of these sessions. Nothing was changed.").format(name=name))
    found = found.of(asked)
    if len(found.refused) == len(asked):
        return _files_alone(manifest, folder, sessions_folder, found, notes)
    back = asked - found.refused.keys()
    left = frozenset(manifest.sessions) - back
    known = family_of(trash, manifest)
    waiting = {session: bundle for session, bundle in known.bundles.items() if session not in found.refused}
    rows = RestoredRows(folder, manifest, known._replace(bundles=waiting), left, found.there, progress)
    wrong: list[str] = []

    def work(tx: Transaction) -> None:
        rows.insert(tx)
        if check:
            wrong.extend(SearchIndexes(tx).compare())

    write(store, work, lambda again, _done: rows.check(again), needs=NEEDS, patience=patience)
    unnamed = _name_missing_parents(store, rows.missing_parents, patience)
    put_back = files.put_back(manifest.files, folder, sessions_folder, back | found.theirs)
    if not found.refused or only is not None:
        mark_restored(folder, manifest, now if now is not None else time.time(), back)
    return Restored(
        manifest.name,
        tuple(each for each in manifest.sessions if each in back),
        rows.messages + sum(found.messages[each] for each in found.there),
        put_back.there,
        not (wrong or unnamed or put_back.notes),
        (*notes, *_left_out(found), *rows.notes, *wrong, *unnamed, *put_back.notes),
        found.there,
    )


def _left_out(found: Comparison) -> list[str]:
    out = _("Session {session} was not put back: {reason}.")
    return [out.format(session=session, reason=reason) for session, reason in found.refused.items()]


def _files_alone(
    manifest: Manifest, folder: Path, sessions_folder: Path | None, found: Comparison, notes: list[str]
) -> Restored:
    """Put back missing files where no session can be put back: an interrupted restore may have left them out.

    Raises:
        RefusedError: No file is missing.
    """
    put_back = files.put_back(manifest.files, folder, sessions_folder, found.theirs)
    if not put_back.written:
        session, reason = next(iter(found.refused.items()))
        raise RefusedError(
            _("Session {session} is not put back: {reason}. Nothing was changed.").format(
                session=session, reason=reason
            )
        )
    return Restored(manifest.name, (), 0, put_back.there, False, (*notes, *_left_out(found), *put_back.notes))


def _check_store(reader: Reader, store: Store, manifest: Manifest, *, any_store: bool) -> list[str]:
    """Refuse a bundle of another store; return a sentence where it may be another one."""
    origin = manifest.origin
    if is_same_store(origin, origin_of(reader)):
        return []
    if not any_store and os.path.exists(origin.path) and not os.path.samefile(origin.path, store.path):
        raise RefusedError(
            _("This bundle is from another store, {path}. Nothing was changed.").format(path=origin.path),
            remedy=_("Name that one with --home, --profile or --db."),
        )
    return [_("The bundle is from {path}.").format(path=origin.path)]


def check_index(store: Store, patience: float = 5.0) -> tuple[str, ...]:
    """Compare the search indexes with the rows after several restores; the whole store is read, so once is enough.

    Args:
        store: The store.
        patience: Seconds to wait for other writers.

    Returns:
        What is wrong, in sentences; what was put back stays.
    """
    try:
        return write(
            store,
            lambda tx: SearchIndexes(tx).compare(),
            lambda reader, notes: None,
            needs=NEEDS,
            patience=patience,
        )
    except BrowseError as error:
        return (_("The search index was not compared with the messages: {reason}").format(reason=error.sentence),)


class Comparison(NamedTuple):
    """What a store has of the sessions of a bundle."""

    refused: dict[str, str]
    """Those that cannot be put back, each with the reason."""
    there: frozenset[str]
    """Those that are in the store as the bundle has them, as after a restore that was interrupted."""
    theirs: frozenset[str]
    """Those whose messages are all in the store, whether or not the session has changed since: files belong to them."""
    messages: Mapping[str, int]
    """How many messages each of `there` has."""

    def of(self, sessions: frozenset[str]) -> Comparison:
        """The same of some of the sessions."""
        refused = {each: reason for each, reason in self.refused.items() if each in sessions}
        return self._replace(refused=refused, there=self.there & sessions, theirs=self.theirs & sessions)


def compare(reader: Reader, folder: Path, manifest: Manifest, progress: Progress = NOBODY) -> Comparison:
    """Compare a bundle with a store before it is put back.

    Args:
        reader: An open reader of the store.
        folder: Of the bundle.
        manifest: Of the same bundle.
        progress: Asked for a stop between statements.
    """
    tables = Tables(reader)
    found = reader.rows_in("SELECT id FROM sessions WHERE id IN ({keys})", list(manifest.sessions))
    present = {str(row[0]) for row in found}
    refused: dict[str, str] = {}
    differing: set[str] = set()
    counts, wanted = Counter[str](), Counter[str]()
    lines: Iterator[Line] = (line for line in read_lines(folder) if line.table in ("sessions", "messages"))
    while batch := list(islice(lines, _AT_ONCE)):
        progress.check()
        for line in (each for each in batch if each.table == "sessions"):
            if str(line.row["id"]) in present and not _is_same_session(reader, tables, line):
                differing.add(str(line.row["id"]))
        wanted.update(str(line.row["session_id"]) for line in batch if line.table == "messages")
        messages = {
            number: line for line in batch if line.table == "messages" and type(number := line.row["id"]) is int
        }
        there = _stored(reader, tables, messages)
        for number, line in messages.items():
            owner = str(line.row["session_id"])
            if owner not in present and number in there:
                refused.setdefault(owner, _("message {id} is another one's by now").format(id=number))
            elif owner in present:
                counts[owner] += there.get(number) == write_line(_known_part(tables, line))
    rows = reader.rows_in(
        "SELECT session_id, count(*) FROM messages WHERE session_id IN ({keys}) GROUP BY session_id", sorted(present)
    )
    stored = {str(owner): int(str(count)) for owner, count in rows}
    theirs = {each for each in present if counts[each] == wanted[each]}
    same = {each for each in theirs - differing if stored.get(each, 0) == wanted[each]}
    for each in sorted(present - same):
        refused[each] = (
            _("it is in the store, and has changed since it went to the trash")
            if each in theirs and wanted[each]
            else _("a session of that id is in the store")
        )
    files_of = frozenset(each for each in theirs if each in same or wanted[each])
    return Comparison(refused, frozenset(same), files_of, {each: wanted[each] for each in same})


def _known_part(tables: Tables, line: Line) -> Line:
    """Leave out the columns of a row that the store lacks."""
    columns = frozenset(tables.columns[line.table])
    return Line(line.table, None, {name: value for name, value in line.row.items() if name in columns})


def _is_same_session(reader: Reader, tables: Tables, line: Line) -> bool:
    """Tell whether a session is in the store as in a bundle, apart from what a restore itself may have to change."""
    row = {name: value for name, value in _known_part(tables, line).row.items() if name not in tables.parents}
    columns = tuple(row)
    found = reader.rows(f"SELECT {reading(columns)} FROM sessions WHERE id = ?", [line.row["id"]])
    now = encode_row(columns, found[0])
    if now.get("title") != row.get("title") and row.get("title") is not None:
        mark, value = bound(row["title"])
        if reader.rows(f"SELECT 1 FROM sessions WHERE title = {mark} AND id IS NOT ?", [value, line.row["id"]]):
            # Another session has its title by now, so that this one was renumbered.
            for name in ("title", "title_source"):
                row.pop(name, None)
                now.pop(name, None)
    return write_line(Line("sessions", None, now)) == write_line(Line("sessions", None, row))


def _stored(reader: Reader, tables: Tables, messages: Mapping[int, Line]) -> dict[int, bytes]:
    """Return those of some messages that are in the store, as lines."""
    if not messages:
        return {}
    columns = tuple(_known_part(tables, next(iter(messages.values()))).row)
    rows = reader.rows_in(f"SELECT id, {reading(columns)} FROM messages WHERE id IN ({{keys}})", list(messages))
    return {int(str(row[0])): write_line(Line("messages", None, encode_row(columns, row[1:]))) for row in rows}


def _name_missing_parents(store: Store, found: Sequence[tuple[str, Encoded]], patience: float) -> list[str]:
    """Restore the reference of sessions to parents that were in no store when the sessions were deleted.

    Stores that something changed with foreign keys off, as SQLite has them by default, hold such rows, and Hermes lists
    them as any other (0.13 to 0.22). With foreign keys on SQLite takes no reference to what is not there, neither at
    once nor at the commit, and within a transaction they cannot be turned off (https://sqlite.org/foreignkeys.html). So
    all rows are restored with them on, and this transaction without: it inserts and deletes nothing, and sets only the
    empty parent of a session that was restored just now to what the bundle has.

    Args:
        store: The store.
        found: Sessions that were restored, each with the parent that is in no store.
        patience: Seconds to wait for other writers.

    Returns:
        A sentence for each that has no parent now.
    """
    if not found:
        return []

    def work(tx: Transaction) -> list[tuple[str, Encoded]]:
        done: list[tuple[str, Encoded]] = []
        for session, parent in found:
            mark, value = bound(parent)
            count = tx.execute(
                f"UPDATE sessions SET {_PARENT} = {mark} WHERE id = ? AND {_PARENT} IS NULL", [value, session]
            )
            if count == 1:
                done.append((session, parent))
        return done

    def check(reader: Reader, done: list[tuple[str, Encoded]]) -> None:
        for session, parent in done:
            rows = reader.rows(f"SELECT {reading([_PARENT])} FROM sessions WHERE id = ?", [session])
            if not rows or encode_row([_PARENT], rows[0])[_PARENT] != parent:
                raise WriteUnverifiedError(
                    _("The parent of {session} does not read back as it stands in the bundle.").format(session=session)
                )

    try:
        done = write(store, work, check, needs=NEEDS, patience=patience, foreign_keys=False)
    except WriteUnverifiedError:
        raise
    except WriteInDoubtError as error:
        doubt = _("Whether {session} names its parent {parent} again is not known: {reason}")
        return [
            doubt.format(session=session, parent=text_of(parent), reason=error.sentence) for session, parent in found
        ]
    except BrowseError as error:
        lost = _("{session} has no parent: {parent} ({reason})")
        return [
            lost.format(session=session, parent=text_of(parent), reason=error.sentence) for session, parent in found
        ]
    back = {session for session, _parent in done}
    other = _("{session} has another parent by now than {parent}, which was in no store.")
    return [other.format(session=session, parent=text_of(parent)) for session, parent in found if session not in back]
