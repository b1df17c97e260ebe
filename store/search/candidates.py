"""The candidates of a search: rows that may have its terms, page by page, newest or oldest first.

They come from sources: Hermes' word index, its trigram index, and the rows themselves where an
index lacks some. The sources are merged, and each is asked for its next ids when the search has
come to them. Every statement is short and fetched whole: no cursor stays open between two of them,
and a newer query can stop the search anywhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
from .coverage import gaps_of
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


class _Source(NamedTuple):
    """Rows that may have the terms, among some ids."""

    ids: Condition
    """A SELECT of ids, up to the key column of its WHERE clause."""
    where: Condition
    """On `messages m`."""
    first: int
    last: int
    """In the order of the search."""
    is_certain: bool = False


_ALL_ROWS = Condition("SELECT id FROM messages WHERE id")


def _found_by(index: FtsIndex, match: str) -> Condition:
    """Return a SELECT of the ids that an index finds for MATCH."""
    sql = f"SELECT rowid FROM {index.name} WHERE {index.name} MATCH ? AND rowid"
    return Condition(sql, (match,))


class Sources:
    """Where the candidates of a query come from.

    Args:
        reader: Open; used by this thread alone.
        query: From `prepare`.
        oldest: The oldest rows come first.
    """

    def __init__(self, reader: Reader, query: Query, *, oldest: bool) -> None:
        self._reader = reader
        self.step = 1 if oldest else -1
        """From an id to the next."""
        # Two subqueries are two index seeks; min and max in one SELECT would read the whole table.
        ends = "SELECT (SELECT min(id) FROM messages), (SELECT max(id) FROM messages)"
        self.first, self.last = [*map(as_int, reader.rows(ends)[0])][:: self.step]
        """The ids of messages at which the search begins and ends; 0 where there is none."""
        self.all: list[_Source] = []
        self.engines: set[str] = set()
        """`fts5`, `trigram`, `scan`."""
        self.notes: list[str] = []
        """Sentences on what is not covered by an index."""
        self.is_partial = False
        """Some rows that may be hits are in no source: there are too many of them."""
        self._is_plain = query.is_plain
        if query.in_reasoning:
            self.notes.append(_("Reasoning is in no index: it is scanned."))
            self._scan(Condition(HAS_REASONING))
        elif query.filters and not query.groups:
            self._scan(EVERYTHING)
        else:
            for group in query.groups:
                self._add_group(group)

    @property
    def order(self) -> str:
        """The order of ids, in SQL."""
        return "ASC" if self.step > 0 else "DESC"

    def _add(
        self,
        ids: Condition,
        where: Condition = EVERYTHING,
        between: Span | None = None,
        *,
        is_certain: bool = False,
    ) -> None:
        """Add the rows of a SELECT, from one id to another."""
        first, last = between or (self.first, self.last)
        self.all.append(_Source(ids, where, first, last, is_certain))

    def _scan(self, where: Condition, between: Span | None = None) -> None:
        self.engines.add("scan")
        self._add(_ALL_ROWS, where, between)

    def _add_group(self, group: Group) -> None:
        """Add the sources for one group of terms: of the index that fits it, and of what that index
        does not hold."""
        schema = self._reader.schema
        words, trigram = schema.fts, schema.trigram
        if words is None or schema.is_index_stale:
            stale = _(
                "Hermes has marked the search index as stale: the rows themselves are scanned."
            )
            none = _("There is no search index to use: the rows themselves are scanned.")
            self.notes.append(stale if schema.is_index_stale else none)
            self._scan(may_have(group))
            return
        substrings = ""
        # In files that Hermes 0.20 and later has made, it leaves out the output of tools.
        if trigram is not None and "where" not in trigram.definition.lower():
            substrings = substring_match(self._reader, trigram, group)
        if trigram is not None and substrings:
            self.engines.add("trigram")
            self._add(_found_by(trigram, substrings), may_have(group))
            self._add_gaps(trigram, group)
            # Of messages with images it has none: it stops at the NUL ahead. In the word index each
            # begins with the word `json`; letters beyond ASCII are in escapes there.
            if any(each.spelling.isascii() for each in group if not each.words):
                self._add(_found_by(words, '^ "json"'), may_have(group))
            if escapes := escapes_match(self._reader, words, group):
                self._add(_found_by(words, escapes))
            self._add_gaps(words, group)
        elif any(each.words for each in group):
            self.engines.add("fts5")
            self._add_words(group, words)
            self._add_gaps(words, group)
        else:
            self._scan(may_have(group))

    def _add_words(self, group: Group, index: FtsIndex) -> None:
        """Add the rows with words.

        Of a prefix, FTS5 may merge a good part of the index before the first row. So the first rows
        with the other words are read before, or the newest rows if there are none: they may fill
        the page.
        """
        rest = self.first, self.last
        literal = may_have([each for each in group if not each.is_plain])
        if any(each.is_prefix for each in group):
            others = loose_match(self._reader, index, group)
            ids = _found_by(index, others) if others else _ALL_ROWS
            sql = f"{ids.sql} BETWEEN ? AND ? ORDER BY 1 {self.order} LIMIT 1 OFFSET {_NEWEST}"
            found = self._reader.value(sql, [*ids.values, *sorted(rest)])
            middle = self.last if found is None else as_int(found)
            self._add(ids, literal if others else may_have(group), (self.first, middle))
            rest = middle + self.step, self.last
        self._add(_found_by(index, plain_match(group)), literal, rest, is_certain=self._is_plain)
        joined = joined_match(self._reader, index, group)
        self._add(_found_by(index, joined), may_be_joined(group), rest)

    def _add_gaps(self, index: FtsIndex, group: Group) -> None:
        """Add the rows that an index lacks, and those it holds only a part of."""
        gaps = gaps_of(self._reader, index, max(self.first, self.last))
        if gaps.missing:
            note = ngettext(
                "Hermes' index lacks 1 message: it is scanned.",
                "Hermes' index lacks {count:,} messages: they are scanned.",
                gaps.missing,
            )
            self.notes.append(note.format(count=gaps.missing))
            between = (gaps.first, gaps.last) if self.step > 0 else (gaps.last, gaps.first)
            self._scan(all_of([Condition(gaps.sql), may_have(group)]), between)
        truncated = gaps.truncated[-_MOST_TRUNCATED:]
        if truncated:  # the cut may have made a word of a part of one
            self.all = [source._replace(is_certain=False) for source in self.all]
            ids = Condition("SELECT value FROM json_each(?) WHERE value", (json.dumps(truncated),))
            self._add(ids, may_have(group))
        if len(gaps.truncated) > _MOST_TRUNCATED:
            self.is_partial = True
            note = _(
                "Hermes' index has only the beginning of {count:,} messages; {read:,} of them were "
                "read in full."
            )
            self.notes.append(note.format(count=len(gaps.truncated), read=_MOST_TRUNCATED))


@dataclass(eq=False)
class Candidates:
    """The rows in a scope that may have the terms of a query, page by page."""

    reader: Reader
    """Open; used by this thread alone."""
    sources: Sources
    scope: Condition
    """On `message_rows m`: other rows are no candidates."""
    stopped: Stopped
    """Tells whether the search is to end."""
    progress: TellShare
    """Told how much of a scan is done, on this thread."""
    is_stopped: bool = False
    """It was stopped before its end."""
    _scanned: int = 0
    _is_timed: bool = False
    """The times of rows are read."""

    @property
    def is_complete(self) -> bool:
        """Whether all rows that may be hits are in some page."""
        return not (self.is_stopped or self.sources.is_partial)

    def stops(self) -> bool:
        """Whether the search is to end now."""
        self.is_stopped = self.is_stopped or self.stopped()
        return self.is_stopped

    @property
    def is_long(self) -> bool:
        """Whether it scans more than a look at the newest rows."""
        return self._scanned > _LONG_SCAN

    def in_time(self, after: int | None = None) -> Iterator[list[int]]:
        """Yield ids in the order of time, behind one.

        Hermes assigns ids in the order of writing. But imports (0.19, 0.22), a restore and a clock
        that is set back give new ids to old messages, and a compression writes messages again with
        their old times. There, some thousand candidates are ordered together.
        """
        block = self._block_size()
        self._is_timed = block > 0
        skip_until = after if block else None
        for page in self.pages(None if block else after, block):
            ids = [each.id for each in sorted(page, reverse=self.sources.step < 0)]
            if skip_until in ids:
                ids, skip_until = ids[ids.index(skip_until) + 1 :], None
            if skip_until is None:
                yield ids

    def _block_size(self) -> int:
        """Return how many candidates are ordered by time together, 0 where ids follow time; asked
        once while the store does not change, so that all pages agree."""
        known, key = self.reader.cache(), ("block", self.sources.step)
        if key not in known:
            late = _SMALL_BLOCK if self._has_late_rows() else 0
            known[key] = late if ids_follow_time(self.reader) else _LARGE_BLOCK
        return int(known[key])

    def _has_late_rows(self) -> bool:
        """Whether a row near the end at which the search begins is older than the one before."""
        first, step = self.sources.first, self.sources.step
        stamp = f"COALESCE(m.timestamp, {FIRST_TIME})"
        late = (
            f"SELECT 1 FROM (SELECT {stamp} AS here, lag({stamp}) OVER (ORDER BY m.id) AS before "
            "FROM message_rows m WHERE m.id BETWEEN ? AND ?) WHERE here < before LIMIT 1"
        )
        return bool(self.reader.rows(late, sorted((first, first + _SMALL_BLOCK * step))))

    def pages(self, after: int | None = None, least: int = 0) -> Iterator[list[Candidate]]:
        """Yield candidates behind an id, each once and in the order of ids, at least so many
        together.

        Pages may be empty: between two of them nothing is open, and the caller may do anything.
        """
        step = self.sources.step
        page: list[Candidate] = []
        last: int | None = None
        sources = [self._read(source, after) for source in self.sources.all]
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

    def _read(self, source: _Source, after: int | None) -> Iterator[tuple[int, Candidate | None]]:
        """Yield the candidates of a source behind an id, with their ids; before each statement the
        id at which it begins, alone."""
        step, size = self.sources.step, _FIRST  # each begins small: it may fill the page
        begin = source.first if after is None else max(source.first * step, after * step + 1) * step
        while begin * step <= source.last * step:
            yield begin, None
            if self.stops():
                return
            sql = f"{source.ids.sql} BETWEEN ? AND ? ORDER BY 1 {self.sources.order} LIMIT ?"
            between = sorted((begin, source.last))
            asked = self.reader.rows(sql, [*source.ids.values, *between, size])
            ids = [as_int(row[0]) for row in asked]
            for each in self._among(ids, source):
                yield each.id, each
            begin = (ids[-1] if len(ids) == size else source.last) + step
            size = min(size * 2, _MOST)
            if source.ids is _ALL_ROWS:
                self._scanned += len(ids)
                whole = abs(self.sources.last - self.sources.first) + 1
                self.progress(abs(begin - self.sources.first) / whole)

    def _among(self, ids: Sequence[int], source: _Source) -> list[Candidate]:
        """Return the candidates among some rows of a source, in their order."""
        where = all_of([Condition("NOT m.hidden"), self.scope, source.where])
        # The time is behind long texts: it is read only where it is needed.
        stamp = "m.timestamp" if self._is_timed else "0"
        rows = self.reader.rows(
            f"SELECT {stamp}, m.id, m.session_id FROM message_rows m "
            f"WHERE m.id IN (SELECT value FROM json_each(?)) AND {where.sql} "
            f"ORDER BY m.id {self.sources.order}",
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
