"""Other queries that find something, where one finds too little: wider ones, and the same one in
another view."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from ..connection.reader import Reader, Stopped
from ..progress import never
from ..sessions.catalog import Catalog
from ..sessions.models import View
from ..wording import _
from .conditions import EVERYTHING
from .engine import Search, until
from .filters import Filter
from .query import Query, QueryProblem, parse, unknown_filters
from .scope import Conditions
from .terms import Term, TermKind

_Part = Filter | Term | QueryProblem
_NOT = re.compile(r"(?<!\S)NOT\s+\Z")
"""Ahead of what it excludes."""
_SECONDS = 1.0
"""Seconds to count the hits of one suggestion."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Another query, or the same one in another view, and what it finds."""

    text: str
    """What is different, in a few words."""
    query: str
    hits: int
    at_least: bool
    """There may be more than `hits`."""
    counts_conversations: bool = False
    """`hits` counts conversations, not messages: the query only narrows the list."""


def asks_for_conversations(query: Query, conditions: Conditions) -> bool:
    """Whether a query only narrows the list: it has no terms, and all its filters test
    conversations."""
    return not query.groups and bool(query.filters) and conditions.rows == EVERYTHING


def count_matches(
    reader: Reader,
    query: Query,
    catalog: Catalog,
    view: View,
    now: float,
    *,
    stopped: Stopped = never,
    is_typed: bool = True,
) -> Suggestion | None:
    """Count the hits, for at most a second; None if there are none. If the query stands in the
    search box and only narrows the list, its conversations are counted."""
    search = Search(reader, query, now, catalog, view, prefix_last=is_typed)
    if is_typed and asks_for_conversations(query, search.conditions):
        found = Suggestion("", query.text, len(search.roots or ()), False, True)
    else:
        search.stopped = until(stopped, _SECONDS)
        total = search.count()
        found = Suggestion("", query.text, total.count, total.at_least)
    return found if found.hits else None


def suggest(
    reader: Reader,
    query: Query,
    catalog: Catalog,
    view: View,
    now: float,
    *,
    stopped: Stopped = never,
    is_typed: bool = True,
) -> tuple[Suggestion, ...]:
    """Return wider queries that find something in the same view, each counted as by
    `count_matches`; `stopped` ends it with those counted so far."""
    suggestions = []
    untyped = tuple(each for each in query.filters if each.start < 0)
    for wider, text in _variants(query).items():
        if stopped():
            break
        taken = parse(f"{wider} ", now=now)  # what is suggested is taken with a space after it
        taken = taken._replace(filters=(*taken.filters, *untyped))
        offer = count_matches(reader, taken, catalog, view, now, stopped=stopped, is_typed=is_typed)
        if offer is not None:
            suggestions.append(replace(offer, text=text, query=wider))
    return tuple(suggestions)


def _variants(query: Query) -> dict[str, str]:
    """Return wider queries, each with what is different; the closest first."""
    text, terms = query.text, query.terms
    typed = [each for each in query.filters if each.start >= 0]
    variants: dict[str, str] = {}
    for problem in unknown_filters(query):
        if problem.meant:
            dash = "-" * text.startswith("-", problem.start)
            variant = _with(text, problem, dash + problem.meant)
            variants[variant] = _("with {part}", part=problem.meant)
    narrowing: list[_Part] = [*typed, *query.excluded]
    for each in narrowing:
        before = _NOT.sub("", text[: each.start])
        wider = " ".join([*before.split(), *text[each.end :].split()])
        variants.setdefault(wider, _("without {part}", part=_typed(query, each)))
    starred = text
    for term in reversed(terms):
        if term.kind is TermKind.WORD:
            starred = _with(starred, term, f"{_typed(query, term)}*")
    variants.setdefault(starred, _("as the beginnings of words"))
    if len(query.groups) == 1 and len(terms) > 1:
        any_term = " OR ".join(_typed(query, each) for each in terms)
        kept = [_typed(query, each) for each in typed if not each.negated]
        left_out: list[_Part] = [*query.excluded, *(each for each in typed if each.negated)]
        kept += [f"-{_typed(query, each).removeprefix('-')}" for each in left_out]
        variants.setdefault(" ".join([any_term, *kept]), _("any of the words"))
    # Without its only filter the query would be empty.
    return {wider: what for wider, what in variants.items() if wider not in (text, "")}


def _with(text: str, part: _Part, instead: str) -> str:
    """Return a query with something else instead of one of its parts."""
    return text[: part.start] + instead + text[part.end :]


def _typed(query: Query, part: _Part) -> str:
    """Return a part of a query as it was typed."""
    return query.text[part.start : part.end]
