"""What it means that a text contains a term, in Python and in the words of FTS5.

Both sides are folded as the word index folds them: case and Latin diacritics go. A plain word is
matched whole, as FTS5 does; a word with punctuation in it must stand in the text literally; Chinese,
Japanese and Korean are matched anywhere, for they are written without spaces.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from .query import Query, Term, TermKind

_WORD = r"[^\W_]"
_WORDS = re.compile(rf"{_WORD}+")
_CJK = re.compile(
    "[\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3040-\u30ff\u3100-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
)


@lru_cache(maxsize=4096)
def _fold_letter(letter: str) -> str:
    base = "".join(each for each in unicodedata.normalize("NFD", letter) if not unicodedata.combining(each))
    lowered = base.lower() if base else ""
    # One code point for one, so that positions in the folded text are positions in the text.
    return lowered if len(lowered) == 1 else letter.lower() if len(letter.lower()) == 1 else letter


def fold(text: str) -> str:
    """The text without case and diacritics, position by position."""
    if text.isascii():
        return text.lower()
    return "".join(map(_fold_letter, text))


def has_cjk(text: str) -> bool:
    """Whether any letter is Chinese, Japanese or Korean."""
    return _CJK.search(text) is not None


@dataclass(frozen=True)
class Matcher:
    """One term, ready to be looked for."""

    term: Term
    pattern: re.Pattern[str]
    """For folded text."""
    words: tuple[str, ...]
    """The words FTS5 makes of it; empty for emoji and bare punctuation."""
    is_prefix: bool
    is_substring: bool
    """Matched anywhere in a word: CJK, emoji, punctuation."""
    is_plain: bool
    """The word index decides alone; nothing is left to check in the text."""

    def in_folded(self, folded: str) -> bool:
        """Whether a folded text contains the term."""
        return self.pattern.search(folded) is not None

    @property
    def fts(self) -> str:
        """The term for MATCH, quoted so that nothing in it is an operator."""
        quoted = '"' + " ".join(self.words) + '"'
        return quoted + "*" if self.is_prefix else quoted

    @property
    def trigram(self) -> str:
        """The term for MATCH on a trigram table."""
        return '"' + self.term.text.replace('"', '""') + '"'


def _pattern(folded: str, words: Sequence[str], kind: TermKind, *, plain: bool) -> re.Pattern[str]:
    by_words = plain or kind is TermKind.PHRASE
    body = r"[\W_]+".join(map(re.escape, words)) if by_words else re.escape(folded)
    before = rf"(?<!{_WORD})" if re.match(_WORD, folded) else ""
    after = rf"(?!{_WORD})" if kind is not TermKind.PREFIX and re.match(_WORD, folded[-1:]) else ""
    return re.compile(before + body + after)


def matcher(term: Term) -> Matcher:
    """Get a term ready.

    Args:
        term: Of a parsed query.
    """
    folded = fold(unicodedata.normalize("NFC", term.text))
    words = tuple(_WORDS.findall(folded))
    if has_cjk(term.text) or not words:
        pattern = re.compile(re.escape(folded.strip() or folded))
        return Matcher(term, pattern, () if has_cjk(term.text) else words, False, True, False)
    plain = term.kind is TermKind.PHRASE or (len(words) == 1 and words[0] == folded)
    if term.kind is TermKind.PHRASE:  # quotes inside quotes: the words decide, as in FTS5
        folded = folded[folded.index(words[0]) :]
        folded = folded[: folded.rindex(words[-1]) + len(words[-1])]
    prefix = term.kind is TermKind.PREFIX and folded.endswith(words[-1])
    return Matcher(term, _pattern(folded, words, term.kind, plain=plain), words, prefix, False, plain)


@dataclass(frozen=True)
class Plan:
    """A query ready to be run against texts."""

    groups: tuple[tuple[Matcher, ...], ...]
    excluded: tuple[Matcher, ...]

    def accepts(self, text: str) -> bool:
        """Whether a text contains what is looked for and nothing that is left out."""
        folded = fold(text)
        if any(each.in_folded(folded) for each in self.excluded):
            return False
        return not self.groups or any(all(each.in_folded(folded) for each in group) for group in self.groups)

    @property
    def matchers(self) -> list[Matcher]:
        """All that may be lit in a snippet."""
        return [each for group in self.groups for each in group]


def make_plan(query: Query, *, prefix_last: bool = False) -> Plan:
    """Get a query ready.

    Args:
        query: Parsed.
        prefix_last: While typing, the last word is the beginning of one, until a space follows it.
    """
    last = max((term.end for term in query.terms), default=-1)
    typing = prefix_last and last == len(query.text)

    def ready(term: Term) -> Matcher:
        if typing and term.end == last and term.kind is TermKind.WORD:
            term = Term(term.text, TermKind.PREFIX, term.start, term.end)
        return matcher(term)

    groups = tuple(tuple(ready(term) for term in group) for group in query.groups)
    return Plan(groups, tuple(matcher(term) for term in query.excluded))
