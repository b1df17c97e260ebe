"""Widgets of lines: one line, switches, the footer, a text input, a base class of long views, a
read-only text.

The footer is one line of text with the active keys, each of which can be clicked. Textual's has a
widget per key, composed and styled twice at the start, which takes as long as the rest of the
screen.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import replace
from itertools import accumulate, chain
from operator import itemgetter
from typing import NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from textual.binding import Binding
from textual.content import Content
from textual.geometry import Offset, Size
from textual.reactive import Reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style as ContentStyle
from textual.visual import VisualType
from textual.widgets import Input, Static

from hermes_browse.store.text import printable
from hermes_browse.store.wording import _

from ..settings.keys import Command, Does
from ..settings.keys.main_commands import LINES
from ..terminal.textual_private import draw_plainly, measure_anew, tell_scroll_bar
from ..text.styled import (
    Line,
    Paragraph,
    Span,
    TextLayout,
    indent,
    line_width,
    paragraphs_of,
)
from .bindings import bindings
from .themes import LooksWidget


class WrappedText(Static):
    """A text whose height is right even if a worker's answer changes it before the first layout is
    done."""

    def update(self, content: VisualType = "", *, layout: bool = True) -> None:
        if layout:
            measure_anew(self)
        super().update(content, layout=layout)


class TextLine(WrappedText):
    """One line of `Content`, without markup.

    With an automatic height in the style sheet it grows and shrinks with its text.
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__("", id=id, markup=False)
        self.auto_links = False  # no link style over clickable parts

    def update(self, content: VisualType = "", *, layout: bool = False) -> None:
        """Show another text; lays out the screen only if the height changes."""
        before = self.content
        if isinstance(before, Content) and isinstance(content, Content) and content.is_same(before):
            return  # the same text is often set per keystroke
        super().update(content, layout=layout or self._grows(content))

    def _grows(self, content: VisualType) -> bool:
        """Return whether a text may need another height."""
        width = self.size.width
        if not isinstance(content, Content) or not self.styles.is_auto_height or not width:
            return False
        return self.size.height != 1 or content.cell_length > width


def clicked(action: str) -> ContentStyle:
    """Return the style of a part of a line that runs an action when it is clicked."""
    return ContentStyle.from_meta({"@click": action})


class ToggleLine(TextLine):
    """The commands of a screen on the keys 1, 2, …, side by side, which can be clicked."""

    def __init__(self, commands: Iterable[Command], *, id: str) -> None:
        super().__init__(id=id)
        self._commands = [each for each in commands if each.keys.isdecimal()]

    def show(self, on: Container[int]) -> None:
        """Show which are on, by their index."""
        parts = [Content(" ")]
        for index, each in enumerate(self._commands):
            look = "bold reverse" if index in on else "dim"
            label = Content.styled(f" {each.keys} {_(each.title)} ", look)
            parts += [label.stylize(clicked(f"screen.{each.call}")), Content(" ")]
        self.update(Content("").join(parts))


_REFUSED = Does("", "", "", "refuse").action
"""The action of commands that cannot be used where the footer is."""
_SHOWN, _END = "shown", "end"
"""Groups of the line: first the keys in the order of the bindings; at the end the help, Esc, and what
follows them."""


class _Key(NamedTuple):
    binding: Binding
    key: str
    """As it is printed on a keyboard."""

    @property
    def is_always_shown(self) -> bool:
        """Whether it opens the help, which lists the others, or goes back."""
        return (self.binding.id or "").endswith("help") or self.binding.key == "escape"

    @property
    def width(self) -> int:
        return cell_len(self.key) + cell_len(_(self.binding.description)) + 3

    def content(self) -> Content:
        text = Content.assemble(
            (f" {self.key}", "bold $footer-key-foreground"), f" {_(self.binding.description)} "
        )
        return text.stylize(clicked(f"app.simulate_key({self.binding.key!r})"))


class KeyLine(TextLine):
    """The keys of the focused pane and their titles.

    Args:
        more: Ids of commands that are shown as well if there is room left, in this order.
        withheld: Ids of those that are left out at first.
    """

    def __init__(
        self,
        more: Sequence[str] = (),
        withheld: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(id="keys")
        self._more = more
        self._withheld = withheld
        self._first: Sequence[str] = ()
        self._keys: list[_Key] = []

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(
            self, lambda _screen: self.call_after_refresh(self._update_keys)
        )

    def withhold(self, commands: frozenset[str], first: Sequence[str] = ()) -> None:
        """Leave out commands, by their ids, that mean nothing for what is shown, and begin with
        others."""
        if (commands, first) != (self._withheld, self._first):
            self._withheld = commands
            self._first = first
            self._update_keys()

    def on_resize(self) -> None:
        self._update_keys()

    def _update_keys(self) -> None:
        if not self.is_attached:  # its screen was closed meanwhile
            return
        bound = self.screen.active_bindings  # half a millisecond
        focused = self.screen.focused
        withheld = self._withheld | getattr(focused, "idle_commands", frozenset())
        order = [*self._first, _SHOWN, *self._more, _END]
        on_enter = getattr(focused, "enter_title", "")
        keys: dict[str, tuple[int, _Key]] = {}
        group = _SHOWN
        for each in sorted(bound.values(), key=lambda each: each.binding.key != "enter"):
            binding = each.binding
            if isinstance(focused, Input) and each.node is not focused and binding.key != "escape":
                continue  # a letter there
            if binding.key == "enter" and on_enter:  # it depends on the row under the cursor
                binding = replace(binding, description=on_enter, show=True)
            key = _Key(binding, self.app.get_key_display(binding))
            if binding.show and key.is_always_shown:
                group = _END
            place = group if binding.show else binding.id
            is_withheld = binding.id in withheld and not key.is_always_shown
            if place in order and not is_withheld and binding.action != _REFUSED:
                keys.setdefault(binding.action, (order.index(place), key))
        shown = [key for _place, key in sorted(keys.values(), key=itemgetter(0))]

        def need(key: _Key) -> tuple[bool, bool]:
            return not key.is_always_shown, key.binding.id in self._more

        by_need = sorted(shown, key=need)
        ends = accumulate(key.width for key in by_need)
        fitting = [key for key, end in zip(by_need, ends, strict=True) if end <= self.size.width]
        shown = [key for key in shown if key in fitting]
        if shown != self._keys:
            self._keys = shown
            self.update(Content("").join(key.content() for key in shown))


class LongView(LooksWidget, ScrollView, inherit_bindings=False):
    """A Line-API view whose length may change with every key. It has no horizontal scrolling, so
    those keys are free.

    In Textual 8 a change of `virtual_size` lays out all widgets of the screen, which takes most of
    a frame: too long for a list that changes with each letter, or heights corrected while
    scrolling. Here it updates only the scroll bar, unless the height of the view depends on its
    content.
    """

    virtual_size = Reactive(Size(0, 0), layout=False)
    """Lines of the whole content. With its columns it would change whenever those of the view do, and
    a view that is as high as its content would be laid out twice."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        draw_plainly(self)

    def watch_virtual_size(self, size: Size) -> None:
        if self.styles.is_auto_height:
            self.refresh(layout=True)
        else:
            tell_scroll_bar(self, size)

    def on_focus(self) -> None:
        self._looks.clear()
        self.refresh()

    on_blur = on_focus

    def _strip(self, spans: Iterable[Span], width: int, first: Sequence[Segment] = ()) -> Strip:
        """Build a screen line of `first` and spans."""
        base = self._look_style("")
        # Spans should be printable already; this is the last check before the terminal.
        segments = [
            Segment(printable(text), base + self._look_style(looks))
            for text, looks in spans
            if text
        ]
        return Strip([*first, *segments]).adjust_cell_length(width, base)


class LinesView(LongView, can_focus=True):
    """A read-only text: styled lines wrapped to the width, of which only those on screen are
    painted.

    Args:
        lines: Printable, not wrapped.
        has_labels: Lines begin with a label, and are continued beside it.
    """

    BINDINGS = bindings(LINES)

    def __init__(
        self, lines: Sequence[Line], *, has_labels: bool = False, id: str | None = None
    ) -> None:
        super().__init__(id=id)
        self._lines = lines
        self._has_labels = has_labels
        self._wrapped: list[Line] = []

    def show(self, lines: Sequence[Line]) -> None:
        self._lines = lines
        self.on_resize()

    def on_resize(self) -> None:
        width = max(self.scrollable_content_region.width, 8)
        paragraphs = chain.from_iterable(self._paragraphs(line, width) for line in self._lines)
        self._wrapped = TextLayout(paragraphs, width).lines
        self.virtual_size = Size(1, len(self._wrapped))
        self.refresh()

    def _paragraphs(self, line: Line, width: int) -> list[Paragraph]:
        space = line_width(line[:1])
        if not self._has_labels or not space or width < 3 * space:
            return paragraphs_of(line)
        return indent(paragraphs_of(line[1:]), (" " * space, "text"), line[0])

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        number = y + self.scroll_offset.y
        if number >= len(self._wrapped):
            return Strip.blank(width, self._look_style(""))
        return self._strip(self._wrapped[number], width)

    def action_move(self, lines: int) -> None:
        self.scroll_relative(y=lines, animate=False)

    def action_page(self, pages: int) -> None:
        self.scroll_relative(y=pages * max(self.size.height - 2, 1), animate=False)

    def action_scroll_home(self) -> None:
        self.scroll_home(animate=False)

    def action_scroll_end(self) -> None:
        self.scroll_end(animate=False)


class TextBox(Input):
    """Textual's input with the terminal's cursor where letters are typed."""

    cursor_blink = Reactive(False, init=False)
    """Off, as blinking redraws the screen twice a second."""

    @property
    def cursor_screen_offset(self) -> Offset:
        """Position of the next letter, for the terminal's own cursor and input methods; Textual 8
        returns one cell too many at the end of the text."""
        return super().cursor_screen_offset - (int(self.cursor_at_end), 0)

    def on_resize(self) -> None:
        """Move the terminal's cursor: before the first layout there was no position."""
        self._move_cursor()

    def notify_style_update(self) -> None:
        """Move the terminal's cursor with the text: a box that has the keys has a bar before it."""
        super().notify_style_update()
        self._move_cursor()

    def _move_cursor(self) -> None:
        if self.has_focus:
            self.app.cursor_position = self.cursor_screen_offset
