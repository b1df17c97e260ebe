"""Restore a bundle into its store and read it back; sessions that cannot be restored without loss
are left out.

The store may have changed since the delete: columns added or dropped, ids and titles in use,
parents missing. The result has a sentence for each such difference, and the bundle stays in the
trash.
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
from ..messages.transcript import count_stored_rows
from ..trash import session_files
from ..trash.bundle import is_same_store, origin_of, read_lines, verify
from ..trash.format import Encoded, Manifest, TableRow, bound, text_of, write_line
from ..trash.progress import Progress, Tell, never, quiet, summary
from ..trash.shelf import family_of, find, mark_restored
from ..trash.tables import Tables
from ..wording import _, ngettext
from .flags import read_columns
from .guards import Needs, check_writable
from .known_triggers import check_triggers
from .restore_rows import RestoredRows, gone_meanwhile, read_encoded_messages
from .search_index import SearchIndexes
from .transaction import Transaction, write

NEEDS = Needs(tables=frozenset({"sessions", "messages"}))
_AT_ONCE = 400
_PARENT = "parent_session_id"


class Restored(NamedTuple):
    """A restore that was done."""

    name: str
    """Of the bundle."""
    sessions: tuple[str, ...]
    messages: int
    files: int
    verified: bool
    """Every row reads back as it was, or as `notes` say; the search indexes agree, and every file
    exists."""
    notes: tuple[str, ...]
    there: frozenset[str] = frozenset()
    """Those of the sessions that were already in the store, as the bundle has them."""

    @property
    def sentence(self) -> str:
        """Summary in the past tense."""
        return describe_restored([self])


def describe_restored(restored: Sequence[Restored]) -> str:
    """Return what was restored in the past tense, or that all of it was in the store already."""
    sessions = sum(len(each.sessions) for each in restored)
    if sessions and all(each.there.issuperset(each.sessions) for each in restored):
        there = ngettext(
            "1 session is in the store already",
            "{count:,} sessions are in the store already",
            sessions,
        )
        return there.format(count=sessions)
    return summary(
        _("restored {sessions}, {messages}"), sessions, sum(each.messages for each in restored)
    )


def restore(
    store: Store,
    trash: Path,
    name: str,
    *,
    now: float | None = None,
    sessions_folder: Path | None = None,
    any_store: bool = False,
    stop: Callable[[], bool] = never,
    tell: Tell = quiet,
    check: bool = True,
    only: Collection[str] | None = None,
) -> Restored:
    """Restore a bundle in one transaction; a second one restores references to parents that were
    missing before.

    It can be repeated: rows that the store has as in the bundle count as restored, and only the
    rest is inserted.

    Args:
        trash: The folder of the bundles.
        now: Unix seconds; default the clock.
        sessions_folder: Where Hermes keeps files of sessions, if there is such a folder.
        any_store: Allow another store than the one the bundle is from.
        stop: Polled between rows until all are inserted.
        tell: Receives progress reports.
        check: Compare the search index with the rows; after several bundles `check_index` does so
            once.
        only: Ids of the sessions to restore; None for all. The bundle keeps every row in any case,
            and a part of a family that is restored later is connected to the part that is in the
            store.

    Raises:
        BundleNotFoundError: There is no such bundle.
        BundleDamagedError: It differs from its checksums; nothing was changed.
        RefusedError: None of it can be restored; nothing was changed.
        StoreError: The store cannot be read or written, or is busy.
        WriteUnverifiedError: It was restored, and does not read back as it should.
        WriteInDoubtError: The commit failed; the sentence says what the store holds now, and it can
            be tried again.
    """
    folder, progress = find(trash, name), Progress(stop, tell)
    manifest = verify(folder, progress)
    with store.reader() as reader:
        notes = _check_store(reader, store, manifest, any_store=any_store)
        check_writable(store, reader, NEEDS)
        comparison = compare(reader, folder, manifest, progress)
    requested = (
        frozenset(manifest.sessions)
        if only is None
        else frozenset(manifest.sessions).intersection(only)
    )
    if not requested:
        raise RefusedError(
            _("The bundle {name} holds none of these sessions. Nothing was changed.").format(
                name=name
            )
        )
    comparison = comparison.of(requested)
    if len(comparison.refused) == len(requested):
        return _restore_files_only(manifest, folder, sessions_folder, comparison, notes)
    restored = requested - comparison.refused.keys()
    family = family_of(trash, manifest)
    bundles = {
        session: bundle
        for session, bundle in family.bundles.items()
        if session not in comparison.refused
    }
    rows = RestoredRows(
        folder, manifest, family._replace(bundles=bundles), restored, comparison.there, progress
    )
    index_notes: list[str] = []

    def work(tx: Transaction) -> None:
        check_triggers(tx.rows, manifest.tables)
        rows.insert(tx)
        if check:
            index_notes.extend(SearchIndexes(tx).compare())

    write(store, work, lambda fresh, _none: rows.check(fresh), needs=NEEDS)
    parent_notes = _restore_missing_parents(store, rows.missing_parents)
    put_back = session_files.put_back(
        manifest.files, folder, sessions_folder, restored | comparison.file_owners
    )
    if not comparison.refused or only is not None:
        mark_restored(folder, manifest, time.time() if now is None else now, restored)
    return Restored(
        manifest.name,
        tuple(each for each in manifest.sessions if each in restored),
        rows.messages + sum(comparison.messages[each] for each in comparison.there),
        put_back.there,
        not (index_notes or parent_notes or put_back.notes),
        (*notes, *_refusals(comparison), *rows.notes, *index_notes, *parent_notes, *put_back.notes),
        comparison.there,
    )


def _refusals(comparison: Comparison) -> list[str]:
    sentence = _("Session {session} was not restored: {reason}.")
    return [
        sentence.format(session=session, reason=reason)
        for session, reason in comparison.refused.items()
    ]


def _restore_files_only(
    manifest: Manifest,
    folder: Path,
    sessions_folder: Path | None,
    comparison: Comparison,
    notes: list[str],
) -> Restored:
    """Restore missing files, which an interrupted restore may have left out, if no session can be
    restored.

    Raises:
        RefusedError: No file is missing.
    """
    put_back = session_files.put_back(
        manifest.files, folder, sessions_folder, comparison.file_owners
    )
    if not put_back.written:
        session, reason = next(iter(comparison.refused.items()))
        raise RefusedError(
            _("Session {session} is not restored: {reason}. Nothing was changed.").format(
                session=session, reason=reason
            )
        )
    return Restored(
        manifest.name,
        (),
        0,
        put_back.there,
        False,
        (*notes, *_refusals(comparison), *put_back.notes),
    )


def _check_store(reader: Reader, store: Store, manifest: Manifest, *, any_store: bool) -> list[str]:
    """Refuse a bundle of another store; return a note if the store may be another one."""
    origin = manifest.origin
    if is_same_store(origin, origin_of(reader)):
        return []
    if (
        not any_store
        and os.path.exists(origin.path)
        and not os.path.samefile(origin.path, store.path)
    ):
        raise RefusedError(
            _("This bundle is from another store, {path}. Nothing was changed.").format(
                path=origin.path
            ),
            remedy=_("Name that one with --home, --profile or --db."),
        )
    return [_("The bundle is from {path}.").format(path=origin.path)]


def check_index(store: Store) -> tuple[str, ...]:
    """Compare the search indexes with the rows, once after several restores; return a sentence per
    mismatch.

    This reads the whole store. Restored rows stay whatever the result.
    """
    try:
        return write(
            store, lambda tx: SearchIndexes(tx).compare(), lambda _reader, _notes: None, needs=NEEDS
        )
    except BrowseError as error:
        return (
            _("The search index was not compared with the messages: {reason}").format(
                reason=error.sentence
            ),
        )


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
    """Number of messages of each session in `there`."""

    def of(self, sessions: frozenset[str]) -> Comparison:
        """Return the comparison of some of the sessions."""
        refused = {each: reason for each, reason in self.refused.items() if each in sessions}
        return self._replace(
            refused=refused, there=self.there & sessions, file_owners=self.file_owners & sessions
        )


def compare(reader: Reader, folder: Path, manifest: Manifest, progress: Progress) -> Comparison:
    """Compare a bundle, in its folder, with a store before it is restored; `progress` is polled for
    a stop."""
    tables = Tables(reader)
    rows = reader.rows_in("SELECT id FROM sessions WHERE id IN ({keys})", list(manifest.sessions))
    present = {str(row[0]) for row in rows}
    refused: dict[str, str] = {}
    differing: set[str] = set()
    equal, expected = (
        Counter[str](),
        Counter[str](),
    )  # messages by session: equal in the store, in the bundle
    lines: Iterator[TableRow] = (
        line for line in read_lines(folder) if line.table in ("sessions", "messages")
    )
    while batch := list(islice(lines, _AT_ONCE)):
        progress.check()
        for line in (each for each in batch if each.table == "sessions"):
            if str(line.row["id"]) in present and not _is_same_session(reader, tables, line):
                differing.add(str(line.row["id"]))
        expected.update(str(line.row["session_id"]) for line in batch if line.table == "messages")
        lines_of_messages = [
            tables.without_unknown_columns(each) for each in batch if each.table == "messages"
        ]
        messages = {id: line for line in lines_of_messages if type(id := line.row["id"]) is int}
        columns = tuple(lines_of_messages[0].row) if messages else ()
        stored = read_encoded_messages(reader, columns, list(messages))
        for id, line in messages.items():
            owner = str(line.row["session_id"])
            if owner not in present and id in stored:
                refused.setdefault(owner, _("message {id} is another one's by now").format(id=id))
            elif owner in present:
                equal[owner] += id in stored and write_line(
                    line._replace(row=stored[id])
                ) == write_line(line)
    counts = count_stored_rows(reader, sorted(present))
    complete = {each for each in present if equal[each] == expected[each]}
    same = {each for each in complete - differing if counts.get(each, 0) == expected[each]}
    for session in sorted(present - same):
        refused[session] = (
            _("it is in the store, and has changed since it went to the trash")
            if session in complete and expected[session]
            else _("a session of that id is in the store")
        )
    file_owners = frozenset(each for each in complete if each in same or expected[each])
    return Comparison(
        refused, frozenset(same), file_owners, {each: expected[each] for each in same}
    )


def _is_same_session(reader: Reader, tables: Tables, line: TableRow) -> bool:
    """Tell whether the store has a session as the bundle has it, apart from what a restore may
    change."""
    row = tables.without_unknown_columns(line).row
    row = {name: value for name, value in row.items() if name not in tables.parents}
    found = read_columns(reader, line.row["id"], tuple(row))
    if not found:
        raise gone_meanwhile(line.row["id"])
    stored = found[0]
    if stored.get("title") != row.get("title") and row.get("title") is not None:
        mark, value = bound(row["title"])
        if reader.rows(
            f"SELECT 1 FROM sessions WHERE title = {mark} AND id IS NOT ?", [value, line.row["id"]]
        ):
            # Another session has its title by now, so this one was renumbered.
            for name in ("title", "title_source"):
                row.pop(name, None)
                stored.pop(name, None)
    return write_line(TableRow("sessions", None, stored)) == write_line(
        TableRow("sessions", None, row)
    )


def _restore_missing_parents(store: Store, parents: Sequence[tuple[str, Encoded]]) -> list[str]:
    """Restore references to parents that were in no store when the sessions were deleted.

    Stores changed with foreign keys off, the default of SQLite, hold such rows, and Hermes lists
    them as any other (0.13 to 0.22). With foreign keys on, SQLite accepts no dangling reference,
    neither at once nor at the commit, and they cannot be turned off within a transaction
    (https://sqlite.org/foreignkeys.html). So all rows are restored with foreign keys on, and this
    transaction runs without: it inserts and deletes nothing, and only sets the empty parent of a
    session that was just restored to the value in the bundle.

    `parents` holds restored sessions, each with its missing parent. Returns a sentence for each
    that has none now.
    """
    if not parents:
        return []

    def work(tx: Transaction) -> list[tuple[str, Encoded]]:
        done: list[tuple[str, Encoded]] = []
        for session, parent in parents:
            mark, value = bound(parent)
            count = tx.execute(
                f"UPDATE sessions SET {_PARENT} = {mark} WHERE id = ? AND {_PARENT} IS NULL",
                [value, session],
            )
            if count == 1:
                done.append((session, parent))
        return done

    def check(reader: Reader, done: list[tuple[str, Encoded]]) -> None:
        for session, parent in done:
            rows = read_columns(reader, session, [_PARENT])
            if not rows or rows[0][_PARENT] != parent:
                raise WriteUnverifiedError(
                    _(
                        "The parent of {session} does not read back as it stands in the bundle."
                    ).format(session=session)
                )

    try:
        done = write(store, work, check, needs=NEEDS, foreign_keys=False)
    except WriteUnverifiedError:
        raise
    except WriteInDoubtError as error:
        sentence, reason = (
            _("Whether {session} names its parent {parent} again is not known: {reason}"),
            error.sentence,
        )
    except BrowseError as error:
        sentence, reason = _("{session} has no parent: {parent} ({reason})"), error.sentence
    else:
        restored = {session for session, _parent in done}
        parents = [each for each in parents if each[0] not in restored]
        sentence, reason = (
            _("{session} has another parent by now than {parent}, which was in no store."),
            "",
        )
    return [
        sentence.format(session=session, parent=text_of(parent), reason=reason)
        for session, parent in parents
    ]
