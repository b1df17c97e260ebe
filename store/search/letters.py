"""Words of which one is still being typed: led to by their letters or by the word index, whichever costs less.

The word index merges the rows of all words that begin so before it gives the first; the trigram index gives rows with
the letters anywhere at once, of which some have no such word. What a word costs is told by the newest rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from math import ceil

from ..schema import FtsIndex
from .terms import Matcher
from .trigrams import newest, superset
from .walk import Walk, bounds, indexed, merge

_FEW, _MANY = 15_000, 150_000
"""Rows with a prefix that the word index merges in no time, and those that it merges when all else is slow too."""
_NEAR, _PAGE, _SAMPLE = 20_000, 64, 2000
"""Ids among which there are to be so many candidates, else they are far between; and ids a word is counted in."""
_TRIED, _ENOUGH = 500, 24
"""Candidates that are read at the most, and before it is said how many of them are hits."""
_ROW_COST, _MERGE_COST = 35.0, 0.1
"""What it costs to read a candidate, and to merge a row of a prefix: microseconds, on any machine in this relation."""


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
        share = max(tally.had_terms, 1) / max(tally.looked_at, 1)
        lacking = (tally.wanted - tally.had_terms) if tally.wanted else _TRIED
        # With one word the rows that have it are that share of those with its letters.
        cost = merged * (share if is_one else 1.0) * _MERGE_COST
        if seen >= _TRIED or (tally.looked_at >= _ENOUGH and lacking / share * _ROW_COST > cost):
            tally.is_sure = True
            yield from indexed(walk.beyond(last), index, match)
            return
