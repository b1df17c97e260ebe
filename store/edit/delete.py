"""Delete conversations into the trash: first write a complete bundle to disk, then delete.

Stricter than Hermes, which deletes single sessions for good (0.13 to 0.22): whole conversations,
none that is live or pinned, and only rows that are, in the transaction itself, still those of the
bundle. In the statements the store is `main`, the bundle is attached as `bundle`, and the sessions
are in `temp.chosen`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

from ..cleanup.sizes import read_file_space
from ..connection.connect import Store
from ..connection.reader import Reader
from ..connection.stored_values import as_int
from ..errors import (
    BrowseError,
    RefusedError,
    WriteInDoubtError,
    WriteUnverifiedError,
)
from ..messages.decode import with_names
from ..progress import EVERY, NOBODY, Portions, Progress, summary
from ..sessions.catalog import read_catalog
from ..sessions.first_page import read_neighbourhood
from ..text import one_line
from ..trash.bundle import SavedConversation, TrashError, attach, choose
from ..trash.copying import (
    ChangedMeanwhileError,
    WrittenBundle,
    check_room,
    write_bundle,
)
from ..trash.session_files import SessionFile, remove_files
from ..trash.shelf import Bundle, BundleFate, describe, mark_kept, remove_bundle, remove_leftovers
from ..trash.tables import CHILDREN, LINK, Layout, equal, prompt_columns
from ..wording import _, ngettext
from .delete_plan import PREVIEW, DeletePlan, affected_by_delete, divide, plan_delete, refusals
from .guards import (
    DELETE_AND_RESTORE,
    begin_counting,
    check_counted,
    check_search_triggers,
    check_triggers,
)
from .transaction import Writer, writing

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
        return summary(
            _("deleted {sessions}, {messages} to the trash"),
            len(self.bundle.sessions),
            self.bundle.messages,
        )


def delete(
    store: Store,
    session_ids: Sequence[str],
    trash: Path,
    *,
    now: float,
    sessions_folder: Path | None = None,
    progress: Progress = NOBODY,
) -> Deleted:
    """Move conversations to the trash, all of them in one bundle and one transaction, or none.

    Other writers wait for the transaction, about one second per 1,500 messages, mostly for the
    search index. A clean-up therefore deletes in portions.

    Args:
        session_ids: Any segments of the conversations.
        trash: The folder of the bundles.
        now: Unix seconds.
        sessions_folder: Where Hermes keeps files of sessions, if anywhere.
        progress: Receives reports, and is asked for a stop until the rows are deleted.

    Raises:
        BrowseError: Protected, changed meanwhile, not found, busy, stopped, or the trash cannot take
            it; nothing was changed.
        WriteUnverifiedError: It was done, and does not read back as it should; the bundle stays.
        WriteInDoubtError: The commit failed; the bundle stays, and the sentence says what the store
            holds now.
    """
    with store.reader() as reader:
        plans = plan_delete(reader, session_ids, now)
        portions = Portions[DeletePlan](progress)
        return delete_portions(store, plans, portions, trash, now, sessions_folder)


def delete_portions(
    store: Store,
    plans: Sequence[DeletePlan],
    portions: Portions[DeletePlan],
    trash: Path,
    now: float,
    sessions_folder: Path | None,
) -> Deleted:
    """Write one bundle of all that is planned, then delete it in portions.

    If nothing was deleted in the end, the bundle is removed; what was left is marked beside it.
    The reader that the plans were made with should still be open: without any other connection,
    SQLite would make the index of the log anew from the whole log.

    Raises:
        BrowseError: As of `delete`, if nothing was done before. Also where a session that the plans
            do not list would lose its parent: it may be a new part.
    """
    files: list[SessionFile] = []
    notes: list[str] = []
    progress = portions.progress
    try:
        # However it ends, the bundle is tidied up after the store was closed.
        with ExitStack() as after, writing(store, DELETE_AND_RESTORE) as writer:
            version = writer.version()
            check_search_triggers(writer.reader)
            _check_room(writer.reader, trash, plans)
            remove_leftovers(trash, now)
            fate = BundleFate(deleting=os.getpid())
            bundle = _write(writer.reader, plans, trash, now, sessions_folder, fate, progress)
            after.callback(_end, bundle, portions, files, notes)
            reparented = {session.id for plan in plans for session in plan.reparented}
            if not reparented.issuperset(bundle.reparented):
                raise ChangedMeanwhileError
            check_triggers(writer.rows, [table.name for table in bundle.layout.owned])
            attach(writer.rows, bundle.path)
            begin_counting(writer.rows, bundle.layout.tables)
            progress.begin("deleting", bundle.facts.messages)
            portions.run(
                plans,
                lambda some: _delete_portion(writer, bundle, version, some, now, progress),
                writer.version,
            )
    except BrowseError as failure:
        if not portions.done:
            failure.remedy = " ".join(filter(None, [failure.remedy, *notes]))
            raise
        portions.error = failure
    return Deleted(
        describe(bundle.path),
        bundle.reparented,
        tuple(file.path.name for file in files),
        tuple(notes),
    )


def _end(
    bundle: WrittenBundle,
    portions: Portions[DeletePlan],
    files: list[SessionFile],
    notes: list[str],
) -> None:
    """Remove the files of what was deleted, and mark in the trash what was not; both lists are added
    to.

    What was not, and is no longer in the store either, the bundle may be the only one to have.
    """
    deleted = {session for plan in portions.done for session in plan.session_ids}
    files += [file for file in bundle.files if file.session in deleted]
    notes += remove_files(files)
    gone = {plan.conversation.id for plan in (*portions.done, *portions.doubtful)}
    fate = mark_kept(bundle.path, bundle.facts, gone)
    if len(fate.kept) == len(bundle.facts.conversations):
        with suppress(TrashError):
            remove_bundle(bundle.path)
    count = sum(each.id not in gone for each in fate.listed(bundle.facts).conversations)
    if count and not fate.deleting:
        notes.append(
            ngettext(
                "The deletion {name} in the trash has a copy of {count:,} conversation that another program "
                "deleted or changed meanwhile.",
                "The deletion {name} in the trash has copies of {count:,} conversations that another program "
                "deleted or changed meanwhile.",
                count,
                name=bundle.facts.name,
            )
        )


def copy_to_trash(
    store: Store, session_id: str, trash: Path, sessions_folder: Path | None
) -> Bundle:
    """Write a bundle of a conversation with its subagents; the store is only read.

    This protects them in stores without pins: when Hermes deletes them by itself, the bundle
    restores them. Arguments as of `delete`.

    Raises:
        BrowseError: The trash cannot take it, or the store cannot be read.
    """
    with store.reader() as reader:
        now = time.time()
        plans = list(divide(reader, [affected_by_delete(read_catalog(reader, now), session_id)]))
        fate = BundleFate(is_copy=True)
        return describe(_write(reader, plans, trash, now, sessions_folder, fate).path)


def _write(
    reader: Reader,
    plans: Sequence[DeletePlan],
    trash: Path,
    now: float,
    sessions_folder: Path | None,
    fate: BundleFate,
    progress: Progress = NOBODY,
) -> WrittenBundle:
    named = with_names(reader, [plan.conversation for plan in plans])
    saved = [
        SavedConversation(
            each.id,
            each.title or one_line(each.preview, PREVIEW) or None,
            plan.session_ids,
            plan.messages,
        )
        for each, plan in zip(named, plans, strict=True)
    ]
    progress.begin("saving", sum(plan.messages for plan in plans))
    return write_bundle(reader, saved, sessions_folder, trash, now, fate, progress)


def _check_room(reader: Reader, trash: Path, plans: Sequence[DeletePlan]) -> None:
    """Refuse if bundle and log need more than the disks have, by the average message."""
    file = read_file_space(reader)
    total = as_int(reader.value("SELECT count(*) FROM messages"))
    messages = sum(plan.messages for plan in plans)
    needed = (file.file_bytes - file.free_bytes) * messages // max(total, 1)
    check_room(trash.parent, needed)
    check_room(Path(os.path.realpath(reader.path)).parent, needed * _LOG_SHARE)


def _delete_portion(
    writer: Writer,
    bundle: WrittenBundle,
    version: object,
    plans: Sequence[DeletePlan],
    now: float,
    progress: Progress,
) -> None:
    """Delete some conversations in one transaction; `version` is that of the store before it was
    copied, `now` the time of the plans."""
    sessions = [session for plan in plans for session in plan.session_ids]

    def work(tx: Writer) -> None:
        # Pinned or written to since the plan, it may be in the bundle as it is now.
        catalog = read_neighbourhood(tx.reader, sessions, now)
        if kept := refusals(tx.reader, catalog, plans, now):
            raise RefusedError(next(iter(kept.values())))
        choose(tx.rows, sessions)
        if tx.version() != version:
            _check_rows_unchanged(tx, bundle.layout)
        delete_rows(tx, bundle.layout, progress)

    try:
        writer.run(work, lambda reader, _none: _check_gone(reader, bundle.facts.name, sessions))
    except WriteInDoubtError as error:
        error.remedy = _(
            "The deletion {name} in the trash has everything; `hermes-browse trash restore {name}` restores it.",
            name=bundle.facts.name,
        )
        raise


def _check_rows_unchanged(tx: Writer, layout: Layout) -> None:
    """Refuse if the rows of the chosen sessions are not those of the bundle, or they have another
    child."""
    different = [
        "SELECT 1 FROM main.sessions WHERE parent_session_id IN (SELECT id FROM chosen) "
        f"AND id NOT IN (SELECT id FROM bundle.{CHILDREN}) "
        "AND id NOT IN (SELECT id FROM bundle.sessions) LIMIT 1"
    ]
    for table in layout.taken:
        # The delete of a parent in an earlier portion has cut its links.
        same = equal(column for column in table.columns if column != LINK.column)
        different += [f"{table.unlike(table.saved, same)} LIMIT 1", table.miscounted]
    if any(map(tx.rows, different)):
        raise ChangedMeanwhileError


def delete_rows(tx: Writer, layout: Layout, progress: Progress) -> None:
    """Delete all rows of the chosen sessions, and their prompts that no other session uses.

    Raises:
        StoreRefusedError: Other rows would go than those of the bundle.
        QueryInterruptedError: It was stopped; the transaction must be rolled back.
    """
    tx.execute("UPDATE hermes_browse_changes SET expected = 0, gone = 0, new = 0")
    # Also links within the family: then the order of sessions is free, even in a cycle.
    tx.execute(
        "UPDATE main.sessions SET parent_session_id = NULL "
        "WHERE parent_session_id IN (SELECT id FROM chosen)"
    )
    # Reversed: rows that refer to others first; messages before sessions, which the triggers of the
    # substring index read (0.22); prompts when no session names them any more.
    for table in reversed(layout.owned):
        progress.check()
        own, expected = table.own, f"{table.bundle} WHERE {table.saved}"
        if table.is_shared:
            tests = (f"s.{name} = m.hash" for name in prompt_columns(tx.schema.session_columns))
            used = f"SELECT 1 FROM main.sessions AS s WHERE {' OR '.join(tests)}"
            own = f"m.hash IN (SELECT b.hash FROM {expected}) AND NOT EXISTS ({used})"
            expected = f"{table.main} WHERE {own}"
        tx.execute(
            "UPDATE hermes_browse_changes SET expected = "
            f"(SELECT count(*) FROM {expected}) WHERE name = ?",
            [table.name],
        )
        some = f"SELECT m._rowid_ FROM {table.main} WHERE {own} LIMIT {EVERY}"
        while count := tx.execute(f"DELETE FROM {table.main} WHERE _rowid_ IN ({some})"):
            if table.name == "messages":
                progress.add(count)
    check_counted(tx.rows)


def _check_gone(reader: Reader, name: str, sessions: Sequence[str]) -> None:
    """Raise WriteUnverifiedError if a deleted session or message is still in the store; `name` is
    the bundle's.

    Whatever else went, went in the same transaction.
    """
    for table, column in (("messages", "session_id"), ("sessions", "id")):
        left = f"SELECT 1 FROM {table} WHERE {column} IN ({{keys}}) LIMIT 1"
        if reader.rows_in(left, sessions):
            raise WriteUnverifiedError(
                _("Rows of {table} are still there, though they were deleted.", table=table),
                remedy=_("The deletion {name} in the trash holds all of them.", name=name),
            )
