"""A line to type into, which takes keys in the order in which they are pressed."""

from __future__ import annotations

from textual import events
from textual.widgets import Input


class TextBox(Input):
    """Textual's input, quick with keys that come in one go.

    In Textual 8 a letter is put in at once, but a key that is bound (backspace, Ctrl+u, Enter) goes from queue to queue
    up to the app before it does anything. Where several come together, over a slow line or from a fast hand, the
    letters typed behind it are there first, and Ctrl+u deletes them.
    """

    async def _on_key(self, event: events.Key) -> None:
        for binding in () if event.is_printable else self._bindings.key_to_bindings.get(event.key, ()):
            if not binding.priority and await self.app.run_action(binding.action, self):
                event.stop()
                event.prevent_default()
                return
        await super()._on_key(event)
