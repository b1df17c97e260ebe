"""Colours in the output of terminal programs (SGR, ECMA-48 8.3.117) as looks; all other controls stay visible.

Rich parses the colours. It gets the SGR sequences only: of a whole text it would drop other controls and whatever
precedes a carriage return, and would make clickable links.
"""

from __future__ import annotations

import re

from rich.ansi import AnsiDecoder
from rich.color import Color

from hermes_browse.store.text import printable

from ..shared.styled import TAB, Line

_SGR = re.compile(r"\x1b\[([0-9;:]*)m")
_MAX_SEQUENCE = 100
"""Characters of a sequence that are parsed."""
_NAMES = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_MARKS = ("bold", "dim", "italic", "reverse", "strike", "underline")
_STRONG = 128
"""Of 256: a channel from here on is on when a colour is reduced to one of eight."""


def has_colours(text: str) -> bool:
    """Whether the text has SGR sequences."""
    return "\x1b[" in text and _SGR.search(text) is not None


def without_colours(text: str) -> str:
    """Remove SGR sequences from a text; other controls stay."""
    return _SGR.sub("", text) if "\x1b[" in text else text


def _name(color: Color | None) -> str:
    """Return the nearest of the eight colours that every theme has; empty for none."""
    if color is None or color.is_default:
        return ""
    if color.number is not None and color.number < 16:
        return _NAMES[color.number % 8]
    # Of the six levels of the 256 colours (0 95 135 175 215 255) the upper three are on.
    strong = 136 if color.number is not None and color.number < 232 else _STRONG
    return _NAMES[sum(1 << place for place, channel in enumerate(color.get_truecolor()) if channel >= strong)]


def _look(decoder: AnsiDecoder, base: str) -> str:
    """Return the names of the looks; a coloured background is that colour reversed."""
    style = decoder.style
    marks = [mark for mark in _MARKS if getattr(style, mark)]
    paper = _name(style.bgcolor)
    colour = paper or _name(style.color)
    # Output is dim, but colours are not: dim red is hard to see.
    names = ["code-text" if colour or style.bold else base, *marks]
    if colour:
        names.append(f"sgr-{colour}")
    if paper and not style.reverse:
        names.append("reverse")
    return " ".join(names)


def coloured(text: str, base: str) -> list[Line]:
    """Split stored output into lines of printable spans, not wrapped, with colours as looks; `base` is the default."""
    decoder, look = AnsiDecoder(), base
    lines: list[Line] = [[]]
    # Every second piece has the parameters of a sequence.
    for number, piece in enumerate(_SGR.split(text.replace("\r\n", "\n"))):
        if number % 2:
            decoder.decode_line(f"\x1b[{piece[:_MAX_SEQUENCE].replace(':', ';')}m")
            look = _look(decoder, base)
            continue
        first, *rest = printable(piece).replace("\t", TAB).split("\n")
        if first:
            lines[-1].append((first, look))
        for each in rest:
            lines.append([(each, look)] if each else [])
    return lines
