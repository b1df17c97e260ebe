"""Sizes of the list and the transcript: changed by keys, remembered between starts."""

from __future__ import annotations

NARROW = 100
"""With fewer columns, the list is above the transcript instead of beside it."""
WIDTH, HEIGHT = 56, 40
"""Percent of the list, beside and above the transcript; the same as in the style sheet."""
LEAST, MOST, STEP = 20, 80, 4
"""Percent; no pane becomes too small to be found again."""
_HEAD_BESIDE, _HEAD_ABOVE = 12, 18
"""Lines of the screen from which the list has a header row: beside the transcript, and above it."""


def has_head(columns: int, lines: int) -> bool:
    """Whether a terminal of this size has room for the header row of the list."""
    return lines >= (_HEAD_ABOVE if columns < NARROW else _HEAD_BESIDE)


class PaneSizes:
    """The size of the list. No dataclass: importing them takes longer than painting the first rows.

    Args:
        width: Percent, beside the transcript.
        height: Percent, above the transcript.
        is_alone: Only the list is shown.
    """

    def __init__(self, width: int = WIDTH, height: int = HEIGHT, is_alone: bool = False) -> None:
        self.width, self.height, self.is_alone = width, height, is_alone

    def change(self, steps: int, *, is_narrow: bool) -> bool:
        """Make the list larger, or smaller by negative steps: its height if it is above the
        transcript.

        Returns:
            False at the limit.
        """
        before = self.height if is_narrow else self.width
        after = max(LEAST, min(MOST, before + steps * STEP))
        if is_narrow:
            self.height = after
        else:
            self.width = after
        return after != before

    def of(self, columns: int, lines: int) -> tuple[int, int]:
        """Return columns and lines of the list, of the terminal's columns and the lines of both
        panes."""
        if self.is_alone:
            return columns, lines
        if columns < NARROW:
            return columns, lines * self.height // 100
        return columns * self.width // 100, lines


def percent(value: object, default: int) -> int:
    """Return a remembered percentage, or the default where it is invalid."""
    if isinstance(value, int) and not isinstance(value, bool) and LEAST <= value <= MOST:
        return value
    return default
