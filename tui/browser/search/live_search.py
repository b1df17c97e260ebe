"""Search as you type: one query at a time, the newest wins. Runs it, counts, and walks through its
hits."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import Any

from hermes_browse.store.errors import StoreBusyError
from hermes_browse.store.messages.chat_message import HitOrder
from hermes_browse.store.search.query import Query
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import View
from hermes_browse.store.wording import _

from ...text.formats import counted, joined
from ...widgets.bindings import following
from ...widgets.list_rows import FixedRows, NoteRow
from ..list.list_model import CatalogRows
from ..list.rows import ConversationRow, HitRow, MoreRow, conversation_of
from ..panes import Panes
from .query_line import Typed
from .results import FOLD_ALL, FOLD_BEST, FOLD_SOME, SearchResults
from .search_jobs import TELL_SECONDS, Scan, SearchRequest, count_hits, find

_Reading = asyncio.Future[SearchResults | CatalogRows]
_REST = 0.15
"""Seconds without a keystroke before hits are counted."""


class LiveSearch:
    """Searches for `searched` of the main screen, and shows `results` in the list."""

    def __init__(self, main: Panes) -> None:
        self._main = main
        self._typed = Typed(Query(""))
        self._folds: dict[str, int] = {}
        """How many hits to show, by root id of their conversation."""
        self._scan: Scan | None = None
        """The search under way; None once it is answered."""
        self._reading: _Reading | None = None
        """The last search, perhaps answered."""
        self._was_busy = self.is_outdated = False
        """Search again when the list has been read: the store was busy; this program changed it."""
        self.row_before = ""
        """Key of the row the list was on before the search."""

    def query_changed(self, typed: Typed) -> None:
        """Search for what was typed, or end the search; called within the keystroke."""
        main, self._typed = self._main, typed
        query = typed.query
        if query.is_empty:
            self._stop_all()
            main.searched = main.results = None
            if typed.refusal:
                main.warn(typed.words)
            elif query.text:
                main.say(typed.words)
            return
        if main.searched is None:
            main.search_view = View.ALL
            self.row_before = main.rows.key
        self._folds.clear()
        main.searched = query
        self.run()

    def run(self, *, top: bool = True) -> None:
        """Search, also again after this program changed the store, when results may be elsewhere;
        with `top`, scroll to the first result."""
        if self._main.searched is None:
            return
        self._stop_all()
        if self._typed.refusal:
            self._main.results = None  # they are of another query
            self._show_note(_("Nothing is looked for: {problem}", problem=self._typed.refusal))
            self._main.warn(self._typed.words)
        else:
            self._begin(Scan(), top=top)

    def read_on(self, *, steps: int = 0) -> None:
        """Read the next page of hits, if there is one; then go so many hits on."""
        results, scan = self._main.results, self._scan
        if results is None or not results.goes_on:
            return
        if scan is None or scan.earlier is None:
            self._stop_all()  # or this would wait for a count
            scan = Scan(results)
            self._begin(scan, top=False)
        scan.steps += steps

    def _begin(self, scan: Scan, *, top: bool) -> None:
        """Begin to read within the key: a thread searches while the letter is drawn."""
        main, request = self._main, self._request()
        job = partial(find, request=request, scan=scan, order=main.order, details=main.details)
        self._scan, self._reading = scan, main.reads.submit(job)
        main.start("search", self._find, scan, request, self._reading, top)

    def list_read(self, before: Catalog) -> None:
        """Bring the results up to date with the catalog, which was read anew: search again if they
        are outdated, the store was busy, or conversations were searched.

        `before` is the catalog until now.
        """
        results = self._main.results
        if self.is_outdated or self._was_busy or (self._is_list and not self.is_pending):
            self.run(top=self._was_busy)
        elif results is not None and self._scan is None:
            self._renew(results, before)

    def _renew(self, results: SearchResults, before: Catalog) -> None:
        """Show results as of the catalog, which was another one before; count again without what is
        gone: not all that was counted has been read."""
        main = self._main
        renewed = results.renewed(before, main.catalog)
        if renewed != results:
            if main.search_status:  # the cursor has not moved since
                main.search_status = renewed.status()
            self._show(renewed)
        sessions = results.total.sessions if results.total is not None else ()
        is_gone = any(each not in main.catalog.sessions for each in sessions)
        if is_gone or len(renewed.hits) < len(results.hits):
            main.start("count", self._count, replace(renewed, total=None), self._request())

    def _request(self) -> SearchRequest:
        main, typed = self._main, self._typed
        return SearchRequest(
            typed.query,
            main.catalog,
            main.search_view,
            main.hit_order,
            main.clock(),
            typed.problems,
        )

    @property
    def _is_list(self) -> bool:
        """Whether the rows shown are those of a search for conversations."""
        results = self._main.results
        return (
            isinstance(self._main.rows.source, CatalogRows) if results is None else results.of_list
        )

    def _stop_all(self) -> None:
        self._scan, self._was_busy, self.is_outdated = None, False, False
        if self._reading is not None:
            self._reading.cancel()
        for group in ("search", "count"):
            self._main.cancel(group)

    def stop(self) -> bool:
        """Stop a scan that is shown as one, and return whether there was one; its results so far
        stay."""
        scan = self._scan
        if scan is None or not scan.is_told:
            return False
        scan.stopped.set()
        return True

    @property
    def is_pending(self) -> bool:
        """Whether the rows shown are not those of the query yet."""
        return self._scan is not None and self._scan.shown is None and self._scan.earlier is None

    def next_order(self) -> None:
        """Change the order of hits: newest → relevance → oldest."""
        main = self._main
        main.hit_order = following(tuple(HitOrder), main.hit_order)
        self.run()

    async def _find(self, scan: Scan, request: SearchRequest, reading: _Reading, top: bool) -> None:
        """Show what the query finds: hits, or the list filtered."""
        main = self._main
        asyncio.get_running_loop().call_later(TELL_SECONDS, self._show_progress, scan)
        try:
            results = await main.result_of(reading)
        except StoreBusyError:
            self._was_busy = True
            raise
        finally:
            if self._scan is scan:
                self._scan = None
        if isinstance(results, CatalogRows):
            main.results = None
            main.rows.show(results, top=top, at_once=True)
            words = counted(results.count, "conversation")
            main.search_status = joined(words, *self._typed.problems)
        else:
            results = results.renewed(request.catalog, main.catalog)
            # If a scan has shown some of it already, the cursor stays.
            self._show(results, top=top and scan.shown is None, at_once=True)
            main.search_status = results.status()
            main.start("count", self._count, results, self._request())
            for _step in range(scan.steps):
                self.step(1)
        if self._is_list and main.catalog is not request.catalog:  # it was read anew meanwhile
            self.run(top=False)

    def _show_progress(self, scan: Scan) -> None:
        """Tell how far a scan is, and show its results so far, until it is answered; nothing while
        only an index is used."""
        if self._scan is not scan:
            return
        asyncio.get_running_loop().call_later(TELL_SECONDS, self._show_progress, scan)
        if scan.share is None:
            return
        results, begins = scan.found, self.is_pending
        if results is not None and results is not scan.shown:
            scan.shown = results
            self._show(results, top=begins)
        elif begins and not scan.is_told:  # the rows shown are of another query
            self._show_note(_("Reading the messages: no index covers this."))
        scan.is_told = True
        words = scan.words(scan.share)
        self._main.search_status = joined(*self._typed.problems, words)

    def _show_note(self, text: str) -> None:
        self._main.rows.show(FixedRows([NoteRow(text)]), top=True)

    async def _count(self, results: SearchResults, request: SearchRequest) -> None:
        """Count all hits when typing pauses."""
        main = self._main
        await asyncio.sleep(_REST)
        whole = await main.read(lambda store: count_hits(store, results, request, main.location))
        whole = whole.renewed(request.catalog, main.catalog)
        if main.search_status:  # the cursor has not moved since
            main.search_status = whole.status()
        # Without hits the cursor moves from the note to the first suggestion.
        offered = whole.suggestions and not whole.hits
        self._show(whole, key=whole.suggestions[0].key if offered else None)

    # Walking through the hits

    def _show(self, results: SearchResults, **where: Any) -> None:
        """Show the rows of results; `where` as of `ConversationList.show`."""
        self._main.results = results
        self._main.rows.show(results.rows(self._folds, self._main.details), **where)

    def fold(self, by: int) -> None:
        """Show more hits of the conversation of the current row (1), or fewer (-1)."""
        main, row = self._main, self._main.rows.current
        conversation = conversation_of(row)
        if conversation is None or main.results is None:
            main.say(_("nothing to fold here: + and - show more or fewer hits of a conversation"))
            return
        root = conversation.root_id
        self._folds[root] = min(max(self._folds.get(root, FOLD_SOME) + by, FOLD_BEST), FOLD_ALL)
        is_hit = isinstance(row, HitRow | MoreRow)  # which may be folded away
        self._show(main.results, key=f"c{root}" if by < 0 and is_hit else None)

    def unfold(self, row: MoreRow) -> None:
        """Show all hits of a conversation and move the cursor to the first that was hidden."""
        results = self._main.results
        if results is not None:
            self._folds[row.root_id] = FOLD_ALL
            first = results.groups()[row.root_id][-row.hidden]
            self._show(results, key=f"h{first.message_id}")

    def step(self, by: int) -> None:
        """Move to the next or previous hit, across conversations."""
        main, rows, results = self._main, self._main.rows, self._main.results
        if results is None:
            main.say(_("no search: / finds words, n and N walk the hits"))
        elif (index := self._beside(results, by)) is not None:
            rows.cursor = index
            if isinstance(row := rows.current, HitRow):
                main.say(_("hit {number}", number=results.number_of(row.hit)))
        elif by > 0 and results.goes_on:
            self.read_on(steps=1)
            main.say(_("reading on …"))
        else:
            main.say(_("no further hit"))

    def _beside(self, results: SearchResults, by: int) -> int | None:
        """Return the index of the next or previous hit; show hidden ones between."""
        rows, row, index = self._main.rows, self._main.rows.current, self._main.rows.cursor
        if isinstance(row, ConversationRow) and row.best is not None and by > 0:
            index = rows.source.index_of(f"h{row.best}") or index  # that one is shown already
        index += by
        while 0 <= index < len(rows):
            row = rows.source.row(index)
            if isinstance(row, HitRow):
                return index
            if isinstance(row, MoreRow):
                self._folds[row.root_id] = FOLD_ALL
                self._show(results)
                index = index if by > 0 else rows.cursor + by
            else:
                index += by
        return None
