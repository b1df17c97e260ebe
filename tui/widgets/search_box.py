"""The search box: one line, no border, answers in the keystroke's own frame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input

_HINT = 'search: words, "a phrase", OR, -word, prefix*, source:cli role:user tool:terminal after:3d is:live'


class SearchBox(Input):
    """Where a query is typed; keys that move go to the list, so that the hands stay where they are."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "move('down')", "next hit", key_display="↓"),
        Binding("up", "move('up')", "previous", show=False),
        Binding("pagedown", "move('pagedown')", "page down", show=False),
        Binding("pageup", "move('pageup')", "page up", show=False),
        Binding("enter,ctrl+j", "submit", "open", key_display="↵"),
        Binding("escape", "step_back", "clear, then leave"),
    ]

    @dataclass
    class Moved(Message):
        """A key that moves in the list was pressed."""

        key: str

    class Left(Message):
        """The box was empty and is left."""

    class Entered(Message):
        """Enter: open what the cursor is on."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(placeholder=_HINT, id=id, compact=True, select_on_focus=False)
        self.cursor_blink = False
        self.on_edit: Callable[[str], None] = lambda text: None
        """Called with the query in the keystroke's own message: `Input.Changed` would cost a frame more."""

    def watch_value(self, value: str) -> None:
        """Tell at once."""
        self.on_edit(value)

    def action_move(self, key: str) -> None:
        """Hand a moving key to the list."""
        self.post_message(self.Moved(key))

    def action_step_back(self) -> None:
        """First clear, then leave."""
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
