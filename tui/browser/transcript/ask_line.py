"""The input below the transcript: a text to find, or the id of a message to go to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input

from ...settings.keys.main_commands import ASK
from ...widgets.bindings import bindings
from ...widgets.lines import TextBox, TextLine


class AskInput(TextBox):
    """The input; what is typed comes as Textual's own messages."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(ASK)

    has_steps = True
    """Whether there are matches to step through."""

    @dataclass
    class Stepped(Message):
        """Up or down was pressed."""

        by: int

    class Left(Message):
        """Escape was pressed."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave out up and down where there is nothing to step through."""
        return self.has_steps or action != "step"

    def action_step(self, by: int) -> None:
        self.post_message(self.Stepped(by))

    def action_leave(self) -> None:
        self.post_message(self.Left())


class AskLine(Horizontal):
    """A label, the input, and an answer."""

    def compose(self) -> ComposeResult:
        yield TextLine(id="ask-label")
        yield AskInput(id="ask-box", compact=True, select_on_focus=True)
        yield TextLine(id="ask-answer")

    @property
    def box(self) -> AskInput:
        return self.query_one(AskInput)

    def ask(self, label: str, value: str = "", hint: str = "", *, has_steps: bool = True) -> None:
        """Show and focus the input, after a label and with a first text; the hint is shown while it
        is empty."""
        self.display = True
        self.query_one("#ask-label", TextLine).update(label, layout=True)
        self.answer("")
        with self.prevent(Input.Changed):
            self.box.value = value
        self.box.placeholder = hint
        self.box.has_steps = has_steps
        self.screen.set_focus(self.box)

    def answer(self, text: str) -> None:
        self.query_one("#ask-answer", TextLine).update(text, layout=True)
