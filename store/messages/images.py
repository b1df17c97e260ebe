"""Read the images embedded in chat messages, and detect their type from their first bytes, not from
their claims."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from urllib.parse import unquote_to_bytes

from ..connection.reader import Reader
from ..text import as_text
from .decode import DATA_URL, image_url, stored_parts

LONGEST_HEAD = 16
"""Bytes that `suffix_of` needs."""
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
    """Return the suffix for an image with these first bytes; empty if unknown, and for SVG, which
    may have scripts."""
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return ".webp"
    if head[4:8] == b"ftyp" and head[8:12] in (b"avif", b"heic", b"mif1"):
        return ".avif" if head[8:12] == b"avif" else ".heic"
    return next((suffix for start, suffix in _STARTS if head.startswith(start)), "")


def decode_data_url(url: str) -> bytes | None:
    """Decode a `data:` URL (RFC 2397); None if it is not one, or invalid."""
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
    """Read the bytes of an image embedded in a chat message; `number` counts its image parts from
    0.

    None if the row or the image is missing, not embedded, or invalid.
    """
    content = reader.schema.message("content")
    text = (
        as_text(reader.value(f"SELECT {content} FROM messages m WHERE m.id = ?", [message_id]))
        or ""
    )
    urls = [url for url in map(image_url, stored_parts(text) or ()) if url is not None]
    return decode_data_url(urls[number]) if 0 <= number < len(urls) else None
