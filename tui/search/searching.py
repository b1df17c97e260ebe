"""Search as you type: one query at a time, the newest wins."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from hermes_browse.store.api import OpenStore
from hermes_browse.store.errors import BrowseError, StoreBusyError
from hermes_browse.store.search.engine import Answer
from hermes_browse.store.search.found import asks_for_conversations
from hermes_browse.store.search.query import Query
from hermes_browse.store.search.scope import compile_filters
from hermes_browse.store.search.terms import Matcher
from hermes_browse.store.sessions.models import Conversation, View
from hermes_browse.store.wording import N_, _, ngettext

from ..bindings import following
from ..context import Context
from ..list.hit_rows import SuggestionRow
from ..list.list_model import CatalogRows, Order
from ..list.list_rows import FixedRows, NoteRow
from ..screens.panes import Panes
from .counting import Counting, whole_catalog
from .hit_walk import HitWalk
from .results import SearchResults
from .run import run
from .scan import TELL_SECONDS, Scan

Result = TypeVar("Result")

_GLANCE = 0.012
"""Seconds a keystroke waits for its result, less than a frame; most take less."""
_ORDERS = ("newest", "relevance", "oldest")
_ORDER_SHOWN = {
    "newest": N_("hits newest"),
    "relevance": N_("hits relevance"),
    "oldest": N_("hits oldest"),
}
_ORDER_MESSAGE = {
    "newest": N_("hits: newest first"),
    "relevance": N_("hits: best first"),
    "oldest": N_("hits: oldest first"),
}


class Searching:
    """Runs the query and shows its results in the list.

    Args:
        list_order: Returns the list's order, for searches for conversations.
        current: Returns the current conversation.
        show_list: Shows the list again, with the cursor on the first of these row keys that is
            listed.
        put_query: Puts a query into the box.
        search_profile: Searches a profile, by name, for a query.
    """

    def __init__(
        self,
        context: Context,
        panes: Panes,
        *,
        list_order: Callable[[], Order],
        current: Callable[[], Conversation | None],
        show_list: Callable[[Sequence[str]], None],
        put_query: Callable[[str], None],
        search_profile: Callable[[str, str], None],
    ) -> None:
        self._context, self._panes = context, panes
        self._list_order, self._current, self._show_list = list_order, current, show_list
        self._put_query, self._search_profile = put_query, search_profile
        self.view = View.ALL
        """The view to search."""
        self.order = _ORDERS[0]
        self.hits = HitWalk(context, panes, lambda: self.maybe_more(len(panes.rows) - 1))
        """The results shown."""
        self.counting = Counting(context, panes, self.hits, self._say_status)
        """Details and counts, read when typing pauses."""
        self._query: Query | None = None
        self._reading_on = False
        self._problems: Sequence[str] = ()
        self._refusal = ""
        """Why the query is not run; empty if it is."""
        self._scan: Scan | None = None
        """The search under way; None once it is answered."""
        self._was_busy = False
        self._before = ""
        """Key of the row the list was on before the search."""

    @property
    def is_active(self) -> bool:
        """Whether the list shows results."""
        return self._query is not None

    @property
    def has_hits(self) -> bool:
        """Whether the list shows matching messages rather than filtered conversations."""
        return self.hits.found is not None

    @property
    def matchers(self) -> Sequence[Matcher]:
        """Terms to highlight in the transcript."""
        return self.hits.found.answer.matchers if self.hits.found is not None else ()

    def describe(self) -> str:
        """Return the order of the hits for the line of views; empty without a search."""
        return _(_ORDER_SHOWN[self.order]) if self.is_active else ""

    # Searching

    def asked(self, query: Query, problems: Sequence[str], refusal: str = "") -> None:
        """Take a changed query, and messages about parts that could not be understood; called
        within the keystroke.

        With a `refusal`, a sentence, it is not run: without the filter that has a wrong value it
        would find too much.
        """
        self._problems, self._refusal = problems, refusal
        if query.is_empty:
            self.counting.forget()
            if self._query is not None:
                self._leave()
            if refusal:
                self._context.warn(" · ".join(problems))
            elif query.text:
                self._context.say(" · ".join(problems))
            return
        if self._query is None:
            self.view = View.ALL
            row = self._panes.rows.current
            self._before = row.key if row is not None else ""
        self._query = query
        self.hits.begin()
        self._search()

    def again(self) -> None:
        """Search again after this program changed the store; results may be gone or elsewhere."""
        if self._query is not None:
            self._search(top=False)

    def catalog_read(self) -> None:
        """Retry a search that failed on a busy store, as the list could be read."""
        if self._was_busy:
            self._search()

    def set_view(self, view: View) -> None:
        """Search another view."""
        self.view = view
        self._search()

    def next_order(self) -> None:
        """Change the order of hits: newest → relevance → oldest."""
        self.order = following(_ORDERS, self.order)
        self._context.show_header()
        self._context.say(_(_ORDER_MESSAGE[self.order]))
        self._search()

    def take_suggestion(self, row: SuggestionRow) -> None:
        """Run a suggested search, which may switch to another profile."""
        if row.profile:
            self._search_profile(row.profile, row.query)
            return
        if row.query == self._panes.box.value:
            self.set_view(row.view)
        else:
            view = row.view
            self._put_query(
                f"{row.query} "
            )  # the space ends the last word: it was counted as a whole word
            if self.view is not view:
                self.set_view(view)
        self._context.show_header()

    def stop(self) -> bool:
        """Stop a scan that is shown as one, and return whether there was one; its results so far
        stay."""
        scan = self._scan
        if scan is None or not scan.is_told:
            return False
        scan.stopped.set()
        return True

    def _leave(self) -> None:
        self._query = self.hits.found = None
        self._was_busy = False
        self._cancel()
        current = self._current()
        keys = (
            [f"c{current.root_id}"] if current is not None and not self._panes.box.has_focus else []
        )
        self._show_list([*keys, self._before])
        self._context.show_header()
        self._context.say("")

    def _cancel(self) -> None:
        self._scan = None
        self._panes.cancel("search")
        self._panes.cancel("scan")

    def _search(self, *, top: bool = True) -> None:
        query = self._query
        if query is None:
            return
        self.counting.forget()
        self._was_busy = self._reading_on = False
        self.hits.forget_step()
        if self._refusal:
            self._refuse()
            return
        self._scan = Scan()
        self._panes.start("search", self._find, query, self._scan, top)

    async def _find(self, query: Query, scan: Scan, top: bool) -> None:
        """Run a query and show what it finds: hits, or the list filtered."""
        context = self._context
        now, catalog, details = context.clock(), context.catalog, context.details
        view, sort, order = self.view, self.order, self._list_order()
        conditions = compile_filters(query, now)

        def find(store: OpenStore) -> SearchResults | CatalogRows:
            whole = whole_catalog(store, catalog, view, conditions, now)
            if not asks_for_conversations(query, conditions):
                return run(store, query, scan, catalog=whole, view=view, sort=sort, now=now)
            matching = frozenset(store.roots(query, whole, view, now))
            listed = whole.order(
                view, sort=order.sort, reverse=order.reverse, amounts=order.amounts
            )
            roots = [root for root in listed if root in matching]
            if not roots:
                return SearchResults(query, Answer(query), of_list=True)
            return CatalogRows(whole, roots, details, (), "", order=order)

        found = await self._scanned(scan, find)
        if isinstance(found, CatalogRows):
            self.hits.found = None
            self._panes.rows.show(found, top=top)
            count = ngettext("1 conversation", "{count:,} conversations", len(found)).format(
                count=len(found)
            )
            context.say(" · ".join([count, *self._problems]))
        else:
            # If a scan has shown some of it already, the cursor stays.
            self.hits.show(found, top=top and scan.shown is None)
            self._say_status()
            self.counting.begin(found, view)
        context.show_header()

    async def _scanned(self, scan: Scan, find: Callable[[OpenStore], Result]) -> Result:
        """Return the result of a search; its progress is shown until then."""
        self._panes.start("scan", self._show_progress, scan)
        try:
            return await self._panes.read(find, glance=_GLANCE)
        except BrowseError as error:
            self._was_busy = isinstance(error, StoreBusyError)
            raise
        finally:
            if self._scan is scan:
                self._scan = None
                self._panes.cancel("scan")

    def _refuse(self) -> None:
        """Show why the query is not run, instead of hits of another one."""
        self._cancel()
        self.hits.found = None
        note = NoteRow(_("Nothing is looked for: {problem}").format(problem=self._refusal))
        self._panes.rows.show(FixedRows([note]), top=True)
        first = [self._refusal, *(each for each in self._problems if each != self._refusal)]
        self._context.warn(" · ".join(first))
        self._context.show_header()

    def maybe_more(self, last: int) -> None:
        """Read the next page if the last row on screen, by its index, is the end of the results."""
        found, query = self.hits.found, self._query
        if found is None or query is None or not found.goes_on or self._reading_on:
            return
        if last < len(self._panes.rows) - 1:
            return
        self.counting.forget()  # or this would wait for a count
        self._reading_on = True
        self._scan = Scan()
        self._panes.start("search", self._read_on, found, query, self._scan)

    async def _read_on(self, found: SearchResults, query: Query, scan: Scan) -> None:
        now, catalog = self._context.clock(), self._context.catalog
        view, sort = self.view, self.order
        longer = await self._scanned(
            scan,
            lambda store: run(
                store,
                query,
                scan,
                catalog=catalog,
                view=view,
                sort=sort,
                now=now,
                earlier=found,
            ),
        )
        self._reading_on = False
        whole = replace(longer, counts=(self.hits.found or found).counts)
        self.hits.show(whole)
        self._say_status()
        self.hits.page_read()
        self.counting.begin(whole, view)

    # Progress and status

    async def _show_progress(self, scan: Scan) -> None:
        """Tell how far a scan is, and show its results so far; nothing while only an index is
        used."""
        while True:
            await asyncio.sleep(TELL_SECONDS)
            if scan.share is not None:
                self._show_scan(scan, scan.share)

    def _show_scan(self, scan: Scan, share: float) -> None:
        is_first, scan.is_told = not scan.is_told, True
        before, found = self.hits.found, scan.found
        if found is not None and found is not scan.shown:
            begins = scan.shown is None and not self._reading_on
            scan.shown = found
            if before is not None and self._reading_on:
                found = replace(found, counts=before.counts)
            self.hits.show(found, top=begins)
        elif is_first and not self._reading_on:  # the rows shown are of another query
            note = NoteRow(_("Reading the messages: no index covers this."))
            self._panes.rows.show(FixedRows([note]), top=True)
        self._context.say(" · ".join([*self._problems, *scan.words(share)]))

    def shortfall(self) -> str:
        """Return the status of the results if they are incomplete or the query has problems; else
        empty."""
        found = self.hits.found
        if found is None:
            return ""
        is_whole = found.answer.complete and not found.answer.stopped and not self._problems
        coverage = found.counts.coverage
        return (
            "" if is_whole and not (coverage and coverage.reason) else found.status(self._problems)
        )

    def _say_status(self) -> None:
        if self.hits.found is not None:
            self._context.say(self.hits.found.status(self._problems))
