"""What all cards over the main screen have in common: a frame, keys at the bottom, `Esc` leaves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from textual import on
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input, Static

from ..formats import counted
from ..widgets.text_box import TextBox

__all__ = ["STYLES", "Card", "CountCard", "counted", "keys_line"]

STYLES = Path(__file__).resolve().parents[2] / "styles"
Result = TypeVar("Result")


class Card(ModalScreen[Result]):
    """A card; its outermost widget has the id `card`, its line of keys the id `answer`."""

    CSS_PATH = STYLES / "dialogs.tcss"  # read with the first card, not while the browser starts


def keys_line(text: str) -> Static:
    """The keys of a card, in its last line."""
    return Static(Content.styled(text, "$accent"), id="answer")


class CountCard(Card[bool]):
    """A question that is answered with a number, which no habit types: how many are to go.

    Args:
        count: The number.
        verb: What is done with so many, and is not without the number.
        undone: The same in the past tense.
    """

    def __init__(self, count: int, verb: str, undone: str) -> None:
        super().__init__()
        self._count, self._verb, self._undone = count, verb, undone

    def question(self) -> Iterator[Widget]:
        """The box for the number, and the line of keys."""
        them = "it" if self._count == 1 else "them"
        yield TextBox(placeholder=f"type {self._count} to {self._verb} {them}", id="count")
        yield keys_line(f"{self._count} and Enter {self._verb} · Esc back")

    @on(Input.Submitted)
    def submitted(self, event: Input.Submitted) -> None:
        """Go on, where the number is right."""
        event.stop()
        if event.value.strip().replace(",", "") == str(self._count):
            self.dismiss(True)
        else:
            words = f"that is not {self._count} · nothing is {self._undone} · Esc back"
            self.query_one("#answer", Static).update(Content.styled(words, "$error"))
