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

from hermes_browse.store.insights.sums import Group
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, ngettext

from ...text import formats
from ...widgets.stacked_columns import (
    NOTHING,
    Cell,
    Drawing,
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
STACKS = {
    "model": N_("Columns are stacked by model."),
    "source": N_("Columns are stacked by source."),
    "": N_("Columns are not stacked."),
}
"""By what columns of time can be stacked, empty for not at all; and a sentence."""
Parts = Mapping[str, Mapping[str, Group]]
"""By key of a part, the sums by key of a column."""


class Bar(NamedTuple):
    """A column of the chart."""

    key: str
    """Of the group in the table that it is; empty if those are others."""
    label: str
    parts: Sequence[Part]
    """Lowest first."""


class Chart(NamedTuple):
    """The data of a chart."""

    bars: Sequence[Bar]
    """From left to right."""
    metric: str = ""
    """What the values are."""
    title: str = ""
    legend: Sequence[tuple[str, str]] = ()
    """Look and name of each kind of part; empty if there is only one."""
    chosen: int = -1
    """The index of the chosen column; negative for none."""

    def within(self, width: int) -> Chart:
        """Keep the columns that `width` cells show: if not all fit, the last ones, or those around
        the chosen one."""
        first = max(0, len(self.bars) - width)
        if 0 <= self.chosen < first:
            first = max(0, self.chosen - width // 4)
        return self._replace(bars=self.bars[first : first + width], chosen=self.chosen - first)


def looks_of(parts: Parts, metric: str, picked: str = "") -> dict[str, str]:
    """Return the looks of the largest parts by their keys, the picked one first; all other parts
    have `OTHERS`."""
    weights = {
        key: sum(value_of(group, metric) for group in groups.values())
        for key, groups in parts.items()
    }
    largest = sorted(filter(weights.get, weights), key=lambda key: (-weights[key], key))
    looks = dict(zip(largest, OWN, strict=False))
    if picked in weights:
        looks = {picked: looks.get(picked, PICKED)} | looks
    return looks


def stacked(whole: float, values: Mapping[str, float], looks: Mapping[str, str]) -> list[Part]:
    """Return the parts of a column, lowest first, which add up to its sum.

    A session that used several models counts for each of them but once for the sum, so parts are
    scaled down if they exceed it.

    Args:
        values: Of all parts that it has, by key.
        looks: Of the parts that are told apart, by key.
    """
    every = sum(values.values())
    share = min(1.0, whole / every) if every > 0 else 0.0
    parts = [(look, values.get(key, 0.0) * share) for key, look in looks.items()]
    return [*parts, (OTHERS, max(0.0, whole - sum(value for _look, value in parts)))]


def _short(keys: Iterable[str]) -> list[str]:
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
    unit = answer.question.unit
    is_column = answer.is_by_time
    keys = answer.columns(now)
    this_year = datetime.fromtimestamp(now).year
    parts = answer.parts
    if not is_column and answer.by not in STACKS:
        parts = {current: parts[current]} if current in parts else {}
    is_split = bool(parts)
    whole = {group.key: group for group in answer.by_time.rows}
    parts = parts or {"": whole}
    looks = looks_of(parts, metric, "" if is_column else current)

    def bar(when: str) -> Bar:
        there = {key: groups[when] for key, groups in parts.items() if when in groups}
        values = {key: value_of(group, metric) for key, group in there.items()}
        total = value_of(whole[when], metric) if when in whole else 0.0
        label = tick(unit, when, this_year)
        return Bar(when if is_column else "", label, stacked(total, values, looks))

    bars = list(map(bar, keys))
    names = map(name_of, looks) if answer.by == "conversation" else _short(looks)
    others = len(answer.parts) - len(looks)
    return Chart(
        bars=bars,
        metric=metric,
        title=_("{metric} by {unit}", metric=_(metric), unit=by_name(unit)),
        legend=_legend(bars, looks, names, others) if is_split else (),
        chosen=keys.index(current) if is_column and current in keys else -1,
    )


def _legend(
    bars: Iterable[Bar], looks: Mapping[str, str], names: Iterable[str], others: int
) -> list[tuple[str, str]]:
    """Return look and name of each kind of part that columns have, lowest first."""
    rest = ngettext("1 other", "{count:,} others", others)
    short = (one_line(name, _NAME) for name in names)
    kinds = [*zip(looks.values(), short, strict=True), (OTHERS, rest)]
    there = {look for bar in bars for look, value in bar.parts if value > _LEAST}
    return [kind for kind in kinds if kind[0] in there] or kinds[:1]


_SCALE = 7
"""Cells for the numbers on the left."""
_DAY = 6
"""Cells for the name of a day."""
_MARGIN = Cell(" " * _DAY, "")
_UNUSED = "·"
_SHADES = "░▒▓█"


def axis(chart: Chart, width: int) -> str:
    """Return the line below the columns: an arrow to the chosen one, the first and last label,
    others if they fit."""
    labels = [bar.label for bar in chart.bars]
    places, free = edges(len(labels), width)
    last = len(labels) - 1
    step = -(-24 * len(labels) // width)
    positions = {last: width - free - cell_len(labels[last]), 0: 0}
    positions |= {index: places[index] for index in range(step, last, step)}
    wanted = []
    if chart.chosen >= 0:
        positions.pop(chart.chosen, None)  # the arrow has it
        label = labels[chart.chosen]
        middle = (places[chart.chosen] + places[chart.chosen + 1] - free - 1) // 2
        if middle + cell_len(label) + 2 <= width:
            wanted.append((middle, f"▲ {label}"))
        else:
            wanted.append((max(middle - cell_len(label) - 1, 0), f"{label} ▲"))
    wanted += [(place, labels[index]) for index, place in positions.items()]
    return place_labels(wanted, width)


@dataclass
class Chosen(Message):
    """A column or an hour was clicked."""

    key: str
    """Of its group."""


class BarPlot(Picture):
    """A chart: title and legend, columns, axis."""

    _chart = Chart(())

    def show(self, chart: Chart) -> None:
        self._chart = chart
        self.redraw()

    @property
    def room(self) -> int:
        """Cells for the columns."""
        return max(1, self.size.width - _SCALE)

    def draw_rows(self) -> Drawing:
        """Draw the title with the legend, the columns beside their scale, and the labels below
        them."""
        chart = self._chart.within(self.room)
        room = self.room
        height = self.size.height - 2
        if not chart.bars or height < 2:
            return []
        columns = [bar.parts for bar in chart.bars]
        most = max(sum(value for _look, value in parts) for parts in columns)
        numbers = [""] * (height + 1)
        for row in (0, height - height // 2, height) if most else ():
            numbers[row] = formats.amount(most * (height - row) / height, chart.metric)
        drawn = stack(columns, room, height, exact=True, band=chart.chosen)
        drawn.append([Cell(axis(chart, room), "dim")])
        rows = [self._legend(chart)]
        for number, cells in zip(numbers, drawn, strict=True):
            beside = f"{formats.fit(number, _SCALE - 1, right=True)} "
            rows.append(runs([Cell(beside, "dim"), *cells]))
        return rows

    def _legend(self, chart: Chart) -> list[Cell]:
        """Return the title and the names of the parts, the longest of which are clipped."""
        widths = [cell_len(name) for _look, name in chart.legend]
        left = self.size.width - cell_len(chart.title) - 5 * len(widths)
        room = _NAME
        while room > 0 and sum(min(width, room) for width in widths) > left:
            room -= 1
        cells = [Cell(chart.title, "heading")]
        for look, name in chart.legend:
            shown = formats.clip(name, room)
            cells += [Cell("   ", ""), Cell("█", look), Cell(f" {shown}", "dim")]
        return cells

    def on_click(self, event: Click) -> None:
        """Choose a column, if columns are rows of the table."""
        bars = self._chart.within(self.room).bars
        x = event.x - self.gutter.left - _SCALE
        if not bars or x < 0:
            return
        places, _free = edges(len(bars), self.room)
        index = bisect_right(places, x, hi=len(bars)) - 1
        if key := bars[index].key:
            self.post_message(Chosen(key))


def quantiles(values: Iterable[float]) -> list[float]:
    """Return the quartiles of the values above 0, rising and without duplicates; the last is the
    maximum."""
    positive = sorted(value for value in values if value > 0)
    places = (-(-len(positive) * quarter // 4) - 1 for quarter in range(1, 5))
    return sorted({positive[place] for place in places}) if positive else []


class WeekPlot(Picture):
    """Hours of the week as shades, with an arrow at the chosen one."""

    _values: Mapping[str, float] = {}
    _chosen = _metric = ""

    def show(self, values: Mapping[str, float], chosen: str, metric: str) -> None:
        """Show values of a metric by hour of the week (`0-14` as of `sums.key_of`), one of them
        chosen."""
        self._values = values
        self._chosen = chosen
        self._metric = metric
        self.redraw()

    @property
    def _step(self) -> int:
        return max(1, (self.size.width - _DAY) // 24)

    def draw_rows(self) -> Drawing:
        bounds = quantiles(self._values.values())
        shades = _SHADES[len(_SHADES) - len(bounds) :]  # the maximum always has the densest
        room = 3 * self._step
        wide = max(1, self._step - 1)
        hours = "".join(f"{hour:02}".ljust(room)[:room] for hour in range(0, 24, 3))
        rows = [[_MARGIN, Cell(hours, "dim")]]
        for day in range(7):
            row = [Cell(f" {set_cell_size(weekday(day), _DAY - 2)} ", "dim")]
            for hour in range(24):
                key = f"{day}-{hour:02}"
                value = self._values.get(key, 0.0)
                is_chosen = key == self._chosen
                text = _UNUSED.ljust(wide)
                look = "dim"
                if value > 0:
                    text = shades[bisect_left(bounds, value)] * wide
                    look = "used"
                cells = [
                    Cell(text, "mark" if is_chosen else look),
                    Cell("◂", "accent") if is_chosen else NOTHING,
                ]
                row += cells[: self._step]  # without the arrow if an hour has one cell
            rows.append(row)
        return [*rows, self._legend(shades, bounds)]

    def _legend(self, shades: str, bounds: Sequence[float]) -> list[Cell]:
        cells = [_MARGIN, Cell(f"{_UNUSED} {_('none')}", "dim")]
        for shade, bound in zip(shades, bounds, strict=True):
            to = _("to {value}", value=formats.amount(bound, self._metric))
            cells += [Cell(f"  {shade * 2}", "used"), Cell(f" {to}", "dim")]
        return cells

    def on_click(self, event: Click) -> None:
        """Choose an hour."""
        hour = (event.x - self.gutter.left - _DAY) // self._step
        day = event.y - 1
        if 0 <= hour < 24 and 0 <= day < 7:
            self.post_message(Chosen(f"{day}-{hour:02}"))
