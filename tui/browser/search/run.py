"""Run a search on a reading thread: titles and hits, with their conversations."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from hermes_browse.store.api import OpenStore
from hermes_browse.store.search.engine import Answer
from hermes_browse.store.search.found import Found, asks_for_conversations
from hermes_browse.store.search.query import Query
from hermes_browse.store.search.scope import compile_filters
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import View

from ..list.list_model import CatalogRows, Order
from ..list.row_details import RowDetails
from .counting import whole_catalog
from .results import SearchResults

if TYPE_CHECKING:
    from .scan import Scan

PAGE = 32
"""Hits per page: more than a screen shows; each costs a snippet."""
_MOST_TITLES = 8


class SearchRequest(NamedTuple):
    """What is searched for, and where."""

    query: Query
    """Parsed, not empty."""
    catalog: Catalog
    """Of the whole store if it has been read, for views and filters."""
    view: View
    sort: str
    """`newest`, `relevance` or `oldest`."""
    now: float
    """Unix seconds."""


def find(
    store: OpenStore, request: SearchRequest, scan: Scan, order: Order, details: RowDetails
) -> SearchResults | CatalogRows:
    """Search, on a reading thread: for words, or for conversations in the order of the list."""
    conditions = compile_filters(request.query, request.now, request.view)
    catalog = whole_catalog(store, request.catalog, conditions, request.now)
    request = request._replace(catalog=catalog)
    if not asks_for_conversations(request.query, conditions):
        return run(store, request, scan)
    matching = frozenset(store.roots(request.query, catalog, request.view, request.now))
    listed = catalog.order(
        request.view, sort=order.sort, reverse=order.reverse, amounts=order.amounts
    )
    roots = [root for root in listed if root in matching]
    if not roots:
        return SearchResults(request.query, Answer(request.query), of_list=True)
    return CatalogRows(catalog, roots, details, (), "", order=order)


def run(
    store: OpenStore, request: SearchRequest, scan: Scan, earlier: SearchResults | None = None
) -> SearchResults:
    """Search for words, on a reading thread.

    Args:
        scan: Is told the progress and the hits so far; can end the search with a partial result.
        earlier: Read on after these results.
    """
    query, catalog, view, sort, now = request
    limit = PAGE
    before = earlier
    if earlier is not None and (sort == "relevance" or store.store.is_several):
        # These hits have no position to read on from: all pages are read again.
        limit += len(earlier.hits)
        before = None

    def results(found: Found, *, is_partial: bool = False) -> SearchResults:
        answer, conversations = found.answer, found.conversations
        if before is not None:
            answer = replace(answer, hits=(*before.hits, *answer.hits))
            conversations = {**before.conversations, **conversations}
        if earlier is not None and not is_partial:
            answer = replace(answer, total=earlier.answer.total)
        return SearchResults(
            query,
            answer,
            found.titles if earlier is None else earlier.titles,
            dict(conversations),
            sort=sort,
            is_partial=is_partial,
        )

    found = store.search(
        query,
        catalog,
        view,
        sort=sort,
        now=now,
        limit=limit,
        titles=_MOST_TITLES if earlier is None else 0,
        is_typed=True,
        after=before.hits[-1] if before is not None and before.hits else None,
        stopped=scan.stopped.is_set,
        tell=scan.tell,
        portion=lambda found: scan.take(results(found, is_partial=True)),
    )
    return results(found)
