"""When typing pauses, read details of the rows of a search and count its hits.

If there are none, other searches are suggested that have some: in other views, with other queries,
in other profiles. Each suggestion has been counted. Profiles that cannot be searched are reported.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from textual.timer import Timer

from hermes_browse.store.connection.connect import Fingerprint, Store
from hermes_browse.store.connection.reader import Reader
from hermes_browse.store.errors import (
    BrowseError,
    QueryInterruptedError,
    StoreEmptyError,
    StoreMissingError,
)
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.search.coverage import Coverage, read_coverage
from hermes_browse.store.search.engine import Search, until
from hermes_browse.store.search.query import Query
from hermes_browse.store.search.scope import Conditions, compile_filters, make_scope, roots_in
from hermes_browse.store.search.suggest import asks_for_conversations, suggest
from hermes_browse.store.sessions.catalog import Catalog, read_catalog
from hermes_browse.store.sessions.conversations import Forest
from hermes_browse.store.sessions.models import View
from hermes_browse.store.wording import N_, _

from ..context import Context
from ..list.list_rows import SuggestionRow
from ..screens.panes import Panes
from .hit_walk import HitWalk
from .results import HitCounts, SearchResults

_REST = 0.15
"""Seconds without a keystroke before this begins."""
_COUNTING = 20.0
"""Seconds until a count ends with "at least"."""
_BREATH = 0.001
"""Seconds to sleep between two batches of a count."""
_SECONDS = 1.0
"""Maximum seconds to count hits in another view or profile."""
_WHERE = {
    View.CHATS: N_("in chats"),
    View.AUTOMATION: N_("in automation"),
    View.ARCHIVED: N_("in archived"),
    View.ALL: N_("everywhere"),
}
_MOST_PROFILES = 20
"""Maximum number of other profiles to search."""


def whole_catalog(
    reader: Reader, catalog: Catalog, view: View, conditions: Conditions, now: float
) -> Catalog:
    """Return the catalog, read in full if the search needs that; on a worker's thread."""
    if catalog.exact or (view is View.ALL and not conditions.needs_catalog):
        return catalog
    return read_catalog(reader, now)


class Counting:
    """Completes and counts the results after they are first shown; the next keystroke stops it."""

    def __init__(
        self, context: Context, panes: Panes, hits: HitWalk, say_status: Callable[[], None]
    ) -> None:
        self._context, self._panes, self._hits, self._say_status = context, panes, hits, say_status
        self._timer: Timer | None = None
        self._coverage: tuple[Fingerprint, Coverage | None] | None = None
        """Coverage of the index, and the state of the file it was read in."""

    @property
    def is_pending(self) -> bool:
        """Whether the timer runs."""
        return self._timer is not None

    def begin(self, found: SearchResults, view: View) -> None:
        """After a pause count the messages of the conversations shown, as Hermes' own counters are
        only hints."""
        self.forget()

        def done(completed: SearchResults) -> None:
            shown = self._hits.found
            if shown is not None and shown.answer is found.answer:
                self._hits.show(replace(completed, counts=shown.counts))

        def go() -> None:
            self._timer = None
            self._context.page_worker.submit("hit details", found.completed, done)
            self._count(found, view)

        self._timer = self._panes.set_timer(_REST, go)

    def _count(self, found: SearchResults, view: View) -> None:
        """Count all hits and read the coverage of the index, on a thread that delays no search."""
        now, catalog = self._context.clock(), self._context.catalog
        conditions = compile_filters(found.query, now)
        store, cached, location = self._context.store, self._coverage, self._context.location

        def work(reader: Reader) -> tuple[Fingerprint, HitCounts]:
            stamp = store.fingerprint()
            coverage = cached[1] if cached is not None and cached[0] == stamp else None
            if location.old_files is not None:  # names no remedy, as there is none
                coverage = Coverage(0, 0, _("files have no search index: all of them are scanned"))
            whole = whole_catalog(reader, catalog, view, conditions, now)
            return stamp, count_hits(
                reader, found, conditions, whole, view, location, now, coverage
            )

        def done(answer: tuple[Fingerprint, HitCounts]) -> None:
            stamp, counts = answer
            self._coverage = (stamp, counts.coverage)
            shown = self._hits.found
            if shown is None or shown.answer is not found.answer:
                return
            self._hits.found = replace(shown, counts=counts)
            self._say_status()
            if counts.suggestions and not shown.hits:
                # The cursor moves from the note to the first suggestion.
                self._hits.show(self._hits.found, key=counts.suggestions[0].key)

        self._context.count_worker.submit("count", work, done)

    def forget(self) -> None:
        """Stop counting."""
        self._context.count_worker.cancel("count")
        if self._timer is not None:
            self._timer.stop()
            self._timer = None


def count_hits(
    reader: Reader,
    found: SearchResults,
    conditions: Conditions,
    catalog: Catalog,
    view: View,
    location: Location,
    now: float,
    coverage: Coverage | None,
) -> HitCounts:
    """Count all hits of a search and the conversations they are in; look for others if there are
    none.

    Called on a worker's thread. The catalog is from `whole_catalog`; the siblings of the location
    are the other profiles; `coverage` is None if it is to be read. `now` is in Unix seconds.
    """

    def is_cancelled() -> bool:
        time.sleep(_BREATH)  # yields the interpreter lock to the screen's thread
        reader.check()  # a newer query interrupts the reader of this store, not that of another
        return False

    counts = found.counts
    if found.goes_on and counts.total is None:
        scope = make_scope(reader, conditions, catalog, view)
        stopped = until(is_cancelled, _COUNTING)
        total = Search(reader, found.query, scope, prefix_last=True, stopped=stopped).count(0)
        root_of = catalog.forest.root_of
        counts = replace(
            counts, total=total, roots=len({root_of(each) or each for each in total.sessions})
        )
    if not found.hits and not found.titles and not found.answer.stopped:
        suggestions = _suggest_here(
            reader, found.query, conditions, catalog, view, now, is_cancelled
        )
        others, notes = _suggest_profiles(found.query, conditions, location, now, is_cancelled)
        counts = replace(counts, suggestions=(*suggestions, *others), notes=notes)
    return replace(counts, coverage=coverage or read_coverage(reader))


def _suggest_here(
    reader: Reader,
    query: Query,
    conditions: Conditions,
    catalog: Catalog,
    view: View,
    now: float,
    cancelled: Callable[[], bool],
) -> list[SuggestionRow]:
    """Try the query in other views, then other queries in this one."""
    suggestions: list[SuggestionRow] = []
    if view is not View.ALL:
        for other_view in View:
            if other_view not in (view, View.ALL):
                suggestions += _suggestion_for(
                    reader, query, conditions, catalog, other_view, cancelled
                )
        if not suggestions:  # only ALL has subagents of chats and sessions Hermes hides
            suggestions += _suggestion_for(reader, query, conditions, catalog, View.ALL, cancelled)
    whole = catalog if catalog.exact else None
    for other in suggest(
        reader, query, catalog=whole, view=view, stopped=cancelled, now=now, lists=True
    ):
        suggestions.append(
            SuggestionRow(other.text, other.query, view, other.hits, other.at_least, other.of_list)
        )
    return suggestions


def _suggestion_for(
    reader: Reader,
    query: Query,
    conditions: Conditions,
    catalog: Catalog,
    view: View,
    cancelled: Callable[[], bool],
    profile: str = "",
) -> list[SuggestionRow]:
    """Count the hits in a view; return a suggestion of it if there are any."""
    where = _("in profile {name}").format(name=profile) if profile else _(_WHERE[view])
    if asks_for_conversations(query, conditions):
        number = len(roots_in(reader, conditions, catalog, view))
        return (
            [SuggestionRow(where, query.text, view, number, False, True, profile)] if number else []
        )
    scope = make_scope(reader, conditions, catalog, view)
    total = Search(
        reader, query, scope, prefix_last=True, stopped=until(cancelled, _SECONDS)
    ).count()
    if not total.count:
        return []
    return [SuggestionRow(where, query.text, view, total.count, total.at_least, False, profile)]


def _suggest_profiles(
    query: Query,
    conditions: Conditions,
    location: Location,
    now: float,
    cancelled: Callable[[], bool],
) -> tuple[list[SuggestionRow], tuple[str, ...]]:
    """Count the hits in the stores of the other profiles, opening and closing one after the
    other."""
    suggestions: list[SuggestionRow] = []
    notes: list[str] = []
    others = [each for each in location.profiles() if each.path != location.path]
    for other in others[:_MOST_PROFILES]:
        name = other.profile or ""
        if cancelled():
            break
        try:
            with Store(other.path).reader() as reader:
                needed = conditions.needs_catalog
                catalog = (
                    read_catalog(reader, now) if needed else Catalog(Forest((), now), exact=False)
                )
                suggestions += _suggestion_for(
                    reader, query, conditions, catalog, View.ALL, cancelled, name
                )
        except (StoreMissingError, StoreEmptyError):
            continue  # a profile that has not been used yet
        except QueryInterruptedError:
            raise
        except BrowseError as error:
            sentence = _("profile {name} could not be searched: {reason}")
            notes.append(sentence.format(name=name, reason=error.sentence))
    if len(others) > _MOST_PROFILES:
        left = len(others) - _MOST_PROFILES
        notes.append(_("{count:,} further profiles were not searched").format(count=left))
    return suggestions, tuple(notes)
