"""The time axis as a widget; above a plan it is added up on a reading thread and has the cutoff of
the age rule."""

from __future__ import annotations

import time
from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual import events
from textual.geometry import Size
from textual.message import Message

from hermes_browse.store.ages import DAY
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.wording import _, ngettext

from .. import formats
from ..bindings import following
from ..screens.sub_screen import SubScreen
from ..shared.calendar import MONTHS
from ..shared.stacked_columns import NOTHING, Cell, Picture
from .axis import AMOUNTS, UNITS, Axis, Measure, Point, draw, labels, make_axis, moved, read_points

if TYPE_CHECKING:
    from .plan_view import PlanView


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
    def columns(self) -> int:
        """Cells for columns."""
        return max(self.size.width - 2, 2)

    def show(self, axis: Axis, cut: float | None) -> None:
        """Show an axis of at most `columns` columns, and a cutoff (Unix seconds) if there is
        one."""
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
        measure = self._heading or _(axis.measure)
        measure += _(", estimated") if axis.is_estimated else ""
        unit, peak = _(UNITS[axis.unit]), AMOUNTS[axis.measure](axis.peak)
        cells = [
            Cell(
                " "
                + _("{what} {unit}, up to {peak}").format(what=measure, unit=unit, peak=peak)
                + "  ",
                "title",
            )
        ]
        kinds = {"goes": _("delete"), "spared": _("protected"), "stays": _("keep")}
        for look, words in kinds.items():
            if self._can_cut and any(getattr(each, look) for each in axis.columns):
                cells += [Cell("▒" if look == "spared" else "█", look), Cell(f" {words}  ", "text")]
        if axis.later is not None:
            text = ngettext(
                "1 more later: {day}", "{count:,} more later, until {day}", axis.later[0]
            )
            cells.append(
                Cell(
                    "· "
                    + text.format(count=axis.later[0], day=formats.day_key(axis.later[1]))
                    + "  ",
                    "text",
                )
            )
        used = sum(cell_len(each.text) for each in cells)
        if self.cut is not None:
            days, day = round((self.clock() - self.cut) / DAY), formats.day_key(self.cut)
            words = ngettext(
                "older than 1 day: before {day}", "older than {days:,} days: before {day}", days
            )
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
        when = axis.time_at((x - 1) / max(self.columns, 1))
        self._days = max(1, round((now - when) / DAY))
        self.cut = now - self._days * DAY
        self.redraw()


class PlanAxis(TimeAxis):
    """When the conversations that go, are spared or stay were last active."""

    def __init__(self, owner: SubScreen, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._owner, self._shared, self.clock = owner, owner.main, owner.main.clock
        self._measure = Measure.BYTES
        self._points: tuple[Catalog, list[Point]] | None = None
        """The points of the axis, and the catalog they were read from."""

    def next_measure(self) -> None:
        """Take the next measure, for the next time that a plan is added up."""
        self._measure = following(Measure, self._measure)

    def add_up(self, view: PlanView | None, age: float | None) -> None:
        """Add up the columns for a plan on a thread, and show them.

        `age` is that from which on conversations go, in seconds; None without such a rule.
        """
        catalog, now, measure = self._shared.catalog, self.clock(), self._measure
        most, cached, sizes = max(self.columns // 2, 2), self._points, self._shared.sizes
        gone: Container[str] = view.sessions if view is not None else ()
        spared: Container[str] = view.spared if view is not None else ()

        def work() -> tuple[Catalog, list[Point], Axis]:
            is_read = cached is not None and cached[0] is catalog
            points = cached[1] if cached is not None and is_read else read_points(catalog)
            axis = make_axis(
                points,
                gone=gone,
                spared=spared,
                sizes=dict(sizes),
                measure=measure,
                most=most,
                now=now,
            )
            return catalog, points, axis

        async def show() -> None:
            catalog, points, self.axis = await self._owner.call(work)
            self._points = catalog, points
            self.cut_at(age)

        self._owner.start("axis", show)

    def cut_at(self, age: float | None) -> None:
        """Move the line to an age in seconds, or remove it."""
        if self.axis is not None:
            self.show(self.axis, self.clock() - age if age is not None else None)

    def moved(self, age: float | None, by: int) -> int | None:
        """Return an age moved by a column to the left (-1) or right (1), in days; None at the
        end."""
        if self.axis is None or not self.axis.columns:
            return None
        return moved(self.axis, age / DAY if age is not None else None, by, self.clock())
