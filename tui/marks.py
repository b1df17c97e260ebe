"""Marked conversations, which commands act on together, and the journal of what was done, for the undo."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from hermes_browse.store.sessions.models import Conversation

from .list.rows import ConversationRow, HitRow, JobRow, LineageRow, ListRow, MoreRow


def conversations_of(row: ListRow | None) -> tuple[Conversation, ...]:
    """The conversations of a row: one, all runs of a job, or that of a hit; none for a note."""
    if isinstance(row, ConversationRow):
        return (row.conversation,)
    if isinstance(row, JobRow):
        return tuple(row.runs)
    if isinstance(row, HitRow | MoreRow) and row.conversation is not None:
        return (row.conversation,)
    return ()


def conversation_of(row: ListRow | None) -> Conversation | None:
    """The conversation the panes show for a row: of a job its newest run; None for a note."""
    if isinstance(row, JobRow):
        return row.runs[0]
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
        """Messages of all marked conversations, as the list counts them."""
        return sum(each.message_count for each in self._marked.values())

    def has(self, row: ListRow) -> bool:
        """Whether a row is drawn as marked, because all of its conversations are."""
        if not self._marked or isinstance(row, HitRow | MoreRow | LineageRow):
            return False
        # Asked for each row of a frame: a job with more runs than there are marks is not looked at, and of others no
        # more than up to the first that has none, for each run is made when it is asked for.
        meant = row.runs if isinstance(row, JobRow) else conversations_of(row)
        return 0 < len(meant) <= len(self._marked) and all(each.root_id in self._marked for each in meant)

    def toggle(self, conversations: Iterable[Conversation]) -> bool:
        """Mark these, or where all are marked already, unmark them.

        Returns:
            Whether they are marked now.
        """
        meant = list(conversations)
        if all(each.root_id in self._marked for each in meant):
            for each in meant:
                del self._marked[each.root_id]
            return False
        self.add(meant)
        return True

    def add(self, conversations: Iterable[Conversation]) -> None:
        """Mark these too."""
        self._marked.update((each.root_id, each) for each in conversations)

    def clear(self) -> None:
        """Take all marks away."""
        self._marked.clear()

    def keep(self, is_there: Callable[[str], bool]) -> None:
        """Forget marks of conversations that are gone.

        Args:
            is_there: Whether the root of one is still in the store.
        """
        for root in [root for root in self._marked if not is_there(root)]:
            del self._marked[root]


class Undoable(NamedTuple):
    """Something that was done and can be taken back."""

    sentence: str
    """What was done, in the past tense."""
    undo: Callable[[], tuple[str, tuple[str, ...]]]
    """Takes it back, on the writer's thread: a sentence on what it did, and the sessions it touched.

    Raises:
        RefusedError: It cannot be taken back any more; nothing was changed.
        BrowseError: Not now; nothing was changed.
    """
