"""The query language: plain words are literal, everything else is opt-in; nothing a person types is an error.

`words`, `"a phrase"`, `OR` (upper case), `-word` or `NOT word`, `prefix*`, `*inside*`, and filters `key:value`.
AND binds tighter than OR and need not be written, as in FTS5.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from difflib import get_close_matches
from enum import StrEnum

from ..wording import _
from .filters import BY_KEY, FILTER_KEYS, MEANT, NUMBER_KEYS, reason_against

_NUMBER = re.compile(rf"({'|'.join(NUMBER_KEYS)})(>=|<=|>|<|:|=)(.*)", re.IGNORECASE)
_VALUE_QUOTE = re.compile(r'([A-Za-z]+):(?=")')
_OPERATORS = ("AND", "OR", "NOT")
_MOST = 2048


class TermKind(StrEnum):
    """How a term is meant."""

    WORD = "word"
    PHRASE = "phrase"
    PREFIX = "prefix"
    INSIDE = "inside"
    """Anywhere in a word."""


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
    is_value: bool = False
    """A filter that wants a number or a date has none: nothing like it can be searched for."""


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

    @property
    def in_reasoning(self) -> bool:
        """Whether the words are looked for in reasoning instead of in what was said (`in:reasoning`)."""
        return any(each.key == "in" and not each.negated for each in self.filters)

    @property
    def files(self) -> tuple[str, ...]:
        """Files whose edits and mentions are asked for (`file:src/main.py`)."""
        return tuple(each.value for each in self.filters if each.key == "file" and not each.negated)


@dataclass(slots=True)
class _Token:
    text: str
    start: int
    end: int
    quoted: bool
    negated: bool = False
    key: str = ""
    starred: bool = False


def _tokens(text: str) -> tuple[list[_Token], list[Problem]]:
    """Split at white space outside quotes; a quote opens only at the start of a word or of a filter's value.

    Returns:
        The tokens, and a problem for a quotation mark that has no partner: it is left out, and what
        follows it reads as if it were not there.
    """
    found: list[_Token] = []
    problems: list[Problem] = []
    position, length = 0, len(text)
    while position < length:
        if text[position].isspace():
            position += 1
            continue
        start = position
        # One dash leaves out; two begin a command line option, which is as literal as any word.
        negated = text[position] == "-" and text[position + 1 : position + 2].strip() not in ("", "-")
        position += negated
        match = _VALUE_QUOTE.match(text, position)
        key = match[1].lower() if match and match[1].lower() in FILTER_KEYS else ""
        position = match.end() if match and key else position
        if text[position : position + 1] == '"':
            close = text.find('"', position + 1)
            if close >= 0:
                inner, position = text[position + 1 : close], close + 1
                starred = not key and text[position : position + 1] == "*"
                position += starred
                found.append(_Token(inner, start, position, True, negated, key, starred))
                continue
            problems.append(Problem(position, position + 1, _("a quotation mark without its partner: left out")))
            position += 1
        begin = position
        while position < length and not text[position].isspace():
            position += 1
        if position > begin:
            found.append(_Token(text[begin:position], start, position, False, negated, key))
    return found, problems


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
    text, kind = token.text, TermKind.PREFIX if token.starred else TermKind.PHRASE
    if not token.quoted:
        text = _strip_grouping(text)
        kind = TermKind.PREFIX if text.endswith("*") else TermKind.WORD
        if kind is TermKind.PREFIX and text.startswith("*"):
            kind, text = TermKind.INSIDE, text.lstrip("*")
        text = text.rstrip("*")
    return Term(text, kind, token.start, token.end) if text.strip() else None


def _is_operator(token: _Token, *, any_case: bool = False) -> bool:
    word = token.text.upper() if any_case else token.text
    return not (token.quoted or token.negated or token.key) and word in _OPERATORS


def _without_dangling(tokens: list[_Token]) -> list[_Token]:
    """Without one operator at each end, in any case, as Hermes does: "hello AND", "OR hello", "not hello".

    A lower-case one that stands alone is the word looked for.
    """
    for end in (0, -1):
        if tokens and _is_operator(tokens[end], any_case=len(tokens) > 1):
            tokens = tokens[1:] if end == 0 else tokens[:-1]
    return tokens


def parse(text: str, *, now: float | None = None) -> Query:
    """Parse what a person typed; never raises.

    Args:
        text: Anything; past 2,048 code points it is cut, as Hermes does.
        now: Unix seconds, to tell a date from none.

    Returns:
        The query. A filter with a value it cannot have is left out, with a problem that says why.
    """
    # Lone surrogates cannot be bound to a statement, a NUL ends a MATCH expression.
    text = text[:_MOST].replace("\x00", " ").encode("utf-8", "replace").decode("utf-8")
    tokens, problems = _tokens(text)
    tokens = _without_dangling(tokens)
    groups: list[list[Term]] = [[]]
    excluded: list[Term] = []
    filters: list[Filter] = []
    negate = False
    for token in tokens:
        if _is_operator(token):
            if token.text == "OR" and groups[-1]:
                groups.append([])
            negate = token.text == "NOT"
            continue
        condition = _filter(token)
        if condition is not None:
            reason = reason_against(condition.key, condition.value, now, condition.op)
            if reason:
                problems.append(Problem(token.start, token.end, reason, BY_KEY[condition.key].is_value))
            else:
                filters.append(replace(condition, negated=condition.negated or negate))
        else:
            term = _term(token)
            if term is not None:
                (excluded if negate or token.negated else groups[-1]).append(term)
        negate = False
    kept = tuple(tuple(group) for group in groups if group)
    if excluded and not kept and not filters:
        first = excluded[0]
        problems.append(Problem(first.start, first.end, _("something to leave out, but nothing to look for")))
    return Query(text, kept, tuple(excluded), tuple(filters), tuple(problems))


_LIKE_A_FILTER = re.compile(r"([A-Za-z_]{2,12})(:|[<>]=?)(?=[^\s:/\\<>=])")


def _looks(query: Query) -> list[tuple[Term, str, str]]:
    """Words written like a filter, the reason, and the filter that may be meant (else empty)."""
    found = []
    for term in (*query.terms, *query.excluded):
        match = _LIKE_A_FILTER.match(term.text) if term.kind is not TermKind.PHRASE else None
        if match is None:
            continue
        key, value = match[1].lower(), term.text[match.end() :]
        is_port = match[2] == ":" and value.isdigit()
        meant = MEANT.get(key, "")
        if not meant and match[1].islower() and not is_port:
            meant = next(iter(get_close_matches(key, BY_KEY, 1, 0.7)), "")
        if key in FILTER_KEYS:
            reason = _("{written} is no comparison: write {meant}")
            reason = reason.format(written=f"{key}{match[2]}", meant=f"{key}:{value}")
            found.append((term, reason, f"{key}:{value}"))
        elif meant:
            sign = (match[2] if match[2] != ":" else ">") if meant in NUMBER_KEYS else ":"
            reason = _("no filter {written} (is {meant} meant?): looked for as text")
            reason = reason.format(written=f"{key}{match[2]}", meant=f"{meant}{sign}")
            found.append((term, reason, f"{meant}{sign}{value}"))
        elif match[1].islower() and not is_port:
            reason = _("no filter {written}: looked for as text").format(written=f"{key}{match[2]}")
            found.append((term, reason, ""))
    return sorted(found, key=lambda each: each[0].start)


def unknown_filters(query: Query) -> tuple[Problem, ...]:
    """The plain words of a query that are written like a filter but are none, each with what may be meant.

    `host:8080`, `std::vector`, `https://…` and `TODO:x` are words like any other.
    """
    return tuple(Problem(term.start, term.end, reason) for term, reason, meant in _looks(query))


def meant_filters(query: Query) -> list[tuple[str, str]]:
    """For each word that may be a filter misspelt: the filter, and the query with it in the word's place."""
    text = query.text
    return [
        (meant, text[: term.start] + ("-" if text[term.start] == "-" else "") + meant + text[term.end :])
        for term, reason, meant in _looks(query)
        if meant
    ]
