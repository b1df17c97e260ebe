"""Step from hit to hit across conversations, and show more or fewer hits of each."""

from __future__ import annotations

from collections.abc import Callable

from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.wording import _

from ..context import Context
from ..list.conversation_rows import ConversationRow
from ..list.hit_rows import HitRow, MoreRow
from ..list.list_rows import FixedRows, RowSource
from ..screens.panes import Panes
from .results import Fold, SearchResults, best


class HitWalk:
    """Holds the results shown and the fold of each conversation; `read_on` reads the next page of
    hits."""

    def __init__(self, context: Context, panes: Panes, read_on: Callable[[], None]) -> None:
        self._context, self._panes, self._read_on = context, panes, read_on
        self.found: SearchResults | None = None
        """The results shown; None if the list shows no hits."""
        self._folds: dict[str, Fold] = {}
        self._is_stepping = False
        """Step to the next hit once the next page is read."""

    def begin(self) -> None:
        """Reset the folds for another query."""
        self._folds.clear()

    def forget_step(self) -> None:
        """Drop the step that waits for the next page."""
        self._is_stepping = False

    def show(self, found: SearchResults, *, key: str | None = None, top: bool = False) -> None:
        """Show results; move the cursor to the row with this key, or scroll to the top."""
        self.found = found
        self._panes.rows.show(self._rows(), key=key, top=top)

    def _rows(self) -> RowSource:
        return self.found.rows(self._folds) if self.found is not None else FixedRows(())

    def fold(self, by: int) -> None:
        """Show more hits of the conversation of the current row (1), or fewer (-1)."""
        row = self._panes.rows.current
        root = row.root_id if isinstance(row, MoreRow) else None
        if (
            isinstance(row, ConversationRow | HitRow)
            and row.conversation is not None
            and self.found is not None
        ):
            root = row.conversation.root_id
        if root is None:
            self._context.say(
                _("nothing to fold here: + and - show more or fewer hits of a conversation")
            )
            return
        self._folds[root] = self._folds.get(root, Fold.SOME).step(by)
        self._panes.rows.show(self._rows(), key=f"c{root}" if by < 0 else None)

    def unfold(self, row: MoreRow) -> None:
        """Show all hits of a conversation and move the cursor to the first that was hidden."""
        index = self._panes.rows.cursor
        self._folds[row.root_id] = Fold.ALL
        rows = self._rows()
        self._panes.rows.show(rows, key=rows.row(index).key if index < len(rows) else None)

    def best_hit(self, conversation: Conversation) -> int | None:
        """Return the message id of a conversation's best hit, which is the one shown if only one
        is."""
        segments = {segment.id for segment in conversation.segments}
        hits = (
            [hit for hit in self.found.hits if hit.session_id in segments]
            if self.found is not None
            else []
        )
        return best(hits).message_id if hits else None

    def step(self, by: int) -> None:
        """Move to the next or previous hit, across conversations."""
        if self.found is None:
            self._context.say(_("no search: / finds words, n and N walk the hits"))
            return
        widget = self._panes.rows
        index = widget.cursor + by
        while 0 <= index < len(widget):
            row = widget.source.row(index)
            if isinstance(row, HitRow):
                widget.cursor = index
                return
            if isinstance(row, MoreRow):
                self._folds[row.root_id] = Fold.ALL
                widget.show(self._rows())
                index = widget.cursor
            index += by
        if by > 0 and self.found.goes_on:
            self._is_stepping = True
            self._read_on()
            self._context.say(_("reading on …"))
        else:
            self._context.say(_("no further hit"))

    def page_read(self) -> None:
        """Take the step that waited for this page."""
        if self._is_stepping:
            self._is_stepping = False
            self.step(1)
