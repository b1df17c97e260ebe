"""The list widget, which draws only visible lines and keeps the cursor on its row; and the header of
its columns."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive, var
from textual.strip import Strip
from textual.widget import Widget

from hermes_browse.store.text import printable
from hermes_browse.store.wording import _

from ...settings.keys.main_commands import LIST
from ...terminal.textual_private import draw_now
from ...widgets.bindings import bindings
from ...widgets.lines import LongView
from ...widgets.list_rows import (
    BLOCKS,
    FixedRows,
    HeadRow,
    ListRow,
    NoteRow,
    RowSource,
    shaded,
)
from .columns import ListLayout
from .rows import ConversationRow, family_heading, is_marked, spans_of

AGES_SECONDS = 15.0
"""Between two redraws of the ages."""


class CursorRow(NamedTuple):
    """The row under the cursor, and what brought it there."""

    row: ListRow | None = None
    is_moved: bool = False
    """It is another row; else the same row was updated."""
    by_hand: bool = False
    """The user moved the cursor or asked for other rows."""
    is_step: bool = False
    """The cursor was moved in the rows shown."""


@dataclass
class _FromList(Message):
    """Base of the list's messages."""

    list: ConversationList

    @property
    def control(self) -> ConversationList:
        return self.list


class ConversationList(LongView, can_focus=True):
    """A list over a `RowSource`, with one line per row."""

    BINDINGS = bindings(LIST)

    cursor: reactive[int] = reactive(0, repaint=False)
    """Index of the row under the cursor."""
    at: var[CursorRow] = var(CursorRow(), init=False, always_update=True)
    """Set within the key that moves the cursor, so that the next key finds what it acts on."""
    is_cursor_current: reactive[bool] = reactive(True, init=False)
    """False while a conversation that is not listed is shown."""

    enter_title: reactive[str] = reactive("", repaint=False, init=False, bindings=True)
    """Footer title of Enter for the row under the cursor; empty if the footer leaves it out."""

    @dataclass
    class Selected(_FromList):
        """Enter, or a second click on a row."""

        row: ListRow

    @dataclass
    class RowsShown(_FromList):
        """Rows `first` to `last` were drawn: their missing details may be read now."""

        first: int
        last: int

        @property
        def rows(self) -> Iterator[ListRow]:
            """These rows, as far as the list still has so many."""
            source = self.list.source
            return map(source.row, range(self.first, min(self.last + 1, len(source))))

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.source: RowSource = FixedRows([])
        """The rows shown."""
        self._drawn: tuple[int, int] = (-1, -1)
        self.marks: Collection[str] = ()
        """Root ids of the conversations to draw as marked."""
        self.resumes = False
        """Whether Enter resumes conversations instead of reading them."""
        self.columns = ListLayout()
        """The columns of conversations."""
        self.clock = time.time
        """Returns Unix seconds, for ages."""
        self._width = 0
        """Cells of a row."""
        self._now = 0.0
        """The moment of all ages on screen; 0 when the rows are about to be drawn anew."""

    def __len__(self) -> int:
        return len(self.source)

    @property
    def current(self) -> ListRow | None:
        return self.source.row(self.cursor) if 0 <= self.cursor < len(self.source) else None

    @property
    def enter_resumes(self) -> bool:
        """Whether Enter resumes the conversation under the cursor; one that was found by words is
        read."""
        row = self.current
        return self.resumes and isinstance(row, ConversationRow) and not (row.hits or row.is_named)

    @property
    def key(self) -> str:
        """The key of the row under the cursor; empty without one."""
        row = self.current
        return row.key if row is not None else ""

    def show(
        self,
        source: RowSource,
        *,
        key: str | None = None,
        top: bool = False,
        at_once: bool = False,
    ) -> None:
        """Show other rows; the cursor stays on its row and that row on its screen line.

        Args:
            key: Move the cursor to the row with this key.
            top: Move it to the first row.
            at_once: Draw them before what follows from them, as the transcript of the row.
        """
        line, before = self.cursor - self.scroll_offset.y, self.key
        index = target_index = source.index_of("" if top else key or before)
        if index is None:
            index = 0 if top or key else min(self.cursor, max(len(source) - 1, 0))
        self.source, self._now, self._drawn = source, 0.0, (-1, -1)
        index += self._is_head(index)
        self.virtual_size = Size(1, len(source))
        self.set_reactive(ConversationList.cursor, index)
        offset = self.scroll_offset.y
        if top or (offset == 0 and index < self.size.height):
            offset = 0  # a list at its top shows new rows; the cursor stays on its row
        elif target_index is not None:
            offset = index - line
        self.scroll_to(y=max(offset, 0), animate=False, force=True, immediate=True)
        self._scroll_to_cursor()
        self.refresh()
        if at_once:
            draw_now(self)
        self._tell(CursorRow(self.current, is_moved=self.key != before or top, by_hand=top))

    def watch_virtual_size(self, size: Size) -> None:
        """Show the length of the list by the scroll bar after its rows are drawn."""
        self.call_later(super().watch_virtual_size, size)

    def refresh_rows(self) -> None:
        """Redraw the visible lines: details of their rows were read, or their ages have grown."""
        self._now = 0.0
        self.refresh()

    def validate_cursor(self, cursor: int) -> int:
        """Keep the cursor on a row that is no heading."""
        cursor = max(0, min(cursor, len(self.source) - 1))
        if self._is_head(cursor):
            cursor += 1 if cursor >= self.cursor or cursor == 0 else -1
        return cursor

    def watch_cursor(self, old: int, new: int) -> None:
        """Scroll to the cursor, draw its two rows, and report the move."""
        for index in (old, new):
            self.refresh(Region(0, index - self.scroll_offset.y, self.size.width, 1))
        self._scroll_to_cursor()
        draw_now(self)  # before what follows from it, as the transcript of the row
        self._tell(CursorRow(self.current, is_moved=True, by_hand=True, is_step=True))

    def _tell(self, at: CursorRow) -> None:
        """Report the row under the cursor, and show in the footer what Enter does with it."""
        self.enter_title = "resume" if self.enter_resumes else getattr(at.row, "enter", "")
        self.at = at

    def _scroll_to_cursor(self) -> None:
        top, height = self.scroll_offset.y, self.size.height
        if not height:  # not laid out yet
            return
        first = self.cursor - self._is_head(self.cursor - 1)
        y = max(min(first, top), self.cursor - height + 1)
        if y != top:
            self.scroll_to(y=y, animate=False, force=True, immediate=True)

    def on_resize(self) -> None:
        self._scroll_to_cursor()

    def _look_over(self, name: str, under: str) -> Style:
        """Return the style of look `name` on the background of look `under`; a hit keeps its own
        background."""
        key = f"{name} over {under}"
        style = self._looks.get(key)
        if style is None:
            base, row = self._look_style(""), self._look_style(under) if under else Style()
            look = self._look_style(name) if name else Style()
            style = base + row + look if name == "hit" else base + look + row
            if style.color == style.bgcolor != Color.default():
                # In 16 colours the accent can equal the row's background.
                style += Style(color="default")
            self._looks[key] = style
        return style

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw rows, and tell which are shown. They share what takes long to look up: their width,
        and the moment of their ages."""
        self._width = self.scrollable_content_region.width
        self._now = self._now or self.clock()
        if len(self.source):
            self._post_shown()
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        index, width = y + self.scroll_offset.y, self._width
        if index >= len(self.source):
            return Strip.blank(width, self._look_style(""))
        row = self.source.row(index)
        spans = spans_of(row, width, self._now, self.columns)
        (lead, look), under = spans[0], ""
        if is_marked(row, self.marks):
            lead, look = f"{lead[0]}✓{lead[2:]}", "mark"
        if index == self.cursor and not isinstance(row, NoteRow) and self.is_cursor_current:
            under = "cursor" if self.has_focus else "cursor-quiet"
            # A mark besides the background, which not every theme has and not everyone sees.
            lead = ("▌" if self.has_focus else "▏") + lead[1:]
        is_reversed = bool(under) and bool(self._look_style(under).reverse)
        no_color = self.app.no_color
        segments = []
        for text, name in [(lead, look), *spans[1:]]:
            if not text:
                continue
            # Rows should be printable already; this is the last check before the terminal.
            safe = printable(text)
            if no_color:
                safe = shaded(safe, name)
            is_bar = is_reversed and safe.strip() and not safe.strip(BLOCKS)
            # Reversed, a bar would turn into its empty part.
            segments.append(Segment(safe, self._look_over(name, "" if is_bar else under)))
        return Strip(segments).adjust_cell_length(width, self._look_over("", under))

    def _post_shown(self) -> None:
        first = self.scroll_offset.y
        drawn = first, min(first + self.size.height, len(self.source)) - 1
        if drawn != self._drawn:
            self._drawn = drawn
            self.post_message(self.RowsShown(self, *drawn))

    def action_move(self, rows: int) -> None:
        self.cursor += rows

    def action_page(self, pages: float) -> None:
        self.cursor += int(pages * max(self.size.height - 1, 1))

    def action_jump(self, index: int) -> None:
        """Move to a row; -1 is the last."""
        self.cursor = index if index >= 0 else len(self.source) - 1

    def _is_head(self, index: int) -> bool:
        return 0 <= index < len(self.source) and isinstance(self.source.row(index), HeadRow)

    def action_select(self) -> None:
        row = self.current
        if row is not None:
            self.post_message(self.Selected(self, row))

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the clicked row; a double click selects it."""
        index = event.y + self.scroll_offset.y
        if index < len(self.source):
            self.cursor = index
            if event.chain >= 2:
                self.action_select()


class ListHead(Widget):
    """Column names above a list, aligned with its rows; clicking one sorts by it."""

    def __init__(self, rows: ConversationList) -> None:
        super().__init__(id="head")
        self._rows = rows
        self.has_hits = False
        """The rows are hits, which have an order of their own."""
        self.is_whole = False
        """All rows of the list have been read, so that the cursor's place in it is shown."""
        self.auto_links = False  # no link style over the names

    def render_line(self, y: int) -> Strip:
        """Build the line from segments, which takes a tenth of the time of a `Content`."""
        rows, first = self._rows, self._rows.scroll_offset.y
        in_sight = range(first, min(first + rows.size.height, len(rows)))
        extra = _("hits") if self.has_hits else family_heading(map(rows.source.row, in_sight))
        is_placed = self.is_whole and not (self.has_hits or isinstance(rows.current, NoteRow))
        position = f"{rows.cursor + 1:,}/{len(rows):,}" if is_placed and len(rows) else ""
        width = max(self.size.width - rows.scrollbar_size_vertical, 0)
        head = rows.columns.head(width, extra, position=position, is_sorted=not self.has_hits)
        base, segments = self.visual_style.rich_style, []
        for text, look, sort in head:
            style = base + Style(dim=True) if look == "dim" else base
            if sort is not None:
                style += Style(meta={"@click": f"screen.sort_by({sort.value!r})"})
            segments.append(Segment(text, style))
        return Strip(segments)
