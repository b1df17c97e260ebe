"""Queries of the trigram index for words: a quick superset of the rows that have a prefix of three letters or more.

For a prefix, the word index merges the rows of every word that begins so before it returns the first one, which takes
up to a hundred milliseconds on a million messages. The trigram index returns rows with the same letters anywhere,
newest first, at once. Its letters keep their accents and those of the word index do not, so the accented letters that
occur in the store are queried as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, product
from math import ceil, prod

from ..connection.reader import Reader
from ..connection.schema import FtsIndex
from .fold import fold
from .index_terms import ranges_with_terms, read_terms
from .terms import Matcher, fts_string
from .walk import Walk, indexed, merge

_MARKS = ("\u0300", "\u0332")
"""A range that holds every mark the word index drops inside a word (`fold.MARKS`)."""
_LETTERS = range(0x80, 0x2200)
"""The letters that fold to ASCII ones are in this range; a test checks all others."""
_BLOCKS = (("\u0100", "\u0180"), ("\u0180", "\u0250"), ("\u1e00", "\u1f00"))
"""Blocks of which most stores have no letter, tested before single letters."""
_MOST_SPELLINGS = 24
_MOST_MARKED = 300
"""Trigrams with marks in one query; where there are more, the rows are scanned."""


@cache
def _variants() -> dict[str, tuple[str, ...]]:
    found: dict[str, set[str]] = {}
    for code in _LETTERS:
        lowered = chr(code).lower()
        folded = fold(lowered)
        if folded.isalpha() and not lowered.isascii() and len(lowered) == 1 and folded != lowered:
            found.setdefault(folded, set()).add(lowered)
    return {letter: tuple(sorted(letters)) for letter, letters in found.items()}


def variants(letter: str) -> tuple[str, ...]:
    """Return the lower-case letters, accented or of another form, that the word index folds to a letter."""
    return _variants().get(letter, ())


def superset(reader: Reader, index: FtsIndex, words: Iterable[str]) -> str:
    """Return a MATCH expression for all rows with these words, or with words that begin with them, and some more.

    Words are folded, or literal text; those shorter than three letters are left out. Empty when none is long enough, or
    the store has letters that cannot be queried.
    """
    long = [word for word in words if len(word) >= 3]
    if not long or not all(word.isascii() and word.isprintable() for word in long):
        return ""
    has_marks, forms = _forms(reader, index, "".join(long))
    return "" if has_marks else " AND ".join(filter(None, (_spellings(word, forms) for word in long)))


def with_accents(reader: Reader, index: FtsIndex, text: str) -> str:
    """Return a MATCH expression for all rows with these letters anywhere, accented or not, and some more.

    The text is folded and has three characters or more. Empty where there would be too many spellings.
    """
    if not any(letter.isalpha() and (letter.isascii() or variants(letter)) for letter in text):
        return fts_string(text)
    has_marks, forms = _forms(reader, index, text)
    plain = _spellings(text, forms)
    marked = _marked(reader, index, text, forms) if has_marks and plain else []
    return f"({' OR '.join([plain, *map(fts_string, marked)])})" if plain and marked is not None else ""


def _forms(reader: Reader, index: FtsIndex, text: str) -> tuple[bool, dict[str, tuple[str, ...]]]:
    """Return whether the store has combining marks, and by letter of a text the forms of it that occur there."""
    letters = sorted(set(text))
    ranges = {each: (each, chr(ord(each) + 1)) for letter in letters for each in variants(letter)}
    present = ranges_with_terms(reader, index, [_MARKS, *ranges.values()], _BLOCKS)
    forms = {letter: (letter, *(each for each in variants(letter) if ranges[each] in present)) for letter in letters}
    return _MARKS in present, forms


def _marked(reader: Reader, index: FtsIndex, text: str, forms: dict[str, tuple[str, ...]]) -> list[str] | None:
    """Return the trigrams of a text in which a letter has a combining mark; None where they are too many.

    They are the first such letter with the one before it and its mark, or, at the beginning, with what follows.
    """
    starts = list(forms[text[0]])
    starts += ["".join(two) for at in range(1, len(text) - 1) for two in product(forms[text[at - 1]], forms[text[at]])]
    ranges = [(each + _MARKS[0], each + _MARKS[1]) for each in dict.fromkeys(starts)]
    present = ranges_with_terms(reader, index, ranges)
    trigrams: list[str] = []
    for each in ranges:
        trigrams += read_terms(reader, index, each, _MOST_MARKED + 1) if each in present else []
    return trigrams if len(trigrams) <= _MOST_MARKED else None


def _spellings(word: str, forms: dict[str, tuple[str, ...]]) -> str:
    """Return the word with and without accents; a part of it where that is too many, at worst nothing."""
    for length in (len(word), 5, 3):
        for start in range(max(len(word) - length, 0) + 1):
            letters = [forms[letter] for letter in word[start : start + length]]
            if prod(map(len, letters)) <= _MOST_SPELLINGS:
                return "(" + " OR ".join(fts_string("".join(each)) for each in product(*letters)) + ")"
    return ""


# What follows weighs reading candidates against merging a prefix; it was measured on one million messages.
_ROW_COST, _MERGE_COST = 35.0, 0.1
"""Microseconds to read a candidate, and to merge a row of a prefix; the ratio is about the same on other machines."""
_FEW, _MANY = 15_000, 150_000
"""Rows with a prefix: so few are merged within 2 ms, and the prefix is merged at once; so many within a frame, 15 ms,
which is spent only where candidates are sparse."""
_NEAR, _PAGE = 20_000, 64
"""Candidates are sparse where there are less than two pages of them among so many ids."""
_SAMPLE = 2000
"""Ids in which a word is counted, to estimate how many rows have it: to 7 % where one in ten has."""
_ENOUGH, _TRIED = 24, 500
"""Candidates that are read before their share of hits is trusted, and at most: 18 ms."""


def is_absent(walk: Walk, index: FtsIndex, prefix: Matcher) -> bool:
    """Whether no word begins so. Trigrams that are common but never meet are slow to tell."""
    if index.tokenizer != "unicode61":
        return False
    word = prefix.words[-1]
    if walk.reader.rows(f"SELECT rowid FROM {index.name} WHERE {index.name} MATCH ? LIMIT 1", [f'"{word}"']):
        return False
    longer = (f"{word}0", word[:-1] + chr(ord(word[-1]) + 1))
    return not ranges_with_terms(walk.reader, index, [longer])


def _newest(walk: Walk, index: FtsIndex, match: str, count: int, most: int) -> list[int]:
    """Return the ids that match among so many at the beginning of a run, `most` at the most."""
    return list(indexed(walk.split(count)[0], index, match, most=most, first=most))


def _merged(walk: Walk, trigram: FtsIndex, matchers: Sequence[Matcher], total: int) -> float:
    """Estimate how many rows the word index has to merge for the prefixes, at the most."""
    rows = 0.0
    for each in matchers:
        letters = superset(walk.reader, trigram, each.words[-1:]) if each.is_prefix else ""
        if letters:
            most = ceil(_MANY * _SAMPLE / total) + 1
            rows += len(_newest(walk, trigram, letters, _SAMPLE, most)) * max(total / _SAMPLE, 1)
    return rows


def by_letters(
    walk: Walk, index: FtsIndex, trigram: FtsIndex, matchers: Sequence[Matcher], wide: str, pictured: Iterator[int]
) -> Iterator[int]:
    """Yield candidates for words of which one is still being typed, from the trigram index or from the word index.

    The trigram index is quick where rows with the letters are dense. Where they are sparse, it is slow to find where
    all trigrams meet, and the word index has little to merge. The choice depends on how dense they are in the newest
    rows, and on how many of them have the words.

    `wide` is the `superset` of the words. `pictured` yields messages with images that may have them: the trigram index
    does not hold their text.
    """
    match, tally = " AND ".join(each.match for each in matchers), walk.tally
    low, high = walk.bounds()
    total = max(high - low + 1, 1)
    is_one = len(matchers) == 1 and len(matchers[0].index_words) == 1
    near = _newest(walk, trigram, wide, _NEAR, _PAGE) if total > _FEW else []
    is_dense = len(near) == _PAGE
    if total <= _FEW:
        merged = 0.0
    elif is_one:
        merged = len(near) * total / (abs(near[-1] - near[0]) + 1 if is_dense else _NEAR)
    else:
        merged = _merged(walk, trigram, matchers, total)
    if merged <= _FEW or (not is_dense and merged <= _MANY):
        tally.is_certain = True
        yield from indexed(walk, index, match)
        return
    letters = chain(near, indexed(walk.beyond(near[-1]) if near else walk, trigram, wide, most=_TRIED))
    for seen, last in enumerate(merge(walk, [letters, pictured]), 1):
        yield last
        share = max(tally.matched, 1) / max(tally.checked, 1)
        lacking = (tally.needed - tally.matched) if tally.needed else _TRIED
        # With one word, the rows that have it are that share of the rows with its letters.
        cost = merged * (share if is_one else 1.0) * _MERGE_COST
        if seen >= _TRIED or (tally.checked >= _ENOUGH and lacking / share * _ROW_COST > cost):
            tally.is_certain = True
            yield from indexed(walk.beyond(last), index, match)
            return
