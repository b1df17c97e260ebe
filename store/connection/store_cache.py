"""What readers keep of a store, so that it need not be read again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from .schema import Schema

MAX_ROW_BYTES = 8_000_000
"""Memory that the texts of cached rows take at most, stored and folded."""


class IndexGaps(NamedTuple):
    """The rows that an index lacks, of those it should hold."""

    newest: int
    """The largest id that has been compared."""
    missing: int = 0
    first: int = 0
    last: int = 0
    """The smallest and the largest id that is missing."""
    sql: str = ""
    """A condition on `messages m` for the missing rows."""
    truncated: tuple[int, ...] = ()
    """Ids of the rows of which it holds only a part, in order."""


class FileCache:
    """Facts about a file that outlive its connections.

    All readers of the file share them, on any thread: values are replaced, never changed.
    """

    def __init__(self) -> None:
        self.schema: tuple[int, Schema] | None = None
        """The schema, and `PRAGMA schema_version` when it was read."""
        self.index_gaps: Mapping[str, IndexGaps] = {}
        """Rows that a search index lacks, by the name of the index."""


class SizedRow(Protocol):
    """A row that can be cached."""

    id: int
    size: int
    """Bytes of memory it takes."""


_R = TypeVar("_R", bound=SizedRow)


class RowCache(Generic[_R]):
    """The rows read last, by id."""

    def __init__(self) -> None:
        self._rows: dict[int, _R] = {}
        self.size = 0
        """Bytes of memory the rows take."""

    def __len__(self) -> int:
        return len(self._rows)

    def get(self, message_id: int) -> _R | None:
        """Return a row if it is cached; it becomes the last to be dropped."""
        row = self._rows.pop(message_id, None)
        if row is not None:
            self._rows[message_id] = row
        return row

    def add(self, row: _R) -> None:
        """Cache a row, and drop those that were not used for longest."""
        before = self._rows.pop(row.id, None)
        self._rows[row.id] = row
        self.size += row.size - (before.size if before is not None else 0)
        while self.size > MAX_ROW_BYTES:
            oldest = next(iter(self._rows))
            self.size -= self._rows.pop(oldest).size


class StoreCache:
    """What one connection keeps for searches, until the store changes."""

    def __init__(self) -> None:
        self.rows = RowCache[Any]()
        self.term_starts: dict[tuple[str, str, int], list[str]] = {}
        """What terms begin with, by the name of the index, the start of the range, and the number of
        letters."""
        self.block_sizes: dict[bool, int] = {}
        """Candidates that are ordered by time together, by whether the oldest come first."""
