"""The scrolling part of the transcript widget: paints a page, moves in the conversation, knows the
current message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from hermes_browse.store.messages.chat_message import ChatMessage
from hermes_browse.store.sessions.session import Session
from hermes_browse.store.wording import N_, _

from ...text.styled import LOOKS
from ...widgets.lines import LongView
from .entries import EntryKind, TranscriptModel
from .page import Page, lay_out

if TYPE_CHECKING:
    from .block_layout import Shown
    from .paragraphs import MessageLayout

_NO_FURTHER = {EntryKind.DAY: N_("no further day"), EntryKind.SEAM: N_("no further part")}
_NO_EARLIER = {EntryKind.DAY: N_("no earlier day"), EntryKind.SEAM: N_("no earlier part")}

_GUTTER = 2
"""Cells on the left that mark the current message."""


class Bookmark(NamedTuple):
    """A message and a line of it; unlike a `Place`, valid in every reading of the conversation."""

    root_id: str
    message_id: int
    line: int
    """The line at the top of the page; negative if the page begins with rules above the message."""


class TranscriptScroll(LongView, can_focus=True):
    """Paints a `Page` and moves in it."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"transcript--{name}" for name in LOOKS}

    @dataclass
    class Needed(Message, namespace="transcript_view"):
        """Messages of these entries are on or near the page and must be read."""

        first: int
        last: int

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
    class LaidOut(Message, namespace="transcript_view"):
        """Long messages have been laid out on another thread."""

        layouts: dict[Shown, MessageLayout]

    @dataclass
    class Seen(Message, namespace="transcript_view"):
        """The user, who is in the transcript, has the messages up to this one in sight."""

        segments: tuple[Session, ...]
        """The sessions of the conversation."""
        message_id: int

    class Resized(Message, namespace="transcript_view"):
        """The width has changed."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.page = Page()
        self.page.defers = True
        self._being_drawn: set[Shown] = set()
        self._current: int | None = None
        """The entry last stepped to."""
        self._needed: tuple[int, int] | None = None
        self._placing = False
        self._gone_to: int | None = None
        """The entry or rule at which the last step ended."""
        self._prompt_step = 0
        """The direction (1 or -1) of a step to a prompt that has not been read and may be a
        summary."""
        self._mark: Bookmark | None = None
        self._before: Bookmark | None = None
        """Where the last jump began."""

    @property
    def model(self) -> TranscriptModel | None:
        """The conversation on screen."""
        return self.page.model

    @property
    def at_end(self) -> bool:
        """Whether the newest line is on screen; new lines are followed then."""
        return self.page.at_end

    @property
    def current(self) -> ChatMessage | None:
        """The message that keys act on; None if it has not been read."""
        index = self._current_index()
        return self.model.message(index) if self.model is not None and index is not None else None

    @property
    def current_id(self) -> int | None:
        """The id of that message, even if it has not been read."""
        index = self._current_index()
        row = self.model.row(index) if self.model is not None and index is not None else None
        return row.id if row is not None else None

    def _current_index(self) -> int | None:
        """Return the entry that keys act on: the one last stepped to, else one in sight."""
        return self._current if self._current is not None else self.page.entry_in_sight()

    # MessageLayout and painting

    def _place(self) -> None:
        """Lay out the page and update the scroll bar; called after every change."""
        region = self.scrollable_content_region
        if not region.height:  # not laid out, or hidden: it is laid out when it has a size
            return
        self.page.resize(region.width - _GUTTER, region.height)
        above = self.page.settle()
        if self.page.missing is not None and self.page.missing != self._needed:
            self._needed = self.page.missing
            self.post_message(self.Needed(*self._needed))
        self._placing = True
        try:
            self.virtual_size = Size(self.page.width, self.page.heights.total)
            self.scroll_to(y=above, animate=False, force=True, immediate=True)
        finally:
            self._placing = False
        self.refresh()
        self._draw()
        self._tell_seen()

    def watch_has_focus(self, _has_focus: bool) -> None:
        super().watch_has_focus(_has_focus)
        self._tell_seen()

    def _tell_seen(self) -> None:
        """Report the last message in sight, if there are new ones in the conversation."""
        model, frame = self.model, self.page.frame()
        if not self.has_focus or model is None or model.conversation.first_new is None or not frame:
            return
        index = frame[-1][0]
        while index + 1 < len(model) and not self.page.heights[index + 1]:  # shown with its call
            index += 1
        rows = map(model.row, range(index, -1, -1))
        last = next((row.id for row in rows if row is not None), 0)
        if last >= model.conversation.first_new:
            self.post_message(self.Seen(model.conversation.segments, last))

    def _draw(self) -> None:
        """Lay out deferred messages on another thread."""
        messages = self.page.deferred - self._being_drawn
        self.page.deferred.clear()
        if messages:
            self._being_drawn |= messages
            self.run_worker(lambda: self.post_message(self.LaidOut(lay_out(messages))), thread=True)

    @property
    def is_drawing(self) -> bool:
        """Whether a message of the page is being laid out on another thread."""
        return bool(self._being_drawn)

    def on_transcript_view_laid_out(self, event: LaidOut) -> None:
        """Show messages that have been laid out."""
        event.stop()
        self._being_drawn -= event.layouts.keys()
        self.page.take(event.layouts)
        self._place()

    def watch_scroll_y(self, old: float, new: float) -> None:
        """Go to where the scroll bar was dragged; our own moves are exact already."""
        super().watch_scroll_y(old, new)
        is_at_end = self.page.at_end and round(new) >= self.max_scroll_y  # the pane has grown
        if not self._placing and len(self.page) and round(old) != round(new) and not is_at_end:
            self._current = None
            self.page.go(self.page.heights.locate(round(new)))
            self._place()

    def on_resize(self) -> None:
        """Lay out the page for the new size; the entry at the top stays there."""
        self._place()
        self.post_message(self.Resized())

    def _make_style(self, names: Sequence[str]) -> Style:
        style = super()._make_style(names)
        # Matches are never dim.
        return style + Style(dim=False) if {"hit", "hit-current"}.intersection(names) else style

    def render_line(self, y: int) -> Strip:
        width, base = self.scrollable_content_region.width, self._look_style("")
        frame = self.page.frame()
        if y >= len(frame):
            return Strip.blank(width, base)
        index, line = frame[y]
        gutter = "▎" if self.has_focus and index == self._current_index() and line else " "
        return self._strip(line, width, [Segment(f"{gutter} ", base + self._look_style("gutter"))])

    # Jumps

    def _go_to(self, index: int, *, lead: int = 0) -> None:
        model = self.model
        assert model is not None
        self.page.go((index, 0))
        if lead:
            self.page.go(self.page.moved((index, 0), -lead))
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
        self._prompt_step = 0

    def action_scroll_lines(self, lines: int) -> None:
        """Scroll by lines."""
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
        """Scroll by pages."""
        self.action_scroll_lines(int(pages * max(self.page.height - 2, 1)))

    def action_to_start(self) -> None:
        """Go to the first line."""
        if len(self.page):
            self.remember()
            self._go_to(0)

    def action_to_end(self) -> None:
        """Go to the last line, and follow new ones."""
        self.remember()
        self.page.at_end = True
        self._follow_page()
        self._place()
        self.post_message(self.Notice(""))  # clears the count of new messages

    def action_step(self, by: int, role: str) -> None:
        """Go to the next or previous message, or prompt."""
        start = self._current_index()
        if self.model is None or start is None:
            return
        target = self.model.step(start, by, role)
        if target is None:
            self.post_message(
                self.Notice(_("no further prompt") if role else _("no further message"))
            )
        else:
            self._go_to(target)
            self._prompt_step = by if role else 0

    def _step_on(self) -> None:
        """Step on from a prompt that turned out to be a summary when it was read."""
        model, index, by = self.model, self._current, self._prompt_step
        if model is None or index is None or not by or model.message(index) is None:
            return
        self._prompt_step = 0
        if model.is_summary(index):
            self.action_step(by, "user")

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
            self.post_message(self.Notice(_((_NO_FURTHER if by > 0 else _NO_EARLIER)[kind])))
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
            line -= len(self.page.lines(index) or ())
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
        """Mark this place."""
        self._mark = self.here()
        if self._mark is not None:
            self.post_message(self.Notice(_("marked · ' comes back here")))

    def action_to_mark(self) -> None:
        """Go to the mark, else to where the last jump began; the key goes back to here the next
        time."""
        model = self.model
        goal = self._mark if self._mark is not None else self._before
        if model is None or goal is None or goal.root_id != model.conversation.root_id:
            self.post_message(self.Notice(_("no mark in this conversation: m makes one")))
            return
        here = self.here()
        if not self.go_back_to(goal):
            self.post_message(
                self.Notice(_("the marked message is not part of this reading: v shows everything"))
            )
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
