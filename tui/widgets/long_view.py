"""A scroll view whose length may change with every key."""

from __future__ import annotations

from rich.style import Style
from textual.geometry import Size
from textual.reactive import Reactive
from textual.scroll_view import ScrollView


class LongView(ScrollView):
    """A Line-API view that has another length without the screen being laid out anew.

    In Textual 8 another `virtual_size` lays out all widgets, which takes several times as long as drawing the lines
    that changed: where rows follow each letter typed, and heights are corrected while scrolling, that is most of a
    frame.
    Here only the scroll bar is told, unless the height of the view itself follows from its content.
    """

    virtual_size: Reactive[Size] = Reactive(Size(0, 0), layout=False)
    """Columns and lines of the whole content."""

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
