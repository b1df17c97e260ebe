"""What the list shows: the catalog, its view and order, and what is read behind it."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hermes_browse.store.connect import Reader
from hermes_browse.store.preview import with_details
from hermes_browse.store.sessions.catalog import Catalog, Mark, read_catalog, read_increment, read_mark
from hermes_browse.store.sessions.models import Conversation, Sort, Status, View
from hermes_browse.store.wording import _

from ..list_model import CatalogRows, incomplete, make_rows
from ..rows import FixedRows, NoteRow

if TYPE_CHECKING:
    from .main import MainScreen

_PAUSE = 0.4
"""Seconds after a change before the catalog is read again, at least; more where reading takes long."""
_SHARE = 20.0
"""A reading that took a second is not repeated within this many."""
_WHOLE_PAUSE, _WHOLE_SHARE = 30.0, 60.0
"""The same for reading all of a store that changes, not only what has."""


class _Read(NamedTuple):
    """What a reading gives."""

    catalog: Catalog
    mark: Mark
    rows: CatalogRows
    took: float
    """Seconds."""
    whole: bool
    live: bool
    """Somebody is writing."""
    touched: frozenset[str]
    """Sessions that were read anew because they were known to have changed."""


_NEWEST = 50
"""Conversations used last, among which those that are being written to are looked for."""


def _is_written_to(catalog: Catalog, mark: Mark | None = None) -> bool:
    """Whether a lease or lock says that somebody writes, or a row of the list is shown as live."""
    if mark is not None and mark.busy:
        return True
    return any(catalog.of_chain(chain).status is Status.LIVE for chain in catalog.forest.newest(_NEWEST))


class Listing:
    """Keeps the list true to the store without moving what is on screen."""

    def __init__(self, screen: MainScreen, first: Catalog) -> None:
        self._screen = screen
        self.catalog = first
        """What is known of all conversations."""
        self.view = View.CHATS
        self.sort = Sort.ACTIVITY
        self.reverse = False
        self._opened: set[str] = set()
        self._mark: Mark | None = None
        self._took = 0.0
        self._whole_took = 0.0
        self._whole_at = 0.0
        self._stale = False
        self._read_at = 0.0
        self._scheduled = False
        self._live = _is_written_to(first)
        self._touched: set[str] = set()

    def begin_as(self, view: View, sort: Sort, *, reverse: bool) -> None:
        """Begin with another view and order; to be said before anything is shown."""
        self.view, self.sort, self.reverse = view, sort, reverse

    def begin(self, at: int = 0) -> None:
        """Show the first page, which is the newest of the chats: other first rows come with the first reading.

        Args:
            at: The row the cursor begins on.
        """
        if not self.catalog.exact and (self.view, self.sort, self.reverse) != (View.CHATS, Sort.ACTIVITY, False):
            self._screen.rows.show(FixedRows([NoteRow(_("reading the store …"))]), top=True)
            return
        rows = make_rows(
            self.catalog, self._screen.details, self.view, self.sort, reverse=self.reverse, opened=self._opened
        )
        if not self._screen.searching.is_active:
            self._screen.rows.show(rows, top=True, at=at)

    def read(self, *, whole: bool = True) -> None:
        """Read the catalog in the background.

        Args:
            whole: All of it anew, not only what has changed.
        """
        details, view, sort, reverse = self._screen.details, self.view, self.sort, self.reverse
        opened = frozenset(self._opened)
        now = self._screen.clock()
        known, mark = self.catalog, None if whole else self._mark
        earlier = known if self._mark is not None else None  # a first page has its sessions in another order
        touched = frozenset(self._touched)

        def work(reader: Reader) -> _Read:
            begun = time.monotonic()
            gc.disable()  # what is made here is data without rings, and there is much of it to look through
            is_whole = False
            try:
                step = read_increment(reader, known, mark, now, touched) if mark is not None else None
                is_whole = step is None
                if step is None:
                    if known.exact:  # not at the start: then there is nothing to let go
                        gc.unfreeze()  # a screen that was open the last time may have been left since
                    gc.collect()  # rings of the screen that nobody needs would be kept with what is kept below
                    reached = read_mark(reader)
                    step = read_catalog(reader, now, earlier), reached
                rows = make_rows(step[0], details, view, sort, reverse=reverse, opened=opened)
                step[0].forest.counts()
            finally:
                if is_whole:  # not with each change: what the screen has let go of since would stay for good
                    gc.freeze()
                gc.enable()
            return _Read(*step, rows, time.monotonic() - begun, is_whole, _is_written_to(*step), touched)

        self._read_at = time.monotonic()
        self._screen.list_worker.submit("rows", work, self._take_catalog, self._screen.failed)

    def _take_catalog(self, read: _Read) -> None:
        self.catalog, self._mark, self._took = read.catalog, read.mark, read.took
        self._touched -= read.touched
        if read.whole:
            self._whole_at, self._whole_took, self._stale = time.monotonic(), read.took, False
        self._screen.changing.catalog_read()
        self._take_rows(read.rows)
        self._screen.current.catalog_read()
        self._screen.searching.catalog_read()
        self._screen.unsay(_("reading the store again"))
        if self._live != read.live:
            self._live = read.live
            self._screen.state_changed()
        self._screen.catalog_changed()

    def _take_rows(self, rows: CatalogRows) -> None:
        if not self._screen.searching.is_active:
            self._screen.rows.show(rows)
        self._screen.show_header()

    def refresh(self, *, top: bool = False, at: Sequence[str] = ()) -> None:
        """Make the rows anew from the catalog at hand.

        Args:
            top: Begin at the first row.
            at: Put the cursor on the first of these that is listed, by key.
        """
        catalog, details, view, sort = self.catalog, self._screen.details, self.view, self.sort
        reverse, opened = self.reverse, frozenset(self._opened)

        def work(reader: Reader) -> CatalogRows:
            known = catalog if catalog.exact else read_catalog(reader, catalog.now)
            return make_rows(known, details, view, sort, reverse=reverse, opened=opened)

        def done(rows: CatalogRows) -> None:
            if not self._screen.searching.is_active:
                key = next((key for key in at if rows.index_of(key) is not None), None)
                self._screen.rows.show(rows, key=key, top=top)

        self._screen.page_worker.submit("rows", work, done, self._screen.failed)

    def changed(self) -> None:
        """The store has changed: read it again soon, but never all the time."""
        if self._scheduled:
            return
        self._scheduled = True
        since = time.monotonic() - self._read_at
        self._screen.set_timer(max(_PAUSE, self._took * _SHARE - since), self._again)

    def touched(self, session_ids: Iterable[str]) -> None:
        """Sessions have been changed, deleted or put back by this program: show it at once.

        Args:
            session_ids: Which.
        """
        self._touched.update(session_ids)
        self.read(whole=self._mark is None)
        self._screen.searching.again()

    def _again(self) -> None:
        self._scheduled = False
        self.read(whole=self._mark is None)
        if not self._stale:
            self._stale = True
            wait = max(_WHOLE_PAUSE, self._whole_took * _WHOLE_SHARE) - (time.monotonic() - self._whole_at)
            self._screen.set_timer(max(wait, _PAUSE), self._read_whole)

    def _read_whole(self) -> None:
        """There have been changes since all was read, and some leave no trace that an increment could follow."""
        if self._stale:
            self.read()

    def complete(self, first: int, last: int) -> None:
        """Read previews and counts of rows on screen that lack them."""
        wanted = incomplete(self._screen.rows.source, first, last)
        if not wanted:
            return

        def done(found: list[Conversation]) -> None:
            self._screen.details.add(found)
            self._screen.rows.refresh_rows()

        self._screen.page_worker.submit(
            "details", lambda reader: with_details(reader, wanted), done, self._screen.failed
        )

    def set_view(self, view: View) -> None:
        """Show another view, from its top."""
        self.view = view
        self.refresh(top=True)

    def set_sort(self, sort: Sort, *, reverse: bool) -> None:
        """Order by something else; the cursor stays on its conversation."""
        self.sort, self.reverse = sort, reverse
        self.refresh()

    def toggle_job(self, name: str) -> None:
        """Show or fold the runs of a job."""
        self._opened ^= {name}
        self.refresh()

    def state_text(self) -> str:
        """Whether the store is being written to."""
        return _("Hermes is writing") if self._live else _("no one is writing")
