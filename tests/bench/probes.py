"""Two small apps to compare with: a list by Textual's Line API, and a list that follows an `Input`
by its message.

python tests/bench/probes.py line|changed
"""

from __future__ import annotations

import sys

from rich.segment import Segment
from rich.style import Style
from textual.app import App, ComposeResult
from textual.events import Key
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Input

_ROWS = 100_000


class Rows(ScrollView, can_focus=True):
    """A hundred thousand lines and a cursor."""

    cursor = 0
    word = ""

    def on_mount(self) -> None:
        """As high as it has rows."""
        self.virtual_size = Size(100, _ROWS)

    def render_line(self, y: int) -> Strip:
        """A line of text, the cursor in front of one."""
        mark = "▌" if y == self.cursor else " "
        return Strip(
            [
                Segment(
                    f"{mark} row {self.word} {y}".ljust(self.size.width),
                    Style(bold=y == self.cursor),
                )
            ]
        )

    def on_key(self, event: Key) -> None:
        """Down moves the cursor."""
        if event.key == "down":
            self.cursor += 1
            self.refresh(Region(0, self.cursor - 1, self.size.width, 2))


class Probe(App[None]):
    """One of the two."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind

    def compose(self) -> ComposeResult:
        """The list, and an input above it."""
        if self.kind == "changed":
            yield Input(id="box")
        yield Rows(id="rows")

    def on_input_changed(self, event: Input.Changed) -> None:
        """What is typed stands in each row."""
        rows = self.query_one(Rows)
        rows.word = event.value
        rows.refresh()


if __name__ == "__main__":
    Probe(sys.argv[1]).run()
