"""The chart of stacked columns over time, and the map of the week in shades.

The chosen column or hour differs in shape, not only in colour: by a band and an arrow.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from textual.events import Click
from textual.message import Message

from hermes_browse.store.wording import _

from ...text import formats
from ...text.calendar import weekday
from ...widgets.stacked_columns import NOTHING, Cell, Picture, edges, gap, runs, stack
from .chart import LOOKS, Chart

_SCALE = 7
"""Cells for the numbers on the left."""
_DAY = 6
"""Cells for the name of a day."""
_MARGIN = Cell(" " * _DAY, "none")
_UNUSED = "·"
_SHADES = "░▒▓█"


def lay_out(chart: Chart, width: int) -> range:
    """Return the columns that `width` cells show: if not all fit, the last ones, or those around
    the chosen one."""
    count, width = len(chart.labels), max(width, 1)
    first = max(0, count - width)
    if chart.chosen is not None and chart.chosen < first:
        first = max(0, chart.chosen - width // 4)
    return range(first, min(count, first + width))


def axis(chart: Chart, shown: range, width: int) -> str:
    """Return the line below the columns: an arrow to the chosen one, the first and last label,
    others if they fit."""
    places, free = edges(len(shown), width), gap(len(shown), width)
    labels = chart.labels[shown.start : shown.stop]
    step = max(1, -(-24 * len(shown) // width))
    wanted = [(places[index], labels[index]) for index in range(step, len(shown) - 1, step)]
    if labels:
        wanted = [(0, labels[0]), (width - free - cell_len(labels[-1]), labels[-1]), *wanted]
    if chart.chosen is not None and chart.chosen in shown:
        index = shown.index(chart.chosen)
        label, place = labels[index], (places[index] + places[index + 1] - free - 1) // 2
        if place + cell_len(label) + 2 <= width:
            wanted.insert(0, (place, f"▲ {label}"))
        else:
            wanted.insert(0, (place - cell_len(label) - 1, f"{label} ▲"))
    line = [" "] * width
    for place, text in wanted:
        # One entry per cell; the second one of a wide letter is empty.
        cells = [cell for letter in text for cell in (letter, *[""] * (cell_len(letter) - 1))]
        start = max(0, min(place, width - len(cells)))
        end = start + len(cells)
        if end <= width and set(line[max(start - 1, 0) : end + 1]) == {" "}:
            line[start:end] = cells
    return "".join(line)


@dataclass
class Chosen(Message):
    """A column or an hour was clicked."""

    key: str
    """Of its group."""


class BarPlot(Picture):
    """A chart: title and legend, columns, axis."""

    NAME = "plot"
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"plot--{look}" for look in (*LOOKS, "none", "here", "title", "text")
    }

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._chart = Chart((), ())

    def show(self, chart: Chart) -> None:
        self._chart = chart
        self.redraw()

    @property
    def room(self) -> int:
        """Cells for the columns."""
        return max(1, self.size.width - _SCALE)

    def draw_rows(self) -> list[list[Cell]]:
        """Draw the title with the legend, the columns beside their scale, and the labels below
        them."""
        chart, height = self._chart, self.size.height - 2
        if not chart.labels or height < 2:
            return []
        shown = lay_out(chart, self.room)
        columns = chart.columns[shown.start : shown.stop]
        is_chosen_shown = chart.chosen is not None and chart.chosen in shown
        band = shown.index(chart.chosen or 0) if is_chosen_shown else None
        most = max(sum(value for _look, value in parts) for parts in columns)
        half = height // 2
        scale = {0: most, height - half: most * half / height, height: 0.0} if most else {}
        numbers = [chart.form(scale[row]) if row in scale else "" for row in range(height + 1)]
        beside = [f"{formats.fit(number, _SCALE - 1, right=True)} " for number in numbers]
        drawn = stack(columns, self.room, height, exact=True, band=band)
        rows = [
            [Cell(number, "text"), *runs(cells)]
            for number, cells in zip(beside, drawn, strict=False)
        ]
        below = Cell(beside[-1] + axis(chart, shown, self.room), "text")
        return [self._legend(chart), *rows, [below]]

    def _legend(self, chart: Chart) -> list[Cell]:
        """Return the title and the names of the parts; short names are whole."""
        cells = [Cell(chart.title, "title")]
        left, rooms = self.size.width - cell_len(chart.title), dict[str, int]()
        by_length = sorted(chart.legend, key=lambda kind: cell_len(kind[1]))
        for number, (look, name) in enumerate(by_length):
            share = left // (len(by_length) - number) - 5
            rooms[look] = max(0, min(cell_len(name), share))
            left -= rooms[look] + 5
        for look, name in chart.legend:
            text = Cell(f" {formats.clip(name, rooms[look])}", "text")
            cells += [Cell("   ", "none"), Cell("█", look), text]
        return cells

    def on_click(self, event: Click) -> None:
        """Choose a column, if columns are rows of the table."""
        event.stop()
        keys, content = self._chart.keys, event.get_content_offset(self)
        if not keys or content is None or content.x < _SCALE:
            return
        shown = lay_out(self._chart, self.room)
        index = bisect_right(edges(len(shown), self.room), content.x - _SCALE) - 1
        self.post_message(Chosen(keys[shown[min(index, len(shown) - 1)]]))


def quantiles(values: Iterable[float]) -> list[float]:
    """Return the quartiles of the values above 0, rising and without duplicates; the last is the
    maximum."""
    positive = sorted(value for value in values if value > 0)
    places = (-(-len(positive) * quarter // 4) - 1 for quarter in range(1, 5))
    return sorted({positive[place] for place in places}) if positive else []


class WeekPlot(Picture):
    """Hours of the week as shades, with an arrow at the chosen one."""

    NAME = "week"
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"week--{look}" for look in ("none", "text", "used", "chosen", "arrow")
    }

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._values: Mapping[str, float] = {}
        self._chosen = ""
        self._form: Callable[[float], str] = str

    def show(self, values: Mapping[str, float], chosen: str, form: Callable[[float], str]) -> None:
        """Show values by hour of the week (`0-14` as of `sums.key_of`), one of them chosen;
        `form` formats them."""
        self._values, self._chosen, self._form = values, chosen, form
        self.redraw()

    @property
    def _step(self) -> int:
        return max(1, (self.size.width - _DAY) // 24)

    def draw_rows(self) -> list[list[Cell]]:
        bounds = quantiles(self._values.values())
        shades = _SHADES[len(_SHADES) - len(bounds) :]  # the maximum always has the densest
        room = 3 * self._step
        hours = "".join(f"{hour:02}".ljust(room)[:room] for hour in range(0, 24, 3))
        rows = [[_MARGIN, Cell(hours, "text")]]
        for day in range(7):
            row = [Cell(f" {set_cell_size(weekday(day), _DAY - 2)} ", "text")]
            for hour in range(24):
                key = f"{day}-{hour:02}"
                value = self._values.get(key, 0.0)
                shade = shades[bisect_left(bounds, value)] if value > 0 else _UNUSED
                row += self._hour(key, shade)
            rows.append(row)
        return [*rows, self._legend(shades, bounds)]

    def _hour(self, key: str, shade: str) -> list[Cell]:
        """Return the cells of an hour, with an arrow at the chosen one."""
        width, is_chosen = max(1, self._step - 1), key == self._chosen
        text, look = (shade * width, "used") if shade != _UNUSED else (shade.ljust(width), "text")
        cells = [Cell(text, "chosen" if is_chosen else look)]
        if self._step > 1:
            cells.append(Cell("◂", "arrow") if is_chosen else NOTHING)
        return cells

    def _legend(self, shades: str, bounds: Sequence[float]) -> list[Cell]:
        cells = [_MARGIN, Cell(f"{_UNUSED} {_('none')}", "text")]
        for shade, bound in zip(shades, bounds, strict=True):
            to = _("to {value}", value=self._form(bound))
            cells += [Cell(f"  {shade * 2}", "used"), Cell(f" {to}", "text")]
        note = Cell("   " + _("each shade: a quarter of the hours used"), "text")
        width = sum(cell_len(cell.text) for cell in [*cells, note])
        return [*cells, note] if len(bounds) == 4 and width <= self.size.width else cells

    def on_click(self, event: Click) -> None:
        """Choose an hour."""
        event.stop()
        content = event.get_content_offset(self)
        if content is None:
            return
        hour, day = (content.x - _DAY) // self._step, content.y - 1
        if 0 <= hour < 24 and 0 <= day < 7:
            self.post_message(Chosen(f"{day}-{hour:02}"))
