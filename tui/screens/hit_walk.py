"""Walking what a search found: from hit to hit across conversations, with more or fewer of them shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.wording import _

from ..rows import ConversationRow, FixedRows, HitRow, ListRow, MoreRow, RowSource

if TYPE_CHECKING:
    from ..search_model import Fold, Found
    from .main import MainScreen


class HitWalk:
    """Holds what was found and how much of each conversation is unfolded."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen
        self._found: Found | None = None
        self._folds: dict[str, Fold] = {}
        self._is_stepping = False
        """The next hit is to come with the next page."""

    @property
    def found(self) -> Found | None:
        """What the list shows, None where it is no hits."""
        return self._found

    def _rows(self) -> RowSource:
        return self._found.rows(self._folds) if self._found is not None else FixedRows(())

    def fold(self, row: ListRow | None, by: int) -> None:
        """Show more or fewer hits of the conversation that a row belongs to.

        Args:
            row: A conversation with hits, a hit, or the row that stands for more of them.
            by: 1 for more, -1 for fewer.
        """
        from ..search_model import Fold

        root = row.root_id if isinstance(row, MoreRow) else None
        if isinstance(row, ConversationRow | HitRow) and row.conversation is not None and self._found is not None:
            root = row.conversation.root_id
        if root is None:
            self._screen.say(_("nothing to fold here: + and - show more or fewer hits of a conversation"))
            return
        self._folds[root] = self._folds.get(root, Fold.SOME).step(by)
        self._screen.rows.show(self._rows(), key=f"c{root}" if by < 0 else None)

    def unfold(self, row: MoreRow) -> None:
        """Show all hits of a conversation; the cursor goes to the first that was not shown."""
        from ..search_model import Fold

        index = self._screen.rows.cursor
        self._folds[row.root_id] = Fold.ALL
        rows = self._rows()
        self._screen.rows.show(rows, key=rows.row(index).key if index < len(rows) else None)

    def first_hit(self, conversation: Conversation) -> int | None:
        """The first hit of a conversation."""
        segments = {segment.id for segment in conversation.segments}
        hits = self._found.hits if self._found is not None else ()
        return next((hit.message_id for hit in hits if hit.session_id in segments), None)

    def step(self, by: int) -> None:
        """To the next or previous hit, across conversations."""
        if self._found is None:
            self._screen.say(_("no search: / finds words, n and N walk the hits"))
            return
        widget = self._screen.rows
        index = widget.cursor + by
        while 0 <= index < len(widget):
            row = widget.source.row(index)
            if isinstance(row, HitRow):
                widget.cursor = index
                return
            if isinstance(row, MoreRow):
                from ..search_model import Fold

                self._folds[row.root_id] = Fold.ALL
                widget.show(self._rows())
                index = widget.cursor
            index += by
        if by > 0 and self._found.answer.more and not self._found.answer.stopped:
            self._is_stepping = True
            self.maybe_more(len(widget) - 1)
            self._screen.say(_("reading on …"))
        else:
            self._screen.say(_("no further hit"))

    def _step_on(self) -> None:
        """A page has come: take the step that waited for it."""
        if self._is_stepping:
            self._is_stepping = False
            self.step(1)

    def maybe_more(self, last: int) -> None:
        """The end of the results is on screen: read on.

        Args:
            last: Index of the last row on screen.
        """
        raise NotImplementedError
