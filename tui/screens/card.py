"""What all cards over the main screen have in common: a frame, keys at the bottom, `Esc` leaves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TypeVar

from textual import on
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input, Static

from ..formats import counted
from ..widgets.text_box import TextBox

__all__ = ["STYLES", "Card", "CountCard", "CountWords", "counted", "keys_line"]

STYLES = Path(__file__).resolve().parents[2] / "styles"
Result = TypeVar("Result")


class Card(ModalScreen[Result]):
    """A card; its outermost widget has the id `card`, its line of keys the id `answer`."""

    CSS_PATH = STYLES / "dialogs.tcss"  # read with the first card, not while the browser starts


def keys_line(text: str) -> Static:
    """The keys of a card, in its last line."""
    return Static(Content.styled(text, "$accent"), id="answer")


class CountWords(NamedTuple):
    """What a question that is answered with a number says."""

    asked: str
    """In the empty box: which number, and what it does."""
    keys: str
    """The line of keys."""
    refused: str
    """Another number was typed."""


class CountCard(Card[bool]):
    """A question that is answered with a number, which no habit types: how many are to go.

    Args:
        count: The number.
    """

    def __init__(self, count: int) -> None:
        super().__init__()
        self._count = count

    def words(self, count: int) -> CountWords:
        """What is said around the box."""
        raise NotImplementedError

    def question(self) -> Iterator[Widget]:
        """The box for the number, and the line of keys."""
        words = self.words(self._count)
        yield TextBox(placeholder=words.asked, id="count")
        yield keys_line(words.keys)

    @on(Input.Submitted)
    def submitted(self, event: Input.Submitted) -> None:
        """Go on, where the number is right."""
        event.stop()
        if event.value.strip().replace(",", "") == str(self._count):
            self.dismiss(True)
        else:
            refused = self.words(self._count).refused
            self.query_one("#answer", Static).update(Content.styled(refused, "$error"))
