"""One run of a search through the messages, in the order of their ids: from an index, or by scanning the rows.

Streams yield message ids in order. They read them with short statements that are fetched whole, so that no cursor stays
open between pages and a newer query can stop the run anywhere.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ..connection.reader import Reader
from ..connection.schema import FtsIndex
from ..connection.stored_values import as_int
from .message_rows import RowText, SearchCache, read_rows, searched_columns
from .terms import CompiledQuery, Matcher
from .times import TimeOrder

_FIRST_CHUNK, _CHUNK = 64, 256
"""Ids read from an index at a time. Starting a prefix query is what costs, so one chunk should fill a page."""
_FIRST_SLICE, _SLICE = 50, 2000
_LONG = 400
"""A scan that has come to slices larger than this reports its progress; a look at the newest rows does not."""


class ScannedTo(int):
    """Not a candidate: everything up to this id has been scanned, so hits found before it can be shown."""


@dataclass
class CandidateCounts:
    """What has become of the candidates so far, for the streams to adapt to."""

    needed: int = 0
    """Hits that fill the page; 0 where all are requested."""
    checked: int = 0
    """Candidates whose text was read."""
    matched: int = 0
    """Candidates that contain the terms."""
    is_certain: bool = False
    """All further candidates contain the terms: no more of them are read than fill the page."""
    read_whole: int = 0
    """Rows that were read because the index holds only a part of them."""
    skipped: bool = False
    """Some rows that may be hits were not checked: there are too many to scan."""


@dataclass
class Walk:
    """One run through the candidates: its direction and bounds, what may stop it, and what it reports."""

    reader: Reader
    compiled: CompiledQuery
    ascending: bool = False
    order: TimeOrder | None = None
    """How ids and times relate; None where the order does not matter."""
    after: tuple[float, int] | None = None
    """Only rows behind this time and id in the direction of the run."""
    low: int = -(2**62)
    """The smallest id."""
    high: int = 2**62
    """The largest id."""
    stopped: Callable[[], bool] = lambda: False
    engines: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    incomplete: bool = False
    """The run was stopped before its end."""
    chunk: int = _CHUNK
    """Ids read from an index at a time after the first few."""
    progress: Callable[[float], None] = lambda share: None
    """Called during a scan with the share of the rows that has been scanned, from 0 to 1."""
    cache: SearchCache = field(default_factory=SearchCache)
    tally: CandidateCounts = field(default_factory=CandidateCounts)
    on_scanned: Callable[[], None] = lambda: None
    """Called during a scan when all hits up to here have been given."""

    def within(self, low: int, high: int) -> Walk:
        """Return the part of the run between two ids, both included."""
        return replace(self, low=max(low, self.low), high=min(high, self.high), stopped=self.stop)

    def beyond(self, message_id: int) -> Walk:
        """Return the part of the run behind an id."""
        return self.within(message_id + 1, self.high) if self.ascending else self.within(self.low, message_id - 1)

    def split(self, count: int) -> tuple[Walk, Walk]:
        """Return the first `count` ids of the run as one run, and the rest as another."""
        low, high = self.bounds()
        edge = min(low + count - 1, high) if self.ascending else max(high - count + 1, low)
        return self.within(low, edge) if self.ascending else self.within(edge, high), self.beyond(edge)

    def bounds(self) -> tuple[int, int]:
        """Return the smallest and the largest id of the run."""
        low, high = self.cache.edges(self.reader)
        return max(low, self.low), min(high, self.high)

    def scanned_before(self, message_id: int) -> ScannedTo:
        """Return the marker that everything before an id has been scanned."""
        return ScannedTo(message_id - 1 if self.ascending else message_id + 1)

    def stop(self) -> bool:
        """Tell whether to stop now, and remember it."""
        self.incomplete = self.incomplete or self.stopped()
        return self.incomplete


def indexed(walk: Walk, index: FtsIndex, match: str, most: int = 0, first: int = _FIRST_CHUNK) -> Iterator[int]:
    """Yield the ids that an FTS5 table has for a MATCH expression: about `most` (0 for all), `first` at first."""
    statement = (
        f"SELECT rowid FROM {index.name} WHERE {index.name} MATCH ? AND rowid BETWEEN ? AND ? "
        f"ORDER BY rowid {'ASC' if walk.ascending else 'DESC'} LIMIT ?"
    )
    low, high, chunk, count = walk.low, walk.high, first, 0
    while not walk.stop():
        rows = walk.reader.rows(statement, [match, low, high, chunk])
        yield from (as_int(row[0]) for row in rows)
        count += len(rows)
        if len(rows) < chunk or (most and count >= most):
            return
        last = as_int(rows[-1][0])
        low, high = (last + 1, high) if walk.ascending else (low, last - 1)
        chunk = walk.chunk if chunk >= _FIRST_CHUNK else chunk * 4


def accepted(walk: Walk, ids: Sequence[int], compiled: CompiledQuery) -> Iterator[int]:
    """Yield those of the ids whose rows a query accepts; the rows are cached for the next search."""
    rows = read_rows(walk.reader, ids, walk.cache)
    for key in ids:
        text = rows[key].text if key in rows else None
        if text is not None and text.is_accepted(compiled):
            yield key


def _narrowing(matchers: Sequence[Matcher]) -> tuple[str, list[object]]:
    """Return SQL that is true for all rows which may contain the terms that have one spelling, and its values.

    `instr` reads past the NUL of multimodal content, but not through the escapes of JSON: rows with escapes always
    pass, and so do those with a NUL ahead (their length is 0 to SQLite though they are not empty).
    """
    needles = [each.needle for each in matchers if each.needle]
    texts = " OR ".join(f"instr(m.{column}, ?) > 0" for column in ("content", "tool_name", "tool_calls"))
    escaped = "instr(m.content, '\\u') > 0 OR instr(m.tool_calls, '\\u') > 0"
    condition = f"({texts} OR {escaped} OR (length(m.content) = 0 AND m.content <> ''))"
    return " AND ".join([condition] * len(needles)), [needle for needle in needles for _ in range(3)]


def scanned(walk: Walk, matchers: Sequence[Matcher], *, only: str = "1") -> Iterator[int]:
    """Yield the ids of rows that may contain all of the matchers, reading the rows in slices of ids.

    Yields `ScannedTo` after each slice of a long scan. Without matchers every row is yielded. `only` is SQL that limits
    the rows of `messages m` that are read.
    """
    reader = walk.reader
    first, last = walk.bounds()
    order, edge, comparison = ("ASC", "min", ">=") if walk.ascending else ("DESC", "max", "<=")
    has_columns = {"content", "tool_name", "tool_calls"} <= reader.schema.message_columns
    narrow, values = _narrowing(matchers) if has_columns else ("", [])
    # The caller checks the rows that SQLite has narrowed down; without that they are checked here.
    unchecked = not matchers or bool(narrow)
    condition = " AND ".join(part for part in ("m.id BETWEEN ? AND ?", only, narrow) if part)
    select_ids = f"SELECT m.id FROM messages m WHERE {condition} ORDER BY m.id {order}"
    select_texts = f"SELECT m.id, {searched_columns(reader)} FROM messages m WHERE {condition} ORDER BY m.id {order}"
    compiled = CompiledQuery((tuple(matchers),), ())
    total = max(last - first + 1, 1)
    size = _FIRST_SLICE  # small, so that the newest rows come at once
    while first <= last and not walk.stop():
        start, end = (first, min(first + size - 1, last)) if walk.ascending else (max(last - size + 1, first), last)
        if unchecked or size <= _LONG:
            rows = reader.rows(select_ids, [start, end, *values])
            ids = [as_int(row[0]) for row in rows]
            # The rows read first are cached: the caller and the next keystroke need them again.
            yield from ids if unchecked else accepted(walk, ids, compiled)
        else:
            rows = reader.rows(select_texts, [start, end, *values])
            yield from (as_int(key) for key, *texts in rows if RowText(*texts).is_accepted(compiled))
        first, last = (end + 1, last) if walk.ascending else (first, start - 1)
        size = min(size * 2, _SLICE)
        walk.progress(1 - max(last - first + 1, 0) / total)
        if size > _LONG:
            yield ScannedTo(end if walk.ascending else start)
        if not rows and first <= last:
            # Ids may have gaps of any width (salvaged stores): step to the next row there is.
            here = first if walk.ascending else last
            step = reader.value(f"SELECT {edge}(id) FROM messages WHERE id {comparison} ?", [here])
            if step is None:
                return
            first, last = (as_int(step), last) if walk.ascending else (first, as_int(step))


def merge(walk: Walk, streams: Sequence[Iterator[int]]) -> Iterator[int]:
    """Merge streams in order, each id once; `ScannedTo` where all of them have passed."""
    last: int | None = None
    for message_id in heapq.merge(*streams, reverse=not walk.ascending):
        if isinstance(message_id, ScannedTo):
            yield message_id
        elif message_id != last:
            last = message_id
            yield message_id
