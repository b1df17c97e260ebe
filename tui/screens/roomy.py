"""Base class of screens that show a sentence instead of panes where there is hardly any room."""

from __future__ import annotations

from typing import TypeVar

from rich.console import RenderableType
from rich.text import Text
from textual.events import Resize
from textual.screen import Screen
from textual.widget import Widget

from hermes_browse.store.wording import _

from ..pane_sizes import TINY, is_tiny

Result = TypeVar("Result")


class RoomyScreen(Screen[Result]):
    """A screen whose style sheet hides all of its widgets while it has the class `-tiny`."""

    _focused_before: Widget | None = None
    """What had the focus before it was hidden."""

    def on_resize(self, event: Resize) -> None:
        """Hide the panes, or bring them back with the focus, which hiding them takes away."""
        was_tiny, is_now = self.has_class("-tiny"), is_tiny(event.size.width, event.size.height)
        if is_now and not was_tiny:
            self._focused_before = self.focused
        self.set_class(is_now, "-tiny")
        if was_tiny and not is_now:
            self.call_after_refresh(self.set_focus, self._focused_before)

    def render(self) -> RenderableType:
        """Render the background: the sentence if the terminal is too small."""
        if not self.has_class("-tiny"):
            return super().render()
        words = _("too small (min {columns}×{lines})").format(columns=TINY[0], lines=TINY[1])
        return Text(words)
