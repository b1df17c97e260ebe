"""Changes of a store, on its own machine: with all of its guards, and into its own trash."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from . import later
from .call import StoreConnection, read, read_method, write, write_method
from .connection.connect import Store
from .connection.reader import Stopped
from .errors import RefusedError
from .hermes.homes import sessions_folder, trash_folder
from .progress import Progress, TellStage, never, quiet
from .wording import _

if TYPE_CHECKING:
    from .cleanup.bulk import CleanedUp, Step
    from .cleanup.plan import Plan
    from .edit.delete import Deleted
    from .edit.delete_plan import Expected
    from .edit.flags import Change
    from .edit.restore import Restored
    from .trash.shelf import Bundle


_UNDONE = frozenset({"archived", "auto_archived", "hidden", "pinned", "title", "title_source"})
"""Columns that a change of flags or of a title sets; another machine may ask for no others."""


class StoreWrites(StoreConnection):
    """The changes of an `OpenStore`; each is done as a whole, or raises BrowseError.

    Raises:
        RefusedError: By the rules of the machine; nothing was changed.
        WriteInDoubtError: The connection was lost, and the machine does not answer any more.
    """

    archive = write(later.flags.archive)
    unarchive = write(later.flags.unarchive)
    pin = write(later.flags.pin)
    unpin = write(later.flags.unpin)
    rename = write(later.flags.rename)
    tag = write(later.tagging.change_tags)
    rename_tag = write(later.tagging.rename_tag)
    undo_tags = write(later.tagging.undo_tags)
    begin_marks = write(later.notes_file.begin_marks)
    mark_read = write(later.notes_file.mark_read)
    mark_all_read = write(later.notes_file.mark_all_read)
    undo_all_read = write(later.notes_file.undo_all_read)
    check_index = write(later.restore.check_index)

    @property
    def trash(self) -> Path:
        """The folder of deletions of a store of this machine."""
        return trash_folder(self.location)

    @write_method
    def undo(self, done: Change) -> Change:
        """Undo a change of flags or of a title; see `flags.undo`."""
        columns = {column for row in done.rows for each in row[1:] for column in each}
        if not columns <= _UNDONE:
            raise RefusedError(_("Only flags and titles are undone."))
        return later.flags.undo(self.source, done)

    plan_delete = read(later.delete_plan.plan_delete)

    @write_method
    def delete(
        self,
        session_ids: Sequence[str],
        *,
        stopped: Stopped = never,
        tell: TellStage = quiet,
    ) -> Deleted:
        """Move conversations to the trash, all of them or none."""
        return later.delete.delete(
            self.source,
            session_ids,
            self.trash,
            now=time.time(),
            sessions_folder=sessions_folder(self.location),
            progress=Progress(stopped, tell),
        )

    @write_method
    def restore(
        self,
        name: str,
        only: Sequence[str] | None = None,
        *,
        check: bool = True,
        stopped: Stopped = never,
        tell: TellStage = quiet,
    ) -> Restored:
        """Restore a deletion, or some of its sessions, from the trash; `check` compares the search
        index with the rows."""
        return later.restore.restore(
            self.source,
            self.trash,
            name,
            sessions_folder=sessions_folder(self.location),
            only=only,
            check=check,
            progress=Progress(stopped, tell),
        )

    @read_method
    def deletions(self) -> list[Bundle]:
        """Return what is in the trash, newest first."""
        return later.shelf.list_bundles(self.trash)

    @read_method
    def trash_path(self) -> Path:
        """Return the folder of deletions, as its machine names it."""
        return self.trash

    @read_method
    def find_deletion(self, text: str) -> str:
        """Return the name of a deletion by how it begins."""
        return later.shelf.find(self.trash, text).stem

    @read_method
    def find_in_deletion(self, name: str, texts: Sequence[str]) -> tuple[str, ...]:
        """Return the sessions of conversations in a deletion, each named as for `resolve`."""
        with Store(later.shelf.find(self.trash, name)).reader() as reader:
            return later.delete_plan.sessions_with(reader, texts, time.time())

    @write_method
    def clean_up(
        self,
        expected: Sequence[Expected],
        *,
        tell: Callable[[Step], object] = quiet,
        stopped: Stopped = never,
    ) -> CleanedUp:
        """Move the conversations of a plan to the trash, those that are still as expected."""
        return later.bulk.clean_up(
            self.source,
            expected,
            self.trash,
            sessions_folder(self.location),
            tell=tell,
            stopped=stopped,
        )

    def delete_planned(
        self,
        plan: Plan,
        *,
        tell: Callable[[Step], object] = quiet,
        stopped: Stopped = never,
    ) -> CleanedUp:
        """Move the conversations of a plan to the trash."""
        expected = [planned.expected for planned in plan.selected]
        return self.clean_up(expected, tell=tell, stopped=stopped)
