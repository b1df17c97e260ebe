"""What a search asks SQLite: conditions on a row of `message_rows m` or of `conversations c`, and
expressions for MATCH that lead to all rows with a term, and to few others.

Tool calls, their results and messages with images are stored as JSON. To the word index the line
`\\npuffin` in it is the word `npuffin`, `\\u2019tis` is `u2019tis`, and `café` is two words, `caf`
and `u00e9`. The trigram index keeps accents, which a search ignores. What an expression leads to is
checked in the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import product
from typing import NamedTuple

from ..connection.reader import Reader
from ..connection.schema import FtsIndex
from ..connection.stored_values import first_texts
from ..messages.decode import REASONING_KEYS
from ..sessions.session_rows import MARKERS
from .terms import Group, Term, fold, fts_string, in_json, words_of


class Condition(NamedTuple):
    """A condition in SQL, with the values for its placeholders."""

    sql: str
    values: tuple[object, ...] = ()


EVERYTHING = Condition("1")


def all_of(conditions: Iterable[Condition]) -> Condition:
    """Return a condition that is true where all of these are."""
    parts = [each for each in conditions if each != EVERYTHING]
    return any_of(parts, " AND ") if parts else EVERYTHING


def any_of(conditions: Sequence[Condition], operator: str = " OR ") -> Condition:
    """Return a condition that is true where one of these is, or as another operator joins them."""
    sql = operator.join(f"({each.sql})" for each in conditions)
    return Condition(sql, tuple(value for each in conditions for value in each.values))


_CALLS = (
    "SELECT 1 FROM json_each(m.tool_calls) t WHERE lower(COALESCE("
    "json_extract(m.tool_calls, t.fullkey || '.function.name'), json_extract(m.tool_calls, t.fullkey || '.name'))) = ?"
)
"""The calls of one tool in a message; only for valid JSON."""
USES = (
    "lower(m.tool_name) = ? OR (instr(lower(m.tool_calls), ?) > 0 AND "
    f"CASE WHEN json_valid(m.tool_calls) THEN EXISTS ({_CALLS}) END)"
)
_MARKERS = ", ".join(f"json_extract(n.model_config, '$.{name}')" for name in MARKERS)
CONTINUED = (
    "m.session_id IN (SELECT s.id FROM session_rows s WHERE s.end_reason = 'compression' AND EXISTS "
    "(SELECT 1 FROM session_rows n WHERE n.parent_session_id = s.id AND n.source IS NOT 'tool' "
    "AND n.id <> s.id "  # a damaged file; of two that are the parent of each other the older begins
    "AND NOT (n.id IS s.parent_session_id AND (n.started_at, n.id) < (s.started_at, s.id)) AND "
    f"COALESCE(CASE WHEN json_valid(n.model_config) THEN s.id NOT IN ({_MARKERS}) END, 1)))"
)
"""Whether a compression ended the session and another one goes on (`sessions.relations.edge`), so
that the model has a summary of it."""
HAS_REASONING = " OR ".join(
    [
        "COALESCE(m.reasoning, '') <> ''",
        "COALESCE(m.reasoning_content, '') <> ''",
        *(f"instr(m.reasoning_details, '\"{key}\"') > 0" for key in REASONING_KEYS),
    ]
)
_IMAGES = ('"type": "image', '"type":"image', '"image_url":')
"""Of multimodal content, as JSON: within a text there is a backslash before each quote."""
HAS_IMAGE = " OR ".join(
    f"instr(CAST(m.content AS BLOB), CAST('{each}' AS BLOB)) > 0" for each in _IMAGES
)
HAS_FAILED = (
    "m.role = 'tool' AND has_failed(CAST(m.content AS BLOB), CAST(m.effect_disposition AS BLOB))"
)
AT = (
    "CASE typeof(m.timestamp) WHEN 'text' THEN CAST(strftime('%s', m.timestamp, 'utc') AS REAL) "
    "ELSE m.timestamp END"
)
"""The time of a message; other tools have written ISO times."""


# Of terms

_LINES = "ntr"
"""Letters of the escapes of JSON that an index joins to the word after them."""
_TEXTS = ("m.content", "m.tool_name", "m.tool_calls")
_HAS_ESCAPES = "instr(m.content, '\\u') > 0 OR instr(m.tool_calls, '\\u') > 0"
_NOT_ASCII = "length({text}) <> length(CAST({text} AS BLOB))"
"""Whether SQL cannot compare a text letter by letter: there are other letters than those of ASCII,
or a NUL ahead."""


def _may_contain(needles: Collection[str], test: str = "instr(lower({text}), ?) > 0") -> Condition:
    """Return a condition that is true for all rows with one of some folded ASCII texts."""
    tests = [Condition(test.format(text=text), (needle,)) for text in _TEXTS for needle in needles]
    tests += [Condition(_NOT_ASCII.format(text=text)) for text in _TEXTS]
    return any_of([*tests, Condition(_HAS_ESCAPES)])


def may_have(group: Iterable[Term]) -> Condition:
    """Return a condition that is true for all rows which have the terms of a group, and false for
    most others."""
    return all_of(map(_may_have_term, group))


def _may_have_term(each: Term) -> Condition:
    # What JSON may put an escape into, or before, is left out.
    parts = re.findall("[a-z0-9]+" if each.is_plain else r"[!#-.0-\[\]-~]+", each.spelling)
    if parts or each.composed.lower() != each.composed.upper():
        return _may_contain([max(parts, key=len)] if parts else ())
    # Chinese, emoji, signs
    piece = max(re.split(r'[\s"/\\]+', each.composed), key=len)
    within = [Condition(f"instr({text}, ?) > 0", (piece,)) for text in _TEXTS]
    return any_of([*within, Condition(_HAS_ESCAPES)])


def may_be_joined(group: Iterable[Term]) -> Condition:
    """Return a condition that is true for all rows in which a word of a group follows the escape of
    a line end, a tab or a sign, and false for most others: `hat` after a tab is `that` to the
    index."""
    starts = [re.split("[^a-z0-9]", word)[0] for each in group for word in each.words]
    patterns = [f"*\\[{_LINES}]{start}*" for start in starts]
    is_json = "substr(m.content, 1, 1) IN ('[', '{', '\"', '') OR m.tool_calls <> ''"
    return all_of([Condition(is_json), _may_contain(patterns, "lower({text}) GLOB ?")])


# Spellings in an index

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
_CASES: tuple[Callable[[str], str], ...] = (str, str.lower, str.upper, str.capitalize, str.title)
_MOST_TRIGRAMS = 300
"""With more trigrams than this, the rows themselves are scanned."""
_WINDOWS = 24
"""Trigrams of a long text that are looked up."""


def _any(expressions: Iterable[str]) -> str:
    """Return what is true where one of some expressions is; empty if one of these is, or there are
    none."""
    listed = dict.fromkeys(expressions)
    return f"({' OR '.join(listed)})" if listed and all(listed) else ""


def _phrase(words: Sequence[str], *, is_open: bool) -> str:
    return fts_string(" ".join(words)) + "*" * is_open


def _word(each: Term, number: int, starts: Iterable[str]) -> str:
    """Return one word of a term after one of some letters."""
    is_open = each.is_prefix and number == len(each.words) - 1
    return _any(_phrase([start + each.words[number]], is_open=is_open) for start in starts)


def _in_escapes(each: Term, starts: Iterable[str] = ()) -> Iterator[str]:
    """Yield a term as JSON spells it if letters beyond ASCII are escaped, its first word after one
    of some letters."""
    forms = [change(each.composed) for change in _CASES]
    if each.composed[:1] in "iI":  # the one letter that is two in lower case
        forms.append(f"\u0130{each.composed[1:]}")
    for form in forms:
        before, escape, rest = json.dumps(form)[1:-1].partition("\\u")
        if escape and each.words:
            first, *others = words_of(before + escape + rest)
            for start in starts:
                yield _phrase([start + first, *others], is_open=each.is_prefix)
        elif escape:  # what stands before the first one may belong to a longer word
            yield _phrase(words_of(escape + rest), is_open=True)


class Spellings:
    """How an index spells terms; StoreError if it cannot be read."""

    def __init__(self, reader: Reader, index: FtsIndex) -> None:
        self._reader, self._index = reader, index

    def _term_starts(self, low: str, beyond: str, length: int) -> Sequence[str]:
        """Return what the terms of the index in a range begin with: so many letters, each once.

        They are read from a virtual table in the temporary database of the connection
        (https://sqlite.org/fts5.html#the_fts5vocab_virtual_table_module).
        """
        reader, name = self._reader, self._index.name
        known, key = reader.kept, (name, low, length)
        if key not in known:
            table = f"temp.terms_of_{name}"
            for statement in (
                "PRAGMA temp_store=MEMORY",
                "PRAGMA query_only=0",
                f"CREATE VIRTUAL TABLE IF NOT EXISTS {table} USING fts5vocab('main', '{name}', 'instance')",
                "PRAGMA query_only=1",
            ):
                reader.rows(statement)
            first = f"SELECT term FROM {table} WHERE term >= {{least}} AND term < ?2 LIMIT 1"
            least, following = first.format(least="?1"), "substr(found, 1, ?3) || char(1114111)"
            rows = reader.rows(
                f"WITH RECURSIVE terms(found) AS (SELECT ({least}) UNION ALL "
                f"SELECT ({first.format(least=following)}) FROM terms WHERE found IS NOT NULL) "
                "SELECT DISTINCT substr(found, 1, ?3) FROM terms WHERE found IS NOT NULL "
                f"LIMIT {_MOST_TRIGRAMS + 1}",
                [low, beyond, length],
            )
            known[key] = first_texts(rows)
        return list(known[key])

    def _escapes(self, ranges: Iterable[tuple[str, str]]) -> Sequence[str]:
        """Return the escapes in some ranges that words of the index begin with."""
        starts = [start for each in ranges for start in self._term_starts(*each, 5)]
        return list(filter(_ESCAPE.fullmatch, starts))

    @cached_property
    def _starts(self) -> Sequence[str]:
        """What may stand before a word in JSON, as a part of it to the index; nothing first."""
        return ["", *_LINES, *self._escapes(_SIGNS)]

    # For MATCH on the word index

    def joined(self, group: Group) -> str:
        """Return for MATCH: rows that have a word of a group after a line end, a tab or a sign in
        JSON, or a term in escapes, and the other words in any spelling."""
        joined: list[str] = []
        for each in group:
            if each.words:
                joined += _in_escapes(each, self._starts)
                joined += (_word(each, at, self._starts[1:]) for at in range(len(each.words)))
        return " AND ".join(filter(None, [_any(joined), self.loose(group)]))

    def loose(self, group: Group) -> str:
        """Return for MATCH: rows that have the words of a group in any spelling and any order,
        prefixes aside; empty where there is nothing else."""
        parts = []
        for each in group:
            whole = len(each.words) - each.is_prefix
            if whole > 0:
                words = " AND ".join(_word(each, at, self._starts) for at in range(whole))
                parts.append(_any([f"({words})", *_in_escapes(each, self._starts)]))
        return " AND ".join(parts)

    def escaped(self, group: Group) -> str:
        """Return for MATCH: rows that may have one of the substrings of a group in escapes; the
        others may stand elsewhere in the row. Empty where there are none."""
        accents = self._escapes(_ACCENTED)
        parts: list[str] = []
        for each in group:
            if not each.words:
                within = [form for form in accents if fold(chr(int(form[1:], 16))) in each.spelling]
                parts += [*_in_escapes(each), *(_phrase([form], is_open=True) for form in within)]
        return _any(parts)

    # For MATCH on the trigram index

    def substrings(self, group: Group) -> str:
        """Return for MATCH: rows with the substrings of a group, with and without accents, and some
        more.

        Empty where there is no such expression, or it would be too long.
        """
        # Where a text is broken, there may be a line end or another blank.
        pieces = [piece for each in group if not each.words for piece in each.spelling.split()]
        forms = (in_json(piece, ensure_ascii=False) for piece in pieces)
        parts = (_any(map(self._substring, each)) for each in forms)
        return " AND ".join(filter(None, parts))

    def _substring(self, text: str) -> str:
        if len(text) < 3:
            return self._short(text)
        beyond_ascii = self._term_starts(*_LETTERS, 1)
        marks = [each for each in beyond_ascii if _MARKS[0] <= each < _MARKS[1]]
        forms = [
            [letter, *(each for each in beyond_ascii if fold(each) == letter != each)]
            for letter in text[: _WINDOWS + 2]
        ]
        triples = (
            product(first, [*second, *marks], [*third, *(second if marks else ()), *marks])
            for first, second, third in zip(forms, forms[1:], forms[2:], strict=False)
        )
        trigrams = (sorted(set(map("".join, each))) for each in triples)
        few = (each for each in trigrams if len(each) <= _MOST_TRIGRAMS)
        return " AND ".join(_any(map(fts_string, each)) for each in few)

    def _short(self, text: str) -> str:
        """Return an expression for one or two characters: all trigrams that begin with them.

        Each row of an inline index ends with two other characters, so that every row with the text
        has one of them. FTS5 folds letters with a case in its own way, and ASCII punctuation begins
        too many trigrams.
        """
        has_case = text.lower() != text.upper()
        if not self._index.is_inline or text.isascii() or has_case:
            return ""
        beyond = text[:-1] + chr(min(ord(text[-1]) + 1, 0x10FFFF))
        trigrams = self._term_starts(text, beyond, 3)
        if len(trigrams) > _MOST_TRIGRAMS:
            return ""
        return _any(map(fts_string, trigrams)) or fts_string(text)
