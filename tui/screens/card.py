"""What all cards over the main screen have in common: a frame, keys at the bottom, `Esc` leaves."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import ClassVar, NamedTuple, TypeVar

from textual import on
from textual.content import Content
from textual.events import Resize
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input, Static

from hermes_browse.store.wording import _

from ..bindings import bindings
from ..commands import Command, final_keys
from ..formats import counted
from ..shared.key_names import key_names
from ..shared.text_box import TextBox

__all__ = ["STYLES", "Card", "CountCard", "CountWords", "counted", "keys_line"]

STYLES = Path(__file__).resolve().parents[2] / "styles"
Result = TypeVar("Result")
SHORT = 22
"""Lines below which cards have no margins."""


class Card(ModalScreen[Result]):
    """A card; its outermost widget has the id `card`, its line of keys the id `answer`."""

    CSS_PATH = STYLES / "dialogs.tcss"  # read with the first card, not while the browser starts
    KEYS: ClassVar[tuple[Command, ...]] = ()
    """What its keys do."""

    def on_resize(self, event: Resize) -> None:
        """Leave out the margins where the terminal is low."""
        self.set_class(event.size.height < SHORT, "-short")

    def __init_subclass__(cls) -> None:
        """Bind the keys of its commands."""
        if "KEYS" in vars(cls):
            cls.BINDINGS = bindings(cls.KEYS)
        super().__init_subclass__()

    @property
    def is_whole(self) -> bool:
        """Whether its widgets are there: answers of threads may come before and after (see `SubScreen.is_whole`)."""
        return self.is_attached and not self._pruning and bool(self.query("#answer"))

    def _keys(self) -> Iterator[tuple[Command, str]]:
        """Commands that have a key, with the first one as it is printed on a keyboard."""
        commands = final_keys(self.KEYS, getattr(self.app, "keymap", {}))
        for usual, command in zip(self.KEYS, commands, strict=True):
            if command.keys:
                first = command.key_names[0]
                yield command, (command.printed if first == usual.key_names[0] else "") or key_names(first)

    def key(self, name: str) -> str:
        """The key of a command, as it is printed on a keyboard; empty where it has none.

        Args:
            name: Of the command, without the card: `back`.
        """
        return next((key for command, key in self._keys() if command.id == f"{command.place}-{name}"), "")

    def told_keys(self, *before: str, without: Collection[str] = (), between: str = " · ") -> str:
        """What the keys of this card do; keys that do the same stand together.

        Args:
            before: What comes first, for keys that are not the card's.
            without: Names of commands that are not told, without the card.
            between: What parts them.
        """
        keys: dict[str, list[str]] = {}
        for command, key in self._keys():
            if command.footer and command.id.partition("-")[2] not in without:
                keys.setdefault(_(command.title), []).append(key)
        return between.join([*before, *(f"{' '.join(each)} {text}" for text, each in keys.items())])

    def with_way_back(self, text: str) -> str:
        """A text followed by the key that leaves the card."""
        key = self.key("back")
        return " · ".join([text, f"{key} {_('back')}"]) if key else text

    def answer(self, text: str, style: str = "$accent") -> None:
        """Show an answer in place of the keys; the key that leaves the card stays.

        Args:
            text: Printable.
            style: Its colour.
        """
        self.query_one("#answer", Static).update(Content.styled(self.with_way_back(text), style))


def keys_line(text: str) -> Static:
    """The keys of a card, in its last line."""
    return Static(Content.styled(text, "$accent"), id="answer")


class CountWords(NamedTuple):
    """The texts of a question that is answered with a number."""

    asked: str
    """In the empty box: which number, and what it does."""
    keys: str
    """What does it, in the line of keys."""
    refused: str
    """Another number was typed."""


class CountCard(Card[bool]):
    """A question that is answered with the number of what goes, which nobody types by habit.

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
        yield keys_line(self.with_way_back(words.keys))

    @on(Input.Submitted)
    def submitted(self, event: Input.Submitted) -> None:
        """Close the card if the right number was typed."""
        event.stop()
        if event.value.strip().replace(",", "") == str(self._count):
            self.dismiss(True)
        else:
            self.answer(self.words(self._count).refused, "$error")
