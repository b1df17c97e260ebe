"""Paints a page of a transcript and moves in it: scrolls, jumps, steps; knows the current message."""

from __future__ import annotations

import asyncio
from collections.abc import Set
from dataclasses import dataclass
from typing import NamedTuple

from rich.segment import Segment
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.reactive import var
from textual.strip import Strip

from hermes_browse.store.messages.chat_message import ChatMessage
from hermes_browse.store.sessions.models import Session
from hermes_browse.store.wording import N_, _

from ...widgets.lines import LongView
from ...work.application import WHEEL_LINES
from .entries import NOTHING, EntryKind, ShownMessage, TranscriptModel
from .page import Bookmark, Page, Position, lay_out

_RULES = (EntryKind.DAY, EntryKind.SEAM)
_NO_FURTHER = {
    "": N_("no further message"),
    "user": N_("no further prompt"),
    EntryKind.DAY: N_("no further day"),
    EntryKind.SEAM: N_("no further part"),
}
_GUTTER = 2
"""Cells on the left that mark the current message."""


class Needed(NamedTuple):
    """Entries on or near the page whose messages must be read."""

    model: TranscriptModel
    first: int
    last: int


class TranscriptScroll(LongView, can_focus=True):
    """Paints a `Page`."""

    @dataclass
    class Notice(Message, namespace="transcript_view"):
        """A text for the status line."""

        text: str

    @dataclass
    class FindKeyPressed(Message, namespace="transcript_view"):
        """A key of find was pressed."""

        step: int
        """1 for the next find, -1 for the previous one, 0 to stop finding."""

    @dataclass
    class InSight(Message, namespace="transcript_view"):
        """The user, who is in the transcript, has the messages up to this one in sight."""

        segments: tuple[Session, ...]
        """The sessions of the conversation."""
        message_id: int

    class Resized(Message, namespace="transcript_view"):
        """The width has changed."""

    needed: var[Needed | None] = var(None, init=False)
    """What must be read for the page; None if nothing is missing."""

    can_fold: var[bool] = var(False, init=False, bindings=True)
    """Whether the message that keys act on can be unfolded or folded."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.page = Page()
        self._being_laid_out: set[ShownMessage] = set()
        """Messages of the page that are being laid out on other threads."""
        self._mark: Bookmark | None = None
        """Where the last jump began, or what the user has marked instead."""
        self._is_marked = False
        self._is_updating = False

    @property
    def model(self) -> TranscriptModel | None:
        """The conversation; None for an empty page."""
        return self.page.model if self.page.model is not NOTHING else None

    @property
    def current(self) -> ChatMessage | None:
        """The message that keys act on; None if it has not been read."""
        return self.page.model.message(self.page.current)

    @property
    def current_id(self) -> int | None:
        """The id of that message, even if it has not been read."""
        return self.page.model.id_of(self.page.current)

    def tell(self, text: str) -> None:
        """Show a text in the status line; an empty one removes what was said of the page."""
        self.post_message(self.Notice(text))

    @property
    def idle_commands(self) -> frozenset[str]:
        """Ids of its commands that the footer leaves out."""
        return frozenset() if self.can_fold else frozenset(("transcript-more-less",))

    # Painting

    def _update_page(self) -> None:
        """Lay out the page and update the scroll bar; called after every change."""
        region = self.scrollable_content_region
        if not region.height:  # not laid out, or hidden: it is laid out when it has a size
            return
        self.page.resize(region.width - _GUTTER, region.height)
        above = self.page.settle()
        missing = self.page.missing
        # None, too: a read that was cancelled is asked for again when the page comes back there.
        self.needed = Needed(self.page.model, *missing) if missing is not None else None
        self._is_updating = True
        try:
            self.virtual_size = Size(self.page.width, sum(self.page.heights))
            self.scroll_to(y=above, animate=False, force=True, immediate=True)
        finally:
            self._is_updating = False
        index = self.page.current
        self.can_fold = index is not None and self.page.model.is_foldable(index)
        self.refresh()
        if messages := self.page.deferred.keys() - self._being_laid_out:
            self._being_laid_out |= messages
            self.run_worker(self._lay_out(messages))
        self.tell_in_sight()

    def watch_has_focus(self, _has_focus: bool) -> None:
        super().watch_has_focus(_has_focus)
        self.tell_in_sight()

    def tell_in_sight(self) -> None:
        """Report the last message in sight if it is new."""
        page, model = self.page, self.page.model
        first_new = model.conversation.first_new
        if self.has_focus and first_new is not None:
            ids = [model.id_of(index) or 0 for index, _line in page.frame()]
            # At the end with what has no lines of its own: results are shown with their calls.
            ids += [row.id for row in model.outline.rows[-1:] if page.at_end]
            if max(ids, default=0) >= first_new:
                self.post_message(self.InSight(model.conversation.segments, max(ids)))

    async def _lay_out(self, messages: Set[ShownMessage]) -> None:
        """Lay out long messages on a thread of their own: a short one waits for no long one."""
        layouts = await asyncio.to_thread(lay_out, messages)
        self._being_laid_out -= messages
        self.page.show_laid_out(layouts)
        self._update_page()

    def watch_scroll_y(self, old: float, new: float) -> None:
        """Go to where the scroll bar was dragged; our own moves are exact already."""
        super().watch_scroll_y(old, new)
        is_at_end = self.page.at_end and round(new) >= self.max_scroll_y  # the pane has grown
        if not self._is_updating and len(self.page) and round(old) != round(new) and not is_at_end:
            self._go(self.page.locate(round(new)))

    def on_resize(self) -> None:
        self._update_page()
        self.post_message(self.Resized())

    def render_line(self, y: int) -> Strip:
        width, base = self.scrollable_content_region.width, self._look_style("")
        frame = self.page.frame()
        if y >= len(frame):
            return Strip.blank(width, base)
        index, line = frame[y]
        gutter = "▎" if self.has_focus and index == self.page.current and line else " "
        return self._strip(line, width, [Segment(f"{gutter} ", base + self._look_style("gutter"))])

    # Moves

    def _go(self, position: Position, stepped: int | None = None) -> None:
        self.page.go(position, stepped)
        self._update_page()

    def _go_to(self, index: int, *, lead: int = 0) -> None:
        self._go(self.page.moved((index, 0), -lead), index)

    def action_scroll_lines(self, lines: int) -> None:
        page = self.page
        before, at_end, stepped = page.position, page.at_end, page.stepped
        self._go(page.moved(before, lines))
        # At an end of the conversation: step through the messages on the page.
        if page.position == before and abs(lines) == 1:
            page.at_end, page.stepped = at_end, stepped
            self.action_step(lines)

    def action_scroll_pages(self, pages: float) -> None:
        self.action_scroll_lines(int(pages * max(self.page.height - 2, 1)))

    def action_to_start(self) -> None:
        self.remember()
        self._go_to(0)

    def action_to_end(self) -> None:
        """Go to the last line, and follow new ones."""
        self.remember()
        self.page.at_end, self.page.stepped = True, None
        self._update_page()
        self.tell("")  # clears the count of new messages

    def action_step(self, by: int, kind: str = "") -> None:
        """Go to the next or previous message, prompt, day or segment; of the last two, backwards
        first to the beginning of the current one."""
        page, start = self.page, self.page.current
        if kind in _RULES and page.stepped is not None:
            start = page.stepped  # `current` is a message
        elif kind in _RULES and by > 0:
            start = page.position[0]  # the next rule may be on the page
        if start is None:
            return
        target = page.model.step(start, by, kind)
        if target is None and by < 0 and kind == EntryKind.SEAM and start > 0:
            target = 0  # the first segment has no seam above it
        if target is None:
            self.tell(_(_NO_FURTHER[kind]))
        else:
            self._go_to(target)

    def remember(self) -> Bookmark | None:
        """Return the place at the top of the page, where a jump begins; without a mark, `'` goes
        back to it."""
        here = self.page.here()
        if here is not None and not self._is_marked:
            self._mark = here
        return here

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.prevent_default()  # Textual would scroll by estimated heights
        self.action_scroll_lines(WHEEL_LINES)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.prevent_default()
        self.action_scroll_lines(-WHEEL_LINES)
