"""Found out about a search while the keyboard rests: all hits, what the index holds, what else finds something."""

from __future__ import annotations

import time
from dataclasses import dataclass

from hermes_browse.store.catalog import Catalog
from hermes_browse.store.connect import Reader
from hermes_browse.store.models import View
from hermes_browse.store.search import Conditions, Coverage, Query, Total, count, read_coverage, suggest

from .rows import SuggestionRow
from .search_model import Found, scope_of

_BREATH = 0.001
"""Seconds between two batches of a count."""
_SECONDS = 1.0
"""Time to look whether another view has hits."""


@dataclass(frozen=True)
class Counted:
    """What is found out about a search while the keyboard rests."""

    total: Total | None
    """None where the search itself gave all there is."""
    roots: int
    """Conversations the hits are in."""
    coverage: Coverage
    suggestions: tuple[SuggestionRow, ...] = ()
    """What else would find something, where nothing was found."""


def _breathe() -> bool:
    """Let the screen have its turn: what counts is Python, and only one thread runs that at a time."""
    time.sleep(_BREATH)
    return False


def count_hits(
    reader: Reader,
    found: Found,
    conditions: Conditions,
    *,
    catalog: Catalog,
    view: View,
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
        now: Unix seconds.
        deadline: `time.monotonic()` at which a count gives what it has.
        coverage: What the index holds where that is known.
    """
    total, roots = None, 0
    if found.answer.more and found.answer.complete and found.total is None:  # what was stopped is not begun again
        scope = scope_of(catalog, view, conditions)
        total = count(reader, found.query, cap=0, prefix_last=True, scope=scope, cancelled=_breathe, deadline=deadline)
        chain_of = catalog.forest.chain_of
        roots = len({chain_of[each].root.id if each in chain_of else each for each in total.sessions})
    empty = not found.hits and not found.titles and found.answer.complete
    others = _suggestions(reader, found.query, conditions, catalog, view, now) if empty else ()
    return Counted(total, roots, coverage or read_coverage(reader), others)


def _suggestions(
    reader: Reader, query: Query, conditions: Conditions, catalog: Catalog, view: View, now: float
) -> tuple[SuggestionRow, ...]:
    """The same elsewhere, then other queries here; each has been tried."""
    found: list[SuggestionRow] = []
    elsewhere = () if view is View.ALL else tuple(each for each in View if each not in (view, View.ALL))
    for each in elsewhere:
        scope, deadline = scope_of(catalog, each, conditions), time.monotonic() + _SECONDS
        total = count(reader, query, prefix_last=True, scope=scope, cancelled=_breathe, deadline=deadline)
        if total.count:
            text = f"in {each.value}"
            found.append(SuggestionRow(text, query.text, each, total.count, total.at_least))
    sessions = scope_of(catalog, view, Conditions(None, None, ())).sessions
    known = catalog if catalog.exact else None
    for other in suggest(reader, query, sessions=sessions, cancelled=_breathe, now=now, catalog=known):
        found.append(SuggestionRow(f"{other.text}", other.query, view, other.hits, other.at_least))
    return tuple(found)
