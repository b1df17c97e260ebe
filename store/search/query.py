"""The query language: plain words are literal, everything else is opt-in; nothing a person types is
an error.

`words`, `"a phrase"`, `OR` (upper case), `-word` or `NOT word`, `prefix*`, `*inside*`, and filters
`key:value`. AND binds tighter than OR and need not be written, as in FTS5.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from typing import NamedTuple

from ..wording import _
from .conditions import Filter
from .filters import BY_KEY, FILTER_KEYS, FOREIGN_NAMES, NUMBER_KEYS

_NUMBER = re.compile(rf"({'|'.join(NUMBER_KEYS)})(>=|<=|>|<|:|=)(.*)", re.IGNORECASE)
# A quote opens only at the start of a word or of a filter's value. One dash excludes; two begin an
# option of a command line, which is as literal as any word.
_TOKEN = re.compile(
    r"(?P<negated>-(?=[^\s-]))?"
    rf'(?:(?P<key>(?ai:{"|".join(FILTER_KEYS)})):(?="))?'
    r'(?:"(?P<quoted>[^"]*)"(?P<star>(?(key)|\*?))|(?P<unpaired>"?)(?P<word>\S*))'
)
_OPERATORS = ("AND", "OR", "NOT")
MOST = 2048
"""Code points of a query."""


class TermKind(StrEnum):
    """What a term matches."""

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
class QueryProblem:
    """A part of the query that could not be taken as meant, and why."""

    start: int
    end: int
    text: str
    is_value: bool = False
    """A filter lacks its number or date: the query cannot be run without it."""


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query."""

    text: str
    groups: tuple[tuple[Term, ...], ...] = ()
    """Alternatives; all terms of one must match."""
    excluded: tuple[Term, ...] = ()
    filters: tuple[Filter, ...] = ()
    problems: tuple[QueryProblem, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to look for: no term and no filter."""
        return not self.groups and not self.filters

    @property
    def terms(self) -> tuple[Term, ...]:
        """All terms that may match."""
        return tuple(term for group in self.groups for term in group)

    @property
    def refusal(self) -> str:
        """Why the query must not be run: a filter lacks its number or date, and without it
        everything would match."""
        return next((problem.text for problem in self.problems if problem.is_value), "")

    @property
    def in_reasoning(self) -> bool:
        """Whether reasoning is searched instead of the messages (`in:reasoning`)."""
        return any(each.key == "in" and not each.negated for each in self.filters)

    @property
    def files(self) -> tuple[str, ...]:
        """Files whose edits and mentions are requested (`file:src/main.py`)."""
        return tuple(each.value for each in self.filters if each.key == "file" and not each.negated)


EMPTY = Query("")


class _Token(NamedTuple):
    text: str
    start: int
    end: int
    quoted: bool
    negated: bool
    key: str
    starred: bool = False


def _tokens(text: str) -> tuple[list[_Token], list[QueryProblem]]:
    """Split at white space outside quotes.

    Returns:
        The tokens, and a problem for each quotation mark without a partner, which is left out.
    """
    tokens: list[_Token] = []
    problems: list[QueryProblem] = []
    ignored = _("an unpaired quotation mark: ignored")
    for match in _TOKEN.finditer(text):
        (start, end), quoted = match.span(), match["quoted"]
        negated, key = bool(match["negated"]), (match["key"] or "").lower()
        if match["unpaired"]:
            at = match.start("unpaired")
            problems.append(QueryProblem(at, at + 1, ignored))
        if quoted is not None:
            tokens.append(_Token(quoted, start, end, True, negated, key, bool(match["star"])))
        elif match["word"]:
            tokens.append(_Token(match["word"], start, end, False, negated, key))
    return tokens, problems


def _strip_grouping(word: str) -> str:
    """Strip parentheses whose partner is in another word: those group terms, while `main()` is
    literal."""
    while word.startswith("(") and word.count("(") > word.count(")"):
        word = word[1:]
    while word.endswith(")") and word.count(")") > word.count("("):
        word = word[:-1]
    return word


def _filter(token: _Token, negated: bool) -> Filter | None:
    key, op, value = token.key, ":", token.text
    if not key:
        if token.quoted:
            return None
        if number := _NUMBER.fullmatch(token.text):
            key, op, value = number[1], number[2], number[3]
        else:
            key, op, value = token.text.partition(":")
            if not op or key.lower() not in FILTER_KEYS or value.startswith("//"):
                return None
    return Filter(key.lower(), op, value, negated or token.negated, token.start, token.end)


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
    """Drop one operator at each end, in any case, as Hermes does: "hello AND", "OR hello", "not
    hello".

    A lower-case one that is the only token is a word.
    """
    for end in (0, -1):
        if tokens and _is_operator(tokens[end], any_case=len(tokens) > 1):
            del tokens[end]
    return tokens


def parse(text: str, *, now: float | None = None, for_cleanup: bool = False) -> Query:
    """Parse what a person typed, anything, cut at 2,048 code points as in Hermes; never raises.

    `now` is in Unix seconds, for dates in filters. Some filters are for a clean-up only.

    Returns:
        The query. A filter with an invalid value is left out, with a problem that says why.
    """
    moment = time.time() if now is None else now
    # Lone surrogates cannot be bound to a statement, a NUL ends a MATCH expression.
    text = text[:MOST].replace("\x00", " ").encode("utf-8", "replace").decode("utf-8")
    tokens, problems = _tokens(text)
    groups: list[list[Term]] = [[]]
    excluded: list[Term] = []
    filters: list[Filter] = []
    negate = False
    for token in _without_dangling(tokens):
        if _is_operator(token):
            if token.text == "OR" and groups[-1]:
                groups.append([])
            negate = token.text == "NOT"
            continue
        typed = _filter(token, negate)
        if typed is not None:
            kind = BY_KEY[typed.key]
            reason = kind.reason(typed, moment)
            if kind.is_cleanup_only and not for_cleanup:
                reason = _("{key}: works in a clean-up only").format(key=typed.key)
            if reason:
                problems.append(QueryProblem(token.start, token.end, reason, kind.is_value))
            else:
                filters.append(typed)
        elif (term := _term(token)) is not None:
            (excluded if negate or token.negated else groups[-1]).append(term)
        negate = False
    terms = tuple(tuple(group) for group in groups if group)
    if excluded and not terms and not filters:
        first = excluded[0]
        problems.append(
            QueryProblem(first.start, first.end, _("only exclusions: add something to search for"))
        )
    return Query(text, terms, tuple(excluded), tuple(filters), tuple(problems))


_LIKE_A_FILTER = re.compile(r"([A-Za-z_]{2,12})(:|[<>]=?)(?=[^\s:/\\<>=])")


def like_filters(query: Query) -> list[tuple[Term, str, str]]:
    """Return the words written like a filter, each with the problem and the filter that may be
    meant (or "")."""
    words = []
    for term in (*query.terms, *query.excluded):
        match = _LIKE_A_FILTER.match(term.text)
        if match is None or term.kind is TermKind.PHRASE:
            continue
        key, op = match[1].lower(), match[2]
        value = term.text[match.end() :]
        is_port = op == ":" and value.isdigit()
        meant = _filter_meant(key, may_be_misspelt=match[1].islower() and not is_port)
        reason = _("{written} is no filter: looked for as text")
        if key in FILTER_KEYS:
            reason = _("{written} is no comparison: write {meant}")
            meant = f"{key}:{value}"
            words.append((term, reason.format(written=f"{key}{op}", meant=meant), meant))
        elif meant is not None:
            sign = ":" if meant not in NUMBER_KEYS else ">" if op == ":" else op
            if meant:
                reason = _("{written} is no filter (is {meant} meant?): looked for as text")
            reason = reason.format(written=f"{key}{op}", meant=f"{meant}{sign}")
            words.append((term, reason, f"{meant}{sign}{value}" if meant else ""))
    return sorted(words, key=lambda word: word[0].start)


def _filter_meant(key: str, *, may_be_misspelt: bool) -> str | None:
    """Return the filter that a name may mean, empty if it is like none; None if it is a plain
    word."""
    if key in FOREIGN_NAMES or not may_be_misspelt:
        return FOREIGN_NAMES.get(key)
    return next(iter(get_close_matches(key, BY_KEY, 1, 0.7)), "")


def unknown_filters(query: Query) -> tuple[QueryProblem, ...]:
    """Return a problem for each plain word of a query that is written like a filter but is none.

    `host:8080`, `std::vector`, `https://…` and `TODO:x` are words like any other.
    """
    return tuple(
        QueryProblem(term.start, term.end, reason) for term, reason, meant in like_filters(query)
    )


def corrected_filters(query: Query) -> list[tuple[str, str]]:
    """Return for each word that may be a misspelt filter: the filter, and the query with it in
    place of the word."""
    text = query.text
    return [
        (
            meant,
            text[: term.start]
            + ("-" if text[term.start] == "-" else "")
            + meant
            + text[term.end :],
        )
        for term, reason, meant in like_filters(query)
        if meant
    ]


def query_word(text: str) -> str:
    """Return a text as one word of the query language."""
    return f'"{text}"' if any(map(str.isspace, text)) else text
