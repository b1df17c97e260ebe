"""What a chat message refers to: its images, links of its Markdown, addresses as they stand in text, paths of files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from hermes_browse.store.messages import without_injections
from hermes_browse.store.models import ChatMessage
from hermes_browse.store.outcomes import load_json
from hermes_browse.store.text import one_line, printable
from hermes_browse.store.wording import _

from . import formats
from .entries import TranscriptModel
from .markdown import parse
from .pictures import is_image_file
from .tool_text import as_shown

MOST = 300
"""References of one message; a log may hold thousands of addresses, and nobody walks through them."""
_LOOKED_THROUGH = 200_000
"""Code points of one text that are looked through."""
_PATH_FIELDS = ("path", "file_path", "filename", "file", "cwd", "workdir")
"""Arguments of tools that hold a path and nothing else."""
_OPENED = ("http", "https", "mailto")
"""What is handed to a browser; whatever else there is (file:, javascript:, a program's own) is only copied."""

_ADDRESS = re.compile(r"(?:https?://|mailto:)[^\s<>\"'`\\^{}|\u3000-\u303f\uff00-\uff65]+", re.IGNORECASE)
# A path is rooted (/, ~/, ./, ../, C:\) and names something, or is relative and ends in a file with a suffix.
_NAME = r"[\w.@+%=-]"
_PATH = re.compile(
    rf"(?<![\w/:.~\\@-])(?:(?:~|\.{{1,2}})?(?:/{_NAME}+)+/?|[A-Za-z]:\\{_NAME}+(?:\\{_NAME}+)*|(?:{_NAME}+/)+{_NAME}+\.\w+)"
)
_CLOSING = {")": "(", "]": "["}


class Kind(StrEnum):
    """What a reference is."""

    IMAGE = "image"
    LINK = "link"
    PATH = "path"


_ORDER = list(Kind)


class Reference(NamedTuple):
    """Something outside of the conversation."""

    kind: Kind
    target: str
    """As it stands; not printable yet. Type and size of an image that is embedded."""
    label: str = ""
    """What the message calls it, printable; empty where that is the target itself."""
    message_id: int = 0
    """Of an embedded image: the row it is in."""
    number: int = -1
    """Of an embedded image: which of the row's image parts; -1 for all else."""

    @property
    def can_be_opened(self) -> bool:
        """Whether a browser may be handed it: an address of the web or of a mail, and nothing that could act."""
        target = self.target
        if self.kind is not Kind.LINK or any(letter.isspace() for letter in target) or printable(target) != target:
            return False
        try:
            parts = urlsplit(target)
        except ValueError:
            return False
        return parts.scheme in _OPENED and bool(parts.path if parts.scheme == "mailto" else parts.hostname)


def _trimmed(text: str) -> str:
    """Without the punctuation of the sentence around it, and closing brackets that were opened before it."""
    while text:
        last = text[-1]
        if last in ".,;:!?*_~" or (last in _CLOSING and text.count(_CLOSING[last]) < text.count(last)):
            text = text[:-1]
        else:
            break
    return text


def _in_markdown(text: str) -> Iterator[Reference]:
    for token in parse(text):
        label, target = "", ""
        for child in token.children or []:
            if child.type == "link_open":
                label, target = "", str(child.attrs.get("href", ""))
            elif child.type == "link_close":
                if target and not target.startswith("#"):
                    kind = Kind.LINK if ":" in target or target.startswith("//") else Kind.PATH
                    label = one_line(label, 200)
                    yield Reference(kind, target, label if label != target else "")
                target = ""
            elif target:
                label += child.content


def _in_text(text: str) -> Iterator[Reference]:
    text = text[:_LOOKED_THROUGH]
    rest: list[str] = []
    end = 0
    for match in _ADDRESS.finditer(text):
        yield Reference(Kind.LINK, _trimmed(match[0]))
        rest.append(text[end : match.start()])
        end = match.end()
    for piece in (*rest, text[end:]):
        yield from (Reference(Kind.PATH, _trimmed(match[0])) for match in _PATH.finditer(piece))


def _in_call(arguments: str) -> Iterator[Reference]:
    loaded = load_json(arguments)
    if isinstance(loaded, dict):
        for name in _PATH_FIELDS:
            value = loaded.get(name)
            if isinstance(value, str) and value.strip() and "\n" not in value and "://" not in value:
                yield Reference(Kind.PATH, value.strip())
    yield from _in_text(as_shown(arguments))


def _images(message: ChatMessage) -> Iterator[Reference]:
    for number, part in enumerate(part for part in message.parts if part.kind == "image"):
        if not part.url and part.size:
            name = f"{one_line(part.mime.rpartition('/')[2], 30) or _('image')}, {formats.size(part.size)}"
            yield Reference(Kind.IMAGE, name, _("in message {id}").format(id=message.id), message.id, number)
        elif part.url:
            is_address = re.match(r"[A-Za-z][A-Za-z0-9+.-]+:", part.url) is not None
            path = unquote(part.url[7:]) if part.url.startswith("file:///") else part.url
            yield Reference(Kind.LINK if is_address and path == part.url else Kind.PATH, path)


def _every(message: ChatMessage, model: TranscriptModel) -> Iterator[Reference]:
    yield from _images(message)
    if message.role == "tool":
        yield from _in_text(as_shown(message.text))
        return
    text = without_injections(message.text)[:_LOOKED_THROUGH]
    yield from _in_markdown(text)
    yield from _in_text(text)
    for call in message.tool_calls:
        yield from _in_call(call.arguments)
        result = model.result(call.id) if call.id else None
        if result is not None:
            yield from _images(result)
            yield from _in_text(as_shown(result.text))


def references(message: ChatMessage, model: TranscriptModel) -> list[Reference]:
    """What a message and the results of its calls refer to: images, addresses, then paths; each once, at most `MOST`.

    Args:
        message: Of any role; a long one is parsed whole and files are looked for, which takes longer than a frame.
        model: Where results are found, as far as they have been read.
    """
    found: dict[tuple[Kind, str, int, int], Reference] = {}
    for each in _every(message, model):
        key = (each.kind, each.target, each.message_id, each.number)
        if len(each.target) > 1 and key not in found:
            found[key] = each._replace(kind=Kind.IMAGE) if _is_picture(each) else each
    return sorted(found.values(), key=lambda each: _ORDER.index(each.kind))[:MOST]


def _is_picture(reference: Reference) -> bool:
    return reference.kind is Kind.PATH and is_image_file(reference.target)
