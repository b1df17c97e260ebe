"""Words without accents in the JSON of messages with pictures, where `café` is spelled `caf\\u00e9`.

The word index drops accents, but there the escape is what it has: the two words `caf` and `u00e9`. So that `cafe`
finds them, the word is asked for in those spellings too; only with letters whose escapes are in the index.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from ..connect import Reader
from ..schema import FtsIndex
from .terms import Matcher
from .trigrams import variants

_LAST = "\u017f"
"""Letters up to here are asked for: those of European languages."""
_BLOCKS = (("u00c0", "u0100"), ("u0100", "u017g"))
"""Where their escapes are: most stores have none of the second."""
_SHORTEST = 3
"""Letters of a word that is still being typed: with fewer, what begins with them is looked for in the newest rows."""
_MOST = 48
"""Spellings of a word; where there are more, those with one accent."""


def accented(reader: Reader, index: FtsIndex, group: Sequence[Matcher]) -> str:
    """For MATCH: a group of words as a message with pictures may spell them, with accents; empty where none can be.

    Args:
        reader: An open reader.
        index: The word index.
        group: All must be there.
    """
    known = [each for each in group if each.words]
    words = [word for each in known for word in each.words]
    if not words or not all(word.isascii() for word in words):
        return ""
    if any(each.is_prefix and len(each.words[-1]) < _SHORTEST for each in known):
        return ""
    standing = _standing(reader, index, sorted({letter for word in words for letter in word}))
    if not standing:
        return ""
    parts = [[f'"{each}"{"*" if term.is_prefix else ""}' for each in _phrases(term.words, standing)] for term in known]
    if all(len(part) == 1 for part in parts):
        return ""  # no letter of any has an accent that is in the index
    return " AND ".join(['^ "json"', *(f"({' OR '.join(part)})" for part in parts)])


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
