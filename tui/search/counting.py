"""When typing pauses, read details of the rows of a search and count its hits.

If there are none, other searches are suggested that have some: in other views, with other queries,
in other profiles. Each suggestion has been counted. Profiles that cannot be searched are reported.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace

from hermes_browse.store.api import OpenStore, open_store
from hermes_browse.store.connection.connect import Fingerprint
from hermes_browse.store.errors import (
    BrowseError,
    QueryInterruptedError,
    StoreEmptyError,
    StoreMissingError,
)
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.search.coverage import Coverage
from hermes_browse.store.search.found import Suggestion
from hermes_browse.store.search.query import Query
from hermes_browse.store.search.scope import Conditions, compile_filters
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.conversations import Forest
from hermes_browse.store.sessions.models import View
from hermes_browse.store.wording import N_, _

from ..context import Context
from ..list.hit_rows import SuggestionRow
from ..screens.panes import Panes
from .hit_walk import HitWalk
from .results import HitCounts, SearchResults

_REST = 0.15
"""Seconds without a keystroke before this begins."""
_COUNTING = 20.0
"""Seconds until a count ends with "at least"."""
_BREATH = 0.001
"""Seconds to sleep between two batches of a count."""
_WHERE = {
    View.CHATS: N_("in chats"),
    View.AUTOMATION: N_("in automation"),
    View.ARCHIVED: N_("in archived"),
    View.ALL: N_("everywhere"),
}
_MOST_PROFILES = 20
"""Maximum number of other profiles to search."""


def whole_catalog(
    store: OpenStore, catalog: Catalog, view: View, conditions: Conditions, now: float
) -> Catalog:
    """Return the catalog, read in full if the search needs that; on a reading thread."""
    if catalog.exact or (view is View.ALL and not conditions.needs_catalog):
        return catalog
    return store.catalog(now)


class Counting:
    """Completes and counts the results after they are first shown; the next keystroke stops it."""

    def __init__(
        self, context: Context, panes: Panes, hits: HitWalk, say_status: Callable[[], None]
    ) -> None:
        self._context, self._panes, self._hits, self._say_status = context, panes, hits, say_status
        self._coverage: tuple[Fingerprint, Coverage | None] | None = None
        """Coverage of the index, and the state of the file it was read in."""

    def begin(self, found: SearchResults, view: View) -> None:
        """After a pause count the messages of the conversations shown, as Hermes' own counters are
        only hints, and all hits."""
        self._panes.start("hit-details", self._complete, found)
        self._panes.start("count", self._count, found, view)

    async def _complete(self, found: SearchResults) -> None:
        await asyncio.sleep(_REST)
        completed = await self._panes.read(found.completed)
        shown = self._hits.found
        if shown is not None and shown.answer is found.answer:
            self._hits.show(replace(completed, counts=shown.counts))

    async def _count(self, found: SearchResults, view: View) -> None:
        """Count all hits and read the coverage of the index."""
        await asyncio.sleep(_REST)
        now, catalog = self._context.clock(), self._context.catalog
        conditions = compile_filters(found.query, now)
        store, cached, location = self._context.store, self._coverage, self._context.location

        def count(lease: OpenStore) -> tuple[Fingerprint, HitCounts]:
            stamp = store.fingerprint()
            coverage = cached[1] if cached is not None and cached[0] == stamp else None
            if location.old_files is not None:  # names no remedy, as there is none
                coverage = Coverage(0, 0, _("files have no search index: all of them are scanned"))
            whole = whole_catalog(lease, catalog, view, conditions, now)
            return stamp, count_hits(lease, found, whole, view, location, now, coverage)

        stamp, counts = await self._panes.read(count)
        self._coverage = (stamp, counts.coverage)
        shown = self._hits.found
        if shown is None or shown.answer is not found.answer:
            return
        self._hits.found = replace(shown, counts=counts)
        self._say_status()
        if counts.suggestions and not shown.hits:
            # The cursor moves from the note to the first suggestion.
            self._hits.show(self._hits.found, key=counts.suggestions[0].key)

    def forget(self) -> None:
        """Stop counting."""
        self._panes.cancel("hit-details")
        self._panes.cancel("count")


def count_hits(
    store: OpenStore,
    found: SearchResults,
    catalog: Catalog,
    view: View,
    location: Location,
    now: float,
    coverage: Coverage | None,
) -> HitCounts:
    """Count all hits of a search and the conversations they are in; look for others if there are
    none.

    Called on a reading thread. The catalog is from `whole_catalog`; the siblings of the location
    are the other profiles; `coverage` is None if it is to be read. `now` is in Unix seconds.
    """

    def is_cancelled() -> bool:
        time.sleep(_BREATH)  # yields the interpreter lock to the screen's thread
        store.check()  # a newer query interrupts this store, not that of another profile
        return False

    counts = found.counts
    if found.goes_on and counts.total is None:
        total = store.count_hits(
            found.query, catalog, view, now, stopped=is_cancelled, seconds=_COUNTING
        )
        root_of = catalog.forest.root_of
        counts = replace(
            counts, total=total, roots=len({root_of(each) or each for each in total.sessions})
        )
    if not found.hits and not found.titles and not found.answer.stopped:
        suggestions = _suggest_here(store, found.query, catalog, view, now, is_cancelled)
        others, notes = _suggest_profiles(found.query, location, now, is_cancelled)
        counts = replace(counts, suggestions=(*suggestions, *others), notes=notes)
    return replace(counts, coverage=coverage or store.coverage())


def _suggest_here(
    store: OpenStore,
    query: Query,
    catalog: Catalog,
    view: View,
    now: float,
    cancelled: Callable[[], bool],
) -> list[SuggestionRow]:
    """Try the query in other views, then other queries in this one."""
    rows: list[SuggestionRow] = []

    def try_view(other: View) -> None:
        found = store.count_matches(query, catalog, other, now, stopped=cancelled)
        if found is not None:
            rows.append(_row(found, _(_WHERE[other]), other))

    if view is not View.ALL:
        for other_view in View:
            if other_view not in (view, View.ALL):
                try_view(other_view)
        if not rows:  # only ALL has subagents of chats and sessions Hermes hides
            try_view(View.ALL)
    others = store.suggestions(query, catalog, view, now, stopped=cancelled)
    return [*rows, *(_row(each, each.text, view) for each in others)]


def _row(found: Suggestion, where: str, view: View, profile: str = "") -> SuggestionRow:
    return SuggestionRow(
        where, found.query, view, found.hits, found.at_least, found.of_list, profile
    )


def _suggest_profiles(
    query: Query, location: Location, now: float, cancelled: Callable[[], bool]
) -> tuple[list[SuggestionRow], tuple[str, ...]]:
    """Count the hits in the stores of the other profiles, opening and closing one after the
    other."""
    suggestions: list[SuggestionRow] = []
    notes: list[str] = []
    others = [each for each in location.profiles() if each.path != location.path]
    nothing = Catalog(Forest((), now), exact=False)
    for other in others[:_MOST_PROFILES]:
        name = other.profile or ""
        if cancelled():
            break
        try:
            with open_store(other) as store:
                found = store.count_matches(query, nothing, View.ALL, now, stopped=cancelled)
        except (StoreMissingError, StoreEmptyError):
            continue  # a profile that has not been used yet
        except QueryInterruptedError:
            raise
        except BrowseError as error:
            sentence = _("profile {name} could not be searched: {reason}")
            notes.append(sentence.format(name=name, reason=error.sentence))
            continue
        if found is not None:
            where = _("in profile {name}").format(name=name)
            suggestions.append(_row(found, where, View.ALL, name))
    if len(others) > _MOST_PROFILES:
        left = len(others) - _MOST_PROFILES
        notes.append(_("{count:,} further profiles were not searched").format(count=left))
    return suggestions, tuple(notes)
