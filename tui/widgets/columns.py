"""Columns at the right of the rows of a list: heading, width, alignment, order and text of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

from hermes_browse.store.wording import _

from ..text import formats

Row = TypeVar("Row")


class Column(NamedTuple, Generic[Row]):
    head: str
    """To be translated through `_`."""
    width: int
    """Cells, with the space before its text; 0 for that of an age."""
    text: Callable[[Row, float], str]
    """Returns its text, printable, for a row and the current time (Unix seconds)."""
    least: int = 0
    """Cells of the narrowest row that shows it."""
    lead: int | None = None
    """Cells before left-aligned text; None for right-aligned text."""
    order: object = None
    """The order by this column."""

    def fitted(self, text: str, width: int = 0) -> str:
        """Align a text in the column, or in another width."""
        lead = self.lead or 0
        room = (width or self.width) - lead
        return " " * lead + formats.fit(text, room, right=self.lead is None)


class Columns(Generic[Row]):
    """The columns of a list, left to right."""

    def __init__(self, *columns: Column[Row]) -> None:
        self._columns = columns

    def _shown(self, width: int, always: object) -> list[Column[Row]]:
        """Return the columns that fit into a row of `width` cells, and the one of an order."""
        return [
            column
            for column in self._columns
            if width >= column.least or (always is not None and column.order == always)
        ]

    def width(self, width: int, always: object = None) -> int:
        """Return the cells that they take of a row of `width` cells."""
        return sum(column.width for column in self._shown(width, always))

    def text(self, row: Row, width: int, now: float, *, always: object = None) -> str:
        """Format those that fit into a row of `width` cells, as of `now` (Unix seconds).

        The column of the order `always` is shown in any width.
        """
        shown = self._shown(width, always)
        return "".join(column.fitted(column.text(row, now)) for column in shown)

    def head(self, width: int, order: object = None, *, always: object = None) -> str:
        """Return the headings over rows of `width` cells, the one of the order with an arrow."""
        shown = self._shown(width, always)
        return "".join(column.fitted(head_of(column.head, column.order, order)) for column in shown)


def head_of(head: str, order: object, current: object) -> str:
    """Return a heading, with an arrow if its order is the current one."""
    return _(head) + ("▼" if current is not None and order == current else "")
