"""Count all hits of a search when typing pauses; if there are none, suggest other searches that have some.

Other views, other queries and other profiles are tried, and each suggestion has been counted. Profiles that cannot be
searched are reported.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from hermes_browse.store.connection.connect import Reader, Store
from hermes_browse.store.errors import BrowseError, QueryInterruptedError, StoreEmptyError, StoreMissingError
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.search import (
    Conditions,
    Coverage,
    Query,
    Scope,
    asks_for_conversations,
    count,
    count_conversations,
    read_coverage,
    suggest,
)
from hermes_browse.store.sessions.catalog import Catalog, allowed_sessions, read_catalog
from hermes_browse.store.sessions.conversations import Forest
from hermes_browse.store.sessions.models import View
from hermes_browse.store.wording import N_, _

from ..list.list_rows import SuggestionRow
from .results import Counted, SearchResults

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


def _breathe() -> bool:
    """Yield the interpreter lock to the screen's thread; a `cancelled` that never cancels."""
    time.sleep(_BREATH)
    return False


def count_hits(
    reader: Reader,
    found: SearchResults,
    conditions: Conditions,
    *,
    catalog: Catalog,
    view: View,
    location: Location,
    now: float,
    deadline: float,
    coverage: Coverage | None = None,
) -> Counted:
    """Count all hits of a search and the conversations they are in, on a worker's thread.

    Args:
        reader: Open.
        found: The search and its first hits.
        conditions: Filters of its query.
        catalog: Of the whole store.
        view: The view searched.
        location: Of the store; its siblings are the other profiles.
        now: Unix seconds.
        deadline: `time.monotonic()` at which a count ends with "at least".
        coverage: Coverage of the index; None to read it.
    """
    total, roots = None, 0
    if found.answer.more and not found.answer.stopped and found.total is None:  # a stopped search is not resumed
        scope = scope_of(catalog, view, conditions)
        total = count(reader, found.query, cap=0, prefix_last=True, scope=scope, cancelled=_breathe, deadline=deadline)
        root_of = catalog.forest.root_of
        roots = len({root_of(each) or each for each in total.sessions})
    empty = not found.hits and not found.titles and not found.answer.stopped
    other = Elsewhere()
    if empty:
        other = _look_elsewhere(
            reader,
            found.query,
            conditions,
            catalog=catalog,
            view=view,
            location=location,
            now=now,
            cancelled=_breathe,
        )
    return Counted(total, roots, coverage or read_coverage(reader), other.suggestions, other.notes)


class Elsewhere(NamedTuple):
    """Searches that have hits, and messages about profiles that could not be searched."""

    suggestions: tuple[SuggestionRow, ...] = ()
    notes: tuple[str, ...] = ()


def scope_of(catalog: Catalog, view: View, conditions: Conditions) -> Scope:
    """Return the scope of a search: the view, restricted by the filters."""
    allowed: Callable[[str], bool] | None = None
    if conditions.conversation is not None:
        allowed = allowed_sessions(catalog, view, (), conditions.conversation).__contains__
    elif view is not View.ALL:
        allowed = _is_in(catalog, view)
    return Scope(allowed, frozenset(), conditions.message)


def _is_in(catalog: Catalog, view: View) -> Callable[[str], bool]:
    """Return a cached test whether a session is in a view; a keystroke tests few of all sessions."""
    forest = catalog.forest

    @cache
    def is_in(session_id: str) -> bool:
        return forest.is_in(session_id, view)

    return is_in


def _look_elsewhere(
    reader: Reader,
    query: Query,
    conditions: Conditions,
    *,
    catalog: Catalog,
    view: View,
    location: Location,
    now: float,
    cancelled: Callable[[], bool],
) -> Elsewhere:
    """Try the query in other views, then other queries here, then the query in other profiles.

    Args:
        reader: Open.
        query: The query without hits.
        conditions: Its filters.
        catalog: Of the whole store, if it has been read.
        view: The view searched.
        location: Of the store.
        now: Unix seconds.
        cancelled: Called between statements.
    """
    suggestions: list[SuggestionRow] = []
    if view is not View.ALL:
        for other_view in View:
            if other_view not in (view, View.ALL):
                suggestions += _measure(reader, query, conditions, catalog, other_view, cancelled)
        if not suggestions:  # only ALL has subagents of chats and sessions Hermes hides
            suggestions += _measure(reader, query, conditions, catalog, View.ALL, cancelled)
    sessions = scope_of(catalog, view, Conditions()).sessions
    whole = catalog if catalog.exact else None
    for other in suggest(reader, query, sessions=sessions, cancelled=cancelled, now=now, catalog=whole, lists=True):
        suggestions.append(SuggestionRow(other.text, other.query, view, other.hits, other.at_least, other.of_list))

    def is_superseded() -> bool:
        reader.check()  # a newer query interrupts the reader of this store, not that of another
        return cancelled()

    others, notes = _other_profiles(query, conditions, location, now, is_superseded)
    return Elsewhere((*suggestions, *others), notes)


def _measure(
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
        number = count_conversations(catalog, conditions, allowed_sessions(catalog, view).__contains__)
        return [SuggestionRow(where, query.text, view, number, False, True, profile)] if number else []
    deadline = time.monotonic() + _SECONDS
    scope = scope_of(catalog, view, conditions)
    total = count(reader, query, prefix_last=True, scope=scope, cancelled=cancelled, deadline=deadline)
    if not total.count:
        return []
    return [SuggestionRow(where, query.text, view, total.count, total.at_least, False, profile)]


def _other_profiles(
    query: Query, conditions: Conditions, location: Location, now: float, cancelled: Callable[[], bool]
) -> tuple[list[SuggestionRow], tuple[str, ...]]:
    """Count the hits in the stores of the other profiles, opening and closing one after the other."""
    suggestions: list[SuggestionRow] = []
    notes: list[str] = []
    others = [each for each in location.profiles() if each.path != location.path]
    for other in others[:_MOST_PROFILES]:
        name = other.profile or ""
        if cancelled():
            break
        try:
            with Store(other.path).reader() as reader:
                needed = conditions.conversation is not None
                catalog = read_catalog(reader, now) if needed else Catalog(Forest(()), now, exact=False)
                suggestions += _measure(reader, query, conditions, catalog, View.ALL, cancelled, name)
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
