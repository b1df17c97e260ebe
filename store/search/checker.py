"""Checks candidates: a row is a hit if the scope admits it, Hermes shows it, and it has the terms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import ceil

from ..connection.reader import Reader
from ..connection.stored_values import as_int
from ..wording import _
from .conditions import Scope
from .filters import RowFacts
from .message_rows import SearchCache, StoredRow, read_rows
from .streams import candidates
from .terms import CompiledQuery
from .walk import CandidateCounts, ScannedTo, Walk

_LEAST, _BATCH, _MOST = 8, 32, 512
"""Rows read at a time: at least, at first (a page of the screen), and at most (some 20 ms)."""
_MARGIN = 1.2
"""How many more rows are read than the share of hits so far suggests."""
RELEVANT = 2000
"""Hits that are ranked: this many of the newest, or as many as are requested. bm25 over all of them takes most of a
second (1M rows)."""


@dataclass(frozen=True)
class Checker:
    """Checks rows against the terms, the scope, and what Hermes hides."""

    reader: Reader
    compiled: CompiledQuery
    scope: Scope
    with_texts: bool = True
    """Read the texts even where the index has decided: for snippets."""
    matched: bool = False
    """The candidates are what MATCH returns for the whole query: the texts need no check."""
    cache: SearchCache | None = None
    """Where rows with their texts are kept for the next search."""
    continued: dict[str, bool] = field(default_factory=dict)
    """Sessions that were asked about → whether a compression ended them and another one goes on."""

    @property
    def _is_decided(self) -> bool:
        """Whether the index alone decides; checking its plain words again could only differ on what a letter is."""
        return self.matched or self.compiled.index_decides

    def check(self, ids: Sequence[int], tally: CandidateCounts | None = None) -> list[StoredRow]:
        """Return the rows among these ids that are hits, in the order of the ids; counts them in the tally."""
        scope = self.scope
        needs_texts = self.with_texts or scope.message is not None or not self._is_decided
        if needs_texts and (scope.sessions is not None or scope.roles):
            # The texts are expensive: first find out which rows are admitted at all.
            rows = self._read(ids, with_texts=False)
            ids = [key for key in ids if key in rows and self._admits(rows[key])]
        rows = self._read(ids, with_texts=needs_texts)
        hits: list[StoredRow] = []
        for key in ids:
            row = rows.get(key)
            if row is None or not self._admits(row) or not self._passes(row):
                continue
            text = row.searched
            has_terms = self._is_decided or text is None or text.is_accepted(self.compiled)
            if tally is not None:
                tally.checked += 1
                tally.matched += has_terms
            if has_terms:
                hits.append(row)
        return hits

    def _read(self, ids: Sequence[int], *, with_texts: bool) -> dict[int, StoredRow]:
        in_reasoning = self.compiled.in_reasoning
        return read_rows(self.reader, ids, self.cache, with_texts=with_texts, in_reasoning=in_reasoning)

    def _admits(self, row: StoredRow) -> bool:
        scope = self.scope
        if row.is_hidden or (scope.roles and row.role not in scope.roles):
            return False
        return scope.sessions is None or scope.sessions(row.session_id)

    def _passes(self, row: StoredRow) -> bool:
        """Whether the row passes the filters of the query."""
        test, text = self.scope.message, row.text
        if test is None or text is None:
            return True
        return test(
            RowFacts(
                row.role,
                row.moment,
                row.state,
                text.stored,
                text.tool_name,
                text.tool_calls,
                row.has_reasoning,
                lambda: self._is_continued(row.session_id),
            )
        )

    def _is_continued(self, session_id: str) -> bool:
        """Whether a compression ended a session and another one goes on, so that the model has a summary of it."""
        found = self.continued.get(session_id)
        if found is None:
            schema = self.reader.schema
            reason, ended, parent = (schema.session(name) for name in ("end_reason", "ended_at", "parent_session_id"))
            statement = (
                f"SELECT {reason} = 'compression' AND EXISTS (SELECT 1 FROM sessions c WHERE "
                f"c.parent_session_id = s.id AND c.started_at >= {ended}) FROM sessions s WHERE s.id = ?"
            )
            known = parent != "NULL" and bool(self.reader.value(statement, [session_id]))
            found = self.continued[session_id] = known
        return found

    def hits(self, walk: Walk, ids: Iterator[int] | None = None, *, batch: int = 0) -> Iterator[StoredRow]:
        """Yield the hits of a run, or of other candidates, in order; batches grow while few hits are found in them.

        `batch` is the least rows to read at a time; 0 for as many as the hits still needed suggest.
        """
        waiting: list[int] = []
        needed = walk.tally.needed
        size = batch or (min(needed, _MOST) if needed else _BATCH)
        given = checked = 0
        for message_id in candidates(walk) if ids is None else ids:
            is_marker = isinstance(message_id, ScannedTo)
            if not is_marker:
                waiting.append(message_id)
                most = max(needed - given, batch, _LEAST) if walk.tally.is_certain and needed else size
                if len(waiting) < min(size, most):
                    continue
            hits = self.check(waiting, walk.tally)
            given, checked = given + len(hits), checked + len(waiting)
            yield from hits
            if is_marker:  # a scan may go on for long: show what it has found
                waiting.clear()
                walk.on_scanned()
                continue
            if not needed or given >= needed or len(hits) * 4 < len(waiting):
                least = batch or _BATCH
                size = least if len(hits) * 2 > len(waiting) else min(size * 2, max(_MOST, least))
            else:
                size = max(batch, _LEAST, min(ceil((needed - given) * checked / given * _MARGIN), _MOST))
            waiting.clear()
            if walk.stop():
                return
        yield from self.check(waiting, walk.tally)


def most_relevant(checker: Checker, walk: Walk, limit: int) -> tuple[list[StoredRow], bool]:
    """Rank the newest hits by bm25; they stay newest first where no index can rank.

    Returns:
        At most `limit` hits, best first, equally good ones newest first; and whether there are more.
    """
    pool: list[StoredRow] = []
    most = max(RELEVANT, limit + 1)
    for row in checker.hits(walk):
        pool.append(row)
        if len(pool) >= most:
            walk.notes.append(_("Ranked among the newest {count:,} hits.").format(count=most))
            break
    index, expression = checker.reader.schema.fts, checker.compiled.match
    if index is not None and expression and "fts5" in walk.engines and pool:
        ranked = checker.reader.rows(
            f"SELECT rowid FROM {index.name} WHERE {index.name} MATCH ? AND rowid >= ? ORDER BY rank",
            [expression, min(row.id for row in pool)],
        )
        places = {as_int(key): place for place, (key,) in enumerate(ranked)}
        pool.sort(key=lambda row: places.get(row.id, len(places)))
    return pool[:limit], len(pool) > limit
