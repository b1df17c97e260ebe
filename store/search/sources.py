"""Where candidates come from: the word index, the trigram index, or the rows themselves.

A source answers one question: which rows, in a range of ids, may have the terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..connection.reader import Reader
from ..connection.schema import FtsIndex
from ..connection.stored_values import as_int
from ..wording import _, ngettext
from .conditions import HAS_REASONING
from .conversation_table import EVERYTHING, Condition, all_of, any_of
from .coverage import LOW, gaps_of, left_out_of_trigram
from .message_rows import rows_sql
from .spellings import HAS_ESCAPES, Spellings, narrowing, narrowing_of_images, substring_match
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
_MOST_TRUNCATED = 1000
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


def read_edges(reader: Reader) -> tuple[int, int]:
    """Return the smallest and the largest id of a message; 0 where there is none."""
    # Two subqueries are two index seeks; min and max in one SELECT would read the whole table.
    row = reader.rows("SELECT (SELECT min(id) FROM messages), (SELECT max(id) FROM messages)")[0]
    low, high = map(as_int, row)
    return low, high


class SearchPlan:
    """The sources of a query, and what is to be said of them.

    `edges` are the smallest and the largest id, from `read_edges`.
    """

    def __init__(
        self, reader: Reader, compiled: CompiledQuery, edges: tuple[int, int], *, oldest: bool
    ) -> None:
        self.sources: list[CandidateSource] = []
        self.engines: set[str] = set()
        self.notes: list[str] = []
        self.is_partial = False
        """Some rows that may be hits are in no source: there are too many of them."""
        self._reader, self._edges, self._oldest = reader, edges, oldest
        if compiled.in_reasoning:
            self.notes.append(_("Reasoning is in no index: it is scanned."))
            self._scan(Condition(HAS_REASONING))
        elif not compiled.groups:
            self._scan(EVERYTHING)
        else:
            for group in compiled.groups:
                self._add_group(group)

    def _scan(self, where: Condition, low: int = LOW, high: int = HIGH) -> None:
        self.engines.add("scan")
        self.sources.append(CandidateSource(where, low=low, high=high))

    def _add_group(self, group: Sequence[Matcher]) -> None:
        """Add the sources for one group of terms: of the index that fits it, and of what that index
        does not hold."""
        schema = self._reader.schema
        is_stale = schema.note("fts_stale") is not None
        words, trigram = (None, None) if is_stale else (schema.fts, schema.trigram)
        if is_stale:
            stale = _(
                "Hermes has marked the search index as stale: the rows themselves are scanned."
            )
            self.notes.append(stale)
        elif words is None:
            none = _("There is no search index to use: the rows themselves are scanned.")
            self.notes.append(none)
        has_words = words is not None and any(each.index_words for each in group)
        left_out = left_out_of_trigram(schema, trigram) if trigram is not None else ""
        substrings = ""
        if trigram is not None and not (left_out and has_words):
            substrings = self._substrings(trigram, group)
        if trigram is not None and substrings:
            self.engines.add("trigram")
            self.sources.append(CandidateSource(narrowing(group), trigram, substrings))
            self._add_rest_of_trigram(group, words, left_out)
            self._add_gaps(trigram, group)
        elif words is not None and has_words:
            self.engines.add("fts5")
            self._add_words(Spellings(self._reader, words, group), words, group)
        else:
            self._scan(narrowing(group))
            return
        if words is not None:
            self._add_gaps(words, group)

    def _substrings(self, trigram: FtsIndex, group: Sequence[Matcher]) -> str:
        found = [
            substring_match(self._reader, trigram, each) for each in group if not each.index_words
        ]
        return " AND ".join(filter(None, found))

    def _add_rest_of_trigram(
        self, group: Sequence[Matcher], words: FtsIndex | None, left_out: str
    ) -> None:
        """Add the rows that the trigram index leaves out.

        Of messages with images it has none: it stops at the NUL ahead. In the word index each
        begins with the word `json`.
        """
        missing = [left_out] if left_out else []
        if words is None:
            missing += ["m.content < char(1) AND m.content <> ''", HAS_ESCAPES]
        else:
            escapes = Spellings(self._reader, words, group).escapes
            in_images = narrowing_of_images(group)
            if in_images != EVERYTHING:  # else what is in them is in escapes
                self.sources.append(CandidateSource(in_images, words, '^ "json"'))
            if escapes:
                self.sources.append(CandidateSource(EVERYTHING, words, escapes))
        if left_out:
            note = _(
                "Tool output and automation are not in the substring index: those rows are scanned."
            )
            self.notes.append(note)
        if missing:
            self._scan(all_of([any_of(list(map(Condition, missing))), narrowing(group)]))

    def _add_words(self, spellings: Spellings, words: FtsIndex, group: Sequence[Matcher]) -> None:
        """Add the rows with words; before a prefix is queried, those that may fill the page without
        it."""
        rest = (LOW, HIGH)
        literal = narrowing([each for each in group if not each.is_plain])
        wide = [
            each for each in group if each.is_short or (each.is_prefix and self._is_common([each]))
        ]
        if wide and (cheap := spellings.cheap(wide)):
            first, rest = self._split(self._last_of_first(words, cheap))
            self.sources.append(CandidateSource(literal, words, cheap, *first))
        elif wide:
            low, high = self._edges
            first, rest = self._split(low + _NEWEST if self._oldest else high - _NEWEST)
            self.sources.append(CandidateSource(narrowing(group), None, "", *first))
        if any(each.is_short for each in wide):
            self.sources.append(CandidateSource(literal, words, spellings.superset, *rest))
            return
        self.sources.append(CandidateSource(literal, words, spellings.plain, *rest))
        match, condition = spellings.joined()
        self.sources.append(CandidateSource(condition, words, match, *rest))

    def _last_of_first(self, words: FtsIndex, match: str) -> int:
        """Return the last of the first rows that an index finds, or of all there are."""
        order, end = ("ASC", 1) if self._oldest else ("DESC", 0)
        last = self._reader.value(
            f"SELECT rowid FROM {words.name} WHERE {words.name} MATCH ? ORDER BY rowid {order} "
            f"LIMIT 1 OFFSET {_TRIED}",
            [match],
        )
        return self._edges[end] if last is None else as_int(last)

    def _split(self, at: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return the ids up to one in the direction of the search, and those behind it."""
        low, high = self._edges
        return ((low, at), (at + 1, high)) if self._oldest else ((at, high), (low, at - 1))

    def _is_common(self, group: Sequence[Matcher]) -> bool:
        """Whether many of the newest rows may have the terms."""
        narrow = narrowing(group)
        found = self._reader.value(
            f"SELECT count(*) FROM {rows_sql(self._reader.schema)} WHERE m.id > ? AND {narrow.sql}",
            [self._edges[1] - _SAMPLE, *narrow.values],
        )
        return as_int(found) * 16 >= _SAMPLE

    def _add_gaps(self, index: FtsIndex, group: Sequence[Matcher]) -> None:
        """Add the rows that an index lacks, and those it holds only a part of."""
        gaps = gaps_of(self._reader, index, self._edges[1])
        narrow = narrowing(group)
        if gaps.missing:
            note = ngettext(
                "Hermes' index lacks 1 message: it is scanned.",
                "Hermes' index lacks {count:,} messages: they are scanned.",
                gaps.missing,
            )
            self.notes.append(note.format(count=gaps.missing))
            self._scan(all_of([Condition(gaps.sql), narrow]), gaps.first, gaps.last)
        if gaps.truncated:
            self.sources.append(CandidateSource(narrow, ids=gaps.truncated[-_MOST_TRUNCATED:]))
        if len(gaps.truncated) > _MOST_TRUNCATED:
            self.is_partial = True
            note = _(
                "Hermes' index has only the beginning of {count:,} messages; {read:,} of them were "
                "read in full."
            )
            self.notes.append(note.format(count=len(gaps.truncated), read=_MOST_TRUNCATED))
