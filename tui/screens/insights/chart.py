"""The chart of stacked columns over time: the largest models or sources in colours of their own, all
others in one; and the map of the week in shades.

The chosen column or hour differs in shape, not only in colour: by a band and an arrow.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size
from textual.events import Click
from textual.message import Message

from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, ngettext

from ...text import formats
from ...widgets.stacked_columns import (
    NOTHING,
    Cell,
    Part,
    Picture,
    edges,
    place_labels,
    runs,
    stack,
)
from .adding_up import GroupedSums
from .words import by_name, tick, value_of, weekday

_NAME = 40
"""Cells of a name in the legend."""
_LEAST = 1e-9
"""What is less is a rounding error, and no part."""
OWN = ("series-1", "series-2", "series-3", "series-4")
"""Looks of the largest parts."""
OTHERS, PICKED = "others", "picked"
"""Looks of all others together, and of a part that is not one of the largest but is under the
cursor."""
STACKS = ("model", "source", "")
"""By what columns of time can be stacked; empty for not at all."""
STACKED = {
    "model": N_("Columns are stacked by model."),
    "source": N_("Columns are stacked by source."),
    "": N_("Columns are not stacked."),
}


class Chart(NamedTuple):
    """The data of a chart, columns from left to right."""

    labels: Sequence[str]
    """By column."""
    columns: Sequence[Sequence[Part]]
    """Parts of the columns, lowest first."""
    legend: Sequence[tuple[str, str]] = ()
    """Look and name of each kind of part; empty if there is only one."""
    chosen: int = -1
    """The index of the chosen column; -1 for none."""
    metric: str = ""
    """What the values are."""
    title: str = ""
    keys: Sequence[str] = ()
    """Of the groups that the columns are; empty if they are of other groups."""


class Stacking:
    """Splits sums by time into parts: the largest models or sources, or the picked one alone of
    anything else.

    Args:
        metric: Which value of the sums.
        picked: The key of the lowest part.
    """

    def __init__(self, answer: GroupedSums, metric: str, picked: str = "") -> None:
        self._whole = {group.key: value_of(group, metric) for group in answer.by_time.rows}
        is_alone = not answer.is_by_time and answer.by not in STACKS
        self._parts = {
            key: {when: value_of(group, metric) for when, group in groups.items()}
            for key, groups in answer.parts.items()
            if key == picked or not is_alone
        }
        weights = {key: sum(values.values()) for key, values in self._parts.items()}
        ranked = sorted(weights, key=lambda key: (-weights[key], key))
        largest = [key for key in ranked if weights[key] > 0][: len(OWN)]
        self.looks = dict(zip(largest, OWN, strict=False))
        """By key of a part; all other parts have `OTHERS`."""
        if picked in weights:
            self.looks = {picked: self.looks.get(picked, PICKED)} | self.looks
        self._others = len(answer.parts) - len(self.looks)

    def at(self, when: str) -> list[Part]:
        """Return the parts of one column by its key, lowest first, which add up to its sum.

        A session that used several models counts for each of them but once for the sum, so parts
        are scaled down if they exceed it.
        """
        whole = self._whole.get(when, 0.0)
        if not self._parts:
            return [(OWN[0], whole)]
        values = {key: part.get(when, 0.0) for key, part in self._parts.items()}
        every = sum(values.values())
        share = min(1.0, whole / every) if every > 0 else 0.0
        parts = [(look, values[key] * share) for key, look in self.looks.items()]
        return [*parts, (OTHERS, max(0.0, whole - sum(value for _look, value in parts)))]

    def legend(
        self, columns: Sequence[Sequence[Part]], name_of: Callable[[str], str] | None = None
    ) -> list[tuple[str, str]]:
        """Return look and name of each kind of part that columns have, lowest first.

        `name_of` returns the name of a part; without it the name is made of its key.
        """
        if not self._parts:
            return []
        keys = list(self.looks)
        names = [one_line(name_of(key), _NAME) for key in keys] if name_of else _short(keys)
        rest = ngettext("1 other", "{count:,} others", self._others)
        kinds = [*zip(self.looks.values(), names, strict=True), (OTHERS, rest)]
        there = {look for parts in columns for look, value in parts if value > _LEAST}
        return [kind for kind in kinds if kind[0] in there] or kinds[:1]


def _short(keys: Sequence[str]) -> list[str]:
    """Return names for the legend: the part after the last slash (`gpt-5` of `openai/gpt-5`) if
    these are unique."""
    names = [one_line(key.rstrip("/").rpartition("/")[2] or key, 100) for key in keys]
    return names if len(set(names)) == len(names) else [one_line(key, 100) for key in keys]


def make_chart(
    answer: GroupedSums, metric: str, current: str, now: float, name_of: Callable[[str], str]
) -> Chart:
    """Make the chart of an answer: the current group is a chosen column, or the lowest part of all.

    `name_of` returns the name of a conversation.
    """
    unit, is_column = answer.question.unit, answer.is_by_time
    keys, this_year = answer.columns(now), datetime.fromtimestamp(now).year
    stacking = Stacking(answer, metric, "" if is_column else current)
    columns = list(map(stacking.at, keys))
    return Chart(
        labels=[tick(unit, key, this_year) for key in keys],
        columns=columns,
        legend=stacking.legend(columns, name_of if answer.by == "conversation" else None),
        chosen=keys.index(current) if is_column and current in keys else -1,
        metric=metric,
        title=_("{metric} by {unit}", metric=_(metric), unit=by_name(unit)),
        keys=keys if is_column else (),
    )


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
    count = len(chart.labels)
    first = max(0, count - width)
    if 0 <= chart.chosen < first:
        first = max(0, chart.chosen - width // 4)
    return range(first, min(count, first + width))


def axis(chart: Chart, shown: range, width: int) -> str:
    """Return the line below the columns: an arrow to the chosen one, the first and last label,
    others if they fit."""
    places, free = edges(len(shown), width)
    labels = chart.labels[shown.start : shown.stop]
    step = -(-24 * len(shown) // width)
    positions = {0: 0}
    positions.setdefault(len(shown) - 1, width - free - cell_len(labels[-1]))
    positions |= {index: places[index] for index in range(step, len(shown) - 1, step)}
    if chart.chosen in shown:
        positions.pop(shown.index(chart.chosen), None)  # the arrow has it
    wanted = [(place, labels[index]) for index, place in positions.items()]
    if chart.chosen in shown:
        index = shown.index(chart.chosen)
        label, middle = labels[index], (places[index] + places[index + 1] - free - 1) // 2
        before = max(middle - cell_len(label) - 1, 0)
        is_room = middle + cell_len(label) + 2 <= width
        wanted.insert(0, (middle, f"▲ {label}") if is_room else (before, f"{label} ▲"))
    return place_labels(wanted, width)


@dataclass
class Chosen(Message):
    """A column or an hour was clicked."""

    key: str
    """Of its group."""


class BarPlot(Picture):
    """A chart: title and legend, columns, axis."""

    NAME = "plot"
    LOOKS = (*OWN, OTHERS, PICKED, "none", "here", "title", "text")

    _chart = Chart((), ())

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
        band = shown.index(chart.chosen) if chart.chosen in shown else None
        most = max(sum(value for _look, value in parts) for parts in columns)
        half = height // 2
        scale = {0: most, height - half: most * half / height, height: 0.0} if most else {}
        numbers = {row: formats.amount(value, chart.metric) for row, value in scale.items()}
        beside = [
            f"{formats.fit(numbers.get(row, ''), _SCALE - 1, right=True)} "
            for row in range(height + 1)
        ]
        drawn = stack(columns, self.room, height, exact=True, band=band)
        pairs = zip(beside, drawn, strict=False)
        rows = [[Cell(number, "text"), *runs(cells)] for number, cells in pairs]
        below = Cell(beside[-1] + axis(chart, shown, self.room), "text")
        return [self._legend(chart), *rows, [below]]

    def _legend(self, chart: Chart) -> list[Cell]:
        """Return the title and the names of the parts; a short name leaves room to longer ones."""
        left, names = self.size.width - cell_len(chart.title), dict[str, str]()
        by_length = sorted(chart.legend, key=lambda kind: cell_len(kind[1]))
        for number, (look, name) in enumerate(by_length):
            names[look] = formats.clip(name, left // (len(by_length) - number) - 5)
            left -= cell_len(names[look]) + 5
        cells = [Cell(chart.title, "title")]
        for look, _name in chart.legend:
            cells += [Cell("   ", "none"), Cell("█", look), Cell(f" {names[look]}", "text")]
        return cells

    def on_click(self, event: Click) -> None:
        """Choose a column, if columns are rows of the table."""
        event.stop()
        keys, content = self._chart.keys, event.get_content_offset(self)
        if not keys or content is None or content.x < _SCALE:
            return
        shown = lay_out(self._chart, self.room)
        places, _free = edges(len(shown), self.room)
        index = bisect_right(places, content.x - _SCALE) - 1
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
    LOOKS = ("none", "text", "used", "chosen", "arrow")

    _values: Mapping[str, float] = {}
    _chosen = _metric = ""

    def show(self, values: Mapping[str, float], chosen: str, metric: str) -> None:
        """Show values of a metric by hour of the week (`0-14` as of `sums.key_of`), one of them
        chosen."""
        self._values, self._chosen, self._metric = values, chosen, metric
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
            to = _("to {value}", value=formats.amount(bound, self._metric))
            cells += [Cell(f"  {shade * 2}", "used"), Cell(f" {to}", "text")]
        return cells

    def on_click(self, event: Click) -> None:
        """Choose an hour."""
        event.stop()
        content = event.get_content_offset(self)
        if content is None:
            return
        hour, day = (content.x - _DAY) // self._step, content.y - 1
        if 0 <= hour < 24 and 0 <= day < 7:
            self.post_message(Chosen(f"{day}-{hour:02}"))
