"""Transcripts made for a test, and a viewer alone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, ClassVar

from textual.app import App, ComposeResult
from textual.pilot import Pilot

from hermes_browse.store.messages.chat_message import ChatMessage, RowInfo, State
from hermes_browse.store.messages.transcript import Outline
from hermes_browse.store.sessions.models import (
    Conversation,
    ConversationKind,
    Relation,
    Session,
    Status,
)
from hermes_browse.tui.app import BrowseApp
from hermes_browse.tui.browser.transcript.block_layout import lay_out
from hermes_browse.tui.browser.transcript.entries import Look, TranscriptModel
from hermes_browse.tui.browser.transcript.page import Page
from hermes_browse.tui.browser.transcript.scroll import Needed
from hermes_browse.tui.browser.transcript.view import TranscriptView
from hermes_browse.tui.text.styled import Line, line_text

START = 1_700_000_000.0


class LooksApp(App[None]):
    """An application with the style sheets of the browser."""

    CSS_PATH = [*BrowseApp.CSS_PATH]
    COMPONENT_CLASSES: ClassVar[set[str]] = BrowseApp.COMPONENT_CLASSES


LONG = "A longer answer that takes several lines on the screen. " * 12


def text_of(number: int) -> str:
    """What a message says: long and short by turns, so that no estimate is right."""
    return f"message {number} " + (LONG if number % 3 == 0 else "")


def row_of(number: int, segment: int = 0, moment: float | None = None) -> RowInfo:
    """A row by its id: of the user and of the assistant by turns."""
    role = ("user", "assistant")[number % 2]
    return RowInfo(number, segment, role, moment or START + number, State.LIVE, False)


def conversation_of(
    sessions: Sequence[Session], rows: Sequence[RowInfo], **outline: Any
) -> TranscriptModel:
    """A conversation of these parts, not read; `outline` is what else its outline says."""
    chat = Conversation(
        tuple(sessions), Relation.ROOT, ConversationKind.CHAT, Status.ENDED, "t", START
    )
    return TranscriptModel(
        chat, Outline(tuple(each.id for each in sessions), tuple(rows), **outline)
    )


def model_of(count: int, read: bool = True, text: str | None = None) -> TranscriptModel:
    """A conversation of so many messages, read or not."""
    model = conversation_of([Session("s", "cli")], list(map(row_of, range(count))))
    if read:
        give(model, 0, count, text)
    return model


def give(model: TranscriptModel, first: int, last: int, text: str | None = None) -> None:
    """Read the messages of a range."""
    rows = model.outline.rows[first:last]
    model.add([ChatMessage(b.id, "s", b.role, text or text_of(b.id), b.timestamp) for b in rows])


def lines_of(
    message: ChatMessage,
    model: TranscriptModel | None = None,
    width: int = 60,
    look: Look = Look(),  # noqa: B008
    *,
    is_open: bool = False,
) -> list[str]:
    """The lines of a message, in a conversation or alone."""
    model = model if model is not None else model_of(1)
    model.add([message])
    opened = {message.id} if is_open else ()
    shown = model.shown(model.entry_of(message.id), width, look, opened)
    assert shown is not None
    return list(map(line_text, lay_out(shown).lines))


def drawn(page: Page) -> list[Line]:
    """All lines of a conversation that has been read."""
    entries = (page.draw(index, now=True) for index in range(len(page)))
    return [line for entry in entries if entry is not None for line in entry.lines]


class ViewApp(LooksApp):
    """One viewer, what it asked for, and what it said."""

    def __init__(self) -> None:
        super().__init__()
        self.wanted: list[Needed] = []
        self.told: list[str] = []

    def compose(self) -> ComposeResult:
        yield TranscriptView()

    @property
    def view(self) -> TranscriptView:
        """The viewer."""
        return self.query_one(TranscriptView)

    def on_mount(self) -> None:
        self.watch(self.view, "needed", self._want, init=False)

    def _want(self, needed: Needed) -> None:
        self.wanted.append(needed)

    def on_transcript_view_notice(self, message: TranscriptView.Notice) -> None:
        """Keep it."""
        self.told.append(message.text)


@asynccontextmanager
async def viewing(
    model: TranscriptModel, size: tuple[int, int] = (80, 24), **where: Any
) -> AsyncIterator[tuple[TranscriptView, Pilot[None]]]:
    """A viewer of a conversation, with the focus; `where` is as of `TranscriptView.show`."""
    app = ViewApp()
    async with app.run_test(size=size) as pilot:
        app.view.show(model, **where)
        app.view.focus()
        await pilot.pause()
        while app.view._being_laid_out:
            await pilot.pause()
        yield app.view, pilot


def screen_text(view: TranscriptView) -> list[str]:
    """What is on screen, without the mark of the current message."""
    return [view.render_line(y).text[1:].rstrip() for y in range(view.size.height)]
