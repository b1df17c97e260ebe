"""The page of a conversation that is on the screen: where it is, and its lines; without a widget.

The position is an entry and a line in it, not a distance from the start, so correcting a height
elsewhere does not move the page.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from ...text.styled import Line
from .entries import TranscriptModel
from .entry_lines import EntryLines, estimates
from .heights import Heights

if TYPE_CHECKING:
    from .block_layout import Shown
    from .paragraphs import MessageLayout

_AROUND = 30
"""Entries before and after the page that are read with it."""
_AHEAD = 4
"""Entries before and after the page whose long texts are laid out with it."""

Place = tuple[int, int]
"""An entry, and a line in it."""


class SeenByModel(NamedTuple):
    """What the model saw at a message."""

    entries: frozenset[int]
    """The messages that it had, and the one in question."""
    words: str
    """How much that was, in one line."""


class Page(EntryLines):
    """The part of a conversation that is on screen."""

    def __init__(self) -> None:
        super().__init__()
        self.height = 24
        """Lines of the page."""
        self.at_end = True
        """Whether the newest line is on the page; new lines are followed then."""
        self.place: Place = (0, 0)
        """The line at the top of the page."""
        self.seen: SeenByModel | None = None
        """Everything else is dimmed; None for no dimming."""
        self.missing: tuple[int, int] | None = None
        """Entries to be read for this page; None if all have been."""
        self._frame: list[tuple[int, Line]] | None = None

    def open(self, model: TranscriptModel | None) -> None:
        """Show another conversation, at its end."""
        self.model = model
        self.opened.clear()
        self.seen = None
        self.at_end, self.place = True, (0, 0)
        self.heights = Heights(estimates(model) if model is not None else [])
        self.forget()

    def grow(self, model: TranscriptModel) -> int:
        """Show a newer version of the same conversation at the same place; return the number of new
        messages."""
        old = self.model
        assert old is not None
        self.model = model
        if model.entries[: len(old)] == old.entries:
            self.heights.extend(estimates(model, len(old)))
        else:
            self._move(old, model)
        self.forget()
        known = {row.id for row in old.outline.rows}
        return sum(row.id not in known for row in model.outline.rows)

    def _move(self, old: TranscriptModel, model: TranscriptModel) -> None:
        """Go to the same message in a version whose earlier entries have changed, as after a
        deletion."""

        def moved(index: int) -> int | None:
            row = old.row(index)
            return model.entry_of(row.id) if row is not None else None

        self.seen = None
        index, line = self.place
        while index < len(old) - 1 and moved(index) is None:
            index, line = index + 1, 0
        new_index = moved(index)
        self.opened = {each for each in map(moved, self.opened) if each is not None}
        self.heights = Heights(estimates(model))
        self.place = (new_index, line) if new_index is not None else (max(len(model) - 1, 0), 0)

    def see(self, seen: SeenByModel | None) -> None:
        """Dim what the model did not see, or nothing."""
        self.seen, self._frame = seen, None

    def forget(self) -> None:
        super().forget()
        self._frame = None

    def forget_entry(self, index: int | None) -> None:
        super().forget_entry(index)
        self._frame = None

    def resize(self, width: int, height: int) -> None:
        """Change the size; at another width the top line stays about where it was in its
        message."""
        (index, line), before = self.place, self.width
        self.width, self.height = max(width, 12), max(height, 1)
        self._frame = None
        if self.width != before:
            self.forget()
            if line and index < len(self) and (lines := self.heights[index]):
                self.place = index, line * self.height_of(index) // lines

    def take(self, layouts: Mapping[Shown, MessageLayout]) -> None:
        """Show messages that have been laid out elsewhere; the top line stays about where it
        was."""
        self.add(layouts)
        index, line = self.place
        before = self.heights[index] if self._is_plain(index) else 0
        self._drawn = {fold: each for fold, each in self._drawn.items() if not each.is_plain}
        self._frame = None
        if before and line:
            self.place = index, line * self.height_of(index) // before

    # The place

    def moved(self, place: Place, by: int) -> Place:
        """Return the place `by` lines further down, or up if negative, by exact heights."""
        index, line = place
        line += by
        while line < 0 and index > 0:
            index -= 1
            line += self.height_of(index)
        while index < len(self) - 1 and line >= self.height_of(index):
            line -= self.height_of(index)
            index += 1
        return index, max(line, 0)

    def _last_place(self) -> Place:
        """Return the place at the top of the page that shows the end."""
        index, left = len(self), self.height
        while index > 0 and left > 0:
            index -= 1
            left -= self.height_of(index)
        return index, max(-left, 0)

    def go(self, place: Place) -> None:
        """Go to a place."""
        self.at_end = False
        self.place = place
        self._frame = None

    def settle(self) -> int:
        """Move the place into the conversation and lay out the page; return the lines above it, for
        a scroll bar."""
        self._frame = None
        if not len(self):
            self.place = (0, 0)
            return 0
        last = self._last_place()
        if self.at_end or self.place >= last:
            self.place, self.at_end = last, True
        frame = self.frame()
        if self.defers and frame:
            self._lay_out_around(frame[0][0], frame[-1][0])
        return self.heights.before(self.place[0]) + self.place[1]

    def _lay_out_around(self, first: int, last: int) -> None:
        """Have long texts near the page laid out before they come into sight."""
        for index in (
            *range(max(first - _AHEAD, 0), first),
            *range(last + 1, min(last + 1 + _AHEAD, len(self))),
        ):
            shown = self.shown(index)
            if shown is not None and shown.is_heavy:
                self.draw(index, defers=True)

    # What is on it

    def frame(self) -> list[tuple[int, Line]]:
        """Return the lines of the page, each with its entry; sets `missing`."""
        if self._frame is not None:
            return self._frame
        frame: list[tuple[int, Line]] = []
        first, skip = self.place
        index, is_missing = first, False
        while index < len(self) and len(frame) < self.height:
            drawn = self.draw(index, defers=self.defers)
            if drawn is None:
                is_missing = True
            lines = drawn.lines if drawn is not None else [[("…", "dim")]] * self.heights[index]
            frame += [(index, self._dimmed(index, line)) for line in lines[skip:]]
            skip = 0
            index += 1
        around = max(first - _AROUND, 0), min(index + _AROUND, len(self))
        self.missing = around if is_missing else None
        self._frame = frame[: self.height]
        return self._frame

    def _dimmed(self, index: int, line: Line) -> Line:
        """Dim a line if the model did not see its message."""
        if self.seen is None or index in self.seen.entries or self.model is None:
            return line
        if self.model.row(index) is None:
            return line
        return [(text, f"{looks} dim" if text else looks) for text, looks in line]

    def entry_in_sight(self) -> int | None:
        """Return the entry that keys act on by default: a third down the page, at the end the last
        message."""
        frame, model = self.frame(), self.model
        if model is None or not frame:
            return None
        if self.at_end and (last := model.step(len(model), -1)) is not None:
            return last
        index = frame[min(self.height // 3, len(frame) - 1)][0]
        if model.row(index) is not None:
            return index
        return model.step(index, 1) or model.step(index, -1)
