"""Base class of cards over the main screen: a frame, keys at the bottom, `Esc` leaves."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple, TypeVar

from textual import on
from textual.content import Content
from textual.events import Resize
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input, Static

from hermes_browse.store.wording import _

from ..settings.keys import Command, final_keys
from ..terminal import programs
from .bindings import BoundKeys, key_names
from .lines import TextBox

STYLES = Path(__file__).resolve().parents[2] / "styles"
Result = TypeVar("Result")
SHORT = 22
"""Lines below which cards have no margins."""


class Card(BoundKeys, ModalScreen[Result]):
    """A card. Its outermost widget has the id `card`, its line of keys the id `answer`."""

    CSS_PATH = STYLES / "dialogs.tcss"  # read with the first card, not at the start

    def on_resize(self, event: Resize) -> None:
        self.set_class(event.size.height < SHORT, "-short")

    @property
    def is_whole(self) -> bool:
        """Whether its widgets are mounted and not being removed (see `SubScreen.is_whole`)."""
        return self.is_attached and not self._pruning and bool(self.query("#answer"))

    def _keys(self) -> Iterator[tuple[Command, str]]:
        """Yield the commands that have keys, each with its first key as it is printed on a
        keyboard."""
        for command in final_keys(self.KEYS, getattr(self.app, "keymap", {})):
            if command.keys:
                yield command, key_names(command.key_names[0])

    def key(self, name: str) -> str:
        """Return the key of a command, given by its id without the card's prefix; empty if it has
        none."""
        return next(
            (key for command, key in self._keys() if command.id == f"{command.place}-{name}"), ""
        )

    def keys_text(self, *before: str, without: Collection[str] = ()) -> str:
        """Describe the keys of this card, grouping keys of the same title.

        Args:
            before: Texts of keys that are not the card's, to come first.
            without: Commands to leave out, by id without the card's prefix.
        """
        keys: dict[str, list[str]] = {}
        for command, key in self._keys():
            if command.footer and command.id.partition("-")[2] not in without:
                keys.setdefault(_(command.title), []).append(key)
        return " · ".join([*before, *(f"{' '.join(each)} {text}" for text, each in keys.items())])

    def with_way_back(self, text: str) -> str:
        key = self.key("back")
        return " · ".join([text, f"{key} {_('back')}"]) if key else text

    def answer(self, text: str, style: str = "$accent") -> None:
        """Show a printable message in place of the keys, except the one that leaves the card."""
        self.query_one("#answer", Static).update(Content.styled(self.with_way_back(text), style))

    def copy(self, text: str, name: str = "") -> None:
        """Copy a text; say by which route in place of the keys, after a printable name."""

        async def work() -> None:
            route = await programs.copy_text(text, self.app.copy_to_clipboard)
            if self.is_whole:
                self.answer(f"{name} {route}".lstrip())

        self.run_worker(work(), group="copy", exclusive=True)


def keys_line(text: str) -> Static:
    """Build the last line of a card, for its keys."""
    return Static(Content.styled(text, "$accent"), id="answer")


class CountWords(NamedTuple):
    """The texts of a confirmation by typing a number."""

    asked: str
    """Placeholder: the number to type, and its effect."""
    keys: str
    """The line of keys."""
    refused: str
    """The error after another number was typed."""


class CountCard(Card[bool]):
    """A confirmation by typing the number of affected items, which cannot be done by habit."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self._count = count

    def words(self, count: int) -> CountWords:
        raise NotImplementedError

    def question(self) -> Iterator[Widget]:
        """Build the box for the number and the line of keys."""
        words = self.words(self._count)
        yield TextBox(placeholder=words.asked, restrict="[0-9]*", id="count")
        yield keys_line(self.with_way_back(words.keys))

    @on(Input.Submitted)
    def submitted(self, event: Input.Submitted) -> None:
        if event.value == str(self._count):
            self.dismiss(True)
        else:
            self.answer(self.words(self._count).refused, "$error")
