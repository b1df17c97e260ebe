"""The query language: plain words are literal, everything else is opt-in; nothing a person types is an error.

`words`, `"a phrase"`, `OR` (upper case), `-word` or `NOT word`, `prefix*`, and filters `key:value`.
AND binds tighter than OR and need not be written, as in FTS5.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

FILTER_KEYS = ("source", "role", "tool", "title", "id", "cwd", "model", "before", "after", "on", "is", "has")
"""Filters written `key:value`."""
NUMBER_KEYS = ("cost", "msgs", "tokens")
"""Filters written `key>value`, also with `<`, `>=`, `<=`."""

_NUMBER = re.compile(r"(cost|msgs|tokens)(>=|<=|>|<|:|=)(.*)", re.IGNORECASE)
_OPERATORS = ("AND", "OR", "NOT")
_MOST = 2048


class TermKind(StrEnum):
    """How a term is meant."""

    WORD = "word"
    PHRASE = "phrase"
    PREFIX = "prefix"


@dataclass(frozen=True, slots=True)
class Term:
    """Something a chat message must contain."""

    text: str
    kind: TermKind
    start: int
    """Position in the query, code points."""
    end: int


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition on the message or its conversation."""

    key: str
    op: str
    value: str
    negated: bool
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Problem:
    """A part of the query that could not be taken as meant, and why."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query."""

    text: str
    groups: tuple[tuple[Term, ...], ...] = ()
    """Any of these, each with all of its terms."""
    excluded: tuple[Term, ...] = ()
    filters: tuple[Filter, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Nothing to look for: no term and no filter."""
        return not self.groups and not self.filters

    @property
    def terms(self) -> tuple[Term, ...]:
        """All terms that may match."""
        return tuple(term for group in self.groups for term in group)


@dataclass(slots=True)
class _Token:
    text: str
    start: int
    end: int
    quoted: bool
    negated: bool = False
    key: str = ""
    open_quote: bool = False


def _tokens(text: str) -> list[_Token]:
    """Split at white space outside quotes; a quote opens only at the start of a word or of a filter's value."""
    found: list[_Token] = []
    position, length = 0, len(text)
    while position < length:
        if text[position].isspace():
            position += 1
            continue
        start = position
        negated = text[position] == "-" and position + 1 < length and not text[position + 1].isspace()
        if negated:
            position += 1
        key = ""
        match = re.compile(r"([A-Za-z]+):(?=\")").match(text, position)
        if match and match[1].lower() in FILTER_KEYS:
            key, position = match[1].lower(), match.end()
        if position < length and text[position] == '"':
            close = text.find('"', position + 1)
            if close == -1:
                found.append(_Token('"', position, position + 1, False, open_quote=True))
                position += 1
                continue
            inner, position = text[position + 1 : close], close + 1
            starred = position < length and text[position] == "*" and not key
            position += starred
            found.append(_Token(inner + "*" * starred, start, position, True, negated, key))
            continue
        while position < length and not text[position].isspace():
            position += 1
        found.append(_Token(text[start + negated : position], start, position, False, negated))
    return found


def _strip_grouping(word: str) -> str:
    """Without a parenthesis whose partner stands in another word: that one groups, `main()` is literal."""
    while word.startswith("(") and word.count("(") > word.count(")"):
        word = word[1:]
    while word.endswith(")") and word.count(")") > word.count("("):
        word = word[:-1]
    return word


def _filter(token: _Token) -> Filter | None:
    if token.key:
        return Filter(token.key, ":", token.text, token.negated, token.start, token.end)
    if token.quoted:
        return None
    number = _NUMBER.fullmatch(token.text)
    if number:
        return Filter(number[1].lower(), number[2], number[3], token.negated, token.start, token.end)
    key, colon, value = token.text.partition(":")
    if colon and key.lower() in FILTER_KEYS and not value.startswith("//"):
        return Filter(key.lower(), ":", value, token.negated, token.start, token.end)
    return None


def _term(token: _Token) -> Term | None:
    text, kind = token.text, TermKind.PHRASE if token.quoted else TermKind.WORD
    if not token.quoted:
        text = _strip_grouping(text)
    if text.endswith("*"):
        bare = text.rstrip("*")
        if bare.strip():
            return Term(bare, TermKind.PREFIX, token.start, token.end)
        return None
    if not text.strip():
        return None
    return Term(text, kind, token.start, token.end)


def parse(text: str) -> Query:
    """Parse what a person typed; never raises.

    Args:
        text: Anything; past 2,048 code points it is cut, as Hermes does.
    """
    text = text[:_MOST].replace("\x00", " ")
    tokens = [token for token in _tokens(text) if not token.open_quote]
    problems = [
        Problem(token.start, token.end, "a quotation mark without its partner: left out")
        for token in _tokens(text)
        if token.open_quote
    ]

    def is_operator(token: _Token) -> bool:
        return not token.quoted and not token.negated and token.text in _OPERATORS

    # Hermes drops one operator at each end, in any case: "hello AND", "OR hello", "NOT hello".
    if tokens and not tokens[0].quoted and tokens[0].text.upper() in _OPERATORS and tokens[0].text.isupper():
        tokens = tokens[1:]
    if tokens and is_operator(tokens[-1]):
        tokens = tokens[:-1]
    groups: list[list[Term]] = [[]]
    excluded: list[Term] = []
    filters: list[Filter] = []
    negate = False
    for token in tokens:
        if is_operator(token):
            if token.text == "OR" and groups[-1]:
                groups.append([])
            negate = token.text == "NOT"
            continue
        condition = _filter(token)
        if condition is not None and condition.value:
            if negate and not condition.negated:
                condition = Filter(condition.key, condition.op, condition.value, True, condition.start, condition.end)
            filters.append(condition)
        elif condition is not None:
            problems.append(Problem(token.start, token.end, f"{condition.key}: wants a value"))
        else:
            term = _term(token)
            if term is not None:
                (excluded if negate or token.negated else groups[-1]).append(term)
        negate = False
    kept = tuple(tuple(group) for group in groups if group)
    if excluded and not kept:
        first = excluded[0]
        problems.append(Problem(first.start, first.end, "something to leave out, but nothing to look for"))
    return Query(text, kept, tuple(excluded), tuple(filters), tuple(problems))
