"""How the indexes of Hermes spell a term: expressions for MATCH that lead to all rows with it, and
to few others.

Tool calls, their results and messages with images are stored as JSON. To the word index the line
`\\npuffin` in it is the word `npuffin`, `\\u2019tis` is `u2019tis`, and `café` is two words, `caf`
and `u00e9`. The trigram index keeps accents, which a search ignores. What an expression leads to is
checked in the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import product
from math import prod

from ..connection.reader import Reader
from ..connection.schema import FtsIndex, FtsKind
from .conversation_table import Condition, all_of, any_of
from .fold import fold
from .terms import Matcher, fts_string, words_of

LINES = "ntr"
"""Letters of the escapes of JSON that the index joins to the word behind them."""
_SIGNS = (
    ("u0000", "u00c0"),
    ("u2000", "u2c00"),
    ("u3000", "u3030"),
    ("ufe0f", "ufe10"),
    ("uff00", "uff10"),
)
"""Ranges with the escapes of punctuation and symbols, as words of the index begin with them."""
_ACCENTED = (("u00c0", "u0250"), ("u1e00", "u1f00"))
"""Ranges with the escapes of accented letters."""
_ESCAPE = re.compile("u[0-9a-f]{4}")
_LETTERS = ("\u0080", "\u2200")
"""A range with all letters that fold to ASCII ones, and with the marks of decomposed text."""
_MARKS = ("\u0300", "\u0332")
_MOST_SPELLINGS = 24
_MOST_TRIGRAMS = 300
"""With more trigrams that begin with a text it is common, and the rows themselves are scanned."""


def _term_starts(
    reader: Reader, index: FtsIndex, between: tuple[str, str], length: int
) -> list[str]:
    """Return what the terms of an index in a range begin with: so many letters, each once, in
    order.

    The range is the smallest term and the first one too large. It is read from a virtual table
    in the temporary database of the connection
    (https://sqlite.org/fts5.html#the_fts5vocab_virtual_table_module).

    Raises:
        StoreError: The index cannot be read.
    """
    key = (index.name, between, length)
    known = reader.cache().term_starts
    if key not in known:
        table = _terms_table(reader, index)
        low, high = between
        beyond = "SELECT term FROM {table} WHERE term >= {least} AND term < ?2 LIMIT 1"
        first = beyond.format(table=table, least="?1")
        following = beyond.format(table=table, least="substr(found, 1, ?3) || char(1114111)")
        rows = reader.rows(
            f"WITH RECURSIVE terms(found) AS (SELECT ({first}) UNION ALL SELECT ({following}) FROM terms "
            "WHERE found IS NOT NULL) SELECT substr(found, 1, ?3) FROM terms WHERE found IS NOT NULL "
            f"LIMIT {_MOST_TRIGRAMS + 1}",
            [low, high, length],
        )
        known[key] = list(dict.fromkeys(str(row[0]) for row in rows))
    return known[key]


def _terms_table(reader: Reader, index: FtsIndex) -> str:
    name = f"temp.terms_of_{index.name}"
    for statement in (
        "PRAGMA temp_store=MEMORY",
        "PRAGMA query_only=0",
        f"CREATE VIRTUAL TABLE IF NOT EXISTS {name} USING fts5vocab('main', '{index.name}', 'instance')",
        "PRAGMA query_only=1",
    ):
        reader.rows(statement)
    return name


def _escapes(reader: Reader, index: FtsIndex, blocks: Sequence[tuple[str, str]]) -> list[str]:
    """Return the escapes in some ranges that words of the index begin with."""
    starts = [start for block in blocks for start in _term_starts(reader, index, block, 5)]
    return [
        each
        for each in starts
        if _ESCAPE.fullmatch(each) and (blocks is _ACCENTED) is _letter(each).isalpha()
    ]


def _letter(escape: str) -> str:
    return chr(int(escape[1:], 16))


def _any(expressions: Iterable[str]) -> str:
    given = list(dict.fromkeys(filter(None, expressions)))
    return given[0] if len(given) == 1 else f"({' OR '.join(given)})" if given else ""


def _phrase(words: Sequence[str], *, is_open: bool) -> str:
    return fts_string(" ".join(words)) + "*" * is_open


class Spellings:
    """The expressions for one group of terms, all of which must be in a row."""

    def __init__(self, reader: Reader, words: FtsIndex, group: Sequence[Matcher]) -> None:
        self._signs = _escapes(reader, words, _SIGNS)
        self._accents = _escapes(reader, words, _ACCENTED)
        self._terms = [each for each in group if each.index_words]
        self._escaped = {id(each): list(self._in_json(each)) for each in group}
        self._group = group

    def _in_json(self, each: Matcher) -> Iterator[str]:
        """Yield a term as JSON spells it in escapes: letters beyond ASCII, and a word behind the
        escape of a sign."""
        words, text = each.index_words, each.text
        if not words:  # a substring without its accents: what begins with one of them is read
            yield from (
                _phrase([form], is_open=True)
                for form in self._accents
                if fold(_letter(form)) in each.anchor
            )
        forms = (
            [text, text.lower(), text.upper(), text.capitalize(), text.title()] if words else [text]
        )
        if text[:1] in "iI" and words:  # the one letter that is two in lower case
            forms += [f"\u0130{text[1:]}"]
        for form in forms:
            escaped = json.dumps(form)[1:-1]
            if "\\u" not in escaped:
                continue
            # Inside a word, what stands before the first escape may belong to a longer one.
            spelled = words_of(escaped if words else escaped[escaped.find("\\u") :])
            yield _phrase(spelled, is_open=each.is_prefix or not words)
            if words:
                yield from (
                    _phrase((letter + spelled[0], *spelled[1:]), is_open=each.is_prefix)
                    for letter in LINES
                )
        if words:
            yield from (
                _phrase((sign + words[0], *words[1:]), is_open=each.is_prefix)
                for sign in self._signs
            )

    def _plain(self, each: Matcher) -> str:
        return _any([each.match, *self._escaped[id(each)]])

    def _joined(self, each: Matcher, place: int) -> str:
        """Return one word of a term, joined to the escape of a line end or a tab."""
        is_open = each.is_prefix and place == len(each.index_words) - 1
        return _any(
            _phrase([letter + each.index_words[place]], is_open=is_open) for letter in LINES
        )

    def _word(self, each: Matcher, place: int) -> str:
        is_open = each.is_prefix and place == len(each.index_words) - 1
        signs = (_phrase([sign + each.index_words[place]], is_open=is_open) for sign in self._signs)
        return _any(
            [_phrase([each.index_words[place]], is_open=is_open), self._joined(each, place), *signs]
        )

    def _in_any(self, each: Matcher) -> str:
        """Return all words of a term in any spelling, in any order."""
        words = " AND ".join(self._word(each, place) for place in range(len(each.index_words)))
        return _any([f"({words})", *self._escaped[id(each)]])

    @property
    def plain(self) -> str:
        """Rows that have the terms as words of the index, or in escapes."""
        return " AND ".join(map(self._plain, self._terms))

    @property
    def superset(self) -> str:
        """Rows that have the terms in any spelling; many of them do not."""
        return " AND ".join(map(self._in_any, self._terms))

    def cheap(self, expensive: Collection[Matcher]) -> str:
        """Return the same without the words of some terms that are prefixes; empty where there is
        nothing else."""
        parts = []
        for each in self._terms:
            if each in expensive:
                parts += [self._word(each, place) for place in range(len(each.index_words) - 1)]
            else:
                parts.append(self._in_any(each))
        return " AND ".join(parts)

    @property
    def escapes(self) -> str:
        """Rows that have the substrings of the group in escapes, and its words; empty where there
        are none."""
        substrings = [_any(self._escaped[id(each)]) for each in self._group if not each.index_words]
        if not any(substrings):
            return ""
        prefixes = [each for each in self._terms if each.is_prefix]
        return " AND ".join(filter(None, [*substrings, self.cheap(prefixes)]))

    def joined(self) -> tuple[str, Condition]:
        """Return for MATCH and for the rows it finds: a word of the group follows a line end or a
        tab in JSON.

        `hat` behind a tab is `that` to the index: the condition tells them apart.
        """
        expressions: list[str] = []
        conditions: list[Condition] = []
        # Each prefix is merged for each time it is named: a rest is of whole words.
        whole = [
            (each, place)
            for each in self._terms
            for place in range(len(each.index_words) - each.is_prefix)
        ]
        for each in self._terms:
            for place, word in enumerate(each.index_words):
                rest = [self._word(*other) for other in whole if other != (each, place)]
                expressions.append(f"({' AND '.join([self._joined(each, place), *rest])})")
                pattern = f"*\\[{LINES}]{re.split('[^a-z0-9]', word)[0]}*"
                may_be_json = ("substr(m.content, 1, 1) IN ('[', '{', '\"', '')", "m.content")
                for condition, text in (may_be_json, ("m.tool_calls <> ''", "m.tool_calls")):
                    joined = (
                        f"{condition} AND (lower({text}) GLOB ? OR {_NOT_ASCII.format(text=text)})"
                    )
                    conditions.append(Condition(joined, (pattern,)))
        return " OR ".join(expressions), any_of(conditions)


_NOT_ASCII = "length({text}) <> length(CAST({text} AS BLOB))"
"""Whether SQL cannot compare a text letter by letter: there are other letters than those of ASCII,
or a NUL ahead."""


def narrowing(group: Sequence[Matcher]) -> Condition:
    """Return a condition that is true for all rows which may have the terms of a group, and false
    for most others."""
    conditions = []
    for each in group:
        # What JSON may put an escape into, or before, is left out.
        parts = re.findall("[a-z0-9]+" if each.is_plain else r"[ !#-.0-\[\]-~]+", each.spelling)
        needle = max(parts, key=len, default="")
        found = [
            _may_contain(text, needle, each.text)
            for text in ("m.content", "m.tool_name", "m.tool_calls")
        ]
        conditions.append(any_of([*found, Condition(HAS_ESCAPES)]))
    return all_of(conditions)


HAS_ESCAPES = "instr(m.content, '\\u') > 0 OR instr(m.tool_calls, '\\u') > 0"


def narrowing_of_images(group: Sequence[Matcher]) -> Condition:
    """Return the same for messages with images, whose texts are JSON in ASCII; true where all terms
    are in escapes."""
    anchors = [each.anchor for each in group if not each.index_words]
    return all_of(
        Condition("instr(lower(m.content), ?) > 0", (each,)) for each in anchors if each.isascii()
    )


def _may_contain(text: str, needle: str, typed: str) -> Condition:
    if needle:
        return Condition(
            f"instr(lower({text}), ?) > 0 OR {_NOT_ASCII.format(text=text)}", (needle,)
        )
    if typed.upper() == typed.lower():  # Chinese, emoji, signs
        return Condition(f"instr({text}, ?) > 0", (typed,))
    return Condition(_NOT_ASCII.format(text=text))


# Substrings, for the trigram index


def _variants(reader: Reader, index: FtsIndex) -> dict[str, list[str]]:
    """Return for each folded letter the accented ones that occur in the store, and the combining
    marks under ""."""
    found: dict[str, list[str]] = {}
    for letter in _term_starts(reader, index, _LETTERS, 1):
        if _MARKS[0] <= letter < _MARKS[1]:
            found.setdefault("", []).append(letter)
        elif fold(letter) != letter:
            found.setdefault(fold(letter), []).append(letter)
    return found


def substring_match(reader: Reader, index: FtsIndex, each: Matcher) -> str:
    """Return for MATCH on the trigram index: all rows with a substring, and some more.

    Empty where there is no such expression, or it would be too long.
    """
    text = each.anchor
    if len(text) < 3:
        trigrams = _trigrams_from(reader, index, text)
        return "" if trigrams is None else _any(map(fts_string, trigrams)) or fts_string(text)
    has_letters = any(letter.isascii() and letter.isalpha() for letter in text)
    variants = _variants(reader, index) if has_letters else {}
    forms = [(letter, *variants.get(letter, ())) for letter in text]
    plain = _within_limits(forms)
    if not plain:
        return ""
    marks = variants.get("", [])
    marked = []
    for at, letters in enumerate(forms[:-1]):
        before = forms[at - 1] if at else ("",)
        after = ("",) if at else forms[1]
        marked += ["".join(three) for three in product(before, letters, marks, after)]
    return _any([plain, *map(fts_string, marked)])


def _trigrams_from(reader: Reader, index: FtsIndex, text: str) -> list[str] | None:
    """Return all trigrams that begin with one or two characters; None where they cannot be told, or
    are too many.

    Each row of an inline index ends with two other characters, so that every row with the text has
    one of them. FTS5 folds letters with a case in its own way, and ASCII punctuation begins too
    many trigrams.
    """
    last = ord(text[-1]) + 1
    has_case = any(letter.lower() != letter.upper() for letter in text)
    if index.kind is not FtsKind.INLINE or text.isascii() or has_case or last in (0xD800, 0x110000):
        return None
    trigrams = _term_starts(reader, index, (text, text[:-1] + chr(last)), 3)
    return trigrams if len(trigrams) <= _MOST_TRIGRAMS else None


def _within_limits(forms: Sequence[Sequence[str]]) -> str:
    """Return a text with and without accents; a part of it where that is too many, at worst
    nothing."""
    for length in (len(forms), 5, 3):
        for start in range(max(len(forms) - length, 0) + 1):
            part = forms[start : start + length]
            if prod(map(len, part)) <= _MOST_SPELLINGS:
                return _any(fts_string("".join(letters)) for letters in product(*part))
    return ""
