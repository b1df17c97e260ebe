"""The candidates of a search: rows that may have its terms, page by page, newest or oldest first.

They come from sources: Hermes' word index, its trigram index, and the rows themselves where an
index lacks some. The sources are merged, and each is asked for its next ids when the search has
come to them. Every statement is short and fetched whole: no cursor stays open between two of them,
and a newer query can stop the search anywhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import merge
from typing import NamedTuple

from ..connection.reader import Reader, Stopped
from ..connection.schema import FtsIndex
from ..connection.stored_values import FIRST_TIME, as_int, as_time
from ..messages.chat_message import HitOrder
from ..progress import TellShare, never, quiet
from ..sessions.catalog import UNREAD, Catalog, read_catalog
from ..sessions.first_page import ids_follow_time
from ..sessions.models import FAR_PAST, View
from ..sessions.relations import ids_of
from ..text import text_of
from ..wording import _, ngettext
from .conditions import (
    EVERYTHING,
    HAS_REASONING,
    Condition,
    Spellings,
    all_of,
    may_be_joined,
    may_have,
)
from .coverage import IndexGaps, gaps_of
from .query import Query, as_looked_for
from .scope import compile_filters, roots_in
from .terms import Group, Span, plain_match

_NEWEST = 350
"""Rows, with the other words of a query, that are read before an index is queried for a prefix: they
fill a page where one word in ten begins so."""
_MOST_TRUNCATED = 1000
"""Rows in the index only in part that one search reads whole: tens of megabytes, half a second."""
_FIRST, _MOST = 64, 2000
"""Ids from an index, or rows of a scan, that one statement looks at: at first, and at most."""
_SMALL_BLOCK, _LARGE_BLOCK = 2_000, 20_000
"""Candidates that are ordered by time together: where neighbours changed places, after an import."""


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
    """The index alone decides: the texts of its rows need no check."""


ALL_ROWS = Condition("SELECT id FROM messages WHERE id")


def _found_by(index: FtsIndex, match: str) -> Condition:
    """Return a SELECT of the ids that an index finds for MATCH."""
    sql = f"SELECT rowid FROM {index.name} WHERE {index.name} MATCH ? AND rowid"
    return Condition(sql, (match,))


def _scan(where: Condition, between: Span | None = None) -> Source:
    return Source(ALL_ROWS, where, between, "scan")


class Candidate(NamedTuple):
    """A row that may be a hit, or a mark.

    A source yields a mark before it runs a statement. The mark stands where the statement would
    begin, so the statement is run only when the merged sources have come there.
    """

    at: int
    """Its id, times the step of the search, so that it grows."""
    is_row: bool = False
    """Whether it is a row; a mark sorts before the row of the same place."""
    needs_check: bool = False
    """Whether its text decides, not the index alone."""
    session_id: str = ""
    moment: float = 0.0
    """When it was written, if that is asked for."""


@dataclass(eq=False)
class Candidates:
    """The rows that may have the terms of a query and pass its filters, page by page."""

    reader: Reader
    """Open; used by this thread alone."""
    query: Query
    now: float
    """Unix seconds, for dates in filters."""
    catalog: Catalog = UNREAD
    """Of the store, as far as it is known; all of it is read if filters test conversations."""
    view: View = View.ALL
    """The view to search."""
    order: HitOrder = HitOrder.NEWEST
    prefix_last: bool = False
    """The last word is still being typed."""
    stopped: Stopped = never
    """Called between statements; True stops the search."""
    progress: TellShare = quiet
    """Called during a scan with the share of the rows that has been scanned, from 0 to 1."""

    def __post_init__(self) -> None:
        self.asked = as_looked_for(self.query, prefix_last=self.prefix_last)
        self.step, self._direction = (1, "ASC") if self.order == HitOrder.OLDEST else (-1, "DESC")
        self.conditions = compile_filters(self.query, self.now, self.view)
        rows = [Condition("m.id = c.id AND NOT m.hidden"), self.conditions.rows]
        self.roots: frozenset[str] | None = None
        """Of the conversations that the filters leave; None for all."""
        if self.conditions.needs_catalog:
            if not self.catalog.exact:
                self.catalog = read_catalog(self.reader, self.now)
            self.roots = frozenset(roots_in(self.reader, self.conditions, self.catalog))
            chosen = map(self.catalog.conversation, self.roots)
            inside = "m.session_id IN (SELECT value FROM json_each(?))"
            rows.append(Condition(inside, (json.dumps(ids_of(chosen)),)))
        self._where = all_of(rows)

    def begin(self) -> None:
        """Ask where the rows begin and end, and what the indexes have of them; what is kept of
        earlier searches is as of now."""
        self.reader.drop_outdated()
        # Two subqueries are two index seeks; min and max in one SELECT would read the whole table.
        sql = "SELECT (SELECT min(id) FROM messages), (SELECT max(id) FROM messages)"
        low, high = map(as_int, self.reader.rows(sql)[0])
        self._ends = (low, high) if self.step > 0 else (high, low)
        self.notes: list[str] = []
        """Sentences on what is not covered by an index."""
        self.is_partial = False
        """Some rows are in no source: there are too many of them."""
        self.sources = list(self._sources())
        self.engines = {each.engine for each in self.sources} - {""}
        self.scanned = 0
        self.is_stopped = False

    def stops(self) -> bool:
        """Whether the search is to end now, before its end."""
        self.is_stopped = self.is_stopped or self.stopped()
        return self.is_stopped

    def pages(self, after: int | None = None, least: int = 0) -> Iterator[list[Candidate]]:
        """Yield candidates after an id, each once and in the order of ids; at least so many
        together, with their times.

        Pages may be empty: between two of them nothing is open, and the caller may do anything.
        """
        # The time is stored after long texts: it is read only where it is needed.
        stamp_sql = "m.timestamp" if least else "0"
        page: dict[int, Candidate] = {}
        for each in merge(*(self._read_source(one, after, stamp_sql) for one in self.sources)):
            if each.is_row:
                page.setdefault(each.at, each)
            elif self.stops():
                break
            elif len(page) >= least:
                yield list(page.values())
                page = {}
        yield list(page.values())

    def _read_source(
        self, source: Source, after: int | None, stamp_sql: str
    ) -> Iterator[Candidate]:
        """Yield the candidates of a source, with a mark before each statement."""
        step, size = self.step, _FIRST
        first, last = (end * step for end in source.between or self._ends)
        at = first if after is None else max(first, after * step + 1)
        where = all_of([self._where, source.where])
        sql = (
            f"WITH c(id) AS ({source.ids.sql} BETWEEN ? AND ? ORDER BY 1 {self._direction} LIMIT ?) "
            f"SELECT c.id, m.id IS NOT NULL, m.session_id, {stamp_sql} FROM c "
            f"LEFT JOIN message_rows m ON {where.sql} ORDER BY 1 {self._direction}"
        )
        while at <= last:
            yield Candidate(at)
            between = sorted((at * step, last * step))
            rows = self.reader.rows(sql, [*source.ids.values, *between, size, *where.values])
            at = as_int(rows[-1][0]) * step + 1 if len(rows) == size else last + 1
            size = min(size * 2, _MOST)
            if source.ids is ALL_ROWS:
                self.scanned += len(rows)
                start, end = self._ends
                self.progress((at - start * step) / (abs(end - start) + 1))
            for key, is_in, session_id, stamp in rows:
                if is_in:
                    yield Candidate(
                        as_int(key) * step,
                        is_row=True,
                        needs_check=not source.is_certain,
                        session_id=text_of(session_id),
                        moment=as_time(stamp) or FAR_PAST,
                    )

    def in_time(self, after: int | None = None) -> Iterator[list[int]]:
        """Yield the ids of candidates in the order of time, after one.

        Hermes assigns ids in the order of writing. But imports (0.19, 0.22), a restore and a clock
        that is set back give new ids to old messages, and a compression writes messages again with
        their old times. There, some thousand candidates are ordered together.
        """
        block = self._block_size()
        skip_until = after if block else None
        for page in self.pages(None if block else after, block):
            page.sort(key=lambda each: (each.moment * self.step, each.at))
            ids = [each.at * self.step for each in page]
            if skip_until in ids:
                ids, skip_until = ids[ids.index(skip_until) + 1 :], None
            if skip_until is None:
                yield ids

    def _block_size(self) -> int:
        """Return how many candidates are ordered by time together, 0 where ids follow time; asked
        once while the store does not change, so that all pages agree."""
        known, key = self.reader.kept, ("block", self.step)
        if key not in known:
            # Is a row near the end at which the search begins older than the one before?
            first = self._ends[0]
            stamp_sql = f"COALESCE(m.timestamp, {FIRST_TIME})"
            late = self.reader.rows(
                f"SELECT 1 FROM (SELECT {stamp_sql} AS here, lag({stamp_sql}) OVER (ORDER BY m.id) "
                "AS before FROM message_rows m WHERE m.id BETWEEN ? AND ?) WHERE here < before LIMIT 1",
                sorted((first, first + _SMALL_BLOCK * self.step)),
            )
            small = _SMALL_BLOCK if late else 0
            known[key] = small if ids_follow_time(self.reader) else _LARGE_BLOCK
        return int(known[key])

    # Sources

    def _sources(self) -> Iterator[Source]:
        """Yield where the candidates come from."""
        if self.asked.in_reasoning:
            self.notes.append(_("Reasoning is in no index: it is scanned."))
            yield _scan(Condition(HAS_REASONING))
        elif self.asked.filters and not self.asked.groups:
            yield _scan(EVERYTHING)
        else:
            for group in self.asked.groups:
                yield from self._of_group(group)

    def _of_group(self, group: Group) -> Iterator[Source]:
        """Yield the sources for one group of terms: of the index that fits it, and of what that
        index does not hold."""
        reader, schema, where = self.reader, self.reader.schema, may_have(group)
        words, trigram = schema.fts, schema.trigram
        if words is None or schema.is_index_stale:
            self.notes.append(
                _("Hermes has marked the search index as stale: the rows themselves are scanned.")
                if schema.is_index_stale
                else _("There is no search index to use: the rows themselves are scanned.")
            )
            yield _scan(where)
            return
        substrings = ""
        # In files that Hermes 0.20 and later has made, it leaves out the output of tools.
        if trigram is not None and "where" not in trigram.definition.lower():
            substrings = Spellings(reader, trigram).substrings(group)
        if trigram is not None and substrings:
            yield Source(_found_by(trigram, substrings), where, engine="trigram")
            yield from self._of_gaps(gaps_of(reader, trigram, max(self._ends)), where)
            # Of messages with images it has none: it stops at the NUL ahead. In the word index each
            # begins with the word `json`; letters beyond ASCII are in escapes there.
            if any(each.spelling.isascii() for each in group if not each.words):
                yield Source(_found_by(words, '^ "json"'), where)
            if escapes := Spellings(reader, words).escaped(group):
                yield Source(_found_by(words, escapes))
        elif not any(each.words for each in group):
            yield _scan(where)
            return
        gaps = gaps_of(reader, words, max(self._ends))
        if not substrings:
            # The cut of a row may have made a word of a part of one.
            is_certain = self.asked.is_plain and not gaps.truncated
            yield from self._of_words(words, group, is_certain=is_certain)
        yield from self._of_gaps(gaps, where)

    def _of_words(self, index: FtsIndex, group: Group, *, is_certain: bool) -> Iterator[Source]:
        """Yield the sources of rows with words.

        Of a prefix, FTS5 may merge a good part of the index before the first row. So the first rows
        with the other words are read before, or the newest rows if there are none: they may fill
        the page.
        """
        ends, spellings = self._ends, Spellings(self.reader, index)
        literal = may_have([each for each in group if not each.is_plain])
        rest = ends
        if any(each.is_prefix for each in group):
            others = spellings.loose(group)
            ids = _found_by(index, others) if others else ALL_ROWS
            sql = f"{ids.sql} BETWEEN ? AND ? ORDER BY 1 {self._direction} LIMIT 1 OFFSET {_NEWEST}"
            found = self.reader.value(sql, [*ids.values, *sorted(ends)])
            middle = ends[1] if found is None else as_int(found)
            yield Source(ids, literal if others else may_have(group), (ends[0], middle), "fts5")
            rest = middle + self.step, ends[1]
        yield Source(_found_by(index, plain_match(group)), literal, rest, "fts5", is_certain)
        yield Source(_found_by(index, spellings.joined(group)), may_be_joined(group), rest, "fts5")

    def _of_gaps(self, gaps: IndexGaps, where: Condition) -> Iterator[Source]:
        """Yield the sources of the rows that an index lacks, and of those it holds only a part
        of."""
        if gaps.missing:
            note = ngettext(
                "Hermes' index lacks 1 message: it is scanned.",
                "Hermes' index lacks {count:,} messages: they are scanned.",
                gaps.missing,
            )
            self.notes.append(note)
            between = (gaps.first, gaps.last) if self.step > 0 else (gaps.last, gaps.first)
            yield _scan(all_of([Condition(gaps.sql), where]), between)
        read = gaps.truncated[-_MOST_TRUNCATED:]
        if len(gaps.truncated) > len(read):
            self.notes.append(
                _(
                    "Hermes' index has only the beginning of {count:,} messages; {read:,} of them "
                    "were read in full.",
                    count=len(gaps.truncated),
                    read=len(read),
                )
            )
            self.is_partial = True
        if read:
            ids = Condition("SELECT value FROM json_each(?) WHERE value", (json.dumps(read),))
            yield Source(ids, where)
