"""A message as it is stored: JSON of its row, to look at and to copy, never to change."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from .. import clipboard
from ..commands.screens import RAW
from ..styled import Line
from ..widgets.lines_view import LinesView
from .card import Card, keys_line


class RawScreen(Card[None]):
    """Shows one row.

    Args:
        title: Which, in printable words.
        text: Its JSON.
        lines: The same in colours, not wrapped.
    """

    KEYS = RAW

    def __init__(self, title: str, text: str, lines: Sequence[Line]) -> None:
        super().__init__()
        self._title, self._text, self._lines = title, text, lines

    def compose(self) -> ComposeResult:
        """Title, JSON, keys."""
        with Vertical(id="card"):
            yield Static(Content.styled(self._title, "bold"))
            yield LinesView(self._lines, id="raw")
            yield keys_line(self.told_keys())

    def action_copy(self) -> None:
        """Put the JSON on the clipboard, and say by which way."""

        async def work() -> None:
            self.answer(await clipboard.copy(self._text, self.app.copy_to_clipboard))

        self.run_worker(work(), exclusive=True)
