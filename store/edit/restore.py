"""Restore a bundle into its store and read it back; sessions that cannot be restored without loss
are left out.

The store may have changed since the delete: columns added or dropped, ids and titles in use,
parents missing. The result has a sentence for each such difference, and the bundle stays in the
trash.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ..connection.connect import Store, origin_of
from ..connection.reader import Reader, Row
from ..errors import Advice, BrowseError, RefusedError, StoreDamagedError
from ..notes.notes_file import IN_BUNDLE
from ..notes.tagging import keep_restored
from ..progress import NOBODY, Portions, Progress, summary
from ..search.coverage import rebuild_command
from ..text import as_text
from ..trash.bundle import BundleFacts, choose, read_links, reading, verify
from ..trash.copying import check_room
from ..trash.session_files import put_back
from ..trash.shelf import find, mark_restored, read_fate
from ..trash.tables import CHILDREN
from ..wording import _, ngettext
from .guards import DELETE_AND_RESTORE, check_search_triggers
from .restore_rows import RestoredRows
from .transaction import Writer, unverified, writing

_CHECKED = 256 * 1024 * 1024
"""Size in bytes, with the log, of the largest store whose index is compared as a whole; a larger one
would keep Hermes waiting."""
_LOG_SHARE = 16
"""Bytes by which the log may grow for each byte of a bundle: 10 to 14 were observed, most of them for the
search indexes, whose pages each portion writes anew (0.19)."""


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
    present: frozenset[str]
    """Those of the sessions that were already in the store, as the bundle has them."""


def describe_restored(restored: Sequence[Restored]) -> str:
    """Return what was restored in the past tense, or that all of it was in the store already."""
    sessions = sum(len(each.sessions) for each in restored)
    if sessions and all(each.present.issuperset(each.sessions) for each in restored):
        return ngettext(
            "1 session is in the store already",
            "{count:,} sessions are in the store already",
            sessions,
        )
    return summary(
        _("restored {sessions}, {messages}"), sessions, sum(each.messages for each in restored)
    )


def restore(
    store: Store,
    trash: Path,
    name: str,
    *,
    sessions_folder: Path | None = None,
    any_store: bool = False,
    progress: Progress = NOBODY,
    check: bool = True,
    only: Collection[str] | None = None,
) -> Restored:
    """Restore a bundle, each conversation in one transaction with its subagents, many in several.

    It can be repeated: rows that the store has as in the bundle count as restored, and only the
    rest is inserted. Foreign keys are off, because a session may name a parent that was in no store
    when it was deleted; every reference that did not lead nowhere then is checked before a commit.

    Args:
        trash: The folder of the bundles.
        sessions_folder: Where Hermes keeps files of sessions, if there is such a folder.
        any_store: Allow another store than the one the bundle is from.
        progress: Receives reports, and is asked for a stop until all rows are inserted.
        check: Compare the search index with the rows. Whoever restores several bundles does so once,
            with the last one or by `check_index`.
        only: Ids of the sessions to restore; None for all. The bundle keeps every row in any case,
            and a part of a family that is restored later is connected to the part that is in the
            store.

    Raises:
        BundleNotFoundError: There is no such bundle.
        BundleDamagedError: It differs from its checksum; nothing was changed.
        RefusedError: None of it can be restored; nothing was changed.
        StoreError: The store cannot be read or written, or is busy.
        WriteUnverifiedError: It was restored, and does not read back as it should.
        WriteInDoubtError: The commit failed; the sentence says what the store holds now, and it can
            be tried again.
    """
    path = find(trash, name)
    facts = verify(path, progress)
    listed = set(read_fate(path).listed(facts).sessions)
    requested = listed if only is None else listed.intersection(only)
    if not requested:
        raise RefusedError(
            _("The deletion {name} holds none of these sessions.", name=name), is_unchanged=True
        )
    with writing(store, DELETE_AND_RESTORE) as writer:
        writer.execute("PRAGMA foreign_keys=0")
        notes = _check_store(writer.reader, facts, any_store=any_store)
        check_search_triggers(writer.reader)
        find(trash, name)  # another program may have dropped it while it was read
        size = path.stat().st_size * len(requested) // len(facts.sessions)
        check_room(Path(store.real_path).parent, size * _LOG_SHARE)
        rows = RestoredRows(writer, path, requested, progress)
        restored = requested - rows.refused.keys()
        refused = [
            _("Session {session} was not restored: {reason}.", session=session, reason=why)
            for session, why in rows.refused.items()
        ]
        if not restored:
            raise RefusedError(refused[0])
        choose(writer.rows, sorted(restored), "wanted")
        _collect_links(writer, read_links(trash, facts.origin))
        _insert_in_portions(writer, facts, rows)
        try:
            notes += [*refused, *rows.notes, *_unlinked(writer)]
            with reading(path) as bundle:
                files, file_notes = put_back(bundle, sessions_folder, restored)
                tags = bundle.execute(f"SELECT session, tag FROM {IN_BUNDLE}").fetchall()
        except BrowseError as error:  # the deletion may be damaged, or dropped
            raise unverified(error) from error
    tag_notes = keep_restored(store, tags, restored)
    index_notes = check_index(store) if check else ()
    if not refused or only is not None:
        mark_restored(path, time.time(), restored)
    return Restored(
        facts.name,
        tuple(session for session in facts.sessions if session in restored),
        sum(rows.messages[session] for session in restored),
        files,
        not (index_notes or file_notes),
        (*notes, *index_notes, *file_notes, *tag_notes),
        frozenset(rows.present),
    )


def _insert_in_portions(writer: Writer, facts: BundleFacts, rows: RestoredRows) -> None:
    """Insert what is missing of the wanted sessions, in portions, and link all of them."""
    missing = rows.messages.keys() - rows.present - rows.refused.keys()
    groups = [missing.intersection(each.sessions) for each in facts.conversations]
    # Where all of them are in the store already, one empty group still sets the links.
    groups = list(filter(None, groups)) or [set()]

    def count(sessions: set[str]) -> int:
        return sum(rows.messages[session] for session in sessions)

    def insert_portion(some: list[set[str]]) -> None:
        sessions = sorted(set().union(*some))

        def work(tx: Writer) -> None:
            choose(tx.rows, sessions)
            rows.insert_chosen(tx)
            tx.execute(_LINK)

        writer.run(work, lambda reader, _none: rows.check(reader, sessions))

    rows.progress.begin("restoring", count(missing))
    Portions(rows.progress, count).run(groups, insert_portion, writer.version)


def _check_store(reader: Reader, facts: BundleFacts, *, any_store: bool) -> list[str]:
    """Refuse a bundle of another store; return a note if the store may be another one."""
    origin = facts.origin
    if origin.is_same(origin_of(reader)):
        return []
    if (
        not any_store
        and os.path.exists(origin.path)
        and not os.path.samefile(origin.path, reader.path)
    ):
        raise RefusedError(
            _("This deletion is from another store, {path}.", path=origin.path),
            remedy=_("Restore it while that store is open."),
            advice=Advice.OPEN_ORIGIN,
        )
    return [_("The deletion is from {path}.", path=origin.path)]


def check_index(store: Store) -> tuple[str, ...]:
    """Let SQLite compare the search indexes with the rows; return a sentence per mismatch.

    This reads the whole store, so large ones are left out. Restored rows stay whatever the result:
    the index can be rebuilt.
    """
    try:
        with writing(store, DELETE_AND_RESTORE) as writer:
            return writer.run(
                lambda tx: tuple(_compare_index(tx, store)), lambda _reader, _notes: None
            )
    except BrowseError as error:
        error.is_unchanged = False  # the rows are back
        return (
            _(
                "The search index was not compared with the messages: {reason}",
                reason=error.sentence,
            ),
        )


def _compare_index(tx: Writer, store: Store) -> Iterator[str]:
    if tx.schema.is_index_stale:
        yield _("The search index is out of date until Hermes rebuilds it.")
        return
    if sum(store.sizes()) > _CHECKED or "fts_rebuild_high_water" in tx.schema.notes:
        return
    for index in filter(None, (tx.schema.fts, tx.schema.trigram)):
        name = index.name
        try:
            tx.execute(f"INSERT INTO {name}({name}, rank) VALUES ('integrity-check', 1)")
        except StoreDamagedError:
            yield _(
                "The search index {name} does not agree with the messages. End Hermes and run: {command}",
                name=name,
                command=rebuild_command(store.path, name),
            )


_LINK = (
    "UPDATE main.sessions SET parent_session_id = "
    "(SELECT parent FROM temp.links WHERE child = sessions.id) "
    "WHERE parent_session_id IS NULL AND id IN (SELECT child FROM temp.links "
    "WHERE parent IN (SELECT id FROM main.sessions))"
)
"""Sets empty parents of the wanted sessions, and of their children, as far as both are there."""


def _collect_links(tx: Writer, recorded: Iterable[Row]) -> None:
    """Fill a TEMP table with the parents of the wanted sessions, and of their children.

    `recorded` has pairs of child and parent, as in `links.db`.
    """
    tx.execute("CREATE TEMP TABLE links (child PRIMARY KEY, parent, is_own)")
    tx.execute(
        "INSERT OR IGNORE INTO temp.links SELECT id, parent_session_id, 1 FROM bundle.sessions "
        f"WHERE id IN (SELECT id FROM temp.wanted) AND parent_session_id IS NOT NULL UNION ALL "
        f"SELECT id, was, 1 FROM bundle.{CHILDREN} WHERE was IN (SELECT id FROM temp.wanted)"
    )
    for pair in recorded:
        tx.execute(
            "INSERT OR IGNORE INTO temp.links SELECT ?1, ?2, 0 "
            "WHERE ?1 IN temp.wanted OR ?2 IN temp.wanted",
            pair,
        )


def _unlinked(tx: Writer) -> Iterator[str]:
    """Yield a sentence for each link of the wanted sessions in the bundle that could not be set."""
    for child, parent in tx.rows(
        "SELECT l.child, l.parent FROM temp.links AS l LEFT JOIN main.sessions AS m ON m.id = l.child "
        "WHERE l.is_own AND m.parent_session_id IS NOT l.parent ORDER BY l._rowid_"
    ):
        yield _(
            "{child} was a child of {parent}; one of them is gone, or it has another parent.",
            child=as_text(child),
            parent=as_text(parent),
        )
