"""Stacked columns drawn in eighths of a cell, and the widget that paints rows of cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from hermes_browse.store.text import printable

LOWER = " ▁▂▃▄▅▆▇█"
"""The lower eighths of a cell, from none to all."""
_HATCHED = "▒"

Part = tuple[str, float]
"""A look and a value that is not negative."""


class Cell(NamedTuple):
    """Letters that look alike: names of looks, for what is drawn and for what is behind it."""

    text: str
    look: str
    behind: str = ""


NOTHING = Cell(" ", "none")


def edges(count: int, width: int) -> list[int]:
    """Where columns begin that share a width, and where the last one ends: `count` + 1 places."""
    return [index * width // count for index in range(count + 1)] if count else [0]


def gap(count: int, width: int) -> int:
    """How many cells are left free between two columns that share a width: one where each has three or more."""
    return 1 if count and width // count >= 3 else 0


def stack(
    columns: Sequence[Sequence[Part]],
    width: int,
    height: int,
    *,
    hatched: str = "",
    exact: bool = False,
    band: int | None = None,
) -> list[list[Cell]]:
    """Stacked columns as rows of single cells, top first. They share the width; the highest fills the height.

    A cell shows two looks at most. Where more meet, the lowest and the largest of the others are shown.

    Args:
        columns: The parts of each column, lowest first.
        width: Cells, at least as many as columns.
        height: Rows.
        hatched: The look that is hatched as well as coloured.
        exact: Draw the height of each column to the eighth, even if a part within its last cell is not seen. Otherwise
            every part is at least an eighth high and is seen, and the last cell of a column may look full.
        band: The index of the column that has the look `here` behind it, up to the top.
    """
    count = len(columns)
    places, free = edges(count, width), gap(count, width)
    highest = max((sum(value for _, value in each) for each in columns), default=0.0)
    heights = [_heights(each, highest, height * 8, exact=exact) for each in columns]
    rows = []
    for row in range(height - 1, -1, -1):
        cells: list[Cell] = []
        for index, parts in enumerate(heights):
            filled = places[index + 1] - places[index] - free
            cell = _cell(parts, row, hatched, exact=exact)
            if index == band and not cell.behind and cell.text != LOWER[8]:
                cell = cell._replace(behind="here")
            cells += [cell] * filled + [NOTHING] * free
        rows.append(cells + [NOTHING] * (width - len(cells)))
    return rows


def _heights(parts: Sequence[Part], highest: float, most: int, *, exact: bool) -> list[tuple[str, int]]:
    """How many eighths high the parts stand."""
    scale = most / highest if highest > 0 else 0.0
    if not exact:
        return [(look, max(1, round(value * scale)) if value > 0 and scale else 0) for look, value in parts]
    found, reached, total = [], 0, 0.0
    for look, value in parts:
        total += value
        end = max(1, round(total * scale)) if total > 0 else 0
        found.append((look, end - reached))
        reached = end
    return found


def _cell(parts: Sequence[tuple[str, int]], row: int, hatched: str, *, exact: bool) -> Cell:
    low = row * 8
    here: list[Part] = []
    start = 0
    for look, high in parts:
        inside = min(start + high, low + 8) - max(start, low)
        if inside > 0:
            here.append((look, inside))
        start += high
    if not here:
        return NOTHING
    look, high = here[0][0], int(here[0][1])
    filled = int(sum(each for _, each in here))
    if exact and filled < 8:
        return Cell(LOWER[filled], max(here, key=lambda each: each[1])[0])
    if look == hatched and (high > 3 or len(here) > 1):
        return Cell(_HATCHED, look)
    if len(here) == 1:
        return Cell(LOWER[high], look)
    return Cell(LOWER[min(high, 7)], look, max(here[1:], key=lambda each: each[1])[0])


def runs(cells: Sequence[Cell]) -> list[Cell]:
    """The same row, with neighbours that look alike put together."""
    found: list[Cell] = []
    for each in cells:
        if found and found[-1][1:] == each[1:]:
            found[-1] = found[-1]._replace(text=found[-1].text + each.text)
        else:
            found.append(each)
    return found


class Picture(Widget):
    """Rows of cells, each with a look of the style sheet."""

    NAME: ClassVar[str] = ""
    """What its looks begin with in the style sheet: `axis` for `axis--goes`."""

    def strip(self, cells: Sequence[Cell], width: int) -> Strip:
        """A line of the screen.

        Args:
            cells: From left to right.
            width: Cells of the line; what is missing stays free.
        """
        base = self.rich_style
        segments = []
        for text, look, behind in cells:
            style = base + self._look(look)
            if behind:
                back = self._look(behind)
                style += Style(bgcolor=back.bgcolor or back.color)
            segments.append(Segment(printable(text), style))
        return Strip(segments).adjust_cell_length(width, base)

    def _look(self, name: str) -> Style:
        return self.get_component_rich_style(f"{self.NAME}--{name}", partial=True) if name else Style.null()
