"""Base classes of cards over the main screen: a frame, keys at the bottom, `Esc` leaves; lines
to read; a list that typing narrows down; a number to type."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import ClassVar, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from hermes_browse.store.wording import _

from ..settings.keys import Command, final_keys
from ..terminal.programs import copy_text
from ..text.styled import Line
from ..work.left_once import LeftOnce
from .bindings import BoundKeys, key_names
from .lines import LinesView, TextBox
from .themes import STYLES

Result = TypeVar("Result")
_SHORT = 22
"""Lines below which cards have no margins."""


class Card(BoundKeys, LeftOnce[Result], ModalScreen[Result]):
    """A card: what it has to say, and its keys below that."""

    CSS_PATH = STYLES / "dialogs.tcss"  # read with the first card, not at the start
    ENTER = ""
    """What Enter does, before the keys of the card; to be translated."""
    LAST = "#answer"

    def compose(self) -> ComposeResult:
        with Vertical(id="card"):
            yield from self.content()
            yield styled(self.keys_text(), "$accent", id="answer")

    def content(self) -> ComposeResult:
        """Build what stands above the keys."""
        raise NotImplementedError

    def on_resize(self, event: Resize) -> None:
        self.set_class(event.size.height < _SHORT, "-short")

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
            (key for command, key in self._keys() if command.id == f"{command.scope}-{name}"), ""
        )

    def keys_text(self) -> str:
        """Return the text of the line of keys."""
        return self.named_keys()

    def named_keys(self, *before: str, without: Collection[str] = ()) -> str:
        """Name the keys of this card, grouping keys of the same title.

        Args:
            before: Texts of keys that are not the card's, to come after Enter.
            without: Commands to leave out, by id without the card's prefix.
        """
        keys: dict[str, list[str]] = {}
        for command, key in self._keys():
            if command.footer and command.id.partition("-")[2] not in without:
                keys.setdefault(_(command.title), []).append(key)
        texts = [f"{' '.join(each)} {text}" for text, each in keys.items()]
        return " · ".join(filter(None, [_(self.ENTER), *before, *texts]))

    def with_way_back(self, text: str) -> str:
        key = self.key("back")
        return " · ".join([text, f"{key} {_('back')}"]) if key else text

    def answer(self, text: str, style: str = "$accent") -> None:
        """Show a printable message in place of the keys, except the one that leaves the card; a card
        that was left meanwhile shows nothing."""
        if self.is_whole:
            content = Content.styled(self.with_way_back(text), style)
            self.query_one("#answer", Static).update(content)

    def copy(self, text: str, name: str = "") -> None:
        """Copy a text; say by which route in place of the keys, after a printable name."""

        async def work() -> None:
            route = await copy_text(text, self.app.copy_to_clipboard)
            self.answer(f"{name} {route}".lstrip())

        self.run_worker(work(), group="copy", exclusive=True)

    def action_move(self, by: int) -> None:
        """Move the cursor of the list, also while a field has the focus."""
        options = self.query_one(OptionList)
        (options.action_cursor_down if by > 0 else options.action_cursor_up)()

    def action_scroll(self, lines: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)


def styled(text: str, look: str, *, id: str | None = None, classes: str | None = None) -> Static:
    """Build a text of a card in one look of the style sheet; no part of it is markup."""
    return Static(Content.styled(text, look), id=id, classes=classes)


class LinesCard(Card[str]):
    """Printable lines, not wrapped, under a printable title; a text in their place can be
    copied."""

    VIEW: ClassVar[str]
    """Id of the view of the lines."""
    HAS_LABELS = False
    """Whether the lines begin with a label."""

    def __init__(self, title: str, copied: str, lines: Sequence[Line]) -> None:
        super().__init__()
        self._title = title
        self._copied = copied
        self._view = LinesView(lines, has_labels=self.HAS_LABELS, id=self.VIEW)

    def content(self) -> ComposeResult:
        yield styled(self._title, "bold")
        yield self._view

    def action_copy(self) -> None:
        self.copy(self._copied)


class NarrowCard(Card[Result | str | None]):
    """A list that typing narrows down; returns the id of the option that was chosen."""

    AUTO_FOCUS = "#narrow"
    PROMPT = ""

    def content(self) -> ComposeResult:
        yield TextBox(placeholder=_(self.PROMPT), id="narrow", compact=True)
        yield OptionList(id="choices", markup=False)

    def on_mount(self) -> None:
        self.fill("")

    @property
    def options(self) -> OptionList:
        return self.query_one(OptionList)

    @property
    def current(self) -> str | None:
        """The id of the option under the cursor."""
        option = self.options.highlighted_option
        return option.id if option is not None else None

    def fill(self, typed: str) -> None:
        """List what matches."""
        raise NotImplementedError

    def show(self, options: Sequence[Option], at: int | None) -> None:
        """Show options, with the cursor on one of them."""
        self.options.clear_options()
        self.options.add_options(options)
        self.options.highlighted = at

    @on(Input.Changed, "#narrow")
    def narrowed(self, event: Input.Changed) -> None:
        self.fill(event.value)

    @on(Input.Submitted, "#narrow")
    def submitted(self) -> None:
        self.options.action_select()

    @on(OptionList.OptionSelected)
    def selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option_id)


class CountCard(Card[bool]):
    """A confirmation by typing the number of affected items, which cannot be done by habit.

    Args:
        count: The number.
        asked: What typing it does, for the box.
        keys: The line of keys.
    """

    def __init__(self, count: int, asked: str, keys: str) -> None:
        super().__init__()
        self.count = count
        self._asked = asked
        self._keys_text = keys

    def keys_text(self) -> str:
        return self.with_way_back(self._keys_text)

    def box(self) -> TextBox:
        """Build the box for the number."""
        return TextBox(placeholder=self._asked, restrict="[0-9]*", id="count")

    @on(Input.Changed, "#count")
    def edited(self) -> None:
        """Show the keys again, in place of what was wrong."""
        self.answer(self._keys_text)

    @on(Input.Submitted)
    def submitted(self, event: Input.Submitted) -> None:
        if event.value == str(self.count):
            self.dismiss(True)
        else:
            self.answer(_("that is not {count} · nothing is deleted", count=self.count), "$error")
