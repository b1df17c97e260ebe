"""While the keyboard rests: what is shown is completed, all hits are counted; the next keystroke stops it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from textual.timer import Timer

from hermes_browse.store.connect import Fingerprint, Reader
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import View
from hermes_browse.store.wording import _

if TYPE_CHECKING:
    from hermes_browse.store.search import Conditions, Coverage

    from ..search_count import Counted
    from ..search_model import Found
    from .main import MainScreen
    from .searching import Searching

_REST = 0.15
"""Seconds the keyboard rests before the messages of what was found are counted."""
_COUNTING = 20.0
"""Seconds a count may take before it says "at least"."""


def whole_catalog(reader: Reader, catalog: Catalog, view: View, conditions: Conditions, now: float) -> Catalog:
    """All conversations where a search has to know them; on a worker's thread."""
    if catalog.exact or (view is View.ALL and conditions.conversation is None):
        return catalog
    from hermes_browse.store.sessions.catalog import read_catalog

    return read_catalog(reader, now)


class Resting:
    """Finds out more about a search behind its first answer."""

    def __init__(self, screen: MainScreen, searching: Searching) -> None:
        self._screen, self._searching = screen, searching
        self._timer: Timer | None = None
        self._coverage: tuple[Fingerprint, Coverage] | None = None
        """What the index held when the file looked so."""

    @property
    def is_pending(self) -> bool:
        """Whether the rest has begun that something will be done after."""
        return self._timer is not None

    def begin(self, found: Found) -> None:
        """Count the messages of the conversations shown: the counters Hermes keeps are hints."""
        self.forget()

        def work(reader: Reader) -> Found:
            return found.completed(reader)

        def done(completed: Found) -> None:
            shown = self._searching.found
            if shown is not None and shown.answer is found.answer:
                self._searching.found_details(shown.detailed(completed))

        def go() -> None:
            self._timer = None
            self._screen.page_worker.submit("hit details", work, done, self._screen.failed)  # not shown
            self._count(found)

        self._timer = self._screen.set_timer(_REST, go)

    def _count(self, found: Found) -> None:
        """Count all hits, and look at what the index holds; the next keystroke stops it.

        On a thread of its own: a search would wait for some milliseconds until a count has stopped.
        """
        from hermes_browse.store.search import Coverage, make_conditions

        from .. import search_count

        now, view, catalog = self._screen.clock(), self._searching.view, self._screen.listing.catalog
        conditions = make_conditions(found.query, now)
        store, held, location = self._screen.store, self._coverage, self._screen.location
        is_of_files = self._screen.location.old_files is not None

        def work(reader: Reader) -> tuple[Fingerprint, Counted]:
            stamp = store.fingerprint()
            coverage = held[1] if held is not None and held[0] == stamp else None
            if is_of_files:  # nothing can be done about it, so no remedy is named
                coverage = Coverage(0, 0, _("files have no search index: all of them are scanned"))
            return stamp, search_count.count_hits(
                reader,
                found,
                conditions,
                catalog=whole_catalog(reader, catalog, view, conditions, now),
                view=view,
                location=location,
                now=now,
                deadline=time.monotonic() + _COUNTING,
                coverage=coverage,
            )

        def done(answer: tuple[Fingerprint, Counted]) -> None:
            stamp, counted = answer
            self._coverage = (stamp, counted.coverage)
            shown = self._searching.found
            if shown is not None and shown.answer is found.answer:
                self._searching.found_counts(shown.counted(counted))

        self._screen.count_worker.submit("count", work, done, self._screen.failed)

    def forget(self) -> None:
        """Something else is asked: leave off."""
        self._screen.count_worker.cancel("count")
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
