"""The line of keys at the bottom, from the bindings."""

from __future__ import annotations

from textual.widgets import Footer


class KeyLine(Footer):
    """Textual's footer, compact; the palette is in the help."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, show_command_palette=False, compact=True)
