"""The card of what a message refers to: links to open or to copy, paths to copy."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult, SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from hermes_browse.store.text import one_line

from .. import browser, clipboard
from ..references import Kind, Reference
from .card import Card, counted, keys_line

if TYPE_CHECKING:
    from .main import MainScreen

_KEYS = "↵ open · c copy · Esc back"


class ReferencesScreen(Card[None]):
    """Shows them; stays until it is left.

    Args:
        main: Whose terminal a browser of text is lent.
        title: Of the message, printable.
        found: At least one.
    """

    AUTO_FOCUS = "#references"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "move(1)", "down", show=False),
        Binding("k", "move(-1)", "up", show=False),
        Binding("c,y", "copy", "copy"),
        Binding("escape,q,L", "dismiss(None)", "back"),
    ]

    def __init__(self, main: MainScreen, title: str, found: Sequence[Reference]) -> None:
        super().__init__()
        self._main, self._title, self._found = main, title, found

    def compose(self) -> ComposeResult:
        """Title, references, keys."""
        links = sum(each.kind is Kind.LINK for each in self._found)
        paths = len(self._found) - links
        counts = [counted(links, "link") if links else "", counted(paths, "path") if paths else ""]
        with Vertical(id="card"):
            words = " · ".join(each for each in counts if each)
            yield Static(Content.assemble((self._title, "bold"), (f"  {words}", "dim")))
            yield OptionList(*map(self._row, self._found), id="references", markup=False)
            yield keys_line(_KEYS)

    def _row(self, reference: Reference) -> Option:
        shown = one_line(reference.target, 2000)
        word = f"{reference.kind.value}  "
        label = f"  {reference.label}" if reference.label else ""
        note = "  is only copied" if reference.kind is Kind.LINK and not reference.can_be_opened else ""
        return Option(Content.assemble((word, "dim"), shown, (label + note, "dim")))

    @property
    def _current(self) -> Reference | None:
        index = self.query_one(OptionList).highlighted
        return self._found[index] if index is not None else None

    def _tell(self, text: str) -> None:
        if self.is_attached:
            self.query_one("#answer", Static).update(Content.styled(f"{one_line(text, 300)} · Esc back", "$accent"))

    def action_move(self, by: int) -> None:
        """Up and down."""
        options = self.query_one(OptionList)
        if by > 0:
            options.action_cursor_down()
        else:
            options.action_cursor_up()

    def action_copy(self) -> None:
        """Put the target on the clipboard, and say by which way."""
        reference = self._current
        if reference is not None:
            self.run_worker(self._copy(reference), group="reference", exclusive=True)

    async def _copy(self, reference: Reference, before: str = "") -> None:
        route = await clipboard.copy(reference.target, self.app.copy_to_clipboard)
        self._tell(f"{before}{reference.kind.value} {route}")

    @on(OptionList.OptionSelected)
    def selected(self, event: OptionList.OptionSelected) -> None:
        """Enter, or a click: open what may be opened, copy the rest."""
        event.stop()
        self.run_worker(self._open(self._found[event.option_index]), group="reference", exclusive=True)

    async def _open(self, reference: Reference) -> None:
        if not reference.can_be_opened:
            why = "" if reference.kind is Kind.PATH else "not of the web: "
            await self._copy(reference, why)
            return
        in_terminal = await asyncio.to_thread(browser.takes_the_terminal)
        if in_terminal is None:
            self._tell("no browser on this machine · c copies")
        elif in_terminal:
            try:
                with self._main.browse_app().lent():
                    went = browser.open_here(reference.target)
            except SuspendNotSupported:
                self._tell("the terminal cannot be handed over here · c copies")
                return
            self._tell("back from the browser" if went else "the browser did not take it · c copies")
        else:
            self._tell("opening …")
            went = await asyncio.to_thread(browser.open_quietly, reference.target)
            self._tell("handed to the system's browser" if went else "no browser took it · c copies")
