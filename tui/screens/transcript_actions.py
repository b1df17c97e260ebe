"""What the main screen does for the transcript: copying, finding, going to an id."""

from __future__ import annotations

from textual import on
from textual.binding import Binding
from textual.widgets import Input

from ..transcript.scroll import TranscriptScroll
from ..transcript.view import TranscriptView
from ..widgets.ask_line import AskInput
from .finding import Finding
from .panes import Panes
from .reading import ConversationPane
from .taking_away import TakingAway


class TranscriptActions(Panes):
    """Actions that keys of the transcript name; the screen has what they need."""

    reading: ConversationPane
    """What the transcript shows."""
    taking: TakingAway
    """Copies and opens."""
    finding: Finding
    """Finds in the conversation on screen."""

    def transcript_commands(self) -> list[Binding]:
        """What keys of the transcript have the screen do: the palette offers it by name."""
        bindings = [each for each in TranscriptView.BINDINGS if isinstance(each, Binding)]
        return [each for each in bindings if each.action.startswith("screen.")]

    def action_take(self, what: str) -> None:
        """Copy or open something of the message the transcript is about."""
        self.taking.take(what)

    async def action_find(self) -> None:
        """Ask what to find in this conversation."""
        await self.finding.open()

    async def action_go_to_id(self) -> None:
        """Ask for the id of a message."""
        await self.finding.open(for_id=True)

    def action_find_step(self, by: int) -> None:
        """To the next or previous find."""
        self.finding.step(by)

    def action_find_end(self) -> None:
        """No longer find."""
        self.finding.close()
        self.finding.hide()

    @on(TranscriptScroll.Resized)
    def transcript_resized(self) -> None:
        """Title and facts stand above the transcript and are as wide."""
        self.reading.fit_titles()

    @on(Input.Changed)
    def asked(self, event: Input.Changed) -> None:
        """Another letter in the box below the transcript."""
        if isinstance(event.input, AskInput):
            event.stop()
            self.finding.edited(event.value)

    @on(Input.Submitted)
    def ask_submitted(self, event: Input.Submitted) -> None:
        """Enter in the box below the transcript."""
        if isinstance(event.input, AskInput):
            event.stop()
            self.finding.submitted(event.value)

    @on(AskInput.Stepped)
    def ask_stepped(self, event: AskInput.Stepped) -> None:
        """Up and down in the box."""
        self.finding.step(event.by)

    @on(AskInput.Left)
    def ask_left(self) -> None:
        """Escape in the box."""
        self.finding.left()
