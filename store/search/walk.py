"""One run through the messages in order: pulled from an index, or from the rows themselves, a little at a time.

Each stream yields message ids in order, pulled in short statements that are fetched whole, so no
cursor stays open between pages and a newer question can stop it anywhere.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ..connection.connect import Reader
from ..connection.schema import FtsIndex
from .coverage import Holes
from .rows import KeptRows, RowText, read_rows, searched_columns
from .terms import Matcher, Plan
from .times import TimeOrder

_FIRST_CHUNK, _CHUNK = 64, 256
"""Ids asked of an index at a time. To begin is what costs where a prefix is asked for, so a page is to need one."""
_FIRST_SLICE, _SLICE = 50, 2000
_LONG = 400
"""A scan that has come to slices larger than this is long enough to be told of; a glance at the newest rows is not."""


class Passed(int):
    """Not a candidate: a scan has looked at everything up to this id, so what was found before it can be told."""


@dataclass
class Tally:
    """How a search has fared with its candidates, so that where they come from can be thought over."""

    wanted: int = 0
    """Hits that make the page full; 0 where all are wanted."""
    looked_at: int = 0
    """Candidates whose text was read."""
    had_the_words: int = 0
    """Those of them that contain what is looked for."""
    is_sure: bool = False
    """What comes now has the terms, and no more of it is read than makes the page full."""
    read_whole: int = 0
    """Rows that were read because the index holds only a part of them."""
    left_out: bool = False
    """There are rows that may be hits and were not looked at: too many to be scanned."""


@dataclass
class Walk:
    """One run through the candidates: direction, bounds, what may stop it, what it has to say."""

    reader: Reader
    plan: Plan
    ascending: bool = False
    order: TimeOrder | None = None
    """How rows stand in time; None where the order does not matter."""
    after: tuple[float, int] | None = None
    """Only rows behind this time and id in the direction of the walk."""
    low: int = -(2**62)
    """The smallest id to look at."""
    high: int = 2**62
    """The largest one."""
    stopped: Callable[[], bool] = lambda: False
    engines: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    incomplete: bool = False
    chunk: int = _CHUNK
    """Ids asked of an index at a time after the first few."""
    progress: Callable[[float], None] = lambda share: None
    """Told, while rows are scanned, which share of them has been looked at, from 0 to 1."""
    kept: KeptRows = field(default_factory=KeptRows)
    """Rows read before, and where those read now are kept."""
    tally: Tally = field(default_factory=Tally)
    passed: Callable[[], None] = lambda: None
    """Told, while rows are scanned, that all hits up to here have been given."""

    def within(self, low: int, high: int) -> Walk:
        """The same run, but only so far."""
        return replace(self, low=max(low, self.low), high=min(high, self.high), stopped=self.stop)

    def beyond(self, message_id: int) -> Walk:
        """The same run from behind this id on."""
        return self.within(message_id + 1, self.high) if self.ascending else self.within(self.low, message_id - 1)

    def behind(self, low: int, high: int) -> Walk:
        """The same run from behind a range on that it began with."""
        return self.beyond(high if self.ascending else low)

    @property
    def passed_so_far(self) -> Passed:
        """Says that everything before this run has been looked at."""
        return Passed(self.low - 1 if self.ascending else self.high + 1)

    def stop(self) -> bool:
        """Whether to leave off; remembers that something was left undone."""
        if self.stopped():
            self.incomplete = True
            return True
        return False


def holes(walk: Walk, index: FtsIndex) -> Holes:
    """What an index does not hold."""
    return walk.kept.holes(walk.reader, index)


def indexed(walk: Walk, index: FtsIndex, match: str, most: int = 0, first: int = _FIRST_CHUNK) -> Iterator[int]:
    """Ids that an FTS5 table gives for a MATCH expression, at most so many; 0 for all; so many in the first portion."""
    statement = (
        f"SELECT rowid FROM {index.name} WHERE {index.name} MATCH ? AND rowid BETWEEN ? AND ? "
        f"ORDER BY rowid {'ASC' if walk.ascending else 'DESC'} LIMIT ?"
    )
    low, high, chunk, given = walk.low, walk.high, first, 0
    while not walk.stop():
        rows = walk.reader.rows(statement, [match, low, high, chunk])
        yield from (int(str(row[0])) for row in rows)
        given += len(rows)
        if len(rows) < chunk or (most and given >= most):
            return
        last = int(str(rows[-1][0]))
        low, high = (last + 1, high) if walk.ascending else (low, last - 1)
        chunk = walk.chunk if chunk >= _FIRST_CHUNK else chunk * 4


def bounds(walk: Walk) -> tuple[int, int]:
    """The smallest and the largest id of a run."""
    low, high = walk.kept.edges(walk.reader)
    return max(low, walk.low), min(high, walk.high)


def beginning(walk: Walk, rows: int) -> tuple[int, int]:
    """The smallest and the largest of so many ids at the beginning of a run."""
    low, high = bounds(walk)
    return (low, min(low + rows - 1, high)) if walk.ascending else (max(high - rows + 1, low), high)


def _narrowing(matchers: Sequence[Matcher]) -> tuple[str, list[object]]:
    """SQL that lets only rows through which may contain the terms that have one spelling, and its values.

    `instr` reads past the NUL of multimodal content, but not through the escapes of JSON: rows with some always pass,
    and those with a NUL ahead (SQLite finds them to be of length 0 though they are not empty).
    """
    needles = [each.needle for each in matchers if each.needle]
    texts = " OR ".join(f"instr(m.{column}, ?) > 0" for column in ("content", "tool_name", "tool_calls"))
    escaped = "instr(m.content, '\\u') > 0 OR instr(m.tool_calls, '\\u') > 0"  # not shown
    condition = f"({texts} OR {escaped} OR (length(m.content) = 0 AND m.content <> ''))"
    return " AND ".join([condition] * len(needles)), [needle for needle in needles for _ in range(3)]


def scanned(
    walk: Walk, matchers: Sequence[Matcher], *, only: str = "1", low: int | None = None, high: int | None = None
) -> Iterator[int]:
    """Ids of rows whose text may contain all of the matchers, by reading the rows in slices of ids.

    Between them it gives `Passed`, one behind each slice.

    Args:
        walk: The run.
        matchers: All must be there; none means every row.
        only: SQL that narrows the rows of `messages m` that are read.
        low: Smallest id to look at.
        high: Largest id to look at.
    """
    first, last = bounds(walk)
    first, last = max(first, low if low is not None else first), min(last, high if high is not None else last)
    order, edge, comparison = ("ASC", "min", ">=") if walk.ascending else ("DESC", "max", "<=")
    complete = {"content", "tool_name", "tool_calls"} <= walk.reader.schema.message_columns
    narrow, values = _narrowing(matchers) if complete else ("", [])
    # What SQLite has narrowed down is judged by its caller anyway; only what it cannot tell is looked at here.
    looked_at = bool(matchers) and not narrow
    texts = searched_columns(walk.reader) if looked_at else "NULL, NULL, NULL"  # not shown
    where = " AND ".join(part for part in (only, narrow) if part)
    statement = f"SELECT m.id, {texts} FROM messages m WHERE m.id BETWEEN ? AND ? AND {where} ORDER BY m.id {order}"
    plainly = f"SELECT m.id FROM messages m WHERE m.id BETWEEN ? AND ? AND {where} ORDER BY m.id {order}"
    plan = Plan((tuple(matchers),), ())
    whole = max(last - first + 1, 1)
    size = _FIRST_SLICE  # the newest rows come at once
    while first <= last and not walk.stop():
        start, end = (first, min(first + size - 1, last)) if walk.ascending else (max(last - size + 1, first), last)
        rows: Sequence[object]
        if looked_at and size <= _LONG:
            # The newest rows, most likely: the next letter asks for them again, and whoever shows them does.
            rows = ids = [int(str(row[0])) for row in walk.reader.rows(plainly, [start, end])]
            read = read_rows(walk.reader, ids, walk.kept)
            said = ((key, read[key].said) for key in ids if key in read)
            yield from (key for key, text in said if text is not None and text.is_accepted(plan))
        else:
            rows = read_now = walk.reader.rows(statement, [start, end, *values])
            for message_id, *parts in read_now:
                if not looked_at or RowText(*parts).is_accepted(plan):
                    yield int(str(message_id))
        first, last = (end + 1, last) if walk.ascending else (first, start - 1)
        size = min(size * 2, _SLICE)
        walk.progress(1 - max(last - first + 1, 0) / whole)
        if size > _LONG:
            yield Passed(end if walk.ascending else start)
        if not rows and first <= last:
            # Ids may leave holes of any width (salvaged stores): step to the next row there is.
            here = first if walk.ascending else last
            step = walk.reader.value(f"SELECT {edge}(id) FROM messages WHERE id {comparison} ?", [here])
            if step is None:
                return
            first, last = (int(str(step)), last) if walk.ascending else (first, int(str(step)))


def merge(walk: Walk, streams: Sequence[Iterator[int]]) -> Iterator[int]:
    """The streams as one, in order, each id once; what all of them have passed is told on."""
    last: int | None = None
    for message_id in heapq.merge(*streams, reverse=not walk.ascending):
        if isinstance(message_id, Passed):
            yield message_id
        elif message_id != last:
            last = message_id
            yield message_id
