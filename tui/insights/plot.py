"""Stacked columns over time, and a map of the week in shades; loaded with the screen that shows them.

What is chosen differs in shape as well as in colour: an arrow below a column, a band behind it, an arrow at an hour.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.text import Text
from textual.color import Color
from textual.events import Click
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from hermes_browse.store.wording import _

from .. import formats
from ..shared.calendar import weekday
from ..shared.columns import Cell, Picture, edges, gap, runs, stack
from .series import LOOKS, Series

_SCALE = 7
"""Cells for the numbers on the left."""
_SHADES = "·░▒▓█"
_TALL = 40
"""Rows of a screen from which on a day of the week is two rows high."""


class Course(NamedTuple):
    """Columns from left to right."""

    labels: Sequence[str]
    """What each stands for."""
    series: Sequence[Series]
    """What they are made of, lowest first; each has a value for every column."""
    chosen: int | None = None
    """The index of the chosen column."""
    form: Callable[[float], str] = str
    """Prints a value in few cells."""
    title: str = ""

    @property
    def values(self) -> list[float]:
        """How high the columns are."""
        return [sum(each) for each in zip(*(series.values for series in self.series), strict=True)]


def lay_out(course: Course, width: int) -> range:
    """Which columns are shown: if not all of them fit, the last ones, or those around the chosen one.

    Args:
        course: What is to be shown.
        width: Cells for the columns.
    """
    count, width = len(course.labels), max(width, 1)
    first = max(0, count - width)
    if course.chosen is not None and course.chosen < first:
        first = max(0, course.chosen - width // 4)
    return range(first, min(count, first + width))


def axis(course: Course, shown: range, width: int) -> str:
    """The line below the columns: an arrow to the chosen one, the first label, the last, and others that have room.

    Args:
        course: What is shown.
        shown: Which columns of it.
        width: Cells for the columns.
    """
    line = [" "] * width
    taken: list[tuple[int, int]] = []

    def put(text: str, start: int) -> None:
        start = max(0, min(start, width - cell_len(text)))
        end = start + cell_len(text)
        if end <= width and all(end < low or start > high for low, high in taken):
            # One entry for each cell: a wide letter leaves the second of its own empty.
            line[start:end] = [part for letter in text for part in (letter, *[""] * (cell_len(letter) - 1))]
            taken.append((start, end))

    places, free = edges(len(shown), width), gap(len(shown), width)
    if course.chosen is not None and course.chosen in shown:
        index = course.chosen - shown.start
        place = places[index] + (places[index + 1] - places[index] - free - 1) // 2
        label = course.labels[course.chosen]
        if place + cell_len(label) + 2 <= width:
            put(f"▲ {label}", place)
        else:
            put(f"{label} ▲", place - cell_len(label) - 1)
    if shown:
        last = len(shown) - 1
        put(course.labels[shown[0]], 0)
        put(course.labels[shown[last]], width - free - cell_len(course.labels[shown[last]]))
        step = max(1, -(-24 * len(shown) // width))
        for index in range(step, last, step):
            put(course.labels[shown[index]], places[index])
    return "".join(line)


class BarPlot(Picture):
    """Stacked columns over time: a title with the legend, the columns, the axis."""

    NAME = "plot"
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"plot--{look}" for look in (*LOOKS, "none", "here", "title", "text")
    }  # not shown

    class Chosen(Message):
        """A column was clicked."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._course: Course | None = None
        self._rows: tuple[Size, list[list[Cell]]] | None = None

    @property
    def course(self) -> Course | None:
        """What is shown."""
        return self._course

    def show(self, course: Course | None) -> None:
        """Show these columns."""
        self._course, self._rows = course, None
        self.refresh()

    @property
    def room(self) -> int:
        """Cells for the columns."""
        return max(1, self.size.width - _SCALE)

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        if self._rows is None or self._rows[0] != self.size:
            self._rows = self.size, self._draw()
        rows = self._rows[1]
        return self.strip(rows[y] if y < len(rows) else [], self.size.width)

    def _draw(self) -> list[list[Cell]]:
        course, height = self._course, self.size.height - 2
        if course is None or not course.labels or height < 2:
            return []
        shown = lay_out(course, self.room)
        columns = [[(each.look, each.values[index]) for each in course.series] for index in shown]
        band = course.chosen - shown.start if course.chosen is not None and course.chosen in shown else None
        drawn = stack(columns, self.room, height, exact=True, band=band)
        most = max(sum(value for _look, value in each) for each in columns)
        scale = {0: course.form(most), height - height // 2: course.form(most * (height // 2) / height)} if most else {}
        rows = [self._legend(course)]
        for row, cells in enumerate(drawn):
            rows.append([Cell(formats.fit(scale.get(row, ""), _SCALE - 1, right=True) + " ", "text"), *runs(cells)])
        zero = formats.fit(course.form(0.0) if most else "", _SCALE - 1, right=True) + " "
        rows.append([Cell(zero + axis(course, shown, self.room), "text")])
        return rows

    def _legend(self, course: Course) -> list[Cell]:
        cells, named = [Cell(course.title, "title")], [each for each in course.series if each.name]
        left, rooms = self.size.width - cell_len(course.title), dict[str, int]()
        for number, each in enumerate(sorted(named, key=lambda each: cell_len(each.name))):  # short names whole
            rooms[each.look] = max(0, min(cell_len(each.name), left // (len(named) - number) - 5))
            left -= rooms[each.look] + 5
        for each in named:
            text = formats.clip(each.name, rooms[each.look])
            cells += [Cell("   ", "none"), Cell("█", each.look), Cell(f" {text}", "text")]
        return cells

    def on_click(self, event: Click) -> None:
        """A click on a column chooses it."""
        event.stop()
        content = event.get_content_offset(self)
        if self._course is None or content is None or content.x < _SCALE:
            return
        shown = lay_out(self._course, self.room)
        if shown:
            index = bisect_right(edges(len(shown), self.room), content.x - _SCALE) - 1
            self.post_message(self.Chosen(shown[min(index, len(shown) - 1)]))


def quantiles(values: Sequence[float]) -> list[float]:
    """Up to four rising bounds that part the values above 0 into shares of about the same number; the last is the most.

    Args:
        values: In any order.
    """
    found = sorted(each for each in values if each > 0)
    return sorted({found[-(-len(found) * quarter // 4) - 1] for quarter in range(1, 5)}) if found else []


class WeekPlot(Widget):
    """Hours of the week as shades, denser for more, with an arrow at the chosen one."""

    class Chosen(Message):
        """An hour was clicked."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._values: Mapping[str, float] = {}
        self._chosen = ""
        self._form: Callable[[float], str] = str

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Hours, seven days and the legend."""
        return 2 + 7 * (2 if viewport.height >= _TALL else 1)

    def show(self, values: Mapping[str, float], chosen: str, form: Callable[[float], str]) -> None:
        """Show these.

        Args:
            values: By key as of `periods.key_of`: `0-14`.
            chosen: The key of one of them.
            form: Prints a value in few cells.
        """
        self._values, self._chosen, self._form = values, chosen, form
        self.refresh()

    @property
    def _step(self) -> int:
        return max(1, (self.size.width - 6) // 24)

    @property
    def _lines(self) -> int:
        return max(1, (self.size.height - 2) // 7)

    def _style(self, name: str) -> str:
        """A colour of the theme as Rich writes it; one of the terminal's own stays its own."""
        color = Color.parse(self.app.theme_variables[name])
        return f"color({color.ansi})" if color.ansi is not None and color.ansi >= 0 else color.hex6

    def render(self) -> Text:
        """Seven days with 24 hours each, hours above, the legend below."""
        step, bounds = self._step, quantiles(list(self._values.values()))
        shades = _SHADES[1 + 4 - len(bounds) :]  # the densest is always that of the most
        style, accent = self._style("primary"), self._style("accent")
        text = Text("      ", no_wrap=True)
        for hour in range(0, 24, 3):
            text.append(f"{hour:02}".ljust(3 * step)[: 3 * step], "dim")
        for day in range(7):
            for line in range(self._lines):
                text.append(f"\n {set_cell_size(weekday(day) if not line else '', 4)} ", "dim")
                for hour in range(24):
                    key = f"{day}-{hour:02}"
                    value = self._values.get(key, 0.0)
                    none = "·" if not line else " "
                    cell = shades[bisect_left(bounds, value)] * max(1, step - 1) if value > 0 else none
                    is_chosen = key == self._chosen
                    text.append(
                        cell.ljust(max(1, step - 1)),
                        f"bold {accent}" if is_chosen else style if value > 0 else "dim",
                    )
                    if step > 1:
                        text.append("◂" if is_chosen else " ", accent if is_chosen else "")
        text.append(f"\n      {_SHADES[0]} {_('none')}", "dim")
        for shade, bound in zip(shades, bounds, strict=True):
            text.append(f"  {shade * 2}", style)
            text.append(" " + _("to {value}").format(value=self._form(bound)), "dim")
        told = "   " + _("each shade: a quarter of the hours used")
        if len(bounds) == 4 and cell_len(text.plain.rsplit("\n", 1)[-1] + told) <= self.size.width:
            text.append(told, "dim")
        return text

    def on_click(self, event: Click) -> None:
        """A click on an hour chooses it."""
        event.stop()
        content = event.get_content_offset(self)
        if content is None:
            return
        hour, day = (content.x - 6) // self._step, (content.y - 1) // self._lines
        if 0 <= hour < 24 and 0 <= day < 7:
            self.post_message(self.Chosen(f"{day}-{hour:02}"))
