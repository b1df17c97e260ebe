"""What is read about a search while the keyboard rests: details of its rows, and the number of hits."""

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
from ..search_count import count_hits
from ..search_model import Counted, Found
from .panes import Panes

_REST = 0.15
"""Seconds the keyboard rests before the messages of what was found are counted."""
_COUNTING = 20.0
"""Seconds a count may take before it says "at least"."""


def whole_catalog(reader: Reader, catalog: Catalog, view: View, conditions: Conditions, now: float) -> Catalog:
    """The whole catalog if the search needs it, else the one at hand; on a worker's thread."""
    if catalog.exact or (view is View.ALL and conditions.conversation is None):
        return catalog

    return read_catalog(reader, now)


class Counting:
    """Completes and counts behind the first answer of a search; the next keystroke stops it.

    Args:
        context: The store.
        panes: For the timer.
        found: What the list shows now.
        detailed: Takes it with what its rows lacked.
        counted: Takes it with its hits counted.
    """

    def __init__(
        self,
        context: Context,
        panes: Panes,
        found: Callable[[], Found | None],
        detailed: Callable[[Found], None],
        counted: Callable[[Found], None],
    ) -> None:
        self._context, self._panes = context, panes
        self._found, self._detailed, self._counted = found, detailed, counted
        self._timer: Timer | None = None
        self._coverage: tuple[Fingerprint, Coverage] | None = None
        """What the index held when the file looked so."""

    @property
    def is_pending(self) -> bool:
        """Whether the timer runs after which it counts."""
        return self._timer is not None

    def begin(self, found: Found, view: View) -> None:
        """Once the keyboard rests, count the messages of the conversations shown: Hermes' own counters are hints."""
        self.forget()

        def work(reader: Reader) -> Found:
            return found.completed(reader)

        def done(completed: Found) -> None:
            shown = self._found()
            if shown is not None and shown.answer is found.answer:
                self._detailed(shown.detailed(completed))

        def go() -> None:
            self._timer = None
            self._context.page_worker.submit("hit details", work, done, self._context.failed)  # not shown
            self._count(found, view)

        self._timer = self._panes.set_timer(_REST, go)

    def _count(self, found: Found, view: View) -> None:
        """Count all hits, and look at what the index holds; the next keystroke stops it.

        On a thread of its own: a search would wait for some milliseconds until a count has stopped.
        """
        now, catalog = self._context.clock(), self._context.catalog
        conditions = make_conditions(found.query, now)
        store, held, location = self._context.store, self._coverage, self._context.location
        is_of_files = self._context.location.old_files is not None

        def work(reader: Reader) -> tuple[Fingerprint, Counted]:
            stamp = store.fingerprint()
            coverage = held[1] if held is not None and held[0] == stamp else None
            if is_of_files:  # nothing can be done about it, so no remedy is named
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
        """Stop: another question is asked."""
        self._context.count_worker.cancel("count")
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
