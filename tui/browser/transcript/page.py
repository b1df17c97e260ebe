"""The position in a conversation, and the lines of the page there: layout without a widget.

Heights of entries are estimates until these are laid out. The position is an entry and a line in
it, not a distance from the start, so correcting a height elsewhere does not move the page.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len

from ...text.formats import clip
from ...text.styled import Line
from .entries import EntryKind, Look, TranscriptModel

if TYPE_CHECKING:
    from hermes_browse.store.search.terms import Matcher

    from .block_layout import Shown
    from .paragraphs import MessageLayout

_ESTIMATES = {"user": 5, "assistant": 8, "tool": 0}
_RULE, _OTHER = 2, 4
_MAX_LAYOUTS = 400
"""Messages whose layouts, and entries whose lines, are cached."""
_AROUND = 30
"""Entries before and after the page that are read with it."""
_AHEAD = 4
"""Entries before and after the page whose long texts are laid out with it."""

Place = tuple[int, int]
"""An entry, and a line in it."""
_Fold = tuple[int, bool]
"""An entry, and whether it is unfolded."""


class SeenByModel(NamedTuple):
    """What the model saw at a message."""

    entries: frozenset[int]
    """The messages that it had, and the one in question."""
    words: str
    """How much that was, in one line."""


def _rule(text: str, width: int) -> list[Line]:
    """Draw a rule across the screen with a text in it, and a blank line."""
    label = clip(f" {text} ", max(width - 6, 1))
    right = max(width - 3 - cell_len(label), 0)
    return [
        [("── "[: max(width, 0)], "rule"), (label.strip() + " ", "note"), ("─" * right, "rule")],
        [],
    ]


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


class Page:
    """The part of a conversation that is on screen."""

    def __init__(self) -> None:
        self.model: TranscriptModel | None = None
        self.width, self.height = 80, 24
        """Cells of a line, lines of the page."""
        self.look = Look()
        self.at_end = True
        """Whether the newest line is on the page; new lines are followed then."""
        self.opened: set[int] = set()
        """Entries that are unfolded."""
        self.place: Place = (0, 0)
        """The line at the top of the page."""
        self.matchers: Sequence[Matcher] = ()
        """Terms that are highlighted."""
        self.hit: int | None = None
        """The message whose terms are highlighted more strongly."""
        self.hit_number: int | None = None
        """The index of the current match of the hit, the same at any width; None for all of
        them."""
        self.seen: SeenByModel | None = None
        """Everything else is dimmed; None for no dimming."""
        self.heights = Heights([])
        self.missing: tuple[int, int] | None = None
        """Entries to be read for this page; None if all have been."""
        self.defers = False
        """Long messages are laid out on another thread, and shown without formatting until then."""
        self.deferred: set[Shown] = set()
        """Messages to be laid out there."""
        self._layouts: OrderedDict[Shown, MessageLayout] = OrderedDict()
        self._lines: dict[_Fold, list[Line]] = {}
        """The final lines of entries."""
        self._plain: set[_Fold] = set()
        """Entries of which these have no formatting yet."""
        self._match_lines: dict[_Fold, list[int]] = {}
        """The indexes of lines on which a match begins."""
        self._frame: list[tuple[int, Line]] | None = None

    def __len__(self) -> int:
        return len(self.heights)

    @property
    def hit_entry(self) -> int | None:
        """The entry of the hit; None if there is none here."""
        return self.model.entry_of(self.hit) if self.model is not None else None

    def open(self, model: TranscriptModel | None) -> None:
        """Show another conversation, at its end."""
        self.model = model
        self.opened.clear()
        self.seen = None
        self.at_end, self.place = True, (0, 0)
        self.heights = Heights(
            [self._estimate(index) for index in range(len(model) if model is not None else 0)]
        )
        self.forget()

    def grow(self, model: TranscriptModel) -> int:
        """Show a newer version of the same conversation at the same place; return the number of new
        messages."""
        before, old = len(self), self.model
        if old is not None and model.entries[:before] != old.entries:
            return self._change(old, model)
        self.model = model
        self.heights = Heights(
            [
                self.heights[index] if index < before else self._estimate(index)
                for index in range(len(model))
            ]
        )
        self.forget()
        return sum(entry.kind is EntryKind.MESSAGE for entry in model.entries[before:])

    def _change(self, old: TranscriptModel, model: TranscriptModel) -> int:
        """Show a version whose earlier entries have changed, as after a deletion, at the same
        message."""

        def moved(index: int) -> int | None:
            row = old.row(index)
            return model.entry_of(row.id) if row is not None else None

        self.seen = None
        (index, line), last = self.place, len(old) - 1
        while index < last and moved(index) is None:
            index, line = index + 1, 0
        new_index = moved(index) if last >= 0 else None
        self.opened = {each for each in map(moved, self.opened) if each is not None}
        self.model = model
        self.heights = Heights([self._estimate(each) for each in range(len(model))])
        self.place = (new_index, line) if new_index is not None else (max(len(model) - 1, 0), 0)
        self.forget()
        old_ids = {row.id for row in old.outline.rows}
        return sum(row.id not in old_ids for row in model.outline.rows)

    def see(self, seen: SeenByModel | None) -> None:
        """Dim what the model did not see, or nothing."""
        self.seen, self._frame = seen, None

    def forget(self) -> None:
        """Drop all lines, as look, folds, matches or messages have changed."""
        self._lines.clear()
        self._plain.clear()
        self._match_lines.clear()
        self._frame = None

    def forget_entry(self, index: int | None) -> None:
        """Drop the lines of an entry, as its fold or its matches have changed."""
        if index is not None:
            self._lines.pop((index, True), None)
            self._lines.pop((index, False), None)
        self._frame = None

    def _fold(self, index: int) -> _Fold:
        return index, index in self.opened

    def resize(self, width: int, height: int) -> None:
        """Change the size; at another width the top line stays about where it was in its
        message."""
        (index, line), before = self.place, self.width
        self.width, self.height = max(width, 12), max(height, 1)
        self._frame = None
        if self.width != before:
            self.forget()
            if line and index < len(self) and (lines := self.heights[index]):
                self.place = index, line * self._height(index) // lines

    def _estimate(self, index: int) -> int:
        assert self.model is not None
        row = self.model.row(index)
        return _RULE if row is None else _ESTIMATES.get(row.role, _OTHER)

    # Lines

    def lines(self, index: int) -> list[Line] | None:
        """Return the final lines of an entry; None if its message has not been read."""
        if self._fold(index) in self._plain:
            self.forget_entry(index)
        return self._lines_of(index, defers=False)

    def _lines_of(self, index: int, *, defers: bool) -> list[Line] | None:
        fold = self._fold(index)
        if fold not in self._lines:
            lines = self._draw(index, defers=defers)
            if lines is None:
                return None
            self._lines[fold] = lines
            self.heights.set(index, len(lines))
            if len(self._lines) > _MAX_LAYOUTS:
                del self._lines[next(iter(self._lines))]
        return self._lines[fold]

    def _draw(self, index: int, *, defers: bool) -> list[Line] | None:
        assert self.model is not None
        entry, fold = self.model.entries[index], self._fold(index)
        if entry.kind is not EntryKind.MESSAGE:
            return _rule(entry.text, self.width)
        shown = self._shown(index)
        if shown is None:
            return None
        if self.model.is_paired(shown.message):
            return []
        if defers and shown not in self._layouts and shown.is_heavy:
            self.deferred.add(shown)
            self._plain.add(fold)
            return shown.lay_out_plain().lines
        self._plain.discard(fold)
        layout = self._layout(shown)
        if not self.matchers:
            return layout.lines
        is_hit = shown.message.id == self.hit
        lines, self._match_lines[fold] = layout.highlighted(
            self.width, self.matchers, is_hit, self.hit_number
        )
        return lines

    def _shown(self, index: int) -> Shown | None:
        """Return the message of an entry as it is to be laid out; None if it has not been read."""
        assert self.model is not None
        is_open = index in self.opened
        return _shown_in(self.model, index, self.width, self.look, is_open=is_open)

    def _layout(self, shown: Shown) -> MessageLayout:
        if shown not in self._layouts:
            self.add({shown: shown.lay_out()})
        self._layouts.move_to_end(shown)
        return self._layouts[shown]

    def add(self, layouts: Mapping[Shown, MessageLayout]) -> None:
        """Cache layouts made elsewhere; those that were not used for the longest time go."""
        self._layouts.update(layouts)
        self.deferred.difference_update(layouts)
        while len(self._layouts) > _MAX_LAYOUTS:
            self._layouts.popitem(last=False)

    def take(self, layouts: Mapping[Shown, MessageLayout]) -> None:
        """Show messages that have been laid out elsewhere; the top line stays about where it
        was."""
        self.add(layouts)
        (index, line), plain = self.place, self._plain
        before = self._height(index) if self._fold(index) in plain else 0
        for fold in plain:
            self._lines.pop(fold, None)
        self._plain, self._frame = set(), None
        if before and line:
            self.place = index, line * self._height(index) // before

    def match_lines(self, index: int) -> list[int]:
        """Return the indexes of the lines of an entry on which a match begins."""
        if self.lines(index) is None:
            return []
        return self._match_lines.get(self._fold(index), [])

    def _height(self, index: int) -> int:
        lines = self._lines_of(index, defers=self.defers)
        return len(lines) if lines is not None else self.heights[index]

    def hide_paired(self, first: int, last: int) -> None:
        """Set the height of tool results that are shown with their calls to 0, after messages have
        been read."""
        assert self.model is not None
        for index in range(max(first, 0), min(last, len(self))):
            message = self.model.message(index)
            if message is not None and self.model.is_paired(message):
                self.heights.set(index, 0)

    # The place

    def moved(self, place: Place, by: int) -> Place:
        """Return the place `by` lines further down, or up if negative, by exact heights."""
        index, line = place
        line += by
        while line < 0 and index > 0:
            index -= 1
            line += self._height(index)
        while index < len(self) - 1 and line >= self._height(index):
            line -= self._height(index)
            index += 1
        return index, max(line, 0)

    def _last_place(self) -> Place:
        """Return the place at the top of the page that shows the end."""
        index, left = len(self), self.height
        while index > 0 and left > 0:
            index -= 1
            left -= self._height(index)
        return (index, -left) if left < 0 else (index, 0)

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
        assert self.model is not None
        for index in (
            *range(max(first - _AHEAD, 0), first),
            *range(last + 1, min(last + 1 + _AHEAD, len(self))),
        ):
            shown = self._shown(index)
            if shown is not None and shown.is_heavy:
                self._lines_of(index, defers=True)

    def frame(self) -> list[tuple[int, Line]]:
        """Return the lines of the page, each with its entry; sets `missing`."""
        if self._frame is not None:
            return self._frame
        self.missing = None
        frame: list[tuple[int, Line]] = []
        index, skip = self.place
        first, is_missing = index, False
        while self.model is not None and index < len(self) and len(frame) < self.height:
            lines = self._lines_of(index, defers=self.defers)
            if lines is None:
                is_missing = True
                lines = [[("…", "dim")]] * self.heights[index]
            if (
                self.seen is not None
                and index not in self.seen.entries
                and self.model.row(index) is not None
            ):
                lines = [
                    [(text, f"{looks} dim" if text else looks) for text, looks in line]
                    for line in lines
                ]
            frame += [(index, line) for line in lines[skip:]]
            skip = 0
            index += 1
        if is_missing:
            self.missing = (max(first - _AROUND, 0), min(index + _AROUND, len(self)))
        self._frame = frame[: self.height]
        return self._frame

    def entry_in_sight(self) -> int | None:
        """Return the entry that keys act on by default: a third down the page, at the end the last
        message."""
        frame = self.frame()
        if self.model is None or not frame:
            return None
        if self.at_end and (last := self.model.step(len(self.model), -1)) is not None:
            return last
        index = frame[min(self.height // 3, len(frame) - 1)][0]
        if self.model.row(index) is not None:
            return index
        following = self.model.step(index, 1)
        return following if following is not None else self.model.step(index, -1)


def lay_out(messages: Iterable[Shown]) -> dict[Shown, MessageLayout]:
    """Lay out messages; on any thread."""
    return {shown: shown.lay_out() for shown in messages}


def lay_out_message(
    model: TranscriptModel, message_id: int | None, width: int, look: Look
) -> dict[Shown, MessageLayout]:
    """Lay out a message before it is shown, if the model has it; on any thread."""
    index = model.entry_of(message_id)
    shown = _shown_in(model, index, width, look, is_open=False) if index is not None else None
    return lay_out([shown]) if shown is not None else {}


def _shown_in(
    model: TranscriptModel, index: int, width: int, look: Look, *, is_open: bool
) -> Shown | None:
    from .block_layout import Shown  # start: Markdown and tables, a tenth of all imports

    message = model.message(index)
    if message is None:
        return None
    return Shown.of(message, model, width, look, is_open=is_open)
