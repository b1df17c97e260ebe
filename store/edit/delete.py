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
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from ..connection.connect import Store
from ..connection.reader import Reader
from ..connection.stored_values import as_int
from ..errors import BrowseError, RefusedError, WriteInDoubtError, WriteUnverifiedError
from ..messages.preview import read_preview
from ..sessions.catalog import Catalog, read_catalog
from ..sessions.models import Conversation
from ..text import one_line
from ..trash.bundle import SavedConversation
from ..trash.copying import WrittenBundle, check_room, write_bundle
from ..trash.progress import NOBODY, Progress, Stage, Tell, never, quiet, summary
from ..trash.session_files import SessionFile, find_files, remove_files
from ..trash.shelf import Bundle, BundleMarks, describe, discard, sweep, write_marks
from ..trash.tables import RowFate
from ..wording import _
from .delete_plan import PREVIEW, DeletePlan, divide, plan_delete
from .delete_rows import (
    attach,
    check_gone,
    check_not_busy,
    check_unchanged,
    choose,
    count_changes,
    delete_rows,
)
from .guards import Needs, check_search_triggers
from .known_triggers import check_triggers
from .transaction import Writer, writing

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
        plans = plan_delete(reader, catalog, session_ids, moment)
        progress = Progress(stop, tell)
        with deleting(store, reader, plans, trash, moment, sessions_folder, progress) as work:
            work.delete(plans)
    return work.finish()


@contextlib.contextmanager
def deleting(
    store: Store,
    reader: Reader,
    plans: Sequence[DeletePlan],
    trash: Path,
    now: float,
    sessions_folder: Path | None,
    progress: Progress,
) -> Iterator[Deleting]:
    """Open the store, and write the bundle of what is to be deleted, in one portion or many.

    If nothing was deleted in the end, the bundle is removed; what was left is marked beside it.
    The reader that the plans were made with is closed, but only when the store is open again:
    without any other connection, SQLite would make the index of the log anew from the whole log.
    """
    with contextlib.ExitStack() as after, writing(store, NEEDS) as writer:
        reader.close()
        version = writer.version()
        check_search_triggers(writer.reader)
        _check_ids(writer.reader, plans)
        _check_room(writer.reader, trash, plans)
        sweep(trash, now)
        bundle, files = _write(writer.reader, plans, trash, now, sessions_folder, progress)
        work = Deleting(store, writer, version, plans, bundle, files, progress)
        after.callback(work.mark)
        work.begin()
        yield work


@dataclass
class Deleting:
    """The delete of conversations that are in a bundle; made by `deleting`."""

    store: Store
    writer: Writer
    copied: object
    """The version of the store before the bundle was written."""
    plans: Sequence[DeletePlan]
    bundle: WrittenBundle
    files: Sequence[SessionFile]
    progress: Progress
    done: list[DeletePlan] = field(default_factory=list)
    doubtful: Sequence[DeletePlan] = ()
    """Those of a portion whose commit failed, or that did not read back."""

    def begin(self) -> None:
        """Mark that the delete is under way, and attach the bundle.

        Raises:
            RefusedError: A session that the plan did not list would lose its parent: a new child
                may be a continuation.
        """
        planned = {session.id for plan in self.plans for session in plan.orphaned}
        if not planned.issuperset(self.bundle.reparented):
            raise RefusedError(
                _("The conversation has changed meanwhile: it has another child."),
                is_unchanged=True,
            )
        layout = self.bundle.layout
        written = {part.table.name for part in layout.of(RowFate.TAKEN, RowFate.SHARED)}
        check_triggers(self.writer.rows, written)
        write_marks(self.bundle.path, BundleMarks(deleting=os.getpid()))
        attach(self.writer, self.bundle.path)
        count_changes(self.writer, layout)

    def delete(self, plans: Sequence[DeletePlan]) -> None:
        """Delete some of the conversations in one transaction."""
        sessions = [session for plan in plans for session in plan.sessions]
        roots = [root for plan in plans for root in plan.family_roots]
        layout, facts = self.bundle.layout, self.bundle.facts
        deleted = sum(plan.messages for plan in self.done)

        def work(tx: Writer) -> None:
            check_not_busy(tx, [*sessions, *roots])
            choose(tx, sessions)
            if tx.version() != self.copied:
                check_unchanged(tx, layout)
            delete_rows(tx, layout, self.progress, Stage("deleting", deleted, facts.messages))

        def verify(reader: Reader, _none: None) -> None:
            check_gone(reader, self.bundle.path, layout, sessions)

        try:
            self.writer.run(work, verify)
        except (WriteInDoubtError, WriteUnverifiedError) as error:
            self.doubtful = plans
            if isinstance(error, WriteInDoubtError):
                holds = _(
                    "The bundle {name} in the trash has everything; `hermes-browse trash restore {name}` restores it."
                )
                error.remedy = holds.format(name=facts.name)
            raise
        self.done += plans

    def mark(self) -> None:
        """Mark beside the bundle what is still in the store; without anything else, remove it."""
        path, sessions = self.bundle.path, self.bundle.facts.sessions
        gone = [*self.done, *self.doubtful]
        if gone:
            kept = [plan.conversation.id for plan in self.plans if plan not in gone]
            write_marks(path, BundleMarks(kept=tuple(kept)))
            return
        with contextlib.suppress(BrowseError), self.store.reader() as reader:
            rows = reader.rows_in("SELECT id FROM sessions WHERE id IN ({keys})", sessions)
            if len(rows) == len(sessions):
                discard(path)

    def finish(self) -> Deleted:
        """Remove the files of the deleted sessions; return what was done."""
        sessions = {session for plan in self.done for session in plan.sessions}
        files = [file for file in self.files if file.session in sessions]
        notes = remove_files(files)
        bundle = describe(self.bundle.path)
        return Deleted(
            bundle=bundle,
            conversations=bundle.conversations,
            sessions=bundle.sessions,
            reparented=self.bundle.reparented,
            messages=bundle.messages,
            files=tuple(file.path.name for file in files),
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
        plans = divide(reader, catalog.forest, [each.id for each in conversations])
        bundle, _files = _write(reader, plans, trash, now, sessions_folder, NOBODY)
        return describe(bundle.path)


def _write(
    reader: Reader,
    plans: Sequence[DeletePlan],
    trash: Path,
    now: float,
    sessions_folder: Path | None,
    progress: Progress,
) -> tuple[WrittenBundle, list[SessionFile]]:
    saved = [SavedConversation(p.conversation.id, p.conversation.title, p.sessions) for p in plans]
    if saved[0].title is None:  # the first title names the bundle: fall back to the first words
        words = one_line(read_preview(reader, plans[0].conversation.segments), PREVIEW) or None
        saved[0] = saved[0]._replace(title=words)
    files = find_files(sessions_folder, [session for plan in plans for session in plan.sessions])
    messages = sum(plan.messages for plan in plans)
    bundle = write_bundle(reader, saved, files, trash, now, progress, messages=messages)
    return bundle, files


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
    bundle = _("The bundle needs about {needed}, and the disk of {folder} has {free} free.")
    check_room(trash.parent, needed, bundle)
    log = _(
        "The log beside the store may take {needed} for a while, and the disk of {folder} has {free} free."
    )
    check_room(reader.path.parent, needed * _LOG_SHARE, log)


def _check_ids(reader: Reader, plans: Sequence[DeletePlan]) -> None:
    sessions = [session for plan in plans for session in plan.sessions]
    rows = reader.rows_in(
        "SELECT id FROM sessions WHERE id IN ({keys}) AND typeof(id) = 'text'", sessions
    )
    if {row[0] for row in rows} != set(sessions):
        raise RefusedError(
            _("The id of one of its sessions is no proper text, or the session is gone."),
            remedy=_("`hermes sessions repair` may help."),
            is_unchanged=True,
        )
