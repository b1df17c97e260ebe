"""A small box below the transcript that asks for one thing: what to find, or which message to go to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input

from hermes_browse.store.wording import N_

from ..shared.lines import TextLine
from .text_box import TextBox


class AskInput(TextBox):
    """Where it is typed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,ctrl+j", "submit", N_("done"), key_display="↵"),
        Binding("down", "step(1)", N_("next"), key_display="↓"),
        Binding("up", "step(-1)", N_("previous"), key_display="↑"),
        Binding("escape", "leave", N_("back")),
    ]

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
        """Leave as if nothing had been asked."""
        self.post_message(self.Left())


class AskLine(Horizontal):
    """A word for what is asked, the box, and what came of it."""

    def compose(self) -> ComposeResult:
        """The three of them."""
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
