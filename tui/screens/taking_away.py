"""Taking things out of the browser: to the clipboard, into the pager or the editor, as raw JSON to look at."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from hermes_browse.store.connect import Reader
from hermes_browse.store.models import ChatMessage
from hermes_browse.store.text import one_line, printable
from hermes_browse.store.wording import _

from ..shared import clipboard
from ..shared.styled import Line
from ..takings import Piece, code_blocks, document, outputs, said
from ..transcript.markdown import highlight

if TYPE_CHECKING:
    from ..transcript.images import Pictures
    from .main import MainScreen


class TakingAway:
    """Copies what the transcript shows; each press of a key that has several things to give takes the next one."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen
        self._last: tuple[str, int, int] | None = None
        self._pictures: Pictures | None = None

    def take(self, what: str) -> None:
        """Begin.

        Args:
            what: `message`, `code` or `output` to copy, `pager`, `editor`, `raw` or `links` to open; of the message
                the transcript is about.
        """
        actions: dict[str, Callable[[ChatMessage], Coroutine[None, None, None]]] = {
            "message": self._copy_message,
            "code": self._copy_code,
            "output": self._copy_output,
            "pager": self._page,
            "editor": self._edit,
            "links": self._show_references,
        }
        message, message_id = self._screen.transcript.current, self._screen.transcript.current_id
        if what == "raw" and message_id is not None:  # its number is enough, also while its text is being read
            self._show_raw(message_id)
        elif message is not None:
            self._begin(actions[what](message))
        else:
            self._screen.say(_("no message here"))

    def copy(self, text: str, name: str) -> None:
        """Copy a text and say how.

        Args:
            text: What to copy.
            name: What it is, in printable words.
        """
        self._begin(self._copy(text, name))

    @property
    def pictures(self) -> Pictures:
        """Files of images that were opened."""
        from ..transcript.images import Pictures

        if self._pictures is None:
            self._pictures = Pictures()
        return self._pictures

    def close(self) -> None:
        """Leave nothing behind."""
        if self._pictures is not None:
            self._pictures.close()

    def _begin(self, work: Coroutine[None, None, None]) -> None:
        """A newer one takes the place of one that is still under way."""
        self._screen.run_worker(work, group="taking", exclusive=True)

    async def _copy(self, text: str, name: str) -> None:
        route = await clipboard.copy(text, self._screen.app.copy_to_clipboard)
        self._screen.say(f"{name} {route}")

    async def _copy_message(self, message: ChatMessage) -> None:
        piece = said(message)
        if not piece.text:
            self._screen.say(_("this message has no text"))
            return
        await self._copy(piece.text, piece.name)

    async def _copy_code(self, message: ChatMessage) -> None:
        # A long message takes a while to be parsed: beside the screen's thread.
        await self._copy_next("code", message, await asyncio.to_thread(code_blocks, message), _("no code block here"))

    async def _copy_output(self, message: ChatMessage) -> None:
        model = self._screen.transcript.model
        assert model is not None
        await self._copy_next("output", message, outputs(message, model), _("no tool output here"))

    async def _copy_next(self, what: str, message: ChatMessage, pieces: Sequence[Piece], nothing: str) -> None:
        if not pieces:
            self._screen.say(nothing)
            return
        index = 0
        if self._last is not None and self._last[:2] == (what, message.id):
            index = (self._last[2] + 1) % len(pieces)
        self._last = (what, message.id, index)
        piece = pieces[index]
        name = piece.name
        if len(pieces) > 1:
            name = _("{index} of {total}: {name}").format(index=index + 1, total=len(pieces), name=name)
        await self._copy(piece.text, one_line(name, 120))

    async def _page(self, message: ChatMessage) -> None:
        from ..shared.programs import pager

        self._open(message, pager(os.environ), _("no pager: set PAGER"))

    async def _edit(self, message: ChatMessage) -> None:
        from ..shared.programs import editor

        after = _("a copy: what was changed is not kept")
        self._open(message, editor(os.environ), _("no editor: set EDITOR"), after)

    def _open(self, message: ChatMessage, command: Sequence[str] | None, nothing: str, after: str = "") -> None:
        model = self._screen.transcript.model
        if command is None or model is None:
            self._screen.say(nothing)
            return
        from ..shared.programs import show

        piece = document(message, model)
        try:
            with self._screen.browse_app().lent():
                wrong = show(command, piece.text, piece.suffix)
        except SuspendNotSupported:
            self._screen.say(_("the terminal cannot be handed over here"))
            return
        self._screen.say(wrong or after)

    async def _show_references(self, message: ChatMessage) -> None:
        from ..transcript.references import ReferencesScreen, references

        model = self._screen.transcript.model
        assert model is not None
        found = await asyncio.to_thread(references, message, model)
        if found:
            title = _("message {id}").format(id=message.id)
            self._screen.app.push_screen(ReferencesScreen(self._screen, title, found))
        else:
            self._screen.say(_("no link, image or path in this message"))

    def _show_raw(self, message_id: int) -> None:
        if message_id < 0:  # the system prompt and the recap are no rows of this table
            self._screen.say(_("this is not a row of messages"))
            return

        def work(reader: Reader) -> tuple[str, list[Line]] | None:
            from hermes_browse.store.raw import read_raw

            text = read_raw(reader, message_id)
            return (text, highlight(printable(text), "json")) if text is not None else None

        def done(found: tuple[str, list[Line]] | None) -> None:
            if found is None:
                self._screen.say(_("message {id} is no longer in the store").format(id=message_id))
                return
            from ..transcript.cards import RawScreen

            title = _("message {id} as it is stored").format(id=message_id)
            self._screen.app.push_screen(RawScreen(title, *found))

        self._screen.page_worker.submit("raw", work, done, self._screen.failed)
