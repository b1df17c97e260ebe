"""The conversations of a row, and whether they are marked."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hermes_browse.store.sessions.models import Conversation

from ...widgets.list_rows import ListRow
from .conversation_rows import ConversationRow, JobRow
from .hit_rows import HitRow, MoreRow


def conversations_of(row: ListRow | None) -> Sequence[Conversation]:
    """Return the conversations of a row: all runs of a job, that of a hit; none for a note."""
    if isinstance(row, JobRow):
        return row.runs
    conversation = row.conversation if isinstance(row, ConversationRow | HitRow | MoreRow) else None
    return (conversation,) if conversation is not None else ()


def conversation_of(row: ListRow | None) -> Conversation | None:
    """Return the conversation that panes show for a row: the first run of a job; None for a
    note."""
    return next(iter(conversations_of(row)), None)


def is_marked(row: ListRow, marks: Collection[str]) -> bool:
    """Return whether to draw a row as marked: all of its conversations are, given by root ids."""
    if not marks or isinstance(row, HitRow | MoreRow):
        return False
    # Called for each row of a frame, and a job may have thousands of runs: skip jobs with more
    # runs than there are marks, and stop at the first unmarked run.
    conversations = conversations_of(row)
    return 0 < len(conversations) <= len(marks) and all(
        each.root_id in marks for each in conversations
    )
