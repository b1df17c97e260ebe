"""Textual's driver for a screen that has been taken already: it does not take it again."""

from __future__ import annotations

from textual.drivers.linux_driver import LinuxDriver

_TAKE = "\x1b[?1049h"


class TakenScreenDriver(LinuxDriver):
    """Leaves out the one sequence that would clear what has been painted."""

    def write(self, data: str) -> None:
        """Write to the terminal."""
        super().write(data.replace(_TAKE, ""))
