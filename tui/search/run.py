"""Run a search on a reading thread: titles and hits, with their conversations."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hermes_browse.store.api import OpenStore
from hermes_browse.store.search.found import Found
from hermes_browse.store.search.query import Query
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import View

from .results import SearchResults

if TYPE_CHECKING:
    from .scan import Scan

PAGE = 32
"""Hits per page: more than a screen shows; each costs a snippet."""
_MOST_TITLES = 8


def run(
    store: OpenStore,
    query: Query,
    scan: Scan,
    *,
    catalog: Catalog,
    view: View,
    sort: str,
    now: float,
    earlier: SearchResults | None = None,
) -> SearchResults:
    """Search, on a reading thread.

    Args:
        store: Open.
        query: Parsed, not empty.
        scan: Is told the progress and the hits so far; can end the search with a partial result.
        catalog: Of the whole store if it has been read, for views and filters.
        view: The view to search.
        sort: `newest`, `relevance` or `oldest`.
        now: Unix seconds.
        earlier: Read on after these results.
    """
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
