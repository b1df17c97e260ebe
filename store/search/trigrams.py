"""What the trigram index can say of words: a quick superset of the rows that a prefix of three letters or more is in.

A prefix makes the word index merge the rows of every word that begins so before it gives the first, which on a
million messages takes up to a hundred milliseconds. The trigram index gives rows with the same letters anywhere,
newest first, at once. Its letters keep their accents and those of the word index do not, so the accented
letters that stand in the store are asked for as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, product
from math import ceil, prod

from ..connection.connect import Reader
from ..connection.schema import FtsIndex
from .fold import fold
from .terms import Matcher
from .walk import Walk, beginning, bounds, indexed, merge

_MARKS = ("\u0300", "\u0332")
"""A range that holds every mark the word index drops inside a word (`fold.MARKS`)."""
_LETTERS = range(0x80, 0x2200)
"""Where letters are that fold to ASCII ones; a test looks at all the others."""
_BLOCKS = (("\u0100", "\u0180"), ("\u0180", "\u0250"), ("\u1e00", "\u1f00"))
"""Most stores have no letter of these: then not each of them is asked for."""
_MOST_SPELLINGS = 24
_MOST_MARKED = 300
"""Trigrams with marks that are asked for; where there are more, the rows are scanned."""


@cache
def _variants() -> dict[str, tuple[str, ...]]:
    """By letter: the lower-case letters with accents that are folded to it, and other forms of it."""
    found: dict[str, set[str]] = {}
    for code in _LETTERS:
        lowered = chr(code).lower()
        folded = fold(lowered)
        if folded.isalpha() and not lowered.isascii() and len(lowered) == 1 and folded != lowered:
            found.setdefault(folded, set()).add(lowered)
    return {letter: tuple(sorted(letters)) for letter, letters in found.items()}


def variants(letter: str) -> tuple[str, ...]:
    """The lower-case letters with accents, and other forms, that the word index folds to a letter."""
    return _variants().get(letter, ())


def quoted(text: str) -> str:
    """A text for MATCH on the trigram index, letter for letter."""
    return '"' + text.replace('"', '""') + '"'


def superset(reader: Reader, index: FtsIndex, words: Iterable[str]) -> str:
    """For MATCH on the trigram index: all rows with these words, or with words that begin with them, and some more.

    Args:
        reader: An open reader.
        index: The trigram index.
        words: Folded words, or other signs as they stand in the text; those shorter than three letters are left out.

    Returns:
        Empty when nothing can be said: no word is long enough, or the store has letters that cannot be asked for.
    """
    asked = [word for word in words if len(word) >= 3]
    if not asked or not all(word.isascii() and word.isprintable() for word in asked):
        return ""
    has_marks, ways = _ways(reader, index, "".join(asked))
    return "" if has_marks else " AND ".join(filter(None, (_spellings(word, ways) for word in asked)))


def with_accents(reader: Reader, index: FtsIndex, text: str) -> str:
    """For MATCH on the trigram index: all rows with these letters anywhere, with accents or without, and some more.

    Args:
        reader: An open reader.
        index: The trigram index.
        text: Folded, three characters or more.

    Returns:
        Empty where there would be too many spellings.
    """
    if not any(letter.isalpha() and (letter.isascii() or variants(letter)) for letter in text):
        return quoted(text)
    has_marks, ways = _ways(reader, index, text)
    plain = _spellings(text, ways)
    marked = _marked(reader, index, text, ways) if has_marks and plain else []
    return f"({' OR '.join([plain, *map(quoted, marked)])})" if plain and marked is not None else ""


def _ways(reader: Reader, index: FtsIndex, text: str) -> tuple[bool, dict[str, tuple[str, ...]]]:
    """Whether the store has text with marks of their own, and by letter of a text the forms of it that stand there."""
    letters = sorted(set(text))
    forms = [each for letter in letters for each in variants(letter)]
    ranges = [_MARKS, *((each, chr(ord(each) + 1)) for each in forms)]
    has_marks, *present = reader.index_has_terms(index.name, ranges, _BLOCKS)
    standing = {each for each, is_there in zip(forms, present, strict=True) if is_there}
    return has_marks, {letter: (letter, *(each for each in variants(letter) if each in standing)) for letter in letters}


def _marked(reader: Reader, index: FtsIndex, text: str, ways: dict[str, tuple[str, ...]]) -> list[str] | None:
    """The trigrams of a text in which a letter has a mark of its own: the first such letter with the one before it and
    its mark, or, where it is the first of all, with what follows. None where they are too many."""
    begun = list(ways[text[0]])
    begun += ["".join(two) for at in range(1, len(text) - 1) for two in product(ways[text[at - 1]], ways[text[at]])]
    ranges = [(each + _MARKS[0], each + _MARKS[1]) for each in dict.fromkeys(begun)]
    found: list[str] = []
    for span, is_there in zip(ranges, reader.index_has_terms(index.name, ranges), strict=True):
        found += reader.index_terms(index.name, *span, _MOST_MARKED + 1) if is_there else []
    return found if len(found) <= _MOST_MARKED else None


def newest(walk: Walk, index: FtsIndex, match: str, rows: int, most: int) -> list[int]:
    """Which of so many rows at the beginning of a run match.

    Args:
        walk: The run.
        index: The trigram index.
        match: From `superset`.
        rows: How far to look, in ids.
        most: How many to give at most.
    """
    low, high = beginning(walk, rows)
    found = walk.reader.rows(
        f"SELECT rowid FROM {index.name} WHERE {index.name} MATCH ? AND rowid BETWEEN ? AND ? "
        f"ORDER BY rowid {'ASC' if walk.ascending else 'DESC'} LIMIT ?",
        [match, low, high, most],
    )
    return [int(str(row[0])) for row in found]


def _spellings(word: str, spelled: dict[str, tuple[str, ...]]) -> str:
    """The word with and without accents; where that is too many, its beginning or another part, at worst nothing."""
    for length in (len(word), 5, 3):
        for start in range(max(len(word) - length, 0) + 1):
            ways = [spelled[letter] for letter in word[start : start + length]]
            if prod(map(len, ways)) <= _MOST_SPELLINGS:
                return "(" + " OR ".join(quoted("".join(letters)) for letters in product(*ways)) + ")"
    return ""


# What follows weighs reading candidates against merging a prefix; it was measured on one million messages.
_ROW_COST, _MERGE_COST = 35.0, 0.1
"""Microseconds to read a candidate, and to merge a row of a prefix; on other machines in about the same relation."""
_FEW, _MANY = 15_000, 150_000
"""Rows with a prefix that are merged within 2 ms, so that nothing is weighed; and within a frame, 15 ms, which is spent
where candidates are far between."""
_NEAR, _PAGE = 20_000, 64
"""Candidates are far between where there are less than two pages of them among so many ids."""
_SAMPLE = 2000
"""Ids in which a word is counted, to tell how many rows have it: to 7 % where one in ten has."""
_ENOUGH, _TRIED = 24, 500
"""Candidates that are read before their share of hits is believed, and at the most: 18 ms."""


def is_absent(walk: Walk, index: FtsIndex, prefix: Matcher) -> bool:
    """Whether no word begins so. Where each of its trigrams is common and they never meet, they are slow to tell."""
    if index.tokenizer != "unicode61":
        return False
    word = prefix.words[-1]
    if walk.reader.rows(f"SELECT rowid FROM {index.name} WHERE {index.name} MATCH ? LIMIT 1", [f'"{word}"']):
        return False
    longer = (f"{word}0", word[:-1] + chr(ord(word[-1]) + 1))
    return walk.reader.index_has_terms(index.name, [longer]) == [False]


def _merged(walk: Walk, trigram: FtsIndex, known: Sequence[Matcher], whole: int) -> float:
    """About how many rows the word index has to merge for the words that are still being typed, at the most."""
    found = 0.0
    for each in known:
        letters = superset(walk.reader, trigram, each.words[-1:]) if each.is_prefix else ""
        if letters:
            most = ceil(_MANY * _SAMPLE / whole) + 1
            found += len(newest(walk, trigram, letters, _SAMPLE, most)) * max(whole / _SAMPLE, 1)
    return found


def by_letters(
    walk: Walk, index: FtsIndex, trigram: FtsIndex, known: Sequence[Matcher], wide: str, pictured: Iterator[int]
) -> Iterator[int]:
    """Candidates for words of which one is still being typed: rows with its letters, or what the word index gives.

    Letters lead to their rows at once where there are many of them; where there are few, it is slow to see where
    all meet, and the word index has little to merge. What there is shows in the newest rows, and in how many of
    those with the letters have the words.

    Args:
        walk: The run.
        index: The word index.
        trigram: The substring index.
        known: The words.
        wide: From `superset` of them.
        pictured: Messages with pictures that may have them, which have no letters in the substring index.
    """
    match, tally = " AND ".join(each.fts for each in known), walk.tally
    low, high = bounds(walk)
    whole = max(high - low + 1, 1)
    is_one = len(known) == 1 and len(known[0].asked) == 1
    near = newest(walk, trigram, wide, _NEAR, _PAGE) if whole > _FEW else []
    is_dense = len(near) == _PAGE
    if whole <= _FEW:
        merged = 0.0
    elif is_one:
        merged = len(near) * whole / (abs(near[-1] - near[0]) + 1 if is_dense else _NEAR)
    else:
        merged = _merged(walk, trigram, known, whole)
    if merged <= _FEW or (not is_dense and merged <= _MANY):
        tally.is_sure = True
        yield from indexed(walk, index, match)
        return
    letters = chain(near, indexed(walk.beyond(near[-1]) if near else walk, trigram, wide, most=_TRIED))
    for seen, last in enumerate(merge(walk, [letters, pictured]), 1):
        yield last
        share = max(tally.had_the_words, 1) / max(tally.looked_at, 1)
        lacking = (tally.wanted - tally.had_the_words) if tally.wanted else _TRIED
        # With one word the rows that have it are that share of those with its letters.
        cost = merged * (share if is_one else 1.0) * _MERGE_COST
        if seen >= _TRIED or (tally.looked_at >= _ENOUGH and lacking / share * _ROW_COST > cost):
            tally.is_sure = True
            yield from indexed(walk.beyond(last), index, match)
            return
