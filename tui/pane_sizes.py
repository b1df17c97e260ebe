"""How the list and what it shows share the screen: changed by keys, remembered from one start to the next."""

from __future__ import annotations

NARROW = 100
"""Columns below which the panes stand above each other."""
WIDTH, HEIGHT = 46, 40
"""Percent of the list, beside and above what it shows; those of the style sheet."""
LEAST, MOST, STEP = 20, 80, 4
"""Percent: neither pane is ever too small to be found again."""
_HEAD_FROM = (12, 18)
"""Lines of the screen from which the list has a head: beside what it shows, and above it."""


def has_head(columns: int, lines: int) -> bool:
    """Whether there is room for the names of the columns above the list.

    Args:
        columns: Of the terminal.
        lines: Of the terminal.
    """
    return lines >= _HEAD_FROM[columns < NARROW]


class PaneSizes:
    """How large the list is. No dataclass: importing those takes longer than painting the first rows.

    Args:
        width: Percent, where the panes stand beside each other.
        height: Percent, where they stand above each other.
        is_alone: The list has everything.
    """

    def __init__(self, width: int = WIDTH, height: int = HEIGHT, is_alone: bool = False) -> None:
        self.width, self.height, self.is_alone = width, height, is_alone

    def __repr__(self) -> str:
        return f"PaneSizes({self.width}, {self.height}, {self.is_alone})"

    def change(self, steps: int, *, is_narrow: bool) -> bool:
        """Make the list larger or smaller, in width or, on a narrow screen, in height.

        Args:
            steps: How many; negative for less.
            is_narrow: The panes stand above each other.

        Returns:
            Whether there was any left to give.
        """
        before = self.height if is_narrow else self.width
        after = max(LEAST, min(MOST, before + steps * STEP))
        if is_narrow:
            self.height = after
        else:
            self.width = after
        return after != before

    def of(self, columns: int, lines: int) -> tuple[int, int]:
        """Columns and lines of the list.

        Args:
            columns: Of the terminal.
            lines: That the panes have together.
        """
        if self.is_alone:
            return columns, lines
        if columns < NARROW:
            return columns, lines * self.height // 100
        return columns * self.width // 100, lines


def percent(value: object, otherwise: int) -> int:
    """A remembered share, or a default where it makes no sense."""
    is_good = isinstance(value, int) and not isinstance(value, bool) and LEAST <= value <= MOST
    return value if is_good and isinstance(value, int) else otherwise
