"""The list's controller: its catalog, view and order, re-read in the background when the store
changes."""

from __future__ import annotations

import gc
import time
from collections.abc import Container, Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from hermes_browse.store.api import OpenStore
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.hermes.homes import short_reason
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Conversation, Sort, Status, View
from hermes_browse.store.sessions.session_rows import StoreState
from hermes_browse.store.since.cron_runs import read_job_names
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

from ...widgets.list_rows import FixedRows, ListRow, NoteRow, RowSource
from ..panes import Panes, load
from .columns import ListLayout
from .list_model import CatalogRows, Order, make_rows

SILENT_SECONDS = 30.0
"""After so long without a read, whatever was live is looked at again."""
_BETWEEN = 2.0
"""Minimum seconds between reads: each makes all conversations anew."""
_SHARE = 20.0
"""Minimum seconds between reads, per second the last one took."""
_WHOLE_PAUSE, _WHOLE_SHARE = 30.0, 60.0
"""The same two limits for full reads of a store that changes."""
_LARGE = 20_000
"""The garbage collector never looks through more sessions than this: at 100,000, it would hold up
the screen for 70 ms. Screens that were open while they were read are kept in memory, then."""


class _Read(NamedTuple):
    """Result of a read."""

    catalog: Catalog
    state: StoreState
    rows: CatalogRows
    took: float
    """Seconds."""
    live: bool
    """Somebody is writing."""
    is_whole: bool
    """Everything was read, not only changes."""


_NEWEST = 50
"""Most recently used conversations that are checked for being live."""


def _is_live(catalog: Catalog) -> bool:
    """Return whether somebody writes one of the newest conversations."""
    newest = islice(catalog.listed(View.ALL), _NEWEST)
    return any(catalog.conversation(root).status is Status.LIVE for root in newest)


def _is_large(catalog: Catalog) -> bool:
    return len(catalog.sessions) > _LARGE


def _brought_back(
    before: RowSource, rows: CatalogRows, changed: Container[str | None]
) -> str | None:
    """Return the key of the first row that a change of this program, of conversations given by
    their roots, has brought back into the list: the cursor goes to what an undo was about."""
    if not isinstance(before, CatalogRows):
        return None
    known = set(before.among(changed))
    back = (root for root in rows.among(changed) if root not in known)
    return next((f"c{root}" for root in back), None)


class Listing:
    """Keeps the list in step with the store without moving what is on screen."""

    def __init__(self, main: Panes) -> None:
        self._main = main
        self._opened: frozenset[str] = frozenset()
        """The jobs whose runs are shown."""
        self._state: StoreState | None = None
        self._took = self._whole_took = 0.0
        """Seconds of the last read, and of the last full one."""
        self._read_at = self._whole_at = 0.0
        """When these were begun."""
        self.is_outdated = False
        """The store has changed since the last read was begun."""
        self._touched: set[str] = set()
        """Sessions to re-read because this program changed them."""
        self._changed_at = ""
        """The key of the row that had the keys when it changed them."""
        self.is_live = False
        """Somebody was writing at the last read."""

    def begin(self, at: int = 0) -> None:
        """Show the first page if view and order are the default, with the cursor on the row `at`.

        Otherwise show a note until the first read.
        """
        main = self._main
        main.rows.columns = self.columns
        self._tell_who_writes(is_live=_is_live(main.catalog))
        is_default = (main.view, main.sort, main.reverse) == (View.CHATS, Sort.ACTIVITY, False)
        if is_default or main.catalog.exact:
            self._show(self._make(main.catalog), top=True)
            main.rows.action_move(at)
        else:
            self._show(FixedRows([NoteRow(_("reading the store …"))]), top=True)

    def _show(self, rows: RowSource, *, key: str | None = None, top: bool = False) -> None:
        """Show rows as `ConversationList.show` does, unless the list shows search results."""
        if self._main.searched is None:
            self._main.rows.show(rows, key=key, top=top)
            if top:
                self._main.rows.action_jump(len(self._main.notes()))

    def _make(self, catalog: Catalog) -> CatalogRows:
        """Make the rows in the current view and order, on any thread."""
        main = self._main
        return make_rows(catalog, main.details, main.view, main.order, self._opened, main.notes())

    @property
    def _asked(self) -> tuple[View, Order, frozenset[str]]:
        """What rows are made for."""
        return self._main.view, self._main.order, self._opened

    def read(self, *, whole: bool = True) -> None:
        """Read the catalog in the background: everything, or only the changes."""
        self._read_at, self.is_outdated = time.monotonic(), False
        state = None if whole else self._state
        if state is None:
            self._whole_at = self._read_at
        self._main.start("catalog", self._read, state)

    def read_if_due(self) -> None:
        """Read what has changed since the last read; seldom everything, as an increment cannot
        detect every change. A read under way goes on: a long one would never end while somebody
        writes."""
        if self._main.is_under_way("catalog"):
            return
        now = time.monotonic()
        since, has_increments = now - self._read_at, self._read_at > self._whole_at
        is_silent = self.is_live and since >= SILENT_SECONDS
        whole_pause = max(_WHOLE_PAUSE, self._whole_took * _WHOLE_SHARE)
        if has_increments and now - self._whole_at >= whole_pause:
            self.read()
        elif is_silent or (self.is_outdated and since >= max(_BETWEEN, self._took * _SHARE)):
            self.read(whole=False)

    async def _read(self, state: StoreState | None) -> None:
        main, touched, asked = self._main, frozenset(self._touched), self._asked
        try:
            read = await main.read(lambda store: self._update(store, state, touched))
            rows = read.rows
            while asked != self._asked:  # a key has asked for other rows meanwhile
                asked = self._asked
                rows = await main.read(lambda _store: self._make(read.catalog))
        except BrowseError as error:
            if isinstance(main.rows.current, NoteRow):  # the store is being read
                note = NoteRow(one_line(short_reason(error, main.location)))
                self._show(FixedRows([note]), top=True)
            raise
        self._state, self._took = read.state, read.took
        self._touched -= touched
        if read.is_whole:
            self._whole_took = read.took
        self._leave_what_is_gone(read.catalog, touched)
        key = None
        if touched and main.rows.key == self._changed_at:
            roots = set(map(read.catalog.root_of, touched))
            key = _brought_back(main.rows.source, rows, roots)
        self._show(rows, key=key)
        main.catalog = read.catalog
        self.measure()
        main.read_attention()
        main.retract(_("reading the store again"), then=_("the store was read again"))
        self._tell_who_writes(is_live=read.live)

    def _update(self, store: OpenStore, state: StoreState | None, touched: frozenset[str]) -> _Read:
        """Bring the catalog up to date from its state, on a reading thread; without one, read
        everything."""
        begun, now = time.monotonic(), self._main.clock()
        catalog, location = self._main.catalog, self._main.location
        gc.disable()  # this makes much data without reference cycles, expensive to scan
        is_whole = False
        try:
            step = store.increment(catalog, state, now, touched) if state is not None else None
            is_whole = step is None
            if step is None:
                if catalog.exact and not _is_large(catalog):  # the first time nothing is frozen yet
                    gc.unfreeze()  # a screen that was open then may have been closed since
                gc.collect()  # or unreachable cycles would be frozen with the rest
                state = store.state()  # before the catalog, so that no change between is missed
                step = store.catalog(now, catalog), state
                if location.root is not None:
                    self._main.details.jobs = read_job_names(location.path.parent)
            rows = self._make(step[0])
            step[0].counts()
        finally:
            # Seldom after an increment: what the screen drops later is not freed until the next
            # full read.
            if is_whole or _is_large(catalog):
                gc.freeze()
            gc.enable()
        is_written_to = bool(step[1].busy) or _is_live(step[0])  # by a lease or a lock
        return _Read(*step, rows, time.monotonic() - begun, is_written_to, is_whole)

    def _leave_what_is_gone(self, catalog: Catalog, touched: frozenset[str]) -> None:
        """Give the keys to the list if what is being read is no longer there: the row that takes
        its place is shown then, and must not be taken for it."""
        main, conversation = self._main, self._main.current
        if conversation is None or not catalog.exact:
            return
        ids = conversation.session_ids
        is_gone = touched.isdisjoint(ids) and catalog.sessions.keys().isdisjoint(ids)
        if is_gone and main.focused in (main.transcript, main.lineage):
            main.set_focus(main.rows)
            main.warn(main.why_gone(conversation))

    def refresh(self, *, top: bool = False, at: Sequence[str] = ()) -> None:
        """Rebuild the rows from the current catalog.

        Args:
            top: Scroll to the first row.
            at: Keys of rows: the cursor moves to the first that is listed.
        """
        self._main.start("rows", self._refresh, top, at)

    async def _refresh(self, top: bool, at: Sequence[str]) -> None:
        main, before = self._main, self._main.rows.at
        rows = await self._make_whole(catalog := main.catalog)
        while main.catalog is not catalog:  # it was read anew meanwhile
            rows = await self._make_whole(catalog := main.catalog)
        now = main.rows.at
        is_moved = now is not before and now.is_step  # a key has moved it since
        keys = (now.row.key, *at) if is_moved and now.row is not None else at
        listed = (key for key in keys if rows.index_of(key) is not None)
        self._show(rows, key=next(listed, None), top=top)

    async def _make_whole(self, catalog: Catalog) -> CatalogRows:
        """Make the rows of a catalog, or of a whole one if it is not."""
        return await self._main.read(
            lambda store: self._make(catalog if catalog.exact else store.catalog(catalog.now))
        )

    def reread(self, session_ids: Iterable[str]) -> None:
        """Read at once after this program has changed, deleted or restored these sessions; a full
        read under way, which this replaces, begins anew."""
        main = self._main
        has_keys = main.is_active and main.rows.has_focus
        self._changed_at = main.rows.key if has_keys else ""
        self._touched.update(session_ids)
        self.read(whole=main.is_under_way("catalog") and self._read_at == self._whole_at)

    def complete(self, rows: Iterable[ListRow]) -> None:
        """Read missing previews and counts of rows."""
        if lacking := self._main.details.lacking(rows):
            self._main.start("details", self._complete, lacking)

    async def _complete(self, lacking: Sequence[Conversation]) -> None:
        await self._main.read_details(lacking)
        self._main.rows.refresh_rows()

    def reverse_order(self) -> None:
        self.sort_by(self._main.sort)

    def sort_by(self, sort: Sort) -> None:
        """Sort by `sort`, or reverse the order if that is current; the cursor stays on its row."""
        main = self._main
        main.set_reactive(Panes.reverse, sort is main.sort and not main.reverse)
        main.set_reactive(Panes.sort, sort)
        main.rows.columns = self.columns
        self.refresh()
        self.measure()
        main.mutate_reactive(Panes.sort)

    # Sums that are not stored in sessions

    @property
    def columns(self) -> ListLayout:
        """The columns of the rows, and what they are sorted by."""
        return ListLayout(
            self._main.options.columns,
            self._main.sort,
            self._main.reverse,
            self._main.store.is_several,
        )

    def measure(self) -> None:
        """Measure sizes or counts that are shown or sorted by; stop when none are."""
        main = self._main
        main.cancel("amounts")
        sort = main.sort
        if "size" in self.columns.chosen and sort is not Sort.MESSAGES:
            sort = Sort.SIZE
        if sort in (Sort.SIZE, Sort.MESSAGES):
            main.start("amounts", self._measured, sort)

    async def _measured(self, sort: Sort) -> None:
        main = self._main
        try:
            if await load("measuring")(main, sort):
                self.refresh()
        finally:
            main.progress = ""

    def reload(self) -> None:
        self.read()
        self._main.say(_("reading the store again"))

    def toggle_job(self, job: str) -> None:
        self._opened = self._opened ^ {job}
        self.refresh()

    def _tell_who_writes(self, *, is_live: bool) -> None:
        self.is_live = is_live
        if self._main.location.old_files is None:  # else the store is a temporary one of ours
            self._main.writing = _("Hermes is writing") if is_live else _("no one is writing")
