"""Search: candidates from Hermes' own index, checked once against what a person sees, newest first,
cancellable."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import TypeVar

from ..connection.reader import Stopped, chunks
from ..connection.stored_values import as_int
from ..errors import StoreError
from ..messages.chat_message import Hit, HitOrder
from ..progress import quiet
from ..sessions.models import FAR_PAST
from ..wording import _
from .candidates import Candidates
from .coverage import give_up_index
from .rows import StoredRow, edits_file, make_hit, read_rows
from .terms import Term, fold

COUNT_CAP = 1000
_BATCH = 16
"""Most rows that are read and tested before the search is asked again whether to stop."""
_RELEVANT = 2000
"""Hits that are ranked: this many of the newest, or as many as are requested. bm25 over all of them
takes most of a second (1M rows)."""
_LONG_SCAN = 400
"""A scan of more rows shows what it has found so far."""
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
class Search(Candidates):
    """One query on one store: its pages, and the number of its hits.

    Methods raise StoreError if the store cannot be read, and QueryInterruptedError if
    `Reader.interrupt` was called.
    """

    edits_first: bool = False
    """In a search for a file: first the rows that edit it, then those that mention it."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._files = tuple(map(fold, self.query.files)) if self.edits_first else ()
        self._fault = ""
        """Why the index cannot be used; empty while it can be."""

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
        rows = self._without_broken_index(lambda: self._read(most, after, portion))
        answer = self._answer(rows[:most], is_part=self.is_stopped)
        elapsed_ms = (time.perf_counter() - start) * 1000
        return replace(answer, elapsed_ms=elapsed_ms, more=answer.more or len(rows) > most)

    def _answer(self, rows: Iterable[StoredRow], *, is_part: bool) -> Answer:
        """Return an answer; `is_part` if more rows would have to be looked at for all of it."""
        return Answer(
            tuple(make_hit(row, self.asked.terms) for row in rows),
            engine_of(self.engines),
            complete=not (is_part or self.is_partial),
            notes=tuple(filter(None, dict.fromkeys(self.notes))),
            stopped=is_part,
            more=is_part,
            matchers=self.asked.terms,
        )

    def _read(
        self, most: int, after: Hit | None, portion: Callable[[Answer], object]
    ) -> list[StoredRow]:
        """Return the rows of a page, and one more where there are more."""
        self.begin()
        self.notes.append(self._fault)
        start = after and after.message_id
        index = self.reader.schema.fts
        if self.order == HitOrder.RELEVANCE and self.engines:
            if index is not None and "fts5" in self.engines:
                return self._ranked(index.name, most + 1)
            self.notes.append(_("Newest first: only what the word index finds can be ranked."))
        rows: list[StoredRow] = []
        for page in self._hits(start):
            known = len(rows)
            rows += islice(page, most + 1 - known)
            if len(rows) > most:
                return rows
            if self.scanned > _LONG_SCAN and len(rows) > known:
                portion(self._answer(rows, is_part=True))
        if after is None:
            # What the order of ids hides is put in its place.
            step = self.step
            rows.sort(
                key=lambda row: (
                    not self._is_edit(row),
                    (row.moment or FAR_PAST) * step,
                    row.id * step,
                )
            )
        return rows

    def _hits(self, after: int | None) -> Iterator[Iterator[StoredRow]]:
        """Yield the hits in order, a few at a time: those that edit one of the files that are
        looked for, then the others."""
        passes = [(False, after)]
        if self._files and (after is None or any(map(self._is_edit, self._rows([after])))):
            passes = [(True, after), (False, None)]
        for edits, start in passes:
            for ids in self.in_time(start):
                rows = self._accepted(ids)
                yield (row for row in rows if self._is_edit(row) is edits)

    def _accepted(self, ids: Sequence[int]) -> Iterator[StoredRow]:
        """Yield the rows with the terms, until the search is stopped."""
        for some in chunks(ids, _BATCH):
            if self.stops():
                return
            yield from (row for row in self._rows(some) if row.is_accepted(self.asked))

    def _rows(self, ids: Sequence[int]) -> list[StoredRow]:
        return read_rows(self.reader, ids, in_reasoning=self.asked.in_reasoning)

    def _is_edit(self, row: StoredRow) -> bool:
        """Whether a row edits one of the files that are looked for."""
        return any(edits_file(row.tool_calls, name) for name in self._files)

    def _ranked(self, index: str, most: int) -> list[StoredRow]:
        """Return the first hits, best first by bm25, equally good ones newest first."""
        wanted = max(_RELEVANT, most)
        rows = list(islice(chain.from_iterable(self._hits(None)), wanted))
        if not rows:
            return rows
        if len(rows) == wanted:
            self.notes.append(_("Ranked among the newest {count:,} hits.", count=wanted))
        ranked = self.reader.rows(
            f"SELECT rowid FROM {index} WHERE {index} MATCH ? AND rowid >= ? ORDER BY rank",
            [self.asked.match, min(row.id for row in rows)],
        )
        ranks = {as_int(key): rank for rank, (key,) in enumerate(ranked)}
        rows.sort(key=lambda row: (not self._is_edit(row), ranks.get(row.id, len(ranks))))
        return rows[:most]

    def _without_broken_index(self, work: Callable[[], _T]) -> _T:
        """Do some work; if the index is at fault, do it again without: the rows themselves are
        still there."""
        try:
            return work()
        except StoreError as error:
            self._fault = give_up_index(self.reader, error)
            if not self._fault:
                raise
            return work()

    # Counting

    @property
    def counts_quickly(self) -> bool:
        """Whether the index alone can count nearly all hits; asked after a page."""
        return self.engines == {"fts5"} and any(each.is_certain for each in self.sources)

    def count(self, cap: int = COUNT_CAP) -> Total:
        """Count the hits, without making snippets; `cap` is where to stop, 0 counts them all."""
        most = cap or _ENDLESS
        sessions = self._without_broken_index(lambda: list(islice(self._sessions(), most + 1)))
        at_least = len(sessions) > most or self.is_stopped or self.is_partial
        return Total(min(len(sessions), most), at_least, frozenset(sessions[:most]))

    def _sessions(self) -> Iterator[str]:
        """Yield the session of each hit."""
        self.begin()
        for page in self.pages():
            yield from (each.session_id for each in page if not each.needs_check)
            others = [each.at * self.step for each in page if each.needs_check]
            yield from (row.session_id for row in self._accepted(others))
