"""Rows of a list, their sources, the columns at their right, and signs of bars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _

from ..text import formats
from ..text.styled import Line, Span, row_line


class NoteRow(NamedTuple):
    """A sentence instead of rows."""

    text: str

    @property
    def key(self) -> str:
        return f"n{self.text}"

    def spans(self, width: int, now: float) -> list[Span]:
        return [(formats.fit(f" {one_line(self.text)}", width), "note")]


class HeadRow(NamedTuple):
    """The head of a group of rows; the cursor passes over it."""

    text: str

    @property
    def key(self) -> str:
        return f"g{self.text}"

    def spans(self, width: int, now: float) -> list[Span]:
        return [(formats.fit(f" {self.text}", width), "accent")]


class ListRow(Protocol):
    """A row, which formats itself.

    Lists also use what only some rows have: `enter`, what Enter does (to be translated); `about`, a
    sentence for the status line; `conversation`. Named tuples can inherit no defaults for them.
    """

    @property
    def key(self) -> str:
        """Identifies the row when the list is read again."""
        ...

    def spans(self, width: int, now: float) -> list[Span]:
        """Return text and look of each part, exactly `width` cells together, with ages as of `now`
        (Unix seconds)."""
        ...


class RowSource(Protocol):
    """Rows by index; a list requests only those on screen."""

    def __len__(self) -> int: ...

    def row(self, index: int) -> ListRow: ...

    def index_of(self, key: str) -> int | None:
        """Return the index of the row with a key; None if there is none."""
        ...


class FixedRows:
    """A `RowSource` that stores its rows."""

    def __init__(self, rows: Sequence[ListRow]) -> None:
        self._rows = list(rows)
        self._index = {row.key: index for index, row in enumerate(self._rows)}

    def __len__(self) -> int:
        return len(self._rows)

    def row(self, index: int) -> ListRow:
        return self._rows[index]

    def index_of(self, key: str) -> int | None:
        return self._index.get(key)


Row = TypeVar("Row")


class Column(NamedTuple, Generic[Row]):
    head: str
    """To be translated through `_`."""
    width: int
    """Cells, with the space before the text; 0: as wide as an age."""
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


MessageTarget = tuple[str, int | None]
"""Ids of a session and of a message, or of one near to what is meant; None for the end of the
session."""


class MessageRow(NamedTuple):
    """Something that happened at a message; Enter reads it there."""

    key: str
    lead: Span
    text: Span
    target: MessageTarget
    at: float | None = None
    """Unix seconds."""
    cost: float | None = None
    """USD."""
    columns: Columns[MessageRow] = Columns()
    whole: str = ""
    """The text as stored, if it may have several lines."""
    about: str = ""
    """For the status line."""
    enter: str = N_("read")

    def spans(self, width: int, now: float) -> Line:
        return row_line(self.lead, self.text, self.columns.text(self, width, now), width)


# Bars

LOWER = " ▁▂▃▄▅▆▇█"
"""The lower eighths of a cell, from empty to full."""
BLOCKS = " ▏▎▍▌▋▊▉█▓▒░╱"
"""What bars in rows are made of."""
_SHADES = {
    "goes": "█", "spared": "▒", "stays": "░", "dim": "░",
    "series-1": "█", "series-2": "▓", "series-3": "▒", "series-4": "░", "others": "╱",
}  # fmt: skip
"""What fills a bar without colours, by its look."""


def shaded(text: str, look: str) -> str:
    """Return a text for an app without colours: with its full cells as a shade, of what stays also
    its higher ones."""
    if look not in _SHADES:
        return text
    cells = LOWER[4:] if look in ("spared", "stays") else LOWER[8]
    return text.translate(dict.fromkeys(map(ord, cells), _SHADES[look]))
