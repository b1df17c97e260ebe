"""The table of all signs the browser draws that are not ASCII, each with the ASCII sign that can replace it.

Both take one cell, so that nothing shifts. Signs that stand for different states have different replacements.
"""

from __future__ import annotations

import unicodedata

MODES = ("auto", "ascii", "unicode")
"""What the option `glyphs` may be; `auto` is ASCII where the terminal's encoding is not UTF-8."""

_SIGNS = {
    # what a conversation or session is
    "●": "*", "○": "o", "∅": "0", "·": "-", "★": "!", "▪": "#", "⊕": "+", "↻": "@", "≡": "=", "⑂": "Y",
    # what happened to it
    "✓": "x", "✗": "X", "☑": "x", "☐": "_", "⊘": "/", "↺": "@", "◆": "*", "◇": "o", "▶": ">", "■": "#",
    # what opens, where it leads
    "▸": ">", "›": ">",
    "▾": "v", "▼": "v", "▲": "^", "◀": "<", "◂": "<", "→": ">", "←": "<", "↑": "^", "↓": "v", "↵": "<",
    "⏎": "<",
    # punctuation
    "…": "~", "“": '"', "”": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "−": "-", "•": "*", "×": "x", "∞": "~",
    "¢": "c", "≥": ">", "≤": "<", "\u00a0": " ", "\ufffd": "?",
}  # fmt: skip


def _drawn() -> dict[str, str]:
    """Rules and blocks, ours and those of Textual's own widgets."""
    found: dict[str, str] = {}
    for code in range(0x2500, 0x2580):  # box drawing
        name = unicodedata.name(chr(code))
        is_level = "HORIZONTAL" in name and "VERTICAL" not in name and "DOWN" not in name and "UP" not in name
        is_upright = "VERTICAL" in name and not any(part in name for part in ("HORIZONTAL", "LEFT", "RIGHT"))
        found[chr(code)] = "-" if is_level else "|" if is_upright else "+"
    found |= {"╱": "/", "╲": "\\", "╳": "X", "├": "|", "└": "`"}  # the last two lead through trees
    for code in range(0x2580, 0x25A0):  # block elements: bars, columns, edges of boxes and scroll bars
        found[chr(code)] = " "
    found |= dict.fromkeys("█▉▊▋▓", "#") | dict.fromkeys("▌▍▎▏▐▕", "|") | {"▒": ":", "░": "."}
    found |= dict.fromkeys("▁▂▃", "_") | dict.fromkeys("▄▅▆▇", "#")  # the tops of columns
    for code in range(0x2400, 0x2425):  # what is shown in the place of a control character
        found[chr(code)] = "?"
    for code in range(0x2800, 0x2900):  # Braille patterns: spinners, plots
        found[chr(code)] = " " if code == 0x2800 else ":"
    return found


TABLE = {ord(sign): plain for sign, plain in (_drawn() | _SIGNS).items()}
"""All of them, for `str.translate`."""


def plain(text: str) -> str:
    """The text with our signs in ASCII and all other letters as they are; it takes as many cells."""
    return text if text.isascii() else text.translate(TABLE)


def is_unicode(encoding: str | None) -> bool:
    """Whether an encoding can hold every letter; assumed where it is not known."""
    return encoding is None or encoding.lower().replace("_", "-").startswith("utf")


def are_plain(mode: str, encoding: str | None) -> bool:
    """Whether signs have to be ASCII.

    Args:
        mode: One of `MODES`.
        encoding: Of the terminal's stream.
    """
    return mode == "ascii" or (mode == "auto" and not is_unicode(encoding))


def encodable(text: str, encoding: str) -> str:
    """The text with a question mark for each cell that an encoding has no letter for.

    Args:
        text: Printable.
        encoding: Of the terminal's stream.
    """
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return "".join(_or_question(letter, encoding) for letter in text)
    return text


def _or_question(letter: str, encoding: str) -> str:
    try:
        letter.encode(encoding)
    except UnicodeEncodeError:
        if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
            return ""
        return "??" if unicodedata.east_asian_width(letter) in "WF" else "?"
    return letter


def replace_unencodable(error: UnicodeError) -> tuple[str, int]:
    """An error handler for codecs: signs of ours in ASCII, question marks for the rest.

    Args:
        error: What could not be encoded.

    Raises:
        UnicodeError: It is not about encoding.
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return encodable(plain(error.object[error.start : error.end]), "ascii"), error.end
