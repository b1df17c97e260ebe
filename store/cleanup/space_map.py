"""Map the bytes of a store by conversation, and the free pages that a VACUUM would return.

SQLite keeps freed pages for new rows: deleting makes room inside the file, and only a VACUUM
shrinks the file (https://sqlite.org/lang_vacuum.html).
"""

from __future__ import annotations

from typing import NamedTuple

from ..connection.reader import Reader
from ..connection.stored_values import as_int
from ..sessions.catalog import Catalog
from .sizes import KnownSizes, measure


class ConversationBytes(NamedTuple):
    """The bytes of one conversation, its search index included."""

    tip: str
    bytes: int


class FileSpace(NamedTuple):
    """Used and free space of the file."""

    file_bytes: int
    """The database without its log."""
    free_bytes: int
    """Unused pages: Hermes fills them first, and a VACUUM returns them."""
    wal_bytes: int
    shrinks_itself: bool
    """`auto_vacuum` is FULL, so the file shrinks with each delete. Hermes does not set it."""


class SpaceMap(NamedTuple):
    """The bytes of a store."""

    conversations: tuple[ConversationBytes, ...]
    """Largest first."""
    total: int
    file: FileSpace


def read_file_space(reader: Reader, wal_bytes: int) -> FileSpace:
    """Read used and free space of the file; `wal_bytes` is that of the log, from `Store.sizes`."""
    pragmas = ("page_size", "page_count", "freelist_count", "auto_vacuum")
    page, pages, free, auto = (as_int(reader.value(f"PRAGMA {name}")) for name in pragmas)
    return FileSpace(page * pages, page * free, wal_bytes, shrinks_itself=auto == 1)


def read_space_map(
    reader: Reader,
    catalog: Catalog,
    *,
    wal_bytes: int = 0,
    known: KnownSizes | None = None,
) -> SpaceMap:
    """Measure a whole store, of which `catalog` has all sessions.

    `wal_bytes` is that of `read_file_space`; `known` is a cache of sizes by session id, and is
    added to.
    """
    sizes = measure(reader, catalog.sessions.values(), known=known)
    conversations = [
        ConversationBytes(chain.tip.id, sum(sizes[segment.id].total for segment in chain.segments))
        for chain in catalog.chains()
    ]
    conversations.sort(key=lambda each: (-each.bytes, each.tip))
    total = sum(each.bytes for each in conversations)
    return SpaceMap(tuple(conversations), total, read_file_space(reader, wal_bytes))
