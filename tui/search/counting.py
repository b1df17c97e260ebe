"""Read details of the rows of a search and count its hits when typing pauses."""

from __future__ import annotations

import time
from collections.abc import Callable

from textual.timer import Timer

from hermes_browse.store.connection.connect import Fingerprint, Reader
from hermes_browse.store.search import Conditions, Coverage, make_conditions
from hermes_browse.store.sessions.catalog import Catalog, read_catalog
from hermes_browse.store.sessions.models import View
from hermes_browse.store.wording import _

from ..context import Context
from ..screens.panes import Panes
from .results import Counted, SearchResults
from .totals import count_hits

_REST = 0.15
"""Seconds without a keystroke before this begins."""
_COUNTING = 20.0
"""Seconds until a count ends with "at least"."""


def whole_catalog(reader: Reader, catalog: Catalog, view: View, conditions: Conditions, now: float) -> Catalog:
    """Return the catalog, read in full if the search needs that; on a worker's thread."""
    if catalog.exact or (view is View.ALL and conditions.conversation is None):
        return catalog
    return read_catalog(reader, now)


class Counting:
    """Completes and counts the results after they are first shown; the next keystroke stops it.

    Args:
        context: The store.
        panes: For the timer.
        found: Returns the results shown.
        detailed: Called with the results with details of their rows.
        counted: Called with the results with their hits counted.
    """

    def __init__(
        self,
        context: Context,
        panes: Panes,
        found: Callable[[], SearchResults | None],
        detailed: Callable[[SearchResults], None],
        counted: Callable[[SearchResults], None],
    ) -> None:
        self._context, self._panes = context, panes
        self._found, self._detailed, self._counted = found, detailed, counted
        self._timer: Timer | None = None
        self._coverage: tuple[Fingerprint, Coverage] | None = None
        """Coverage of the index, and the state of the file it was read in."""

    @property
    def is_pending(self) -> bool:
        """Whether the timer runs."""
        return self._timer is not None

    def begin(self, found: SearchResults, view: View) -> None:
        """After a pause count the messages of the conversations shown, as Hermes' own counters are only hints."""
        self.forget()

        def work(reader: Reader) -> SearchResults:
            return found.completed(reader)

        def done(completed: SearchResults) -> None:
            shown = self._found()
            if shown is not None and shown.answer is found.answer:
                self._detailed(shown.detailed(completed))

        def go() -> None:
            self._timer = None
            self._context.page_worker.submit("hit details", work, done, self._context.failed)
            self._count(found, view)

        self._timer = self._panes.set_timer(_REST, go)

    def _count(self, found: SearchResults, view: View) -> None:
        """Count all hits and read the coverage of the index, on a thread that delays no search."""
        now, catalog = self._context.clock(), self._context.catalog
        conditions = make_conditions(found.query, now)
        store, cached, location = self._context.store, self._coverage, self._context.location
        is_of_files = self._context.location.old_files is not None

        def work(reader: Reader) -> tuple[Fingerprint, Counted]:
            stamp = store.fingerprint()
            coverage = cached[1] if cached is not None and cached[0] == stamp else None
            if is_of_files:  # names no remedy, as there is none
                coverage = Coverage(0, 0, _("files have no search index: all of them are scanned"))
            return stamp, count_hits(
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
            shown = self._found()
            if shown is not None and shown.answer is found.answer:
                self._counted(shown.counted(counted))

        self._context.count_worker.submit("count", work, done, self._context.failed)

    def forget(self) -> None:
        """Stop counting."""
        self._context.count_worker.cancel("count")
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
