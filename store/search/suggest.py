"""Suggestions for a query that found nothing: wider queries that have been tried and do find
something."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from ..connection.reader import Reader
from ..sessions.catalog import Catalog, read_catalog
from ..sessions.models import View
from ..wording import _
from .conversation_table import EVERYTHING
from .engine import Search, until
from .query import Query, Term, TermKind, corrected_filters, parse, query_word
from .scope import Conditions, compile_filters, make_scope, roots_in

_SECONDS = 1.0
"""Time to count the hits of one suggestion; counting stops then."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Another query and what it finds."""

    text: str
    """What is different, in a few words."""
    query: str
    hits: int
    at_least: bool
    """There may be more than `hits`."""
    of_list: bool = False
    """`hits` counts conversations, not messages: the query only narrows the list."""


def asks_for_conversations(query: Query, conditions: Conditions) -> bool:
    """Whether a query only narrows the list: it has no terms, and all its filters test
    conversations."""
    return not query.groups and conditions.rows == EVERYTHING and conditions.needs_catalog


def _written(term: Term) -> str:
    """Return a term as it would be typed."""
    if term.kind is TermKind.INSIDE:
        return f"*{term.text}*"
    text = f'"{term.text}"' if term.kind is TermKind.PHRASE else query_word(term.text)
    return text + "*" * (term.kind is TermKind.PREFIX)


def _variants(query: Query) -> Iterator[tuple[str, str]]:
    """Yield what is different in each wider query, and the query; the closest first."""
    terms = query.terms
    filters = [query.text[each.start : each.end] for each in query.filters]
    rest = " ".join([*(f"-{_written(term)}" for term in query.excluded), *filters])
    for meant, wider in corrected_filters(query):
        yield _("with {part}").format(part=meant), wider
    spans = [(each.start, each.end) for each in query.filters] + [
        (each.start, each.end) for each in query.excluded
    ]
    if query.groups or len(spans) > 1:  # without its only filter the query would be empty
        for start, end in spans:
            wider = " ".join(f"{query.text[:start]} {query.text[end:]}".split())
            yield _("without {part}").format(part=query.text[start:end]), wider
    if len(filters) > 1 and terms:
        yield (
            _("without the filters"),
            " OR ".join(" ".join(map(_written, group)) for group in query.groups),
        )
    if any(term.kind is TermKind.WORD for term in terms):
        starred = " ".join(
            term.text + "*" if term.kind is TermKind.WORD else _written(term) for term in terms
        )
        yield _("as the beginnings of words"), f"{starred} {rest}".strip()
    if len(query.groups) == 1 and len(terms) > 1:
        yield _("any of the words"), f"{' OR '.join(map(_written, terms))} {rest}".strip()


def suggest(
    reader: Reader,
    query: Query,
    *,
    catalog: Catalog | None = None,
    view: View = View.ALL,
    sources: Collection[str] = (),
    roles: Collection[str] = (),
    stopped: Callable[[], bool] = lambda: False,
    now: float | None = None,
    lists: bool = False,
) -> tuple[Suggestion, ...]:
    """Return wider queries that find something.

    Args:
        reader: An open reader.
        query: One that found nothing.
        catalog: All conversations if they have been read; else they are read where they are needed.
        view: Stays as it is while the query is widened, as do `sources` and `roles` (empty admits
            all).
        sources: Of the roots of conversations.
        roles: Of messages.
        stopped: Called between statements; True stops the search.
        now: Unix seconds, for dates in filters.
        lists: Count conversations for a query that only narrows the list.
    """
    moment = time.time() if now is None else now
    suggestions: list[Suggestion] = []
    by_query: dict[str, str] = {}
    for text, wider in _variants(query):
        by_query.setdefault(wider, text)
    for wider, text in by_query.items():
        if stopped():
            break
        parsed = parse(wider, now=now)
        conditions = compile_filters(parsed, moment)
        if catalog is None and (conditions.needs_catalog or sources or view is not View.ALL):
            catalog = read_catalog(reader, moment)
        if lists and catalog is not None and asks_for_conversations(parsed, conditions):
            number = len(roots_in(reader, conditions, catalog, view))
            if number:
                suggestions.append(Suggestion(text, wider, number, False, of_list=True))
            continue
        scope = make_scope(reader, conditions, catalog, view, sources=sources, roles=roles)
        total = Search(reader, parsed, scope, stopped=until(stopped, _SECONDS)).count()
        if total.count:
            suggestions.append(Suggestion(text, wider, total.count, total.at_least))
    return tuple(suggestions)
