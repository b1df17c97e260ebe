"""Delete conversations into the trash: first write a complete bundle to disk, then delete.

Stricter than Hermes, which deletes single sessions for good (0.13 to 0.22): whole conversations,
none that is live or pinned, and only rows that are, in the transaction itself, still those of the
bundle.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from ..connection.connect import Store
from ..connection.reader import Reader
from ..connection.stored_values import as_int
from ..errors import BrowseError, RefusedError, WriteInDoubtError
from ..messages.preview import read_preview
from ..sessions.catalog import Catalog
from ..sessions.models import Conversation
from ..text import one_line
from ..trash.bundle import SavedConversation, TrashError
from ..trash.copying import WrittenBundle, check_room, write_bundle
from ..trash.progress import NOBODY, Portions, Progress, summary
from ..trash.session_files import SessionFile, find_files, remove_files
from ..trash.shelf import Bundle, BundleMarks, describe, discard, settle, sweep, write_marks
from ..wording import N_, _
from .delete_plan import PREVIEW, DeletePlan, divide, plan_delete, plans_of
from .delete_rows import (
    attach,
    check_gone,
    check_not_busy,
    check_unchanged,
    choose,
    count_changes,
    delete_rows,
)
from .guards import CONVERSATIONS, check_search_triggers, check_triggers
from .transaction import Writer, writing

T = TypeVar("T")

OTHER_CHILD = N_("The conversation has changed meanwhile: it has another child.")
_LOG_SHARE = 3
"""Bytes by which the log may grow for each byte of rows and search indexes: 2 were observed, because
each portion writes pages of the indexes anew (0.19)."""


class Deleted(NamedTuple):
    """A delete that was done; restoring the bundle undoes it."""

    bundle: Bundle
    """With the conversations and sessions that are gone."""
    reparented: tuple[str, ...]
    """Sessions that remain and have lost their parent."""
    files: tuple[str, ...]
    """Names of files of Hermes that were moved to the bundle."""
    notes: tuple[str, ...]
    """A sentence for each thing that went wrong."""

    @property
    def sentence(self) -> str:
        """Summary in the past tense."""
        words = _("deleted {sessions}, {messages} to the trash")
        return summary(words, len(self.bundle.sessions), self.bundle.messages)


def delete(
    store: Store,
    session_ids: Sequence[str],
    trash: Path,
    *,
    now: float | None = None,
    sessions_folder: Path | None = None,
    progress: Progress = NOBODY,
) -> Deleted:
    """Move conversations to the trash, all of them in one bundle and one transaction, or none.

    Other writers wait for the transaction, about one second per 1,500 messages, mostly for the
    search index. A clean-up therefore deletes in portions.

    Args:
        session_ids: Any segments of the conversations.
        trash: The folder of the bundles.
        now: Unix seconds; default the clock.
        sessions_folder: Where Hermes keeps files of sessions, if there is such a folder.
        progress: Receives reports, and is asked for a stop until the rows are deleted.

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
        whole = Portions([plan_delete(reader, session_ids, moment)], len)
        return delete_portions(store, reader, whole, list, trash, moment, sessions_folder, progress)


def delete_portions(
    store: Store,
    reader: Reader,
    portions: Portions[T],
    plans_of: Callable[[T], Sequence[DeletePlan]],
    trash: Path,
    now: float,
    sessions_folder: Path | None,
    progress: Progress,
) -> Deleted:
    """Write one bundle of all that is planned, then delete it, one item after the other or several
    at once.

    If nothing was deleted in the end, the bundle is removed; what was left is marked beside it.
    The reader that the plans were made with is closed, but only when the store is open again:
    without any other connection, SQLite would make the index of the log anew from the whole log.

    Raises:
        RefusedError: It is not safe, or a session that the plans do not list would lose its parent:
            a new child may be a continuation.
        BrowseError: As of `delete`, if nothing was done before; else it is in `portions.error`.
    """

    def plans(items: Iterable[T]) -> list[DeletePlan]:
        return [plan for item in items for plan in plans_of(item)]

    def delete_some(items: Sequence[T]) -> None:
        _delete_portion(writer, bundle, version, plans(items), progress)

    def files_gone() -> list[SessionFile]:
        gone = {session for plan in plans(portions.done) for session in plan.sessions}
        return [file for file in bundle.files if file.session in gone]

    def end() -> None:
        notes.extend(remove_files(files_gone()))
        doubtful = {plan.conversation.id for plan in plans(portions.doubtful)}
        marks = settle(bundle.path, bundle.facts, doubtful)
        if len(marks.kept) == len(bundle.facts.conversations):
            with contextlib.suppress(TrashError):
                discard(bundle.path)

    planned, notes = plans(portions.items), list[str]()
    try:
        with contextlib.ExitStack() as after, writing(store, CONVERSATIONS) as writer:
            reader.close()
            version = writer.version()
            check_search_triggers(writer.reader)
            _check_room(writer.reader, trash, planned)
            sweep(trash, now)
            bundle = _write(writer.reader, planned, trash, now, sessions_folder, progress)
            after.callback(end)
            orphaned = {session.id for plan in planned for session in plan.orphaned}
            if not orphaned.issuperset(bundle.reparented):
                raise RefusedError(_(OTHER_CHILD), is_unchanged=True)
            check_triggers(writer.rows, {part.table.name for part in bundle.layout.parts})
            write_marks(bundle.path, BundleMarks(deleting=os.getpid()))
            attach(writer, bundle.path)
            count_changes(writer, bundle.layout)
            progress.begin("deleting", bundle.facts.messages)
            portions.run(delete_some, writer.version)
    except BrowseError as error:
        if not portions.done:
            raise
        portions.error = error
    names = tuple(file.path.name for file in files_gone())
    return Deleted(describe(bundle.path), bundle.reparented, names, tuple(notes))


def _delete_portion(
    writer: Writer,
    bundle: WrittenBundle,
    version: object,
    plans: Sequence[DeletePlan],
    progress: Progress,
) -> None:
    """Delete some conversations in one transaction; `version` is that of the store before it was
    copied."""
    layout = bundle.layout
    sessions = [session for plan in plans for session in plan.sessions]
    roots = [root for plan in plans for root in plan.family_roots]

    def work(tx: Writer) -> None:
        check_not_busy(tx, [*sessions, *roots])
        choose(tx, sessions)
        if tx.version() != version:
            check_unchanged(tx, layout)
        delete_rows(tx, layout, progress)

    try:
        writer.run(work, lambda reader, _none: check_gone(reader, bundle.facts.name, sessions))
    except WriteInDoubtError as error:
        error.remedy = _(
            "The deletion {name} in the trash has everything; `hermes-browse trash restore {name}` restores it.",
            name=bundle.facts.name,
        )
        raise


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
        tips = [conversation.id for conversation in conversations]
        plans = divide(reader, plans_of(catalog, tips))
        bundle = _write(reader, plans, trash, now, sessions_folder, NOBODY)
        return describe(bundle.path)


def _write(
    reader: Reader,
    plans: Sequence[DeletePlan],
    trash: Path,
    now: float,
    sessions_folder: Path | None,
    progress: Progress,
) -> WrittenBundle:
    saved = [SavedConversation(p.conversation.id, p.conversation.title, p.sessions) for p in plans]
    if saved[0].title is None:  # the first title names the bundle: fall back to the first words
        words = one_line(read_preview(reader, plans[0].conversation.segments), PREVIEW) or None
        saved[0] = saved[0]._replace(title=words)
    files = find_files(sessions_folder, [session for plan in plans for session in plan.sessions])
    progress.begin("saving", sum(plan.messages for plan in plans))
    return write_bundle(reader, saved, files, trash, now, progress)


def _check_room(reader: Reader, trash: Path, plans: Sequence[DeletePlan]) -> None:
    """Refuse if bundle and log need more than the disks have, by the average message."""
    pages, free, size, total = (
        as_int(reader.value(sql))
        for sql in (
            "PRAGMA page_count",
            "PRAGMA freelist_count",
            "PRAGMA page_size",
            "SELECT count(*) FROM messages",
        )
    )
    messages = sum(plan.messages for plan in plans)
    needed = (pages - free) * size * messages // max(total, 1)
    bundle = _("The deletion needs about {needed}, and the disk of {folder} has {free} free.")
    check_room(trash.parent, needed, bundle)
    log = _(
        "The log beside the store may take {needed} for a while, and the disk of {folder} has {free} free."
    )
    check_room(reader.path.parent, needed * _LOG_SHARE, log)
