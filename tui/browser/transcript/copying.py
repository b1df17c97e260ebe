"""Copy or open the current message: on the clipboard, in the pager or the editor, as raw JSON, its
references."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, NamedTuple

from textual.app import SuspendNotSupported

from hermes_browse.store.export.markdown import message_markdown
from hermes_browse.store.export.source import rendered
from hermes_browse.store.messages.chat_message import SPEAKERS, ChatMessage, without_injections
from hermes_browse.store.text import one_line, printable
from hermes_browse.store.wording import N_, _

from ...terminal.programs import chosen, show
from ...text import formats
from ...text.styled import split_lines
from ..panes import Panes
from .cards import RawCard
from .entries import TranscriptModel
from .markdown_layout import highlight, parse
from .references import Pictures, ReferencesCard, references
from .tool_text import output_text


class NamedText(NamedTuple):
    name: str
    """In a few printable words: "code block (python, 12 lines)"."""
    text: str


def _size(text: str) -> str:
    return formats.size(len(text.encode("utf-8", "replace")))


def message_text(message: ChatMessage, model: TranscriptModel) -> list[NamedText]:
    """Return the text of a message; if there is none, the names and arguments of its calls."""
    text = without_injections(message.text) if message.role in SPEAKERS else message.text
    if not text.strip():
        text = "\n".join(f"{call.name} {call.arguments}" for call in message.tool_calls)
    is_output, number = message.role == "tool", model.number_of(message.id)
    name = N_("tool output {number:,}, {size}") if is_output else N_("message {number:,}, {size}")
    return [NamedText(_(name, number=number, size=_size(text)), text)] if text else []


def code_blocks(message: ChatMessage, model: TranscriptModel) -> list[NamedText]:
    """Return the code blocks of a message, in order, also nested ones. Parsing a long text takes
    more than a frame."""
    pieces = []
    for token in parse(without_injections(message.text)):
        if token.type in ("fence", "code_block") and token.content.strip():
            code = token.content.rstrip("\n")
            language = one_line("".join(token.info.split()[:1]), 20)
            facts = formats.listed(language, formats.counted(code.count("\n") + 1, "line"))
            pieces.append(NamedText(_("code block ({facts})", facts=facts), code))
    return pieces


def outputs(message: ChatMessage, model: TranscriptModel) -> list[NamedText]:
    """Return the outputs of the calls of a message, as far as they have been read; of a tool's
    message, its text."""
    results = (model.result(call.id) for call in message.tool_calls)
    rows = [message] if message.role == "tool" else filter(None, results)
    names = {call.id: call.name for call in message.tool_calls}
    pieces = []
    for row in rows:
        name = one_line(names.get(row.tool_call_id or "", row.tool_name or "tool"), 40)
        text = output_text(row.text)
        words = _("output of {name}, {size}", name=name, size=_size(text))
        pieces.append(NamedText(words, text))
    return pieces


Pieces = Callable[[ChatMessage, TranscriptModel], list[NamedText]]
_PIECES: Mapping[str, tuple[Pieces, str]] = {
    "text": (message_text, N_("this message has no text")),
    "code": (code_blocks, N_("no code block here")),
    "output": (outputs, N_("no tool output here")),
}
"""What can be copied of a message, and what is said where there is none of it."""


class Copying:
    """Copies and opens the current message; pressing the key again copies the next of several
    pieces."""

    def __init__(self, main: Panes) -> None:
        self._main = main
        self._last = "", 0, 0
        """What was copied last: which pieces, of which message, and the place among several."""
        self.pictures = Pictures()
        """Files of images that were opened."""

    def copy(self, what: str) -> None:
        """Copy some of the `_PIECES`."""
        self._start(self._copy, what)

    def open_in_pager(self) -> None:
        pager = chosen(["PAGER"], ["less", "more"])
        self._start(self._open, pager, _("no pager: set PAGER"))

    def open_in_editor(self) -> None:
        after = _("this was a copy: your changes are not kept")
        editor = chosen(["VISUAL", "EDITOR"], ["nano", "vi", "notepad"])
        self._start(self._open, editor, _("no editor: set EDITOR"), after)

    def show_references(self) -> None:
        self._start(self._show_references)

    async def show_raw(self) -> None:
        """Show the current message as JSON; needs its id only, also while the message is being
        read."""
        message_id = self._main.transcript.current_id
        if message_id is None:
            self._main.say(_("no message here"))
            return
        if message_id < 0:  # the system prompt and the recap are no rows of `messages`
            self._main.say(_("this is not a row of messages"))
            return
        text = await self._main.read(lambda store: store.raw_message(message_id))
        if text is None:
            self._main.say(_("message {id} is no longer in the store", id=message_id))
            return
        lines = await self._main.call(lambda: split_lines(highlight(printable(text), "json")))
        title = _("message {id} as it is stored", id=message_id)
        await self._main.ask(RawCard(title, text, lines), self._main)

    def _start(self, work: Callable[..., Coroutine[Any, Any, None]], *args: object) -> None:
        """Run a coroutine with the current message, its conversation, and what else it takes."""
        message, model = self._main.transcript.current, self._main.transcript.page.model
        if message is not None:
            self._main.start("copying", work, message, model, *args)
        else:
            self._main.say(_("no message here"))

    async def _copy(self, message: ChatMessage, model: TranscriptModel, what: str) -> None:
        """Copy the next piece of a message, or say that there is none."""
        make, nothing = _PIECES[what]
        # Parsing a long message takes a while, so all of it is done on a thread.
        pieces = await self._main.call(lambda: make(message, model))
        if not pieces:
            self._main.say(_(nothing))
            return
        is_again = self._last[:2] == (what, message.id)
        index = (self._last[2] + 1) % len(pieces) if is_again else 0
        self._last = what, message.id, index
        name, text = pieces[index]
        if len(pieces) > 1:
            name = _("{index} of {total}: {name}", index=index + 1, total=len(pieces), name=name)
        await self._main.copy_and_say(text, one_line(name, 120))

    async def _open(
        self,
        message: ChatMessage,
        model: TranscriptModel,
        command: Sequence[str] | None,
        nothing: str,
        after: str = "",
    ) -> None:
        """Open a message in a program, and say `after` when that has ended; where there is no
        program, say `nothing`."""
        is_output = message.role == "tool"

        def shown() -> str:
            if is_output:
                return output_text(message.text)
            return message_markdown(rendered(message, model.result))

        if command is None:
            self._main.say(nothing)
            return
        text = await self._main.call(shown)
        try:
            with self._main.app.lend_terminal():
                wrong = show(command, text, ".txt" if is_output else ".md")
        except SuspendNotSupported:
            self._main.say(_("the terminal cannot be handed over here"))
            return
        self._main.say(wrong or after)

    async def _show_references(self, message: ChatMessage, model: TranscriptModel) -> None:
        is_here = self._main.location.host is None
        targets = await self._main.call(lambda: references(message, model, is_here=is_here))
        if targets:
            title = _("message {number:,}", number=model.number_of(message.id))
            card = ReferencesCard(self._main, self.pictures, title, targets)
            await self._main.ask(card, self._main)
        else:
            self._main.say(_("no link, image or path in this message"))
