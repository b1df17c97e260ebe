"""The page of a conversation that is on the screen: where it is, and its lines; without a widget.

The position is an entry and a line in it, not a distance from the start, so correcting a height
elsewhere does not move the page. Heights of entries are estimates until these are drawn."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from ...text.styled import NO_LINE, Line, Paragraph, TextLayout, ruled
from .entries import NOTHING, Look, ShownMessage, TranscriptModel

if TYPE_CHECKING:
    from hermes_browse.store.search.terms import Term

_AROUND = 30
"""Entries before and after the page that are read with it."""
_AHEAD = 4
"""Entries before and after the page whose long texts are laid out with it."""
_MAX_CACHED = 400
"""Messages whose layouts and lines are cached."""
_ESTIMATES = {"user": 5, "assistant": 8, "tool": 0}
_RULE, _OTHER = 2, 4

Position = tuple[int, int]
"""An entry, and a line in it."""
Layouts = dict[ShownMessage, TextLayout]


def estimates(model: TranscriptModel, first: int = 0) -> list[int]:
    """Return the lines that entries of a model from `first` on take, about."""
    rows = map(model.row, range(first, len(model)))
    return [_RULE if row is None else _ESTIMATES.get(row.role, _OTHER) for row in rows]


class Bookmark(NamedTuple):
    """A message and a line of it: unlike a `Position`, valid in every reading of a conversation."""

    root_id: str
    message_id: int
    line: int
    """The line at the top of the page; negative if the page begins with rules above the message."""


class SeenByModel(NamedTuple):
    """What the model saw at a message."""

    ids: frozenset[int | None]
    """Of the messages that it had, and of the one in question; None for rules, which all can see."""
    words: str
    """How much that was, in one line."""


def _dimmed(line: Line) -> Line:
    """Return a line without its colours, except of matches."""
    marks = ((text, *looks.partition(" hit")) for text, looks in line)
    return [(text, f"{before} dim{hit}{after}") for text, before, hit, after in marks]


class Page:
    """The part of a conversation that is on screen."""

    def __init__(self) -> None:
        self.width, self.height = 80, 24
        """Cells of a line, and lines of the page."""
        self.look = Look()
        self.seen: SeenByModel | None = None
        """Everything else is dimmed; None for no dimming."""
        self.missing: tuple[int, int] | None = None
        """Entries to be read for this page; None if all have been."""
        self.deferred: Layouts = {}
        """Long messages to be laid out on another thread, and what is shown of each until then."""
        self._layouts: Layouts = {}
        self.light(())
        self.open(NOTHING)

    def __len__(self) -> int:
        return len(self.heights)

    def open(self, model: TranscriptModel) -> None:
        """Show another conversation, at its end."""
        self.model = model
        self.opened: set[int | None] = set()
        """Ids of the messages that are unfolded."""
        self.heights = estimates(model)
        """The number of lines of each entry."""
        self.position: Position = (0, 0)
        """The line at the top of the page."""
        self.stepped: int | None = None
        """The entry to which the last step went."""
        self.at_end = True
        """Whether the newest line is on the page; new lines are followed then."""
        self._frame: list[tuple[int, Line]] | None = None

    def grow(self, model: TranscriptModel) -> int:
        """Show a newer version of the same conversation at the same place; return the number of new
        messages.

        Earlier entries may have changed, as after a deletion: if the message at the top is gone,
        the page begins at the next one.
        """
        old, here = self.model, self.here()
        self.model, self._frame = model, None
        same = len(old) if model.entries[: len(old)] == old.entries else 0
        self.heights[same:] = estimates(model, same)
        if not same:
            self.stepped = None
            next_id = model.next_shown(here.message_id) if here is not None else None
            after = model.entry_of(next_id) or 0, 0
            self.position = (self.position_of(here) if here is not None else None) or after
        return len(model.ids - old.ids)

    def light(self, matchers: Sequence[Term], hit: int | None = None) -> None:
        """Highlight other terms, more strongly in one message, the hit."""
        self.matchers, self.hit = matchers, hit
        self.hit_number: int | None = None
        """Which of the hit's match lines is current, counted from 0; None for all of them."""
        self._lit = lru_cache(_MAX_CACHED)(partial(TextLayout.lit, matchers=matchers))

    def resize(self, width: int, height: int) -> None:
        is_other_width = width != self.width
        self.width, self.height = max(width, 12), max(height, 1)
        if is_other_width:
            self._keep_line()

    def show_laid_out(self, layouts: Layouts) -> None:
        """Show messages that have been laid out elsewhere."""
        self.add(layouts)
        self._keep_line()

    def _keep_line(self) -> None:
        """Keep the top line about where it was in its message, whose height may have changed."""
        index, line = self.position
        if line and (before := self.heights[index]):
            self.position = index, line * self.height_of(index) // before

    # Entries

    @property
    def hit_entry(self) -> int | None:
        return self.model.entry_of(self.hit)

    def shown(self, index: int) -> ShownMessage | None:
        """Return the message of an entry as it is to be laid out; None if it has not been read."""
        return self.model.shown(index, self.width, self.look, self.opened)

    def height_of(self, index: int) -> int:
        """Return the lines of an entry: exact, if its message has been read."""
        self.draw(index)
        return self.heights[index]

    def match_lines(self, index: int) -> Sequence[int]:
        """Return the indexes of the lines of an entry on which a match begins."""
        layout = self.draw(index, now=True)
        return layout.match_lines if layout is not None else ()

    def draw(self, index: int, *, now: bool = False) -> TextLayout | None:
        """Return an entry as it is shown; None if its message has not been read.

        A long message has no formatting until it has been laid out on another thread, unless it is
        needed `now`.
        """
        layout = self._draw(index, now=now)
        if layout is not None:
            self.heights[index] = len(layout)
        return layout

    def _draw(self, index: int, *, now: bool) -> TextLayout | None:
        entry = self.model.entries[index]
        if entry.row is None:
            rule = ruled([(f"{entry.text} ", "note")], self.width)
            return TextLayout([rule, Paragraph([])], self.width)
        shown = self.shown(index)
        if shown is None:
            return None
        if self.model.caller_of(shown.message) is not None:
            return TextLayout([], self.width)
        if shown not in self._layouts:
            if shown.is_heavy and not now:
                if shown not in self.deferred:
                    self.deferred.update(lay_out([shown], is_plain=True))
                return self.deferred[shown]
            self.add(lay_out([shown]))
        current = self.hit_number if shown.message.id == self.hit else NO_LINE
        return self._lit(self._layouts[shown], current=current)

    def add(self, layouts: Layouts) -> None:
        """Cache layouts made elsewhere."""
        self._layouts.update(layouts)
        for shown in layouts:
            self.deferred.pop(shown, None)

    # The position

    def moved(self, position: Position, by: int) -> Position:
        """Return the position `by` lines further down, or up if negative, by exact heights."""
        index, line = position
        line += by
        while line < 0 and index > 0:
            index -= 1
            line += self.height_of(index)
        while index < len(self) - 1 and line >= self.height_of(index):
            line -= self.height_of(index)
            index += 1
        return index, max(line, 0)

    def go(self, position: Position, stepped: int | None = None) -> None:
        """Go to a position, by a step to an entry or without one."""
        self.at_end, self.position, self.stepped = False, position, stepped

    def locate(self, line: int) -> Position:
        """Return the position of a line of the whole conversation; past the end, the last line."""
        sums = [0, *accumulate(self.heights)]
        line = max(min(line, sums[-1] - 1), 0)
        index = bisect_right(sums, line, hi=len(self)) - 1
        return index, line - sums[index]

    def here(self) -> Bookmark | None:
        """Return the place at the top of the page; None without a message."""
        first, line = self.position
        for index in range(first, len(self)):
            row = self.model.row(index)
            if row is not None:
                return Bookmark(self.model.conversation.root_id, row.id, line)
            line -= self.height_of(index)  # a rule, so it is the message after it
        return None

    def position_of(self, mark: Bookmark) -> Position | None:
        """Return the position of a bookmark; None if this reading leaves its message out."""
        index = self.model.entry_of(mark.message_id)
        return self.moved((index, 0), mark.line) if index is not None else None

    def settle(self) -> int:
        """Move the position into the conversation and lay out the page; return the lines above it,
        for a scroll bar."""
        self._frame = None
        for shown in list(self._layouts)[:-_MAX_CACHED]:
            del self._layouts[shown]
        end = self.moved((len(self), 0), -self.height)
        if self.at_end or self.position >= end:
            self.position, self.at_end = end, True
        if frame := self.frame():
            # Long texts near the page are laid out before they come into sight.
            first, last = frame[0][0] - _AHEAD, frame[-1][0] + _AHEAD
            for index in range(max(first, 0), min(last + 1, len(self))):
                if (near := self.shown(index)) is not None and near.is_heavy:
                    self.draw(index)
        index, line = self.position
        return sum(self.heights[:index]) + line

    # What is on it

    def frame(self) -> list[tuple[int, Line]]:
        """Return the lines of the page, each with its entry; sets `missing`."""
        if self._frame is not None:
            return self._frame
        frame: list[tuple[int, Line]] = []
        first, skip = self.position
        index, is_missing = first, False
        while index < len(self) and len(frame) < self.height:
            layout, room = self.draw(index), self.height - len(frame)
            if layout is not None:
                lines: Iterable[Line] = layout.window(skip, room)
            else:
                is_missing = True
                lines = [[("…", "dim")]] * min(self.heights[index] - skip, room)
            if self.seen is not None and self.model.id_of(index) not in self.seen.ids:
                lines = map(_dimmed, lines)
            frame += [(index, line) for line in lines]
            skip = 0
            index += 1
        around = max(first - _AROUND, 0), min(index + _AROUND, len(self))
        self.missing = around if is_missing else None
        self._frame = frame
        return frame

    @property
    def current(self) -> int | None:
        """The entry that keys act on: the one last stepped to, or below it if that is a rule; else
        one in sight: a third down the page, at the end the last message."""
        frame, model, index = self.frame(), self.model, self.stepped
        if not frame:
            return None
        if index is None and self.at_end and (last := model.step(len(model), -1)) is not None:
            return last
        if index is None:
            index = frame[min(self.height // 3, len(frame) - 1)][0]
        if model.row(index) is not None:
            return index
        return model.step(index, 1) or model.step(index, -1)


def lay_out(messages: Iterable[ShownMessage], *, is_plain: bool = False) -> Layouts:
    """Lay out messages, on any thread, or the beginning of each without formatting."""
    from . import block_layout  # start: Markdown and tables, a tenth of all imports

    make = block_layout.lay_out_plain if is_plain else block_layout.lay_out
    return {shown: make(shown) for shown in messages}
