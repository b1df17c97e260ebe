"""What is found out about a search while the keyboard rests: all hits, what the index holds, what else finds something.

Where a search found nothing, other views, other queries and other profiles are tried. Everything offered has been
measured; what cannot be looked at is said.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from hermes_browse.store.connection.connect import Reader, Store
from hermes_browse.store.errors import BrowseError, QueryInterruptedError, StoreEmptyError, StoreMissingError
from hermes_browse.store.hermes.homes import Location, profiles
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

from ..list.rows import SuggestionRow
from .results import Counted, Found

_BREATH = 0.001
"""Seconds between two batches of a count."""
_SECONDS = 1.0
"""Time to look whether another view or profile has hits."""
_WHERE = {
    View.CHATS: N_("in chats"),
    View.AUTOMATION: N_("in automation"),
    View.ARCHIVED: N_("in archived"),
    View.ALL: N_("everywhere"),
}
_MOST_PROFILES = 20
"""More than these are not looked into."""


def _breathe() -> bool:
    """Give the screen's thread a turn: counting is Python, and only one thread runs that at a time."""
    time.sleep(_BREATH)
    return False


def count_hits(
    reader: Reader,
    found: Found,
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
        found: The search.
        conditions: Filters of its query.
        catalog: The whole store.
        view: Where was looked.
        location: Which store this is: other profiles stand beside it.
        now: Unix seconds.
        deadline: `time.monotonic()` at which a count gives what it has.
        coverage: What the index holds where that is known.
    """
    total, roots = None, 0
    if found.answer.more and not found.answer.stopped and found.total is None:  # what was stopped is not begun again
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
    """Searches that find something, and what could not be looked at."""

    suggestions: tuple[SuggestionRow, ...] = ()
    notes: tuple[str, ...] = ()


def scope_of(catalog: Catalog, view: View, conditions: Conditions) -> Scope:
    """Where hits may be: in the view, and where the filters allow."""
    allowed: Callable[[str], bool] | None = None
    if conditions.conversation is not None:
        allowed = allowed_sessions(catalog, view, (), conditions.conversation).__contains__
    elif view is not View.ALL:
        allowed = _is_in(catalog, view)
    return Scope(allowed, frozenset(), conditions.message)


def _is_in(catalog: Catalog, view: View) -> Callable[[str], bool]:
    """A test whether a session is in a view; it remembers its answers, as a keystroke asks for few of all sessions."""
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
    """The same in other views, then other queries here, then the same in other profiles.

    Args:
        reader: Open.
        query: What found nothing.
        conditions: Its filters.
        catalog: The whole store, if it has been read.
        view: Where was looked.
        location: Which store this is.
        now: Unix seconds.
        cancelled: Asked between statements.
    """
    found: list[SuggestionRow] = []
    narrow = () if view is View.ALL else tuple(each for each in View if each not in (view, View.ALL))
    for each in narrow:
        found += _measure(reader, query, conditions, catalog, each, cancelled)
    if view is not View.ALL and not found:  # subagents below a chat, and what Hermes hides, are in no other
        found += _measure(reader, query, conditions, catalog, View.ALL, cancelled)
    sessions = scope_of(catalog, view, Conditions()).sessions
    known = catalog if catalog.exact else None
    for other in suggest(reader, query, sessions=sessions, cancelled=cancelled, now=now, catalog=known, lists=True):
        found.append(SuggestionRow(other.text, other.query, view, other.hits, other.at_least, other.of_list))

    def left() -> bool:
        reader.check()  # a newer question interrupts the reader of this store, not that of another
        return cancelled()

    others, notes = _other_profiles(query, conditions, location, now, left)
    return Elsewhere((*found, *others), notes)


def _measure(
    reader: Reader,
    query: Query,
    conditions: Conditions,
    catalog: Catalog,
    view: View,
    cancelled: Callable[[], bool],
    profile: str = "",
) -> list[SuggestionRow]:
    """Count the search somewhere else; a row that offers it, if it finds anything there."""
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
    """The same in the stores of the other profiles: each opened, asked, and closed again."""
    found: list[SuggestionRow] = []
    notes: list[str] = []
    if location.root is None or location.demo:
        return found, ()
    others = [each for each in profiles(location.root) if each.path != location.path]
    for other in others[:_MOST_PROFILES]:
        name = other.profile or ""
        if cancelled():
            break
        try:
            with Store(other.path).reader() as reader:
                needed = conditions.conversation is not None
                catalog = read_catalog(reader, now) if needed else Catalog(Forest(()), now, exact=False)
                found += _measure(reader, query, conditions, catalog, View.ALL, cancelled, name)
        except (StoreMissingError, StoreEmptyError):
            continue  # a profile that has not been used yet has nothing to find
        except QueryInterruptedError:
            raise
        except BrowseError as error:
            sentence = _("profile {name} could not be searched: {reason}")
            notes.append(sentence.format(name=name, reason=error.sentence))
    if len(others) > _MOST_PROFILES:
        left = len(others) - _MOST_PROFILES
        notes.append(_("{count:,} further profiles were not searched").format(count=left))
    return found, tuple(notes)
