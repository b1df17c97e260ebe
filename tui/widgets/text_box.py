"""A line to type into, which takes keys in the order in which they are pressed."""

from __future__ import annotations

from textual import events
from textual.geometry import Offset
from textual.reactive import Reactive
from textual.widgets import Input

from ..textual_private import bindings_of


class TextBox(Input):
    """Textual's input, which handles keys in the order in which they come.

    In Textual 8 a letter is put in at once, but a key that is bound (backspace, Ctrl+u, Enter) goes from queue to queue
    up to the app before it does anything. Where several come together, over a slow line or from a fast hand, the
    letters typed behind it are there first, and Ctrl+u deletes them.
    """

    cursor_blink: Reactive[bool] = Reactive(False, init=False)
    """A cursor that goes on and off draws the screen twice a second while nothing happens."""

    @property
    def cursor_screen_offset(self) -> Offset:
        """Where the next letter goes on the screen: there the terminal's own cursor stands, and an input method shows
        what it is putting together. At the end of the text Textual 8 says one cell beyond."""
        return super().cursor_screen_offset - (int(self.cursor_at_end), 0)

    def on_resize(self) -> None:
        """The first layout, or another one: what was typed before it stood nowhere yet."""
        if self.has_focus:
            self.app.cursor_position = self.cursor_screen_offset

    async def _on_key(self, event: events.Key) -> None:
        for binding in () if event.is_printable else bindings_of(self, event.key):
            if not binding.priority and await self.app.run_action(binding.action, self):
                event.stop()
                event.prevent_default()
                return
        await super()._on_key(event)
