"""Words that only an emoji parts from what stands before them: `b` in `a🦊b`, which is one word to the index.

No index leads to them by their beginnings. They are rare, so the rows that have some are looked for once, kept for as
long as the process lives, and completed from the new rows.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..connect import Reader
from ..schema import FtsKind
from .fold import JOINER_BLOCKS, JOINERS, MARKS, fold
from .kept import stored_text
from .terms import Matcher

_SLICE = 500
"""Rows whose texts are read in one statement: some milliseconds of a lock."""
_TERMS = 200
"""Trigrams asked for in one statement."""
_MOST_TRIGRAMS = 2000
"""With more trigrams in which a letter follows an emoji, reading all rows is no slower."""

_JOINER = re.compile(f"[{JOINERS}]+")
_REST = re.compile(rf"[^\W_](?:[^\W_]|[{MARKS}])*")
_FIRST_BYTES = sorted({each.encode()[0] for each in JOINERS.replace("-", "")})
"""Bytes that an emoji begins with in UTF-8; a text without them need not be read."""
_IS_MARK = re.compile(f"[{MARKS}]")


def joined_words(text: str) -> Iterator[str]:
    """The words of a stored text that follow an emoji inside a word, folded.

    A word that goes on with an escape of JSON may be any word: it is given as an empty one.
    """
    for match in () if text.isascii() else _JOINER.finditer(text):
        before = text[match.start() - 1 : match.start()]
        rest = _REST.match(text, match.end()) if before.isalnum() or _IS_MARK.match(before) else None
        if rest is not None:
            yield fold(unicodedata.normalize("NFC", rest[0])) if text[rest.end() : rest.end() + 2] != "\\u" else ""


@dataclass(frozen=True, slots=True)
class JoinedWords:
    """The rows that have such words, as far as they have been looked for."""

    newest: int
    """The largest id that has been looked at."""
    oldest: int
    """The smallest one; everything between has been looked at."""
    rows: Mapping[str, tuple[int, ...]]
    """Ids by word."""

    def having(self, group: Sequence[Matcher]) -> set[int]:
        """Ids of rows that may have a word of the group in such a place."""
        whole = {"", *(word for each in group for word in each.asked)}
        begun = tuple(each.asked[-1] for each in group if each.asked and each.is_prefix)
        found = [ids for word, ids in self.rows.items() if word in whole or (begun and word.startswith(begun))]
        return {key for ids in found for key in ids}

    def _with(self, rows: Sequence[Sequence[object]], newest: int, oldest: int) -> JoinedWords:
        found: dict[str, tuple[int, ...]] = {}
        for key, *texts in rows:
            for word in {word for text in texts for word in joined_words(stored_text(text))}:
                found[word] = (*found.get(word, self.rows.get(word, ())), int(str(key)))
        return JoinedWords(newest, oldest, {**self.rows, **found} if found else self.rows)


def find_joined(
    reader: Reader, edges: tuple[int, int], down_to: int, stopped: Callable[[], bool] = lambda: False
) -> JoinedWords:
    """The rows with such words: new ones are looked at first, older ones as far as is asked for.

    Args:
        reader: An open reader.
        edges: The smallest and the largest id there is.
        down_to: The smallest id to look at.
        stopped: Whether to leave off; what has been looked at by then is kept.

    Raises:
        StoreError: The store cannot be read.
    """
    low, high = edges
    known = reader.shared.get(JoinedWords)
    if not isinstance(known, JoinedWords) or known.newest > high:
        known = JoinedWords(high, high + 1, {})
        trigrams = _trigrams(reader)
        if trigrams is not None:
            known = known._with(_rows_of(reader, trigrams), high, low)
    sql = f"SELECT m.id, {_texts(reader)} FROM messages m WHERE m.id > ? AND m.id < ? ORDER BY m.id"
    while known.newest < high and not stopped():
        rows = reader.rows(f"{sql} LIMIT {_SLICE}", [known.newest, high + 1])
        known = known._with(rows, int(str(rows[-1][0])) if len(rows) == _SLICE else high, known.oldest)
        reader.shared[JoinedWords] = known  # an interrupt is to cost no more than a slice
    while known.oldest > max(down_to, low) and not stopped():
        rows = reader.rows(f"{sql} DESC LIMIT {_SLICE}", [low - 1, known.oldest])
        known = known._with(rows, known.newest, int(str(rows[-1][0])) if len(rows) == _SLICE else low)
        reader.shared[JoinedWords] = known
    reader.shared[JoinedWords] = known
    return known


def _trigrams(reader: Reader) -> list[str] | None:
    """The trigrams of an emoji and a letter after it; None where the trigram index cannot tell.

    It can where it holds every row, and where each row ends with characters that are not its text (inline indexes).
    """
    index, words = reader.schema.trigram, reader.schema.fts
    if index is None or words is None or index.kind is not FtsKind.INLINE:
        return None
    missing = f"SELECT 1 FROM messages m WHERE m.id NOT IN (SELECT d.id FROM {index.name}_docsize d) LIMIT 1"
    if f"{index.name}_docsize" not in reader.schema.tables or reader.rows(missing):
        return None
    found: list[str] = []
    for block, is_there in zip(JOINER_BLOCKS, reader.index_has_terms(index.name, JOINER_BLOCKS), strict=True):
        terms = reader.index_terms(index.name, *block, _MOST_TRIGRAMS) if is_there else []
        if len(terms) == _MOST_TRIGRAMS:
            return None
        found += [term for term in terms if term[1:2].isalnum()]
    return found


def _rows_of(reader: Reader, trigrams: Sequence[str]) -> list[Sequence[object]]:
    """The rows that have one of the trigrams, and messages with pictures, of which that index has only the mark."""
    index, words = reader.schema.trigram, reader.schema.fts
    assert index is not None and words is not None
    bytes_ = " OR ".join(f"instr(CAST(m.content AS BLOB), x'{first:02x}') > 0" for first in _FIRST_BYTES)  # not shown
    sql = f"SELECT m.id FROM messages m WHERE m.id IN (SELECT rowid FROM {words.name} WHERE {words.name} MATCH ?)"
    ids = {row[0] for row in reader.rows(f"{sql} AND ({bytes_})", ['^ "json"'])}
    for start in range(0, len(trigrams), _TERMS):
        match = " OR ".join('"' + each.replace('"', '""') + '"' for each in trigrams[start : start + _TERMS])
        ids.update(row[0] for row in reader.rows(f"SELECT rowid FROM {index.name} WHERE {index.name} MATCH ?", [match]))
    return list(reader.rows_in(f"SELECT m.id, {_texts(reader)} FROM messages m WHERE m.id IN ({{keys}})", [*ids]))


def _texts(reader: Reader) -> str:
    return ", ".join(reader.schema.message(column) for column in ("content", "tool_name", "tool_calls"))
