"""Boxes of the main screen, of one line without a border: those for queries report edits within
the keystroke's frame, those below the transcript ask for a text or a message."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from rich.highlighter import Highlighter
from rich.text import Text
from textual.actions import SkipAction
from textual.geometry import Size
from textual.reactive import Reactive

from hermes_browse.store.wording import N_, _

from ...settings.keys.main_commands import FIND_BOX, GO_TO_BOX, QUERY_BOX, SEARCH_BOX
from ...widgets.bindings import bindings
from ...widgets.lines import TextBox
from ...widgets.themes import look_style

if TYPE_CHECKING:
    from hermes_browse.store.search.filters import Filter
    from hermes_browse.store.search.query import QueryProblem

_HINT = N_(
    'search: words, "a phrase", OR, -word, prefix*, source:cli role:user tool:terminal after:3d is:live'
)

_LONGEST = 2048
"""Code points of a query that is typed or pasted."""


class Offer(NamedTuple):
    """Completions of the end of a query."""

    start: int
    """Index where the replaced text begins."""
    key: str
    """The filter whose values these are; empty for names of filters."""
    choices: tuple[str, ...]
    """Full texts, the likeliest first; never empty."""


class _Marks(Highlighter):
    """Colours filters and underlines problems."""

    def __init__(self, box: QueryBox) -> None:
        self._box = box

    def highlight(self, text: Text) -> None:
        for name, start, end in self._box.marks:
            text.stylize(look_style(self._box, name), start, end)


class QueryBox(TextBox):
    """A box for a query, which marks its filters and offers to complete them."""

    BINDINGS = bindings(QUERY_BOX)

    marks: Sequence[tuple[str, int, int]] = ()
    """Highlighted ranges: look, start, end. To be set within the keystroke, by what watches
    `value`; `Input.Changed` would come a frame later."""
    _at_end = True

    def on_mount(self) -> None:
        self.highlighter, self.select_on_focus = _Marks(self), False

    def watch_value(self, old: str, value: str) -> None:
        self.marks = ()
        # The cursor has not moved yet: its position is that in the old value.
        self._at_end = self.cursor_position >= min(len(old), len(value))

    def mark(
        self, filters: Iterable[Filter], problems: Iterable[QueryProblem], *, is_typed: bool
    ) -> list[QueryProblem]:
        """Mark filters and problems, and return these; a filter at the end that is still being typed
        is none yet."""
        is_unfinished = is_typed or self.value.endswith((":", "<", ">", "="))
        typed_to = len(self.value) if is_unfinished else -1
        shown = [each for each in problems if each.end != typed_to]
        self.marks = [
            *(("accent", each.start, each.end) for each in filters),
            *(("problem", each.start, each.end) for each in shown),
        ]
        return shown

    def offer(self, offered: Offer | None) -> None:
        """Show the first completion of the query behind the cursor."""
        self._suggestion = ""
        if offered is not None and self._at_end:
            self._suggestion = self.value[: offered.start] + offered.choices[0]

    def action_accept(self) -> None:
        """Take the completion; without one, pass the key on to the screen."""
        if not self._suggestion or not self.cursor_at_end:
            raise SkipAction
        self.action_cursor_right()


class SearchBox(QueryBox):
    """The box for a query, whose keys are those of the screen: they move in the list."""

    BINDINGS = bindings(SEARCH_BOX)

    virtual_size: Reactive[Size] = Reactive(Size(0, 0), layout=False)
    """Without layout: the box keeps its width, and Textual would lay out the screen per letter, for
    half a frame."""

    def __init__(self) -> None:
        super().__init__(placeholder=_(_HINT), id="search", compact=True)

    def replace(self, text: str, start: int, end: int) -> None:
        """Replace a range by as much of a text as fits."""
        room = max(_LONGEST - len(self.value) + abs(end - start), 0)
        super().replace(text[:room], start, end)


class FindBox(TextBox):
    """The box for a text to find in the transcript."""

    BINDINGS = bindings(FIND_BOX)


class GoToBox(TextBox):
    """The box for the number or the id of a message."""

    BINDINGS = bindings(GO_TO_BOX)
