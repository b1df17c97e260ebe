"""Searching as you type: one question at a time, the newest wins, hits walked with n and N."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.timer import Timer

from hermes_browse.store.connect import Fingerprint, Reader
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.models import Conversation, View

from ..history import History, history_path
from ..list_model import CatalogRows
from ..rows import ConversationRow, FixedRows, HitRow, ListRow, MoreRow, NoteRow, RowSource, SuggestionRow

if TYPE_CHECKING:
    from hermes_browse.store.catalog import Catalog
    from hermes_browse.store.search import Conditions, Coverage, Matcher, Query

    from ..completion import Offer, Vocabulary
    from ..search_model import Counted, Fold, Found
    from .main import MainScreen

_PATIENCE = 120.0
"""Seconds a scan may take before it gives what it has; Esc stops it at any time."""
_TELL = 0.25
"""Seconds between two sentences about how far a scan is, and before the first."""
_GLANCE = 0.012
"""Seconds a keystroke waits for its answer, less than a frame: most are there by then."""
_REST = 0.15
"""Seconds the keyboard rests before the messages of what was found are counted."""
_COUNTING = 20.0
"""Seconds a count may take before it says "at least"."""
_ORDERS = ("newest", "relevance", "oldest")


def _load() -> None:
    from .. import completion, search_model  # noqa: F401  # for its effect: the first keystroke finds it loaded


def _catalog(reader: Reader, catalog: Catalog, view: View, conditions: Conditions, now: float) -> Catalog:
    """All conversations where a search has to know them; on a worker's thread."""
    if catalog.exact or (view is View.ALL and conditions.conversation is None):
        return catalog
    from hermes_browse.store.catalog import read_catalog

    return read_catalog(reader, now)


class Scan:
    """A search under way: how far it is, and whether it is to stop. Told by one thread, read by another."""

    def __init__(self) -> None:
        self.share: float | None = None
        """Of the rows looked at, from 0 to 1; None while only an index is asked."""
        self.stopped = threading.Event()
        self.is_told = False
        """Whether the person has been told that this is a scan."""

    def tell(self, share: float) -> None:
        """Take how far the scan is."""
        self.share = share


class Searching:
    """Turns what is typed into rows of the list."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen
        self.view = View.ALL
        """Where to look."""
        self.order = _ORDERS[0]
        self._query: Query | None = None
        self._found: Found | None = None
        self._reading_on = False
        self._timer: Timer | None = None
        self._problems: Sequence[str] = ()
        self._coverage: tuple[Fingerprint, Coverage] | None = None
        """What the index held when the file looked so."""
        location = screen.location
        self.history = History(None if location.demo else history_path(), self._tell)
        """Searches of the past; those in the demo are forgotten."""
        self.offered: Offer | None = None
        """What the end of the query can become."""
        self._scan: Scan | None = None
        """What is being looked for, until it has been answered."""
        self._folds: dict[str, Fold] = {}
        self._recalling = False
        self._vocabulary: Vocabulary | None = None
        self._vocabulary_of: Catalog | None = None

    def get_ready(self) -> None:
        """Load what searching needs, behind the first frame: its modules take as long to load as three frames."""
        threading.Thread(target=self._load, name="load", daemon=True).start()

    def _load(self) -> None:
        _load()
        self.history.load()

    def _tell(self, text: str) -> None:
        """Say something from another thread."""
        if self._screen.is_running:
            self._screen.app.call_from_thread(self._screen.say, text)

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
        return f"hits {self.order}" if self.is_active else ""

    def edited(self, text: str) -> None:
        """The query is another one; called within the keystroke."""
        from hermes_browse.store.search import parse, unknown_filters

        self._forget_to_complete()
        if not self._recalling:
            self.history.stop()
        query = parse(text)
        self._offer(text)
        # What is being typed right now and can still become something is no mistake yet.
        typing = len(text) if self.offered is not None else -1
        problems = [each for each in (*query.problems, *unknown_filters(query)) if each.end != typing]
        self._problems = [each.text for each in problems]
        marks = [("filter", each.start, each.end) for each in query.filters]
        self._screen.box.marks = marks + [("problem", each.start, each.end) for each in problems]
        if query.is_empty:
            if self._query is not None:
                self._leave()
            if text:
                self._screen.say(" · ".join(self._problems))
            return
        if self._query is None:
            self.view = View.ALL
        self._query = query
        self._folds.clear()
        self._search()

    def again(self) -> None:
        """The store was changed by this program: what was found may be gone, or elsewhere."""
        if self._query is not None:
            self._search(top=False)

    def recall(self, key: str) -> bool:
        """Put an earlier search into the box, or a later one.

        Args:
            key: `up` in the empty box or above the first row, `down` back again; others do nothing.

        Returns:
            Whether the key was for this.
        """
        box, history = self._screen.box, self.history
        if key == "up" and (not box.value or history.is_walked or self._screen.rows.cursor == 0):
            text = history.older(box.value)
            if text is None:
                self._screen.say("no earlier search")
                return True
        elif key == "down" and history.is_walked:
            text = history.newer()
        else:
            return False
        if text is not None:
            self.put(text)
        return True

    def put(self, text: str) -> None:
        """Search for something that was not typed just now."""
        self._recalling = True
        try:
            self._screen.box.value = text
        finally:
            self._recalling = False
        self._screen.box.cursor_position = len(text)

    def remember(self) -> None:
        """Something came of this search: it is worth remembering."""
        if self._query is not None:
            self.history.add(self._query.text)

    def keep(self) -> None:
        """Keep the search that stands in the box, or keep it no longer."""
        text = self._screen.box.value.strip()
        if text:
            kept = self.history.keep(text)
            self._screen.say("search kept: Ctrl+r lists it" if kept else "search no longer kept")

    def list_searches(self) -> None:
        """Choose among kept and earlier searches."""
        from .searches import SearchesScreen

        def chosen(text: str | None) -> None:
            if text is not None:
                self._screen.set_focus(self._screen.box)
                self.put(text)

        self._screen.app.push_screen(SearchesScreen(self.history), chosen)

    def _offer(self, text: str) -> None:
        """Offer what the end of the query can be completed to: the first behind the cursor, all above the list."""
        from .. import completion

        known = self._vocabulary or completion.Vocabulary()
        before, self.offered = self.offered, completion.complete(text, known, self._screen.clock()) if text else None
        self._screen.box.offer(self.offered.apply(text) if self.offered is not None else "")
        if before is not self.offered:
            self._screen.show_header()
        catalog = self._screen.listing.catalog
        if ":" not in text or self._vocabulary_of is catalog:
            return
        self._vocabulary_of = catalog

        def done(found: Vocabulary) -> None:
            self._vocabulary = found
            if self._screen.box.value == text:
                self._offer(text)

        self._screen.page_worker.submit(
            "vocabulary", lambda reader: completion.read_vocabulary(reader, catalog), done, self._screen.failed
        )

    def _leave(self) -> None:
        self._query = self._found = self._scan = None
        self._screen.search_worker.cancel("search")
        self._screen.listing.refresh()
        self._screen.show_header()
        self._screen.say("")

    def _search(self, *, top: bool = True) -> None:
        query = self._query
        if query is None:
            return
        from hermes_browse.store.search import make_conditions

        from .. import search_model

        now = self._screen.clock()
        catalog, view, order = self._screen.listing.catalog, self.view, self.order
        conditions = make_conditions(query, now)
        details = self._screen.details
        sort = self._screen.listing.sort
        self._reading_on = False
        scan = self._scan = Scan()

        def work(reader: Reader) -> Found | CatalogRows:
            known = _catalog(reader, catalog, view, conditions, now)
            if not query.groups and conditions.message is None and conditions.conversation is not None:
                # Only filters of conversations: the list itself, narrowed.
                chosen = [each.root_id for each in known.select(view, sort=sort) if conditions.conversation(each)]
                return CatalogRows(known, chosen, details, (), "No conversation is like this")
            return search_model.run(
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
            )

        def done(found: Found | CatalogRows) -> None:
            self._scan = None
            if isinstance(found, CatalogRows):
                self._found = None
                self._screen.rows.show(found, top=top)
                self._screen.say(" · ".join([*self._problems, f"{len(found):,} conversations"]))
            else:
                self._found = found
                self._screen.rows.show(self._rows(), top=top)
                self._say_status()
                self._complete(found)
            self._screen.show_header()

        self._screen.search_worker.submit("search", work, done, self._failed, wait=_GLANCE)
        self._follow(scan)

    def _failed(self, error: BrowseError) -> None:
        self._scan = None
        self._screen.failed(error)

    def _follow(self, scan: Scan) -> None:
        """Tell how far a scan is, once it has gone on for a moment."""

        def tell() -> None:
            if self._scan is not scan:
                return
            if scan.share is not None and not scan.is_told:
                scan.is_told = True
                if not self._reading_on:  # rows of another question are no answer to this one
                    note = NoteRow("Looking through the messages themselves: no index can tell.")
                    self._screen.rows.show(FixedRows([note]), top=True)
            if scan.share is not None:
                said = "stopping" if scan.stopped.is_set() else f"scanning {scan.share:.0%} · Esc stops"
                self._screen.say(" · ".join([*self._problems, said]))
            self._screen.set_timer(_TELL, tell)

        if self._scan is scan:
            self._screen.set_timer(_TELL, tell)

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

    def _complete(self, found: Found) -> None:
        """Count the messages of the conversations shown: the counters Hermes keeps are hints."""
        self._forget_to_complete()

        def work(reader: Reader) -> Found:
            return found.completed(reader)

        def done(completed: Found) -> None:
            if self._found is not None and self._found.answer is found.answer:
                self._found = self._found.detailed(completed)
                self._screen.rows.show(self._rows())

        def go() -> None:
            self._timer = None
            self._screen.page_worker.submit("hit details", work, done, self._screen.failed)
            self._count(found)

        self._timer = self._screen.set_timer(_REST, go)

    def _count(self, found: Found) -> None:
        """Count all hits, and look at what the index holds; the next keystroke stops it."""
        query = self._query
        if query is None or found.query is not query:
            return
        from hermes_browse.store.search import make_conditions

        from .. import search_model

        now, view, catalog = self._screen.clock(), self.view, self._screen.listing.catalog
        conditions = make_conditions(query, now)
        stamp = self._screen.store.fingerprint()
        coverage = self._coverage[1] if self._coverage is not None and self._coverage[0] == stamp else None

        def work(reader: Reader) -> Counted:
            return search_model.count_hits(
                reader,
                found,
                conditions,
                catalog=_catalog(reader, catalog, view, conditions, now),
                view=view,
                now=now,
                deadline=time.monotonic() + _COUNTING,
                coverage=coverage,
            )

        def done(counted: Counted) -> None:
            self._coverage = (stamp, counted.coverage)
            if self._query is query and self._found is not None:
                self._found = self._found.counted(counted)
                self._say_status()
                if counted.suggestions and not self._found.hits:
                    # From the sentence, which is no row to be on, to what can be taken.
                    self._screen.rows.show(self._rows(), key=counted.suggestions[0].key)

        self._screen.search_worker.submit("count", work, done, self._screen.failed)

    def _rows(self) -> RowSource:
        return self._found.rows(self._folds) if self._found is not None else FixedRows(())

    def fold(self, row: ListRow | None, by: int) -> None:
        """Show more or fewer hits of the conversation that a row belongs to.

        Args:
            row: A conversation with hits, a hit, or the row that stands for more of them.
            by: 1 for more, -1 for fewer.
        """
        from ..search_model import Fold

        if isinstance(row, MoreRow):
            root = row.root_id
        elif isinstance(row, ConversationRow | HitRow) and row.conversation is not None and self._found is not None:
            root = row.conversation.root_id
        else:
            self._screen.say("nothing to fold here: + and - show more or fewer hits of a conversation")
            return
        steps = list(Fold)
        place = steps.index(self._folds.get(root, Fold.SOME)) + by
        self._folds[root] = steps[min(max(place, 0), len(steps) - 1)]
        self._screen.rows.show(self._rows(), key=f"c{root}" if by < 0 else None)

    def unfold(self, row: MoreRow) -> None:
        """Show all hits of a conversation; the cursor goes to the first that was not shown."""
        from ..search_model import Fold

        index = self._screen.rows.cursor
        self._folds[row.root_id] = Fold.ALL
        rows = self._rows()
        self._screen.rows.show(rows, key=rows.row(index).key if index < len(rows) else None)

    def take_suggestion(self, row: SuggestionRow) -> None:
        """Search for what was offered."""
        if row.query == self._screen.box.value:
            self.set_view(row.view)
        else:
            view = row.view
            self.put(f"{row.query} ")  # behind a space the last word is whole, as it was counted
            if self.view is not view:
                self.set_view(view)
        self._screen.show_header()

    def _say_status(self) -> None:
        if self._found is not None:
            self._screen.say(" · ".join([*self._problems, self._found.status()]))

    def _forget_to_complete(self) -> None:
        self._screen.search_worker.cancel("count")
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

    @property
    def is_pending(self) -> bool:
        """Whether something is to be read that has not been asked for yet."""
        return self._timer is not None

    def maybe_more(self, last: int) -> None:
        """The end of the results is on screen: read on."""
        found, query = self._found, self._query
        if found is None or query is None or not found.answer.more or self._reading_on:
            return
        if not found.answer.complete:
            return  # what was stopped is not begun again
        if last < len(self._screen.rows) - 1 or self.order == "relevance":
            return
        from hermes_browse.store.search import make_conditions

        from .. import search_model

        self._reading_on = True
        scan = self._scan = Scan()
        now = self._screen.clock()
        catalog, view, order = self._screen.listing.catalog, self.view, self.order

        def work(reader: Reader) -> Found:
            return search_model.run(
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
                earlier=found,
            )

        def done(longer: Found) -> None:
            self._scan, self._reading_on = None, False
            if self._found is found:
                self._found = longer
                self._screen.rows.show(self._rows())
                self._say_status()
                self._complete(longer)

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
        self._screen.say(f"hits: {self.order} first")
        self._search()

    def first_hit(self, conversation: Conversation) -> int | None:
        """The first hit of a conversation."""
        segments = {segment.id for segment in conversation.segments}
        hits = self._found.hits if self._found is not None else ()
        return next((hit.message_id for hit in hits if hit.session_id in segments), None)

    def step(self, by: int) -> None:
        """To the next or previous hit, across conversations."""
        if self._found is None:
            self._screen.say("no search: / finds words, n and N walk the hits")
            return
        widget = self._screen.rows
        index = widget.cursor + by
        while 0 <= index < len(widget):
            row = widget.source.row(index)
            if isinstance(row, HitRow):
                widget.cursor = index
                return
            if isinstance(row, MoreRow):
                from ..search_model import Fold

                self._folds[row.root_id] = Fold.ALL
                widget.show(self._rows())
                index = widget.cursor
            index += by
        self._screen.say("no further hit")
