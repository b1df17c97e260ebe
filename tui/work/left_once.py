"""The base class of all screens and cards."""

from __future__ import annotations

from typing import Any

from textual.await_complete import AwaitComplete
from textual.reactive import Reactive
from textual.screen import Screen, ScreenResultType
from textual.widget import Widget

from ..terminal.textual_private import NarrowCompositor


class LeftOnce(Screen[ScreenResultType]):
    """A screen or a card that is left once.

    Each click of a double click may choose something, and Textual would leave the screen below at
    the second one.
    """

    focused: Reactive[Widget | None] = Reactive(None, repaint=False)
    """Without a repaint: Textual would draw the whole screen again, and not what has changed."""
    LAST = "#status"
    """Selects the widget that tells whether all are there."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._compositor = NarrowCompositor()

    @property
    def is_whole(self) -> bool:
        """Whether its widgets are mounted and not being removed; answers and timers may come before
        and after.

        Textual 8 removes the lines first, and calls the screen attached until it is removed too.
        """
        return self.is_attached and not self._pruning and bool(self.query(self.LAST))

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        return super().dismiss(result) if self.is_active else AwaitComplete()
