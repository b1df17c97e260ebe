"""The chart of stacked columns over time: the largest models or sources in colours of their own, all
others in one.

The chosen column differs in shape, not only in colour: by a band and an arrow.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import ClassVar, NamedTuple

from rich.cells import cell_len

from hermes_browse.store.wording import _, ngettext

from ...text import formats
from ...widgets.stacked_columns import (
    Cell,
    Part,
    Picture,
    edges,
    gap,
    place_labels,
    runs,
    stack,
)
from .sums import GroupedSums, by_name, label, printed, tick, value_of

_LEAST = 1e-9
"""What is less is a rounding error, and no part."""
OWN = ("series-1", "series-2", "series-3", "series-4")
"""Looks of the largest parts."""
OTHERS, PICKED = "others", "picked"
"""Looks of all others together, and of a part that is not one of the largest but is under the
cursor."""
LOOKS = (*OWN, OTHERS, PICKED)
STACKS = ("model", "source")
"""Groupings of which the largest groups have colours of their own."""


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


class Stacking:
    """Splits sums by time into parts: the largest models or sources, or the picked one alone of
    anything else.

    Args:
        metric: Which value of the sums.
        picked: The key of the lowest part.
    """

    def __init__(self, answer: GroupedSums, metric: str, picked: str = "") -> None:
        self._whole = {group.key: value_of(group, metric) for group in answer.by_time.rows}
        self._by = answer.by
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

    def legend(self, columns: Sequence[Sequence[Part]]) -> list[tuple[str, str]]:
        """Return look and name of each kind of part that columns have, lowest first."""
        if not self._parts:
            return []
        names = _short([label(self._by, key) for key in self.looks])
        rest = ngettext("1 other", "{count:,} others", self._others, count=self._others)
        kinds = [*zip(self.looks.values(), names, strict=True), (OTHERS, rest)]
        there = {look for parts in columns for look, value in parts if value > _LEAST}
        return [kind for kind in kinds if kind[0] in there] or kinds[:1]


def _short(names: Sequence[str]) -> list[str]:
    """Return names for the legend: the part after the last slash (`gpt-5` of `openai/gpt-5`) if
    these are unique."""
    short = [name.rstrip("/").rpartition("/")[2] or name for name in names]
    return short if len(set(short)) == len(names) else list(names)


def make_chart(answer: GroupedSums, metric: str, current: str, now: float) -> Chart:
    """Make the chart of an answer: the current group is a chosen column, or the lowest part of all."""
    unit, is_column = answer.question.unit, answer.is_by_time
    keys, this_year = answer.columns(now), datetime.fromtimestamp(now).year
    stacking = Stacking(answer, metric, "" if is_column else current)
    columns = list(map(stacking.at, keys))
    return Chart(
        labels=[tick(unit, key, this_year) for key in keys],
        columns=columns,
        legend=stacking.legend(columns),
        chosen=keys.index(current) if is_column and current in keys else -1,
        metric=metric,
        title=_("{metric} by {unit}", metric=_(metric), unit=by_name(unit)),
    )


_SCALE = 7
"""Cells for the numbers on the left."""


def lay_out(chart: Chart, width: int) -> range:
    """Return the columns that `width` cells show: if not all fit, the last ones, or those around
    the chosen one."""
    count, width = len(chart.labels), max(width, 1)
    first = max(0, count - width)
    if 0 <= chart.chosen < first:
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
        last = width - free - cell_len(labels[-1])
        wanted = [(0, labels[0]), (last, labels[-1]), *wanted]
    if chart.chosen in shown:
        index = shown.index(chart.chosen)
        wanted.insert(0, ((places[index] + places[index + 1] - free - 1) // 2, "▲"))
    return place_labels(wanted, width)


class BarPlot(Picture):
    """A chart: title and legend, columns, axis."""

    NAME = "plot"
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"plot--{look}" for look in (*LOOKS, "none", "here", "title", "text")
    }

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
        numbers = [
            printed(scale[row], chart.metric) if row in scale else "" for row in range(height + 1)
        ]
        beside = [f"{formats.fit(number, _SCALE - 1, right=True)} " for number in numbers]
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
