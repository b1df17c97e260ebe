"""Heights of many entries with quick sums: a Fenwick tree, so that 50,000 entries scroll like 50."""

from __future__ import annotations

from collections.abc import Sequence


class Heights:
    """Lines of each entry; changing one and finding the entry at a line cost O(log n)."""

    def __init__(self, heights: Sequence[int]) -> None:
        self._heights = list(heights)
        self._tree = [0, *self._heights]
        for index in range(1, len(self._tree)):
            above = index + (index & -index)
            if above < len(self._tree):
                self._tree[above] += self._tree[index]
        self._top = 1 << max(len(self._heights).bit_length() - 1, 0)

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, index: int) -> int:
        return self._heights[index]

    @property
    def total(self) -> int:
        """Lines of all entries."""
        return self.before(len(self._heights))

    def set(self, index: int, height: int) -> None:
        """Give an entry another height."""
        change = height - self._heights[index]
        if change:
            self._heights[index] = height
            node = index + 1
            while node < len(self._tree):
                self._tree[node] += change
                node += node & -node

    def before(self, index: int) -> int:
        """Lines of all entries before one."""
        total = 0
        while index > 0:
            total += self._tree[index]
            index -= index & -index
        return total

    def locate(self, line: int) -> tuple[int, int]:
        """The entry at a line of the whole, and the line inside it; past the end, the last entry's end."""
        if not self._heights:
            return 0, 0
        node, rest, step = 0, max(line, 0), self._top
        while step:
            following = node + step
            if following < len(self._tree) and self._tree[following] <= rest:
                node = following
                rest -= self._tree[following]
            step >>= 1
        if node >= len(self._heights):
            return len(self._heights) - 1, max(self._heights[-1] - 1, 0)
        return node, rest
