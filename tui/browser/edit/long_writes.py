"""Writes that take long: how far they are, on a card where they can be stopped, or in the status
line."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from textual.app import ComposeResult
from textual.widgets import ProgressBar, Static

from hermes_browse.store.connection.reader import Stopped
from hermes_browse.store.wording import _

from ...settings.keys.screen_commands import PROGRESS
from ...text import formats
from ...widgets.card import Card, styled
from ..context import Context

Result = TypeVar("Result")

Tell = Callable[[float, str], None]
"""Takes the share that is done, from 0 to 1, and the same in words."""
_MANY_MESSAGES = 2_000
"""From so many messages on, which take seconds to delete or restore, progress is shown on a card."""


class ProgressCard(Card[None]):
    """Shows progress until it is dismissed."""

    KEYS = PROGRESS

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title
        self.stopped = threading.Event()
        """Set when the user stops the work."""

    def content(self) -> ComposeResult:
        yield styled(self._title, "bold")
        yield ProgressBar(total=1.0, show_eta=False, id="progress")
        yield Static(_("beginning …"), id="numbers")
        yield styled(
            _("Hermes can write between two portions and while one is being saved."), "dim"
        )

    def keys_text(self) -> str:
        return _("{key} stops; what is done stays done, and can be undone", key=self.key("stop"))

    def show(self, share: float, words: str) -> None:
        """Show progress: a share from 0 to 1, and the same in numbers."""
        if self.is_whole:
            self.query_one(ProgressBar).update(progress=share)
            self.query_one("#numbers", Static).update(words)

    def action_stop(self) -> None:
        """Stop the work; the portion under way is cancelled if that is still possible."""
        self.stopped.set()
        self.answer(_("stopping …"))


async def write_in_sight(
    context: Context,
    title: str,
    messages: int,
    write: Callable[[Tell, Stopped], Result],
    *,
    is_long: bool = False,
) -> Result:
    """Run a job that writes, and show how far it is: on a card, where the user can stop it, if it is
    long or about many messages; else in the status line."""
    writes = context.writes
    context.progress = f"{title} …"
    card = ProgressCard(f"{title} · {formats.counted(messages, 'message')}")
    if is_long or messages >= _MANY_MESSAGES:
        context.app.push_screen(card)

    def tell(share: float, words: str) -> None:
        writes.tell(context.show_progress, f"{title} · {words}")
        writes.tell(card.show, share, words)

    def stopped() -> bool:
        return writes.stopping.is_set() or card.stopped.is_set()

    try:
        return await context.write(lambda: write(tell, stopped))
    finally:
        card.dismiss()  # unless another store is shown
