"""What it means that a text contains a term, in Python and in the words of FTS5.

Both sides are folded as the word index folds them: case and Latin diacritics go. A plain word is
matched whole, as FTS5 does; a word with punctuation in it must stand in the text literally; Chinese,
Japanese and Korean are matched anywhere, for they are written without spaces.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from .fold import JOINERS, MARKS, caseless_part, fold, has_cjk, has_marks
from .query import Query, Term, TermKind

_MARK = "json"
"""The word that the index makes of it (`messages.SENTINEL`)."""
SHORT_PREFIX = 2
"""Prefixes up to this long make FTS5 merge a good part of the index before the first row."""

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
    """The folded text a match is made of."""
    words: tuple[str, ...]
    """The words FTS5 makes of it; empty for CJK, emoji and bare punctuation."""
    is_prefix: bool
    is_substring: bool
    """Matched anywhere in a word: CJK, emoji, punctuation."""
    is_plain: bool
    """The word index decides alone; nothing is left to check in the text."""
    skips_marks: bool = False
    """Matched anywhere, in decomposed text too."""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """For folded text; only phrases need it, and to compile one takes longer than to look through a row."""
        return self._compiled(marked=False)

    @cached_property
    def marked(self) -> re.Pattern[str]:
        """The same for folded text that holds combining marks (decomposed text)."""
        return self._compiled(marked=True)

    def _compiled(self, *, marked: bool) -> re.Pattern[str]:
        if self.is_substring:
            between = f"[{MARKS}]*" if marked and self.skips_marks else ""
            return re.compile("".join(re.escape(letter) + between for letter in self.anchor))
        return _pattern(self.spelling, self.words, self.term, plain=self.is_plain, marked=marked)

    @cached_property
    def _edges(self) -> tuple[bool, bool]:
        """Whether a match must begin, and end, where a word does."""
        if self.is_substring:
            return False, False
        open_ended = self.term.kind is TermKind.PREFIX
        return self.spelling[:1].isalnum(), not open_ended and self.spelling[-1:].isalnum()

    def find(self, folded: str, marked: bool | None = None) -> Iterator[tuple[int, int]]:
        """Where a folded text contains the term: half-open ranges in order.

        Args:
            folded: From `fold`.
            marked: What `has_marks` says of it, where that is known.
        """
        if has_marks(folded) if marked is None else marked:
            yield from (match.span() for match in self.marked.finditer(folded))
            return
        span = self._next(folded, 0)
        while span is not None:
            yield span
            span = self._next(folded, span[1])

    def first(self, folded: str, marked: bool | None = None) -> tuple[int, int] | None:
        """The first range of `find`; None where there is none."""
        if has_marks(folded) if marked is None else marked:
            match = self.marked.search(folded)
            return match.span() if match is not None else None
        return self._next(folded, 0)

    def in_folded(self, folded: str, marked: bool | None = None) -> bool:
        """Whether a folded text contains the term; arguments as of `find`."""
        return self.first(folded, marked) is not None

    def _next(self, folded: str, position: int) -> tuple[int, int] | None:
        """The first match from a position on, in a text without marks."""
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
                # `isalnum` is what `[^\W_]` means, letter for letter.
                if not (at_start and position and folded[position - 1].isalnum()) and not (
                    at_end and folded[end : end + 1].isalnum()
                ):
                    return position, end
            position = folded.find(anchor, position + 1)
        return None

    @cached_property
    def asked(self) -> tuple[str, ...]:
        """The words the word index may be asked for. Most emoji are letters to it (`fold.JOINERS`), so that `🦊fox` is
        one word: terms with one are looked for as substrings."""
        return () if _JOINER.search(self.spelling) else self.words

    @property
    def is_inside(self) -> bool:
        """Whether the substring index leads to it, and the word index does not."""
        return not self.asked

    @property
    def is_short(self) -> bool:
        """A prefix that is dear to ask of the word index."""
        return self.is_prefix and bool(self.asked) and len(self.asked[-1]) <= SHORT_PREFIX

    @property
    def fts(self) -> str:
        """The term for MATCH, quoted so that nothing in it is an operator; FTS5 folds it itself."""
        quoted = quote(self.term.text)
        return quoted + "*" if self.is_prefix else quoted

    @property
    def cheap_fts(self) -> str:
        """The term for MATCH without a short prefix at its end; empty when nothing is left."""
        if not self.is_short:
            return self.fts
        return quote(" ".join(self.words[:-1])) if len(self.words) > 1 else ""

    @property
    def trigram(self) -> str:
        """The term for MATCH on a trigram table; empty when it is too short for one."""
        text = unicodedata.normalize("NFC", self.term.text).strip()
        return quote(text) if len(text) >= 3 else ""

    @cached_property
    def in_json(self) -> tuple[tuple[str, ...], ...]:
        """The words that JSON makes of a term that is not ASCII (`caf\\u00e9`: caf, u00e9), in likely cases.

        What stands before the first escape of a substring may be a part of a longer word and is left out.
        """
        text = unicodedata.normalize("NFC", self.term.text).strip()
        if text.isascii():
            return ()
        spelled = [json.dumps(each)[1:-1] for each in (_cases(text) if self.asked else (text,))]
        if not self.asked:
            spelled = [each[each.find("\\u") :] for each in spelled]
        return tuple(dict.fromkeys(tuple(_WORDS.findall(each)) for each in spelled))

    @property
    def range_of_trigrams(self) -> tuple[str, str] | None:
        """Where the trigrams stand that begin with a term too short to be one: first, and the first beyond.

        None for all others, for what has a case (how FTS5 folds it is its own affair), and for ASCII signs: they
        begin so many trigrams that to look those up takes longer than to look through the rows.
        """
        text = unicodedata.normalize("NFC", self.term.text).strip()
        if not self.is_inside or text.isascii() or len(text) > 2:
            return None
        text = "".join(each.lower() if each.isascii() else each for each in text)
        last = ord(text[-1]) + 1
        if any(not each.isascii() and each.lower() != each.upper() for each in text) or last in (0xD800, 0x110000):
            return None
        return text, text[:-1] + chr(last)

    @property
    def needle(self) -> str:
        """What `instr` may look for in the stored text; empty when only Python can tell."""
        return caseless_part(self.anchor) if self.is_inside else ""


def has_emoji(text: str) -> bool:
    """Whether there is an emoji in a text that may be a letter to the word index."""
    return _JOINER.search(text) is not None


def words_of(folded: str) -> tuple[str, ...]:
    """The words in a folded text, without emoji and punctuation."""
    return tuple(_WORDS.findall(folded))


def _cases(text: str) -> tuple[str, ...]:
    return text, text.lower(), text.upper(), text.capitalize(), text.title()


def quote(text: str) -> str:
    """A text for MATCH in which nothing is an operator."""
    return '"' + unicodedata.normalize("NFC", text).replace('"', '""') + '"'


def _pattern(folded: str, words: Sequence[str], term: Term, *, plain: bool, marked: bool) -> re.Pattern[str]:
    def spell(text: str) -> str:
        return f"[{MARKS}]*".join(map(re.escape, text)) + f"[{MARKS}]*" if marked else re.escape(text)

    inside = rf"(?:{_WORD}|[{MARKS}])" if marked else _WORD
    body = r"[\W_]+".join(map(spell, words)) if plain else spell(folded)
    before = rf"(?<!{inside})" if re.match(_WORD, folded) else ""
    after = rf"(?!{inside})" if term.kind is not TermKind.PREFIX and re.match(_WORD, folded[-1:]) else ""
    return re.compile(before + body + after)


@lru_cache(maxsize=128)
def matcher(term: Term) -> Matcher:
    """Get a term ready; while typing, all but the last have been.

    Args:
        term: Of a parsed query.
    """
    folded = fold(unicodedata.normalize("NFC", term.text))
    words = tuple(_WORDS.findall(folded))
    if has_cjk(term.text) or not words or term.kind is TermKind.INSIDE:
        anchor = folded.strip() or folded
        return Matcher(term, anchor, anchor, (), False, True, False, skips_marks=term.kind is TermKind.INSIDE)
    # "two words"* is a prefix and a phrase: white space inside a term comes from quotes alone.
    phrase = term.kind is TermKind.PHRASE or any(map(str.isspace, folded))
    plain = (phrase or (len(words) == 1 and words[0] == folded)) and not _JOINER.search(folded)
    if phrase:  # quotes inside quotes: the words decide, as in FTS5
        folded = folded[folded.index(words[0]) :]
        folded = folded[: folded.rindex(words[-1]) + len(words[-1])]
    prefix = term.kind is TermKind.PREFIX and folded.endswith(words[-1])
    return Matcher(term, words[0] if plain else folded, folded, words, prefix, False, plain)


@dataclass(frozen=True)
class Plan:
    """A query ready to be run against texts."""

    groups: tuple[tuple[Matcher, ...], ...]
    excluded: tuple[Matcher, ...]
    in_reasoning: bool = False
    """The texts are what was thought, not what was said; no index holds those."""

    def accepts(self, text: str) -> bool:
        """Whether a text contains what is looked for and nothing that is left out."""
        return self.accepts_folded(fold(text))

    def accepts_folded(self, folded: str, marked: bool | None = None) -> bool:
        """The same of a text that is folded already; `marked` is what `has_marks` says of it, where that is known."""
        marked = has_marks(folded) if marked is None else marked
        if any(each.in_folded(folded, marked) for each in self.excluded):
            return False
        return not self.groups or any(all(each.in_folded(folded, marked) for each in group) for group in self.groups)

    @cached_property
    def index_decides(self) -> bool:
        """One group of plain words without prefixes: MATCH is the whole truth, and all that is asked."""
        return self.is_plain and not any(each.is_prefix for each in self.matchers)

    @cached_property
    def is_plain(self) -> bool:
        """One group of plain words and prefixes: all of it can be said to MATCH."""
        if self.in_reasoning or any(map(_is_in_mark, self.matchers)):
            return False
        return len(self.groups) == 1 and not self.excluded and all(each.is_plain for each in self.groups[0])

    @property
    def match(self) -> str:
        """The whole of it for MATCH, to be ranked by; terms the word index does not know are left out."""
        groups = (" AND ".join(each.fts for each in group if each.asked) for group in self.groups)
        return " OR ".join(f"({group})" for group in groups if group)

    @cached_property
    def matchers(self) -> list[Matcher]:
        """All that may be lit in a snippet."""
        return [each for group in self.groups for each in group]


def _is_in_mark(each: Matcher) -> bool:
    """Whether the index may have the term for no more than the mark that a stored message with pictures begins with."""
    first = each.words[0] if each.words else ""
    return first == _MARK or (len(each.words) == 1 and each.is_prefix and _MARK.startswith(first))


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
    file = _file_term(query)
    if file is not None:
        groups = tuple((*group, matcher(file)) for group in groups or ((),))
    return Plan(groups, tuple(matcher(term) for term in query.excluded), query.in_reasoning)


def _file_term(query: Query) -> Term | None:
    """The file asked for as a term, so that an index leads to it; None where the JSON of a call spells it otherwise,
    or where it is one of several.
    """
    if len(query.files) != 1 or query.in_reasoning:
        return None
    name = query.files[0]
    if not name.isascii() or not name[:1].isalnum() or not name[-1:].isalnum() or set(name) & set('\\"'):
        return None
    return Term(name, TermKind.PREFIX, -1, -1)
