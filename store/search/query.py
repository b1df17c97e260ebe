"""The query language: plain words are literal, everything else is opt-in; nothing a person types is
an error.

`words`, `"a phrase"`, `OR` (upper case), `-word` or `NOT word`, `prefix*`, `*inside*`, and filters
`key:value`. AND binds tighter than OR and need not be written, as in FTS5.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from difflib import get_close_matches
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from ..amounts import parse_when
from ..connection.reader import Reader
from ..connection.stored_values import first_texts
from ..wording import _
from .filters import BY_KEY, FILTER_KEYS, FILTERS, NUMBER_KEYS, Filter, FilterKind
from .terms import Term, TermKind, plain_match

if TYPE_CHECKING:
    from ..sessions.catalog import Catalog

_KEY = rf"(?ai:{'|'.join(FILTER_KEYS)})"
_NUMBER_KEY = rf"(?ai:{'|'.join(NUMBER_KEYS)})"
# A quote opens only at the start of a word or of a filter's value. One dash excludes; two begin an
# option of a command line, which is as literal as any word, and so is `source://`.
_TOKEN = re.compile(
    r"(?P<negated>-(?=[^\s-]))?"
    rf"(?:(?P<key>{_KEY}(?=:(?!//))|{_NUMBER_KEY})(?P<op>>=|<=|>|<|:|=))?"
    r'(?:"(?P<quoted>[^"]*)"(?P<star>(?(key)|\*?))|(?P<unpaired>"?)(?P<word>\S*))'
)
_OPERATORS = ("AND", "OR", "NOT")
_AT_AN_END = re.compile(
    rf"\A\s*(?!NOT\s+-?(?:{_KEY}:(?!//)|{_NUMBER_KEY}[<>:=]))(?i:AND|OR|NOT)\s+(?=\S)"
    r"|(?<=\S)\s+(?i:AND|OR|NOT)\s*\Z"
)
"""An operator at an end of a query, but a NOT before a filter."""
MOST = 2048
"""Code points of a query."""


class QueryProblem(NamedTuple):
    """A part of the query that could not be taken as meant, and why."""

    start: int
    end: int
    text: str
    is_fatal: bool = False
    """The query must not be run: without this part it would find too much."""
    meant: str = ""
    """The filter that a word may mean, with the value; empty if it is like none."""


class Query(NamedTuple):
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
    def is_plain(self) -> bool:
        """Whether all of it can be said to MATCH: one group of plain words and prefixes."""
        is_one = len(self.groups) == 1 and not (self.in_reasoning or self.excluded)
        return is_one and all(each.is_plain and not each.may_be_sentinel for each in self.terms)

    @property
    def match(self) -> str:
        """All of it for MATCH, to rank by; terms the word index does not know are left out."""
        return " OR ".join(f"({group})" for group in map(plain_match, self.groups) if group)

    @property
    def refusal(self) -> str:
        """Why the query must not be run; empty if it may be."""
        return next((problem.text for problem in self.problems if problem.is_fatal), "")

    @property
    def in_reasoning(self) -> bool:
        """Whether reasoning is searched instead of the messages (`in:reasoning`)."""
        return any(each.key == "in" and not each.negated for each in self.filters)

    @property
    def files(self) -> tuple[str, ...]:
        """Files whose edits and mentions are requested (`file:src/main.py`)."""
        return tuple(each.value for each in self.filters if each.key == "file" and not each.negated)


EMPTY = Query("")


def _strip_grouping(word: str) -> str:
    """Strip parentheses whose partner is in another word: those group terms, while `main()` is
    literal."""
    while word.startswith("(") and word.count("(") > word.count(")"):
        word = word[1:]
    while word.endswith(")") and word.count(")") > word.count("("):
        word = word[:-1]
    return word


def _term(token: re.Match[str]) -> Term | None:
    text, kind = token["quoted"], TermKind.PREFIX if token["star"] else TermKind.PHRASE
    if text is None:
        text = _strip_grouping(token["word"])
        kind = TermKind.PREFIX if text.endswith("*") else TermKind.WORD
        if kind is TermKind.PREFIX and text.startswith("*"):
            kind, text = TermKind.INSIDE, text.lstrip("*")
        text = text.rstrip("*")
    return Term(text, kind, *token.span()) if text.strip() else None


def parse(text: str, *, now: float | None = None, for_cleanup: bool = False) -> Query:
    """Parse what a person typed, anything, cut at 2,048 code points as in Hermes; never raises.

    `now` is in Unix seconds, for dates in filters. Some filters are for a clean-up only.

    Returns:
        The query. A filter with an invalid value is left out, with a problem that says why.
    """
    moment = time.time() if now is None else now
    problems = []
    if len(text) > MOST:
        reason = _("longer than {most:,} characters: the rest is ignored", most=MOST)
        problems.append(QueryProblem(MOST, len(text), reason))
    # Lone surrogates cannot be bound to a statement, a NUL ends a MATCH expression.
    text = text[:MOST].replace("\x00", " ").encode("utf-8", "replace").decode("utf-8")
    # One operator at each end is dropped, in any case, as Hermes does: "hello AND", "not hello". A
    # clean-up drops none, and a NOT before a filter stays: without it the opposite would be chosen.
    meant = text if for_cleanup else _AT_AN_END.sub(lambda end: " " * len(end[0]), text)
    tokens = [token for token in _TOKEN.finditer(meant) if token[0]]
    groups: list[list[Term]] = [[]]
    excluded: list[Term] = []
    filters: list[Filter] = []
    negate = False
    for index, token in enumerate(tokens):
        is_negated = negate or bool(token["negated"])
        negate = token[0] == "NOT"
        if token["unpaired"]:
            ignored = _("an unpaired quotation mark: ignored")
            problems.append(QueryProblem(*token.span("unpaired"), ignored))
        if token[0] == "OR":
            groups.append([])
            if any(each["key"] for each in tokens[max(index - 1, 0) : index + 2]):
                reason = _(
                    "OR joins words only: filters of one key are alternatives, others must all hold"
                )
                problems.append(QueryProblem(*token.span(), reason))
        elif token["key"]:
            value = token["word"] if token["quoted"] is None else token["quoted"]
            typed = Filter(token["key"].lower(), token["op"], value, is_negated, *token.span())
            kind = BY_KEY[typed.key]
            reason = kind.reason(typed, moment)
            if kind.is_cleanup_only and not for_cleanup:
                reason = _("{key}: works in a clean-up only", key=typed.key)
            if reason:
                problems.append(QueryProblem(*token.span(), reason, is_fatal=kind.is_required))
            else:
                filters.append(typed)
        elif token[0] not in _OPERATORS and (term := _term(token)):
            (excluded if is_negated else groups[-1]).append(term)
    terms = tuple(tuple(group) for group in groups if group)
    if excluded and not terms and not filters:
        reason = _("only exclusions: add something to search for")
        problems.append(QueryProblem(excluded[0].start, excluded[0].end, reason))
    return Query(text, terms, tuple(excluded), tuple(filters), tuple(problems))


_INDEXED_NAME = re.compile(r"[A-Za-z0-9]([ !#-\[\]-~]*[A-Za-z0-9])?")
"""The names of files that JSON spells as they are."""


def as_looked_for(query: Query, *, prefix_last: bool) -> Query:
    """Return a query as it is looked for: with `prefix_last`, while typing, the last word is a prefix
    until a space follows it; a file is a term as well, so that an index finds it."""
    groups = [*query.groups]
    if prefix_last and groups:
        *terms, last = groups[-1]
        if last.kind is TermKind.WORD and last.end == len(query.text):
            groups[-1] = (*terms, replace(last, kind=TermKind.PREFIX))
    files = query.files
    if len(files) == 1 and _INDEXED_NAME.fullmatch(files[0]) and not query.in_reasoning:
        file = Term(files[0], TermKind.PREFIX)
        groups = [(*group, file) for group in groups or [()]]
    return query._replace(groups=tuple(groups))


_MEANT = {name: each.key for each in FILTERS for name in (each.key, *each.also_called)}
"""The filter for each name that is known; a filter's own where it has another sign."""
_LIKE_A_FILTER = re.compile(r"([A-Za-z_]{2,12})(:|[<>]=?)(?=[^\s:/\\<>=])")


def unknown_filters(query: Query) -> Iterator[QueryProblem]:
    """Yield a problem for each word that is written like a filter and is none.

    `host:8080`, `std::vector`, `https://…` and `TODO:x` are words like any other.
    """
    for term in sorted((*query.terms, *query.excluded), key=attrgetter("start")):
        match = _LIKE_A_FILTER.match(term.text)
        if match is None or term.kind is TermKind.PHRASE:
            continue
        (name, op), value = match.groups(), term.text[match.end() :]
        meant = _MEANT.get(name.lower(), "")
        if not meant:
            if not name.islower() or (op == ":" and value.isdigit()):
                continue
            meant = next(iter(get_close_matches(name, BY_KEY, 1, 0.7)), "")
        reason = _("{written} is no filter: looked for as text")
        if meant:
            reason = _("{written} is no filter (is {meant} meant?): looked for as text")
            meant += op if meant in NUMBER_KEYS and op != ":" else BY_KEY[meant].sign
        reason = reason.format(written=match[0].lower(), meant=meant)
        yield QueryProblem(term.start, term.end, reason, meant=meant and meant + value)


def query_word(text: str) -> str:
    """Return a text as one word of the query language."""
    return f'"{text}"' if any(map(str.isspace, text)) else text


# What filters can be completed to


Vocabulary = dict[str, tuple[str, ...]]
"""The values that occur in a store, by the key of their filter, the most frequent first."""
USUAL: Vocabulary = {
    "source": (
        "cli", "tui", "telegram", "discord", "slack", "whatsapp", "cron", "subagent", "acp", "api_server",
    )
}  # fmt: skip
"""What is offered for a store that has none, or before it is read."""
_FIELDS = {"source": "source", "cwd": "cwd", "branch": "git_branch", "ended": "end_reason"}
"""Filters whose values are those of a field of a session."""
_RECENT = 5000
"""Messages whose tools are read."""
_MOST = 40
"""Values of each kind that are offered."""


def read_vocabulary(reader: Reader, catalog: Catalog) -> Vocabulary:
    """Return the values that occur in a store; tools of the newest messages only."""
    sessions = catalog.sessions.values()
    words = {
        key: _frequent(getattr(each, field) for each in sessions) for key, field in _FIELDS.items()
    }
    sql = "SELECT tool_name FROM message_rows ORDER BY id DESC LIMIT ?"
    return words | {
        "source": words["source"] or USUAL["source"],
        "model": _frequent((each.model or "").rpartition("/")[2] for each in sessions),
        "tool": _frequent(sorted(first_texts(reader.rows(sql, [_RECENT])))),
        "tag": _frequent(tag for each in sessions for tag in each.tags),
    }


def _frequent(values: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(value for value, _count in Counter(values).most_common() if value)[:_MOST]


def values_of(kind: FilterKind, vocabulary: Vocabulary, now: float) -> Sequence[str]:
    """Return the values that a filter can be completed to."""
    today = datetime.fromtimestamp(now)
    templates = (*kind.known, *kind.choices, *vocabulary.get(kind.key, ()))
    values = [f"{today:{each}}" if "%Y" in each else each for each in templates]
    if kind.key == "after":  # nothing is later than what has not ended
        values = [each for each in values if parse_when(each, now).end <= now]
    return values
