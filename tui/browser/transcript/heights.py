"""The heights of all entries of a transcript, and which entry is at a line of the whole."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate


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

    @property
    def _sums(self) -> list[int]:
        """The lines before each entry, and those of all of them."""
        missing = self._heights[len(self._known) - 1 :]
        if missing:
            self._known += accumulate(missing, initial=self._known.pop())
        return self._known

    @property
    def total(self) -> int:
        """Lines of all entries."""
        return self._sums[-1]

    def set(self, index: int, height: int) -> None:
        """Change the height of an entry."""
        if height != self._heights[index]:
            self._heights[index] = height
            del self._known[index + 1 :]

    def extend(self, heights: Sequence[int]) -> None:
        """Add entries at the end."""
        self._heights += heights

    def before(self, index: int) -> int:
        """Return the lines of all entries before one."""
        return self._sums[index]

    def locate(self, line: int) -> tuple[int, int]:
        """Return the entry at a line of the whole, and the line inside it; past the end, the last
        line."""
        if not self._heights:
            return 0, 0
        index = bisect_right(self._sums, max(line, 0)) - 1
        if index == len(self):
            return index - 1, max(self._heights[-1] - 1, 0)
        return index, max(line, 0) - self._sums[index]
