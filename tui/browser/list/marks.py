"""Marked conversations, which commands act on together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

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


class Marks:
    """Marked conversations by their root, which stays when a chain grows."""

    def __init__(self) -> None:
        self._marked: dict[str, Conversation] = {}

    def __len__(self) -> int:
        return len(self._marked)

    @property
    def conversations(self) -> tuple[Conversation, ...]:
        """The marked conversations, in the order they were marked."""
        return tuple(self._marked.values())

    @property
    def messages(self) -> int:
        """Number of messages in all marked conversations, as the list counts them."""
        return sum(each.message_count for each in self._marked.values())

    def has(self, row: ListRow) -> bool:
        """Return whether to draw a row as marked: all of its conversations are."""
        if not self._marked or isinstance(row, HitRow | MoreRow):
            return False
        # Called for each row of a frame, and a job may have thousands of runs: skip jobs with more
        # runs than there are marks, and stop at the first unmarked run.
        conversations = conversations_of(row)
        return 0 < len(conversations) <= len(self._marked) and all(
            each.root_id in self._marked for each in conversations
        )

    def toggle(self, conversations: Iterable[Conversation]) -> bool:
        """Mark conversations, or unmark them if all are marked; return whether they are marked
        now."""
        conversations = list(conversations)
        if all(each.root_id in self._marked for each in conversations):
            for each in conversations:
                del self._marked[each.root_id]
            return False
        self.add(conversations)
        return True

    def add(self, conversations: Iterable[Conversation]) -> None:
        """Mark conversations."""
        self._marked.update((each.root_id, each) for each in conversations)

    def clear(self) -> None:
        """Remove all marks."""
        self._marked.clear()

    def keep(self, is_there: Callable[[str], bool]) -> None:
        """Remove marks of conversations whose root id `is_there` rejects, as they are gone from the
        store."""
        for root in [root for root in self._marked if not is_there(root)]:
            del self._marked[root]
