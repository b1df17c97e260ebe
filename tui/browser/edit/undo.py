"""Entries of the undo journal, and what they do on the writing thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from hermes_browse.store.api import OpenStore
from hermes_browse.store.edit.delete import Deleted
from hermes_browse.store.edit.flags import Change
from hermes_browse.store.errors import RefusedError
from hermes_browse.store.trash.progress import EVERY, Stage
from hermes_browse.store.wording import _

from ...text.formats import counted
from ..context import Context

Undone = tuple[str, tuple[str, ...]]
"""A sentence, and the ids of the sessions touched."""


class Undoable(NamedTuple):
    """A change that can be undone."""

    sentence: str
    """Description of the change, in the past tense."""
    undo: Callable[[], Undone]
    """Undoes it, on the writing thread.

    Raises:
        RefusedError: It can no longer be undone; nothing was changed.
        BrowseError: It failed for now; nothing was changed.
    """


def undo_changes(store: OpenStore, changes: Sequence[Change]) -> Callable[[], Undone]:
    """Return a function that undoes changes, the last first."""
    left = list(changes)

    def back() -> Undone:
        touched: list[str] = []
        sentence = ""
        while left:  # after a failure a second call continues here
            touched += left[-1].session_ids
            sentence = store.undo(left[-1]).sentence
            left.pop()
        if len(changes) != 1:
            sentence = _("undone for {count:,} sessions", count=len(touched))
        return sentence, tuple(touched)

    return back


def restore_deleted(context: Context, left: list[Deleted]) -> Undone:
    """Restore deletions, and take them out of the list.

    Raises:
        RefusedError: Of the first, if none of them can be restored.
    """
    store = context.opened()
    touched: list[str] = []
    refused: list[RefusedError] = []
    notes: list[str] = []
    conversations, messages, several = 0, 0, len(left) > 1

    def tell(stage: Stage) -> None:
        if stage.total >= EVERY:  # too fast to read for fewer messages
            context.writes.tell(context.show_progress, f"{stage.words} …")

    for deleted in left[::-1]:  # parents were deleted first, and find their children again
        try:
            done = store.restore(deleted.bundle.name, check=not several, tell=tell)
        except RefusedError as error:
            refused.append(error)  # perhaps restored from the trash before; the others can be
            continue
        touched += done.sessions
        messages += done.messages
        conversations += len(set(deleted.bundle.conversations).intersection(done.sessions))
        notes += done.notes
        left.remove(deleted)
    if refused and not touched:
        raise refused[0]
    restored = _(
        "restored {conversations}: {sessions}, {messages}",
        conversations=counted(conversations, "conversation"),
        sessions=counted(len(touched), "session"),
        messages=counted(messages, "message"),
    )
    notes += [error.sentence for error in refused]
    notes += store.check_index() if several else ()
    return " · ".join([restored, *notes]), tuple(touched)
