"""The input below the transcript: a text to find, or the id of a message to go to."""

from __future__ import annotations

from typing import ClassVar, Protocol

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.widgets import Input

from ..bindings import bindings
from ..commands.main_commands import ASK
from ..shared.lines import TextLine
from ..shared.text_box import TextBox


class AskInput(TextBox):
    """The input."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(ASK)

    def __init__(self, handler: AskHandler) -> None:
        super().__init__(compact=True, select_on_focus=True)
        self._handler = handler
        self.has_steps = True
        """Whether there are matches to step through."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave out up and down where there is nothing to step through."""
        return self.has_steps or action != "step"

    def action_step(self, by: int) -> None:
        """Pass on up and down."""
        self._handler.step(by)

    def action_leave(self) -> None:
        """Pass on Escape."""
        self._handler.left()


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
    """A label, the input, and an answer."""

    def __init__(self, handler: AskHandler, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._handler = handler

    def compose(self) -> ComposeResult:
        yield TextLine(id="ask-label")
        yield AskInput(self._handler)
        yield TextLine(id="ask-answer")

    @property
    def box(self) -> AskInput:
        """The input."""
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
