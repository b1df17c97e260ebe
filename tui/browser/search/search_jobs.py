"""What a search does on a reading thread: it finds titles and hits, with their conversations; when
typing pauses, it counts the hits.

If there are none, other searches are suggested that have some: in other views, with other queries,
in other profiles. Each suggestion has been counted. Profiles that cannot be searched are reported.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from hermes_browse.store.api import OpenStore, open_store
from hermes_browse.store.connection.reader import Stopped
from hermes_browse.store.errors import (
    BrowseError,
    QueryInterruptedError,
    StoreEmptyError,
    StoreMissingError,
)
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.messages.chat_message import HitOrder
from hermes_browse.store.search.coverage import Coverage
from hermes_browse.store.search.engine import Answer
from hermes_browse.store.search.found import Found
from hermes_browse.store.search.query import Query
from hermes_browse.store.search.scope import Conditions, compile_filters
from hermes_browse.store.search.suggestions import asks_for_conversations
from hermes_browse.store.sessions.catalog import UNREAD, Catalog
from hermes_browse.store.sessions.models import View
from hermes_browse.store.wording import N_, _

from ...text.formats import joined
from ..list.list_model import CatalogRows, Order, RowDetails
from ..list.rows import SuggestionRow
from .results import SearchResults

PAGE = 10
"""Hits of the first page, as each takes time: with their conversations and the titles above them they
fill a list of 30 lines. A longer list reads on at once."""
NEXT_PAGE = 64
"""Hits that are read on with, when the end comes into sight."""
_MOST_TITLES = 8
TELL_SECONDS = 0.25
"""Between updates of the progress, and before the first."""


@dataclass(eq=False)
class Scan:
    """State of a search or a sum under way, which scans rows if no index covers it: written by the
    thread that reads, read by the screen's, which can stop it."""

    earlier: SearchResults | None = None
    """The results behind which it reads on; None for a new search."""
    steps: int = 0
    """How many hits to go on when they have come."""
    share: float | None = None
    """Share of the rows scanned, from 0 to 1; None while only an index is used."""
    stopped: threading.Event = field(default_factory=threading.Event)
    is_told: bool = False
    """Whether its progress has been shown."""
    found: SearchResults | None = None
    """Results so far; None if there are none."""
    shown: SearchResults | None = None
    """The value of `found` that is on screen."""

    def tell(self, share: float) -> None:
        self.share = share

    def words(self, share: float) -> str:
        """Say how far it is."""
        scanning = _("scanning {share:.0%} · Esc stops", share=share)
        found = self.found
        return joined(
            _("{count:,} found so far", count=len(found.hits)) if found is not None else "",
            _("stopping") if self.stopped.is_set() else scanning,
        )


class SearchRequest(NamedTuple):
    """What is searched for, and where."""

    query: Query
    """Parsed, not empty."""
    catalog: Catalog
    """Of the whole store if it has been read, for views and filters."""
    view: View
    order: HitOrder
    now: float
    """Unix seconds."""
    problems: Sequence[str] = ()
    """Messages about parts of the query that could not be understood."""

    @property
    def conditions(self) -> Conditions:
        return compile_filters(self.query, self.now, self.view)

    def whole(self, store: OpenStore) -> SearchRequest:
        """Return this with a catalog that was read in full, if the search needs that; on a reading
        thread."""
        if self.catalog.exact or not self.conditions.needs_catalog:
            return self
        return self._replace(catalog=store.catalog(self.now))


def find(
    store: OpenStore, request: SearchRequest, scan: Scan, order: Order, details: RowDetails
) -> SearchResults | CatalogRows:
    """Search, on a reading thread: for words, or for conversations in the order of the list."""
    request = request.whole(store)
    if not asks_for_conversations(request.query, request.conditions):
        return find_words(store, request, scan)
    catalog = request.catalog
    matching = frozenset(store.roots(request.query, catalog, request.view, request.now))
    roots = [root for root in order.roots(catalog, request.view) if root in matching]
    if not roots:
        return SearchResults(Answer(), of_list=True, problems=request.problems)
    return CatalogRows(catalog, roots, details, (), "", order)


def find_words(store: OpenStore, request: SearchRequest, scan: Scan) -> SearchResults:
    """Search for words, on a reading thread; `scan` is told the progress and the hits so far, and
    can end the search with a partial result."""
    earlier, order = scan.earlier, request.order
    # These hits have no position to read on from: all pages are read again.
    is_read_again = order == HitOrder.RELEVANCE or store.source.is_several
    before = earlier.hits if earlier is not None else ()
    wanted = PAGE if earlier is None else NEXT_PAGE

    def results(found: Found) -> SearchResults:
        answer, conversations = found.answer, dict(found.conversations)
        if earlier is None:
            return SearchResults(
                answer,
                found.titles,
                found.title_count,
                conversations,
                order=order,
                problems=request.problems,
            )
        if not is_read_again:
            answer = replace(answer, hits=(*before, *answer.hits))
            conversations = earlier.conversations | conversations
        return replace(earlier, answer=answer, conversations=conversations)

    def tell_found(found: Found) -> None:
        scan.found = replace(results(found), is_partial=True)

    found = store.search(
        request.query,
        request.catalog,
        request.view,
        order=order,
        now=request.now,
        limit=wanted + (len(before) if is_read_again else 0),
        titles=_MOST_TITLES if earlier is None else 0,
        is_typed=True,
        after=before[-1] if before and not is_read_again else None,
        stopped=scan.stopped.is_set,
        tell=scan.tell,
        portion=tell_found,
    )
    return results(found)


_BREATH = 0.0001
"""Seconds to sleep between two batches of a count."""
_WHERE = {
    View.CHATS: N_("in chats"),
    View.AUTOMATION: N_("in automation"),
    View.ARCHIVED: N_("in archived"),
    View.ALL: N_("everywhere"),
}


def count_hits(
    store: OpenStore, results: SearchResults, request: SearchRequest, location: Location
) -> SearchResults:
    """Count all hits of a search and the conversations they are in; look for others if there are
    none.

    Called on a reading thread. The siblings of the location are the other profiles.
    """

    def is_cancelled() -> bool:
        time.sleep(_BREATH)  # yields the interpreter lock to the screen's thread
        store.check()  # a newer query interrupts this store, not that of another profile
        return False

    request = request.whole(store)
    query, catalog, now = request.query, request.catalog, request.now
    if results.goes_on and results.total is None:
        total = store.count_hits(query, catalog, request.view, now, stopped=is_cancelled)
        roots = {catalog.root_of(each) or each for each in total.sessions}
        results = replace(results, total=total, roots=len(roots))
    if not results.hits and not results.titles and not results.answer.stopped:
        here = _suggest_here(store, request, is_cancelled)
        others, notes = _suggest_profiles(query, location, now, is_cancelled)
        results = replace(results, suggestions=(*here, *others), notes=notes)
    if location.old_files is None:
        return replace(results, coverage=store.coverage())
    # Names no remedy, as there is none.
    reason = _("files have no search index: all of them are scanned")
    return replace(results, coverage=Coverage(0, reason))


def _suggest_here(
    store: OpenStore, request: SearchRequest, cancelled: Stopped
) -> list[SuggestionRow]:
    """Try the query in other views, then other queries in this one."""
    query, catalog, view, now = request.query, request.catalog, request.view, request.now
    rows: list[SuggestionRow] = []
    if view is not View.ALL:
        for other in View:  # the last is ALL
            # Only that has subagents of chats and sessions Hermes hides.
            if other is view or (other is View.ALL and rows):
                continue
            suggestion = store.count_matches(query, catalog, other, now, stopped=cancelled)
            if suggestion is not None:
                rows.append(SuggestionRow(suggestion, _(_WHERE[other]), other))
    others = store.suggestions(query, catalog, view, now, stopped=cancelled)
    return [*rows, *(SuggestionRow(each, each.text, view) for each in others)]


def _suggest_profiles(
    query: Query, location: Location, now: float, cancelled: Stopped
) -> tuple[list[SuggestionRow], tuple[str, ...]]:
    """Count the hits in the stores of the other profiles, opening and closing one after the
    other."""
    suggestions: list[SuggestionRow] = []
    notes: list[str] = []
    others = [each for each in location.profiles() if each.path != location.path]
    for other in others:
        name = other.profile or ""
        try:
            with open_store(other) as store:
                suggestion = store.count_matches(query, UNREAD, View.ALL, now, stopped=cancelled)
        except (StoreMissingError, StoreEmptyError):
            continue  # a profile that has not been used yet
        except QueryInterruptedError:
            raise
        except BrowseError as error:
            reason = error.sentence
            notes.append(
                _("profile {name} could not be searched: {reason}", name=name, reason=reason)
            )
            continue
        if suggestion is not None:
            where = _("in profile {name}", name=name)
            suggestions.append(SuggestionRow(suggestion, where, View.ALL, name))
    return suggestions, tuple(notes)
