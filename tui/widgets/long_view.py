"""A scroll view whose length may change with every key."""

from __future__ import annotations

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
