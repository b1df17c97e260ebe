"""Stacked columns drawn in eighths of a cell, and a base class of widgets that paint rows of
cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate, groupby
from operator import itemgetter
from typing import NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.strip import Strip

from hermes_browse.store.text import printable

from .list_rows import LOWER, shaded
from .themes import LooksWidget

_HATCHED = "spared"
"""The look that is hatched as well as coloured."""

Part = tuple[str, float]
"""A look and a value that is not negative."""


class Cell(NamedTuple):
    """Text with a look for the foreground and one for the background."""

    text: str
    look: str
    behind: str = ""


NOTHING = Cell(" ", "")
Drawing = list[list[Cell]]
"""Rows of cells, top first."""


def edges(count: int, width: int) -> tuple[list[int], int]:
    """Return the `count` + 1 edges of columns that share a width, and the free cells between them:
    one if each has three or more."""
    parts = max(count, 1)
    return [index * width // parts for index in range(count + 1)], int(width // parts >= 3)


def stack(
    columns: Sequence[Sequence[Part]],
    width: int,
    height: int,
    *,
    exact: bool = False,
    band: int | None = None,
) -> Drawing:
    """Draw stacked columns as rows of single cells, top first. They share the width; the highest
    fills the height.

    A cell shows at most two looks: the lowest, and the largest of the others.

    Args:
        columns: The parts of each column, lowest first.
        width: Cells, at least as many as columns.
        height: Rows.
        exact: Draw the height of each column to the eighth, even if that hides a part in its top
            cell. Otherwise every part is at least an eighth high and visible, and the top cell of a
            column may look full.
        band: Index of a column with the look `here` as background, up to the top.
    """
    places, free = edges(len(columns), width)
    highest = max((sum(value for _, value in each) for each in columns), default=0.0)
    filled = [_eighths(each, highest, height * 8, exact=exact) for each in columns]
    rows = []
    for row in range(height - 1, -1, -1):
        cells: list[Cell] = []
        for index, parts in enumerate(filled):
            cell = _cell(parts[row * 8 : row * 8 + 8], exact=exact)
            if index == band and not cell.behind and cell.text != LOWER[8]:
                cell = cell._replace(behind="here")
            cells += [cell] * (places[index + 1] - places[index] - free) + [NOTHING] * free
        rows.append(cells + [NOTHING] * (width - len(cells)))
    return rows


def _eighths(parts: Sequence[Part], highest: float, most: int, *, exact: bool) -> list[str]:
    """Return the look of each eighth of a column, lowest first."""

    def height(value: float) -> int:
        return max(1, round(value * most / highest)) if value > 0 else 0

    values = [value for _look, value in parts]
    ends = map(height, accumulate(values)) if exact else accumulate(map(height, values))
    eighths: list[str] = []
    for (look, _value), end in zip(parts, ends, strict=True):
        eighths += [look] * (end - len(eighths))
    return eighths


def _cell(eighths: Sequence[str], *, exact: bool) -> Cell:
    """Draw a cell, given the looks of its filled eighths."""
    if not eighths:
        return NOTHING
    if exact and len(eighths) < 8:
        return Cell(LOWER[len(eighths)], _most(eighths))
    look = eighths[0]
    above = [each for each in eighths if each != look]
    height = len(eighths) - len(above)
    if look == _HATCHED and (height > 3 or above):
        return Cell("▒", look)
    if not above:
        return Cell(LOWER[height], look)
    return Cell(LOWER[min(height, 7)], look, _most(above))


def _most(looks: Sequence[str]) -> str:
    """Return the most frequent of some looks, of equals the lowest."""
    return Counter(looks).most_common(1)[0][0]


def place_labels(labels: Iterable[tuple[int, str]], width: int) -> str:
    """Return a line of `width` cells with labels at their places; one that would touch an earlier
    one, or does not fit, is left out."""
    line = [" "] * width
    for start, text in labels:
        # One entry per cell; the second one of a wide letter is empty.
        cells = [cell for letter in text for cell in (letter, *[""] * (cell_len(letter) - 1))]
        end = start + len(cells)
        if start >= 0 and end <= width and set(line[max(start - 1, 0) : end + 1]) <= {" "}:
            line[start:end] = cells
    return "".join(line)


def runs(cells: Sequence[Cell]) -> list[Cell]:
    """Merge adjacent cells of the same looks."""
    same_looks = groupby(cells, itemgetter(1, 2))
    return [Cell("".join(cell.text for cell in same), *looks) for looks, same in same_looks]


class Picture(LooksWidget):
    """A widget of rows of cells; drawn again on request, and for another size."""

    _drawn: tuple[Size, Drawing] | None = None
    """The size for which the rows were drawn, and the rows."""

    def draw_rows(self) -> Drawing:
        """Draw the rows for the current size, top first; missing ones are blank."""
        raise NotImplementedError

    def redraw(self) -> None:
        self._drawn = None
        self.refresh()

    def render_line(self, y: int) -> Strip:
        if self._drawn is None or self._drawn[0] != self.size:
            self._drawn = self.size, self.draw_rows()
        rows = self._drawn[1]
        base, no_color = self.rich_style, self.app.no_color
        segments = []
        for text, look, behind in rows[y] if y < len(rows) else ():
            style = base + self._look_style(look)
            if behind and not (look == "cut" and no_color):  # two greys would hide it
                back = self._look_style(behind)
                style += Style(bgcolor=back.bgcolor or back.color)
            safe = printable(text)
            segments.append(Segment(shaded(safe, look) if no_color else safe, style))
        return Strip(segments).adjust_cell_length(self.size.width, base)
