"""Hits with what a script asks for beside them: their context, their number, wider queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..connection.reader import Reader
from ..messages.chat_message import Hit
from ..sessions.catalog import read_catalog
from ..sessions.models import Conversation, View
from .coverage import read_coverage
from .engine import Answer, Search, Total
from .found import Suggestion, conversations_of, suggest
from .query import Query
from .scope import compile_filters, make_scope
from .snippets import read_context


class HitPage(NamedTuple):
    """The first hits of a search."""

    answer: Answer
    total: Total | None
    """None where it is neither known nor quickly counted."""
    conversations: Mapping[str, Conversation]
    """By session id."""
    contexts: list[list[tuple[int, str, str]]]
    """Of each hit: id, role and text of the messages around it, itself included; empty if not asked
    for."""
    suggestions: tuple[Suggestion, ...]
    """Where nothing was found: wider queries that find something."""
    uncovered: str
    """Where nothing was found: what the index lacks."""


def read_hit_page(
    reader: Reader,
    query: Query,
    now: float,
    view: View = View.ALL,
    *,
    sources: Sequence[str] = (),
    roles: Sequence[str] = (),
    sort: str = "newest",
    limit: int = 50,
    context: int = 0,
) -> HitPage:
    """Search; `limit` is the most hits (0 for all), `context` the messages before and after each."""
    conditions = compile_filters(query, now)
    needs_catalog = view is not View.ALL or bool(sources) or conditions.needs_catalog
    catalog = read_catalog(reader, now) if needs_catalog else None
    scope = make_scope(reader, conditions, catalog, view, sources=sources, roles=roles)
    search = Search(reader, query, scope, sort=sort)
    answer = search.page(limit)
    suggestions: tuple[Suggestion, ...] = ()
    uncovered = ""
    if not answer.hits:
        # A suggestion widens the query, not the requested view, sources and roles.
        suggestions = suggest(
            reader,
            query,
            catalog,
            view,
            now,
            sources=sources,
            roles=roles,
            is_typed=False,
        )
        uncovered = read_coverage(reader).reason if query.groups else ""
    return HitPage(
        answer,
        _total(search, answer),
        conversations_of(reader, catalog, answer.hits, now),
        [_around(reader, hit, context) for hit in answer.hits],
        suggestions,
        uncovered,
    )


def _around(reader: Reader, hit: Hit, count: int) -> list[tuple[int, str, str]]:
    return read_context(reader, hit, count) if count else []


def _total(search: Search, answer: Answer) -> Total | None:
    """Return the number of hits where it is known or quickly counted."""
    if answer.total is not None:
        return Total(answer.total, False)
    if not answer.more:
        return Total(len(answer.hits), True)
    return search.count() if search.counts_quickly and not answer.stopped else None
