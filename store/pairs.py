"""Numbers by number, in eight bytes for each pair: a dictionary takes a hundred."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import groupby

LOW = 0xFFFF_FFFF
"""The bits of a pair that are its number."""


def pair(key: int, number: int) -> int:
    """A key with a number, both below 2**32, as one."""
    return key << 32 | number


class Pairs:
    """Numbers by number, in eight bytes for each pair; the numbers of one key are in order.

    Args:
        pairs: Of `pair`.
    """

    def __init__(self, pairs: Iterable[int]) -> None:
        self._pairs = array("Q", sorted(pairs))

    def all(self, key: int) -> list[int]:
        """The numbers of a key."""
        found = []
        for at in range(bisect_left(self._pairs, key << 32), len(self._pairs)):
            if self._pairs[at] >> 32 != key:
                break
            found.append(self._pairs[at] & LOW)
        return found

    def first(self, key: int) -> int | None:
        """The least number of a key; None without one."""
        at = bisect_left(self._pairs, key << 32)
        return self._pairs[at] & LOW if at < len(self._pairs) and self._pairs[at] >> 32 == key else None

    def each_key(self) -> Iterator[int]:
        """All keys, in order."""
        for key, _pairs in groupby(each >> 32 for each in self._pairs):
            yield key
