"""The card of long work: how far it is, how quick, how long yet; it can be stopped between two conversations."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import ProgressBar, Static

from .card import Card, counted, keys_line

if TYPE_CHECKING:
    from hermes_browse.store.write.carry import Step


class ProgressScreen(Card[None]):
    """Shows progress until it is told that all is done."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,c", "stop", "stop")]

    def __init__(self, total: int, verb: str) -> None:
        super().__init__()
        self._total, self._verb = total, verb
        self.stopped = threading.Event()
        """Set when the user wants no more."""

    def compose(self) -> ComposeResult:
        """What is done, the bar, the numbers."""
        with Vertical(id="card"):
            yield Static(Content.styled(f"{counted(self._total, 'conversation')} to be {self._verb}", "bold"))
            yield ProgressBar(total=self._total, show_eta=False, id="bar")
            yield Static("beginning …", id="numbers")
            yield Static(Content.styled("Hermes can go on writing: there is a pause after each portion.", "dim"))
            yield keys_line("Esc stops after this portion; what is done stays done, and can be undone")

    def show(self, step: Step) -> None:
        """How far it has come."""
        if self.is_attached:
            self.query_one(ProgressBar).update(progress=step.done)
            self.query_one("#numbers", Static).update(step.words)

    def finish(self) -> None:
        """All is done, or has stopped."""
        if self.is_current:
            self.dismiss(None)
        else:
            self.app.uninstall_screen(self)

    def action_stop(self) -> None:
        """No more after this portion."""
        self.stopped.set()
        self.query_one("#answer", Static).update(Content.styled("stopping after this portion …", "$accent"))
