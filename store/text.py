"""Text from a store made safe and short: the border every stored string crosses.

Stored text is hostile: tool output holds escape sequences, chat messages hold bidi overrides,
salvaged rows hold blobs where text belongs. `as_text` makes a string of any stored value,
`printable` makes a string that cannot act on a terminal. Nothing here knows of markup: widgets
take the result as plain content, never as markup.
"""

from __future__ import annotations

import re
import unicodedata

_C0 = {code: 0x2400 + code for code in range(0x20) if code not in (0x09, 0x0A)}
_VISIBLE: dict[int, int] = _C0 | {0x7F: 0x2421}
"""What is shown in the place of a control; of everything else that is hostile, U+FFFD."""
# Bidi overrides, embeddings, isolates and marks, line and paragraph separators, interlinear
# annotations, the deprecated format characters, tags and lone surrogates: they reorder, hide or
# break a line elsewhere than where they stand. ZWJ and ZWNJ stay: emoji and scripts need them.
HOSTILE = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\u180e\ufff9-\ufffc\ud800-\udfff\U000e0000-\U000e007f]"
)
"""A pattern of what a terminal would act on."""
# A joiner that joins no emoji: widths after it are anybody's guess, and what stands right of it shifts.
_EMOJI = "[\u00a9\u00ae\u2190-\u2bff\U0001f000-\U0001faff]"
# Nor do terminals agree on a soft hyphen, which shows nothing where no line ends.
STRAY = f"(?<!{_EMOJI})(?<!{_EMOJI}\ufe0f)\u200d|\u200d(?!{_EMOJI})|\u00ad"
"""A pattern of what is left out of what is shown."""


def as_text(value: object) -> str | None:
    """The stored value as a string, or None for NULL.

    Args:
        value: What SQLite gave: str, bytes, int, float or None. Salvaged rows keep blobs and
            numbers where text belongs (SQLite columns are only advice).

    Returns:
        Invalid bytes as U+FFFD; lone surrogates too, which no terminal or JSON reader takes.
    """
    if value is None:
        return None
    if type(value) is str and value.isascii():
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    text = value if isinstance(value, str) else str(value)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return text


def _replace(match: re.Match[str]) -> str:
    code = ord(match[0])
    return chr(_VISIBLE.get(code, 0xFFFD))


def printable(text: str) -> str:
    """The text with everything that could act on a terminal made visible.

    C0 controls become Control Pictures, DEL becomes U+2421, C1 controls, bidi controls and other
    invisible format characters become U+FFFD. Newlines and tabs stay; a carriage return before a
    newline goes with it, so do soft hyphens and a joiner that joins no emoji. Idempotent; returns the
    same object when there is nothing to do.

    Args:
        text: Any string.
    """
    # Python calls controls and format characters not printable, but takes the object replacement for a symbol.
    if text.isprintable() and "\ufffc" not in text:
        return text
    if "\u200d" in text or "\u00ad" in text:
        text = re.sub(STRAY, "", text)
    if not re.search(HOSTILE, text):
        return text
    return re.sub(HOSTILE, _replace, text.replace("\r\n", "\n"))


def one_line(text: str, limit: int = 0) -> str:
    """The text on one line: runs of white space as one space, printable, cut at `limit` code points.

    Args:
        text: Any string.
        limit: The most code points to keep, the ellipsis included; 0 keeps all.
    """
    if limit and len(text) > limit * 8:
        text = text[: limit * 8]
    line = printable(" ".join(text.split()))
    if limit and len(line) > limit:
        line = line[: limit - 1].rstrip()
        # Never leave half of a joined or combined character at the cut.
        while line and (line[-1] in "\u200d\ufe0f" or unicodedata.combining(line[-1])):
            line = line[:-1]
        return line + "…"
    return line


def longest_run(text: str) -> int:
    """Backticks in the longest run of them in a text."""
    return max(map(len, re.findall("`+", text)), default=0)


def fenced(text: str, language: str = "") -> str:
    """A text as a code block of Markdown; its fence is longer than any run of backticks in the text.

    Args:
        text: Any text.
        language: A word that needs no escaping.
    """
    fence = "`" * max(3, longest_run(text) + 1)
    return f"{fence}{language}\n{text}\n{fence}"
