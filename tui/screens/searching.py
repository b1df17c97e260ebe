"""Searching as you type: one question at a time, the newest wins, hits walked with n and N."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hermes_browse.store.connect import Reader
from hermes_browse.store.errors import BrowseError, StoreBusyError
from hermes_browse.store.sessions.models import View
from hermes_browse.store.wording import N_, _, ngettext

from ..list_model import CatalogRows
from ..rows import FixedRows, NoteRow, SuggestionRow
from .hit_walk import HitWalk
from .resting import Resting, whole_catalog
from .scanning import Scan, follow

if TYPE_CHECKING:
    from hermes_browse.store.search import Matcher, Query

    from ..search_model import Found
    from .main import MainScreen

_PATIENCE = 120.0
"""Seconds a scan may take before it gives what it has; Esc stops it at any time."""
_GLANCE = 0.012
"""Seconds a keystroke waits for its answer, less than a frame: most are there by then."""
_ORDERS = ("newest", "relevance", "oldest")
_ORDER_SHOWN = {"newest": N_("hits newest"), "relevance": N_("hits relevance"), "oldest": N_("hits oldest")}
_ORDER_SAID = {
    "newest": N_("hits: newest first"),
    "relevance": N_("hits: relevance first"),
    "oldest": N_("hits: oldest first"),
}


def _load() -> None:
    from hermes_browse.store.search.trigrams import variants

    from .. import completion, search_count, search_run  # noqa: F401  # for its effect: the first keystroke finds it loaded

    variants("a")  # the table of all letters is made at the first look at it


class Searching(HitWalk):
    """Turns what is typed into rows of the list."""

    def __init__(self, screen: MainScreen) -> None:
        super().__init__(screen)
        self.view = View.ALL
        """Where to look."""
        self.order = _ORDERS[0]
        self._query: Query | None = None
        self._reading_on = False
        self._problems: Sequence[str] = ()
        self.resting = Resting(screen, self)
        """What is done while the keyboard rests."""
        self._scan: Scan | None = None
        """What is being looked for, until it has been answered."""
        self._was_kept_out = False
        self._before = ""
        """The row the list was on before the search, by its key."""

    def get_ready(self) -> None:
        """Load what searching needs, behind the first frame: its modules take as long to load as three frames."""
        threading.Thread(target=self._load, name="load", daemon=True).start()

    def _load(self) -> None:
        _load()
        self._screen.typing.history.load()

    @property
    def is_active(self) -> bool:
        """Whether the list shows results."""
        return self._query is not None

    @property
    def matchers(self) -> Sequence[Matcher]:
        """Terms to light in the transcript."""
        return self._found.answer.matchers if self._found is not None else ()

    def describe(self) -> str:
        """What the line of views says of the search, empty without one."""
        return _(_ORDER_SHOWN[self.order]) if self.is_active else ""

    def asked(self, query: Query, problems: Sequence[str]) -> None:
        """The query is another one; called within the keystroke.

        Args:
            query: Parsed.
            problems: What of it could not be taken as meant.
        """
        self._problems = problems
        if query.is_empty:
            self.resting.forget()
            if self._query is not None:
                self._leave()
            if query.text:
                self._screen.say(" · ".join(problems))
            return
        if self._query is None:
            self.view = View.ALL
            row = self._screen.rows.current
            self._before = row.key if row is not None else ""
        self._query = query
        self._folds.clear()
        self._search()

    def again(self) -> None:
        """The store was changed by this program: what was found may be gone, or elsewhere."""
        if self._query is not None:
            self._search(top=False)

    def _leave(self) -> None:
        self._query = self._found = self._scan = None
        self._was_kept_out = False
        self._screen.search_worker.cancel("search")
        current = self._screen.current.conversation
        found = [f"c{current.root_id}"] if current is not None and not self._screen.box.has_focus else []
        self._screen.listing.refresh(at=[*found, self._before])
        self._screen.show_header()
        self._screen.say("")

    def _search(self, *, top: bool = True) -> None:
        query = self._query
        if query is None:
            return
        from hermes_browse.store.search import asks_for_conversations, make_conditions

        from .. import search_model, search_run

        self.resting.forget()
        self._was_kept_out = False
        now = self._screen.clock()
        catalog, view, order = self._screen.listing.catalog, self.view, self.order
        conditions = make_conditions(query, now)
        details = self._screen.details
        sort = self._screen.listing.sort
        self._reading_on = self._is_stepping = False
        scan = self._scan = Scan()

        def work(reader: Reader) -> Found | CatalogRows:
            known = whole_catalog(reader, catalog, view, conditions, now)
            if asks_for_conversations(query, conditions):
                # Only filters of conversations: the list itself, narrowed.
                asked = conditions.conversation
                chosen = [each.root_id for each in known.select(view, sort=sort) if asked is not None and asked(each)]
                return CatalogRows(known, chosen, details, (), "") if chosen else search_model.no_conversations(query)
            return search_run.run(
                reader,
                query,
                conditions,
                catalog=known,
                view=view,
                sort=order,
                now=now,
                deadline=time.monotonic() + _PATIENCE,
                cancelled=scan.stopped.is_set,
                progress=scan.tell,
                portion=scan.take,
            )

        def done(found: Found | CatalogRows) -> None:
            self._scan = None
            if isinstance(found, CatalogRows):
                self._found = None
                self._screen.rows.show(found, top=top)
                count = ngettext("1 conversation", "{count:,} conversations", len(found)).format(count=len(found))
                self._screen.say(" · ".join([count, *self._problems]))
            else:
                self._found = found
                # Where a scan has shown some of it already, the cursor stays where it has been moved to.
                self._screen.rows.show(self._rows(), top=top and scan.shown is None)
                self._say_status()
                self.resting.begin(found)
            self._screen.show_header()

        self._screen.search_worker.submit("search", work, done, self._failed, wait=_GLANCE)
        self._follow(scan)

    def _failed(self, error: BrowseError) -> None:
        self._scan = None
        self._was_kept_out = isinstance(error, StoreBusyError)
        self._screen.failed(error)

    def catalog_read(self) -> None:
        """The list could be read: so can, now, what a writer kept us from searching."""
        if self._was_kept_out:
            self._search()

    def _follow(self, scan: Scan) -> None:
        if self._scan is scan:
            follow(scan, self._screen, lambda: self._scan is scan, self._tell_scan)

    def _tell_scan(self, text: str, *, first: bool) -> None:
        scan = self._scan
        if scan is not None and scan.found is not None and scan.found is not scan.shown:
            begins = scan.shown is None and not self._reading_on
            scan.shown = scan.found
            self._found = scan.found.with_counts(self._found) if self._reading_on and self._found else scan.found
            self._screen.rows.show(self._rows(), top=begins)
        elif first and not self._reading_on:  # rows of another question are no answer to this one
            note = NoteRow(_("Looking through the messages: no index can tell."))
            self._screen.rows.show(FixedRows([note]), top=True)
        self._screen.say(" · ".join([*self._problems, text]))

    def stop(self) -> bool:
        """Stop a scan that is told of; what it has found is shown.

        Returns:
            Whether there was one.
        """
        scan = self._scan
        if scan is None or not scan.is_told:
            return False
        scan.stopped.set()
        return True

    def found_details(self, found: Found) -> None:
        """The rows of what was found know more: show them without moving anything."""
        self._found = found
        self._screen.rows.show(self._rows())

    def found_counts(self, found: Found) -> None:
        """What was found has been counted; where that is nothing, something else may be offered."""
        self._found = found
        self._say_status()
        if found.suggestions and not found.hits:
            # From the sentence, which is no row to be on, to what can be taken.
            self._screen.rows.show(self._rows(), key=found.suggestions[0].key)

    def take_suggestion(self, row: SuggestionRow) -> None:
        """Search for what was offered; in another profile that is where it is searched from then on."""
        if row.profile:
            self._screen.switching.search(row.profile, row.query)
            return
        if row.query == self._screen.box.value:
            self.set_view(row.view)
        else:
            view = row.view
            self._screen.typing.put(f"{row.query} ")  # behind a space the last word is whole, as it was counted
            if self.view is not view:
                self.set_view(view)
        self._screen.show_header()

    def _say_status(self) -> None:
        if self._found is not None:
            self._screen.say(self._found.status(self._problems))

    @property
    def is_pending(self) -> bool:
        """Whether something is to be read that has not been asked for yet."""
        return self.resting.is_pending

    def maybe_more(self, last: int) -> None:
        """The end of the results is on screen: read on."""
        found, query = self._found, self._query
        if found is None or query is None or not found.answer.more or self._reading_on:
            return
        if found.answer.stopped:
            return  # what was stopped is not begun again
        if last < len(self._screen.rows) - 1:
            return
        from hermes_browse.store.search import make_conditions

        from .. import search_run

        self.resting.forget()  # it would have to wait for a count
        self._reading_on = True
        scan = self._scan = Scan()
        now = self._screen.clock()
        catalog, view, order = self._screen.listing.catalog, self.view, self.order

        def work(reader: Reader) -> Found:
            return search_run.run(
                reader,
                query,
                make_conditions(query, now),
                catalog=catalog,
                view=view,
                sort=order,
                now=now,
                deadline=time.monotonic() + _PATIENCE,
                cancelled=scan.stopped.is_set,
                progress=scan.tell,
                portion=scan.take,
                earlier=found,
            )

        def done(longer: Found) -> None:
            self._scan, self._reading_on = None, False
            self._found = longer.with_counts(self._found or found)
            self._screen.rows.show(self._rows())
            self._say_status()
            self._step_on()
            self.resting.begin(self._found)

        self._screen.search_worker.submit("search", work, done, self._failed)
        self._follow(scan)

    def set_view(self, view: View) -> None:
        """Look somewhere else."""
        self.view = view
        self._search()

    def next_order(self) -> None:
        """Newest → relevance → oldest."""
        self.order = _ORDERS[(_ORDERS.index(self.order) + 1) % len(_ORDERS)]
        self._screen.show_header()
        self._screen.say(_(_ORDER_SAID[self.order]))
        self._search()
