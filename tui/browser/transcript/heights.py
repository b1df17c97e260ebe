"""The heights of all entries of a transcript, and which entry is at a line of the whole."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from .entries import TranscriptModel

_ESTIMATES = {"user": 5, "assistant": 8, "tool": 0}
_RULE, _OTHER = 2, 4

Place = tuple[int, int]
"""An entry, and a line in it."""


def estimates(model: TranscriptModel, first: int = 0) -> list[int]:
    """Return the lines that entries of a model from `first` on take, about."""
    rows = map(model.row, range(first, len(model)))
    return [_RULE if row is None else _ESTIMATES.get(row.role, _OTHER) for row in rows]


class Heights:
    """The numbers of lines of all entries, and their sums, which are added up when they are
    needed."""

    def __init__(self, heights: Sequence[int]) -> None:
        self._heights = list(heights)
        self._known = [0]
        """The lines before each of the first entries: as far as no height has changed since."""

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, index: int) -> int:
        return self._heights[index]

    def __setitem__(self, index: int, height: int) -> None:
        if height != self._heights[index]:
            self._heights[index] = height
            del self._known[index + 1 :]

    def extend(self, heights: Sequence[int]) -> None:
        self._heights += heights

    @property
    def sums(self) -> list[int]:
        """The lines before each entry, and those of all of them."""
        missing = self._heights[len(self._known) - 1 :]
        if missing:
            self._known += accumulate(missing, initial=self._known.pop())
        return self._known

    def locate(self, line: int) -> Place:
        """Return the place of a line of the whole; past the end, the last line."""
        if not self._heights:
            return 0, 0
        line = max(min(line, self.sums[-1] - 1), 0)
        index = bisect_right(self.sums, line, hi=len(self)) - 1
        return index, line - self.sums[index]
