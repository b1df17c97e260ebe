"""References of a chat message: images, links and paths; and the card that opens or copies them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from hermes_browse.store.messages.block_kinds import without_injections
from hermes_browse.store.messages.chat_message import ChatMessage
from hermes_browse.store.messages.decode import load_json
from hermes_browse.store.text import one_line, printable
from hermes_browse.store.wording import N_, _

from ...settings.keys.screen_commands import REFERENCES
from ...terminal import clipboard, programs
from ...text import formats
from ...widgets.card import Card, keys_line
from ..context import Context
from .entries import TranscriptModel
from .image_viewer import Pictures, is_image_file
from .markdown_layout import parse
from .tool_text import as_shown

MOST = 300
"""References of one message; a log may contain thousands of addresses."""
_MAX_TEXT = 200_000
"""Code points of a text that are scanned."""
_PATH_FIELDS = ("path", "file_path", "filename", "file", "cwd", "workdir")
"""Arguments of tools that are a path."""
_OPENED = ("http", "https", "mailto")
"""Schemes that a browser opens; links with others (file:, javascript:, …) are only copied."""

_ADDRESS = re.compile(
    r"(?:https?://|mailto:)[^\s<>\"'`\\^{}|\u3000-\u303f\uff00-\uff65]+", re.IGNORECASE
)
# A path begins with /, ~/, ./, ../ or C:\, or is relative and ends in a file name with a suffix.
_NAME = r"[\w.@+%=-]"
_PATH = re.compile(
    rf"(?<![\w/:.~\\@-])(?:(?:~|\.{{1,2}})?(?:/{_NAME}+)+/?|[A-Za-z]:\\{_NAME}+(?:\\{_NAME}+)*|(?:{_NAME}+/)+{_NAME}+\.\w+)"
)
_CLOSING = {")": "(", "]": "["}


class ReferenceKind(StrEnum):
    """The kinds of references; the values are nouns of `formats.counted`, to be translated."""

    IMAGE = N_("image")
    LINK = N_("link")
    PATH = N_("path")


class Reference(NamedTuple):
    """An image, link or path in a message."""

    kind: ReferenceKind
    target: str
    """As stored, not printable yet; of an embedded image its type and size."""
    label: str = ""
    """Its text in the message, printable; empty if that is the target."""
    message_id: int = 0
    """Of an embedded image: its row."""
    number: int = -1
    """Of an embedded image: its index among the image parts of the row; -1 for all others."""

    @property
    def can_be_opened(self) -> bool:
        """Whether it is safe to open in a browser: a web or mail address."""
        target = self.target
        if (
            self.kind is not ReferenceKind.LINK
            or any(letter.isspace() for letter in target)
            or printable(target) != target
        ):
            return False
        try:
            parts = urlsplit(target)
        except ValueError:
            return False
        return parts.scheme in _OPENED and bool(
            parts.path if parts.scheme == "mailto" else parts.hostname
        )


def _trimmed(text: str) -> str:
    """Remove the punctuation of the surrounding sentence, and unbalanced closing brackets."""
    while text and (
        text[-1] in ".,;:!?*_~"
        or text.count(_CLOSING.get(text[-1], text[-1])) < text.count(text[-1])
    ):
        text = text[:-1]
    return text


def _in_markdown(text: str) -> Iterator[Reference]:
    for token in parse(text):
        label, target = "", ""
        for child in token.children or []:
            if child.type == "link_open":
                label, target = "", str(child.attrs.get("href", ""))
            elif child.type == "link_close":
                if target and not target.startswith("#"):
                    kind = (
                        ReferenceKind.LINK
                        if ":" in target or target.startswith("//")
                        else ReferenceKind.PATH
                    )
                    label = one_line(label, 200)
                    yield Reference(kind, target, label if label != target else "")
                target = ""
            elif target:
                label += child.content


def _in_text(text: str) -> Iterator[Reference]:
    text = text[:_MAX_TEXT]
    for address in _ADDRESS.findall(text):
        yield Reference(ReferenceKind.LINK, _trimmed(address))
    for piece in _ADDRESS.split(text):
        for path in _PATH.findall(piece):
            yield Reference(ReferenceKind.PATH, _trimmed(path))


def _in_call(arguments: str) -> Iterator[Reference]:
    loaded = load_json(arguments)
    if isinstance(loaded, dict):
        for name in _PATH_FIELDS:
            value = loaded.get(name)
            if (
                isinstance(value, str)
                and value.strip()
                and "\n" not in value
                and "://" not in value
            ):
                yield Reference(ReferenceKind.PATH, value.strip())
    yield from _in_text(as_shown(arguments))


def _images(message: ChatMessage) -> Iterator[Reference]:
    for number, part in enumerate(part for part in message.parts if part.kind == "image"):
        if not part.url and part.size:
            name = f"{one_line(part.mime.rpartition('/')[2], 30) or _('image')}, {formats.size(part.size)}"
            yield Reference(
                ReferenceKind.IMAGE,
                name,
                _("in message {id}", id=message.id),
                message.id,
                number,
            )
        elif part.url:
            is_address = re.match(r"[A-Za-z][A-Za-z0-9+.-]+:", part.url) is not None
            path = unquote(part.url[7:]) if part.url.startswith("file:///") else part.url
            yield Reference(
                ReferenceKind.LINK if is_address and path == part.url else ReferenceKind.PATH, path
            )


def _every(message: ChatMessage, model: TranscriptModel) -> Iterator[Reference]:
    yield from _images(message)
    if message.role == "tool":
        yield from _in_text(as_shown(message.text))
        return
    text = without_injections(message.text)[:_MAX_TEXT]
    yield from _in_markdown(text)
    yield from _in_text(text)
    for call in message.tool_calls:
        yield from _in_call(call.arguments)
        result = model.result(call.id)
        if result is not None:
            yield from _images(result)
            yield from _in_text(as_shown(result.text))


def references(
    message: ChatMessage, model: TranscriptModel, *, is_here: bool = True
) -> list[Reference]:
    """Return the references of a message and the results of its calls: images, links, then paths,
    at most `MOST`.

    Parses the text, and accesses the disk if the store is of this machine, which can take longer
    than a frame.
    """
    unique = {}
    for each in _every(message, model):
        key = (each.kind, each.target, each.message_id, each.number)
        if len(each.target) > 1 and key not in unique:
            is_image = is_here and each.kind is ReferenceKind.PATH and is_image_file(each.target)
            unique[key] = each._replace(kind=ReferenceKind.IMAGE) if is_image else each
    return sorted(unique.values(), key=lambda each: list(ReferenceKind).index(each.kind))[:MOST]


class ReferencesCard(Card[None]):
    """The card of references, at least one; the title is printable."""

    AUTO_FOCUS = "#references"
    KEYS = REFERENCES

    def __init__(
        self, context: Context, pictures: Pictures, title: str, targets: Sequence[Reference]
    ) -> None:
        super().__init__()
        self.main, self._pictures, self._title, self._references = (
            context,
            pictures,
            title,
            targets,
        )

    def compose(self) -> ComposeResult:
        kinds = [each.kind for each in self._references]
        counts = [
            formats.counted(kinds.count(each), each) for each in ReferenceKind if each in kinds
        ]
        with Vertical(id="card"):
            yield Static(
                Content.assemble((self._title, "bold"), (f"  {' · '.join(counts)}", "dim"))
            )
            yield OptionList(*map(self._row, self._references), id="references", markup=False)
            yield keys_line(self.keys_text(_("Enter open")))

    def _row(self, reference: Reference) -> Option:
        target = one_line(reference.target, 2000)
        word = _(reference.kind) + "  "
        label = f"  {reference.label}" if reference.label else ""
        is_copied = reference.kind is ReferenceKind.LINK and not reference.can_be_opened
        note = "  " + _("is only copied") if is_copied else ""
        return Option(Content.assemble((word, "dim"), target, (label + note, "dim")))

    @property
    def _current(self) -> Reference | None:
        index = self.query_one(OptionList).highlighted
        return self._references[index] if index is not None else None

    def _tell(self, text: str) -> None:
        if self.is_whole:
            self.answer(one_line(text, 300))

    def action_move(self, by: int) -> None:
        options = self.query_one(OptionList)
        (options.action_cursor_down if by > 0 else options.action_cursor_up)()

    def action_copy(self) -> None:
        """Copy the target, and say how."""
        reference = self._current
        if reference is not None and reference.number < 0:
            self.run_worker(self._copy(reference), group="reference", exclusive=True)
        elif reference is not None:
            self._tell(_("an embedded image has no path to copy · Enter opens it"))

    async def _copy(self, reference: Reference, before: str = "") -> None:
        route = await clipboard.copy(reference.target, self.app.copy_to_clipboard)
        self._tell(f"{before}{_(reference.kind)} {route}")

    @on(OptionList.OptionSelected)
    def selected(self, event: OptionList.OptionSelected) -> None:
        """Open or copy the reference."""
        self.run_worker(
            self._open(self._references[event.option_index]), group="reference", exclusive=True
        )

    async def _open(self, reference: Reference) -> None:
        if reference.kind is ReferenceKind.IMAGE and reference.number >= 0:
            self.main.start("image", self._open_embedded, reference)
        elif reference.kind is ReferenceKind.IMAGE:
            await self._outside(str(Path(reference.target).expanduser()))
        elif reference.can_be_opened:
            await self._outside(reference.target)
        else:
            why = "" if reference.kind is ReferenceKind.PATH else _("not of the web: ")
            await self._copy(reference, why)

    async def _open_embedded(self, reference: Reference) -> None:
        """Write an embedded image to a private file, and open that."""
        data = await self.main.read(
            lambda store: store.image(reference.message_id, reference.number)
        )
        path = self._pictures.write(data) if data is not None else None
        if path is None:
            self._tell(_("not an image known here; & shows the row as it is stored"))
        elif self.is_whole:
            await self._outside(str(path))

    async def _outside(self, target: str) -> None:
        is_taken, sentence = await asyncio.to_thread(programs.open_outside, target)
        copies = "" if is_taken else " · " + _("{key} copies", key=self.key("copy"))
        self._tell(sentence + copies)
