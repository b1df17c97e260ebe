"""What readers keep of a store, so that it need not be read again."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

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


class NewestIds(NamedTuple):
    """The newest message of each session that has one behind the floor of the read marks."""

    floor: int = -1
    read_to: int = -1
    """The largest id that has been looked at."""
    by_session: Mapping[str, int] = MappingProxyType({})


class FileCache:
    """Facts about a file that outlive its connections.

    All readers of the file share them, on any thread: values are replaced, never changed.
    """

    def __init__(self, key: tuple[int, int]) -> None:
        self.key = key
        """Device and inode of the file."""
        self.schema: tuple[int, Schema] | None = None
        """The schema, and `PRAGMA schema_version` when it was read."""
        self.index_gaps: Mapping[str, IndexGaps] = {}
        """Rows that a search index lacks, by the name of the index."""
        self.newest_ids: NewestIds = NewestIds()
        self.unread: Mapping[str, tuple[object, Any]] = {}
        """New messages by root id, each with what they depend on (`since/unread.py`)."""


class RowCache:
    """The rows read last, by id; a row has an `id` and the `size` of its memory in bytes."""

    def __init__(self) -> None:
        self._rows: dict[int, Any] = {}
        self.size = 0
        """Bytes of memory the rows take."""

    def __len__(self) -> int:
        return len(self._rows)

    def get(self, message_id: int) -> Any:  # rows of the search
        """Return a row, which becomes the last to be dropped; None if it is not cached."""
        row = self._rows.pop(message_id, None)
        if row is not None:
            self._rows[message_id] = row
        return row

    def add(self, row: Any) -> None:
        """Cache a row that is not cached, and drop those that were not used for longest."""
        self._rows[row.id] = row
        self.size += row.size
        while self.size > MAX_ROW_BYTES:
            oldest = next(iter(self._rows))
            self.size -= self._rows.pop(oldest).size


class StoreCache:
    """What one connection keeps for searches, until the store changes."""

    def __init__(self) -> None:
        self.rows = RowCache()
        self.term_starts: dict[tuple[str, str, int], list[str]] = {}
        """What terms begin with, by the name of the index, the start of the range, and the number of
        letters."""
        self.block_sizes: dict[bool, int] = {}
        """Candidates that are ordered by time together, by whether the oldest come first."""
