"""Found out about a search while the keyboard rests: all hits, what the index holds, what else finds something."""

from __future__ import annotations

import time
from dataclasses import dataclass

from hermes_browse.store.connect import Reader
from hermes_browse.store.homes import Location
from hermes_browse.store.search import Conditions, Coverage, Total, count, read_coverage
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import View

from .rows import SuggestionRow
from .search_elsewhere import Elsewhere, look_elsewhere, scope_of
from .search_model import Found

_BREATH = 0.001
"""Seconds between two batches of a count."""


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
    notes: tuple[str, ...] = ()
    """What could not be looked at."""


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
        other = look_elsewhere(
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
