"""Where candidates come from: the word index, the trigram index, or the rows themselves.

A source answers one question: which rows, in a range of ids, may have the terms. `candidates` asks
all sources of a query for the next page, and goes on behind it. Every statement is short and
fetched whole: no cursor stays open between pages, and a newer query can stop the search anywhere.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from ..connection.reader import Reader
from ..connection.schema import FtsIndex
from ..connection.stored_values import as_int
from ..wording import _, ngettext
from .conversation_table import EVERYTHING, Condition, all_of
from .coverage import LOW, gaps_of, left_out_of_trigram
from .message_rows import SHOWN, rows_sql
from .spellings import HAS_ESCAPES, Spellings, in_pictures, narrowing, substring_match
from .terms import CompiledQuery, Matcher

HIGH = 2**62
_NEWEST = 350
"""Rows that are scanned before an index is queried for a prefix: they fill a page where one word in
ten begins so, and a prefix of few letters makes FTS5 merge a good part of the index before the
first row."""
_SAMPLE = 64
"""Rows among which words are counted, to see whether they are common."""
_TRIED = 500
"""Rows with the rest of a query that are read before the index is queried for a prefix of one or
two letters."""
_FIRST, _MOST = 64, 2000
"""Ids from an index, or rows of a scan, that one statement looks at: at first, and at most."""
_TOLD = 400
"""A scan whose statements look at more rows shows what it has found."""
_MOST_CUT = 1000
"""Rows in the index only in part that one search reads whole: tens of megabytes, half a second."""


@dataclass(frozen=True)
class CandidateSource:
    """A condition on rows that may have the terms, in a range of ids."""

    where: Condition = EVERYTHING
    """On `messages m`."""
    index: FtsIndex | None = None
    """None scans the rows."""
    match: str = ""
    """For MATCH on the index."""
    low: int = LOW
    high: int = HIGH
    ids: tuple[int, ...] | None = None
    """The only rows that come into question, few of them."""

    @property
    def is_scan(self) -> bool:
        """Whether the rows themselves are read, one after another."""
        return self.index is None and self.ids is None


@dataclass
class SearchPlan:
    """The sources of a query, and what is to be said of them."""

    sources: list[CandidateSource] = field(default_factory=list)
    engines: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    is_partial: bool = False
    """Some rows that may be hits are in no source: there are too many of them."""


def read_edges(reader: Reader) -> tuple[int, int]:
    """Return the smallest and the largest id of a message; 0 where there is none."""
    # Two subqueries are two index seeks; min and max in one SELECT would read the whole table.
    row = reader.rows("SELECT (SELECT min(id) FROM messages), (SELECT max(id) FROM messages)")[0]
    low, high = map(as_int, row)
    return low, high


def make_plan(
    reader: Reader, compiled: CompiledQuery, edges: tuple[int, int], *, oldest: bool
) -> SearchPlan:
    """Return the sources of a query."""
    plan = SearchPlan()
    if compiled.in_reasoning:
        plan.engines.add("scan")
        plan.notes.append(_("Reasoning is in no index: it is scanned."))
        plan.sources.append(
            CandidateSource(
                Condition(
                    "COALESCE(m.reasoning, '') <> '' OR COALESCE(m.reasoning_content, '') <> ''"
                )
            )
        )
        return plan
    for group in compiled.groups:
        _add_group(plan, reader, group, edges, oldest=oldest)
    if not compiled.groups:
        plan.engines.add("scan")
        plan.sources.append(CandidateSource())
    return plan


def _add_group(
    plan: SearchPlan,
    reader: Reader,
    group: Sequence[Matcher],
    edges: tuple[int, int],
    *,
    oldest: bool,
) -> None:
    """Add the sources for one group of terms: of the index that fits it, and of what that index
    does not hold."""
    schema = reader.schema
    is_stale = schema.note("fts_stale") is not None
    words, trigram = (None, None) if is_stale else (schema.fts, schema.trigram)
    if words is None:
        plan.notes.append(
            _("Hermes has marked the search index as stale: the rows themselves are scanned.")
            if is_stale
            else _("There is no search index to use: the rows themselves are scanned.")
        )
    left_out = left_out_of_trigram(schema, trigram) if trigram is not None else ""
    has_words = words is not None and any(each.index_words for each in group)
    substrings = (
        "" if trigram is None or (left_out and has_words) else _substrings(reader, trigram, group)
    )
    queried: list[FtsIndex] = []
    if trigram is not None and substrings:
        plan.engines.add("trigram")
        plan.sources.append(CandidateSource(narrowing(group), trigram, substrings))
        queried.append(trigram)
        _add_rest_of_trigram(plan, reader, group, words, left_out)
        queried += [words] if words is not None else []
    elif words is not None and has_words:
        plan.engines.add("fts5")
        _add_words(
            plan, Spellings(reader, words, group), words, reader, group, edges, oldest=oldest
        )
        queried.append(words)
    else:
        plan.engines.add("scan")
        plan.sources.append(CandidateSource(narrowing(group)))
    for index in queried:
        _add_gaps(plan, reader, index, group, edges)


def _substrings(reader: Reader, trigram: FtsIndex, group: Sequence[Matcher]) -> str:
    expressions = [substring_match(reader, trigram, each) for each in group if not each.index_words]
    return " AND ".join(filter(None, expressions))


def _add_rest_of_trigram(
    plan: SearchPlan,
    reader: Reader,
    group: Sequence[Matcher],
    words: FtsIndex | None,
    left_out: str,
) -> None:
    """Add the rows that the trigram index leaves out.

    Of messages with images it has none: it stops at the NUL ahead. In the word index each begins
    with the word `json`.
    """
    if words is not None:
        spellings = Spellings(reader, words, group)
        pictures = in_pictures(group)
        if pictures != EVERYTHING:  # else what is in them is in escapes
            plan.sources.append(CandidateSource(pictures, words, '^ "json"'))
        if spellings.escapes:
            plan.sources.append(CandidateSource(EVERYTHING, words, spellings.escapes))
    missing = ["(m.content < char(1) AND m.content <> '')", HAS_ESCAPES] if words is None else []
    if left_out:
        plan.notes.append(
            _("Tool output and automation are not in the substring index: those rows are scanned.")
        )
        missing.append(left_out)
    if missing:
        plan.engines.add("scan")
        plan.sources.append(
            CandidateSource(all_of([Condition(" OR ".join(missing)), narrowing(group)]))
        )


def _add_words(
    plan: SearchPlan,
    spellings: Spellings,
    words: FtsIndex,
    reader: Reader,
    group: Sequence[Matcher],
    edges: tuple[int, int],
    *,
    oldest: bool,
) -> None:
    """Add the rows with words; before a prefix is queried, those that may fill the page without
    it."""
    rest = (LOW, HIGH)
    literal = narrowing([each for each in group if not each.is_plain])
    wide = [
        each
        for each in group
        if each.is_short or (each.is_prefix and _is_common(reader, [each], edges))
    ]
    if wide and (cheap := spellings.cheap(wide)):
        order = "ASC" if oldest else "DESC"
        sql = f"SELECT rowid FROM {words.name} WHERE {words.name} MATCH ? ORDER BY rowid {order} LIMIT 1 OFFSET {_TRIED}"
        last = reader.value(sql, [cheap])
        near, rest = _split(
            edges,
            (edges[1] if oldest else edges[0]) if last is None else as_int(last),
            oldest=oldest,
        )
        plan.sources.append(CandidateSource(literal, words, cheap, *near))
    elif wide:
        near, rest = _split(
            edges, edges[0] + _NEWEST if oldest else edges[1] - _NEWEST, oldest=oldest
        )
        plan.sources.append(CandidateSource(narrowing(group), None, "", *near))
    if any(each.is_short for each in wide):
        plan.sources.append(CandidateSource(literal, words, spellings.superset, *rest))
        return
    plan.sources.append(CandidateSource(literal, words, spellings.plain, *rest))
    match, condition = spellings.joined()
    plan.sources.append(CandidateSource(condition, words, match, *rest))


def _split(
    edges: tuple[int, int], at: int, *, oldest: bool
) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the ids up to one in the direction of the search, and those behind it."""
    low, high = edges
    return ((low, at), (at + 1, high)) if oldest else ((at, high), (low, at - 1))


def _is_common(reader: Reader, group: Sequence[Matcher], edges: tuple[int, int]) -> bool:
    """Whether many of the newest rows may have the terms."""
    narrow = narrowing(group)
    found = reader.value(
        f"SELECT count(*) FROM {rows_sql(reader.schema)} WHERE m.id > ? AND {narrow.sql}",
        [edges[1] - _SAMPLE, *narrow.values],
    )
    return as_int(found) * 16 >= _SAMPLE


def _add_gaps(
    plan: SearchPlan,
    reader: Reader,
    index: FtsIndex,
    group: Sequence[Matcher],
    edges: tuple[int, int],
) -> None:
    """Add the rows that an index lacks, and those it holds only a part of."""
    gaps = gaps_of(reader, index, edges[1])
    narrow = narrowing(group)
    if gaps.missing:
        plan.engines.add("scan")
        note = ngettext(
            "Hermes' index lacks 1 message: it is scanned.",
            "Hermes' index lacks {count:,} messages: they are scanned.",
            gaps.missing,
        )
        plan.notes.append(note.format(count=gaps.missing))
        plan.sources.append(
            CandidateSource(all_of([Condition(gaps.sql), narrow]), low=gaps.first, high=gaps.last)
        )
    if gaps.cut:
        plan.sources.append(CandidateSource(narrow, ids=gaps.cut[-_MOST_CUT:]))
    if len(gaps.cut) > _MOST_CUT:
        plan.is_partial = True
        note = _(
            "Hermes' index has only the beginning of {count:,} messages; {read:,} of them were read in full."
        )
        plan.notes.append(note.format(count=len(gaps.cut), read=_MOST_CUT))


@dataclass
class Loop:
    """One pass over the candidates of a plan, page by page."""

    reader: Reader
    sources: Sequence[CandidateSource]
    scope: Condition
    edges: tuple[int, int]
    oldest: bool = False
    stopped: Callable[[], bool] = lambda: False
    progress: Callable[[float], None] = lambda share: None
    """Called during a scan with the share of the rows that has been scanned, from 0 to 1."""
    incomplete: bool = False
    """It was stopped before its end."""
    is_long: bool = False
    """It scans more than a look at the newest rows."""

    def pages(self, after: int | None = None) -> Iterator[list[int]]:
        """Yield ids that may be hits, behind one in the direction of the loop, in order, each once.

        Pages may be empty: between two of them nothing is open, and the caller may do anything.
        """
        low, high = self.edges
        if after is not None:
            low, high = (after + 1, high) if self.oldest else (low, after - 1)
        total = max(self.edges[1] - self.edges[0] + 1, 1)
        sizes = [_FIRST] * len(self.sources)
        while low <= high:
            if self.stopped():
                self.incomplete = True
                return
            ids: set[int] = set()
            end = high if self.oldest else low
            for place, source in enumerate(self.sources):
                first, last = (low, end) if self.oldest else (end, high)
                first, last = max(first, source.low), min(last, source.high)
                if first > last:
                    continue
                found, reached = self._page(source, first, last, sizes[place])
                sizes[place] = min(sizes[place] * 2, _MOST)
                ids.update(found)
                # A source for a part of the rows ends there: what is behind can wait.
                end = reached if reached is not None else last if self.oldest else first
            page = [key for key in ids if (key <= end if self.oldest else key >= end)]
            yield sorted(page, reverse=not self.oldest)
            low, high = (end + 1, high) if self.oldest else (low, end - 1)
            scans = [
                size for size, source in zip(sizes, self.sources, strict=True) if source.is_scan
            ]
            if scans:
                self.is_long = max(scans) > _TOLD
                self.progress(1 - max(high - low + 1, 0) / total)

    def _page(
        self, source: CandidateSource, low: int, high: int, size: int
    ) -> tuple[list[int], int | None]:
        """Return the ids of a source in a range, and where it stopped; None if it has looked at the
        whole range."""
        if source.ids is not None:
            return self._admitted(
                [key for key in source.ids if low <= key <= high], source.where
            ), None
        order, edge = ("ASC", "max") if self.oldest else ("DESC", "min")
        if source.index is not None:
            name = source.index.name
            found = f"SELECT rowid FROM {name} WHERE {name} MATCH ? AND rowid BETWEEN ? AND ?"
            rows = self.reader.rows(
                f"{found} ORDER BY rowid {order} LIMIT ?", [source.match, low, high, size]
            )
            ids = [as_int(row[0]) for row in rows]
            return self._admitted(ids, source.where), ids[-1] if len(ids) == size else None
        slice_sql = f"SELECT id FROM messages WHERE id BETWEEN ? AND ? ORDER BY id {order} LIMIT ?"
        count, last = self.reader.rows(
            f"SELECT count(*), {edge}(id) FROM ({slice_sql})", [low, high, size]
        )[0]
        if not count:
            return [], None
        reached = as_int(last)
        where = all_of([Condition(SHOWN), self.scope, source.where])
        first, end = (low, reached) if self.oldest else (reached, high)
        rows = self.reader.rows(
            f"SELECT m.id FROM {rows_sql(self.reader.schema)} WHERE m.id BETWEEN ? AND ? AND {where.sql}",
            [first, end, *where.values],
        )
        return [as_int(row[0]) for row in rows], reached if count == size else None

    def _admitted(self, ids: Sequence[int], where: Condition) -> list[int]:
        """Return those of some ids that are shown, in the scope, and meet a condition."""
        if not ids:
            return []
        whole = all_of([Condition(SHOWN), self.scope, where])
        rows = self.reader.rows(
            f"SELECT m.id FROM {rows_sql(self.reader.schema)} "
            f"WHERE m.id IN (SELECT value FROM json_each(?)) AND {whole.sql}",
            [json.dumps(ids), *whole.values],
        )
        return [as_int(row[0]) for row in rows]
