"""Delete conversations into the trash: first write a complete bundle to disk, then delete.

Stricter than Hermes, which deletes single sessions for good (0.13 to 0.22): whole conversations,
none that is live or pinned, and only rows that are, in the transaction itself, still those of the
bundle.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ..connection.connect import Store
from ..connection.reader import DATA_VERSION, Reader
from ..connection.stored_values import as_int
from ..errors import BrowseError, RefusedError, WriteInDoubtError, WriteUnverifiedError
from ..messages.preview import read_preview
from ..messages.transcript import count_stored_rows
from ..sessions.catalog import Catalog, read_catalog
from ..sessions.models import Conversation
from ..text import one_line
from ..trash import session_files
from ..trash.bundle import SavedConversation
from ..trash.copying import WrittenBundle, check_room, write_bundle
from ..trash.links import record
from ..trash.progress import Progress, Stage, Tell, never, quiet, summary
from ..trash.shelf import Bundle, BundleMarks, describe, discard, sweep, write_marks
from ..wording import _
from .delete_plan import PREVIEW, Affected, affected_by_delete, plan_delete
from .delete_rows import (
    attach,
    check_gone,
    check_not_busy,
    check_search_triggers,
    check_unchanged,
    choose,
    count_changes,
    delete_rows,
)
from .guards import Needs, check_writable
from .known_triggers import check_triggers
from .transaction import StoreWriter, Transaction, file_identity, writing

NEEDS = Needs(tables=frozenset({"sessions", "messages"}), columns=frozenset({"parent_session_id"}))
_LOG_SHARE = 3
"""Bytes by which the log may grow for each byte of rows and search indexes: 2 were observed, because
each portion writes pages of the indexes anew (0.19)."""


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


class Doomed(NamedTuple):
    """A conversation that is to be deleted with its subagents."""

    conversation: Conversation
    sessions: tuple[str, ...]
    orphaned: frozenset[str]
    """Sessions that stay and lose their parent, as planned."""
    family_roots: tuple[str, ...]
    """See `Affected`."""
    messages: int


def list_doomed(
    reader: Reader, catalog: Catalog, conversations: Sequence[Conversation], affected: Affected
) -> list[Doomed]:
    """Divide what a delete takes among its conversations."""
    left = set(affected.sessions)
    orphaned = frozenset(each.id for each in affected.orphaned)
    counts = count_stored_rows(reader, affected.sessions)
    doomed: list[Doomed] = []
    for each in conversations:
        own = affected_by_delete(catalog.forest, [each.id]).sessions
        sessions = tuple(session for session in own if session in left)
        left.difference_update(sessions)
        messages = sum(counts.get(session, 0) for session in sessions)
        doomed.append(Doomed(each, sessions, orphaned, affected.family_roots, messages))
    return doomed


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
    with store.reader() as reader:
        if catalog is None:
            catalog = read_catalog(reader, moment)
        plan = plan_delete(reader, catalog, session_ids, moment)
        doomed = list_doomed(reader, catalog, plan.conversations, plan.affected)
        with deleting(
            store, reader, doomed, trash, moment, sessions_folder, Progress(stop, tell)
        ) as work:
            work.delete(doomed)
    return work.finish()


@contextlib.contextmanager
def deleting(
    store: Store,
    reader: Reader,
    doomed: Sequence[Doomed],
    trash: Path,
    now: float,
    sessions_folder: Path | None,
    progress: Progress,
) -> Iterator[Deleting]:
    """Write a bundle, and open the store to delete what is in it, in one portion or many.

    If nothing was deleted in the end, the bundle is removed; what was left is marked beside it.
    """
    check_writable(store, reader, NEEDS)
    check_search_triggers(reader)
    version, identity = reader.value(DATA_VERSION), file_identity(store.path)
    sessions = [session for each in doomed for session in each.sessions]
    _check_ids(reader, sessions)
    messages = sum(each.messages for each in doomed)
    _check_room(reader, trash, messages)
    sweep(trash, now)
    files = session_files.find(reader.rows_in, sessions_folder, sessions)
    saved = _saved(reader, doomed)
    bundle = write_bundle(reader, saved, files, trash, now, progress, messages=messages)
    work = Deleting(reader, bundle, doomed, files, progress)
    holds = _(
        "The bundle {name} in the trash has everything; `hermes-browse trash restore {name}` restores it."
    )
    try:
        _check_orphans(doomed, bundle)
        record(trash, reader, bundle.facts)
        write_marks(bundle.path, BundleMarks(deleting=os.getpid()))
        in_doubt = holds.format(name=bundle.facts.name)
        with writing(store, needs=NEEDS, beside=reader, in_doubt=in_doubt) as writer:
            if file_identity(store.path) != identity:
                replaced = _("{path} was replaced by another file meanwhile.")
                raise RefusedError(replaced.format(path=store.path), is_unchanged=True)
            attach(writer.outside, bundle.path)
            count_changes(writer.outside)
            work.open(writer, is_moved=version != reader.value(DATA_VERSION))
            yield work
    except (WriteInDoubtError, WriteUnverifiedError) as error:
        work.is_doubtful = True
        raise error
    finally:
        work.mark()


class Deleting:
    """The delete of conversations that are in a bundle; made by `deleting`."""

    def __init__(
        self,
        reader: Reader,
        bundle: WrittenBundle,
        doomed: Sequence[Doomed],
        files: Sequence[session_files.SessionFile],
        progress: Progress,
    ) -> None:
        self._reader, self._bundle, self._doomed = reader, bundle, doomed
        self._files, self._progress = files, progress
        self._stage = Stage("deleting", 0, bundle.facts.messages)
        self._done: list[Doomed] = []
        self._tried: list[Doomed] = []
        self.is_doubtful = False
        """Whether what was tried last may be gone from the store."""

    def open(self, writer: StoreWriter, *, is_moved: bool) -> None:
        """Begin with a writer that has the bundle attached.

        `is_moved` tells whether another process may have changed rows since they were copied.
        """
        self._writer, self._is_moved = writer, is_moved
        self._version = writer.outside.rows(DATA_VERSION)

    def has_moved(self) -> bool:
        """Return whether another process has committed since this was last asked."""
        before, self._version = self._version, self._writer.outside.rows(DATA_VERSION)
        self._is_moved = self._is_moved or before != self._version
        return before != self._version

    def delete(self, some: Sequence[Doomed]) -> None:
        """Delete some of the conversations in one transaction."""
        self._tried = list(some)
        sessions = [session for each in some for session in each.sessions]
        roots = [root for each in some for root in each.family_roots]
        layout = self._bundle.layout

        def work(tx: Transaction) -> Stage:
            check_not_busy(tx, [*sessions, *roots])
            check_triggers(tx.rows, layout.written)
            choose(tx, sessions)
            before = self._version
            self.has_moved()
            if self._is_moved:
                check_unchanged(tx, layout)
            self._version = before  # whoever pauses asks as well
            return delete_rows(tx, layout, self._progress, self._stage)

        def verify(reader: Reader, _stage: Stage) -> None:
            check_gone(reader, layout, sessions, self._bundle.facts.name)

        self._stage = self._writer.run(work, verify)
        self._done += some

    def mark(self) -> None:
        """Mark beside the bundle what is still in the store; without anything else, remove it."""
        done = [*self._done, *(self._tried if self.is_doubtful else ())]
        if done:
            kept = [each.conversation.id for each in self._doomed if each not in done]
            write_marks(self._bundle.path, BundleMarks(kept=tuple(kept)))
            return
        sessions = self._bundle.facts.sessions
        with contextlib.suppress(BrowseError):
            rows = self._reader.rows_in("SELECT id FROM sessions WHERE id IN ({keys})", sessions)
            if len(rows) == len(sessions):
                discard(self._bundle.path)

    def finish(self) -> Deleted:
        """Remove the files of the deleted sessions; return what was done."""
        sessions = {session for each in self._done for session in each.sessions}
        notes = session_files.remove([each for each in self._files if each.session in sessions])
        bundle = describe(self._bundle.path)
        return Deleted(
            bundle=bundle,
            conversations=bundle.conversations,
            sessions=bundle.sessions,
            reparented=self._bundle.reparented,
            messages=bundle.messages,
            files=tuple(each.path.name for each in self._files if each.session in sessions),
            notes=tuple(notes),
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
    with store.reader() as reader:
        affected = affected_by_delete(catalog.forest, [each.id for each in conversations])
        doomed = list_doomed(reader, catalog, conversations, affected)
        files = session_files.find(reader.rows_in, sessions_folder, affected.sessions)
        saved = [
            SavedConversation(d.conversation.id, d.conversation.title, d.sessions) for d in doomed
        ]
        bundle = write_bundle(reader, saved, files, trash, now)
        record(trash, reader, bundle.facts)
        return describe(bundle.path)


def _saved(reader: Reader, doomed: Sequence[Doomed]) -> list[SavedConversation]:
    saved = [
        SavedConversation(each.conversation.id, each.conversation.title, each.sessions)
        for each in doomed
    ]
    if saved[0].title is None:  # the first title names the bundle: fall back to the first words
        words = one_line(read_preview(reader, doomed[0].conversation.segments), PREVIEW) or None
        saved[0] = saved[0]._replace(title=words)
    return saved


def _check_room(reader: Reader, trash: Path, messages: int) -> None:
    """Refuse if bundle and log need more than the disks have, by the average message."""
    pages, free, size = (
        as_int(reader.value(f"PRAGMA {name}"))
        for name in ("page_count", "freelist_count", "page_size")
    )
    total = as_int(reader.value("SELECT count(*) FROM messages"))
    needed = (pages - free) * size * messages // max(total, 1)
    bundle = _("The bundle needs about {needed}, and the disk of {folder} has {free} free.")
    check_room(trash.parent, needed, bundle)
    log = _(
        "The log beside the store may take {needed} for a while, and the disk of {folder} has {free} free."
    )
    check_room(reader.path.parent, needed * _LOG_SHARE, log)


def _check_ids(reader: Reader, sessions: Sequence[str]) -> None:
    rows = reader.rows_in(
        "SELECT id FROM sessions WHERE id IN ({keys}) AND typeof(id) = 'text'", sessions
    )
    if {row[0] for row in rows} != set(sessions):
        raise RefusedError(
            _("The id of one of its sessions is no proper text, or the session is gone."),
            remedy=_("`hermes sessions repair` may help."),
            is_unchanged=True,
        )


def _check_orphans(doomed: Sequence[Doomed], bundle: WrittenBundle) -> None:
    """Refuse if a session that the plan did not list would lose its parent: a new child may be a
    continuation."""
    planned = {session for each in doomed for session in each.orphaned}
    if not planned.issuperset(bundle.reparented):
        raise RefusedError(
            _("The conversation has changed meanwhile: it has another child."), is_unchanged=True
        )
