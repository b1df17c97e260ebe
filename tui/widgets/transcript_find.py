"""Showing what was found: the line it stands on, unfolded where it is folded away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..blocks import is_foldable
from .transcript_moves import TranscriptMoves

if TYPE_CHECKING:
    from hermes_browse.store.search import Matcher

_LEAD = 2
"""Lines shown above a message with a find."""


class TranscriptFind(TranscriptMoves):
    """A transcript that shows finds."""

    is_finding = False
    """Whether a needle is lit: `n`, `N` and Escape are about it then, not about the search."""

    _unfolded: int | None = None
    """The entry that was opened for a find in it: folded again when another is gone to."""

    def light(self, matchers: Sequence[Matcher], hit: int | None = None) -> None:
        """Light other terms; nothing moves."""
        self.page.matchers, self.page.hit, self.page.hit_number = matchers, hit, None
        self.page.forget()
        self._place()

    @property
    def is_find_in_sight(self) -> bool:
        """Whether the find last gone to is on the page."""
        hit = self.page.hit
        index = self.model.entry_of(hit) if self.model is not None and hit is not None else None
        return any(index == each for each, _ in self.page.frame())

    def step_lit(self, by: int) -> bool:
        """To the next or previous lit line of the message with the find; False when it has no further one."""
        hit, number = self.page.hit, self.page.hit_number
        index = self.model.entry_of(hit) if self.model is not None and hit is not None else None
        if index is None or number is None or not 0 <= number + by < len(self.page.lit(index)):
            return False
        self._show_lit(index, number + by)
        return True

    def show_find(self, message_id: int, *, last: bool = False) -> bool:
        """Show a message at its first find, or at its last; it must have been read.

        Args:
            message_id: Of the message; a result that stands with its call is shown there.
            last: Whether the reader comes from below.

        Returns:
            False when this reading leaves the message out.
        """
        index = self.model.shown_at(message_id) if self.model is not None else None
        if index is None or self.model is None:
            return False
        shown = self.model.bone(index)
        before = self.model.entry_of(self.page.hit) if self.page.hit is not None else None
        self.page.hit, self.page.hit_number = shown.id if shown is not None else message_id, None
        self.page.forget_entry(before)
        self.page.forget_entry(index)
        if self._unfolded is not None and self._unfolded != index:
            self.page.opened.discard(self._unfolded)
            self.page.forget_entry(self._unfolded)
            self._unfolded = None
        self._unfold_to_find(index)
        lit = self.page.lit(index)
        if lit:
            self._show_lit(index, len(lit) - 1 if last else 0)
        else:  # it is there, but in what the look hides
            self._go_to(index, lead=_LEAD)
        return True

    def go_to_message(self, message_id: int, matchers: Sequence[Matcher] | None = None) -> bool:
        """Show a message, at the first of the terms in it; False when this reading leaves it out."""
        if matchers is not None and matchers != self.page.matchers:
            self.page.matchers = matchers
            self.page.forget()
        return self.show_find(message_id)

    def _unfold_to_find(self, index: int) -> None:
        assert self.model is not None
        message = self.model.message(index)
        if message is None or index in self.page.opened or self.page.lit(index) or not is_foldable(message, self.model):
            return
        self.page.opened.add(index)
        if self.page.lit(index):
            self._unfolded = index
        else:
            self.page.opened.discard(index)
            self.page.forget_entry(index)

    def _show_lit(self, index: int, number: int) -> None:
        self.page.hit_number = number
        self.page.forget_entry(index)
        line = self.page.lit(index)[number]
        self._go_to(index, lead=_LEAD)
        if line > self.page.height - _LEAD - 3:  # not on the page that begins with the message
            self.page.go(self.page.moved((index, line), -(self.page.height // 3)))
            self._place()
            self._current = index
