"""Words that the index holds under another spelling: joined to the escape before them, or to an emoji.

Tool calls, results and messages with pictures are stored as JSON. To the word index the line `\\npuffin` in it is
the word `npuffin`, `\\u2019tis` is `u2019tis`, and `café` is two words, `caf` and `u00e9`. An emoji that is younger
than the tables of FTS5 (Unicode 6.1) is a letter to it: `🦊fox` is one word. So that `puffin`, `tis`, `café`, `cafe`
and `fox` are found, these spellings are asked for too, and whatever they lead to is checked in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import product

from ..connect import Reader
from ..schema import FtsIndex
from .terms import Matcher, quote, words_of
from .trigrams import variants

_LINES = "ntrbf"
"""Letters of the escapes of JSON that a word may follow; after others the word stands alone."""
_SIGNS = (("u0000", "u0020"), ("u007f", "u00c0"), ("u2000", "u2c00"), ("u3000", "u3030"), ("udc00", "ue000"),
          ("ufe00", "ufe10"), ("uff00", "uff10"))  # fmt: skip
"""Where the escapes are of what is no letter: controls, punctuation, symbols, second halves of emoji."""
_ESCAPE = re.compile("u[0-9a-f]{4}")
_EMOJI = ("\U0001f000", "\U00020000")
_MOST_TERMS = 5000
_LAST = "\u017f"
"""Accented letters up to here are asked for: those of European languages."""
_BLOCKS = (("u00c0", "u0100"), ("u0100", "u017g"))
"""Where their escapes are: most stores have none of the second."""
_SHORTEST = 3
"""Letters of a word that is still being typed: with fewer, what begins with them is looked for in the newest rows."""
_MOST = 48
"""Spellings of a word; where there are more, those with one accent."""


class Escapes:
    """What of other spellings there is in an index; kept while a connection lives and nobody writes."""

    def __init__(self) -> None:
        self._version: object = None
        self._signs: tuple[str, ...] = ()
        self._emoji: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def begin(self, reader: Reader, index: FtsIndex) -> Escapes:
        """Look at the vocabulary, unless that has been done."""
        version = reader.value("PRAGMA data_version")
        if version != self._version:
            *signs, emoji = reader.index_has_terms(index.name, [*_SIGNS, _EMOJI])
            blocks = [block for block, is_there in zip(_SIGNS, signs, strict=True) if is_there]
            self._signs = tuple(sign for block in blocks for sign in _signs(reader, index, block))
            terms = reader.index_terms(index.name, *_EMOJI, _MOST_TERMS) if emoji else []
            self._emoji = tuple((term, words_of(term)) for term in terms)
            self._version = version
        return self

    def joined(self, word: str, *, is_prefix: bool) -> list[str]:
        """For MATCH: the word behind an escape, or an emoji at the beginning."""
        star = "*" if is_prefix else ""
        found = [quote(sign + word) + star for sign in (*_LINES, *self._signs)]
        for term, words in self._emoji:
            if any(each.startswith(word) if is_prefix else each == word for each in words):
                found.append(quote(term))
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


def _of_term(reader: Reader, index: FtsIndex, escapes: Escapes, each: Matcher) -> list[str]:
    """For MATCH: a term as it may stand in JSON, or beside an emoji, alternatives."""
    found = [quote(" ".join(words)) + ("*" if each.is_prefix or not each.asked else "") for words in each.in_json]
    if each.asked:
        found += [
            quote(" ".join([letter + words[0], *words[1:]])) + "*" * each.is_prefix
            for words in each.in_json
            for letter in _LINES
        ]
    last = len(each.asked) - 1
    ways = [escapes.joined(word, is_prefix=each.is_prefix and at == last) for at, word in enumerate(each.asked)]
    if not each.is_prefix and last >= 0:
        ends = (each.asked[-1] + _EMOJI[0], each.asked[-1] + _EMOJI[1])
        if reader.index_has_terms(index.name, [ends]) == [True]:
            ways[-1] += map(quote, reader.index_terms(index.name, *ends, _MOST_TERMS))
    for at, joined in enumerate(ways):
        rest = [
            _either([quote(word) + "*" * (each.is_prefix and place == last), *ways[place]])
            for place, word in enumerate(each.asked)
            if place != at
        ]
        found.append(" AND ".join([_either(joined), *rest]) if rest else _either(joined))
    for way in _accented(reader, index, each):
        words = way.split()
        found += [quote(" ".join([start + words[0], *words[1:]])) + "*" * each.is_prefix for start in ("", *_LINES)]
    return [f"({way})" for way in dict.fromkeys(found)]


def otherwise(reader: Reader, index: FtsIndex, group: Sequence[Matcher], *, whole: bool = False) -> str:
    """For MATCH: a group of terms where at least one stands in another spelling; empty where that cannot be.

    Args:
        reader: An open reader.
        index: The word index.
        group: All must be there.
        whole: The beginnings of words too that are dear to ask for; else those are left out.
    """
    known = [each for each in group if (whole or not each.is_short) and (each.asked or each.in_json)]
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


def anyhow(reader: Reader, index: FtsIndex, group: Sequence[Matcher], *, cheap: bool = False) -> str:
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
    ways = [
        [each.cheap_fts] if cheap and each.is_short else [each.fts, *_of_term(reader, index, escapes, each)]
        for each in known
    ]
    return " AND ".join(map(_either, ways))


def _accented(reader: Reader, index: FtsIndex, each: Matcher) -> list[str]:
    """Words without accents as JSON spells them with some, where such letters are in the index."""
    words = each.asked
    if not words or not all(word.isascii() for word in words):
        return []
    if each.is_prefix and len(words[-1]) < _SHORTEST:
        return []
    standing = _standing(reader, index, sorted({letter for word in words for letter in word}))
    return _phrases(words, standing)[1:] if standing else []


def _standing(reader: Reader, index: FtsIndex, letters: Sequence[str]) -> dict[str, list[str]]:
    """By letter: the escapes of it with an accent that words of the index begin with."""
    found = [
        (letter, f"u{ord(each):04x}")
        for letter in letters
        for lower in variants(letter)
        for each in (lower, lower.upper())
        if len(each) == 1 and each <= _LAST
    ]
    ranges = [(escape, escape[:-1] + chr(ord(escape[-1]) + 1)) for _, escape in found]
    standing: dict[str, list[str]] = {}
    for (letter, escape), is_there in zip(found, reader.index_has_terms(index.name, ranges, _BLOCKS), strict=True):
        if is_there:
            standing.setdefault(letter, []).append(escape)
    return standing


def _phrases(words: Sequence[str], standing: dict[str, list[str]]) -> list[str]:
    """The words of a term in all their spellings, the plain one first."""
    letters = list(" ".join(words))
    ways = [[letter, *(f" {escape}" for escape in standing.get(letter, ()))] for letter in letters]
    count = 1
    for each in ways:
        count *= len(each)
    spelled = map("".join, product(*ways)) if count <= _MOST else _with_one(ways)
    return list(dict.fromkeys(" ".join(each.split()) for each in spelled))


def _with_one(ways: Sequence[Sequence[str]]) -> Iterator[str]:
    plain = [each[0] for each in ways]
    yield "".join(plain)
    for place, each in enumerate(ways):
        for other in each[1:]:
            yield "".join([*plain[:place], other, *plain[place + 1 :]])
