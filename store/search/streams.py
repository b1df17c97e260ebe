"""Where candidates come from: the word index, the trigram index, or the rows themselves, newest first.

Each stream yields message ids in order, pulled in short statements that are fetched whole, so no
cursor stays open between pages and a newer question can stop it anywhere.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ..connect import Reader
from ..messages import SENTINEL, decode_content
from ..schema import FtsIndex
from ..text import as_text
from .coverage import left_out_of_trigram, unindexed
from .terms import Matcher, Plan

_CHUNK = 256
_FIRST_SLICE, _SLICE = 50, 2000
_RECENT = 1000
"""Rows looked through before a short prefix is asked of the index after all."""
_TRIED = 500
"""Rows with the rest of a query tried for a short prefix before the same."""
_GLANCE, _LONG_PREFIX = 200, 4
"""Rows looked through before a prefix of up to so many letters is: where it is common that fills a page."""


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

    def beyond(self, message_id: int) -> Walk:
        """The same run from behind this id on."""
        return replace(self, before=message_id, stopped=self.stop)

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
    """What is searched of a row: the three as Hermes indexes them (0.13 and later), and what a multimodal
    content says, for its JSON spells accents and CJK as escapes."""
    said = as_text(content) or ""
    texts = [said, as_text(tool_name) or "", as_text(tool_calls) or ""]
    if said.startswith(SENTINEL):
        texts.append(decode_content(said)[0])
    return " ".join(texts)


def indexed(walk: Walk, index: FtsIndex, match: str, most: int = 0) -> Iterator[int]:
    """Ids that an FTS5 table gives for a MATCH expression, at most so many; 0 for all."""
    comparison, order = (">", "ASC") if walk.ascending else ("<", "DESC")
    statement = (
        f"SELECT rowid FROM {index.name} WHERE {index.name} MATCH ? AND rowid {comparison} ? "
        f"ORDER BY rowid {order} LIMIT ?"
    )
    last = walk.before if walk.before is not None else (-(2**62) if walk.ascending else 2**62)
    chunk, given = 32, 0  # the first page wants few
    while not walk.stop():
        rows = walk.reader.rows(statement, [match, last, chunk])
        yield from (int(str(row[0])) for row in rows)
        given += len(rows)
        if len(rows) < chunk or (most and given >= most):
            return
        last = int(str(rows[-1][0]))
        chunk = _CHUNK


def _bounds(walk: Walk) -> tuple[int, int]:
    # Two subqueries are two index seeks; min and max in one SELECT would read the whole table.
    row = walk.reader.rows("SELECT (SELECT min(id) FROM messages), (SELECT max(id) FROM messages)")[0]
    low, high = (int(str(value)) if value is not None else 0 for value in row)
    if walk.before is not None:
        low, high = (max(low, walk.before + 1), high) if walk.ascending else (low, min(high, walk.before - 1))
    return low, high


def _narrowing(matchers: Sequence[Matcher]) -> tuple[str, list[object]]:
    """SQL that lets only rows through which may contain the terms that have one spelling, and its values.

    `instr` reads past the NUL of multimodal content, but not its JSON escapes: those rows always pass
    (SQLite finds them to be of length 0 though they are not empty).
    """
    needles = [each.needle for each in matchers if each.needle]
    texts = " OR ".join(f"instr(m.{column}, ?) > 0" for column in ("content", "tool_name", "tool_calls"))
    condition = f"({texts} OR (length(m.content) = 0 AND m.content <> ''))"
    return " AND ".join([condition] * len(needles)), [needle for needle in needles for _ in range(3)]


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
    order, edge, comparison = ("ASC", "min", ">=") if walk.ascending else ("DESC", "max", "<=")
    complete = {"content", "tool_name", "tool_calls"} <= walk.reader.schema.message_columns
    narrow, values = _narrowing(matchers) if complete else ("", [])
    where = " AND ".join(part for part in (only, narrow) if part)
    statement = f"SELECT m.id, {texts} FROM messages m WHERE m.id BETWEEN ? AND ? AND {where} ORDER BY m.id {order}"
    plan = Plan((tuple(matchers),), ()) if matchers else Plan((), ())
    size = _FIRST_SLICE  # the newest rows come at once
    while first <= last and not walk.stop():
        start, end = (first, min(first + size - 1, last)) if walk.ascending else (max(last - size + 1, first), last)
        rows = walk.reader.rows(statement, [start, end, *values])
        for message_id, *parts in rows:
            if not matchers or plan.accepts(join_text(*parts)):
                yield int(str(message_id))
        first, last = (end + 1, last) if walk.ascending else (first, start - 1)
        size = min(size * 2, _SLICE)
        if not rows and first <= last:
            # Ids may leave holes of any width (salvaged stores): step to the next row there is.
            here = first if walk.ascending else last
            step = walk.reader.value(f"SELECT {edge}(id) FROM messages WHERE id {comparison} ?", [here])
            if step is None:
                return
            first, last = (int(str(step)), last) if walk.ascending else (first, int(str(step)))


def _merge(walk: Walk, streams: Sequence[Iterator[int]]) -> Iterator[int]:
    """The streams as one, in order, each id once."""
    last: int | None = None
    for message_id in heapq.merge(*streams, reverse=not walk.ascending):
        if message_id != last:
            last = message_id
            yield message_id


def _word_stream(walk: Walk, index: FtsIndex, group: Sequence[Matcher]) -> Iterator[int]:
    """Candidates for a group with at least one term the word index knows.

    A short prefix is first looked for by hand, among the newest rows or among those that have the
    rest of the query; only when that gives too little is the index asked for it.
    """
    known = [each for each in group if each.words]
    match = " AND ".join(each.fts for each in known)
    walk.engines.add("fts5")
    short = any(each.is_short for each in known)
    cheap = " AND ".join(each.cheap_fts for each in known if each.cheap_fts) if short else ""
    if cheap:
        seen, last = 0, 0
        for last in indexed(walk, index, cheap, most=_TRIED):
            seen += 1
            yield last
        if seen < _TRIED:
            return
        walk = walk.beyond(last)
    elif short or any(each.is_prefix and len(each.words[-1]) <= _LONG_PREFIX for each in known):
        low, high = _bounds(walk)
        rows = _RECENT if short else _GLANCE
        last = min(low + rows, high) if walk.ascending else max(high - rows, low)
        low, high = (low, last) if walk.ascending else (last, high)
        yield from scanned(walk, known, low=low, high=high)
        walk = walk.beyond(last)
    yield from indexed(walk, index, match)


def _substring_stream(walk: Walk, index: FtsIndex | None, group: Sequence[Matcher]) -> Iterator[int]:
    """Candidates for a group with terms that are found inside words: CJK, emoji, punctuation."""
    match = " AND ".join(each.trigram for each in group if each.is_substring and each.trigram)
    if index is None or not match:
        walk.engines.add("scan")
        yield from scanned(walk, group)
        return
    walk.engines.add("trigram")
    streams = [indexed(walk, index, match)]
    only = left_out_of_trigram(walk.reader.schema, index)
    if only:
        walk.engines.add("scan")
        walk.notes.append("Tool output and automation are not in the substring index: those rows are scanned.")
        streams.append(scanned(walk, group, only=only))
    yield from _merge(walk, streams)


def _group_streams(walk: Walk, group: Sequence[Matcher]) -> list[Iterator[int]]:
    """The streams for one group of terms: the better index for it, and the rows that index does not hold."""
    schema = walk.reader.schema
    stale = schema.note("fts_stale") is not None
    words, trigram = (None, None) if stale else (schema.fts, schema.trigram)
    if words is None:
        walk.notes.append(
            "Hermes has marked the search index as stale: the rows themselves are scanned."
            if stale
            else "This store has no search index: the rows themselves are scanned."
        )
    by_trigram = trigram is not None and any(each.is_substring and each.trigram for each in group)
    partial = by_trigram and trigram is not None and bool(left_out_of_trigram(schema, trigram))
    has_words = any(each.words for each in group)
    if by_trigram and not (partial and has_words and words is not None):
        index, streams = trigram, [_substring_stream(walk, trigram, group)]
    elif words is not None and has_words:
        index, streams = words, [_word_stream(walk, words, group)]
    else:
        walk.engines.add("scan")
        return [scanned(walk, group)]
    for low, high in unindexed(walk.reader, index) if index is not None else ():
        walk.engines.add("scan")
        walk.notes.append(f"Hermes' index does not hold {high - low + 1:,} rows yet: they are scanned.")
        streams.append(scanned(walk, group, low=low, high=high))
    return streams


def candidates(walk: Walk) -> Iterator[int]:
    """Ids that may match the plan, in order, each once; the caller checks the texts."""
    if not walk.plan.groups:
        walk.engines.add("scan")
        yield from scanned(walk, ())
        return
    yield from _merge(walk, [stream for group in walk.plan.groups for stream in _group_streams(walk, group)])
