"""Colours a terminal program wrote into its output (SGR, ECMA-48 8.3.117) as looks; all other controls stay visible."""

from __future__ import annotations

import re

from hermes_browse.store.text import printable

from .shared.styled import TAB, Line

_SGR = re.compile(r"\x1b\[([0-9;:]*)m")
_NAMES = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_ON = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "reverse", 9: "strike"}
_OFF = {22: ("bold", "dim"), 23: ("italic",), 24: ("underline",), 27: ("reverse",), 29: ("strike",)}
_CUBE_STEP = 128
"""Of 256: a channel this strong is on, where colours in millions are brought down to eight."""


def has_colours(text: str) -> bool:
    """Whether there is anything to show as a look."""
    return "\x1b[" in text and _SGR.search(text) is not None


def without_colours(text: str) -> str:
    """The text without its colours; other controls stay."""
    return _SGR.sub("", text) if "\x1b[" in text else text


def _nearest(red: int, green: int, blue: int) -> str:
    on = (red >= _CUBE_STEP) + 2 * (green >= _CUBE_STEP) + 4 * (blue >= _CUBE_STEP)
    return _NAMES[on]


def _of_256(number: int) -> str:
    if number < 16:
        return _NAMES[number % 8]
    if number >= 232:
        return "black" if number < 244 else "white"
    number -= 16
    return _nearest(*(channel * 51 for channel in (number // 36, number // 6 % 6, number % 6)))


class _Pen:
    """What has been switched on."""

    def __init__(self) -> None:
        self._marks: set[str] = set()
        self._ink = self._paper = ""

    def look(self, base: str) -> str:
        """The names of the looks; a coloured ground is that colour turned round."""
        colour = self._paper or self._ink
        # Output is dim, colours are not: a red that is dim as well says too little.
        names = ["code-text" if colour or "bold" in self._marks else base, *sorted(self._marks)]
        if colour:
            names.append(f"sgr-{colour}")
        if self._paper and "reverse" not in self._marks:
            names.append("reverse")
        return " ".join(names)

    def take(self, parameters: str) -> None:
        """Take in the parameters of one sequence; unknown ones mean nothing."""
        codes = [int(code) if code else 0 for code in re.split("[;:]", parameters[:100])]
        position = 0
        while position < len(codes):
            code = codes[position]
            position += 1
            if code in (38, 48):
                colour, used = self._extended(codes[position:])
                position += used
                self._set(colour, paper=code == 48)
            elif code == 0:
                self._marks.clear()
                self._ink = self._paper = ""
            elif code in _ON:
                self._marks.add(_ON[code])
            elif code in _OFF:
                self._marks.difference_update(_OFF[code])
            elif 30 <= code <= 37 or 90 <= code <= 97:
                self._set(_NAMES[code % 10], paper=False)
            elif 40 <= code <= 47 or 100 <= code <= 107:
                self._set(_NAMES[code % 10], paper=True)
            elif code in (39, 49):
                self._set("", paper=code == 49)

    def _set(self, colour: str, *, paper: bool) -> None:
        if paper:
            self._paper = colour
        else:
            self._ink = colour

    @staticmethod
    def _extended(codes: list[int]) -> tuple[str, int]:
        """A colour of 256 or of millions, and how many parameters it took."""
        if codes[:1] == [5] and len(codes) > 1:
            return _of_256(min(codes[1], 255)), 2
        if codes[:1] == [2] and len(codes) > 3:
            return _nearest(*(min(code, 255) for code in codes[1:4])), 4
        return "", len(codes)


def coloured(text: str, base: str) -> list[Line]:
    """Text as lines of printable spans, not wrapped, with its colours as looks.

    Args:
        text: Output of a tool, as stored.
        base: Look of what has no colour.
    """
    pen = _Pen()
    lines: list[Line] = [[]]
    position = 0
    text = text.replace("\r\n", "\n")

    def add(piece: str) -> None:
        look = pen.look(base)
        first, *rest = printable(piece).replace("\t", TAB).split("\n")
        if first:
            lines[-1].append((first, look))
        for each in rest:
            lines.append([(each, look)] if each else [])

    for match in _SGR.finditer(text):
        add(text[position : match.start()])
        pen.take(match[1])
        position = match.end()
    add(text[position:])
    return lines
