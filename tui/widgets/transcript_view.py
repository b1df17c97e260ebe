"""The conversation as one scroll: lays out only what is on screen, and never moves what is being read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from hermes_browse.store.models import ChatMessage
from hermes_browse.store.text import printable

from ..blocks import Look, Tools, is_foldable
from ..entries import TranscriptModel
from ..page import Page
from ..styled import line_text

if TYPE_CHECKING:
    from hermes_browse.store.search import Matcher

LOOKS = (
    "text", "dim", "bold", "italic", "strike", "struck", "code", "link", "heading", "bar", "rule", "note", "error",
    "user", "assistant", "other", "tool", "output", "reasoning", "hit", "hit-current", "gutter",
    "code-text", "keyword", "string", "number", "comment", "function", "added", "removed",
)  # fmt: skip
"""Names that spans of messages use; each has a style in the sheet."""

_GUTTER = 2
"""Cells on the left, for the mark of the current message."""
_LEAD = 2
"""Lines shown above a hit."""


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
        Binding("enter,ctrl+j", "toggle_fold", "more, less", show=False),
        Binding("c", "screen.take('message')", "copy", tooltip="Copy this message"),
        Binding(
            "C", "screen.take('code')", "copy code", tooltip="Copy its code block; again: the next one", show=False
        ),
        Binding(
            "ctrl+y",
            "screen.take('output')",
            "copy output",
            tooltip="Copy its tool output; again: the next one",
            show=False,
        ),
        Binding("t", "cycle_tools", "tools", tooltip="Tool calls off, short, full"),
        Binding("r", "toggle_reasoning", "reasoning", tooltip="Reasoning folded or shown"),
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
        self.page = Page()
        """Where the reader is."""
        self._current: int | None = None
        self._wanted: tuple[int, int] | None = None
        self._placing = False
        self._styles: dict[str, Style] = {}

    # What is shown

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
        self.page.matchers, self.page.hit = matchers, message_id
        self.page.open(model)
        self._wanted = None
        self._current = None
        target = None
        if model is not None and message_id is not None:
            target = model.entry_of(message_id)
        elif model is not None and segment is not None:
            target = model.entry_of_segment(segment)
        if target is not None:
            self._go_to(target, lead=_LEAD if message_id is not None else 0)
        else:
            self._place()

    def grow(self, model: TranscriptModel) -> int:
        """Take a longer reading of the same conversation; follows along when at the end.

        Returns:
            How many messages are new below what is on screen; 0 when they are shown.
        """
        at_end = self.page.at_end
        new = self.page.grow(model)
        self._wanted = None
        self._place()
        return 0 if at_end else new

    def loaded(self) -> None:
        """Messages have been read: lay out what is on screen again."""
        self.page.forget()
        if self._wanted is not None:
            self.page.hide_paired(*self._wanted)
        self._wanted = None
        self._place()

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

    def notify_style_update(self) -> None:
        """Another theme: forget the looks."""
        super().notify_style_update()
        self._styles.clear()

    def _look_style(self, looks: str) -> Style:
        style = self._styles.get(looks)
        if style is None:
            style = Style() if looks else self.rich_style
            for name in looks.split():
                style += self.get_component_rich_style(f"transcript--{name}", partial=True)
            self._styles[looks] = style
        return style

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
        segments += [Segment(printable(text), base + self._look_style(looks)) for text, looks in line]
        return Strip(segments).adjust_cell_length(width, base)

    # Moving

    def _current_index(self) -> int | None:
        """The entry the keys are about: the one last stepped to, else what is in sight."""
        return self._current if self._current is not None else self.page.entry_in_sight()

    def _go_to(self, index: int, *, lead: int = 0) -> None:
        model = self.page.model
        assert model is not None
        self.page.go((index, 0))
        if lead:
            self.page.go(self.page.moved((index, 0), -lead))
        self._place()
        following = index if model.bone(index) is not None else model.step(index, 1)
        self._current = following if following is not None else index
        self.refresh()

    def go_to_message(self, message_id: int, matchers: Sequence[Matcher] | None = None) -> bool:
        """Show a message with a little of what came before; False when this reading leaves it out."""
        index = self.page.model.entry_of(message_id) if self.page.model is not None else None
        if index is None:
            return False
        self.page.hit = message_id
        if matchers is not None:
            self.page.matchers = matchers
        self.page.forget()
        self._go_to(index, lead=_LEAD)
        return True

    def go_to_segment(self, session_id: str) -> bool:
        """Show the beginning of a segment; False when it has no messages."""
        index = self.page.model.entry_of_segment(session_id) if self.page.model is not None else None
        if index is None:
            return False
        self._go_to(index)
        return True

    def _scroll_by(self, lines: int) -> None:
        if not len(self.page):
            return
        before = self.page.place
        self._current = None
        self.page.go(self.page.moved(before, lines))
        self._place()
        if self.page.place == before and abs(lines) == 1:  # all of it is on screen: step through the messages
            self.action_step(lines, "")

    def action_scroll_lines(self, lines: int) -> None:
        """Scroll by lines."""
        self._scroll_by(lines)

    def action_scroll_pages(self, pages: float) -> None:
        """Scroll by pages."""
        self._scroll_by(int(pages * max(self.page.height - 2, 1)))

    def action_to_start(self) -> None:
        """To the first line."""
        if len(self.page):
            self._go_to(0)

    def action_to_end(self) -> None:
        """To the last line, following what comes."""
        self.page.at_end, self._current = True, None
        self._place()

    def action_step(self, by: int, role: str) -> None:
        """To the next or previous message, or prompt."""
        start = self._current_index()
        if self.page.model is None or start is None:
            return
        target = self.page.model.step(start, by, role)
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
        frame = self.page.frame()
        if event.y < len(frame):
            self._current, line = frame[event.y]
            if line_text(line).lstrip().startswith(("▸", "▾", "…")):
                self.action_toggle_fold()
            self.refresh()

    # Folding

    def action_toggle_fold(self) -> None:
        """Show all of the current message, or less again."""
        index = self._current_index()
        message = self.current
        if index is None or message is None or not is_foldable(message):
            self.post_message(self.Told("nothing is folded here"))
            return
        self.page.opened ^= {index}
        self.page.forget()
        self.page.go(self.page.place)
        self._current = index
        self._place()

    def _set_look(self, look: Look) -> None:
        self.page.look = look
        self.page.forget()
        self._place()

    def action_cycle_tools(self) -> None:
        """Tool calls off → short → full."""
        order = list(Tools)
        self._set_look(replace(self.look, tools=order[(order.index(self.look.tools) + 1) % len(order)]))
        self.post_message(self.Told(f"tools: {self.look.tools.value}"))

    def action_toggle_reasoning(self) -> None:
        """Reasoning folded or shown."""
        self._set_look(replace(self.look, reasoning=not self.look.reasoning))
        self.post_message(self.Told(f"reasoning {'shown' if self.look.reasoning else 'folded'}"))
