"""A text input that handles keys in the order in which they are pressed."""

from __future__ import annotations

from textual import events
from textual.geometry import Offset
from textual.reactive import Reactive
from textual.widgets import Input

from ..terminal.textual_private import bindings_of


class TextBox(Input):
    """Textual's input with bound keys handled in order.

    In Textual 8 a letter is inserted at once, but a bound key (backspace, Ctrl+u, Enter) passes the
    queues up to the app first. If several keys arrive together, as over a slow line, letters typed
    after Ctrl+u are inserted before it runs, and it deletes them.
    """

    cursor_blink: Reactive[bool] = Reactive(False, init=False)
    """Off, as blinking redraws the screen twice a second."""

    @property
    def cursor_screen_offset(self) -> Offset:
        """Position of the next letter, for the terminal's own cursor and input methods; Textual 8
        returns one cell too many at the end of the text."""
        return super().cursor_screen_offset - (int(self.cursor_at_end), 0)

    def on_resize(self) -> None:
        """Move the terminal's cursor: before the first layout there was no position."""
        if self.has_focus:
            self.app.cursor_position = self.cursor_screen_offset

    async def _on_key(self, event: events.Key) -> None:
        for binding in () if event.is_printable else bindings_of(self, event.key):
            if not binding.priority and await self.app.run_action(binding.action, self):
                event.stop()
                event.prevent_default()
                return
        await super()._on_key(event)
