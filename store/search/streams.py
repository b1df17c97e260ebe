"""Where candidates come from: the word index, the trigram index, or the rows themselves, newest first.

Each stream yields message ids in order, pulled in short statements that are fetched whole, so no
cursor stays open between pages and a newer question can stop it anywhere.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from ..connect import Reader
from ..schema import FtsIndex, FtsKind
from ..text import as_text
from .terms import Matcher, Plan

_CHUNK = 256
_SLICE = 2000
_SHORT_PREFIX = 2
"""Prefixes up to this long make FTS5 merge a good part of the index before the first row."""
_RECENT = 4000
"""Rows looked through before such a prefix is asked of the index after all."""


@dataclass
class Walk:
    """One run through the candidates: direction, bounds, what may stop it, what it has to say."""

    reader: Reader
    plan: Plan
    ascending: bool = False
    before: int | None = None
    """Only ids beyond this one in the direction of the walk."""
    stopped: Callable[[], bool] = lambda: False
    engines: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    incomplete: bool = False

    def stop(self) -> bool:
        """Whether to leave off; remembers that something was left undone."""
        if self.stopped():
            self.incomplete = True
            return True
        return False


def row_text_sql(reader: Reader) -> str:
    """SQL for what is searched in a row: content, tool name and tool calls."""
    schema = reader.schema
    return ", ".join(schema.message(column) for column in ("content", "tool_name", "tool_calls"))


def join_text(content: object, tool_name: object, tool_calls: object) -> str:
    """What Hermes indexes of a row (0.13 and later): the three joined by spaces."""
    return " ".join(as_text(value) or "" for value in (content, tool_name, tool_calls))


def indexed(walk: Walk, index: FtsIndex, match: str) -> Iterator[int]:
    """Ids that an FTS5 table gives for a MATCH expression."""
    comparison, order = (">", "ASC") if walk.ascending else ("<", "DESC")
    statement = (
        f"SELECT rowid FROM {index.name} WHERE {index.name} MATCH ? AND rowid {comparison} ? "
        f"ORDER BY rowid {order} LIMIT ?"
    )
    last = walk.before if walk.before is not None else (-1 if walk.ascending else 2**62)
    chunk = 32  # the first page wants few
    while not walk.stop():
        rows = walk.reader.rows(statement, [match, last, chunk])
        yield from (int(str(row[0])) for row in rows)
        if len(rows) < chunk:
            return
        last = int(str(rows[-1][0]))
        chunk = _CHUNK


def _bounds(walk: Walk) -> tuple[int, int]:
    row = walk.reader.rows("SELECT min(id), max(id) FROM messages")[0]
    low, high = (int(str(value)) if value is not None else 0 for value in row)
    if walk.before is not None:
        low, high = (max(low, walk.before + 1), high) if walk.ascending else (low, min(high, walk.before - 1))
    return low, high


def scanned(
    walk: Walk, matchers: Sequence[Matcher], *, only: str = "1", low: int | None = None, high: int | None = None
) -> Iterator[int]:
    """Ids of rows whose text contains all of the matchers, by reading the rows in slices of ids.

    Args:
        walk: The run.
        matchers: All must be there; none means every row.
        only: SQL that narrows the rows of `messages m` that are read.
        low: Smallest id to look at.
        high: Largest id to look at.
    """
    first, last = _bounds(walk)
    first, last = max(first, low if low is not None else first), min(last, high if high is not None else last)
    texts = row_text_sql(walk.reader) if matchers else "NULL, NULL, NULL"
    order = "ASC" if walk.ascending else "DESC"
    statement = f"SELECT m.id, {texts} FROM messages m WHERE m.id BETWEEN ? AND ? AND {only} ORDER BY m.id {order}"
    plan = Plan((tuple(matchers),), ()) if matchers else Plan((), ())
    size = 200  # the newest rows come at once
    while first <= last and not walk.stop():
        start, end = (first, min(first + size - 1, last)) if walk.ascending else (max(last - size + 1, first), last)
        for message_id, *parts in walk.reader.rows(statement, [start, end]):
            if plan.accepts(join_text(*parts)):
                yield int(str(message_id))
        first, last = (end + 1, last) if walk.ascending else (first, start - 1)
        size = _SLICE


def _gap(reader: Reader) -> tuple[int, int] | None:
    """Ids that a running index rebuild has not reached (0.20 and later): after progress, up to the mark."""
    progress, high = reader.schema.note("fts_rebuild_progress"), reader.schema.note("fts_rebuild_high_water")
    if high is None or not high.lstrip("-").isdigit():
        return None
    done = int(progress) if progress is not None and progress.lstrip("-").isdigit() else 0
    return (done + 1, int(high)) if int(high) > done else None


def _merge(walk: Walk, streams: Sequence[Iterator[int]]) -> Iterator[int]:
    """The streams as one, in order, each id once."""
    last: int | None = None
    for message_id in heapq.merge(*streams, reverse=not walk.ascending):
        if message_id != last:
            last = message_id
            yield message_id


def _short_prefix(each: Matcher) -> bool:
    return each.is_prefix and len(each.words[-1]) <= _SHORT_PREFIX


def _word_stream(walk: Walk, index: FtsIndex, group: Sequence[Matcher]) -> Iterator[int]:
    """Candidates for a group with at least one term the word index knows."""
    known = [each for each in group if each.words]
    cheap = [each for each in known if not _short_prefix(each)]
    walk.engines.add("fts5")
    if cheap:
        yield from indexed(walk, index, " AND ".join(each.fts for each in cheap))
        return
    match = " AND ".join(each.fts for each in known)
    low, high = _bounds(walk)
    edge = min(low + _RECENT, high) if walk.ascending else max(high - _RECENT, low)
    near = (low, edge) if walk.ascending else (edge, high)
    yield from scanned(walk, known, low=near[0], high=near[1])
    if edge in (low, high) and near == (low, high):
        return
    further = Walk(walk.reader, walk.plan, walk.ascending, edge, walk.stop, walk.engines, walk.notes)
    yield from indexed(further, index, match)


def _left_out_of_trigram(index: FtsIndex) -> str | None:
    """SQL for the rows a trigram index leaves out: fresh files since 0.20 leave out tools and automation."""
    if index.kind is not FtsKind.EXTERNAL or "where" not in index.definition.lower():
        return None
    return (
        "(m.role = 'tool' OR m.tool_calls IS NOT NULL OR m.session_id IN (SELECT s.id FROM sessions s "
        "WHERE s.source IN ('cron', 'subagent') OR s.model_config LIKE '%\\_delegate\\_from%' ESCAPE '\\'))"
    )


def _substring_stream(walk: Walk, group: Sequence[Matcher]) -> Iterator[int]:
    """Candidates for a group of CJK, emoji or punctuation only."""
    trigram = walk.reader.schema.trigram
    long = [each for each in group if len(each.term.text) >= 3]
    if trigram is None or not long:
        walk.engines.add("scan")
        yield from scanned(walk, group)
        return
    walk.engines.add("trigram")
    streams = [indexed(walk, trigram, " AND ".join(each.trigram for each in long))]
    left_out = _left_out_of_trigram(trigram)
    if left_out is not None:
        walk.engines.add("scan")
        streams.append(scanned(walk, group, only=left_out))
    yield from _merge(walk, streams)


def _covers(index: FtsIndex, reader: Reader) -> str:
    """SQL for rows whose searchable text the word index holds only in part, empty when it holds all."""
    partial: list[str] = []
    if index.columns == ("content",) and index.kind is FtsKind.EXTERNAL:
        partial += [
            f"m.{name} IS NOT NULL" for name in ("tool_name", "tool_calls") if name in reader.schema.message_columns
        ]
    if "8192" in index.definition:
        partial.append("(m.role = 'tool' AND length(m.content) > 8192)")
    return f"({' OR '.join(partial)})" if partial else ""


def candidates(walk: Walk) -> Iterator[int]:
    """Ids that may match the plan, in order, each once; the caller checks the texts."""
    reader = walk.reader
    index = reader.schema.fts
    if not walk.plan.groups:
        walk.engines.add("scan")
        yield from scanned(walk, ())
        return
    if index is not None and reader.schema.note("fts_stale"):
        walk.notes.append("Hermes has marked the search index as stale: the rows themselves are scanned.")
        index = None
    elif index is None:
        walk.notes.append("This store has no search index: the rows themselves are scanned.")
    streams: list[Iterator[int]] = []
    for group in walk.plan.groups:
        if not any(each.words for each in group):
            streams.append(_substring_stream(walk, group))
        elif index is None:
            walk.engines.add("scan")
            streams.append(scanned(walk, group))
        else:
            streams.append(_word_stream(walk, index, group))
            gap = _gap(reader)
            if gap is not None:
                walk.engines.add("scan")
                walk.notes.append(f"The search index is being rebuilt: {gap[1] - gap[0] + 1:,} rows are scanned.")
                streams.append(scanned(walk, group, low=gap[0], high=gap[1]))
    yield from _merge(walk, streams)


def partly_indexed(reader: Reader) -> str:
    """What the word index does not hold, in a sentence; empty when it holds everything searched."""
    index = reader.schema.fts
    if index is None or not _covers(index, reader):
        return ""
    if "8192" in index.definition:
        return "Tool output past 8,192 characters is not in Hermes' index."
    return "Tool names and arguments are not in this store's index."
