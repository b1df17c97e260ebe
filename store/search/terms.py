"""When a text contains a term, in Python and in the words of FTS5.

Both sides are folded as the word index folds them: case and Latin diacritics are dropped. A plain
word is matched whole, as in FTS5; a word with punctuation in it must be in the text literally;
Chinese, Japanese and Korean are matched anywhere, for they are written without spaces.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from .fold import JOINERS, MARKS, fold, has_cjk, has_marks
from .query import Query, Term, TermKind

_SENTINEL_WORD = "json"
"""The word that the index makes of `messages.SENTINEL`."""
SHORT_PREFIX = 2
"""Prefixes up to this length make FTS5 merge a good part of the index before the first row."""

_WORD = r"[^\W_]"
_WORDS = re.compile(rf"{_WORD}+")
_JOINER = re.compile(f"[{JOINERS}]")


@dataclass(frozen=True)
class Matcher:
    """One term, ready to be looked for."""

    term: Term
    anchor: str
    """What every match begins with: finding it is many times faster than a pattern."""
    spelling: str
    """The folded text of a match."""
    words: tuple[str, ...]
    """The words FTS5 makes of it; empty for CJK, emoji and bare punctuation."""
    is_prefix: bool
    is_substring: bool
    """Matched anywhere in a word: CJK, emoji, punctuation."""
    is_plain: bool
    """The word index decides alone; the text needs no check."""
    ignores_marks: bool = False
    """A substring that is matched in decomposed text too."""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """For folded text; only phrases need it, and compiling it takes longer than searching a
        row."""
        return self._compile()

    @cached_property
    def marked(self) -> re.Pattern[str]:
        """For folded text with combining marks (decomposed text)."""
        return self._compile(marks=f"[{MARKS}]*", letter=rf"(?:{_WORD}|[{MARKS}])")

    def _compile(self, marks: str = "", letter: str = _WORD) -> re.Pattern[str]:
        if self.is_substring and not self.ignores_marks:
            marks = ""

        def spell(text: str) -> str:
            return "".join(re.escape(each) + marks for each in text)

        body = r"[\W_]+".join(map(spell, self.words)) if self.is_plain else spell(self.spelling)
        at_start, at_end = self._edges
        return re.compile(
            (rf"(?<!{letter})" if at_start else "") + body + (rf"(?!{letter})" if at_end else "")
        )

    @cached_property
    def _edges(self) -> tuple[bool, bool]:
        """Whether a match must begin, and end, where a word does."""
        if self.is_substring:
            return False, False
        is_open = self.term.kind is TermKind.PREFIX
        # `isalnum` is true for the same letters as `[^\W_]`.
        return self.spelling[:1].isalnum(), not is_open and self.spelling[-1:].isalnum()

    def find(self, folded: str, marked: bool | None = None) -> Iterator[tuple[int, int]]:
        """Yield where a text from `fold` contains the term: half-open ranges in order.

        `marked` is `has_marks` of it, where that is known.
        """
        if has_marks(folded) if marked is None else marked:
            yield from (match.span() for match in self.marked.finditer(folded))
            return
        span = self._next(folded, 0)
        while span is not None:
            yield span
            span = self._next(folded, span[1])

    def first(self, folded: str, marked: bool | None = None) -> tuple[int, int] | None:
        """Return the first range of `find`; None where there is none."""
        return next(self.find(folded, marked), None)

    def in_folded(self, folded: str, marked: bool | None = None) -> bool:
        """Whether a folded text contains the term; arguments as of `find`."""
        return self.first(folded, marked) is not None

    def _next(self, folded: str, position: int) -> tuple[int, int] | None:
        """Return the first match from a position on, in a text without marks."""
        anchor, (at_start, at_end) = self.anchor, self._edges
        is_phrase, size = self.is_plain and len(self.words) > 1, len(anchor)
        position = folded.find(anchor, position)
        while position >= 0:
            if is_phrase:
                match = self.pattern.match(folded, position)
                if match is not None:
                    return match.span()
            else:
                end = position + size
                if not (at_start and position and folded[position - 1].isalnum()) and not (
                    at_end and folded[end : end + 1].isalnum()
                ):
                    return position, end
            position = folded.find(anchor, position + 1)
        return None

    @cached_property
    def index_words(self) -> tuple[str, ...]:
        """The words to look up in the word index; empty for what it cannot find.

        Most emoji are letters to it (`fold.JOINERS`), so that `🦊fox` is one word: terms with one
        are substrings.
        """
        return () if has_emoji(self.spelling) else self.words

    @property
    def text(self) -> str:
        """What was typed, composed."""
        return unicodedata.normalize("NFC", self.term.text).strip()

    @property
    def is_short(self) -> bool:
        """Whether it is a prefix that is expensive for the word index."""
        return (
            self.is_prefix and bool(self.index_words) and len(self.index_words[-1]) <= SHORT_PREFIX
        )

    @property
    def match(self) -> str:
        """The term for MATCH on the word index, quoted so that nothing in it is an operator; FTS5
        folds it itself."""
        return fts_string(self.text) + "*" * self.is_prefix


def has_emoji(text: str) -> bool:
    """Whether there is an emoji in a text that may be a letter to the word index."""
    return _JOINER.search(text) is not None


def words_of(folded: str) -> tuple[str, ...]:
    """Return the words in a folded text, without emoji and punctuation."""
    return tuple(_WORDS.findall(folded))


def fts_string(text: str) -> str:
    """Quote a text for MATCH: nothing in it is an operator."""
    return '"' + text.replace('"', '""') + '"'


@lru_cache(maxsize=128)
def matcher(term: Term) -> Matcher:
    """Return the matcher of a term; cached, as while typing only the last term is new."""
    folded = fold(unicodedata.normalize("NFC", term.text))
    words = words_of(folded)
    if has_cjk(term.text) or not words or term.kind is TermKind.INSIDE:
        anchor = folded.strip() or folded
        return Matcher(
            term, anchor, anchor, (), False, True, False, ignores_marks=term.kind is TermKind.INSIDE
        )
    # "two words"* is a prefix and a phrase: white space inside a term comes from quotes alone.
    phrase = term.kind is TermKind.PHRASE or any(map(str.isspace, folded))
    plain = (phrase or (len(words) == 1 and words[0] == folded)) and not has_emoji(folded)
    if phrase:  # from the first word to the last, as in FTS5
        folded = folded[folded.index(words[0]) :]
        folded = folded[: folded.rindex(words[-1]) + len(words[-1])]
    prefix = term.kind is TermKind.PREFIX and folded.endswith(words[-1])
    return Matcher(term, words[0] if plain else folded, folded, words, prefix, False, plain)


@dataclass(frozen=True)
class CompiledQuery:
    """A query ready to be checked against texts."""

    groups: tuple[tuple[Matcher, ...], ...]
    excluded: tuple[Matcher, ...]
    in_reasoning: bool = False
    """The texts are reasoning, not messages; no index holds those."""

    def accepts_folded(self, folded: str, marked: bool | None = None) -> bool:
        """Whether a folded text contains all terms of a group, and none that is excluded; arguments
        as of `find`."""
        marked = has_marks(folded) if marked is None else marked
        if any(each.in_folded(folded, marked) for each in self.excluded):
            return False
        return not self.groups or any(
            all(each.in_folded(folded, marked) for each in group) for group in self.groups
        )

    @cached_property
    def is_plain(self) -> bool:
        """Whether all of it can be said to MATCH: one group of plain words and prefixes."""
        if self.in_reasoning or any(map(_is_in_sentinel, self.matchers)):
            return False
        return (
            len(self.groups) == 1
            and not self.excluded
            and all(each.is_plain for each in self.groups[0])
        )

    @property
    def match(self) -> str:
        """All of it for MATCH, to rank by; terms the word index does not know are left out."""
        groups = (
            " AND ".join(each.match for each in group if each.index_words) for group in self.groups
        )
        return " OR ".join(f"({group})" for group in groups if group)

    @cached_property
    def matchers(self) -> list[Matcher]:
        """All terms that a snippet may highlight."""
        return [each for group in self.groups for each in group]


def _is_in_sentinel(each: Matcher) -> bool:
    """Whether the sentinel of a stored message with images matches the term in the index."""
    first = each.words[0] if each.words else ""
    return first == _SENTINEL_WORD or (
        len(each.words) == 1 and each.is_prefix and _SENTINEL_WORD.startswith(first)
    )


def compile_query(query: Query, *, prefix_last: bool = False) -> CompiledQuery:
    """Prepare a query; with `prefix_last`, while typing, the last word is a prefix until a space
    follows it."""
    last = max((term.end for term in query.terms), default=-1)
    typing = prefix_last and last == len(query.text)

    def ready(term: Term) -> Matcher:
        if typing and term.end == last and term.kind is TermKind.WORD:
            term = replace(term, kind=TermKind.PREFIX)
        return matcher(term)

    groups = tuple(tuple(map(ready, group)) for group in query.groups)
    file = _file_term(query)
    if file is not None:
        groups = tuple((*group, matcher(file)) for group in groups or ((),))
    return CompiledQuery(groups, tuple(map(matcher, query.excluded)), query.in_reasoning)


def _file_term(query: Query) -> Term | None:
    """Return the requested file as a term, so that an index finds it; None if JSON may spell it
    differently, or if several files are requested."""
    if len(query.files) != 1 or query.in_reasoning:
        return None
    name = query.files[0]
    if (
        not name.isascii()
        or not name[:1].isalnum()
        or not name[-1:].isalnum()
        or set(name) & set('\\"')
    ):
        return None
    return Term(name, TermKind.PREFIX, -1, -1)
