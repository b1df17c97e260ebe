"""Search as you type: one query at a time, the newest wins. Runs it, counts, and walks through its
hits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeVar

from hermes_browse.store.api import OpenStore
from hermes_browse.store.connection.connect import Fingerprint
from hermes_browse.store.errors import BrowseError, StoreBusyError
from hermes_browse.store.search.coverage import Coverage
from hermes_browse.store.search.query import Query
from hermes_browse.store.search.scope import compile_filters
from hermes_browse.store.sessions.models import View
from hermes_browse.store.wording import N_, _, ngettext

from ...widgets.bindings import following
from ...widgets.list_rows import FixedRows, NoteRow
from ..list.conversation_rows import ConversationRow
from ..list.hit_rows import HitRow, MoreRow
from ..list.list_model import CatalogRows
from ..panes import Panes
from .counting import count_hits, whole_catalog
from .query_line import Typed
from .results import Fold, HitCounts, SearchResults
from .run import SearchRequest, find, run
from .scan import TELL_SECONDS, Scan

Result = TypeVar("Result")

_GLANCE = 0.012
"""Seconds a keystroke waits for its result, less than a frame; most take less."""
_REST = 0.15
"""Seconds without a keystroke before hits are counted."""
_ORDERS = {
    "newest": N_("hits: newest first"),
    "relevance": N_("hits: best first"),
    "oldest": N_("hits: oldest first"),
}


class LiveSearch:
    """Searches for `searched` of the main screen, and shows `results` in the list."""

    def __init__(self, main: Panes) -> None:
        self._main = main
        self._typed = Typed(Query(""))
        self._folds: dict[str, Fold] = {}
        """How many hits to show, by root id of their conversation."""
        self._scan: Scan | None = None
        """The search under way; None once it is answered."""
        self._reads_on = self._steps_on = self._was_busy = self._is_outdated = False
        self._coverage: tuple[Fingerprint, Coverage | None] | None = None
        """Coverage of the index, and the state of the file it was read in."""
        self.before = ""
        """Key of the row the list was on before the search."""

    def take(self, typed: Typed) -> None:
        """Take what was typed; called within the keystroke."""
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
            row = main.rows.current
            self.before = row.key if row is not None else ""
        self._folds.clear()
        main.searched = query
        self.run()

    def run(self, *, top: bool = True) -> None:
        """Search, also again after this program changed the store, when results may be elsewhere;
        with `top`, scroll to the first result."""
        query = self._main.searched
        if query is None:
            return
        self._stop_all()
        if self._typed.refusal:
            self._refuse()
        else:
            self._scan = Scan()
            self._main.start("search", self._find, query, self._scan, top)

    def outdate(self) -> None:
        """Search again as soon as the list was read: what this program changed is in it then."""
        self._is_outdated = True

    def list_read(self) -> None:
        """Search again if the results are outdated, or the store was busy."""
        if self._is_outdated or self._was_busy:
            self.run(top=self._was_busy)

    def _stop_all(self) -> None:
        self._scan, self._was_busy, self._is_outdated = None, False, False
        self._reads_on = self._steps_on = False
        for group in ("search", "scan", "hit-details", "count"):
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
        return self._scan is not None and self._scan.shown is None and not self._reads_on

    def next_order(self) -> None:
        """Change the order of hits: newest → relevance → oldest."""
        main = self._main
        main.hit_order = following(_ORDERS, main.hit_order)
        main.say(_(_ORDERS[main.hit_order]))
        self.run()

    def _request(self, query: Query) -> SearchRequest:
        main = self._main
        return SearchRequest(query, main.catalog, main.search_view, main.hit_order, main.clock())

    async def _find(self, query: Query, scan: Scan, top: bool) -> None:
        """Run a query and show what it finds: hits, or the list filtered."""
        main, request = self._main, self._request(query)
        job = partial(find, request=request, scan=scan, order=main.order, details=main.details)
        found = await self._scanned(scan, job)
        if isinstance(found, CatalogRows):
            main.results = None
            main.rows.show(found, top=top)
            main.say(
                " · ".join(
                    [
                        ngettext(
                            "1 conversation",
                            "{count:,} conversations",
                            len(found),
                            count=len(found),
                        ),
                        *self._typed.problems,
                    ]
                )
            )
        else:
            # If a scan has shown some of it already, the cursor stays.
            self._answered(found, request.view, top=top and scan.shown is None)

    async def _scanned(self, scan: Scan, job: Callable[[OpenStore], Result]) -> Result:
        """Return the result of a search; its progress is shown until then."""
        self._main.start("scan", self._show_progress, scan)
        try:
            return await self._main.read(job, glance=_GLANCE)
        except BrowseError as error:
            self._was_busy = isinstance(error, StoreBusyError)
            raise
        finally:
            if self._scan is scan:
                self._scan = None
                self._main.cancel("scan")

    def _answered(self, found: SearchResults, view: View, *, top: bool = False) -> None:
        self._show(found, top=top)
        self._main.say(found.status(self._typed.problems))
        self._main.start("hit-details", self._complete, found)
        self._main.start("count", self._count, found, view)

    def _refuse(self) -> None:
        """Show why the query is not run, instead of hits of another one."""
        main, refusal = self._main, self._typed.refusal
        main.results = None
        note = NoteRow(_("Nothing is looked for: {problem}", problem=refusal))
        main.rows.show(FixedRows([note]), top=True)
        others = [problem for problem in self._typed.problems if problem != refusal]
        main.warn(" · ".join([refusal, *others]))

    def read_on(self) -> None:
        """Read the next page of hits, if there is one."""
        found, query = self._main.results, self._main.searched
        if found is not None and query is not None and found.goes_on and not self._reads_on:
            steps_on = self._steps_on
            self._stop_all()  # or this would wait for a count
            self._reads_on, self._steps_on, self._scan = True, steps_on, Scan()
            self._main.start("search", self._read_on, found, query, self._scan)

    async def _read_on(self, found: SearchResults, query: Query, scan: Scan) -> None:
        main, request = self._main, self._request(query)
        longer = await self._scanned(scan, partial(run, request=request, scan=scan, earlier=found))
        self._reads_on = False
        self._answered(replace(longer, counts=(main.results or found).counts), request.view)
        if self._steps_on:
            self._steps_on = False
            self.step(1)

    # Progress and status

    async def _show_progress(self, scan: Scan) -> None:
        """Tell how far a scan is, and show its results so far; nothing while only an index is
        used."""
        while True:
            await asyncio.sleep(TELL_SECONDS)
            if scan.share is not None:
                self._show_scan(scan, scan.share)

    def _show_scan(self, scan: Scan, share: float) -> None:
        main, found = self._main, scan.found
        if found is not None and found is not scan.shown:
            begins = scan.shown is None and not self._reads_on
            scan.shown = found
            if main.results is not None and self._reads_on:
                found = replace(found, counts=main.results.counts)
            self._show(found, top=begins)
        elif not scan.is_told and not self._reads_on:  # the rows shown are of another query
            note = NoteRow(_("Reading the messages: no index covers this."))
            main.rows.show(FixedRows([note]), top=True)
        scan.is_told = True
        main.say(" · ".join([*self._typed.problems, *scan.words(share)]))

    @property
    def shortfall(self) -> str:
        """The status of the results if they are incomplete or the query has problems; else
        empty."""
        found, problems = self._main.results, self._typed.problems
        if found is None or (found.is_whole and not problems):
            return ""
        return found.status(problems)

    # When typing pauses

    async def _complete(self, found: SearchResults) -> None:
        """Count the messages of the conversations shown: Hermes' own counters are only hints."""
        await asyncio.sleep(_REST)
        completed = await self._main.read(found.completed)
        shown = self._main.results
        if shown is not None and shown.answer is found.answer:
            self._show(replace(completed, counts=shown.counts))

    async def _count(self, found: SearchResults, view: View) -> None:
        """Count all hits and read the coverage of the index."""
        await asyncio.sleep(_REST)
        main, cached, now = self._main, self._coverage, self._main.clock()
        catalog, store, location = main.catalog, main.store, main.location
        conditions = compile_filters(found.query, now, view)

        def count(opened: OpenStore) -> HitCounts:
            nonlocal cached
            stamp = store.fingerprint()
            coverage = cached[1] if cached is not None and cached[0] == stamp else None
            whole = whole_catalog(opened, catalog, conditions, now)
            counts = count_hits(opened, found, whole, view, location, now, coverage)
            cached = stamp, counts.coverage
            return counts

        counts = await main.read(count)
        self._coverage = cached
        shown = main.results
        if shown is not None and shown.answer is found.answer:
            counted = replace(shown, counts=counts)
            if main.status.text == shown.status(self._typed.problems):  # nothing was said since
                main.say(counted.status(self._typed.problems))
            # Without hits the cursor moves from the note to the first suggestion.
            offered = counts.suggestions and not shown.hits
            self._show(counted, key=counts.suggestions[0].key if offered else None)

    # Walking through the hits

    def _show(self, found: SearchResults, *, key: str | None = None, top: bool = False) -> None:
        self._main.results = found
        self._main.rows.show(found.rows(self._folds, self._main.details), key=key, top=top)

    def show_attention(self) -> None:
        """Show in the rows of hits what is new, and what waits."""
        if self._main.results is not None:
            self._show(self._main.results)

    def fold(self, by: int) -> None:
        """Show more hits of the conversation of the current row (1), or fewer (-1)."""
        main, row = self._main, self._main.rows.current
        conversation = None
        if isinstance(row, ConversationRow | HitRow | MoreRow):
            conversation = row.conversation
        if conversation is None or main.results is None:
            main.say(_("nothing to fold here: + and - show more or fewer hits of a conversation"))
            return
        root = conversation.root_id
        self._folds[root] = self._folds.get(root, Fold.SOME).step(by)
        self._show(main.results, key=f"c{root}" if by < 0 else None)

    def unfold(self, row: MoreRow) -> None:
        """Show all hits of a conversation and move the cursor to the first that was hidden."""
        rows, found = self._main.rows, self._main.results
        if found is not None:
            self._folds[row.root_id] = Fold.ALL
            unfolded = found.rows(self._folds, self._main.details)
            index = min(rows.cursor, len(unfolded) - 1)
            rows.show(unfolded, key=unfolded.row(index).key)

    def step(self, by: int) -> None:
        """Move to the next or previous hit, across conversations."""
        main, rows, found = self._main, self._main.rows, self._main.results
        if found is None:
            main.say(_("no search: / finds words, n and N walk the hits"))
        elif (index := self._beside(found, by)) is not None:
            rows.cursor = index
            if isinstance(row := rows.current, HitRow):
                main.say(_("hit {number}", number=found.number_of(row.hit)))
        elif by > 0 and found.goes_on:
            self._steps_on = True
            self.read_on()
            main.say(_("reading on …"))
        else:
            main.say(_("no further hit"))

    def _beside(self, found: SearchResults, by: int) -> int | None:
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
                self._folds[row.root_id] = Fold.ALL
                self._show(found)
                index = index if by > 0 else rows.cursor + by
            else:
                index += by
        return None
