"""Delete conversations into the trash: first write a complete bundle to disk, then delete.

Stricter than Hermes, which deletes single sessions for good (0.13 to 0.22): whole conversations,
none that is live or pinned, and only rows that are, in the transaction itself, still those of the
bundle.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Sequence
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
from ..trash.progress import NOBODY, Progress, summary
from ..trash.session_files import SessionFile, find_files, remove_files
from ..trash.shelf import Bundle, BundleMarks, describe, discard, sweep, write_marks
from ..wording import _
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
        plans = plan_delete(reader, read_catalog(reader, moment), session_ids, moment)
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

    Raises:
        RefusedError: It is not safe, or a session that the plans do not list would lose its parent:
            a new child may be a continuation.
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
        planned = {session.id for plan in plans for session in plan.orphaned}
        if not planned.issuperset(bundle.reparented):
            sentence = _("The conversation has changed meanwhile: it has another child.")
            raise RefusedError(sentence, is_unchanged=True)
        check_triggers(writer.rows, {part.table.name for part in bundle.layout.parts})
        write_marks(bundle.path, BundleMarks(deleting=os.getpid()))
        attach(writer, bundle.path)
        count_changes(writer, bundle.layout)
        progress.begin("deleting", bundle.facts.messages)
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

    def delete(self, plans: Sequence[DeletePlan]) -> None:
        """Delete some of the conversations in one transaction."""
        sessions = [session for plan in plans for session in plan.sessions]
        roots = [root for plan in plans for root in plan.family_roots]
        layout = self.bundle.layout

        def work(tx: Writer) -> None:
            check_not_busy(tx, [*sessions, *roots])
            choose(tx, sessions)
            if tx.version() != self.copied:
                check_unchanged(tx, layout)
            delete_rows(tx, layout, self.progress)

        def verify(reader: Reader, _none: None) -> None:
            check_gone(reader, self.bundle.path, layout, sessions)

        try:
            self.writer.run(work, verify)
        except (WriteInDoubtError, WriteUnverifiedError) as error:
            self.doubtful = plans
            if isinstance(error, WriteInDoubtError):
                error.remedy = _(
                    "The deletion {name} in the trash has everything; `hermes-browse trash restore {name}` restores it.",
                    name=self.bundle.facts.name,
                )
            raise
        self.done += plans

    def mark(self) -> None:
        """Mark beside the bundle what is still in the store; without anything else, remove it."""
        path, sessions = self.bundle.path, self.bundle.facts.sessions
        gone = {plan.conversation.id for plan in (*self.done, *self.doubtful)}
        if gone:
            tips = (plan.conversation.id for plan in self.plans)
            kept = [tip for tip in tips if tip not in gone]
            write_marks(path, BundleMarks(kept=tuple(kept)))
            return
        with contextlib.suppress(BrowseError), self.store.reader() as reader:
            rows = reader.rows_in("SELECT id FROM sessions WHERE id IN ({keys})", sessions)
            if len(rows) == len(sessions):
                discard(path)

    def finish(self) -> Deleted:
        """Remove the files of the deleted sessions; return what was done."""
        bundle = describe(self.bundle.path)
        sessions = {session for plan in self.done for session in plan.sessions}
        files = [file for file in self.files if file.session in sessions]
        names = tuple(file.path.name for file in files)
        return Deleted(bundle, self.bundle.reparented, names, tuple(remove_files(files)))


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
    progress.begin("saving", sum(plan.messages for plan in plans))
    return write_bundle(reader, saved, files, trash, now, progress), files


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
