"""Transcripts made for a test, and a viewer alone."""

from __future__ import annotations

from pathlib import Path

from textual.app import App, ComposeResult

import hermes_browse.styles
from hermes_browse.store.messages.chat_message import ChatMessage, RowInfo, State
from hermes_browse.store.messages.transcript import Outline
from hermes_browse.store.sessions.models import Conversation, ConversationKind, Relation, Status
from hermes_browse.store.sessions.session import Session
from hermes_browse.tui.browser.transcript.block_layout import lay_out
from hermes_browse.tui.browser.transcript.entries import Look, TranscriptModel
from hermes_browse.tui.browser.transcript.page import Page
from hermes_browse.tui.browser.transcript.view import TranscriptView
from hermes_browse.tui.text.styled import Line

START = 1_700_000_000.0


SHEET = Path(str(hermes_browse.styles.__file__)).parent / "widgets.tcss"


LONG = "A longer answer that takes several lines on the screen. " * 12


def text_of(number: int) -> str:
    """What a message says: long and short by turns, so that no estimate is right."""
    return f"message {number} " + (LONG if number % 3 == 0 else "")


def model_of(count: int, read: bool = True, text: str | None = None) -> TranscriptModel:
    """A conversation of so many messages, read or not."""
    roles = ("user", "assistant")
    rows = tuple(RowInfo(n, 0, roles[n % 2], START + n, State.LIVE, False) for n in range(count))
    session = Session("s", "cli")
    chat = Conversation((session,), Relation.ROOT, ConversationKind.CHAT, Status.ENDED, "t", START)
    model = TranscriptModel(chat, Outline(("s",), rows))
    if read:
        give(model, 0, count, text)
    return model


def give(model: TranscriptModel, first: int, last: int, text: str | None = None) -> None:
    """Read the messages of a range."""
    rows = model.outline.rows[first:last]
    model.add([ChatMessage(b.id, "s", b.role, text or text_of(b.id), b.timestamp) for b in rows])


def lines_of(
    message: ChatMessage, model: TranscriptModel, width: int, look: Look, *, is_open: bool
) -> list[Line]:
    """The lines of a message."""
    model.add([message])
    shown = model.shown(model.entry_of(message.id), width, look, is_open=is_open)
    assert shown is not None
    return lay_out(shown).lines()


def drawn(page: Page) -> list[Line]:
    """All lines of a conversation that has been read."""
    entries = (page.draw(index, now=True) for index in range(len(page)))
    return [line for entry in entries if entry is not None for line in entry.lines()]


class ViewApp(App[None]):
    """One viewer, and what it asked for."""

    CSS = SHEET.read_text()

    def __init__(self) -> None:
        super().__init__()
        self.wanted: list[tuple[int, int]] = []

    def compose(self) -> ComposeResult:
        yield TranscriptView()

    @property
    def view(self) -> TranscriptView:
        """The viewer."""
        return self.query_one(TranscriptView)

    def on_transcript_view_needed(self, message: TranscriptView.Needed) -> None:
        """Keep it."""
        self.wanted.append((message.first, message.last))


def screen_text(view: TranscriptView) -> list[str]:
    """What is on screen, without the mark of the current message."""
    return [view.render_line(y).text[1:].rstrip() for y in range(view.size.height)]
