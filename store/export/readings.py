"""Read a text as whoever wrote a secret into it may have meant it, and find the place of a secret
in the text as it is.

A secret may be percent-encoded with what is around it, hold characters of no width, be broken by a
backslash at the end of a line, or be wrapped over two lines. Each reading takes one of these back.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator

from .secrets import BEGINNINGS

_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e007f]+"
    r"|\\\r?\n"
    "|%(?:2[0-9A-Fa-f]|[3-6][0-9A-Fa-f]|7[0-9A-Ea-e])"
)
"""What has no width, a line end that a shell takes out, and an encoded letter of ASCII."""

_RUN = r"[A-Za-z0-9_+/.\-]"
_BEGINNINGS = "|".join(re.escape(each) for each in BEGINNINGS if len(each) > 2)
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


class TextReading:
    """The lines of a text that hold what does not count, without it, and where their letters are in
    the original.

    Attributes:
        text: What is read.
    """

    def __init__(
        self, original: str, pattern: re.Pattern[str], meant: Callable[[str], str]
    ) -> None:
        pieces: list[str] = []
        self._starts: list[int] = []
        self._places: list[tuple[int, int]] = []
        length = last = 0

        def copy(start: int, end: int) -> None:
            nonlocal length
            self._add(length, start, 1)
            pieces.append(original[start:end])
            length += end - start

        for match in pattern.finditer(original):
            start, end = match.span()
            line = original.rfind("\n", last, start) + 1
            if line or not pieces:
                if pieces:
                    copy(last, original.index("\n", last) + 1)
                last = line
            copy(last, start)
            letter = meant(match[0])
            if letter:
                self._add(length, start, end - start)
                pieces.append(letter)
                length += 1
            last = end
        close = original.find("\n", last)
        copy(last, close if close >= 0 else len(original))
        self.text = "".join(pieces)

    def _add(self, start: int, place: int, width: int) -> None:
        self._starts.append(start)
        self._places.append((place, width))

    def _place(self, position: int) -> tuple[int, int]:
        """Return the half-open range of a letter in the original."""
        index = bisect_right(self._starts, position) - 1
        place, width = self._places[index]
        start = place + position - self._starts[index]
        return start, start + width

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Return the range in the original of a range that is not empty."""
        return self._place(start)[0], self._place(end - 1)[1]


def _decoded(found: str) -> str:
    return chr(int(found[1:], 16)) if found.startswith("%") else ""


def readings(text: str) -> Iterator[TextReading]:
    """Yield each reading that differs from the text."""
    if _UNSEEN.search(text):
        yield TextReading(text, _UNSEEN, _decoded)
    if "\n" in text and _WRAP.search(text):
        yield TextReading(text, _WRAP, lambda _found: "")
