"""The state of the terminal from the first painted rows until Textual has it."""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .early_keys import EarlyKeys

ENDING = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
"""Signals that end the browser. Python would raise SIGINT anywhere, also where nobody gives the
terminal back."""


class Handover:
    """The state of the terminal from the first rows until Textual has it."""

    def __init__(self) -> None:
        self.is_painted = False
        """The alternate screen is up."""
        self.is_done = False
        """Textual leaves the alternate screen; leaving it twice would move the cursor over later
        output."""
        self.restore_settings: Callable[[], None] = lambda: None
        """Restores the settings from before the painting; Textual would restore those it found."""
        self.signal = 0
        """The signal received, 0 for none. It is kept because an exception raised by the handler
        can be lost where Python ignores exceptions, and Textual ends in its own way.
        """
        self.is_critical = False
        """A thread is being started or the terminal restored: a signal does not interrupt that."""
        self.keys: EarlyKeys | None = None
        """Handles keys until Textual reads them."""

    def on_signal(self, number: int, stack: FrameType | None) -> None:
        """End at once, or leave that to Textual or to the end of the critical section."""
        self.signal = number
        if not self.is_done and not self.is_critical:
            raise SystemExit(128 + number)
