"""Map the bytes of a store by source, job and conversation, and the free pages that a VACUUM would
return.

SQLite keeps freed pages for new rows: deleting makes room inside the file, and only a VACUUM
shrinks the file (https://sqlite.org/lang_vacuum.html).
"""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping
from typing import NamedTuple

from ..connection.reader import Reader
from ..connection.stored_values import as_int
from ..sessions.catalog import Catalog
from ..sessions.jobs import job_of
from .sizes import Sizes, added, measure


class Space(NamedTuple):
    """A line of the map: a source, a cron job, or a conversation."""

    name: str
    """The source, the job, or the id of the conversation's tip, as stored."""
    level: str
    """`source`, `job` or `conversation`."""
    sizes: Sizes
    conversations: int
    below: tuple[Space, ...] = ()
    """The lines it consists of, largest first; none for a conversation."""


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

    sources: tuple[Space, ...]
    """Largest first."""
    total: Sizes
    file: FileSpace


def _sorted(spaces: Iterable[Space]) -> tuple[Space, ...]:
    return tuple(sorted(spaces, key=lambda each: (-each.sizes.total, each.name)))


def _group(name: str, level: str, below: list[Space]) -> Space:
    count = sum(each.conversations for each in below)
    return Space(name, level, added(each.sizes for each in below), count, _sorted(below))


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
    known: MutableMapping[str, Sizes] | None = None,
) -> SpaceMap:
    """Measure a whole store, of which `catalog` has all sessions.

    `wal_bytes` is that of `read_file_space`; `known` is a cache of sizes by session id, and is
    added to.
    """
    sizes = measure(reader, catalog.forest.sessions.values(), known=known)
    jobs: dict[str, dict[str | None, list[Space]]] = {}
    for chain in catalog.forest.chains():
        own = added(sizes[segment.id] for segment in chain.segments)
        space = Space(chain.tip.id, "conversation", own, 1)
        jobs.setdefault(chain.root.source, {}).setdefault(job_of(chain.root), []).append(space)
    sources = []
    for source, by_job in jobs.items():
        below = [_group(job, "job", runs) for job, runs in by_job.items() if job is not None]
        sources.append(_group(source, "source", below + by_job.get(None, [])))
    ordered = _sorted(sources)
    return SpaceMap(
        ordered, added(each.sizes for each in ordered), read_file_space(reader, wal_bytes)
    )
