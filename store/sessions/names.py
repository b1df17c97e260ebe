"""Titles and ids of all conversations as one text, looked through at the speed of `bytes.find`.

Putting together the names of 100,000 conversations takes half a second, so that an index is kept for as long as it
is not too old: what has changed since stands in a small one in front of it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence

_END = b"\n"


def _folded(text: str) -> bytes:
    return text.casefold().encode("utf-8", "surrogatepass")


class TitleIndex:
    """Names of conversations, newest first; looking through 100,000 of them row by row would take several frames.

    Args:
        keys: In the order in which they are to be found.
        names: Of each; they are asked for once.
    """

    def __init__(self, keys: Sequence[str], names: Iterable[str]) -> None:
        self._keys = keys
        self._starts = array("Q")
        self._text = bytearray()
        """Of UTF-8: as text, one letter outside Latin would make each letter of all names take two bytes or four."""
        for name in names:
            self._starts.append(len(self._text))
            self._text += _folded(name).replace(_END, b" ") + _END

    def __len__(self) -> int:
        return len(self._keys)

    def find(self, words: Sequence[str]) -> Iterator[str]:
        """Keys of the names that contain all of these, whatever the case, in order.

        Args:
            words: Texts; none at all are contained in every name.
        """
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
            # A word with a line end in it may reach into the next name.
            if position + len(first) < end and all(self._text.find(each, start, end - 1) >= 0 for each in others):
                yield self._keys[row]
            elif position + len(first) >= end:
                end = position + 1
            position = self._text.find(first, end)


class NameIndex:
    """Names of conversations as they are now.

    Args:
        whole: Of some moment.
        fresh: Of those that are new or others since.
        hidden: Keys of `whole` that are no more, or stand in `fresh`.
    """

    def __init__(self, whole: TitleIndex, fresh: TitleIndex | None = None, hidden: Collection[str] = ()) -> None:
        self.whole = whole
        self.fresh = fresh or TitleIndex((), ())
        self.hidden = frozenset(hidden)

    def find(self, words: Sequence[str]) -> tuple[Iterator[str], Iterator[str]]:
        """Keys of the names that contain all of these words: of the fresh ones, and of the others, each in order."""
        return self.fresh.find(words), (key for key in self.whole.find(words) if key not in self.hidden)
