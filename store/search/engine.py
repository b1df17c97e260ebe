"""Search: candidates from Hermes' own index, checked once against what a person sees, newest first,
cancellable."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from ..connection.reader import Reader, Stopped, chunks
from ..connection.stored_values import as_int
from ..errors import StoreError
from ..messages.chat_message import Hit, HitOrder
from ..progress import TellShare, never, quiet
from ..wording import _
from .candidates import Candidates, moment_of
from .coverage import damage_of, is_index_at_fault, remedy
from .query import Query, as_looked_for
from .rows import StoredRow, edits_file, make_hit, read_rows
from .scope import Scope
from .terms import Term, fold

COUNT_CAP = 1000
_BATCH = 64
"""Rows that are read at a time, at most: two pages of the screen."""
_RELEVANT = 2000
"""Hits that are ranked: this many of the newest, or as many as are requested. bm25 over all of them
takes most of a second (1M rows)."""
_ENDLESS = 2**62

_T = TypeVar("_T")


@dataclass(frozen=True)
class Answer:
    """What a search found, and what it did not cover."""

    hits: tuple[Hit, ...] = ()
    engine: str = "none"
    """`fts5`, `trigram`, `scan`, `mixed` or `none`."""
    complete: bool = True
    """False when rows that may be hits were not checked: the search was stopped, or too many are in
    no index."""
    elapsed_ms: float = 0.0
    notes: tuple[str, ...] = ()
    stopped: bool = False
    """The search was stopped before the page was full."""
    more: bool = False
    """There may be further hits after the last one."""
    matchers: tuple[Term, ...] = ()
    """The terms, to highlight them elsewhere."""

    @property
    def total(self) -> int | None:
        """The number of all hits, if these begin with the first one; None where there may be
        more."""
        return len(self.hits) if self.complete and not self.more else None


@dataclass(frozen=True, slots=True)
class Total:
    """How many hits there are."""

    count: int
    at_least: bool
    """There may be more: counting reached the cap, or was stopped."""
    sessions: frozenset[str] = frozenset()
    """The sessions of the counted hits."""


def engine_of(engines: Iterable[str]) -> str:
    """Return the engine of an answer that these took part in."""
    used = {*engines} - {"none"}
    return "mixed" if len(used) > 1 else next(iter(used), "none")


def until(stopped: Stopped, seconds: float) -> Stopped:
    """Return a function that tells whether another one says so, or so many seconds have gone by."""
    deadline = time.monotonic() + seconds
    return lambda: stopped() or time.monotonic() > deadline


@dataclass(eq=False)
class Search:
    """One query on one store: its pages, and the number of its hits.

    Methods raise StoreError if the store cannot be read, and QueryInterruptedError if
    `Reader.interrupt` was called.
    """

    reader: Reader
    """Open; used by this thread alone."""
    query: Query
    scope: Scope
    """Which rows may be hits, the query's filters included."""
    order: HitOrder = HitOrder.NEWEST
    prefix_last: bool = False
    """The last word is still being typed."""
    edits_first: bool = False
    """In a search for a file: first the rows that edit it, then those that mention it."""
    stopped: Stopped = never
    """Called between statements; True stops the search."""
    progress: TellShare = quiet
    """Called during a scan with the share of the rows that has been scanned, from 0 to 1."""

    def __post_init__(self) -> None:
        self._asked = as_looked_for(self.query, prefix_last=self.prefix_last)
        self._files = tuple(map(fold, self.query.files)) if self.edits_first else ()
        self._notes: list[str] = []

    def _candidates(self) -> Candidates:
        return Candidates(
            self.reader,
            self._asked,
            self.scope.condition(),
            oldest=self.order == HitOrder.OLDEST,
            stopped=self.stopped,
            progress=self.progress,
        )

    # Pages

    def page(
        self,
        limit: int = 50,
        *,
        after: Hit | None = None,
        portion: Callable[[Answer], object] = quiet,
    ) -> Answer:
        """Return the next hits, at most so many (0 for all), after one.

        `portion` is called with what is found so far each time a scan has found more; never for the
        order of relevance.
        """
        start = time.perf_counter()
        most = limit or _ENDLESS
        candidates, rows = self._without_broken_index(lambda: self._read(most, after, portion))
        notes = [each.note for each in candidates.sources]
        is_full = len(rows) > most
        return Answer(
            self._shown(rows[:most]),
            engine_of(candidates.engines),
            complete=candidates.is_complete,
            elapsed_ms=(time.perf_counter() - start) * 1000,
            notes=tuple(filter(None, dict.fromkeys([*notes, *self._notes]))),
            stopped=candidates.is_stopped,
            more=is_full or candidates.is_stopped,
            matchers=self._asked.terms,
        )

    def _shown(self, rows: Sequence[StoredRow]) -> tuple[Hit, ...]:
        return tuple(make_hit(row, self._asked.terms) for row in rows)

    def _read(
        self, most: int, after: Hit | None, portion: Callable[[Answer], object]
    ) -> tuple[Candidates, list[StoredRow]]:
        """Return the rows of a page, and one more where there are more."""
        candidates = self._candidates()
        engines = candidates.engines
        is_ranked = self.order == HitOrder.RELEVANCE and "fts5" in engines
        if self.order == HitOrder.RELEVANCE and engines and not is_ranked:
            note = _("Newest first: only what the word index finds can be ranked.")
            self._notes.append(note)
        wanted = max(_RELEVANT, most + 1) if is_ranked else most + 1
        start = after.message_id if after is not None else None
        rows: list[StoredRow] = []
        reported = 0
        for row in self._hits(candidates, start, min(wanted, _BATCH)):
            if row is not None:
                rows.append(row)
            elif candidates.is_long and not is_ranked and reported < len(rows):
                reported = len(rows)
                so_far = Answer(
                    self._shown(rows),
                    "scan",
                    complete=False,
                    stopped=True,
                    more=True,
                    matchers=self._asked.terms,
                )
                portion(so_far)
            if len(rows) == wanted:
                break
        if is_ranked:
            return candidates, self._ranked(rows, wanted)[: most + 1]
        if after is None and len(rows) < wanted:
            # What the order of ids hides is put in its place.
            is_newest = self.order != HitOrder.OLDEST
            rows.sort(key=lambda row: (moment_of(row.moment), row.id), reverse=is_newest)
            rows.sort(key=self._is_edit, reverse=True)
        return candidates, rows

    def _hits(
        self, candidates: Candidates, after: int | None, batch: int
    ) -> Iterator[StoredRow | None]:
        """Yield the hits in order, and None between two pages: those that edit one of the files
        that are looked for, then the others."""
        passes = [(False, after)]
        if self._files and (after is None or any(map(self._is_edit, self._rows([after])))):
            passes = [(True, after), (False, None)]
        for edits, start in passes:
            for ids in candidates.in_time(start):
                for row in self._accepted(candidates, ids, batch):
                    if self._is_edit(row) is edits:
                        yield row
                if candidates.is_stopped:
                    return
                yield None

    def _accepted(
        self, candidates: Candidates, ids: Sequence[int], batch: int = _BATCH
    ) -> Iterator[StoredRow]:
        """Yield the rows with the terms, until the search is stopped."""
        for some in chunks(ids, batch):
            if candidates.stops():
                return
            yield from (row for row in self._rows(some) if row.is_accepted(self._asked))

    def _rows(self, ids: Sequence[int]) -> list[StoredRow]:
        return read_rows(self.reader, ids, in_reasoning=self._asked.in_reasoning)

    def _is_edit(self, row: StoredRow) -> bool:
        """Whether a row edits one of the files that are looked for."""
        return any(edits_file(row.tool_calls, name) for name in self._files)

    def _ranked(self, rows: list[StoredRow], most: int) -> list[StoredRow]:
        """Return hits best first by bm25, equally good ones newest first."""
        if len(rows) == most:
            note = _("Ranked among the newest {count:,} hits.", count=len(rows))
            self._notes.append(note)
        index = self.reader.schema.fts
        if index is None or not rows:
            return rows
        ranked = self.reader.rows(
            f"SELECT rowid FROM {index.name} WHERE {index.name} MATCH ? AND rowid >= ? ORDER BY rank",
            [self._asked.match, min(row.id for row in rows)],
        )
        ranks = {as_int(key): rank for rank, (key,) in enumerate(ranked)}
        return sorted(rows, key=lambda row: (not self._is_edit(row), ranks.get(row.id, len(ranks))))

    def _without_broken_index(self, work: Callable[[], _T]) -> _T:
        """Do some work; if the index is at fault, do it again without: the rows themselves are
        still there."""
        reader = self.reader
        try:
            return work()
        except StoreError as error:
            if not is_index_at_fault(reader, error):
                raise
            reader.index_remedy = remedy(reader.schema, damage_of(reader.schema, error))
            reader.schema = reader.schema.without_search()
            self._notes.clear()  # of what was found with the index
            self._notes.append(
                _(
                    "Hermes' search index cannot be used ({reason}): {remedy}.",
                    reason=error.sentence,
                    remedy=reader.index_remedy,
                )
            )
            return work()

    # Counting

    @property
    def counts_quickly(self) -> bool:
        """Whether the index alone can count nearly all hits."""
        candidates = self._candidates()
        is_certain = any(each.is_certain for each in candidates.sources)
        return is_certain and candidates.engines == {"fts5"}

    def count(self, cap: int = COUNT_CAP) -> Total:
        """Count the hits, without making snippets; `cap` is where to stop, 0 counts them all."""
        return self._without_broken_index(lambda: self._count(cap or _ENDLESS))

    def _count(self, most: int) -> Total:
        candidates = self._candidates()
        sessions = list(islice(self._sessions(candidates), most + 1))
        at_least = len(sessions) > most or not candidates.is_complete
        return Total(len(sessions[:most]), at_least, frozenset(sessions[:most]))

    def _sessions(self, candidates: Candidates) -> Iterator[str]:
        """Yield the session of each hit."""
        for page in candidates.pages():
            yield from (each.session_id for each in page if each.is_certain)
            others = [each.id for each in page if not each.is_certain]
            yield from (row.session_id for row in self._accepted(candidates, others))
