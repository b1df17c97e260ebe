"""Words that the index holds under another spelling: joined to the escape before them, or to an emoji.

Tool calls, results and messages with pictures are stored as JSON. To the word index the line `\\npuffin` in it is
the word `npuffin`, `\\u2019tis` is `u2019tis`, and `café` is two words, `caf` and `u00e9`. Most emoji are letters to
it (`fold.JOINERS`): `🦊fox` is one word. So that `puffin`, `tis`, `café`, `cafe` and `fox` are found, these spellings
are asked for too, and whatever they lead to is checked in the text.

No index leads to `b` in `a🦊b`. Such words are rare, so the rows that have some are looked for once, kept for as long
as the process lives, and completed from the new rows.
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
from .query import TermKind
from .rows import searched_columns, stored_text
from .terms import Matcher, quote, words_of
from .trigrams import quoted, variants

_NO_WORD = {code: " " for code in range(128) if not chr(code).isalnum()}
_LINES = "ntrbf"
"""Letters of the escapes of JSON that a word may follow; after others the word stands alone."""
_SIGNS = (("u0000", "u0020"), ("u007f", "u00c0"), ("u2000", "u2c00"), ("u3000", "u3030"), ("udc00", "uf900"),
          ("ufe00", "ufe10"), ("uff00", "uff10"))  # fmt: skip
"""Where the escapes are of what is no letter: controls, punctuation, symbols, second halves of emoji, private signs."""
_MARKS = ("u0300", "u0332")
"""Where the escapes are of the marks that decomposed text has behind a letter."""
_ESCAPE = re.compile("u[0-9a-f]{4}")
_MOST_TERMS = 5000
"""Words with an emoji in them that are known; where there are more, an answer says that it is not complete."""
_BLOCKS = (("u00c0", "u0100"), ("u0100", "u0250"), ("u1e00", "u1f00"))
"""Where the escapes of accented letters are: most stores have none of the last two."""
_MOST = 48
"""Spellings of a word; where there are more, it is asked for up to its first accent and a little beyond."""


@dataclass(frozen=True, slots=True)
class _Phrase:
    """Words that follow each other in the index."""

    words: tuple[str, ...]
    is_begun: bool
    """The last of them is the beginning of one."""

    def behind(self, letter: str) -> _Phrase:
        """The same behind an escape."""
        return _Phrase((letter + self.words[0], *self.words[1:]), self.is_begun)

    def span(self, at: int) -> tuple[str, str]:
        """Where in the vocabulary one of the words stands: the smallest term, and the first one too large."""
        word = self.words[at].lower()
        return word, word + ("\U0010ffff" if self.is_begun and at == len(self.words) - 1 else "\x01")

    def __str__(self) -> str:
        return quote(" ".join(self.words)) + "*" * self.is_begun


class Escapes:
    """What of other spellings there is in an index; kept while a connection lives and nobody writes."""

    def __init__(self) -> None:
        self._version: object = None
        self._signs: tuple[str, ...] = ()
        self._emoji: tuple[tuple[str, tuple[str, ...]], ...] = ()
        self.marks: tuple[str, ...] = ()
        """The escapes of marks that words of the index begin with."""
        self.is_cut = False
        """There are more words with an emoji in them than are known."""

    def begin(self, reader: Reader, index: FtsIndex) -> Escapes:
        """Look at the vocabulary, unless that has been done."""
        version = reader.value("PRAGMA data_version")
        if version != self._version:
            asked = (*_SIGNS, _MARKS, *JOINER_BLOCKS)
            there = [
                block for block, is_in in zip(asked, reader.index_has_terms(index.name, asked), strict=True) if is_in
            ]
            escapes = [escape for block in there if block in _SIGNS for escape in _signs(reader, index, block)]
            self._signs, self.is_cut = tuple(escapes), False
            self.marks = tuple(_signs(reader, index, _MARKS)) if _MARKS in there else ()
            terms = [term for block in there if block in JOINER_BLOCKS for term in self.terms(reader, index, block)]
            self._emoji = tuple((term, words_of(term)) for term in terms)
            self._version = version
        return self

    def terms(self, reader: Reader, index: FtsIndex, block: tuple[str, str]) -> list[str]:
        """The words of the index in a block, as many as are asked for at once."""
        found = reader.index_terms(index.name, *block, _MOST_TERMS)
        self.is_cut = self.is_cut or len(found) == _MOST_TERMS
        return found

    def joined(self, word: str, *, is_begun: bool) -> list[_Phrase]:
        """A word behind an escape, or after an emoji that begins a word."""
        found = [_Phrase((sign + word,), is_begun) for sign in (*_LINES, *self._signs)]
        for term, words in self._emoji:
            if any(each.startswith(word) if is_begun else each == word for each in words):
                found.append(_Phrase((term,), False))
        return found


def _signs(reader: Reader, index: FtsIndex, block: tuple[str, str]) -> Iterator[str]:
    """The escapes of signs in a block that words of the index begin with."""
    first, beyond = block
    while terms := reader.index_terms(index.name, first, beyond, 1):
        escape = terms[0][:5]
        if _ESCAPE.fullmatch(escape) and not chr(int(escape[1:], 16)).isalnum():
            yield escape
        first = escape + "\U0010ffff"


def _either(ways: Sequence[str]) -> str:
    return ways[0] if len(ways) == 1 else f"({' OR '.join(ways)})"


def _standing(reader: Reader, index: FtsIndex, phrases: Sequence[_Phrase]) -> list[str]:
    """For MATCH: those of the phrases whose words are all in the index; to look for the others is dear."""
    spans = [[phrase.span(at) for at in range(len(phrase.words))] for phrase in phrases]
    asked = list(dict.fromkeys(span for each in spans for span in each))
    there = dict(zip(asked, reader.index_has_terms(index.name, asked), strict=True)) if asked else {}
    found = (str(phrase) for phrase, each in zip(phrases, spans, strict=True) if all(there[span] for span in each))
    return list(dict.fromkeys(found))


def _of_words(
    reader: Reader, index: FtsIndex, escapes: Escapes, words: Sequence[str], *, is_begun: bool
) -> list[list[str]]:
    """For MATCH, by word: what it may be joined to, alternatives."""
    found: list[list[str]] = []
    for at, word in enumerate(words):
        begun = is_begun and at == len(words) - 1
        joined = escapes.joined(word, is_begun=begun)
        if not begun:  # one that has only begun is asked for with all that it may go on with
            ends = [(word + first, word + beyond) for first, beyond in JOINER_BLOCKS]
            wide = (word + JOINER_BLOCKS[0][0], word + JOINER_BLOCKS[-1][1])
            there = zip(ends, reader.index_has_terms(index.name, ends, [wide]), strict=True)
            joined += [
                _Phrase((term,), False) for end, is_in in there if is_in for term in escapes.terms(reader, index, end)
            ]
        found.append(_standing(reader, index, joined))
    return found


def _of_term(reader: Reader, index: FtsIndex, escapes: Escapes, each: Matcher) -> list[str]:
    """For MATCH: a term as it may stand in JSON, or beside an emoji, alternatives."""
    spelled = [_Phrase(words, each.is_prefix or not each.asked) for words in each.in_json]
    spelled += _accented(reader, index, escapes, each)
    if each.asked:
        spelled += [phrase.behind(letter) for phrase in spelled for letter in _LINES]
    found = _standing(reader, index, spelled)
    ways = _of_words(reader, index, escapes, each.asked, is_begun=each.is_prefix)
    plain = [str(_Phrase((word,), each.is_prefix and at == len(ways) - 1)) for at, word in enumerate(each.asked)]
    for at, joined in enumerate(ways):
        if joined:
            rest = [_either([plain[place], *way]) for place, way in enumerate(ways) if place != at]
            found.append(f"({' AND '.join([_either(joined), *rest])})" if rest else _either(joined))
    return found


def other_spellings(reader: Reader, index: FtsIndex, group: Sequence[Matcher], *, whole: bool = False) -> str:
    """For MATCH: a group of terms where at least one stands in another spelling; empty where that cannot be.

    Args:
        reader: An open reader.
        index: The word index.
        group: All must be there.
        whole: The beginnings of words too that are dear to ask for; else those are left out.
    """
    known = [
        each
        for each in group
        if (whole or not each.is_short) and (each.asked or each.in_json or each.term.kind is TermKind.INSIDE)
    ]
    if not known:
        return ""
    escapes = reader.keep(Escapes).begin(reader, index)
    ways = [(each.fts if each.asked else "", _of_term(reader, index, escapes, each)) for each in known]
    found = []
    for at, (_, others) in enumerate(ways):
        if others:
            rest = [_either([plain, *other]) for place, (plain, other) in enumerate(ways) if place != at and plain]
            found.append(" AND ".join([_either(others), *rest]))
    return " OR ".join(f"({way})" for way in found)


def any_spelling(reader: Reader, index: FtsIndex, group: Sequence[Matcher], *, cheap: bool = False) -> str:
    """For MATCH: a group of terms in any spelling.

    Args:
        reader: An open reader.
        index: The word index.
        group: All must be there; those that are no words are left out.
        cheap: Leave out the beginnings of words that are dear to ask for.
    """
    known = [each for each in group if each.asked and not (cheap and each.is_short and not each.cheap_fts)]
    if not known:
        return ""
    escapes = reader.keep(Escapes).begin(reader, index)
    ways: list[list[str]] = []
    for each in known:
        if cheap and each.is_short:
            words = each.asked[:-1]
            joined = _of_words(reader, index, escapes, words, is_begun=False)
            ways += [[quote(word), *way] for word, way in zip(words, joined, strict=True)]
        else:
            ways.append([each.fts, *_of_term(reader, index, escapes, each)])
    return " AND ".join(map(_either, ways))


def _accented(reader: Reader, index: FtsIndex, escapes: Escapes, each: Matcher) -> list[_Phrase]:
    """Words without accents as JSON spells them with some, where such letters are in the index."""
    text = " ".join(each.asked) or (each.anchor if each.term.kind is TermKind.INSIDE else "")
    if not text.isascii():
        return []
    standing = _letters(reader, index, sorted({letter for letter in text if letter.isalpha()}))
    ways = [
        (letter, *(f" {escape}" for escape in standing.get(letter, ())),
         *(f"{letter} {escape}" for escape in escapes.marks if letter.isalpha()))
        for letter in text
    ]  # fmt: skip
    count = prod(map(len, ways))
    if count == 1:
        return []
    if each.asked and count <= _MOST:
        found = [_Phrase(tuple("".join(letters).split()), each.is_prefix) for letters in product(*ways)]
    else:
        found = list(_up_to_first(ways, is_inside=not each.asked))
    return [phrase for phrase in dict.fromkeys(found) if phrase.words != each.asked]


def _letters(reader: Reader, index: FtsIndex, letters: Sequence[str]) -> dict[str, list[str]]:
    """By letter: the escapes of it with an accent that words of the index begin with."""
    found = [
        (letter, f"u{ord(each):04x}")
        for letter in letters
        for lower in variants(letter)
        for each in (lower, lower.upper())
        if len(each) == 1
    ]
    ranges = [(escape, escape[:-1] + chr(ord(escape[-1]) + 1)) for _, escape in found]
    standing: dict[str, list[str]] = {}
    for (letter, escape), is_there in zip(found, reader.index_has_terms(index.name, ranges, _BLOCKS), strict=True):
        if is_there:
            standing.setdefault(letter, []).append(escape)
    return standing


def _up_to_first(ways: Sequence[Sequence[str]], *, is_inside: bool) -> Iterator[_Phrase]:
    """Text with its first accent at each place there may be one, and on to the next such place.

    Inside a word nothing is said of what stands before the accent: it may go on to the left.
    """
    places = [place for place, way in enumerate(ways) if len(way) > 1]
    plain = [way[0] for way in ways]
    for place, beyond in zip(places, [*places[1:], len(ways)], strict=True):
        for other in ways[place][1:]:
            after = "".join([other, *plain[place + 1 : beyond]])
            spelled = after[after.index(" ") :] if is_inside else "".join(plain[:place]) + after
            words = spelled.translate(_NO_WORD).split()
            yield _Phrase(tuple(words), True)


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
    sql = f"SELECT m.id, {searched_columns(reader)} FROM messages m WHERE m.id > ? AND m.id < ? ORDER BY m.id"
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
        match = " OR ".join(map(quoted, trigrams[start : start + _TERMS]))
        ids.update(row[0] for row in reader.rows(f"SELECT rowid FROM {index.name} WHERE {index.name} MATCH ?", [match]))
    return list(
        reader.rows_in(f"SELECT m.id, {searched_columns(reader)} FROM messages m WHERE m.id IN ({{keys}})", [*ids])
    )
