"""The conversation as one scroll: lays out only what is on screen, and never moves what is being read."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from hermes_browse.store.models import ChatMessage
from hermes_browse.store.search import Matcher, find_ranges
from hermes_browse.store.text import printable

from ..blocks import Look, Tools, is_foldable, message_lines, rule_line
from ..entries import EntryKind, TranscriptModel
from ..heights import Heights
from ..styled import Line, light, line_text

LOOKS = (
    "text", "dim", "bold", "italic", "strike", "struck", "code", "link", "heading", "bar", "rule", "note", "error",
    "user", "assistant", "other", "tool", "output", "reasoning", "hit", "hit-current", "gutter",
    "code-text", "keyword", "string", "number", "comment", "function", "added", "removed",
)  # fmt: skip
"""Names that spans of messages use; each has a style in the sheet."""

_ESTIMATES = {"user": 5, "assistant": 8, "tool": 0}
_KEPT = 400


class TranscriptView(ScrollView, can_focus=True):
    """The viewer of a conversation over a `TranscriptModel`."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"transcript--{name}" for name in LOOKS}

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "scroll_lines(1)", "down", show=False),
        Binding("up,k", "scroll_lines(-1)", "up", show=False),
        Binding("pagedown,space,ctrl+f", "scroll_pages(1)", "page down", show=False),
        Binding("pageup,ctrl+b", "scroll_pages(-1)", "page up", show=False),
        Binding("ctrl+d", "scroll_pages(0.5)", "half a page down", show=False),
        Binding("ctrl+u", "scroll_pages(-0.5)", "half a page up", show=False),
        Binding("home,g", "to_start", "start", show=False),
        Binding("end,G", "to_end", "end", show=False),
        Binding("J", "step(1, 'user')", "next prompt", show=False),
        Binding("K", "step(-1, 'user')", "previous prompt", show=False),
        Binding("right_curly_bracket", "step(1, '')", "next message", show=False),
        Binding("left_curly_bracket", "step(-1, '')", "previous message", show=False),
        Binding("enter", "toggle_fold", "more, less", show=False),
        Binding("t", "cycle_tools", "tools", show=False),
        Binding("r", "toggle_reasoning", "reasoning", show=False),
    ]

    @dataclass
    class Wanted(Message):
        """Messages of these entries are on screen, or nearly, and have not been read."""

        first: int
        last: int

    @dataclass
    class Told(Message):
        """Something for the status line."""

        text: str

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._model: TranscriptModel | None = None
        self._heights = Heights([])
        self._laid: OrderedDict[tuple[int, int, Look, bool], list[Line]] = OrderedDict()
        self._open: set[int] = set()
        self._anchor = (0, 0)
        self._at_end = True
        self._current: int | None = None
        self._frame: list[tuple[int, Line]] | None = None
        self._wanted: tuple[int, int] = (-1, -1)
        self._matchers: Sequence[Matcher] = ()
        self._hit: int | None = None
        self._placing = False
        self._styles: dict[str, Style] = {}
        self.look = Look()
        """What is shown of tools and reasoning."""

    # What is shown

    @property
    def model(self) -> TranscriptModel | None:
        """The conversation on screen."""
        return self._model

    @property
    def at_end(self) -> bool:
        """Whether the newest line is on screen and new ones will be followed."""
        return self._at_end

    @property
    def current(self) -> ChatMessage | None:
        """The message that copying and folding are about."""
        index = self._current_index()
        return self._model.message(index) if self._model is not None and index is not None else None

    def show(
        self,
        model: TranscriptModel | None,
        *,
        message_id: int | None = None,
        matchers: Sequence[Matcher] = (),
        segment: str | None = None,
    ) -> None:
        """Show a conversation: at its end, at a message, or at the start of a segment.

        Args:
            model: What to show; None for nothing.
            message_id: Begin at this message, as a hit.
            matchers: Terms to light.
            segment: Begin at this session instead.
        """
        self._model = model
        self._laid.clear()
        self._open.clear()
        self._matchers, self._hit = matchers, message_id
        self._wanted = (-1, -1)
        self._current = None
        entries = model.entries if model is not None else []
        self._heights = Heights([self._estimate(index) for index in range(len(entries))])
        self._at_end = True
        target = None
        if model is not None and message_id is not None:
            target = model.entry_of(message_id)
        elif model is not None and segment is not None:
            target = model.entry_of_segment(segment)
        if target is not None:
            self._go_to(target, lead=2 if message_id is not None else 0)
        else:
            self._place()

    def grow(self, model: TranscriptModel) -> int:
        """Take a longer reading of the same conversation; follows along when at the end.

        Returns:
            How many messages are new below what is on screen; 0 when they are shown.
        """
        old = self._model
        kept, at_end, current, opened = self._anchor, self._at_end, self._current, set(self._open)
        before = len(old) if old is not None else 0
        self._model = model
        self._laid.clear()
        self._heights = Heights(
            [self._heights[i] if i < before else self._estimate(i) for i in range(len(model.entries))]
        )
        self._anchor, self._at_end, self._current, self._open = kept, at_end, current, opened
        self._wanted = (-1, -1)
        self._place()
        new = sum(entry.kind is EntryKind.MESSAGE for entry in model.entries[before:])
        return 0 if at_end else new

    def loaded(self) -> None:
        """Messages have been read: lay out what is on screen again."""
        self._laid.clear()
        if self._model is not None:
            first, last = self._wanted
            for index in range(max(first - 4, 0), min(last + 12, len(self._model))):
                message = self._model.message(index)
                if message is not None and self._model.is_paired(message):
                    self._heights.set(index, 0)
        self._wanted = (-1, -1)
        self._place()

    def _estimate(self, index: int) -> int:
        assert self._model is not None
        bone = self._model.bone(index)
        return 2 if bone is None else _ESTIMATES.get(bone.role, 4)

    # Layout

    def _width(self) -> int:
        return max(self.scrollable_content_region.width - 2, 12)

    def _page(self) -> int:
        return max(self.scrollable_content_region.height, 1)

    def _lines(self, index: int) -> list[Line] | None:
        """The lines of an entry, exactly; None when its message has not been read."""
        assert self._model is not None
        width = self._width()
        key = (index, width, self.look, index in self._open)
        if key in self._laid:
            self._laid.move_to_end(key)
            return self._laid[key]
        entry = self._model.entries[index]
        if entry.kind is not EntryKind.MESSAGE:
            lines = rule_line(entry.text, width)
        else:
            message = self._model.message(index)
            if message is None:
                return None
            lines = message_lines(message, self._model, width, self.look, is_open=index in self._open)
            if self._matchers:
                look = "hit-current" if message.id == self._hit else "hit"
                lines = [light(line, find_ranges(line_text(line), self._matchers), look) for line in lines]
        self._laid[key] = lines
        if len(self._laid) > _KEPT:
            self._laid.popitem(last=False)
        self._heights.set(index, len(lines))
        return lines

    def _height(self, index: int) -> int:
        lines = self._lines(index)
        return len(lines) if lines is not None else self._heights[index]

    def _moved(self, anchor: tuple[int, int], by: int) -> tuple[int, int]:
        """A place so many lines further down or up, counted in exact heights."""
        index, line = anchor
        line += by
        while line < 0 and index > 0:
            index -= 1
            line += self._height(index)
        while index < len(self._heights) - 1 and line >= self._height(index):
            line -= self._height(index)
            index += 1
        return index, max(line, 0)

    def _last_anchor(self) -> tuple[int, int]:
        """The place whose page shows the very end."""
        index, left = len(self._heights), self._page()
        while index > 0 and left > 0:
            index -= 1
            left -= self._height(index)
        return (index, -left) if left < 0 else (index, 0)

    def _place(self) -> None:
        """Lay out the page at the anchor and tell the scroll bar; called after every change."""
        self._frame = None
        if self._model is not None and len(self._model) and self._page() > 1:
            last = self._last_anchor()
            if self._at_end or self._anchor >= last:
                self._anchor, self._at_end = last, True
            self._build()
        else:
            self._anchor = (0, 0)
        self._placing = True
        try:
            self.virtual_size = Size(self._width(), self._heights.total)
            offset = self._heights.before(self._anchor[0]) + self._anchor[1]
            self.scroll_to(y=offset, animate=False, force=True, immediate=True)
        finally:
            self._placing = False
        self.refresh()

    def _build(self) -> list[tuple[int, Line]]:
        """The lines of the page, each with its entry; asks for what is missing."""
        if self._frame is not None:
            return self._frame
        frame: list[tuple[int, Line]] = []
        if self._model is None:
            return frame
        index, skip = self._anchor
        first = index
        missing = False
        while index < len(self._model) and len(frame) < self._page():
            lines = self._lines(index)
            if lines is None:
                missing = True
                lines = [[("…", "dim")]] * self._heights[index]
            frame += [(index, line) for line in lines[skip:]]
            skip = 0
            index += 1
        self._frame = frame[: self._page()]
        if missing and not (self._wanted[0] <= first and index <= self._wanted[1]):
            self._wanted = (max(first - 30, 0), min(index + 30, len(self._model)))
            self.post_message(self.Wanted(*self._wanted))
        return self._frame

    def watch_scroll_y(self, old: float, new: float) -> None:
        """The scroll bar was dragged: go there. Our own moves are exact already."""
        super().watch_scroll_y(old, new)
        if not self._placing and self._model is not None and round(old) != round(new):
            self._at_end = False
            self._current = None
            self._anchor = self._heights.locate(round(new))
            self._place()

    def on_resize(self) -> None:
        """Another width: everything is laid out anew, the entry at the top stays there."""
        self._laid.clear()
        self._place()

    # Painting

    def notify_style_update(self) -> None:
        """Another theme: forget the looks."""
        super().notify_style_update()
        self._styles.clear()

    def _look_style(self, looks: str) -> Style:
        style = self._styles.get(looks)
        if style is None:
            style = Style()
            for name in looks.split():
                style += self.get_component_rich_style(f"transcript--{name}", partial=True)
            self._styles[looks] = style
        return style

    def on_focus(self) -> None:
        """Show which message the keys are about."""
        self.refresh()

    def on_blur(self) -> None:
        """The keys are elsewhere."""
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        width = self.scrollable_content_region.width
        base = self.rich_style
        frame = self._build()
        if y >= len(frame):
            return Strip.blank(width, base)
        index, line = frame[y]
        gutter = "▎" if self.has_focus and index == self._current_index() and line else " "
        segments = [Segment(gutter + " ", base + self._look_style("gutter"))]
        # Lines are printable already; this is the last door before the terminal, so it is shut as well.
        segments += [Segment(printable(text), base + self._look_style(looks)) for text, looks in line]
        return Strip(segments).adjust_cell_length(width, base)

    # Moving

    def _current_index(self) -> int | None:
        """The entry the keys are about: the one last stepped to, else the one a third down the page."""
        if self._model is None or not len(self._model):
            return None
        if self._current is not None:
            return self._current
        frame = self._build()
        if not frame:
            return None
        place = frame[min(self._page() // 3, len(frame) - 1)][0]
        if self._model.bone(place) is not None:
            return place
        return self._model.step(place, 1) if self._model.step(place, 1) is not None else self._model.step(place, -1)

    def _go_to(self, index: int, *, lead: int = 0) -> None:
        self._at_end = False
        self._anchor = (index, 0)
        if lead:
            self._anchor = self._moved(self._anchor, -lead)
        self._place()
        assert self._model is not None
        following = index if self._model.bone(index) is not None else self._model.step(index, 1)
        self._current = following if following is not None else index
        self.refresh()

    def go_to_message(self, message_id: int, matchers: Sequence[Matcher] | None = None) -> bool:
        """Show a message with a little of what came before; False when this reading leaves it out."""
        index = self._model.entry_of(message_id) if self._model is not None else None
        if index is None:
            return False
        self._hit = message_id
        if matchers is not None:
            self._matchers = matchers
        self._laid.clear()
        self._go_to(index, lead=2)
        return True

    def go_to_segment(self, session_id: str) -> bool:
        """Show the beginning of a segment; False when it has no messages."""
        index = self._model.entry_of_segment(session_id) if self._model is not None else None
        if index is None:
            return False
        self._go_to(index)
        return True

    def _scroll_by(self, lines: int) -> None:
        if self._model is None or not len(self._model):
            return
        before = self._anchor
        self._at_end = False
        self._current = None
        self._anchor = self._moved(self._anchor, lines)
        self._place()
        if self._anchor == before and abs(lines) == 1:  # all of it is on screen: step through the messages
            self.action_step(lines, "")

    def action_scroll_lines(self, lines: int) -> None:
        """Scroll by lines."""
        self._scroll_by(lines)

    def action_scroll_pages(self, pages: float) -> None:
        """Scroll by pages."""
        self._scroll_by(int(pages * max(self._page() - 2, 1)))

    def action_to_start(self) -> None:
        """To the first line."""
        if self._model is not None and len(self._model):
            self._go_to(0)

    def action_to_end(self) -> None:
        """To the last line, following what comes."""
        self._at_end, self._current = True, None
        self._place()

    def action_step(self, by: int, role: str) -> None:
        """To the next or previous message, or prompt."""
        start = self._current_index()
        if self._model is None or start is None:
            return
        target = self._model.step(start, by, role)
        if target is None:
            self.post_message(self.Told("no further " + ("prompt" if role else "message")))
        else:
            self._go_to(target)

    def _on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._scroll_by(3)
        event.stop()

    def _on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._scroll_by(-3)
        event.stop()

    def on_click(self, event: events.Click) -> None:
        """A click on a folded line opens it."""
        frame = self._build()
        if event.y < len(frame):
            index, line = frame[event.y]
            self._current = index
            text = line_text(line).lstrip()
            if text.startswith(("▸", "▾", "…")):
                self.action_toggle_fold()
            self.refresh()

    # Folding

    def _refold(self, index: int | None) -> None:
        """Lay out anew with the same entry at the top."""
        self._laid.clear()
        if index is not None:
            self._at_end = False
            self._current = index
        self._place()

    def action_toggle_fold(self) -> None:
        """Show all of the current message, or less again."""
        index = self._current_index()
        message = self.current
        if index is None or message is None or not is_foldable(message):
            self.post_message(self.Told("nothing is folded here"))
            return
        self._open ^= {index}
        self._refold(index)

    def action_cycle_tools(self) -> None:
        """Tool calls off → short → full."""
        order = list(Tools)
        self.look = Look(order[(order.index(self.look.tools) + 1) % len(order)], self.look.reasoning)
        self._refold(None)
        self.post_message(self.Told(f"tools: {self.look.tools.value}"))

    def action_toggle_reasoning(self) -> None:
        """Reasoning folded or shown."""
        self.look = Look(self.look.tools, not self.look.reasoning)
        self._refold(None)
        self.post_message(self.Told(f"reasoning {'shown' if self.look.reasoning else 'folded'}"))
