"""The candidates of a search: rows that may have its terms, page by page, newest or oldest first.

They come from sources: Hermes' word index, its trigram index, and the rows themselves where an
index lacks some. Each page asks all sources for the next ids, and goes on behind them. Every
statement is short and fetched whole: no cursor stays open between pages, and a newer query can stop
the search anywhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
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
    """Rows that may have the terms, in a range of ids."""

    ids: Condition
    """A SELECT of ids, up to the key column of its WHERE clause."""
    where: Condition
    """On `messages m`."""
    low: int
    high: int
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
        self._reader, self.oldest = reader, oldest
        # Two subqueries are two index seeks; min and max in one SELECT would read the whole table.
        ends = "SELECT (SELECT min(id) FROM messages), (SELECT max(id) FROM messages)"
        self.first_id, self.last_id = map(as_int, reader.rows(ends)[0])
        """The smallest and the largest id of a message; 0 where there is none."""
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
            return
        for group in query.groups:
            self._add_group(group)
        if not query.groups:
            self._scan(EVERYTHING)

    def _add(
        self,
        ids: Condition,
        where: Condition = EVERYTHING,
        between: Span | None = None,
        *,
        is_certain: bool = False,
    ) -> None:
        """Add the rows of a SELECT, in a range of ids."""
        low, high = between or (self.first_id, self.last_id)
        self.all.append(_Source(ids, where, low, high, is_certain))

    def _scan(self, where: Condition, between: Span | None = None) -> None:
        self.engines.add("scan")
        self._add(_ALL_ROWS, where, between)

    def _add_group(self, group: Group) -> None:
        """Add the sources for one group of terms: of the index that fits it, and of what that index
        does not hold."""
        schema = self._reader.schema
        words, trigram = schema.fts, schema.trigram
        substrings = ""
        if schema.is_index_stale:
            words = None
            stale = _(
                "Hermes has marked the search index as stale: the rows themselves are scanned."
            )
            self.notes.append(stale)
        elif words is None:
            none = _("There is no search index to use: the rows themselves are scanned.")
            self.notes.append(none)
        elif trigram is not None and "where" not in trigram.definition.lower():
            # In files that Hermes 0.20 and later has made, it leaves out the output of tools.
            substrings = substring_match(self._reader, trigram, group)
        if words is not None and trigram is not None and substrings:
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
        elif words is not None and any(each.words for each in group):
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
        low, high = rest = self.first_id, self.last_id
        literal = may_have([each for each in group if not each.is_plain])
        if any(each.is_prefix for each in group):
            others = loose_match(self._reader, index, group)
            ids = _found_by(index, others) if others else _ALL_ROWS
            order = "ASC" if self.oldest else "DESC"
            sql = f"{ids.sql} BETWEEN ? AND ? ORDER BY 1 {order} LIMIT 1 OFFSET {_NEWEST}"
            last = self._reader.value(sql, [*ids.values, low, high])
            if self.oldest:
                middle = high if last is None else as_int(last)
                first, rest = (low, middle), (middle + 1, high)
            else:
                middle = low if last is None else as_int(last)
                first, rest = (middle, high), (low, middle - 1)
            self._add(ids, literal if others else may_have(group), first)
        self._add(_found_by(index, plain_match(group)), literal, rest, is_certain=self._is_plain)
        joined = joined_match(self._reader, index, group)
        self._add(_found_by(index, joined), may_be_joined(group), rest)

    def _add_gaps(self, index: FtsIndex, group: Group) -> None:
        """Add the rows that an index lacks, and those it holds only a part of."""
        gaps = gaps_of(self._reader, index, self.last_id)
        if gaps.missing:
            note = ngettext(
                "Hermes' index lacks 1 message: it is scanned.",
                "Hermes' index lacks {count:,} messages: they are scanned.",
                gaps.missing,
            )
            self.notes.append(note.format(count=gaps.missing))
            self._scan(all_of([Condition(gaps.sql), may_have(group)]), (gaps.first, gaps.last))
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
    _block: int = 0
    """Candidates that are brought into the order of time together; 0 where ids follow time."""

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
        self._block = self._block_size()
        skip_until = after if self._block else None
        for page in self._blocks(None if self._block else after):
            ids = [each.id for each in sorted(page, reverse=not self.sources.oldest)]
            if skip_until in ids:
                ids, skip_until = ids[ids.index(skip_until) + 1 :], None
            if skip_until is None:
                yield ids

    def _block_size(self) -> int:
        """Return `_block`; asked once while the store does not change, so that all pages agree."""
        known, key = self.reader.cache(), ("block", self.sources.oldest)
        if key not in known:
            if not ids_follow_time(self.reader):
                known[key] = _LARGE_BLOCK
            else:
                known[key] = _SMALL_BLOCK if self._has_late_rows() else 0
        return int(known[key])

    def _has_late_rows(self) -> bool:
        """Whether a row near the end at which the search begins is older than the one before."""
        low, high = self.sources.first_id, self.sources.last_id
        if high - low < _SMALL_BLOCK:
            return True
        near = low + _SMALL_BLOCK if self.sources.oldest else high - _SMALL_BLOCK
        stamp = f"COALESCE(m.timestamp, {FIRST_TIME})"
        late = (
            f"SELECT 1 FROM (SELECT {stamp} AS here, lag({stamp}) OVER (ORDER BY m.id) AS before "
            f"FROM message_rows m WHERE m.id {'<' if self.sources.oldest else '>'} ?) WHERE here < before LIMIT 1"
        )
        return bool(self.reader.rows(late, [near]))

    def _blocks(self, after: int | None) -> Iterator[list[Candidate]]:
        block: list[Candidate] = []
        for page in self.pages(after):
            block += page
            if len(block) >= self._block:
                yield block
                block = []
        yield block

    def pages(self, after: int | None = None) -> Iterator[list[Candidate]]:
        """Yield candidates behind an id, each once, in no order within a page.

        Pages may be empty: between two of them nothing is open, and the caller may do anything.
        """
        low, high = self.sources.first_id, self.sources.last_id
        total = max(high - low + 1, 1)
        if after is not None:
            low, high = (after + 1, high) if self.sources.oldest else (low, after - 1)
        sizes = [_FIRST] * len(self.sources.all)  # each begins small: it may fill the page
        while low <= high and not self.stops():
            first, last = low, high  # the part of the rows that all sources have looked at
            candidates: dict[int, Candidate] = {}
            for number, source in enumerate(self.sources.all):
                begin, end = max(first, source.low), min(last, source.high)
                if begin > end:
                    continue
                page, reached = self._page(source, begin, end, sizes[number])
                first, last = (first, reached) if self.sources.oldest else (reached, last)
                sizes[number] = min(sizes[number] * 2, _MOST)
                for each in page:
                    candidates.setdefault(each.id, each)
            yield [each for each in candidates.values() if first <= each.id <= last]
            low, high = (last + 1, high) if self.sources.oldest else (low, first - 1)
            if self._scanned:
                self.progress(1 - max(high - low + 1, 0) / total)

    def _page(self, source: _Source, low: int, high: int, size: int) -> tuple[list[Candidate], int]:
        """Return the candidates among the next ids of a source, and the last id looked at."""
        order, reached = ("ASC", high) if self.sources.oldest else ("DESC", low)
        sql = f"{source.ids.sql} BETWEEN ? AND ? ORDER BY 1 {order} LIMIT ?"
        asked = self.reader.rows(sql, [*source.ids.values, low, high, size])
        ids = [as_int(row[0]) for row in asked]
        if source.ids is _ALL_ROWS:
            self._scanned += len(ids)
        if len(ids) == size:
            reached = ids[-1]
        where = all_of([Condition("NOT m.hidden"), self.scope, source.where])
        # The time is behind long texts: it is read only where it is needed.
        stamp = "m.timestamp" if self._block else "0"
        rows = self.reader.rows(
            f"SELECT {stamp}, m.id, m.session_id FROM message_rows m "
            f"WHERE m.id IN (SELECT value FROM json_each(?)) AND {where.sql}",
            [json.dumps(ids), *where.values],
        )
        return [
            Candidate(moment_of(stamp), as_int(key), text_of(session_id), source.is_certain)
            for stamp, key, session_id in rows
        ], reached


def moment_of(stamp: object) -> float:
    """Return a time for sorting; a row without one is the oldest."""
    moment = as_time(stamp)
    return float("-inf") if moment is None else moment
