"""The card of long work: how far it is and how long it will take; it can be stopped between two portions."""

from __future__ import annotations

import threading

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import ProgressBar, Static

from hermes_browse.store.wording import _

from ..commands.screens import PROGRESS
from ..screens.card import Card, keys_line


class ProgressScreen(Card[None]):
    """Shows progress until it is told that all is done."""

    KEYS = PROGRESS

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title
        self._finished = False
        self.stopped = threading.Event()
        """Set when the user wants no more."""

    def compose(self) -> ComposeResult:
        """What is done, the bar, the numbers."""
        with Vertical(id="card"):
            yield Static(Content.styled(self._title, "bold"))
            yield ProgressBar(total=1.0, show_eta=False, id="progress")
            yield Static(_("beginning …"), id="numbers")
            yield Static(
                Content.styled(_("Hermes can write between two portions and while one is being saved."), "dim")
            )
            told = _("{key} stops; what is done stays done, and can be undone")
            yield keys_line(told.format(key=self.key("stop")))

    def show(self, share: float, words: str) -> None:
        """How far it has come.

        Args:
            share: Of all, up to one.
            words: The same in numbers.
        """
        if self.is_whole:
            self.query_one(ProgressBar).update(progress=share)
            self.query_one("#numbers", Static).update(words)

    def finish(self) -> None:
        """All is done, or has stopped."""
        if self.app.screen is self:
            self.dismiss(None)
        else:
            self._finished = True  # something stands on top of it: it goes when that has gone

    def on_screen_resume(self) -> None:
        """What stood on top of it has gone."""
        if self._finished and self.app.screen is self:
            self._finished = False
            self.dismiss(None)

    def action_stop(self) -> None:
        """No more; a portion that is under way is given up where it still can be."""
        self.stopped.set()
        if self.is_whole:
            self.query_one("#answer", Static).update(Content.styled(_("stopping …"), "$accent"))
