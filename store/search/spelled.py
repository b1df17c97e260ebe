"""Words that the index holds in another spelling: joined to the escape before them, or to an emoji.

Tool calls, results and messages with images are stored as JSON. To the word index the line `\\npuffin` in it is the
word `npuffin`, `\\u2019tis` is `u2019tis`, and `café` is two words, `caf` and `u00e9`. Most emoji are letters to it
(`fold.JOINERS`): `🦊fox` is one word. So that `puffin`, `tis`, `café`, `cafe` and `fox` are found, these spellings are
queried too, and the rows they lead to are checked in the text. No index leads to `b` in `a🦊b`: see `joined_words`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from ..connection.reader import Reader
from ..connection.schema import FtsIndex
from .fold import JOINER_BLOCKS
from .index_terms import Range, ranges_with_terms, read_terms
from .query import TermKind
from .terms import Matcher, fts_string, words_of
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
        return fts_string(" ".join(self.words)) + "*" * self.is_prefix


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
            expressions += [[fts_string(word), *others] for word, others in zip(words, joined, strict=True)]
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
