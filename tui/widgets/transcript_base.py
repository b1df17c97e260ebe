"""The scroll a transcript is shown in: lays out and paints one page, and knows which message keys are about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from hermes_browse.store.models import ChatMessage
from hermes_browse.store.text import printable

from ..blocks import Look
from ..drawing import Key, draw
from ..entries import TranscriptModel
from ..page import Page
from ..styled import Line
from .long_view import TranscriptLooks

LOOKS = (
    "text", "dim", "bold", "italic", "strike", "struck", "code", "link", "heading", "bar", "rule", "note", "error",
    "user", "assistant", "other", "tool", "output", "reasoning", "hit", "hit-current", "gutter",
    "code-text", "keyword", "string", "number", "comment", "function", "added", "removed",
    "underline", "reverse", "sgr-black", "sgr-red", "sgr-green", "sgr-yellow", "sgr-blue", "sgr-magenta", "sgr-cyan",
    "sgr-white",
)  # fmt: skip
"""Names that spans of messages use; each has a style in the sheet."""

_GUTTER = 2
"""Cells on the left, for the mark of the current message."""


class TranscriptScroll(TranscriptLooks, can_focus=True):
    """A `Page` on the screen."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"transcript--{name}" for name in LOOKS}

    @dataclass
    class Wanted(Message, namespace="transcript_view"):
        """Messages of these entries are on screen, or nearly, and have not been read."""

        first: int
        last: int

    @dataclass
    class Told(Message, namespace="transcript_view"):
        """Something for the status line."""

        text: str

    @dataclass
    class Finding(Message, namespace="transcript_view"):
        """A key about what is being found here."""

        step: int
        """To the next find, or with -1 to the one before; 0 for no longer finding."""

    @dataclass
    class Drawn(Message, namespace="transcript_view"):
        """Texts that take long have been laid out, on another thread."""

        lines: dict[Key, list[Line]]

    class Resized(Message, namespace="transcript_view"):
        """There is another width for what stands above."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.page = Page()
        """Where the reader is."""
        self.page.defers = True
        self._being_drawn: set[Key] = set()
        self._current: int | None = None
        self._wanted: tuple[int, int] | None = None
        self._placing = False

    @property
    def model(self) -> TranscriptModel | None:
        """The conversation on screen."""
        return self.page.model

    @property
    def look(self) -> Look:
        """What is shown of tools and reasoning."""
        return self.page.look

    @property
    def at_end(self) -> bool:
        """Whether the newest line is on screen and new ones will be followed."""
        return self.page.at_end

    @property
    def current(self) -> ChatMessage | None:
        """The message that copying and folding are about."""
        index = self._current_index()
        return self.page.model.message(index) if self.page.model is not None and index is not None else None

    @property
    def current_id(self) -> int | None:
        """The id of that message, whether or not it has been read."""
        index = self._current_index()
        bone = self.page.model.bone(index) if self.page.model is not None and index is not None else None
        return bone.id if bone is not None else None

    def _current_index(self) -> int | None:
        """The entry the keys are about: the one last stepped to, else what is in sight."""
        return self._current if self._current is not None else self.page.entry_in_sight()

    # Layout and painting

    def _place(self) -> None:
        """Lay out the page and tell the scroll bar; called after every change."""
        region = self.scrollable_content_region
        self.page.resize(region.width - _GUTTER, region.height)
        above = self.page.settle()
        if self.page.missing is not None and self.page.missing != self._wanted:
            self._wanted = self.page.missing
            self.post_message(self.Wanted(*self._wanted))
        self._placing = True
        try:
            self.virtual_size = Size(self.page.width, self.page.heights.total)
            self.scroll_to(y=above, animate=False, force=True, immediate=True)
        finally:
            self._placing = False
        self.refresh()
        self._draw()

    def _draw(self) -> None:
        """Have what takes longer than a frame laid out on another thread."""
        keys = [key for key in self.page.drawing.wanted if key not in self._being_drawn]
        self.page.drawing.wanted.clear()
        if keys:
            self._being_drawn.update(keys)
            self.run_worker(lambda: self.post_message(self.Drawn(draw(keys))), thread=True)

    @property
    def is_drawing(self) -> bool:
        """Whether something on the page is being laid out elsewhere."""
        return bool(self._being_drawn)

    def on_transcript_view_drawn(self, event: Drawn) -> None:
        """It is there."""
        event.stop()
        self._being_drawn -= event.lines.keys()
        self.page.take(event.lines)
        self._place()

    def watch_scroll_y(self, old: float, new: float) -> None:
        """The scroll bar was dragged: go there. Our own moves are exact already."""
        super().watch_scroll_y(old, new)
        if not self._placing and len(self.page) and round(old) != round(new):
            self._current = None
            self.page.go(self.page.heights.locate(round(new)))
            self._place()

    def on_resize(self) -> None:
        """Another width: everything is laid out anew, the entry at the top stays there."""
        self._place()
        self.post_message(self.Resized())

    def on_focus(self) -> None:
        """Show which message the keys are about."""
        self._styles.clear()
        self.refresh()

    def on_blur(self) -> None:
        """The keys are elsewhere."""
        self._styles.clear()
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        width = self.scrollable_content_region.width
        base = self._look_style("")
        frame = self.page.frame()
        if y >= len(frame):
            return Strip.blank(width, base)
        index, line = frame[y]
        gutter = "▎" if self.has_focus and index == self._current_index() and line else " "
        segments = [Segment(gutter + " ", base + self._look_style("gutter"))]
        # Lines are printable already; this is the last door before the terminal, so it is shut as well.
        segments += [Segment(printable(text), base + self._look_style(looks)) for text, looks in line if text]
        return Strip(segments).adjust_cell_length(width, base)
