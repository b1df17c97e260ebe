"""Textual's driver for a screen that has been taken already: it does not take it again."""

from __future__ import annotations

from textual.drivers.linux_driver import LinuxDriver

_TAKE = "\x1b[?1049h"


class TakenScreenDriver(LinuxDriver):
    """Leaves out the one sequence that would clear what has been painted."""

    _is_taken = True

    def write(self, data: str) -> None:
        """Write to the terminal."""
        if self._is_taken and _TAKE in data:
            self._is_taken = False  # when it comes again the screen was given to another program meanwhile
            data = data.replace(_TAKE, "")
        super().write(data)
