"""Hits in the order of time, also where ids do not follow it.

Hermes assigns ids in the order of writing. But imports (0.19, 0.22), a restore and a clock that is
set back give new ids to old messages, and a compression writes messages again with their old times.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..connection.reader import Reader
from ..connection.stored_values import FIRST_TIME, as_int, as_time
from ..sessions.first_page import ids_follow_time
from .message_rows import StoredRow

_SMALL_BLOCK, _LARGE_BLOCK = 2_000, 20_000
"""Where ids do not follow time, so many candidates are brought into the order of time together:
where neighbours have changed places, and after an import."""
_EARLIEST = float("-inf")


def moment_of(row: StoredRow) -> tuple[float, int]:
    """Sort key: the time, then the id."""
    return (row.moment if row.moment is not None else _EARLIEST), row.id


def block_size(reader: Reader, edges: tuple[int, int], *, oldest: bool) -> int:
    """Return how many candidates are brought into the order of time together, by the end a search
    begins at.

    0 where ids follow time. Asked once while the store does not change, so that all pages of a
    search agree.
    """
    sizes = reader.cache().block_sizes
    if oldest not in sizes:
        sizes[oldest] = _find_block_size(reader, edges, oldest=oldest)
    return sizes[oldest]


def _find_block_size(reader: Reader, edges: tuple[int, int], *, oldest: bool) -> int:
    if not ids_follow_time(reader):
        return _LARGE_BLOCK
    near = edges[0] + _SMALL_BLOCK if oldest else edges[1] - _SMALL_BLOCK
    stamp = f"COALESCE({reader.schema.message('timestamp')}, {FIRST_TIME})"
    late = (
        f"SELECT 1 FROM (SELECT {stamp} AS here, lag({stamp}) OVER (ORDER BY m.id) AS before FROM messages m "
        f"WHERE m.id {'<' if oldest else '>'} ?) WHERE here < before LIMIT 1"
    )
    return _SMALL_BLOCK if edges[1] - edges[0] < _SMALL_BLOCK or reader.rows(late, [near]) else 0


def in_time(
    reader: Reader, pages: Iterator[list[int]], block: int, after: int | None, *, oldest: bool
) -> Iterator[list[int]]:
    """Yield the ids of pages in the order of time, so many at a time, behind one; those with the
    newest ids first."""
    waits = after is not None
    for ids in _blocks(pages, block):
        ordered = _by_moment(reader, ids, oldest=oldest)
        if waits and after is not None:
            if after not in ids:
                continue
            ordered, waits = ordered[ordered.index(after) + 1 :], False
        yield ordered


def _by_moment(reader: Reader, ids: Sequence[int], *, oldest: bool) -> list[int]:
    column = reader.schema.message("timestamp")
    sql = f"SELECT m.id, {column} FROM messages m WHERE m.id IN ({{keys}})"
    places = []
    for key, stamp in reader.rows_in(sql, ids):
        moment = as_time(stamp)
        places.append((moment if moment is not None else _EARLIEST, as_int(key)))
    return [key for _, key in sorted(places, reverse=not oldest)]


def _blocks(pages: Iterator[list[int]], size: int) -> Iterator[list[int]]:
    """Yield the ids of pages, about so many at a time."""
    block: list[int] = []
    for page in pages:
        block += page
        if len(block) >= size:
            yield block
            block = []
    yield block
