"""The header of the columns of a list."""

from __future__ import annotations

from textual.content import Content
from textual.style import Style as VisualStyle
from textual.widget import Widget

from .conversation_list import ConversationList
from .conversation_rows import family_heading


class ListHead(Widget):
    """Column names above a list, aligned with its rows; clicking one sorts by it."""

    def __init__(self, rows: ConversationList, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._rows = rows
        self.extra = ""
        """Heading of the badges before the columns; empty for the default."""
        self.is_sorted = True
        """Whether the rows are in the list's order, so that one column has an arrow."""
        self._is_whole = False
        self.auto_links = False  # no link style over the names

    def on_mount(self) -> None:
        self.watch(self._rows, "at", self._rows_changed, init=False)

    def _rows_changed(self) -> None:
        self.refresh()

    def show(self, extra: str, *, is_sorted: bool, is_whole: bool) -> None:
        """Update and redraw; the order of the list may have changed as well.

        Args:
            is_whole: All rows of the list have been read, so that the cursor's place in it is
                shown.
        """
        self.extra, self.is_sorted, self._is_whole = extra, is_sorted, is_whole
        self.refresh()

    def _extra(self) -> str:
        """Return the heading of what stands before the columns, if a row on screen has it."""
        first = self._rows.scroll_offset.y
        in_sight = range(first, min(first + self._rows.size.height, len(self._rows)))
        return self.extra or family_heading(self._rows.source.row(index) for index in in_sight)

    def render(self) -> Content:
        rows, parts = self._rows, []
        width = max(self.size.width - rows.scrollbar_size_vertical, 0)
        position = f"{rows.cursor + 1:,}/{len(rows):,}" if self._is_whole and len(rows) else ""
        head = rows.columns.head(width, self._extra(), position=position, is_sorted=self.is_sorted)
        for text, look, sort in head:
            part = Content.styled(text, "dim" if look == "dim" else "")
            if sort is not None:
                part = part.stylize(
                    VisualStyle.from_meta({"@click": f"screen.sort_by('{sort.value}')"})
                )
            parts.append(part)
        return Content("").join(parts)
