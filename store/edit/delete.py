"""Delete conversations into the trash: first write a complete bundle to disk, then delete in one
transaction.

Stricter than Hermes, which deletes single sessions for good (0.13 to 0.22): whole conversations,
none that is live or pinned, and only rows that are, in the transaction itself, still those of the
bundle.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ..connection.connect import Store
from ..connection.reader import DATA_VERSION, Reader
from ..connection.schema import sql_name
from ..errors import BrowseError, RefusedError, WriteInDoubtError, WriteUnverifiedError
from ..messages.preview import read_preview
from ..sessions.catalog import Catalog, read_catalog
from ..sessions.models import Conversation
from ..text import as_text, one_line
from ..trash import session_files
from ..trash.bundle import Contents, WrittenBundle, rows_digest, write_bundle
from ..trash.format import RowFate
from ..trash.progress import EVERY, Progress, Stage, Tell, never, quiet, summary
from ..trash.shelf import Bundle, describe, discard, sweep, ties_of
from ..trash.tables import Layout, TableRows, filled, prompt_columns, read_links
from ..wording import _
from .delete_plan import PREVIEW, Affected, affected_by_delete, plan_delete
from .guards import Needs, check_writable
from .known_triggers import check_triggers
from .search_index import SearchIndexes
from .table_counts import TableCounts
from .transaction import Transaction, file_identity, write

NEEDS = Needs(tables=frozenset({"sessions", "messages"}), columns=frozenset({"parent_session_id"}))
_SESSIONS_AT_ONCE = 50


class Deleted(NamedTuple):
    """A delete that was done; restoring the bundle undoes it."""

    bundle: Bundle
    conversations: tuple[str, ...]
    """Tips of the requested conversations."""
    sessions: tuple[str, ...]
    """All deleted sessions, segments and subagents."""
    reparented: tuple[str, ...]
    """Sessions that remain and have lost their parent."""
    messages: int
    files: tuple[str, ...]
    """Names of files of Hermes that were moved to the bundle."""
    notes: tuple[str, ...]
    """A sentence for each thing that went wrong."""

    @property
    def sentence(self) -> str:
        """Summary in the past tense."""
        return summary(
            _("deleted {sessions}, {messages} to the trash"), len(self.sessions), self.messages
        )


def delete(
    store: Store,
    session_ids: Sequence[str],
    trash: Path,
    *,
    now: float | None = None,
    catalog: Catalog | None = None,
    sessions_folder: Path | None = None,
    stop: Callable[[], bool] = never,
    tell: Tell = quiet,
) -> Deleted:
    """Move conversations to the trash, all of them in one bundle and one transaction, or none.

    Other writers wait for the transaction, about one second per 1,500 messages, mostly for the
    search index. A clean-up therefore deletes in portions.

    Args:
        session_ids: Any segments of the conversations.
        trash: The folder of the bundles.
        now: Unix seconds; default the clock.
        catalog: Of the whole store; may be slightly out of date, since whatever has changed is
            refused.
        sessions_folder: Where Hermes keeps files of sessions, if there is such a folder.
        stop: Polled between statements until the rows are deleted.
        tell: Receives progress reports.

    Raises:
        RefusedError: Protected, changed meanwhile, or the trash cannot take it; nothing was
            changed.
        NotFoundError: There is no such session.
        StoreError: The store cannot be read or written, or is busy.
        QueryInterruptedError: It was stopped; nothing was changed.
        WriteUnverifiedError: It was done, and does not read back as it should; the bundle stays.
        WriteInDoubtError: The commit failed; the bundle stays, and the sentence says what the store
            holds now.
    """
    moment = time.time() if now is None else now
    progress = Progress(stop, tell)
    with store.reader() as reader:
        version, identity = reader.value(DATA_VERSION), file_identity(store.path)
        if catalog is None:
            catalog = read_catalog(reader, moment)
        doomed = plan_delete(reader, catalog, session_ids, moment)
        check_writable(store, reader, NEEDS)
        affected = doomed.affected
        _check_ids(reader, affected)
        titles = _titles(reader, doomed.conversations)
        contents = _contents(
            reader, affected.sessions, doomed.conversations, titles, trash, sessions_folder
        )
        sweep(trash, moment)
        written = write_bundle(reader, contents, trash, moment, progress, messages=doomed.messages)
        _check_orphans(affected, written)
        index_notes: list[str] = []

        def work(tx: Transaction) -> None:
            if file_identity(store.path) != identity:
                replaced = _("{path} was replaced by another file meanwhile. Nothing was changed.")
                raise RefusedError(replaced.format(path=store.path))
            _check_unchanged(
                tx, affected, written, no_commit_since=version == reader.value(DATA_VERSION)
            )
            check_triggers(tx.rows, _written_tables(written.layout))
            counts = TableCounts(tx.rows)
            prompts = delete_rows(tx, affected, written.layout, progress, doomed.messages)
            counts.check(_rows_in_bundle(written) | {"system_prompts": prompts})
            indexes = SearchIndexes(tx)
            if indexes.is_ours:
                index_notes.extend(indexes.compare())

        holds = _(
            "The bundle {name} in the trash has everything; `hermes-browse trash restore {name}` restores it."
        )
        try:
            write(
                store,
                work,
                lambda fresh, _none: _check_gone(fresh, affected, written),
                needs=NEEDS,
                beside=reader,
                in_doubt=holds.format(name=written.manifest.name),
            )
        except (WriteInDoubtError, WriteUnverifiedError):
            raise  # the rows may be gone: keep the bundle
        except BaseException:
            _discard_bundle(reader, affected, written)
            raise
    notes = session_files.remove(contents.files)
    return Deleted(
        bundle=describe(written.path),
        conversations=contents.conversations,
        sessions=affected.sessions,
        reparented=written.reparented,
        messages=written.manifest.messages,
        files=tuple(each.name for each in written.manifest.files),
        notes=(*index_notes, *notes),
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

    This protects them in stores without pins: when Hermes deletes them by itself, the bundle
    restores them. Arguments as of `delete`.

    Raises:
        TrashError: The trash cannot take it.
        StoreError: The store cannot be read.
    """
    sessions = affected_by_delete(catalog.forest, [each.id for each in conversations]).sessions
    with store.reader() as reader:
        titles = tuple(each.title for each in conversations)
        contents = _contents(reader, sessions, conversations, titles, trash, sessions_folder)
        return describe(write_bundle(reader, contents, trash, now).path)


def _contents(
    reader: Reader,
    sessions: tuple[str, ...],
    conversations: Sequence[Conversation],
    titles: tuple[str | None, ...],
    trash: Path,
    sessions_folder: Path | None,
) -> Contents:
    tips = tuple(each.id for each in conversations)
    found = session_files.find(reader, sessions_folder, sessions)
    return Contents(sessions, tips, titles, found, ties_of(reader, trash, sessions))


def _titles(reader: Reader, conversations: Sequence[Conversation]) -> tuple[str | None, ...]:
    titles = [each.title for each in conversations]
    if titles[0] is None:  # the first title names the bundle: fall back to the first words
        titles[0] = one_line(read_preview(reader, conversations[0].segments), PREVIEW) or None
    return tuple(titles)


def _check_ids(reader: Reader, affected: Affected) -> None:
    rows = reader.rows_in(
        "SELECT id FROM sessions WHERE id IN ({keys}) AND typeof(id) = 'text'", affected.sessions
    )
    if {row[0] for row in rows} != set(affected.sessions):
        raise RefusedError(
            _(
                "The id of one of its sessions is no proper text, or the session is gone. Nothing was changed."
            ),
            remedy=_("`hermes sessions repair` may help."),
        )


def _check_orphans(affected: Affected, written: WrittenBundle) -> None:
    """Refuse if a session that the plan did not list would lose its parent: a new child may be a
    continuation."""
    planned = {session.id for session in affected.orphaned}
    if not planned.issuperset(written.reparented):
        discard(written.path)
        raise RefusedError(
            _("The conversation has changed meanwhile: it has another child. Nothing was changed.")
        )


def _discard_bundle(reader: Reader, affected: Affected, written: WrittenBundle) -> None:
    """Remove the bundle of a delete that failed before its commit, but only if all its sessions are
    in the store."""
    try:
        rows = reader.rows_in("SELECT id FROM sessions WHERE id IN ({keys})", affected.sessions)
        if len(rows) == len(affected.sessions):
            discard(written.path)
    except BrowseError:
        return


def _check_unchanged(
    tx: Transaction, affected: Affected, written: WrittenBundle, *, no_commit_since: bool
) -> None:
    """Refuse if the rows in the store, now locked, are not those of the bundle.

    With `no_commit_since`, nobody has committed since the bundle was begun, so rows need not be
    read again.
    """
    busy = _find_busy(tx, (*affected.sessions, *affected.family_roots))
    if busy is not None:
        begun = _(
            "{session} is being written to: a turn or a compression has begun. Nothing was changed."
        )
        raise RefusedError(begun.format(session=busy))
    if no_commit_since:
        return
    ids, layout = affected.sessions, written.layout
    if tuple(read_links(tx, layout, ids)) != written.manifest.links:
        raise RefusedError(
            _("The conversation has changed meanwhile: it has other children. Nothing was changed.")
        )
    if rows_digest(tx, layout, ids) != written.manifest.taken:
        raise RefusedError(
            _(
                "The conversation is being written to: it has changed meanwhile. Nothing was changed."
            )
        )


def _written_tables(layout: Layout) -> set[str]:
    """Return the tables whose rows a delete removes or changes."""
    taken = {part.table for part in layout.parts if part.fate is not RowFate.MENTIONED}
    return taken | {loose.table for loose in layout.loose}


def _rows_in_bundle(written: WrittenBundle) -> dict[str, int]:
    """Return how many rows of each table the bundle has that the delete removes."""
    tables = written.manifest.tables.items()
    return {name: table.rows for name, table in tables if table.fate is RowFate.TAKEN}


def _find_busy(tx: Transaction, ids: Sequence[str]) -> str | None:
    """Return a session that has a live lease or lock."""
    for table, column in tx.schema.leases:
        live = f"SELECT {column} FROM {table} WHERE expires_at > ? AND {column} IN ({{keys}})"
        if rows := tx.rows_in(live, ids, [time.time()]):
            return as_text(rows[0][0])
    return None


def delete_rows(
    tx: Transaction, affected: Affected, layout: Layout, progress: Progress, messages: int
) -> int:
    """Delete all rows that belong to the sessions, and their prompts that no other session uses.

    `messages`, the number of them, is used only in progress reports.

    Returns:
        How many prompts were deleted.

    Raises:
        QueryInterruptedError: It was stopped; the transaction must be rolled back.
    """
    ids, deleted = affected.sessions, 0
    prompts = _prompt_hashes(tx, ids)
    for loose in (
        layout.loose
    ):  # also links within the family: then the order of sessions is free, even in a cycle
        for condition, chunk in filled(loose.condition, ids):
            tx.execute(
                f"UPDATE {sql_name(loose.table)} SET {sql_name(loose.column)} = NULL WHERE {condition}",
                chunk,
            )
    indexes = SearchIndexes(tx)
    # Reversed: rows that refer to others first; messages before sessions, which the triggers of the
    # substring index read (0.22).
    for part in reversed([part for part in layout.parts if part.fate is RowFate.TAKEN]):
        for condition, chunk in filled(part.condition, ids, _SESSIONS_AT_ONCE):
            progress.check()
            if part.table == "messages" and part.rowid:
                for count in _delete_messages(tx, indexes, part, condition, chunk):
                    deleted += count
                    progress.tell(Stage("deleting", deleted, messages))
                    progress.check()
            else:
                tx.execute(f"DELETE FROM {sql_name(part.table)} WHERE {condition}", chunk)
    unused = " AND ".join(
        f"NOT EXISTS (SELECT 1 FROM sessions WHERE sessions.{column} = system_prompts.hash)"
        for column in prompt_columns(tx.schema.session_columns)
    )
    delete_prompt = f"DELETE FROM system_prompts WHERE hash = CAST(? AS TEXT) AND {unused}"
    return sum(tx.execute(delete_prompt, [prompt]) for prompt in prompts)


def _delete_messages(
    tx: Transaction, indexes: SearchIndexes, part: TableRows, condition: str, ids: Sequence[str]
) -> Iterator[int]:
    """Delete the messages of some sessions in portions, all within the transaction; yield the size
    of each."""
    portion = f"SELECT {part.rowid} FROM {sql_name(part.table)} WHERE {condition} LIMIT {EVERY}"
    delete_in = f"DELETE FROM {sql_name(part.table)} WHERE {part.rowid} IN "
    if not indexes.is_ours:
        while count := tx.execute(f"{delete_in}({portion})", ids):
            yield count
        return
    while rowids := [row[0] for row in tx.rows(portion, ids)]:
        indexes.before_delete(rowids)
        yield tx.execute(f"{delete_in}({','.join('?' * len(rowids))})", rowids)


def _prompt_hashes(tx: Transaction, ids: Sequence[str]) -> list[bytes]:
    """Return the hashes of the sessions' prompts, as bytes, because a damaged one may not be
    UTF-8."""
    if "system_prompts" not in tx.schema.tables:
        return []
    hashes: set[bytes] = set()
    for column in prompt_columns(tx.schema.session_columns):
        condition = f"typeof({column}) = 'text' AND id IN ({{keys}})"
        rows = tx.rows_in(
            f"SELECT DISTINCT CAST({column} AS BLOB) FROM sessions WHERE {condition}", ids
        )
        hashes.update(bytes(row[0]) for row in rows if isinstance(row[0], bytes))
    return sorted(hashes)


def _check_gone(reader: Reader, affected: Affected, written: WrittenBundle) -> None:
    """Raise WriteUnverifiedError if a deleted row is still in the store."""
    for part in written.layout.parts:
        if part.fate is RowFate.TAKEN:
            for condition, chunk in filled(part.condition, affected.sessions):
                if reader.rows(
                    f"SELECT 1 FROM {sql_name(part.table)} WHERE {condition} LIMIT 1", chunk
                ):
                    raise WriteUnverifiedError(
                        _("Rows of {table} are still there, though they were deleted.").format(
                            table=part.table
                        ),
                        remedy=_("The bundle {name} in the trash holds all of them.").format(
                            name=written.manifest.name
                        ),
                    )
