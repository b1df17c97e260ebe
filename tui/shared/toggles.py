"""A line of numbered switches that can be clicked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual.content import Content
from textual.events import Click
from textual.message import Message

from .lines import TextLine


class ToggleLine(TextLine):
    """Switches side by side."""

    @dataclass
    class Switched(Message):
        """A switch was clicked."""

        index: int

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._labels: list[str] = []

    def show(self, switches: Sequence[tuple[str, bool]]) -> None:
        """Show switches, given by name and state."""
        self._labels = [f" {number} {name} " for number, (name, _) in enumerate(switches, 1)]
        parts: list[Content] = [Content(" ")]
        for label, (_, is_on) in zip(self._labels, switches, strict=True):
            parts += [Content.styled(label, "bold reverse" if is_on else "dim"), Content(" ")]
        self.update(Content("").join(parts))

    def on_click(self, event: Click) -> None:
        """Report the clicked switch by its index."""
        event.stop()
        column = event.x - 1
        for index, label in enumerate(self._labels):
            if 0 <= column < cell_len(label):
                self.post_message(self.Switched(index))
            column -= cell_len(label) + 1
