"""What all cards over the main screen have in common: a frame, keys at the bottom, `Esc` leaves."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from ..formats import counted

__all__ = ["STYLES", "Card", "counted", "keys_line"]

STYLES = Path(__file__).resolve().parents[2] / "styles"
Result = TypeVar("Result")


class Card(ModalScreen[Result]):
    """A card; its outermost widget has the id `card`, its line of keys the id `answer`."""

    CSS_PATH = STYLES / "dialogs.tcss"  # read with the first card, not while the browser starts


def keys_line(text: str) -> Static:
    """The keys of a card, in its last line."""
    return Static(Content.styled(text, "$accent"), id="answer")
