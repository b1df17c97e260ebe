"""A text of any length to look at: only the lines on screen are painted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from textual.binding import BindingType
from textual.geometry import Size
from textual.strip import Strip

from hermes_browse.store.text import printable

from ..bindings import bindings
from ..commands.panes import LINES
from ..styled import Line, breaks, line_text, line_width, slice_spans, wrap_spans
from .long_view import TranscriptLooks
from .transcript_base import LOOKS


class LinesView(TranscriptLooks, can_focus=True):
    """Lines with looks, wrapped to the width.

    Args:
        lines: Printable, not wrapped.
        hang: Cells by which what is wrapped stands further right.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"transcript--{name}" for name in LOOKS}

    BINDINGS: ClassVar[list[BindingType]] = bindings(LINES)

    def __init__(self, lines: Sequence[Line], *, hang: int = 0, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines, self._hang = lines, hang
        self._wrapped: list[Line] = []

    def show(self, lines: Sequence[Line]) -> None:
        """Show other lines."""
        self._lines = lines
        self.on_resize()

    def on_resize(self) -> None:
        """Another width."""
        width = max(self.scrollable_content_region.width, 8)
        self._wrapped = [piece for line in self._lines for piece in self._wrap(line, width)]
        self.virtual_size = Size(width, len(self._wrapped))
        self.refresh()

    def _wrap(self, line: Line, width: int) -> list[Line]:
        if not self._hang or line_width(line) <= width or width < 3 * self._hang:
            return wrap_spans(line, width)
        text = line_text(line)
        first = breaks(text, width)[0][1]
        rest = slice_spans(line, first, len(text))
        if rest and rest[0][0].startswith(" "):
            rest[0] = (rest[0][0][1:], rest[0][1])
        space = (" " * self._hang, "text")
        return [slice_spans(line, 0, first), *([space, *piece] for piece in wrap_spans(rest, width - self._hang))]

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        width = self.scrollable_content_region.width
        base = self._look_style("")
        number = y + self.scroll_offset.y
        if number >= len(self._wrapped):
            return Strip.blank(width, base)
        line = self._wrapped[number]
        return Strip(
            [Segment(printable(text), base + self._look_style(looks)) for text, looks in line if text]
        ).adjust_cell_length(width, base)

    def action_move(self, lines: int) -> None:
        """Scroll by lines."""
        self.scroll_relative(y=lines, animate=False)

    def action_page(self, pages: int) -> None:
        """Scroll by pages."""
        self.scroll_relative(y=pages * max(self.size.height - 2, 1), animate=False)

    def action_scroll_home(self, animate: bool = False) -> None:
        """To the first line."""
        self.scroll_home(animate=animate)

    def action_scroll_end(self, animate: bool = False) -> None:
        """To the last line."""
        self.scroll_end(animate=animate)
