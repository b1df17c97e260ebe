"""When a text contains a term.

Both sides are folded as the word index folds them: without case and Latin diacritics. A plain word
is matched whole, as in FTS5; a word with punctuation in it must be in the text literally; Chinese,
Japanese and Korean are matched anywhere, for they are written without spaces.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache

Span = tuple[int, int]
"""A half-open range of a text, in code points."""
_MARKS = "\u0300-\u0304\u0306-\u030c\u030f\u0311\u031b\u0323-\u0328\u032d\u032e\u0330\u0331"
"""The combining marks unicode61 drops from inside a word, for a character class."""
_HAS_MARKS = re.compile(f"[{_MARKS}]")
"""In a folded text: it is decomposed."""
# Lower-case letters that fold to another one: accented Latin, final sigma and the like. Cyrillic,
# CJK and emoji are not among them, so that text full of those is folded at the speed of
# str.lower().
_SPECIAL = re.compile("[\u00b5\u00e0-\u0233\u0345\u03c2\u03d0-\u03f5\u1e01-\u1ef9\u1fbe]")
_CJK = re.compile(
    "[\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3040-\u30ff\u3100-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
)
_LAST_SIGN = "\u2065"
"""Above it, unicode61 takes signs for letters that are newer than its tables (Unicode 6.1), such
as most emoji and some currency signs, and private ones, such as the icons of terminal fonts."""
_LETTER = r"[^\W_]"
_WORDS = re.compile(rf"{_LETTER}+")
_OUTSIDE = re.compile(r"\A[\W_]+|[\W_]+\Z")
_SENTINEL_WORD = "json"
"""The word that the index makes of `decode.SENTINEL`."""


@lru_cache(maxsize=4096)
def _fold_letter(letter: str) -> str:
    parts = unicodedata.normalize("NFD", letter)
    is_accented = len(parts) == 2 and unicodedata.combining(parts[1])
    if is_accented and parts[0].isascii() and parts[0].isalpha():
        return parts[0].lower()
    folded = letter.casefold()
    return folded if len(folded) == 1 else letter


def fold(text: str) -> str:
    """Return the text without case and diacritics; each code point stays at its position.

    It is folded letter for letter as FTS5's unicode61 tokenizer does, checked against SQLite's own
    vocabulary: Latin letters with one mark lose it, Greek, Cyrillic and Vietnamese letters with two
    marks keep theirs, everything else is folded to its simple lower case
    (https://sqlite.org/fts5.html#unicode61_tokenizer, remove_diacritics=1).
    """
    if text.isascii():
        return text.lower()
    # U+0130 is the one letter whose lower case is two code points.
    lowered = text.replace("\u0130", "i").lower()
    return _SPECIAL.sub(lambda match: _fold_letter(match[0]), lowered)


def fold_composed(text: str) -> str:
    """Return a text folded, with letters and their marks as one where that is possible."""
    return fold(unicodedata.normalize("NFC", text))


def words_of(folded: str) -> tuple[str, ...]:
    """Return the words in a folded text, without emoji and punctuation."""
    return tuple(_WORDS.findall(folded))


def fts_string(text: str) -> str:
    """Quote a text for MATCH: nothing in it is an operator."""
    return '"' + text.replace('"', '""') + '"'


def in_json(text: str, *, ensure_ascii: bool = True) -> Iterable[str]:
    """Return a text as it stands, in JSON, and in JSON within JSON, each form once."""
    once = json.dumps(text, ensure_ascii=ensure_ascii)[1:-1]
    return dict.fromkeys([text, once, json.dumps(once, ensure_ascii=ensure_ascii)[1:-1]])


class TermKind(StrEnum):
    """What a term matches."""

    WORD = "word"
    PHRASE = "phrase"
    PREFIX = "prefix"
    INSIDE = "inside"
    """Anywhere in a word."""


@dataclass(frozen=True)
class Term:
    """Something a chat message must contain."""

    text: str
    kind: TermKind
    start: int = -1
    """Position in the query, code points."""
    end: int = -1

    @cached_property
    def composed(self) -> str:
        """What was typed, composed."""
        return unicodedata.normalize("NFC", self.text)

    @cached_property
    def is_anywhere(self) -> bool:
        """Whether it is matched inside words too."""
        has_word = _WORDS.search(fold(self.composed)) is not None
        return self.kind is TermKind.INSIDE or not has_word or _CJK.search(self.text) is not None

    @cached_property
    def is_phrase(self) -> bool:
        """Whether it is several words: white space inside a term comes from quotes alone, and
        `"two words"*` is a prefix as well."""
        return self.kind is TermKind.PHRASE or any(map(str.isspace, self.composed))

    @cached_property
    def spelling(self) -> str:
        """The folded text of a match."""
        folded = fold(self.composed)
        # A phrase goes from its first word to the last, as in FTS5.
        return _OUTSIDE.sub("", folded) if self.is_phrase and not self.is_anywhere else folded

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words to look up in the word index; empty for what it cannot find: CJK, emoji, bare
        punctuation, the inside of words."""
        is_foreign = any(letter > _LAST_SIGN and not letter.isalnum() for letter in self.spelling)
        return () if self.is_anywhere or is_foreign else words_of(self.spelling)

    @cached_property
    def is_plain(self) -> bool:
        """Whether the words alone decide, whatever is between them."""
        return bool(self.words) and (self.is_phrase or self.words[0] == self.spelling)

    @cached_property
    def is_prefix(self) -> bool:
        """Whether a word may go on after it."""
        is_word = not self.is_anywhere and self.spelling[-1].isalnum()
        return self.kind is TermKind.PREFIX and is_word

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        """For folded text without combining marks."""
        return self._compile()

    @cached_property
    def _pattern_with_marks(self) -> re.Pattern[str]:
        """For folded text with some; it takes ten times as long to make."""
        return self._compile(f"[{_MARKS}]*", rf"(?:{_LETTER}|[{_MARKS}])")

    def _compile(self, marks: str = "", letter: str = _LETTER) -> re.Pattern[str]:
        parts = self.words if self.is_plain else self.spelling.split()
        between = r"[\W_]+" if self.is_plain else r"\s+"
        first, *others = ("".join(re.escape(each) + marks for each in part) for part in parts)
        # `isalnum` is true for the same letters as `[^\W_]`.
        if parts[0][0].isalnum() and not self.is_anywhere:
            # A pattern that begins with letters is found many times faster.
            first = f"(?<!{letter}){first}" if marks else f"{first}(?<!{letter}{first})"
        body = between.join([first, *others])
        is_open = self.is_prefix or self.is_anywhere or not parts[-1][-1].isalnum()
        return re.compile(body if is_open else f"{body}(?!{letter})")

    def find(self, folded: str) -> Iterator[Span]:
        """Yield where a text from `fold` contains the term: half-open ranges in order."""
        has_marks = not folded.isascii() and _HAS_MARKS.search(folded) is not None
        pattern = self._pattern_with_marks if has_marks else self._pattern
        yield from (match.span() for match in pattern.finditer(folded))

    def first(self, folded: str) -> Span | None:
        """Return the first range of `find`; None where there is none."""
        return next(self.find(folded), None)

    @property
    def may_be_sentinel(self) -> bool:
        """Whether it matches the mark of a stored message with images in the index."""
        is_start = self.is_prefix and _SENTINEL_WORD.startswith(self.words[-1])
        return is_start or _SENTINEL_WORD in self.words


Group = Sequence[Term]
"""Terms that must all match."""


def plain_match(group: Group) -> str:
    """Return for MATCH on the word index, which folds them itself: rows that have the words of a
    group as words."""
    return " AND ".join(
        fts_string(each.composed.strip()) + "*" * each.is_prefix for each in group if each.words
    )


def find_ranges(text: str, terms: Group) -> list[Span]:
    """Return the half-open ranges of a text that match, in code points, in order, overlaps
    merged."""
    folded = fold(text)
    merged: list[Span] = []
    for start, end in sorted(span for each in terms for span in each.find(folded)):
        if merged and start <= merged[-1][1]:
            start, last = merged.pop()
            end = max(end, last)
        merged.append((start, end))
    return merged
