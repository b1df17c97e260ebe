"""The progress of long work, which can be stopped between two portions."""

from __future__ import annotations

import threading

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import ProgressBar, Static

from hermes_browse.store.wording import _

from ..commands.screen_commands import PROGRESS
from ..screens.card import Card, keys_line


class ProgressScreen(Card[None]):
    """Shows progress until `finish` is called."""

    KEYS = PROGRESS

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title
        self._finished = False
        self.stopped = threading.Event()
        """Set when the user stops the work."""

    def compose(self) -> ComposeResult:
        """Compose the title, the bar, the numbers and the keys."""
        with Vertical(id="card"):
            yield Static(Content.styled(self._title, "bold"))
            yield ProgressBar(total=1.0, show_eta=False, id="progress")
            yield Static(_("beginning …"), id="numbers")
            yield Static(
                Content.styled(_("Hermes can write between two portions and while one is being saved."), "dim")
            )
            text = _("{key} stops; what is done stays done, and can be undone")
            yield keys_line(text.format(key=self.key("stop")))

    def show(self, share: float, words: str) -> None:
        """Show progress: a share from 0 to 1, and the same in numbers."""
        if self.is_whole:
            self.query_one(ProgressBar).update(progress=share)
            self.query_one("#numbers", Static).update(words)

    def finish(self) -> None:
        """Close the card when the work is done or stopped."""
        if self.app.screen is self:
            self.dismiss(None)
        else:
            self._finished = True  # another screen is over it: close when that is closed

    def on_screen_resume(self) -> None:
        """Close the card if the work finished while another screen was over it."""
        if self._finished and self.app.screen is self:
            self._finished = False
            self.dismiss(None)

    def action_stop(self) -> None:
        """Stop the work; the portion under way is cancelled if that is still possible."""
        self.stopped.set()
        if self.is_whole:
            self.query_one("#answer", Static).update(Content.styled(_("stopping …"), "$accent"))
