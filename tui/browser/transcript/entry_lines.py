"""The lines of the entries of a transcript: laid out at a width, cached, with matches highlighted.

Heights of entries are estimates until these are drawn.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len

from ...text.formats import clip
from ...text.styled import Line
from .entries import EntryKind, Look, TranscriptModel
from .heights import Heights

if TYPE_CHECKING:
    from hermes_browse.store.search.terms import Matcher

    from .block_layout import Shown
    from .paragraphs import MessageLayout

_ESTIMATES = {"user": 5, "assistant": 8, "tool": 0}
_RULE, _OTHER = 2, 4
_MAX_LAYOUTS = 400
"""Messages whose layouts, and entries whose lines, are cached."""

_Fold = tuple[int, bool]
"""An entry, and whether it is unfolded."""


class DrawnEntry(NamedTuple):
    """An entry as it is shown."""

    lines: list[Line]
    match_lines: Sequence[int] = ()
    """The indexes of the lines on which a match begins."""
    is_plain: bool = False
    """It has no formatting yet."""


def estimates(model: TranscriptModel, first: int = 0) -> list[int]:
    """Return the lines that entries of a model from `first` on take, about."""
    rows = map(model.row, range(first, len(model)))
    return [_RULE if row is None else _ESTIMATES.get(row.role, _OTHER) for row in rows]


def _rule(text: str, width: int) -> list[Line]:
    """Draw a rule across the screen with a text in it, and a blank line."""
    label = clip(f" {text} ", max(width - 6, 1))
    right = max(width - 3 - cell_len(label), 0)
    return [
        [("── "[: max(width, 0)], "rule"), (label.strip() + " ", "note"), ("─" * right, "rule")],
        [],
    ]


class EntryLines:
    """The lines of a model, and all that they depend on."""

    def __init__(self) -> None:
        self.model: TranscriptModel | None = None
        self.width = 80
        """Cells of a line."""
        self.look = Look()
        self.opened: set[int] = set()
        """Entries that are unfolded."""
        self.matchers: Sequence[Matcher] = ()
        """Terms that are highlighted."""
        self.hit: int | None = None
        """The message whose terms are highlighted more strongly."""
        self.hit_number: int | None = None
        """The index of the current match of the hit, the same at any width; None for all of
        them."""
        self.heights = Heights([])
        self.defers = False
        """Long messages are laid out on another thread, and shown without formatting until then."""
        self.deferred: set[Shown] = set()
        """Messages to be laid out there."""
        self._layouts: OrderedDict[Shown, MessageLayout] = OrderedDict()
        self._drawn: dict[_Fold, DrawnEntry] = {}

    def __len__(self) -> int:
        return len(self.heights)

    @property
    def hit_entry(self) -> int | None:
        """The entry of the hit; None if there is none here."""
        return self.model.entry_of(self.hit) if self.model is not None else None

    def light(self, matchers: Sequence[Matcher], hit: int | None = None) -> None:
        """Highlight other terms, more strongly in one message."""
        self.matchers, self.hit, self.hit_number = matchers, hit, None
        self.forget()

    def forget(self) -> None:
        """Drop all lines, as look, folds, matches or messages have changed."""
        self._drawn.clear()

    def forget_entry(self, index: int | None) -> None:
        """Drop the lines of an entry, as its fold or its matches have changed."""
        if index is not None:
            self._drawn.pop((index, True), None)
            self._drawn.pop((index, False), None)

    def lines(self, index: int) -> list[Line] | None:
        """Return the final lines of an entry; None if its message has not been read."""
        if self._is_plain(index):
            self.forget_entry(index)
        drawn = self.draw(index, defers=False)
        return drawn.lines if drawn is not None else None

    def match_lines(self, index: int) -> Sequence[int]:
        """Return the indexes of the lines of an entry on which a match begins."""
        return () if self.lines(index) is None else self._drawn[self._fold(index)].match_lines

    def height_of(self, index: int) -> int:
        """Return the lines of an entry: exact, if its message has been read."""
        self.draw(index, defers=self.defers)
        return self.heights[index]

    def draw(self, index: int, *, defers: bool) -> DrawnEntry | None:
        """Return an entry as it is shown; None if its message has not been read.

        With `defers` a long message has no formatting until its layout is there.
        """
        fold = self._fold(index)
        if fold not in self._drawn:
            drawn = self._draw(index, defers=defers)
            if drawn is None:
                return None
            self._drawn[fold] = drawn
            self.heights.set(index, len(drawn.lines))
            if len(self._drawn) > _MAX_LAYOUTS:
                del self._drawn[next(iter(self._drawn))]
        return self._drawn[fold]

    def _fold(self, index: int) -> _Fold:
        return index, index in self.opened

    def _is_plain(self, index: int) -> bool:
        drawn = self._drawn.get(self._fold(index))
        return drawn is not None and drawn.is_plain

    def _draw(self, index: int, *, defers: bool) -> DrawnEntry | None:
        assert self.model is not None
        entry = self.model.entries[index]
        if entry.kind is not EntryKind.MESSAGE:
            return DrawnEntry(_rule(entry.text, self.width))
        shown = self.shown(index)
        if shown is None:
            return None
        if self.model.is_paired(shown.message):
            return DrawnEntry([])
        if defers and shown not in self._layouts and shown.is_heavy:
            self.deferred.add(shown)
            return DrawnEntry(shown.lay_out_plain().lines, is_plain=True)
        layout = self._layout(shown)
        if not self.matchers:
            return DrawnEntry(layout.lines)
        is_hit = shown.message.id == self.hit
        return DrawnEntry(*layout.highlighted(self.width, self.matchers, is_hit, self.hit_number))

    def shown(self, index: int) -> Shown | None:
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

    def hide_paired(self, first: int, last: int) -> None:
        """Set the height of tool results that are shown with their calls to 0, after messages have
        been read."""
        assert self.model is not None
        for index in range(max(first, 0), min(last, len(self))):
            message = self.model.message(index)
            if message is not None and self.model.is_paired(message):
                self.heights.set(index, 0)


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
