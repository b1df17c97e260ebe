"""Moves in the transcript: jumps, steps to messages and rules, marks."""

from __future__ import annotations

from typing import NamedTuple

from textual import events

from hermes_browse.store.wording import N_, _

from .entries import EntryKind
from .scroll import TranscriptScroll

_NO_FURTHER = {EntryKind.DAY: N_("no further day"), EntryKind.SEAM: N_("no further part")}
_NO_EARLIER = {EntryKind.DAY: N_("no earlier day"), EntryKind.SEAM: N_("no earlier part")}


class Bookmark(NamedTuple):
    """A message and a line of it; unlike a `Place`, valid in every reading of the conversation."""

    root_id: str
    message_id: int
    line: int
    """The line at the top of the page; negative if the page begins with rules above the message."""


class TranscriptMoves(TranscriptScroll):
    """Moves in a `Page`; keeps where the last step ended, and a mark."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._gone_to: int | None = None
        """The entry or rule at which the last step ended."""
        self._mark: Bookmark | None = None
        self._before: Bookmark | None = None
        """Where the last jump began."""

    # Jumps

    def _go_to(self, index: int, *, lead: int = 0) -> None:
        model = self.model
        assert model is not None
        self.page.go(self.page.moved((index, 0), -lead) if lead else (index, 0))
        self._place()
        following = index if model.row(index) is not None else model.step(index, 1)
        self._current = following if following is not None else index
        self._gone_to = index
        self.refresh()

    def go_to_segment(self, session_id: str) -> bool:
        """Show the beginning of a segment; False if it has no messages."""
        index = self.model.entry_of_segment(session_id) if self.model is not None else None
        if index is None:
            return False
        self._go_to(index)
        return True

    # Steps

    def _follow_page(self) -> None:
        """Make keys act on what is in sight instead of the entry last stepped to."""
        self._current = self._gone_to = None

    def action_scroll_lines(self, lines: int) -> None:
        if not len(self.page):
            return
        before, at_end, stepped = self.page.place, self.page.at_end, (self._current, self._gone_to)
        self._follow_page()
        self.page.go(self.page.moved(before, lines))
        self._place()
        if (
            self.page.place == before and abs(lines) == 1
        ):  # at the end: step through the messages on the page
            self._current, self._gone_to = stepped
            self.page.at_end = at_end
            self.action_step(lines, "")

    def action_scroll_pages(self, pages: float) -> None:
        self.action_scroll_lines(int(pages * max(self.page.height - 2, 1)))

    def action_to_start(self) -> None:
        if len(self.page):
            self.remember()
            self._go_to(0)

    def action_to_end(self) -> None:
        """Go to the last line, and follow new ones."""
        self.remember()
        self.page.at_end = True
        self._follow_page()
        self._place()
        self.tell("")  # clears the count of new messages

    def action_step(self, by: int, role: str) -> None:
        """Go to the next or previous message, or prompt."""
        start = self._current_index()
        if self.model is None or start is None:
            return
        target = self.model.step(start, by, role)
        if target is None:
            self.tell(_("no further prompt") if role else _("no further message"))
        else:
            self._go_to(target)

    def action_step_rule(self, by: int, name: str) -> None:
        """Go to the next or previous day or segment; backwards, first to the beginning of the
        current one."""
        model, kind = self.model, EntryKind(name)
        if model is None or not len(self.page):
            return
        index, line = (self._gone_to, 0) if self._gone_to is not None else self.page.place
        # Inside an entry, its own first line is the nearest rule backwards.
        target = model.step_rule(index + (1 if by < 0 and line else 0), by, kind)
        if target is None and by < 0 and kind is EntryKind.SEAM and index > 0:
            target = 0  # the first segment has no seam above it
        if target is None:
            self.tell(_((_NO_FURTHER if by > 0 else _NO_EARLIER)[kind]))
        else:
            self._go_to(target)

    # Marks

    def here(self) -> Bookmark | None:
        """Return the place at the top of the page; None without a message."""
        model = self.model
        if model is None or not len(self.page):
            return None
        index, line = self.page.place
        message = model.row(index)
        while (
            message is None and index < len(self.page) - 1
        ):  # rules have no id, so take the message after them
            line -= self.page.height_of(index)
            index += 1
            message = model.row(index)
        return (
            Bookmark(model.conversation.root_id, message.id, line) if message is not None else None
        )

    def remember(self) -> None:
        """Remember where a jump begins, for `'` to go back to."""
        self._before = self.here()

    def go_back_to(self, bookmark: Bookmark) -> bool:
        """Show a place again; False if this reading leaves its message out."""
        index = self.model.entry_of(bookmark.message_id) if self.model is not None else None
        if index is None:
            return False
        self._follow_page()
        self.page.go(self.page.moved((index, 0), bookmark.line))
        self._place()
        return True

    def action_mark(self) -> None:
        self._mark = self.here()
        if self._mark is not None:
            self.tell(_("marked · ' comes back here"))

    def action_to_mark(self) -> None:
        """Go to the mark, else to where the last jump began; the key goes back to here the next
        time."""
        model = self.model
        goal = self._mark if self._mark is not None else self._before
        if model is None or goal is None or goal.root_id != model.conversation.root_id:
            self.tell(_("no mark in this conversation: m makes one"))
            return
        here = self.here()
        if not self.go_back_to(goal):
            self.tell(_("the marked message is not part of this reading: v shows everything"))
        elif self._mark is not None:
            self._mark = here
        else:
            self._before = here

    # Mouse

    def _on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self.action_scroll_lines(3)
        event.stop()

    def _on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self.action_scroll_lines(-3)
        event.stop()
