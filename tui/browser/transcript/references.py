"""References of a chat message: images, links and paths; and the card that opens or copies them."""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from hermes_browse.store.files import TemporaryFolder, open_regular
from hermes_browse.store.messages.chat_message import ChatMessage, without_injections
from hermes_browse.store.messages.decode import IMAGE_HEAD, suffix_of
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _

from ...settings.keys.screen_commands import REFERENCES
from ...terminal import programs
from ...widgets.card import Card, styled
from ..context import Context
from .block_layout import image_name
from .entries import TranscriptModel
from .tool_text import as_shown, fields_of

MOST = 300
"""References of one message; a log may contain thousands of addresses."""
_MAX_TEXT = 200_000
"""Code points of a text that are scanned."""
_PATH_FIELDS = ("path", "file_path", "filename", "file", "cwd", "workdir")
"""Arguments of tools that are a path."""
_OPENED = re.compile(r"(?:https?://[^\s/\[\]]|mailto:\S)\S*", re.IGNORECASE)
"""What a browser opens; links with other schemes (file:, javascript:, …) are only copied."""

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_ADDRESS = re.compile(
    r"(?:[a-z][a-z0-9+.-]{0,40}://|mailto:)[^\s<>\"'`\\^{}|\u3000-\u303f\uff00-\uff65]+",
    re.IGNORECASE,
)
"""The length of schemes is limited, as each letter of a run without spaces may begin one: of 200,000
the time would be minutes. So is that of relative paths."""
# A path begins with /, ~/, ./, ../ or C:\, or is relative and ends in a file name with a suffix.
_NAME = r"[\w.@+%=-]"
_RELATIVE = rf"(?:{_NAME}{{1,255}}/){{1,60}}{_NAME}{{1,255}}\.\w+"
_PATH = re.compile(
    rf"(?<![\w/:.~\\@-])(?:(?:~|\.{{1,2}})?(?:/{_NAME}+)+/?|[A-Za-z]:\\{_NAME}+(?:\\{_NAME}+)*|{_RELATIVE})"
)
_BRACKETS = (")", "("), ("]", "[")
_IMAGE = re.compile(r".*\.(?:png|jpe?g|gif|webp|bmp|tiff?|avif|heic)", re.IGNORECASE)
"""The path of an image."""


class ReferenceKind(StrEnum):
    """The kinds of references; the values are words to be translated."""

    IMAGE = N_("image")
    LINK = N_("link")
    PATH = N_("path")


class Reference(NamedTuple):
    kind: ReferenceKind
    target: str
    """As stored, not printable yet; of an embedded image its type and size."""
    embedded: tuple[int, int] | None = None
    """Of an embedded image: the id of its row, and its index among the image parts of that."""

    @property
    def can_be_opened(self) -> bool:
        """Whether it is safe to open in a browser: a web or mail address."""
        is_safe = one_line(self.target) == self.target
        return (
            self.kind is ReferenceKind.LINK
            and is_safe
            and _OPENED.fullmatch(self.target) is not None
        )


def _trimmed(text: str) -> str:
    """Remove the punctuation of the surrounding sentence, and unbalanced closing brackets."""
    surplus = Counter({close: text.count(close) - text.count(open) for close, open in _BRACKETS})
    end = len(text)
    while end and (text[end - 1] in ".,;:!?*_~" or surplus[text[end - 1]] > 0):
        end -= 1
        surplus[text[end]] -= 1
    return text[:end]


def _in_text(text: str) -> Iterator[Reference]:
    text = text[:_MAX_TEXT]
    for address in _ADDRESS.findall(text):
        yield Reference(ReferenceKind.LINK, _trimmed(address))
    for piece in _ADDRESS.split(text):
        for path in _PATH.findall(piece):
            yield Reference(ReferenceKind.PATH, _trimmed(path))


def _in_call(arguments: str) -> Iterator[Reference]:
    for value in map(fields_of(arguments).get, _PATH_FIELDS):
        if isinstance(value, str) and "\n" not in value and "://" not in value:
            yield Reference(ReferenceKind.PATH, value.strip())
    yield from _in_text(as_shown(arguments))


def _images(message: ChatMessage) -> Iterator[Reference]:
    parts = [part for part in message.parts if part.kind == "image"]
    for number, part in enumerate(parts):
        if not part.url:
            yield Reference(ReferenceKind.IMAGE, image_name(part), (message.id, number))
        elif part.url.startswith("file:///"):
            yield Reference(ReferenceKind.PATH, unquote(part.url[7:]))
        else:
            is_address = _SCHEME.match(part.url) is not None
            yield Reference(ReferenceKind.LINK if is_address else ReferenceKind.PATH, part.url)


def _every(message: ChatMessage, model: TranscriptModel) -> Iterator[Reference]:
    yield from _images(message)
    if message.role == "tool":
        yield from _in_text(as_shown(message.text))
        return
    yield from _in_text(without_injections(message.text))
    for call in message.tool_calls:
        yield from _in_call(call.arguments)
        result = model.result(call.id)
        if result is not None:
            yield from _every(result, model)


def references(
    message: ChatMessage, model: TranscriptModel, *, is_here: bool = True
) -> list[Reference]:
    """Return the references of a message and the results of its calls: images, links, then paths,
    at most `MOST`.

    Accesses the disk if the store is of this machine, which can take longer than a frame.
    """
    found = []
    for each in dict.fromkeys(_every(message, model)):
        if is_here and each.kind is ReferenceKind.PATH and is_image_file(each.target):
            each = each._replace(kind=ReferenceKind.IMAGE)
        if len(each.target) > 1:
            found.append(each)
    kinds = list(ReferenceKind)
    return sorted(found, key=lambda each: kinds.index(each.kind))[:MOST]


class Pictures:
    """Files of images that were opened, in a private folder (0700) that is removed when the browser
    ends."""

    @cached_property
    def _folder(self) -> TemporaryFolder:
        return TemporaryFolder("images")

    def write(self, data: bytes) -> Path | None:
        """Write an image to a private file (0600); None for an unknown format."""
        suffix = suffix_of(data[:IMAGE_HEAD])
        if not suffix:
            return None
        number, path = tempfile.mkstemp(suffix, "image-", self._folder.path)
        with open(number, "wb") as file:
            file.write(data)
        return Path(path)

    def close(self) -> None:
        if "_folder" in self.__dict__:
            self._folder.remove()


def is_image_file(path: str) -> bool:
    """Whether a path in a message is that of a regular file with the suffix and the first bytes of
    an image.

    A path on another machine (`//server/…`) is never accessed.
    """
    if not _IMAGE.fullmatch(path) or path.startswith(("//", "\\\\")) or "\x00" in path:
        return False
    try:
        absolute = Path(path).expanduser()
        if not absolute.is_absolute() or not absolute.is_file():
            return False
        with open_regular(absolute) as file:
            return bool(suffix_of(file.read(IMAGE_HEAD)))
    except (OSError, ValueError, RuntimeError):
        return False


class ReferencesCard(Card[None]):
    """The card of references, at least one; the title is printable."""

    AUTO_FOCUS = "#references"
    ENTER = N_("Enter open")
    KEYS = REFERENCES

    def __init__(
        self, context: Context, pictures: Pictures, title: str, targets: Sequence[Reference]
    ) -> None:
        super().__init__()
        self._main, self._pictures = context, pictures
        self._title, self._references = title, targets

    def content(self) -> ComposeResult:
        yield styled(self._title, "bold")
        yield OptionList(*map(self._row, self._references), id="references", markup=False)

    def _row(self, reference: Reference) -> Option:
        is_copied = reference.kind is ReferenceKind.LINK and not reference.can_be_opened
        return Option(
            Content.assemble(
                (f"{_(reference.kind)}  ", "dim"),
                one_line(reference.target, 2000),
                ("  " + _("is only copied") if is_copied else "", "dim"),
            )
        )

    def action_copy(self) -> None:
        index = self.query_one(OptionList).highlighted
        if index is None:
            return
        reference = self._references[index]
        if reference.embedded is None:
            self.copy(reference.target, _(reference.kind))
        else:
            self.answer(_("an embedded image has no path to copy · Enter opens it"))

    @on(OptionList.OptionSelected)
    def selected(self, event: OptionList.OptionSelected) -> None:
        reference = self._references[event.option_index]
        if reference.embedded is not None:
            self._main.start("image", self._open_embedded, *reference.embedded)
        elif reference.kind is ReferenceKind.IMAGE:
            self.run_worker(self._outside(str(Path(reference.target).expanduser())))
        elif reference.can_be_opened:
            self.run_worker(self._outside(reference.target))
        else:
            why = "" if reference.kind is ReferenceKind.PATH else _("not of the web: ")
            self.copy(reference.target, f"{why}{_(reference.kind)}")

    async def _open_embedded(self, message_id: int, number: int) -> None:
        """Write an embedded image to a private file, and open that."""
        data = await self._main.read(lambda store: store.image(message_id, number))
        path = self._pictures.write(data) if data is not None else None
        if path is None:
            self.answer(_("not an image known here; & shows the row as it is stored"))
        elif self.is_whole:
            await self._outside(str(path))

    async def _outside(self, target: str) -> None:
        is_taken, sentence = await asyncio.to_thread(programs.open_outside, target)
        copies = "" if is_taken else " · " + _("{key} copies", key=self.key("copy"))
        self.answer(one_line(sentence + copies, 300))
