"""Conversations deleted into the trash: first a bundle that is whole on disk, then one transaction.

Stricter than Hermes, which deletes one session at once and for good (0.13 to 0.22): whole conversations, none that is
live or pinned, and only rows that in the transaction itself are still those of the bundle.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ..connection.connect import Store
from ..connection.reader import Reader
from ..errors import BrowseError, RefusedError, WriteInDoubtError, WriteUnverifiedError
from ..messages.preview import with_details
from ..sessions.catalog import Catalog, read_catalog
from ..sessions.models import Conversation
from ..text import as_text, one_line
from ..trash import files
from ..trash.bundle import Contents, Written, taken_sum, write_bundle
from ..trash.format import Fate, quoted
from ..trash.progress import EVERY, Progress, Stage, Tell, never, quiet
from ..trash.shelf import Bundle, describe, discard, sweep, ties_of
from ..trash.tables import Layout, Part, Rows, chunks, discover, fill, prompt_columns, read_links
from ..wording import _, ngettext
from .delete_plan import PREVIEW, Affected, affected_by_delete, plan_delete, refuse_protected
from .guards import check_writable
from .search_index import SearchIndexes
from .transaction import Needs, Transaction, place_of, write

NEEDS = Needs(tables=frozenset({"sessions", "messages"}), columns=frozenset({"sessions.parent_session_id"}))
_SESSIONS_AT_ONCE = 50


class Deleted(NamedTuple):
    """What a delete did; restoring the bundle undoes it."""

    bundle: Bundle
    conversations: tuple[str, ...]
    """Tips of what was asked for."""
    sessions: tuple[str, ...]
    """All that were deleted, segments and subagents."""
    reparented: tuple[str, ...]
    """Sessions that were kept and have no parent now."""
    messages: int
    files: tuple[str, ...]
    """Names of files of Hermes that were moved to the bundle."""
    notes: tuple[str, ...]
    """A sentence for each thing that went wrong."""

    @property
    def sentence(self) -> str:
        """Says what was done, in the past tense."""
        count = len(self.sessions)
        return _("deleted {sessions}, {messages} to the trash").format(
            sessions=ngettext("1 session", "{count:,} sessions", count).format(count=count),
            messages=ngettext("1 message", "{count:,} messages", self.messages).format(count=self.messages),
        )


def delete(
    store: Store,
    session_ids: Sequence[str],
    trash: Path,
    *,
    now: float | None = None,
    catalog: Catalog | None = None,
    sessions_folder: Path | None = None,
    patience: float = 5.0,
    stop: Callable[[], bool] = never,
    tell: Tell = quiet,
) -> Deleted:
    """Move conversations to the trash, all of them in one bundle and one transaction, or none.

    Other writers wait for the transaction, about a second for every 1,500 messages, most of it for the search index. A
    clean-up therefore deletes in portions.

    Args:
        store: The store.
        session_ids: Any segments of the conversations.
        trash: The folder of the bundles.
        now: Unix seconds; those of the clock where not given.
        catalog: Of the whole store, if there is one; it may be a little old, since what has changed is refused.
        sessions_folder: Where Hermes keeps files of sessions; None where there is none.
        patience: Seconds to wait for other writers.
        stop: Asked between statements until the rows are deleted.
        tell: Receives reports.

    Raises:
        RefusedError: Protected, changed meanwhile, or the trash cannot take it; nothing was changed.
        NotFoundError: There is no such session.
        StoreError: The store cannot be read or written, or is busy.
        QueryInterruptedError: It was stopped; nothing was changed.
        WriteUnverifiedError: It was done, and does not read back as it should; the bundle stays.
        WriteInDoubtError: The commit failed; the bundle stays, and the sentence says what the store holds now.
    """
    moment = time.time() if now is None else now
    progress = Progress(stop, tell)
    with store.reader() as reader:
        version, place = _version(reader), place_of(store.path)
        known = read_catalog(reader, moment) if catalog is None else catalog
        doomed = plan_delete(reader, known, session_ids, moment)
        refuse_protected(known, doomed)
        check_writable(store, reader, NEEDS)
        affected, layout = doomed.affected, discover(reader)
        _check_ids(reader, affected)
        titles = _titles(reader, doomed.conversations)
        contents = _contents(reader, affected.sessions, doomed.conversations, titles, trash, sessions_folder)
        sweep(trash, moment)
        written = write_bundle(reader, layout, contents, trash, moment, stop, messages=doomed.messages, tell=tell)
        _check_orphans(affected, written)
        wrong: list[str] = []

        def work(tx: Transaction) -> None:
            if place_of(store.path) != place:
                replaced = _("{path} was replaced by another file meanwhile. Nothing was changed.")
                raise RefusedError(replaced.format(path=store.path))
            _check_unchanged(tx, affected, written, is_same=version == _version(reader))
            delete_rows(tx, affected, layout, progress, doomed.messages)
            indexes = SearchIndexes(tx)
            if indexes.is_ours:
                wrong.extend(indexes.compare())

        holds = _("The bundle {name} in the trash holds everything; `hermes-browse trash restore {name}` puts it back.")
        try:
            write(
                store,
                work,
                lambda again, _none: _check_gone(again, affected, written),
                needs=NEEDS,
                patience=patience,
                beside=reader,
                in_doubt=holds.format(name=written.manifest.name),
            )
        except (WriteInDoubtError, WriteUnverifiedError):
            raise  # the bundle stays, whatever the store holds
        except BaseException:
            _discard_bundle(reader, affected, written)
            raise
    notes = files.remove(contents.files)
    return Deleted(
        bundle=describe(written.path),
        conversations=contents.conversations,
        sessions=affected.sessions,
        reparented=tuple(each for each in written.cut if each is not None),
        messages=written.manifest.messages,
        files=tuple(each.name for each in written.manifest.files),
        notes=(*wrong, *notes),
    )


def copy_to_trash(
    store: Store,
    catalog: Catalog,
    conversations: Sequence[Conversation],
    trash: Path,
    *,
    now: float,
    sessions_folder: Path | None = None,
) -> Bundle:
    """Write a bundle of conversations with their subagents; the store is only read.

    It protects them where there are no pins: when Hermes deletes them later by itself, the bundle brings them back.

    Args:
        store: The store.
        catalog: Of the whole store.
        conversations: Of that catalog; at least one.
        trash: The folder of the bundles.
        now: Unix seconds.
        sessions_folder: Where Hermes keeps files of sessions; None where there is none.

    Raises:
        TrashError: The trash cannot take it.
        StoreError: The store cannot be read.
    """
    sessions = affected_by_delete(catalog.forest, [each.id for each in conversations]).sessions
    with store.reader() as reader:
        titles = tuple(each.title for each in conversations)
        contents = _contents(reader, sessions, conversations, titles, trash, sessions_folder)
        return describe(write_bundle(reader, discover(reader), contents, trash, now).path)


def _contents(
    reader: Reader,
    sessions: tuple[str, ...],
    conversations: Sequence[Conversation],
    titles: tuple[str | None, ...],
    trash: Path,
    sessions_folder: Path | None,
) -> Contents:
    tips = tuple(each.id for each in conversations)
    found = files.find(reader, sessions_folder, sessions)
    return Contents(sessions, tips, titles, found, ties_of(reader, trash, sessions))


def _titles(reader: Reader, conversations: Sequence[Conversation]) -> tuple[str | None, ...]:
    titles = [each.title for each in conversations]
    if titles[0] is None:  # it names the bundle: how the conversation begins is better than nothing
        (first,) = with_details(reader, [conversations[0]])
        titles[0] = one_line(first.preview, PREVIEW) or None
    return tuple(titles)


def _version(source: Rows) -> object:
    return source.rows("PRAGMA data_version")[0][0]


def _check_ids(reader: Reader, affected: Affected) -> None:
    found = reader.rows_in("SELECT id FROM sessions WHERE id IN ({keys}) AND typeof(id) = 'text'", affected.sessions)
    if {row[0] for row in found} != set(affected.sessions):
        raise RefusedError(
            _("The id of one of its sessions is no proper text, or the session is gone. Nothing was changed."),
            remedy=_("`hermes sessions repair` may help."),
        )


def _check_orphans(affected: Affected, written: Written) -> None:
    """Refuse where a session that was not shown would lose its parent: a new child may be a continuation."""
    shown = {session.id for session in affected.orphaned}
    if not shown.issuperset(each for each in written.cut if each is not None):  # without an id it is in no list
        discard(written.path)
        raise RefusedError(_("The conversation has changed meanwhile: it has another child. Nothing was changed."))


def _discard_bundle(reader: Reader, affected: Affected, written: Written) -> None:
    """Remove the bundle of a delete that failed before its commit, if all its sessions are seen to be there."""
    try:
        found = reader.rows_in("SELECT id FROM sessions WHERE id IN ({keys})", affected.sessions)
        if len(found) == len(affected.sessions):
            discard(written.path)
    except BrowseError:
        return


def _check_unchanged(tx: Transaction, affected: Affected, written: Written, *, is_same: bool) -> None:
    """Refuse where the rows in the store, which nobody else can change now, are not those of the bundle.

    Args:
        tx: The transaction.
        affected: What is deleted.
        written: The bundle.
        is_same: Nobody has committed anything since the bundle was begun, so that rows need not be read again.
    """
    busy = _busy(tx, (*affected.sessions, *affected.above))
    if busy is not None:
        begun = _("{session} is being written to: a turn or a compression has begun. Nothing was changed.")
        raise RefusedError(begun.format(session=busy))
    if is_same:
        return
    ids, layout = affected.sessions, written.layout
    if tuple(read_links(tx, layout, ids)) != written.manifest.links:
        raise RefusedError(_("The conversation has changed meanwhile: it has other children. Nothing was changed."))
    if taken_sum(tx, layout, ids) != written.manifest.taken:
        raise RefusedError(_("The conversation is being written to: it has changed meanwhile. Nothing was changed."))


def _busy(source: Transaction, ids: Sequence[str]) -> str | None:
    """Return a session that a live lease or lock names."""
    for table, column in (("session_turn_leases", "conversation_id"), ("compression_locks", "session_id")):
        if table in source.schema.tables:
            live = f"SELECT {column} FROM {table} WHERE expires_at > ? AND {column} IN ({{keys}})"
            found = source.rows_in(live, ids, [time.time()])
            if found:
                return as_text(found[0][0])
    return None


def delete_rows(tx: Transaction, affected: Affected, layout: Layout, progress: Progress, messages: int) -> None:
    """Delete all rows that belong to the sessions.

    Args:
        tx: The transaction.
        affected: What is deleted.
        layout: Of the store.
        progress: Asked for a stop between statements, and told how far it is.
        messages: How many there are, for the reports alone.

    Raises:
        QueryInterruptedError: It was stopped; the transaction must be rolled back.
    """
    ids, gone = affected.sessions, 0
    prompts = _prompts(tx, ids)
    for loose in layout.loose:  # within the family too, so that the order of sessions does not matter, even in a cycle
        for chunk in chunks(ids):
            condition = fill(loose.condition, len(chunk))
            tx.execute(f"UPDATE {quoted(loose.table)} SET {quoted(loose.column)} = NULL WHERE {condition}", chunk)
    indexes = SearchIndexes(tx)
    # Backwards: rows that refer to others first, and messages before sessions, whose rows the triggers of the substring
    # index read (0.22).
    for part in reversed([part for part in layout.parts if part.fate is Fate.TAKEN]):
        for chunk in chunks(ids, _SESSIONS_AT_ONCE):
            progress.check()
            if part.table == "messages" and part.rowid:
                for done in _delete_messages(tx, indexes, part, chunk):
                    gone += done
                    progress.tell(Stage("deleting", gone, messages))
                    progress.check()
            else:
                condition = fill(part.condition, len(chunk))
                tx.execute(f"DELETE FROM {quoted(part.table)} WHERE {condition}", chunk)
    unused = " AND ".join(
        f"NOT EXISTS (SELECT 1 FROM sessions WHERE sessions.{column} = system_prompts.hash)"
        for column in prompt_columns(tx.schema.session_columns)
    )
    for prompt in prompts:
        tx.execute(f"DELETE FROM system_prompts WHERE hash = CAST(? AS TEXT) AND {unused}", [prompt])


def _delete_messages(tx: Transaction, indexes: SearchIndexes, part: Part, ids: Sequence[str]) -> Iterator[int]:
    """Delete the messages of some sessions in portions, all within the transaction, and yield the size of each."""
    condition = fill(part.condition, len(ids))
    some = f"SELECT {part.rowid} FROM {quoted(part.table)} WHERE {condition} LIMIT {EVERY}"
    statement = f"DELETE FROM {quoted(part.table)} WHERE {part.rowid} IN ({some})"
    if not indexes.is_ours:
        while done := tx.execute(statement, ids):
            yield done
        return
    while numbers := [row[0] for row in tx.rows(some, ids)]:
        indexes.before_delete(numbers)
        marks = ",".join("?" * len(numbers))
        yield tx.execute(f"DELETE FROM {quoted(part.table)} WHERE {part.rowid} IN ({marks})", numbers)


def _prompts(tx: Transaction, ids: Sequence[str]) -> list[bytes]:
    """Return the hashes of prompts that the sessions use, as bytes, because a damaged one may be no proper text."""
    if "system_prompts" not in tx.schema.tables:
        return []
    found: set[bytes] = set()
    for column in prompt_columns(tx.schema.session_columns):
        named = f"typeof({column}) = 'text' AND id IN ({{keys}})"
        rows = tx.rows_in(f"SELECT DISTINCT CAST({column} AS BLOB) FROM sessions WHERE {named}", ids)
        found.update(bytes(row[0]) for row in rows if isinstance(row[0], bytes))
    return sorted(found)


def _check_gone(reader: Reader, affected: Affected, written: Written) -> None:
    """Check that none of the deleted rows is left.

    Raises:
        WriteUnverifiedError: One is.
    """
    for part in written.layout.parts:
        if part.fate is Fate.TAKEN:
            for chunk in chunks(affected.sessions):
                select = f"SELECT 1 FROM {quoted(part.table)} WHERE {fill(part.condition, len(chunk))} LIMIT 1"
                if reader.rows(select, chunk):
                    raise WriteUnverifiedError(
                        _("Rows of {table} are still there, though they were deleted.").format(table=part.table),
                        remedy=_("The bundle {name} in the trash holds all of them.").format(
                            name=written.manifest.name
                        ),
                    )
