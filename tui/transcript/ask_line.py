"""The input below the transcript: a text to find, or the id of a message to go to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input

from ..bindings import bindings
from ..commands.panes import ASK
from ..shared.lines import TextLine
from ..shared.text_box import TextBox


class AskInput(TextBox):
    """The input."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(ASK)

    @dataclass
    class Stepped(Message):
        """Up or down was pressed."""

        by: int

    class Left(Message):
        """Escape was pressed."""

    def __init__(self) -> None:
        super().__init__(compact=True, select_on_focus=True)

    def action_step(self, by: int) -> None:
        """Go to the next or previous find, without leaving the input."""
        self.post_message(self.Stepped(by))

    def action_leave(self) -> None:
        """Leave the input."""
        self.post_message(self.Left())


class AskHandler(Protocol):
    """Handles the events of the input."""

    def edited(self, text: str) -> None:
        """The text was changed."""

    def submitted(self, text: str) -> None:
        """Enter was pressed."""

    def step(self, by: int) -> None:
        """Up or down was pressed."""

    def left(self) -> None:
        """Escape was pressed."""


class AskLine(Horizontal):
    """A label, the input, and an answer.

    Args:
        handler: Of the events.
    """

    def __init__(self, handler: AskHandler, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._handler = handler

    def compose(self) -> ComposeResult:
        """Label, input and answer."""
        yield TextLine(id="ask-label")
        yield AskInput()
        yield TextLine(id="ask-answer")

    @property
    def box(self) -> AskInput:
        """The input."""
        return self.query_one(AskInput)

    def ask(self, label: str, value: str = "", hint: str = "") -> None:
        """Show and focus the input.

        Args:
            label: Shown before it.
            value: Its first text.
            hint: Shown while it is empty.
        """
        self.display = True
        self.query_one("#ask-label", TextLine).update(label, layout=True)
        self.answer("")
        with self.prevent(Input.Changed):
            self.box.value = value
        self.box.placeholder = hint
        self.screen.set_focus(self.box)

    def answer(self, text: str) -> None:
        """Show the answer."""
        self.query_one("#ask-answer", TextLine).update(text, layout=True)

    @on(Input.Changed)
    def changed(self, event: Input.Changed) -> None:
        """Pass on the text."""
        event.stop()
        self._handler.edited(event.value)

    @on(Input.Submitted)
    def submitted(self, event: Input.Submitted) -> None:
        """Pass on Enter."""
        event.stop()
        self._handler.submitted(event.value)

    @on(AskInput.Stepped)
    def stepped(self, event: AskInput.Stepped) -> None:
        """Pass on up and down."""
        event.stop()
        self._handler.step(event.by)

    @on(AskInput.Left)
    def left(self, event: AskInput.Left) -> None:
        """Pass on Escape."""
        event.stop()
        self._handler.left()
