"""Candidates judged: which rows really are hits, read in batches that stay as small as the question allows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil

from ..connect import Reader
from ..models import Hit, State
from .filters import RowFacts
from .kept import KeptRows, Said, StoredRow, read_rows, row_columns
from .scope import Scope
from .snippet import make_snippet
from .streams import candidates
from .terms import Plan
from .walk import Passed, Tally, Walk

_LEAST, _BATCH, _MOST = 8, 32, 512
_SPARE = 1.2
"""Rows are read for so many times the hits that are still wanted, as the share of hits so far makes it seem."""


@dataclass(frozen=True, slots=True)
class Found:
    """A row that is a hit."""

    id: int
    session_id: str
    role: str
    moment: float | None
    state: State
    said: Said | None
    """Its texts; None when they were not needed to decide."""

    def to_hit(self, plan: Plan) -> Hit:
        """The hit with its snippet."""
        snippet, ranges = make_snippet(self.said or Said("", "", ""), plan.matchers)
        return Hit(self.id, self.session_id, self.role, self.moment, snippet, ranges, self.state)


@dataclass(frozen=True)
class Judge:
    """Decides about rows by the texts, the scope, and what Hermes hides."""

    reader: Reader
    plan: Plan
    scope: Scope
    with_texts: bool = True
    """Read the texts even where the index has decided: for snippets."""
    matched: bool = False
    """The candidates are what MATCH gives for the whole plan, so nothing is left to check in the texts."""
    kept: KeptRows | None = None
    """Where rows with their texts are kept for the next search; None keeps none."""

    @property
    def _is_decided(self) -> bool:
        return self.matched or self.plan.index_decides

    @property
    def _needs_texts(self) -> bool:
        return self.with_texts or self.scope.message is not None or not self._is_decided

    def judge(self, ids: Sequence[int], tally: Tally | None = None) -> list[Found]:
        """The rows among these ids that are hits, in the order of the ids.

        Args:
            ids: Of candidates.
            tally: Told how many of them were looked at, and how many had the terms.
        """
        needs_texts = self._needs_texts
        if needs_texts and (self.scope.sessions is not None or self.scope.roles):
            # Texts are the dear part of a row: first see which rows are asked for at all.
            admitted = self._read(ids, with_texts=False)
            ids = [key for key in ids if key in admitted and self._admits(admitted[key])]
        rows = self._read(ids, with_texts=needs_texts)
        found: list[Found] = []
        for key in ids:
            row = rows.get(key)
            if row is None or not self._admits(row) or not self._passes(row):
                continue
            said = row.thought or row.said
            has_terms = self._has_terms(said)
            if tally is not None:
                tally.looked_at += 1
                tally.had_terms += has_terms
            if has_terms:
                kept = said if needs_texts else None
                found.append(Found(row.id, row.session_id, row.role, row.moment, row.state, kept))
        return found

    def _read(self, ids: Sequence[int], *, with_texts: bool) -> dict[int, StoredRow]:
        """The rows by id; with their texts where asked for, or where those are at hand."""
        in_reasoning = self.plan.in_reasoning
        if with_texts and not in_reasoning:
            return read_rows(self.reader, ids, self.kept)
        kept = self.kept if not in_reasoning else None
        found = {key: row for key in ids if (row := kept.get(key)) is not None} if kept is not None else {}
        columns = row_columns(self.reader, with_texts=with_texts, in_reasoning=in_reasoning and with_texts)
        sql = f"SELECT {columns} FROM messages m WHERE m.id IN ({{keys}})"
        for row in map(StoredRow, self.reader.rows_in(sql, [key for key in ids if key not in found])):
            found[row.id] = row
        return found

    def _admits(self, row: StoredRow) -> bool:
        scope = self.scope
        if row.is_hidden or (scope.roles and row.role not in scope.roles):
            return False
        return scope.sessions is None or scope.sessions(row.session_id)

    def _passes(self, row: StoredRow) -> bool:
        """Whether the row itself is as the filters of the query want it."""
        message, said = self.scope.message, row.said
        if message is None or said is None:
            return True
        return message.accepts(
            RowFacts(row.role, row.moment, row.state, said.stored, said.tool_name, said.tool_calls, row.has_reasoning)
        )

    def _has_terms(self, said: Said | None) -> bool:
        """Whether the text has what is looked for.

        The index has decided for plain words: checking them again could only disagree with FTS5 about
        what a letter is. Everything else is checked in the text.
        """
        return self._is_decided or said is None or self.plan.accepts_said(said)

    def walk(self, walk: Walk, ids: Iterator[int] | None = None, *, batch: int = 0) -> Iterator[Found]:
        """The hits of a run in its order; batches grow as long as nothing is found in them.

        Args:
            walk: The run.
            ids: The candidates, where they are not those of the run.
            batch: Rows read at a time at the least; 0 for as many as the hits that are wanted make needed.
        """
        waiting: list[int] = []
        wanted = walk.tally.wanted
        size = batch or (min(wanted, _MOST) if wanted else _BATCH)
        given = judged = 0
        for message_id in candidates(walk) if ids is None else ids:
            if isinstance(message_id, Passed):  # a scan goes on for long: what it has found is not kept back
                found = self.judge(waiting, walk.tally)
                given, judged = given + len(found), judged + len(waiting)
                yield from found
                waiting.clear()
                walk.passed()
                continue
            waiting.append(message_id)
            sure = max(wanted - given, batch, _LEAST) if walk.tally.is_sure and wanted else size
            if len(waiting) >= min(size, sure):
                found = self.judge(waiting, walk.tally)
                given, judged = given + len(found), judged + len(waiting)
                yield from found
                if not wanted or given >= wanted or len(found) * 4 < len(waiting):
                    least = batch or _BATCH
                    size = least if len(found) * 2 > len(waiting) else min(size * 2, max(_MOST, least))
                else:
                    size = max(batch, _LEAST, min(ceil((wanted - given) * judged / given * _SPARE), _MOST))
                waiting.clear()
                if walk.stop():
                    return
        yield from self.judge(waiting, walk.tally)
