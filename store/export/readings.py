"""Read a text as whoever wrote a secret into it may have meant it.

A secret may be percent-encoded with what is around it, hold characters of no width, be broken by a
backslash at the end of a line, or be wrapped over two lines. Each reading takes one of these back.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .secrets import RULES

_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e007f]+"
    r"|\\\r?\n"
    "|%(?:2[0-9A-Fa-f]|[3-6][0-9A-Fa-f]|7[0-9A-Ea-e])"
)
"""What has no width, a line end that a shell takes out, and an encoded letter of ASCII."""

_RUN = r"[A-Za-z0-9_+/.\-]"
_BEGINNINGS = "|".join(
    re.escape(rule.needle) for rule in RULES if rule.is_key and len(rule.needle) > 2
)
_LOOKS_RANDOM = (
    rf"(?={_RUN}{{6}})(?={_RUN}{{0,200}}[0-9])(?={_RUN}{{0,200}}[A-Za-z])"
    rf"|(?={_RUN}{{8}})(?={_RUN}{{0,200}}[a-z][A-Z])"
)
_WRAP = re.compile(
    rf"(?<={_RUN})\r?\n[ \t]{{0,16}}(?:>[ \t]?)?(?!{_BEGINNINGS})(?:{_LOOKS_RANDOM})"
    rf"(?={_RUN}++={{0,2}}(?:[\s\"'`,;)\]}}<|&\\]|\Z))"
)
"""A line end before what looks like the rest of a key and ends like a word.

Fewer letters would be common words and numbers; so many of a long key alone give nothing away. A
line that begins with the letters of a key continues no other key.
"""


class TextReading(NamedTuple):
    """A text without what does not count."""

    text: str
    places: Sequence[int]
    """Where each letter, and the end, is in the original."""


def _reading(original: str, pattern: re.Pattern[str]) -> TextReading:
    """Leave out what a pattern matches, and decode encoded letters."""
    pieces: list[str] = []
    places = array("q")
    last = 0
    for match in pattern.finditer(original):
        start, end = match.span()
        letter = chr(int(match[0][1:], 16)) if match[0].startswith("%") else ""
        pieces += original[last:start], letter
        places.extend(range(last, start))
        places.extend([start] * len(letter))
        last = end
    places.extend(range(last, len(original) + 1))
    return TextReading("".join([*pieces, original[last:]]), places)


def readings(text: str) -> Iterator[TextReading]:
    """Yield the text as it is, and each reading that differs from it."""
    yield TextReading(text, range(len(text) + 1))
    yield from (_reading(text, pattern) for pattern in (_UNSEEN, _WRAP) if pattern.search(text))
