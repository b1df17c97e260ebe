"""The bytes of images in chat messages: read on demand, and told by what they begin with, not by what they claim."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from urllib.parse import unquote_to_bytes

from ..connection.connect import Reader
from ..connection.values import read_json
from ..text import as_text
from .decode import DATA_URL, SENTINEL, image_url

LONGEST_HEAD = 16
"""Bytes by which an image is known."""
_STARTS: Sequence[tuple[bytes, str]] = (
    (b"\x89PNG\r\n\x1a\n", ".png"),
    (b"\xff\xd8\xff", ".jpg"),
    (b"GIF87a", ".gif"),
    (b"GIF89a", ".gif"),
    (b"BM", ".bmp"),
    (b"II*\x00", ".tiff"),
    (b"MM\x00*", ".tiff"),
)


def suffix_of(head: bytes) -> str:
    """The suffix of a file that begins like this; empty where it is no image known here.

    SVG is not among them: it is a document with programs in it.

    Args:
        head: The first bytes, `LONGEST_HEAD` of them are enough.
    """
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return ".webp"
    if head[4:8] == b"ftyp" and head[8:12] in (b"avif", b"heic", b"mif1"):
        return ".avif" if head[8:12] == b"avif" else ".heic"
    return next((suffix for start, suffix in _STARTS if head.startswith(start)), "")


def decode_data_url(url: str) -> bytes | None:
    """What a `data:` URL holds (RFC 2397); None where it is none or cannot be read."""
    match = DATA_URL.match(url[:200])
    if match is None:
        return None
    payload = url[match.end() :]
    if not match[2]:
        return unquote_to_bytes(payload)
    try:
        return base64.b64decode(payload)
    except (binascii.Error, ValueError):
        return None


def read_image(reader: Reader, message_id: int, number: int) -> bytes | None:
    """An image that is embedded in a chat message.

    Args:
        reader: An open reader.
        message_id: Of the row.
        number: Which of its image parts, from 0.

    Returns:
        Its bytes; None where the row or the image is gone, stands elsewhere, or cannot be decoded.
    """
    content = reader.schema.message("content")
    text = as_text(reader.value(f"SELECT {content} FROM messages m WHERE m.id = ?", [message_id]))
    if text is None or not text.startswith(SENTINEL):
        return None
    try:
        loaded = read_json(text[len(SENTINEL) :])
    except (ValueError, RecursionError):
        return None
    items = loaded if isinstance(loaded, list) else [loaded]
    urls = [url for url in map(image_url, items) if url is not None]
    return decode_data_url(urls[number]) if 0 <= number < len(urls) else None
