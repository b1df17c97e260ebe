"""An index of the names of conversations, which finds those that contain some words.

A name is the titles and ids of all segments of a conversation.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

_END = b"\n"
"""Behind each name in the text of a `TitleIndex`."""


def _folded(text: str) -> bytes:
    return text.casefold().encode("utf-8", "surrogatepass")


class TitleIndex:
    """Names of conversations, newest first, by their keys: one text that is searched by `bytes.find`.

    Scanning 100,000 names one by one would take several frames.
    """

    def __init__(self, keys: Sequence[str], names: Iterable[str]) -> None:
        self._keys = keys
        self._starts = array("Q")
        self._text = bytearray()
        """All names in UTF-8: in a `str`, one letter outside Latin-1 would make every letter take two bytes or four."""
        for name in names:
            self._starts.append(len(self._text))
            self._text += _folded(name).replace(_END, b" ") + _END

    def __len__(self) -> int:
        return len(self._keys)

    def find(self, words: Sequence[str]) -> Iterator[str]:
        """Yield the keys of names that contain all words, ignoring case, in order; without words, all keys."""
        folded = sorted(map(_folded, words), key=len, reverse=True)
        if not folded or not folded[0]:
            yield from self._keys
            return
        first, others = folded[0], folded[1:]
        position = self._text.find(first)
        while position >= 0:
            row = bisect_right(self._starts, position) - 1
            start = self._starts[row]
            end = self._starts[row + 1] if row + 1 < len(self._starts) else len(self._text)
            # A word that contains a line end may match across two names.
            if position + len(first) < end and all(self._text.find(each, start, end - 1) >= 0 for each in others):
                yield self._keys[row]
            elif position + len(first) >= end:
                end = position + 1
            position = self._text.find(first, end)


class NameIndex(NamedTuple):
    """Names of conversations, brought up to date without rebuilding the whole index: that takes half a second."""

    whole: TitleIndex
    """The index of all names at some moment."""
    fresh: TitleIndex = TitleIndex((), ())
    """The names that were added or changed since."""
    hidden: frozenset[str] = frozenset()
    """Keys of `whole` that were removed, or are in `fresh`."""
