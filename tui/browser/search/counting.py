"""When typing pauses, read details of the rows of a search and count its hits.

If there are none, other searches are suggested that have some: in other views, with other queries,
in other profiles. Each suggestion has been counted. Profiles that cannot be searched are reported.
"""

from __future__ import annotations

import time
from dataclasses import replace

from hermes_browse.store.api import OpenStore, open_store
from hermes_browse.store.connection.reader import Stopped
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
from hermes_browse.store.search.scope import Conditions
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import View
from hermes_browse.store.wording import N_, _

from ..list.hit_rows import SuggestionRow
from .results import HitCounts, SearchResults

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
    store: OpenStore, catalog: Catalog, conditions: Conditions, now: float
) -> Catalog:
    """Return the catalog, read in full if the search needs that; on a reading thread."""
    if catalog.exact or not conditions.needs_catalog:
        return catalog
    return store.catalog(now)


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
        root_of = catalog.root_of
        counts = replace(
            counts, total=total, roots=len({root_of(each) or each for each in total.sessions})
        )
    if not found.hits and not found.titles and not found.answer.stopped:
        suggestions = _suggest_here(store, found.query, catalog, view, now, is_cancelled)
        others, notes = _suggest_profiles(found.query, location, now, is_cancelled)
        counts = replace(counts, suggestions=(*suggestions, *others), notes=notes)
    if location.old_files is not None:  # names no remedy, as there is none
        coverage = Coverage(0, 0, _("files have no search index: all of them are scanned"))
    return replace(counts, coverage=coverage or store.coverage())


def _suggest_here(
    store: OpenStore,
    query: Query,
    catalog: Catalog,
    view: View,
    now: float,
    cancelled: Stopped,
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
    query: Query, location: Location, now: float, cancelled: Stopped
) -> tuple[list[SuggestionRow], tuple[str, ...]]:
    """Count the hits in the stores of the other profiles, opening and closing one after the
    other."""
    suggestions: list[SuggestionRow] = []
    notes: list[str] = []
    others = [each for each in location.profiles() if each.path != location.path]
    nothing = Catalog((), now, exact=False)
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
            notes.append(
                _(
                    "profile {name} could not be searched: {reason}",
                    name=name,
                    reason=error.sentence,
                )
            )
            continue
        if found is not None:
            where = _("in profile {name}", name=name)
            suggestions.append(_row(found, where, View.ALL, name))
    if len(others) > _MOST_PROFILES:
        left = len(others) - _MOST_PROFILES
        notes.append(_("{count:,} further profiles were not searched", count=left))
    return suggestions, tuple(notes)
