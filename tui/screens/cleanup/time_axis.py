"""The time axis as a widget; above a plan it has the cutoff of the age rule."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from textual import events
from textual.geometry import Size
from textual.message import Message

from hermes_browse.store.amounts import DAY
from hermes_browse.store.wording import _, ngettext

from ...text import formats
from ...text.calendar import MONTHS
from ...widgets.stacked_columns import NOTHING, Cell, Picture
from .axis import AMOUNTS, UNITS, Axis, draw, labels


class TimeAxis(Picture):
    """Columns of what goes and stays over time, under the measure or a title.

    With `can_cut` its line is the cutoff and can be moved; else it is the time of the row under the
    cursor.
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
        self.axis: Axis | None = None
        self.cut: float | None = None
        """The time of the line, Unix seconds."""
        self._days: int | None = None
        """The cutoff while it is dragged, in days before now."""

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return 5 if viewport.height < 30 else 8 if viewport.height < 45 else 12

    @property
    def most(self) -> int:
        """The most columns that an axis to show may have."""
        return max(self.size.width // 2 - 1, 2)

    def show(self, axis: Axis | None, cut: float | None) -> None:
        """Show an axis of at most `most` columns, and a cutoff (Unix seconds) if there is one."""
        self.axis, self.cut = axis, cut
        self.redraw()

    def draw_rows(self) -> list[list[Cell]]:
        """Draw the title, the columns, and the labels below them."""
        width, axis = self.size.width, self.axis
        if axis is None or width < 4:
            return []
        room, months = width - 2, [_(name)[:3] for name in MONTHS]
        columns = draw(axis, room, self.size.height - 2, self.cut)
        below = Cell(" " + labels(axis, room, months), "text")
        return [self._title(axis, width), *([NOTHING, *row] for row in columns), [below]]

    def _title(self, axis: Axis, width: int) -> list[Cell]:
        """Return the title, the legend, what is beyond the end, the cutoff, and its keys if there is
        room."""
        measure = self._heading or _(axis.measure)
        measure += _(", estimated") if axis.is_estimated else ""
        unit, peak = _(UNITS[axis.unit]), AMOUNTS[axis.measure](axis.peak)
        title = _("{what} {unit}, up to {peak}", what=measure, unit=unit, peak=peak)
        cells = [Cell(f" {title}  ", "title")]
        kinds = (
            ("goes", "█", _("delete")),
            ("spared", "▒", _("protected")),
            ("stays", "█", _("keep")),
        )
        for look, sign, words in kinds:
            if self._can_cut and any(getattr(period, look) for period in axis.columns):
                cells += [Cell(sign, look), Cell(f" {words}  ", "text")]
        if axis.later is not None:
            count, last = axis.later
            text = ngettext(
                "1 more later: {day}",
                "{count:,} more later, until {day}",
                count,
                count=count,
                day=formats.day_key(last),
            )
            cells.append(Cell(f"· {text}  ", "text"))
        used = sum(cell_len(cell.text) for cell in cells)
        cutoff = self._cutoff(width - used)
        if cutoff:
            cells.append(Cell(cutoff, "cut"))
            used += cell_len(cutoff)
        keys = _("[ ] move it · m measures")
        if self._can_cut and used + cell_len(keys) + 2 < width:
            cells.append(Cell(f"{keys} ".rjust(width - used), "text"))
        return cells

    def _cutoff(self, room: int) -> str:
        """Return the time of the line, with its age if that fits into so many cells."""
        if self.cut is None:
            return ""
        days, day = round((self.clock() - self.cut) / DAY), formats.day_key(self.cut)
        words = ngettext(
            "older than 1 day: before {day}", "older than {days:,} days: before {day}", days
        )
        whole = f" │ {words.format(day=day, days=days)}"
        return whole if self._can_cut and cell_len(whole) <= room else f" │ {day}"

    def on_mouse_down(self, event: events.MouseDown) -> None:
        if not self._can_cut:
            return
        self.capture_mouse()
        self._drag(event.x)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._days is not None:
            self._drag(event.x)

    def on_mouse_up(self) -> None:
        self.release_mouse()
        if self._days is not None:
            days, self._days = self._days, None
            self.post_message(self.Moved(days))

    def _drag(self, x: int) -> None:
        axis, now = self.axis, self.clock()
        if axis is None or not axis.columns:
            return
        when = axis.time_at((x - 1) / max(self.size.width - 2, 1))
        self._days = max(1, round((now - when) / DAY))
        self.cut = now - self._days * DAY
        self.redraw()
