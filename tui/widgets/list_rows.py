"""Rows of a list and their sources. The key of a row survives a re-read of the list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line

from ..text import formats
from ..text.styled import Span


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
    """A row, which formats itself."""

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

    def lacking(self, first: int, last: int) -> Sequence[Conversation]:
        """Return the conversations of rows `first` to `last` whose names, or whatever else is read
        when they are shown, are missing."""
        ...


class NotedRows:
    """Rows with others above them."""

    def __init__(self, notes: Sequence[ListRow], rows: RowSource) -> None:
        self._notes, self._rows = FixedRows(notes), rows

    def __len__(self) -> int:
        return len(self._notes) + len(self._rows)

    def row(self, index: int) -> ListRow:
        above = len(self._notes)
        return self._notes.row(index) if index < above else self._rows.row(index - above)

    def index_of(self, key: str) -> int | None:
        index = self._rows.index_of(key)
        return len(self._notes) + index if index is not None else self._notes.index_of(key)

    def lacking(self, first: int, last: int) -> Sequence[Conversation]:
        above = len(self._notes)
        return self._rows.lacking(max(first - above, 0), last - above)


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

    def lacking(self, first: int, last: int) -> Sequence[Conversation]:
        return ()
