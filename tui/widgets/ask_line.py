"""A small box below the transcript that asks for one thing: what to find, or which message to go to."""

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
from .text_box import TextBox


class AskInput(TextBox):
    """The box."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(ASK)

    @dataclass
    class Stepped(Message):
        """Up or down."""

        by: int

    class Left(Message):
        """Escape."""

    def __init__(self) -> None:
        super().__init__(compact=True, select_on_focus=True)

    def action_step(self, by: int) -> None:
        """To the next or previous find, without leaving the box."""
        self.post_message(self.Stepped(by))

    def action_leave(self) -> None:
        """Leave without an answer."""
        self.post_message(self.Left())


class Asking(Protocol):
    """Takes what is typed into the box."""

    def edited(self, text: str) -> None:
        """There is another text in the box."""

    def submitted(self, text: str) -> None:
        """Enter was pressed."""

    def step(self, by: int) -> None:
        """Up was pressed, or down."""

    def left(self) -> None:
        """Escape was pressed."""


class AskLine(Horizontal):
    """A label, the box, and an answer.

    Args:
        asking: Takes what is typed.
    """

    def __init__(self, asking: Asking, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._asking = asking

    def compose(self) -> ComposeResult:
        """Label, box and answer."""
        yield TextLine(id="ask-label")
        yield AskInput()
        yield TextLine(id="ask-answer")

    @property
    def box(self) -> AskInput:
        """Where it is typed."""
        return self.query_one(AskInput)

    def ask(self, label: str, value: str = "", hint: str = "") -> None:
        """Begin to ask; the box takes the keys.

        Args:
            label: What is asked for.
            value: To begin with.
            hint: Shown while the box is empty.
        """
        self.display = True
        self.query_one("#ask-label", TextLine).update(label, layout=True)
        self.answer("")
        with self.prevent(Input.Changed):
            self.box.value = value
        self.box.placeholder = hint
        self.screen.set_focus(self.box)

    def answer(self, text: str) -> None:
        """Say what came of it."""
        self.query_one("#ask-answer", TextLine).update(text, layout=True)

    @on(Input.Changed)
    def changed(self, event: Input.Changed) -> None:
        """Hand on what is typed."""
        event.stop()
        self._asking.edited(event.value)

    @on(Input.Submitted)
    def submitted(self, event: Input.Submitted) -> None:
        """Hand on Enter."""
        event.stop()
        self._asking.submitted(event.value)

    @on(AskInput.Stepped)
    def stepped(self, event: AskInput.Stepped) -> None:
        """Hand on up and down."""
        event.stop()
        self._asking.step(event.by)

    @on(AskInput.Left)
    def left(self, event: AskInput.Left) -> None:
        """Hand on Escape."""
        event.stop()
        self._asking.left()
