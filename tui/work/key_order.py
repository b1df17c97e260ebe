"""Keys, one after the other: each is handled when all that those before it led to is done, and what
it has changed is drawn at once."""

from __future__ import annotations

import asyncio
import time

from textual.events import Event, Key, Paste
from textual.widgets import Input

from ..terminal.textual_private import draw_now, give_answers, run_bound
from .application import Application

_PATIENCE = 1.0
"""Seconds that a key waits at most for those before it."""
_FRAME = 1 / 60
"""Seconds between two keys that are drawn at once."""


class OrderedKeys(Application):
    """Handles keys one after the other."""

    _drawn_at = 0.0
    """When a key was drawn at once, by `time.monotonic`."""

    async def on_event(self, event: Event) -> None:
        """Handle a key, or a paste, when all that those before it led to is done.

        In Textual 8 a key passes the queues of the focused widget and of all its ancestors first: that
        takes half a millisecond, and of keys that come together one may overtake another, or what
        that has chosen. The hint of the very first start goes with the first key.
        """
        if not isinstance(event, Key | Paste):
            await super().on_event(event)
            return
        if self.is_hint_wanted:
            self.is_hint_wanted = False
            self.query("FirstHint").remove()
        self.app_focus = True
        await self._come_to_rest()
        event.stop()
        field = self.focused
        if isinstance(field, Input) and (isinstance(event, Paste) or event.is_printable):
            await field.on_event(event)
        elif isinstance(event, Key) and not await run_bound(self, event.key):
            await self.screen.on_event(event)
        self._draw_focused()

    def _draw_focused(self) -> None:
        """Draw what the key has changed where it went, unless keys come faster than frames."""
        now = time.monotonic()
        if self.focused is not None and now - self._drawn_at > _FRAME:
            self._drawn_at = now
            draw_now(self.focused)

    async def _come_to_rest(self) -> None:
        """Wait for what is under way where the keys go: a choice, the answer of a card, the focus of
        a screen that has just come. Keys typed before the first frame do not wait for that frame."""
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            await give_answers(self)
            *pumps, _app = (self.focused or self.screen).ancestors_with_self
            is_starting = not self._is_ready and self.screen.is_mounted
            if is_starting or not any(pump.message_queue_size for pump in pumps):
                return
            await asyncio.sleep(0)
