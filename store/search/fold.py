"""Folding: text without case and diacritics, letter for letter as FTS5's unicode61 tokenizer folds
it.

Checked against SQLite's own vocabulary: Latin letters with one mark lose it, Greek, Cyrillic and
Vietnamese letters with two marks keep theirs, everything else is folded to its simple lower case
(https://sqlite.org/fts5.html#unicode61_tokenizer, remove_diacritics=1).
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

MARKS = "\u0300-\u0304\u0306-\u030c\u030f\u0311\u031b\u0323-\u0328\u032d\u032e\u0330\u0331"
"""The combining marks unicode61 drops from inside a word, for a character class."""

JOINER_BLOCKS = (
    *(
        ("\u2066", "\u206a"),
        ("\u20ba", "\u20d0"),
        ("\u23f4", "\u2400"),
        ("\u2700", "\u2701"),
        ("\u2b4d", "\u2c00"),
    ),
    *(("\u2e3c", "\u2e80"), ("\ue000", "\uf900"), ("\U0001f000", "\U00020000")),
    ("\U000f0000", "\U0010ffff\U0010ffff"),
)
"""Blocks of characters that unicode61 takes for letters: those newer than its tables (Unicode 6.1),
such as most emoji and some currency signs, and private ones, such as the icons of terminal fonts.
The first of each block, and the first beyond it."""
JOINERS = "".join(
    f"{first}-{chr(min(ord(beyond[0]), 0x10FFFF) - 1)}" for first, beyond in JOINER_BLOCKS
)
"""The same characters, for a character class."""

_HAS_MARKS = re.compile(f"[{MARKS}]")
# Lower-case letters that fold to another one: accented Latin, final sigma and the like. Cyrillic,
# CJK and emoji are not among them, so that text full of those is folded at the speed of
# str.lower().
_SPECIAL = re.compile("[\u00b5\u00e0-\u0233\u0345\u03c2\u03d0-\u03f5\u1e01-\u1ef9\u1fbe]")
_CJK = re.compile(
    "[\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3040-\u30ff\u3100-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]+"
)


@lru_cache(maxsize=4096)
def _fold_letter(letter: str) -> str:
    parts = unicodedata.normalize("NFD", letter)
    if (
        len(parts) == 2
        and parts[0].isascii()
        and parts[0].isalpha()
        and unicodedata.combining(parts[1])
    ):
        return parts[0].lower()
    for folded in (letter.casefold(), letter.lower()):
        if len(folded) == 1:
            return folded
    return letter


def fold(text: str) -> str:
    """Return the text without case and diacritics; each code point stays at its position."""
    if text.isascii():
        return text.lower()
    # U+0130 is the one letter whose lower case is two code points.
    lowered = text.replace("\u0130", "i").lower()
    if len(lowered) != len(text):
        return "".join(map(_fold_letter, text))
    return _SPECIAL.sub(lambda match: _fold_letter(match[0]), lowered)


def has_marks(folded: str) -> bool:
    """Whether a folded text has marks that unicode61 drops (decomposed text)."""
    return not folded.isascii() and _HAS_MARKS.search(folded) is not None


def has_cjk(text: str) -> bool:
    """Whether any letter is Chinese, Japanese or Korean."""
    return _CJK.search(text) is not None
