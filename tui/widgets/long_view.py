"""A scroll view whose length may change with every key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rich.style import Style
from textual._styles_cache import StylesCache
from textual.color import Color
from textual.css.styles import StylesBase
from textual.geometry import Region, Size, Spacing
from textual.reactive import Reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

_OVER = ("tint", "hatch", "text_opacity", "outline_top", "outline_right", "outline_bottom", "outline_left")
"""Rules of a style sheet that change lines without taking room."""


class _Lines(StylesCache):
    """Takes the lines of a view as they are, where its style sheet puts nothing around or over them.

    Textual 8 looks at border, padding, outline, hatch, tint and opacity for every line anew, which takes as long as
    making a line of the list.
    """

    _is_bare = False
    _free_width = -1

    def render_widget(self, widget: Widget, crop: Region) -> list[Strip]:
        """The lines of a widget; see `StylesCache`."""
        styles = widget.styles
        self._is_bare = not styles.gutter and widget.opacity == 1.0 and not any(map(styles.has_rule, _OVER))
        self._free_width = widget.scrollable_content_region.width if any(widget.scrollbars_enabled) else -1
        return super().render_widget(widget, crop)

    def render_line(
        self,
        styles: StylesBase,
        y: int,
        size: Size,
        content_size: Size,
        padding: Spacing,
        base_background: Color,
        background: Color,
        render_content_line: Callable[[int], Strip],
        *rest: Any,
    ) -> Strip:
        """One line; see `StylesCache`."""
        if self._is_bare:
            line = render_content_line(y)
            if line.cell_length == self._free_width:
                return line  # what is missing is behind the scroll bar
            return line.adjust_cell_length(size.width, self.get_inner_outer(base_background, background)[0].rich_style)
        return super().render_line(
            styles, y, size, content_size, padding, base_background, background, render_content_line, *rest
        )


class LongView(ScrollView):
    """A Line-API view that has another length without the screen being laid out anew.

    In Textual 8 another `virtual_size` lays out all widgets, which takes several times as long as drawing the lines
    that changed: where rows follow each letter typed, and heights are corrected while scrolling, that is most of a
    frame.
    Here only the scroll bar is told, unless the height of the view itself follows from its content.
    """

    virtual_size: Reactive[Size] = Reactive(Size(0, 0), layout=False)
    """Columns and lines of the whole content."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._styles_cache = _Lines()

    def watch_virtual_size(self, size: Size) -> None:
        """Tell the scroll bar, and those who lay out where that matters."""
        if self.styles.is_auto_height:
            self.refresh(layout=True)
        else:
            self._scroll_update(size)


class TranscriptLooks(LongView):
    """A view whose lines have the looks of the transcript."""

    def __init__(self, *, id: str | None = None) -> None:
        self._styles: dict[str, Style] = {}  # Textual tells of styles while the widget is being made
        super().__init__(id=id)

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
            if {"hit", "hit-current"} & set(looks.split()):  # what is looked for is never dim, wherever it stands
                style += Style(dim=False)
            self._styles[looks] = style
        return style
