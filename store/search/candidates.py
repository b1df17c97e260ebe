"""The candidates of a search: rows that may have its terms, page by page, newest or oldest first.

They come from sources: Hermes' word index, its trigram index, and the rows themselves where an
index lacks some. The sources are merged, and each is asked for its next ids when the search has
come to them. Every statement is short and fetched whole: no cursor stays open between two of them,
and a newer query can stop the search anywhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from heapq import merge
from typing import NamedTuple

from ..connection.reader import Reader, Stopped
from ..connection.schema import FtsIndex
from ..connection.stored_values import FIRST_TIME, as_int, as_time
from ..progress import TellShare
from ..sessions.first_page import ids_follow_time
from ..text import text_of
from ..wording import _, ngettext
from .conditions import EVERYTHING, HAS_REASONING, Condition, all_of
from .coverage import IndexGaps, gaps_of
from .query import Query
from .spellings import (
    escapes_match,
    joined_match,
    loose_match,
    may_be_joined,
    may_have,
    substring_match,
)
from .terms import Group, Span, plain_match

_NEWEST = 350
"""Rows, with the other words of a query, that are read before an index is queried for a prefix.

They fill a page where one word in ten begins so. A prefix of few letters makes FTS5 merge a good
part of the index before the first row.
"""
_MOST_TRUNCATED = 1000
"""Rows in the index only in part that one search reads whole: tens of megabytes, half a second."""
_FIRST, _MOST = 64, 2000
"""Ids from an index, or rows of a scan, that one statement looks at: at first, and at most."""
_LONG_SCAN = 400
"""A scan of more rows shows what it has found so far."""
_SMALL_BLOCK, _LARGE_BLOCK = 2_000, 20_000
"""Candidates that are ordered by time together: where neighbours changed places, after an import."""


class Candidate(NamedTuple):
    """A row that may be a hit; sorted, candidates are in the order of time."""

    moment: float
    """When it was written, if ids do not follow time, else 0."""
    id: int
    session_id: str
    is_certain: bool
    """The index alone decides: its text needs no check."""


class Source(NamedTuple):
    """Rows that may have the terms, among some ids."""

    ids: Condition
    """A SELECT of ids, up to the key column of its WHERE clause."""
    where: Condition = EVERYTHING
    """On `message_rows m`."""
    between: Span | None = None
    """The first and the last id, in the order of the search; None for all."""
    engine: str = ""
    """`fts5`, `trigram` or `scan`; empty where it only adds to one."""
    is_certain: bool = False
    note: str = ""
    """A sentence on what is not covered by an index."""
    is_partial: bool = False
    """Rows like these are in no source: there are too many of them."""


_ALL_ROWS = Condition("SELECT id FROM messages WHERE id")


def _found_by(index: FtsIndex, match: str) -> Condition:
    """Return a SELECT of the ids that an index finds for MATCH."""
    sql = f"SELECT rowid FROM {index.name} WHERE {index.name} MATCH ? AND rowid"
    return Condition(sql, (match,))


def _scan(where: Condition, note: str = "", between: Span | None = None) -> Source:
    return Source(_ALL_ROWS, where, between, "scan", note=note)


def _sources(reader: Reader, query: Query, ends: Span, step: int) -> Iterator[Source]:
    """Yield where the candidates of a query come from.

    `ends` are the ids at which the search begins and ends, `step` leads from an id to the next.
    """
    if query.in_reasoning:
        yield _scan(Condition(HAS_REASONING), _("Reasoning is in no index: it is scanned."))
    elif query.filters and not query.groups:
        yield _scan(EVERYTHING)
    else:
        for group in query.groups:
            yield from _of_group(reader, group, ends, step, is_plain=query.is_plain)


def _of_group(
    reader: Reader, group: Group, ends: Span, step: int, *, is_plain: bool
) -> Iterator[Source]:
    """Yield the sources for one group of terms: of the index that fits it, and of what that index
    does not hold."""
    schema, where = reader.schema, may_have(group)
    words, trigram = schema.fts, schema.trigram
    if words is None or schema.is_index_stale:
        stale = _("Hermes has marked the search index as stale: the rows themselves are scanned.")
        none = _("There is no search index to use: the rows themselves are scanned.")
        yield _scan(where, stale if schema.is_index_stale else none)
        return
    substrings = ""
    # In files that Hermes 0.20 and later has made, it leaves out the output of tools.
    if trigram is not None and "where" not in trigram.definition.lower():
        substrings = substring_match(reader, trigram, group)
    if trigram is not None and substrings:
        yield Source(_found_by(trigram, substrings), where, engine="trigram")
        yield from _of_gaps(gaps_of(reader, trigram, max(ends)), where, step)
        # Of messages with images it has none: it stops at the NUL ahead. In the word index each
        # begins with the word `json`; letters beyond ASCII are in escapes there.
        if any(each.spelling.isascii() for each in group if not each.words):
            yield Source(_found_by(words, '^ "json"'), where)
        if escapes := escapes_match(reader, words, group):
            yield Source(_found_by(words, escapes))
    elif not any(each.words for each in group):
        yield _scan(where)
        return
    gaps = gaps_of(reader, words, max(ends))
    if not substrings:
        # The cut of a row may have made a word of a part of one.
        is_certain = is_plain and not gaps.truncated
        yield from _of_words(reader, words, group, ends, step, is_certain=is_certain)
    yield from _of_gaps(gaps, where, step)


def _of_words(
    reader: Reader, index: FtsIndex, group: Group, ends: Span, step: int, *, is_certain: bool
) -> Iterator[Source]:
    """Yield the sources of rows with words.

    Of a prefix, FTS5 may merge a good part of the index before the first row. So the first rows
    with the other words are read before, or the newest rows if there are none: they may fill the
    page.
    """
    rest = ends
    literal = may_have([each for each in group if not each.is_plain])
    if any(each.is_prefix for each in group):
        others = loose_match(reader, index, group)
        ids = _found_by(index, others) if others else _ALL_ROWS
        sql = f"{ids.sql} BETWEEN ? AND ? ORDER BY 1 {_order(step)} LIMIT 1 OFFSET {_NEWEST}"
        found = reader.value(sql, [*ids.values, *sorted(ends)])
        middle = ends[1] if found is None else as_int(found)
        yield Source(ids, literal if others else may_have(group), (ends[0], middle), "fts5")
        rest = middle + step, ends[1]
    yield Source(_found_by(index, plain_match(group)), literal, rest, "fts5", is_certain)
    joined = joined_match(reader, index, group)
    yield Source(_found_by(index, joined), may_be_joined(group), rest, "fts5")


def _of_gaps(gaps: IndexGaps, where: Condition, step: int) -> Iterator[Source]:
    """Yield the sources of the rows that an index lacks, and of those it holds only a part of."""
    if gaps.missing:
        note = ngettext(
            "Hermes' index lacks 1 message: it is scanned.",
            "Hermes' index lacks {count:,} messages: they are scanned.",
            gaps.missing,
        ).format(count=gaps.missing)
        between = (gaps.first, gaps.last) if step > 0 else (gaps.last, gaps.first)
        yield _scan(all_of([Condition(gaps.sql), where]), note, between)
    read = gaps.truncated[-_MOST_TRUNCATED:]
    if not read:
        return
    note = _(
        "Hermes' index has only the beginning of {count:,} messages; {read:,} of them were "
        "read in full.",
        count=len(gaps.truncated),
        read=len(read),
    )
    is_partial = len(gaps.truncated) > len(read)
    ids = Condition("SELECT value FROM json_each(?) WHERE value", (json.dumps(read),))
    yield Source(ids, where, note=note * is_partial, is_partial=is_partial)


def _order(step: int) -> str:
    """Return the order of ids, in SQL."""
    return "ASC" if step > 0 else "DESC"


class Candidates:
    """The rows in a scope that may have the terms of a query, page by page.

    Args:
        reader: Open; used by this thread alone.
        query: From `as_looked_for`.
        scope: On `message_rows m`: other rows are no candidates.
        oldest: The oldest rows come first.
        stopped: Tells whether the search is to end.
        progress: Told how much of a scan is done, on this thread.
    """

    def __init__(
        self,
        reader: Reader,
        query: Query,
        scope: Condition,
        *,
        oldest: bool,
        stopped: Stopped,
        progress: TellShare,
    ) -> None:
        self._reader, self._scope = reader, scope
        self._stopped, self._progress = stopped, progress
        self._step = 1 if oldest else -1
        # Two subqueries are two index seeks; min and max in one SELECT would read the whole table.
        ends = "SELECT (SELECT min(id) FROM messages), (SELECT max(id) FROM messages)"
        self._first, self._last = [*map(as_int, reader.rows(ends)[0])][:: self._step]
        self.sources = [*_sources(reader, query, (self._first, self._last), self._step)]
        self.engines = {each.engine for each in self.sources} - {""}
        self.is_stopped = False
        """It was stopped before its end."""
        self._scanned = 0
        self._is_timed = False
        """The times of rows are read."""

    @property
    def is_complete(self) -> bool:
        """Whether all rows that may be hits are in some page."""
        return not (self.is_stopped or any(each.is_partial for each in self.sources))

    def stops(self) -> bool:
        """Whether the search is to end now."""
        self.is_stopped = self.is_stopped or self._stopped()
        return self.is_stopped

    @property
    def is_long(self) -> bool:
        """Whether it scans more than a look at the newest rows."""
        return self._scanned > _LONG_SCAN

    def in_time(self, after: int | None = None) -> Iterator[list[int]]:
        """Yield ids in the order of time, after one.

        Hermes assigns ids in the order of writing. But imports (0.19, 0.22), a restore and a clock
        that is set back give new ids to old messages, and a compression writes messages again with
        their old times. There, some thousand candidates are ordered together.
        """
        block = self._block_size()
        self._is_timed = block > 0
        skip_until = after if block else None
        for page in self.pages(None if block else after, block):
            ids = [each.id for each in sorted(page, reverse=self._step < 0)]
            if skip_until in ids:
                ids, skip_until = ids[ids.index(skip_until) + 1 :], None
            if skip_until is None:
                yield ids

    def _block_size(self) -> int:
        """Return how many candidates are ordered by time together, 0 where ids follow time; asked
        once while the store does not change, so that all pages agree."""
        known, key = self._reader.cache(), ("block", self._step)
        if key not in known:
            late = _SMALL_BLOCK if self._has_late_rows() else 0
            known[key] = late if ids_follow_time(self._reader) else _LARGE_BLOCK
        return int(known[key])

    def _has_late_rows(self) -> bool:
        """Whether a row near the end at which the search begins is older than the one before."""
        first, step = self._first, self._step
        stamp_sql = f"COALESCE(m.timestamp, {FIRST_TIME})"
        late = (
            f"SELECT 1 FROM (SELECT {stamp_sql} AS here, lag({stamp_sql}) OVER (ORDER BY m.id) AS before "
            "FROM message_rows m WHERE m.id BETWEEN ? AND ?) WHERE here < before LIMIT 1"
        )
        return bool(self._reader.rows(late, sorted((first, first + _SMALL_BLOCK * step))))

    def pages(self, after: int | None = None, least: int = 0) -> Iterator[list[Candidate]]:
        """Yield candidates after an id, each once and in the order of ids, at least so many
        together.

        Pages may be empty: between two of them nothing is open, and the caller may do anything.
        """
        step = self._step
        page: list[Candidate] = []
        last: int | None = None
        sources = [self._read(source, after) for source in self.sources]
        for position, candidate in merge(*sources, key=lambda each: each[0] * step):
            if self.is_stopped:
                break
            if candidate is not None and position != last:
                page.append(candidate)
                last = position
            if candidate is None and len(page) >= least:
                yield page
                page = []
        yield page

    def _read(self, source: Source, after: int | None) -> Iterator[tuple[int, Candidate | None]]:
        """Yield (id, candidate), after an id; and (id, None) before each statement, where `pages` may
        pause."""
        step, size = self._step, _FIRST  # each begins small: it may fill the page
        begin, last = source.between or (self._first, self._last)
        if after is not None:
            begin = max(begin * step, after * step + 1) * step
        while begin * step <= last * step:
            yield begin, None
            if self.stops():
                return
            sql = f"{source.ids.sql} BETWEEN ? AND ? ORDER BY 1 {_order(step)} LIMIT ?"
            between = sorted((begin, last))
            asked = self._reader.rows(sql, [*source.ids.values, *between, size])
            ids = [as_int(row[0]) for row in asked]
            for each in self._among(ids, source):
                yield each.id, each
            begin = (ids[-1] if len(ids) == size else last) + step
            size = min(size * 2, _MOST)
            if source.ids is _ALL_ROWS:
                self._scanned += len(ids)
                whole = abs(self._last - self._first) + 1
                self._progress(abs(begin - self._first) / whole)

    def _among(self, ids: Sequence[int], source: Source) -> list[Candidate]:
        """Return the candidates among some rows of a source, in their order."""
        where = all_of([Condition("NOT m.hidden"), self._scope, source.where])
        # The time is stored after long texts: it is read only where it is needed.
        stamp_sql = "m.timestamp" if self._is_timed else "0"
        rows = self._reader.rows(
            f"SELECT {stamp_sql}, m.id, m.session_id FROM message_rows m "
            f"WHERE m.id IN (SELECT value FROM json_each(?)) AND {where.sql} "
            f"ORDER BY m.id {_order(self._step)}",
            [json.dumps(ids), *where.values],
        )
        return [
            Candidate(moment_of(stamp), as_int(key), text_of(session_id), source.is_certain)
            for stamp, key, session_id in rows
        ]


def moment_of(stamp: object) -> float:
    """Return a time for sorting; a row without one is the oldest."""
    moment = as_time(stamp)
    return float("-inf") if moment is None else moment
