"""Words behind an emoji inside a word, such as `b` in `a🦊b`, to which no index leads.

They are rare: the rows that have some are read once, cached while the process lives, and completed from the new rows.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..connection.reader import Reader
from ..connection.schema import FtsKind
from ..connection.stored_values import as_int
from .fold import JOINER_BLOCKS, JOINERS, MARKS, fold
from .index_terms import ranges_with_terms, read_terms
from .message_rows import searched_columns, stored_text
from .terms import Matcher, fts_string

_SLICE = 500
"""Rows whose texts are read in one statement: some milliseconds of a lock."""
_TERMS = 200
"""Trigrams in one query."""
_MOST_TRIGRAMS = 2000
"""With more trigrams in which a letter follows an emoji, reading all rows is no slower."""

_JOINER = re.compile(f"[{JOINERS}]+")
_REST = re.compile(rf"[^\W_](?:[^\W_]|[{MARKS}])*")
_FIRST_BYTES = sorted({each.encode()[0] for each in JOINERS.replace("-", "")})
"""Bytes that an emoji begins with in UTF-8; text without them need not be read."""
_IS_MARK = re.compile(f"[{MARKS}]")


def joined_words(text: str) -> Iterator[str]:
    """Yield the words of a stored text that follow an emoji inside a word, folded.

    A word that goes on with an escape of JSON may be any word: it is yielded as "".
    """
    for match in () if text.isascii() else _JOINER.finditer(text):
        before = text[match.start() - 1 : match.start()]
        rest = _REST.match(text, match.end()) if before.isalnum() or _IS_MARK.match(before) else None
        if rest is not None:
            yield fold(unicodedata.normalize("NFC", rest[0])) if text[rest.end() : rest.end() + 2] != "\\u" else ""


@dataclass(frozen=True, slots=True)
class JoinedWords:
    """The rows with such words, in the part of the messages that has been read."""

    newest: int
    """The largest id that has been read."""
    oldest: int
    """The smallest id that has been read; so has everything between."""
    rows: Mapping[str, tuple[int, ...]]
    """Ids by word."""

    def having(self, group: Sequence[Matcher]) -> set[int]:
        """Return the ids of rows that may have a word of the group behind an emoji."""
        words = {"", *(word for each in group for word in each.index_words)}
        prefixes = tuple(each.index_words[-1] for each in group if each.index_words and each.is_prefix)
        matches = [ids for word, ids in self.rows.items() if word in words or (prefixes and word.startswith(prefixes))]
        return {key for ids in matches for key in ids}

    def with_rows(self, rows: Sequence[Sequence[object]], newest: int, oldest: int) -> JoinedWords:
        """Return this with further rows: id and texts of each."""
        new: dict[str, tuple[int, ...]] = {}
        for key, *texts in rows:
            for word in {word for text in texts for word in joined_words(stored_text(text))}:
                new[word] = (*new.get(word, self.rows.get(word, ())), as_int(key))
        return JoinedWords(newest, oldest, {**self.rows, **new} if new else self.rows)


def find_joined(
    reader: Reader, edges: tuple[int, int], down_to: int, stopped: Callable[[], bool] = lambda: False
) -> JoinedWords:
    """Find the rows with such words, in all new rows and in older ones down to an id; what has been read is cached.

    `edges` are the smallest and the largest id there is.
    """
    low, high = edges
    known = reader.shared.get(JoinedWords)
    if not isinstance(known, JoinedWords) or known.newest > high:
        known = JoinedWords(high, high + 1, {})
        trigrams = _trigrams_with_emoji(reader)
        if trigrams is not None:
            known = known.with_rows(_rows_with(reader, trigrams), high, low)
    sql = f"SELECT m.id, {searched_columns(reader)} FROM messages m WHERE m.id > ? AND m.id < ? ORDER BY m.id"
    while known.newest < high and not stopped():
        rows = reader.rows(f"{sql} LIMIT {_SLICE}", [known.newest, high + 1])
        known = known.with_rows(rows, as_int(rows[-1][0]) if len(rows) == _SLICE else high, known.oldest)
        reader.shared[JoinedWords] = known  # so that an interrupt loses one slice at the most
    while known.oldest > max(down_to, low) and not stopped():
        rows = reader.rows(f"{sql} DESC LIMIT {_SLICE}", [low - 1, known.oldest])
        known = known.with_rows(rows, known.newest, as_int(rows[-1][0]) if len(rows) == _SLICE else low)
        reader.shared[JoinedWords] = known
    reader.shared[JoinedWords] = known
    return known


def _trigrams_with_emoji(reader: Reader) -> list[str] | None:
    """Return the trigrams of an emoji and a letter after it; None where the trigram index cannot tell.

    It can tell where it holds every row, and where other characters follow the text of each row (inline indexes).
    """
    index, words = reader.schema.trigram, reader.schema.fts
    if index is None or words is None or index.kind is not FtsKind.INLINE:
        return None
    missing = f"SELECT 1 FROM messages m WHERE m.id NOT IN (SELECT d.id FROM {index.name}_docsize d) LIMIT 1"
    if f"{index.name}_docsize" not in reader.schema.tables or reader.rows(missing):
        return None
    trigrams: list[str] = []
    present = ranges_with_terms(reader, index, JOINER_BLOCKS)
    for block in JOINER_BLOCKS:
        terms = read_terms(reader, index, block, _MOST_TRIGRAMS) if block in present else []
        if len(terms) == _MOST_TRIGRAMS:
            return None
        trigrams += [term for term in terms if term[1:2].isalnum()]
    return trigrams


def _rows_with(reader: Reader, trigrams: Sequence[str]) -> Sequence[Sequence[object]]:
    """Return id and texts of the rows with one of the trigrams, and of messages with images and an emoji, of which the
    trigram index holds only the sentinel."""
    index, words = reader.schema.trigram, reader.schema.fts
    assert index is not None and words is not None
    has_emoji = " OR ".join(f"instr(CAST(m.content AS BLOB), x'{byte:02x}') > 0" for byte in _FIRST_BYTES)
    sql = f"SELECT m.id FROM messages m WHERE m.id IN (SELECT rowid FROM {words.name} WHERE {words.name} MATCH ?)"
    ids = {row[0] for row in reader.rows(f"{sql} AND ({has_emoji})", ['^ "json"'])}
    for start in range(0, len(trigrams), _TERMS):
        match = " OR ".join(map(fts_string, trigrams[start : start + _TERMS]))
        ids.update(row[0] for row in reader.rows(f"SELECT rowid FROM {index.name} WHERE {index.name} MATCH ?", [match]))
    return reader.rows_in(f"SELECT m.id, {searched_columns(reader)} FROM messages m WHERE m.id IN ({{keys}})", [*ids])
