"""Run a search on a reading thread: titles and hits, with their conversations."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from hermes_browse.store.api import OpenStore
from hermes_browse.store.search.engine import Answer
from hermes_browse.store.search.found import Found, asks_for_conversations
from hermes_browse.store.search.query import Query
from hermes_browse.store.search.scope import compile_filters
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import View
from hermes_browse.store.wording import _

from ..list.list_model import CatalogRows, Order, RowDetails
from .counting import whole_catalog
from .results import SearchResults

PAGE = 32
"""Hits per page: more than a screen shows; each costs a snippet."""
_MOST_TITLES = 8
TELL_SECONDS = 0.25
"""Between updates of the progress, and before the first."""


class Scan:
    """State of a search under way: written by the thread that searches, read by the screen's,
    which can stop it.

    Args:
        earlier: The results behind which it reads on; None for a new search.
    """

    def __init__(self, earlier: SearchResults | None = None) -> None:
        self.earlier = earlier
        self.steps_on = False
        """Whether to go to the next hit when it has come."""
        self.share: float | None = None
        """Share of the rows scanned, from 0 to 1; None while only an index is used."""
        self.stopped = threading.Event()
        self.is_told = False
        """Whether its progress has been shown."""
        self.found: SearchResults | None = None
        """Results so far; None if there are none."""
        self.shown: SearchResults | None = None
        """The value of `found` that is on screen."""

    def tell(self, share: float) -> None:
        self.share = share

    def words(self, share: float) -> Sequence[str]:
        """Say how far it is."""
        scanning = _("scanning {share:.0%} · Esc stops", share=share)
        state = _("stopping") if self.stopped.is_set() else scanning
        if self.found is None:
            return [state]
        return [_("{count:,} found so far", count=len(self.found.hits)), state]


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
    roots = [root for root in order.roots(catalog, request.view) if root in matching]
    if not roots:
        return SearchResults(request.query, Answer(request.query), of_list=True)
    return CatalogRows(catalog, roots, details, (), "", order)


def run(store: OpenStore, request: SearchRequest, scan: Scan) -> SearchResults:
    """Search for words, on a reading thread; `scan` is told the progress and the hits so far, and
    can end the search with a partial result."""
    query, catalog, view, sort, now = request
    earlier = scan.earlier
    # These hits have no position to read on from: all pages are read again.
    is_read_again = sort == "relevance" or store.store.is_several
    before = earlier.hits if earlier is not None else ()

    def results(found: Found) -> SearchResults:
        answer, conversations = found.answer, dict(found.conversations)
        if earlier is None:
            return SearchResults(query, answer, found.titles, conversations, sort=sort)
        answer = replace(answer, total=earlier.answer.total)
        if not is_read_again:
            answer = replace(answer, hits=(*before, *answer.hits))
            conversations = earlier.conversations | conversations
        return replace(earlier, answer=answer, conversations=conversations)

    def take(found: Found) -> None:
        scan.found = replace(results(found), is_partial=True)

    found = store.search(
        query,
        catalog,
        view,
        sort=sort,
        now=now,
        limit=PAGE + (len(before) if is_read_again else 0),
        titles=_MOST_TITLES if earlier is None else 0,
        is_typed=True,
        after=before[-1] if before and not is_read_again else None,
        stopped=scan.stopped.is_set,
        tell=scan.tell,
        portion=take,
    )
    return results(found)
