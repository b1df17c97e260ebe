"""Widgets of the clean-up: the time axis with its cutoff, and the map of bytes with its cursor."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from textual import events
from textual.binding import BindingType
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from hermes_browse.store.wording import _, ngettext

from .. import formats
from ..bindings import bindings
from ..commands.main_commands import MAP
from ..shared.calendar import MONTHS
from ..shared.stacked_columns import Cell, Picture
from .axis import AMOUNTS, DAY, MEASURES, UNITS, Axis, draw, labels
from .treemap import Tile, neighbour
from .treemap import draw as draw_map


class TimeAxis(Picture):
    """Columns of what goes and stays over time, under the measure or a title.

    With `can_cut` its line is the cutoff and can be moved; else it is the time of the row under the cursor.
    """

    NAME = "axis"
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"axis--{look}" for look in ("goes", "spared", "stays", "none", "cut", "title", "text")
    }

    @dataclass
    class Moved(Message):
        """The mouse moved the cutoff."""

        days: int
        """Before now."""

    def __init__(self, *, title: str = "", can_cut: bool = True, id: str | None = None) -> None:
        super().__init__(id=id)
        self._heading, self._can_cut = title, can_cut
        self.clock: Callable[[], float] = time.time
        self._axis: Axis | None = None
        self._cut: float | None = None
        self._days: int | None = None
        """The cutoff while it is dragged, in days before now."""

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return a height that fits the screen."""
        return 5 if viewport.height < 30 else 8 if viewport.height < 45 else 12

    @property
    def columns(self) -> int:
        """Cells for columns."""
        return max(self.size.width - 2, 2)

    def show(self, axis: Axis, cut: float | None) -> None:
        """Show an axis of at most `columns` columns, and a cutoff (Unix seconds) if there is one."""
        self._axis, self._cut = axis, cut
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        width, axis = self.size.width, self._axis
        if axis is None or width < 4:
            return Strip.blank(width, self.rich_style)
        room, rows = min(self.columns, width - 2), self.size.height - 2
        if y == 0:
            return self.strip(self._title(axis, width), width)
        if y == self.size.height - 1:
            months = [_(name)[:3] for name in MONTHS]
            return self.strip([Cell(" " + labels(axis, room, months), "text")], width)
        picture = draw(axis, room, rows, self._cut)
        return self.strip([Cell(" ", "none"), *picture[y - 1]], width)

    def _title(self, axis: Axis, width: int) -> list[Cell]:
        measure = self._heading or _(MEASURES[axis.measure])
        measure += _(", estimated") if axis.is_estimated else ""
        unit, peak = _(UNITS[axis.unit]), AMOUNTS[axis.measure](axis.peak)
        cells = [
            Cell(" " + _("{what} {unit}, up to {peak}").format(what=measure, unit=unit, peak=peak) + "  ", "title")
        ]
        kinds = {"goes": _("goes"), "spared": _("spared"), "stays": _("stays")}
        for look, words in kinds.items():
            if self._can_cut and any(getattr(each, look) for each in axis.columns):
                cells += [Cell("▒" if look == "spared" else "█", look), Cell(f" {words}  ", "text")]
        if axis.later is not None:
            text = ngettext("1 more later: {day}", "{count:,} more later, until {day}", axis.later[0])
            cells.append(Cell(text.format(count=axis.later[0], day=formats.day_key(axis.later[1])) + "  ", "text"))
        used = sum(cell_len(each.text) for each in cells)
        if self._cut is not None:
            days, day = round((self.clock() - self._cut) / DAY), formats.day_key(self._cut)
            words = ngettext("older than 1 day: before {day}", "older than {days:,} days: before {day}", days)
            cutoff = f" │ {words.format(day=day, days=days)}"
            if not self._can_cut or used + cell_len(cutoff) > width:
                cutoff = f" │ {day}"
            cells.append(Cell(cutoff, "cut"))
            used += cell_len(cutoff)
        keys = _("[ ] move it · m measures")
        if self._can_cut and used + cell_len(keys) + 2 < width:
            cells.append(Cell(f"{keys} ".rjust(width - used), "text"))
        return cells

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Start to drag the cutoff."""
        if not self._can_cut:
            return
        self.capture_mouse()
        self._drag(event.x)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Drag the cutoff."""
        if self._days is not None:
            self._drag(event.x)

    def on_mouse_up(self) -> None:
        """Drop the cutoff."""
        self.release_mouse()
        if self._days is not None:
            days, self._days = self._days, None
            self.post_message(self.Moved(days))

    def _drag(self, x: int) -> None:
        axis, now = self._axis, self.clock()
        if axis is None or not axis.columns:
            return
        when = axis.time_at((x - 1) / max(self.columns, 1))
        self._days = max(1, round((now - when) / DAY))
        self._cut = now - self._days * DAY
        self.refresh()


class TreeMap(Picture, can_focus=True):
    """A treemap with a cursor."""

    NAME = "map"
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"map--{look}" for look in ("goes", "stays", "heading", "here", "here-goes", "here-stays", "edge")
    }
    BINDINGS: ClassVar[list[BindingType]] = bindings(MAP)

    cursor: reactive[int] = reactive(0)
    """Index of the block under the cursor."""

    @dataclass
    class Pointed(Message):
        """The cursor moved to another block."""

        block: Tile

    @dataclass
    class Entered(Message):
        """Enter, or a second click: the user asks for the parts of a block."""

        block: Tile

    class Left(Message):
        """The user asks for the level above."""

    class Resized(Message):
        """The size changed, so the blocks need another layout."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._blocks: list[Tile] = []
        self._rows: list[list[Cell]] | None = None

    def show(self, blocks: list[Tile], key: str = "") -> None:
        """Show other blocks; the cursor stays on its block if it is among them, else goes to the largest.

        Args:
            blocks: Laid out for the size of the widget.
            key: Moves the cursor to this block instead.
        """
        current = self.current
        target = key or (current.key if current is not None else None)
        self._blocks = blocks
        cursor = next((index for index, each in enumerate(blocks) if each.key == target), None)
        if cursor is None:
            leaves = [index for index, each in enumerate(blocks) if not each.is_heading]
            cursor = max(leaves, key=lambda index: blocks[index].rect.area, default=0)
        self._rows = None
        self.cursor = cursor
        self.refresh()

    @property
    def current(self) -> Tile | None:
        """The block under the cursor."""
        return self._blocks[self.cursor] if 0 <= self.cursor < len(self._blocks) else None

    def watch_cursor(self) -> None:
        """Draw the cursor, and report the block under it."""
        self._rows = None
        if self.has_focus and (block := self.current) is not None:
            self.post_message(self.Pointed(block))

    def on_focus(self) -> None:
        """Show the cursor."""
        self.watch_cursor()
        self.refresh()

    def on_blur(self) -> None:
        """Hide the cursor."""
        self._rows = None
        self.refresh()

    def on_resize(self) -> None:
        """Ask for another layout."""
        self.post_message(self.Resized())

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        width = self.size.width
        if self._rows is None:
            height = max((each.rect.y + each.rect.height for each in self._blocks), default=0)
            self._rows = draw_map(self._blocks, width, height, self.cursor if self.has_focus else None)
        return self.strip(self._rows[y] if y < len(self._rows) else [], width)

    def action_go(self, dx: int, dy: int) -> None:
        """Move the cursor to the next block in a direction."""
        if self._blocks:
            self.cursor = neighbour(self._blocks, self.cursor, dx, dy)

    def action_enter(self) -> None:
        """Ask for the parts of the block."""
        if (block := self.current) is not None:
            self.post_message(self.Entered(block))

    def action_leave(self) -> None:
        """Ask for the level above."""
        self.post_message(self.Left())

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the block under the mouse; a second click enters it."""
        for index, block in enumerate(self._blocks):
            rect = block.rect
            if rect.x <= event.x < rect.x + rect.width and rect.y <= event.y < rect.y + rect.height:
                self.focus()
                self.cursor = index
                if event.chain > 1:
                    self.action_enter()
                return
