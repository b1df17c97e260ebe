"""The search box: one line, no border, answers in the keystroke's own frame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from rich.highlighter import Highlighter
from rich.style import Style
from rich.text import Text
from textual import events
from textual.actions import SkipAction
from textual.binding import BindingType
from textual.geometry import Size
from textual.message import Message
from textual.reactive import Reactive

from hermes_browse.store.wording import N_, _

from ..bindings import bindings
from ..commands.panes import SEARCH_BOX
from .text_box import TextBox

_HINT = N_('search: words, "a phrase", OR, -word, prefix*, source:cli role:user tool:terminal after:3d is:live')


class _Marks(Highlighter):
    """Colours filters, and underlines what could not be understood."""

    def __init__(self, box: SearchBox) -> None:
        self._box = box

    def highlight(self, text: Text) -> None:
        """Put the marks of the box into its text."""
        for name, start, end in self._box.marks:
            text.stylize(self._box.look(name), start, end)


class SearchBox(TextBox):
    """The box for a query; it hands moving keys to the list."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"search--filter", "search--problem"}

    BINDINGS: ClassVar[list[BindingType]] = bindings(SEARCH_BOX)

    virtual_size: Reactive[Size] = Reactive(Size(0, 0), layout=False)
    """A letter more does not make the box wider; Textual would lay out the screen for it, at half a frame."""

    @dataclass
    class Moved(Message):
        """A key that moves in the list was pressed."""

        key: str

    class Left(Message):
        """The box was empty and is left."""

    class Entered(Message):
        """Enter: open what the cursor is on."""

    def __init__(self, *, id: str | None = None) -> None:
        self._looks: dict[str, Style] = {}  # Textual tells of styles while the widget is being made
        super().__init__(placeholder=_(_HINT), id=id, compact=True, select_on_focus=False)
        self.on_edit: Callable[[str], None] = lambda text: None
        """Called with the query in the keystroke's own message: `Input.Changed` would cost a frame more."""
        self.stops: Callable[[], bool] = lambda: False
        """Stops what Escape stops before it clears; says whether there was anything."""
        self.marks: list[tuple[str, int, int]] = []
        """What is drawn in another look: `filter` or `problem`, and from where to where. Whoever takes the query
        sets it while being told."""
        self._at_end = True
        self.highlighter = _Marks(self)

    def watch_value(self, old: str, value: str) -> None:
        """Hand the query on within the keystroke."""
        self.marks = []
        # The cursor has not moved yet: it stands where it stood in the old value.
        self._at_end = self.cursor_position >= min(len(old), len(value))
        self.on_edit(value)

    def look(self, name: str) -> Style:
        """The style of a mark."""
        style = self._looks.get(name)
        if style is None:
            style = self._looks[name] = self.get_component_rich_style(f"search--{name}", partial=True)
        return style

    def notify_style_update(self) -> None:
        """Another theme: forget the looks."""
        super().notify_style_update()
        self._looks.clear()

    def offer(self, completed: str) -> None:
        """Show what the query can be completed to behind the cursor; empty for nothing."""
        self._suggestion = completed if self._at_end else ""

    def action_accept(self) -> None:
        """Take the completion; without one the key goes on to the screen."""
        if not self._suggestion or not self.cursor_at_end:
            raise SkipAction
        self.action_cursor_right()

    def action_move(self, key: str) -> None:
        """Hand a moving key to the list."""
        self.post_message(self.Moved(key))

    def action_step_back(self) -> None:
        """Stop a scan, else clear the box, else go back to the list."""
        if self.stops():
            return
        if self.value:
            self.value = ""
        else:
            self.post_message(self.Left())

    async def action_submit(self) -> None:
        """Open what the cursor is on."""
        self.post_message(self.Entered())

    def _on_paste(self, event: events.Paste) -> None:
        """Take the first line of a paste, and no more of it than a query can hold."""
        lines = event.text.splitlines()
        if lines:
            self.insert_text_at_cursor(lines[0][:2048])
        event.stop()
        event.prevent_default()
