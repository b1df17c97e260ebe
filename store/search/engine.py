"""Search: candidates from Hermes' own index, checked once against what a person sees, newest first,
cancellable."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeVar

from ..connection.reader import Reader, chunks
from ..connection.schema import FtsIndex
from ..connection.stored_values import as_int
from ..errors import (
    StoreError,
)
from ..messages.chat_message import Hit
from ..text import text_of
from ..wording import _
from .conversation_table import Condition, all_of
from .coverage import damage_of, gaps_of, is_of_index, remedy
from .fold import fold
from .loop import Loop
from .message_rows import SHOWN, StoredRow, edits_file, read_rows, rows_sql
from .query import Query
from .scope import Scope, read_scope
from .snippets import make_snippet
from .sources import CandidateSource, SearchPlan, read_edges
from .spellings import Spellings
from .terms import CompiledQuery, Matcher, compile_query
from .time_order import block_size, in_time, moment_of

COUNT_CAP = 1000
_BATCH = 64
"""Rows that are read at a time, at most: two pages of the screen."""
_COUNTED, _COUNT_BATCH = 100_000, 500
"""Rows of an index, and rows that are read, at a time while counting."""
_RELEVANT = 2000
"""Hits that are ranked: this many of the newest, or as many as are requested. bm25 over all of them
takes most of a second (1M rows)."""
_ENDLESS = 2**62

_T = TypeVar("_T")


@dataclass(frozen=True)
class Answer:
    """What a search found, and what it did not cover."""

    query: Query
    hits: tuple[Hit, ...] = ()
    engine: str = "none"
    """`fts5`, `trigram`, `scan`, `mixed` or `none`."""
    complete: bool = True
    """False when rows that may be hits were not checked: the search was stopped, or too many are in
    no index."""
    total: int | None = 0
    """The number of all hits; None when not counted."""
    elapsed_ms: float = 0.0
    notes: tuple[str, ...] = ()
    stopped: bool = False
    """The search was stopped before the page was full."""
    more: bool = False
    """There may be further hits after the last one."""
    matchers: tuple[Matcher, ...] = field(default=(), repr=False)
    """The terms, to highlight them elsewhere."""


@dataclass(frozen=True, slots=True)
class Total:
    """How many hits there are."""

    count: int
    at_least: bool
    """Counting stopped at the cap, or because it was stopped."""
    sessions: frozenset[str] = field(default=frozenset(), compare=False, repr=False)
    """The sessions of the counted hits."""


def until(stopped: Callable[[], bool], seconds: float) -> Callable[[], bool]:
    """Return a function that tells whether another one says so, or so many seconds have gone by."""
    deadline = time.monotonic() + seconds
    return lambda: stopped() or time.monotonic() > deadline


def count_matches(
    reader: Reader,
    index: FtsIndex,
    match: str,
    scope: Condition,
    most: int,
    stopped: Callable[[], bool],
) -> Total:
    """Count the rows in a scope that an index finds for MATCH, in portions."""
    where = all_of([Condition(SHOWN), scope])
    statement = (
        f"SELECT CASE WHEN {where.sql} THEN m.session_id END, count(*), min(m.id) FROM (SELECT rowid FROM "
        f"{index.name} WHERE {index.name} MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?) f "
        f"CROSS JOIN {rows_sql(reader.schema)} ON m.id = f.rowid GROUP BY 1"
    )
    sessions: set[str] = set()
    number, last, portion = 0, _ENDLESS, min(most + 1, _COUNTED)
    while number <= most:
        if stopped():
            return Total(number, True, frozenset(sessions))
        rows = reader.rows(statement, [*where.values, match, last, portion])
        counts = {text_of(row[0]): as_int(row[1]) for row in rows if row[0] is not None}
        sessions.update(counts)
        number += sum(counts.values())
        if sum(as_int(row[1]) for row in rows) < portion:
            break
        last = min(as_int(row[2]) for row in rows)
    return Total(min(number, most), number > most, frozenset(sessions))


class Search:
    """One query on one store: its pages, and the number of its hits.

    Args:
        reader: Open; used by this thread alone.
        query: Parsed.
        scope: Which rows may be hits, the query's filters included; None applies those to the whole
            store.
        sort: `newest`, `relevance` or `oldest`.
        prefix_last: The last word is still being typed.
        edits: In a search for a file: only rows that edit it (True), or only those that mention it
            (False).
        stopped: Called between statements; True stops the search.
        progress: Called during a scan with the share of the rows that has been scanned, from 0 to
            1.

    Methods raise StoreError if the store cannot be read, and QueryInterruptedError if
    `Reader.interrupt` was called.
    """

    def __init__(
        self,
        reader: Reader,
        query: Query,
        scope: Scope | None = None,
        *,
        sort: str = "newest",
        prefix_last: bool = False,
        edits: bool | None = None,
        stopped: Callable[[], bool] = lambda: False,
        progress: Callable[[float], None] = lambda share: None,
    ) -> None:
        self._reader, self.query, self._sort, self._edits = reader, query, sort, edits
        self._stopped, self._progress = stopped, progress
        self.compiled: CompiledQuery = compile_query(query, prefix_last=prefix_last)
        self._scope = (read_scope(reader, query) if scope is None else scope).condition()
        self._files = tuple(map(fold, query.files))
        self._block = 0
        """Candidates that are brought into the order of time together; 0 where ids follow time."""
        self._notes: list[str] = []

    # Pages

    def page(
        self,
        limit: int = 50,
        *,
        after: Hit | None = None,
        portion: Callable[[tuple[Hit, ...]], None] = lambda hits: None,
    ) -> Answer:
        """Return the next hits, at most so many (0 for all), behind one.

        `portion` is called with all hits so far each time a scan has found more; never for the
        order of relevance.
        """
        start = time.perf_counter()
        if self.query.is_empty:
            return Answer(self.query)
        most = limit if limit > 0 else _ENDLESS
        plan, loop, rows, more = self._without_broken_index(
            lambda: self._collect(most, after, portion)
        )
        hits = tuple(map(self._to_hit, rows))
        # A full page from the newest rows needs no index, and ends before one is named.
        engines = plan.engines or ({"scan"} if hits else {"none"})
        is_complete = not (loop.incomplete or plan.is_partial)
        return Answer(
            query=self.query,
            hits=hits,
            engine=next(iter(engines)) if len(engines) == 1 else "mixed",
            complete=is_complete,
            total=len(hits) if is_complete and not more and after is None else None,
            elapsed_ms=(time.perf_counter() - start) * 1000,
            notes=tuple(dict.fromkeys([*self._notes, *plan.notes])),
            stopped=loop.incomplete,
            more=more or loop.incomplete,
            matchers=tuple(self.compiled.matchers),
        )

    def _collect(
        self, most: int, after: Hit | None, portion: Callable[[tuple[Hit, ...]], None]
    ) -> tuple[SearchPlan, Loop, list[StoredRow], bool]:
        edges = read_edges(self._reader)
        plan = SearchPlan(self._reader, self.compiled, edges, oldest=self._sort == "oldest")
        self._block = block_size(self._reader, edges, oldest=self._sort == "oldest")
        loop = self._loop(plan.sources, edges)
        if self._sort == "relevance" and "fts5" in plan.engines:
            pool = list(islice(filter(None, self._hits(loop, None)), max(_RELEVANT, most + 1)))
            return plan, loop, self._ranked(plan, pool, most)[:most], len(pool) > most
        rows: list[StoredRow] = []
        reported = 0
        for row in self._hits(loop, after, min(most + 1, _BATCH)):
            if row is not None:
                rows.append(row)
                if len(rows) > most:
                    break
            elif loop.is_long and reported < len(rows):
                reported = len(rows)
                portion(tuple(map(self._to_hit, rows)))
        if (
            after is None and len(rows) <= most
        ):  # all hits: what neither end of the store shows is put in its place
            rows.sort(key=moment_of, reverse=self._sort != "oldest")
        return plan, loop, rows[:most], len(rows) > most

    def _loop(self, sources: Sequence[CandidateSource], edges: tuple[int, int]) -> Loop:
        scope = self._scope
        if self._edits:
            scope = all_of([scope, Condition("COALESCE(m.tool_calls, '') <> ''")])
        return Loop(
            self._reader,
            sources,
            scope,
            edges,
            self._sort == "oldest",
            self._stopped,
            self._progress,
        )

    def _hits(
        self, loop: Loop, after: Hit | None, batch: int = _BATCH
    ) -> Iterator[StoredRow | None]:
        """Yield the hits in order, and None between two pages."""
        last = after.message_id if after is not None else None
        pages = (
            in_time(self._reader, loop.pages(), self._block, last, oldest=self._sort == "oldest")
            if self._block
            else loop.pages(last)
        )
        for ids in pages:
            for number, chunk in enumerate(chunks(ids, batch)):
                if number and self._stopped():
                    loop.incomplete = True
                    return
                rows = read_rows(self._reader, chunk, in_reasoning=self.compiled.in_reasoning)
                yield from filter(self._is_hit, rows)
            yield None

    def _is_hit(self, row: StoredRow) -> bool:
        """Whether a row has the terms, and edits a file where that is asked for."""
        if self._edits is not None:
            is_edit = any(edits_file(row.text.tool_calls, name) for name in self._files)
            if is_edit is not self._edits:
                return False
        return row.text.is_accepted(self.compiled)

    def _to_hit(self, row: StoredRow) -> Hit:
        snippet, ranges = make_snippet(
            row.text, self.compiled.matchers, is_result=row.role == "tool"
        )
        return Hit(row.id, row.session_id, row.role, row.moment, snippet, ranges, row.state)

    def _ranked(self, plan: SearchPlan, pool: list[StoredRow], most: int) -> list[StoredRow]:
        """Return hits best first by bm25, equally good ones newest first."""
        index = self._reader.schema.fts
        if index is None or not pool:
            return pool
        if len(pool) >= max(_RELEVANT, most + 1):
            plan.notes.append(_("Ranked among the newest {count:,} hits.").format(count=len(pool)))
        ranked = self._reader.rows(
            f"SELECT rowid FROM {index.name} WHERE {index.name} MATCH ? AND rowid >= ? ORDER BY rank",
            [self.compiled.match, min(row.id for row in pool)],
        )
        places = {as_int(key): place for place, (key,) in enumerate(ranked)}
        return sorted(pool, key=lambda row: places.get(row.id, len(places)))

    # Without an index that cannot be read

    def _without_broken_index(self, work: Callable[[], _T]) -> _T:
        """Do some work; if the index is at fault, do it again without: the rows themselves are
        still there."""
        try:
            return work()
        except StoreError as error:
            reader = self._reader
            if not is_of_index(reader, error):
                raise
            reader.index_remedy = remedy(reader.schema, damage_of(reader.schema, error))
            reader.schema = reader.schema.without_search()
            note = _("Hermes' search index cannot be used ({reason}): {remedy}.")
            self._notes.append(note.format(reason=error.sentence, remedy=reader.index_remedy))
            return work()

    # Counting

    @property
    def counts_quickly(self) -> bool:
        """Whether the index alone can count the hits."""
        schema = self._reader.schema
        if schema.fts is None or schema.note("fts_stale") is not None or not self.compiled.is_plain:
            return False
        gaps = gaps_of(self._reader, schema.fts, read_edges(self._reader)[1])
        return not gaps.missing and not gaps.truncated and self._edits is None

    def count(self, cap: int = COUNT_CAP) -> Total:
        """Count the hits, without making snippets; `cap` is where to stop, 0 counts them all."""
        if self.query.is_empty:
            return Total(0, False)
        most = cap if cap > 0 else _ENDLESS

        def work() -> Total:
            return (
                self._count_by_index(most) if self.counts_quickly else self._count_by_reading(most)
            )

        return self._without_broken_index(work)

    def _count_by_reading(self, most: int) -> Total:
        edges = read_edges(self._reader)
        plan = SearchPlan(self._reader, self.compiled, edges, oldest=self._sort == "oldest")
        loop = self._loop(plan.sources, edges)
        sessions = [
            row.session_id
            for row in islice(filter(None, self._hits(loop, None, _COUNT_BATCH)), most + 1)
        ]
        at_least = len(sessions) > most or loop.incomplete or plan.is_partial
        return Total(min(len(sessions), most), at_least, frozenset(sessions))

    def _count_by_index(self, most: int) -> Total:
        """Count what the word index finds, and add the rows in which a word follows the escape of a
        line end."""
        reader, index = self._reader, self._reader.schema.fts
        assert index is not None
        spellings = Spellings(reader, index, self.compiled.groups[0])
        total = count_matches(reader, index, spellings.plain, self._scope, most, self._stopped)
        if total.at_least:
            return total
        match, condition = spellings.joined()
        loop = self._loop([CandidateSource(condition, index, match)], read_edges(reader))
        known = f"SELECT 1 FROM {index.name} WHERE {index.name} MATCH ? AND rowid = ?"
        joined = [
            row.session_id
            for row in islice(filter(None, self._hits(loop, None, _COUNT_BATCH)), most + 1)
            if not reader.rows(known, [spellings.plain, row.id])
        ]
        number = total.count + len(joined)
        at_least = number > most or loop.incomplete
        return Total(min(number, most), at_least, total.sessions | frozenset(joined))
