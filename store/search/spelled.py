"""Words that the index holds in another spelling: joined to the escape before them, or to an emoji.

Tool calls, results and messages with images are stored as JSON. To the word index the line `\\npuffin` in it is the
word `npuffin`, `\\u2019tis` is `u2019tis`, and `café` is two words, `caf` and `u00e9`. Most emoji are letters to it
(`fold.JOINERS`): `🦊fox` is one word. So that `puffin`, `tis`, `café`, `cafe` and `fox` are found, these spellings are
queried too, and the rows they lead to are checked in the text.

No index leads to `b` in `a🦊b`. Such words are rare, so the rows that have some are read once, cached while the process
lives, and completed from the new rows.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from ..connection.connect import Reader
from ..connection.schema import FtsIndex, FtsKind
from .fold import JOINER_BLOCKS, JOINERS, MARKS, fold
from .index_terms import Range, ranges_with_terms, read_terms
from .message_rows import searched_columns, stored_text
from .query import TermKind
from .terms import Matcher, quote, words_of
from .trigrams import variants

_NO_WORD = {code: " " for code in range(128) if not chr(code).isalnum()}
_LINES = "ntrbf"
"""Letters of the escapes of JSON that the index joins to the word behind them."""
_SIGNS = (("u0000", "u0020"), ("u007f", "u00c0"), ("u2000", "u2c00"), ("u3000", "u3030"), ("udc00", "uf900"),
          ("ufe00", "ufe10"), ("uff00", "uff10"))  # fmt: skip
"""Ranges with the escapes of other signs: controls, punctuation, symbols, second halves of emoji, private ones."""
_MARKS = ("u0300", "u0332")
"""The range of the escapes of combining marks in decomposed text."""
_ESCAPE = re.compile("u[0-9a-f]{4}")
_MOST_TERMS = 5000
"""Words with an emoji that are read; where there are more, an answer says that it is not complete."""
_ACCENTED = (("u00c0", "u0100"), ("u0100", "u0250"), ("u1e00", "u1f00"))
"""Blocks of the escapes of accented letters: most stores have none of the last two."""
_MOST_SPELLINGS = 48
"""Spellings of a word; where there are more, only its beginning up to the first accent is queried."""


@dataclass(frozen=True, slots=True)
class _Phrase:
    """Words that follow each other in the index."""

    words: tuple[str, ...]
    is_prefix: bool
    """The last of them is a prefix."""

    def behind(self, letter: str) -> _Phrase:
        """Return the same phrase joined to a letter of an escape."""
        return _Phrase((letter + self.words[0], *self.words[1:]), self.is_prefix)

    def ranges(self) -> list[Range]:
        """Return for each word the range of terms it matches."""
        words = [word.lower() for word in self.words]
        ranges = [(word, word + "\x01") for word in words]
        if self.is_prefix:
            ranges[-1] = (words[-1], words[-1] + "\U0010ffff")
        return ranges

    def __str__(self) -> str:
        return quote(" ".join(self.words)) + "*" * self.is_prefix


class Escapes:
    """The escapes and the emoji that words of the index begin with; see `_read_escapes`."""

    def __init__(self) -> None:
        self.is_read = False
        self.signs: list[str] = []
        self.marks: list[str] = []
        """The escapes of combining marks."""
        self.emoji: list[tuple[str, tuple[str, ...]]] = []
        """Terms that begin with an emoji, and the words in each."""
        self.is_cut = False
        """There are more words with an emoji than were read."""

    def terms(self, reader: Reader, index: FtsIndex, between: Range) -> list[str]:
        """Return the words of the index in a range, as many as are read at once."""
        terms = read_terms(reader, index, between, _MOST_TERMS)
        self.is_cut = self.is_cut or len(terms) == _MOST_TERMS
        return terms

    def joined(self, word: str, *, is_prefix: bool) -> list[_Phrase]:
        """Return a word behind an escape, or behind an emoji at the beginning of a word."""
        phrases = [_Phrase((sign + word,), is_prefix) for sign in (*_LINES, *self.signs)]
        for term, words in self.emoji:
            if any(each.startswith(word) if is_prefix else each == word for each in words):
                phrases.append(_Phrase((term,), False))
        return phrases


def _read_escapes(reader: Reader, index: FtsIndex) -> Escapes:
    """Return the escapes and emoji of the word index, read once until the store changes."""
    escapes = reader.cached(Escapes)
    if not escapes.is_read:
        present = ranges_with_terms(reader, index, (*_SIGNS, _MARKS, *JOINER_BLOCKS))
        escapes.signs = [escape for block in _SIGNS if block in present for escape in _signs(reader, index, block)]
        escapes.marks = list(_signs(reader, index, _MARKS)) if _MARKS in present else []
        terms = [each for block in JOINER_BLOCKS if block in present for each in escapes.terms(reader, index, block)]
        escapes.emoji = [(term, words_of(term)) for term in terms]
        escapes.is_read = True
    return escapes


def _signs(reader: Reader, index: FtsIndex, block: Range) -> Iterator[str]:
    """Yield the escapes of signs in a block that words of the index begin with."""
    first, beyond = block
    while terms := read_terms(reader, index, (first, beyond), 1):
        escape = terms[0][:5]
        if _ESCAPE.fullmatch(escape) and not chr(int(escape[1:], 16)).isalnum():
            yield escape
        first = escape + "\U0010ffff"


def _any(expressions: Sequence[str]) -> str:
    return expressions[0] if len(expressions) == 1 else f"({' OR '.join(expressions)})"


def _present(reader: Reader, index: FtsIndex, phrases: Sequence[_Phrase]) -> list[str]:
    """Return for MATCH those of the phrases whose words are all in the index; querying the others is expensive."""
    ranges = [phrase.ranges() for phrase in phrases]
    present = ranges_with_terms(reader, index, list(dict.fromkeys(each for words in ranges for each in words)))
    return list(
        dict.fromkeys(str(phrase) for phrase, words in zip(phrases, ranges, strict=True) if present >= {*words})
    )


def _of_words(
    reader: Reader, index: FtsIndex, escapes: Escapes, words: Sequence[str], *, is_prefix: bool
) -> list[list[str]]:
    """Return for MATCH, by word, what it may be joined to: alternatives."""
    alternatives: list[list[str]] = []
    for at, word in enumerate(words):
        is_open = is_prefix and at == len(words) - 1
        joined = escapes.joined(word, is_prefix=is_open)
        if not is_open:  # a prefix matches what follows it anyway
            ends = [(word + first, word + beyond) for first, beyond in JOINER_BLOCKS]
            wide = (word + JOINER_BLOCKS[0][0], word + JOINER_BLOCKS[-1][1])
            present = ranges_with_terms(reader, index, ends, [wide])
            terms = [term for end in ends if end in present for term in escapes.terms(reader, index, end)]
            joined += [_Phrase((term,), False) for term in terms]
        alternatives.append(_present(reader, index, joined))
    return alternatives


def _of_term(reader: Reader, index: FtsIndex, escapes: Escapes, each: Matcher) -> list[str]:
    """Return for MATCH a term as it may be in JSON, or beside an emoji: alternatives."""
    words = each.index_words
    phrases = [_Phrase(spelled, each.is_prefix or not words) for spelled in each.in_json]
    phrases += _accented(reader, index, escapes, each)
    if words:
        phrases += [phrase.behind(letter) for phrase in phrases for letter in _LINES]
    expressions = _present(reader, index, phrases)
    by_word = _of_words(reader, index, escapes, words, is_prefix=each.is_prefix)
    plain = [str(_Phrase((word,), each.is_prefix and at == len(words) - 1)) for at, word in enumerate(words)]
    for at, joined in enumerate(by_word):
        if joined:  # this word in another spelling, and the rest in any
            rest = [_any([plain[place], *other]) for place, other in enumerate(by_word) if place != at]
            expressions.append(f"({' AND '.join([_any(joined), *rest])})" if rest else _any(joined))
    return expressions


def other_spellings(reader: Reader, index: FtsIndex, group: Sequence[Matcher], *, whole: bool = False) -> str:
    """Return for MATCH: all terms of a group, at least one of them in another spelling; empty where there is none.

    Short prefixes, which are expensive, are left out unless `whole` is set.
    """
    terms = [
        each
        for each in group
        if (whole or not each.is_short) and (each.index_words or each.in_json or each.term.kind is TermKind.INSIDE)
    ]
    if not terms:
        return ""
    escapes = _read_escapes(reader, index)
    by_term = [(each.match if each.index_words else "", _of_term(reader, index, escapes, each)) for each in terms]
    expressions = []
    for at, (_, others) in enumerate(by_term):
        if others:
            rest = [_any([plain, *other]) for place, (plain, other) in enumerate(by_term) if place != at and plain]
            expressions.append(" AND ".join([_any(others), *rest]))
    return " OR ".join(f"({expression})" for expression in expressions)


def any_spelling(reader: Reader, index: FtsIndex, group: Sequence[Matcher], *, cheap: bool = False) -> str:
    """Return for MATCH: all words of a group, in any spelling; `cheap` leaves out short prefixes."""
    queried = [(each, each.index_words[:-1] if cheap and each.is_short else each.index_words) for each in group]
    queried = [(each, words) for each, words in queried if words]
    if not queried:
        return ""
    escapes = _read_escapes(reader, index)
    expressions: list[list[str]] = []
    for each, words in queried:
        if words == each.index_words:
            expressions.append([each.match, *_of_term(reader, index, escapes, each)])
        else:
            joined = _of_words(reader, index, escapes, words, is_prefix=False)
            expressions += [[quote(word), *others] for word, others in zip(words, joined, strict=True)]
    return " AND ".join(map(_any, expressions))


def _accented(reader: Reader, index: FtsIndex, escapes: Escapes, each: Matcher) -> list[_Phrase]:
    """Return a term without accents as JSON spells it with some, where such letters are in the index."""
    text = " ".join(each.index_words) or (each.anchor if each.term.kind is TermKind.INSIDE else "")
    if not text.isascii():
        return []
    accented = _accented_letters(reader, index, sorted({letter for letter in text if letter.isalpha()}))
    forms = [
        (letter, *(f" {escape}" for escape in accented.get(letter, ())),
         *(f"{letter} {escape}" for escape in escapes.marks if letter.isalpha()))
        for letter in text
    ]  # fmt: skip
    count = prod(map(len, forms))
    if count == 1:
        return []
    if each.index_words and count <= _MOST_SPELLINGS:
        phrases = [_Phrase(tuple("".join(letters).split()), each.is_prefix) for letters in product(*forms)]
    else:
        phrases = list(_up_to_first(forms, is_inside=not each.index_words))
    return [phrase for phrase in dict.fromkeys(phrases) if phrase.words != each.index_words]


def _accented_letters(reader: Reader, index: FtsIndex, letters: Sequence[str]) -> dict[str, list[str]]:
    """Return by letter the escapes of its accented forms that words of the index begin with."""
    escapes = {
        letter: [f"u{ord(each):04x}" for lower in variants(letter) for each in (lower, lower.upper()) if len(each) == 1]
        for letter in letters
    }
    ranges = {each: (each, each[:-1] + chr(ord(each[-1]) + 1)) for forms in escapes.values() for each in forms}
    present = ranges_with_terms(reader, index, list(ranges.values()), _ACCENTED)
    return {letter: [each for each in forms if ranges[each] in present] for letter, forms in escapes.items()}


def _up_to_first(forms: Sequence[Sequence[str]], *, is_inside: bool) -> Iterator[_Phrase]:
    """Yield a text with its first accent at each place where one is possible, up to the next such place.

    Inside a word the part before the accent is left out: the word may begin further left.
    """
    places = [place for place, spellings in enumerate(forms) if len(spellings) > 1]
    plain = [spellings[0] for spellings in forms]
    for place, beyond in zip(places, [*places[1:], len(forms)], strict=True):
        for other in forms[place][1:]:
            after = "".join([other, *plain[place + 1 : beyond]])
            spelled = after[after.index(" ") :] if is_inside else "".join(plain[:place]) + after
            yield _Phrase(tuple(spelled.translate(_NO_WORD).split()), True)


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
                new[word] = (*new.get(word, self.rows.get(word, ())), int(str(key)))
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
        known = known.with_rows(rows, int(str(rows[-1][0])) if len(rows) == _SLICE else high, known.oldest)
        reader.shared[JoinedWords] = known  # so that an interrupt loses one slice at the most
    while known.oldest > max(down_to, low) and not stopped():
        rows = reader.rows(f"{sql} DESC LIMIT {_SLICE}", [low - 1, known.oldest])
        known = known.with_rows(rows, known.newest, int(str(rows[-1][0])) if len(rows) == _SLICE else low)
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
        match = " OR ".join(map(quote, trigrams[start : start + _TERMS]))
        ids.update(row[0] for row in reader.rows(f"SELECT rowid FROM {index.name} WHERE {index.name} MATCH ?", [match]))
    return reader.rows_in(f"SELECT m.id, {searched_columns(reader)} FROM messages m WHERE m.id IN ({{keys}})", [*ids])
