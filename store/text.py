"""Stored text made safe to show: `as_text` makes a string of any stored value, `printable` one that
is safe to print.

Stored text is hostile: tool output holds escape sequences, chat messages hold bidi overrides,
salvaged rows hold blobs where text belongs. Markup is not escaped: widgets take the result as plain
content, never as markup.
"""

from __future__ import annotations

import re
import unicodedata

VISIBLE_CONTROLS = {code: 0x2400 + code for code in range(0x20) if code not in (0x09, 0x0A)} | {
    0x7F: 0x2421
}
"""What is shown in place of a control character; all other hostile characters become U+FFFD."""
# Besides controls: bidi overrides, embeddings, isolates and marks, line and paragraph separators,
# interlinear annotations, deprecated format characters, tags and lone surrogates. They reorder,
# hide or break other parts of a line. ZWJ and ZWNJ stay: emoji and scripts need them.
HOSTILE = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\u180e\ufff9-\ufffc\ud800-\udfff\U000e0000-\U000e007f]"
)
"""A pattern for the characters a terminal would act on."""
_EMOJI = "[\u00a9\u00ae\u2190-\u2bff\U0001f000-\U0001faff]"
# Terminals disagree on the width of a joiner that joins no emoji and of a soft hyphen: what follows
# would shift.
STRAY = f"(?<!{_EMOJI})(?<!{_EMOJI}\ufe0f)\u200d|\u200d(?!{_EMOJI})|\u00ad"
"""A pattern for the characters that are not shown at all."""


def as_text(value: object) -> str | None:
    """Return a stored value as a string, or None for NULL.

    Args:
        value: What SQLite returned: str, bytes, int, float or None. Salvaged rows hold blobs and
            numbers where text belongs.

    Returns:
        Invalid bytes and lone surrogates, which no terminal or JSON reader takes, become U+FFFD.
    """
    if value is None:
        return None
    if type(value) is str and value.isascii():
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value).encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def text_of(value: object, default: str = "") -> str:
    """Return a stored value as `as_text` does; the default for NULL and for an empty text."""
    return as_text(value) or default


def printable(text: str) -> str:
    """Replace every character that could act on a terminal by a visible one.

    C0 controls become Control Pictures, DEL becomes U+2421; C1 controls, bidi controls and other
    invisible format characters become U+FFFD. Newlines and tabs stay; carriage returns before a
    newline, soft hyphens and joiners that join no emoji are dropped. Idempotent; returns the same
    object when there is nothing to replace.
    """
    # Controls and format characters are not printable to Python, but the object replacement
    # character is.
    if text.isprintable() and "\ufffc" not in text:
        return text
    if "\u200d" in text or "\u00ad" in text:
        text = re.sub(STRAY, "", text)
    return re.sub(
        HOSTILE,
        lambda match: chr(VISIBLE_CONTROLS.get(ord(match[0]), 0xFFFD)),
        text.replace("\r\n", "\n"),
    )


def one_line(text: str, limit: int = 0) -> str:
    """Return the text on one line: printable, runs of white space as one space.

    Args:
        text: Any string.
        limit: The most code points to keep, the ellipsis included; 0 keeps all.
    """
    if limit:
        text = text[: limit * 8]
    line = printable(" ".join(text.split()))
    if limit and len(line) > limit:
        return without_parts(line[: limit - 1].rstrip()) + "…"
    return line


def without_parts(text: str) -> str:
    """Return a text that was cut, without what may be a part of a joined or combined character at
    its end."""
    while text and (text[-1] in "\u200d\ufe0f" or unicodedata.combining(text[-1])):
        text = text[:-1]
    return text


def longest_run(text: str) -> int:
    """Return the length of the longest run of backticks in a text."""
    return max(map(len, re.findall("`+", text)), default=0)


def fenced(text: str, language: str = "") -> str:
    """Return a text as a code block of Markdown, with a fence longer than any run of backticks in
    it.

    Args:
        text: Any text.
        language: A word that needs no escaping.
    """
    fence = "`" * max(3, longest_run(text) + 1)
    return f"{fence}{language}\n{text}\n{fence}"
