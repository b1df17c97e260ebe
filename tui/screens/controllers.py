"""Creates the controllers of the main screen and connects them by callbacks. `Current` alone calls
another directly.

Those that the first frame does not need are imported on first use.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

from hermes_browse.store.errors import BrowseError
from hermes_browse.store.sessions.models import Conversation, View
from hermes_browse.store.wording import ngettext

from ..config.folders import history_path
from ..context import Arrival, Context
from ..legacy.old_files import OldFiles
from ..list.current import Current
from ..list.list_model import CatalogRows
from ..list.listing import Listing
from ..list.marks import Marks
from ..search.history import QueryHistory
from ..shared import header
from ..store_paths import trash_folder
from ..transcript.entries import TranscriptModel
from ..transcript.reading import TranscriptController
from .by_name import load
from .panes import Panes

if TYPE_CHECKING:
    from hermes_browse.store.search.terms import Matcher

    from ..cleanup.cleaning import Cleaning
    from ..edit.changing import Changing
    from ..profiles.switching import Switching
    from ..resume.resuming import Resuming
    from ..search.query_line import Typing
    from ..search.searching import Searching
    from ..transcript.copying import Copying
    from ..transcript.finding import Finding


class WayBack(NamedTuple):
    """The way back to the screen from which a conversation was opened."""

    root_id: str
    """Of the conversation."""
    go: Callable[[], None]
    forget: Callable[[], None]


class Controllers:
    """The controllers of the main screen, which the screens over it use as well.

    Args:
        catalog_read: Called after the store was read again and the list was updated.
    """

    def __init__(self, context: Context, panes: Panes, catalog_read: Callable[[], None]) -> None:
        self.context, self._panes, self._catalog_was_read = context, panes, catalog_read
        self.marks = Marks()
        self._is_search_prepared = False
        say_later = partial(panes.call_later, context.say)
        self.history = QueryHistory(None if context.location.demo else history_path(), say_later)
        """Past searches; those of the demo are not saved."""
        self.listing = Listing(context, panes, lambda: self.is_searching, self._catalog_read)
        self.listing.on_order_change = self._sorted_anew
        self.reading = TranscriptController(
            context, panes, lambda: self.current.conversation, self._matchers
        )
        self.reading.shown, self.reading.hit_shown = self._page_shown, self._hit_shown
        self.current = Current(context, panes, self.reading, self._best_hit)
        self.old_files = OldFiles(context, panes, partial(self.open_screen, "old"))

        self.way_back: WayBack | None = None

    # Imported on first use

    @cached_property
    def searching(self) -> Searching:
        """Search as you type."""
        make: type[Searching] = load("searching")
        return make(
            self.context,
            self._panes,
            list_order=lambda: self.listing.order,
            current=lambda: self.current.conversation,
            show_list=lambda keys: self.listing.refresh(at=keys),
            put_query=lambda query: self.typing.put(query),
            search_profile=lambda profile, query: self.switching.search(profile, query),
        )

    @cached_property
    def typing(self) -> Typing:
        """The search box."""
        make: type[Typing] = load("typing")
        return make(self.context, self._panes, self.history, self.searching.asked)

    @cached_property
    def finding(self) -> Finding:
        """Find in the transcript."""
        make: type[Finding] = load("finding")
        return make(self.context, self._panes, self._matchers)

    @cached_property
    def changing(self) -> Changing:
        """Mark, archive, pin, rename and undo."""
        make: type[Changing] = load("changing")
        return make(
            self.context,
            self._panes,
            self.marks,
            current=lambda: self.current.targets,
            is_listed=lambda: self.current.is_listed,
            archive_many=lambda targets: self.cleaning.archive(targets),
            touched=self._touched,
        )

    @cached_property
    def cleaning(self) -> Cleaning:
        """Plans of deletions, and carrying them out."""
        make: type[Cleaning] = load("cleaning")
        return make(
            self.context, self._panes, lambda entry, touched: self.changing.done(entry, touched)
        )

    @cached_property
    def copying(self) -> Copying:
        """Clipboard, pager and editor."""
        make: type[Copying] = load("copying")
        return make(self.context, self._panes)

    @cached_property
    def resuming(self) -> Resuming:
        """Resume in Hermes."""
        make: type[Resuming] = load("resuming")
        return make(self.context, self._panes, self._came_back)

    @cached_property
    def switching(self) -> Switching:
        """Switch to other profiles."""
        make: type[Switching] = load("switching")
        return make(self.context, self._panes, self.arrive, partial(self.open_screen, "places"))

    def load_search(self) -> None:
        """Import what the first letter in the search box needs, on a thread, as it takes about
        three frames."""
        load("typing")
        load("searching")
        self.history.load()

    # Commands and state that involve several of them

    @property
    def is_searching(self) -> bool:
        """Whether the list shows search results."""
        return "searching" in self.__dict__ and self.searching.is_active

    @property
    def view(self) -> View:
        """The view of the search if there is one, else that of the list."""
        return self.searching.view if self.is_searching else self.listing.view

    @property
    def offered(self) -> Sequence[str]:
        """Completed values of a filter at the end of the query, for the line of views."""
        offer = self.typing.offered if "typing" in self.__dict__ else None
        return offer.choices if offer is not None and offer.key else ()

    def search_and_marks(self) -> tuple[str, str]:
        """Return the texts on search and marks for the line of views, empty for none."""
        marks = self.marks
        search = self.searching.describe() if self.is_searching else ""
        return search, header.marked(len(marks), marks.messages) if marks else ""

    def set_view(self, view: View) -> None:
        """Show or search another view."""
        if self.is_searching:
            self.searching.set_view(view)
        else:
            self.listing.set_view(view)
        self.context.show_header()

    @property
    def message_id(self) -> int | None:
        """The message that keys act on in the transcript, if that has the keys."""
        transcript = self._panes.transcript
        return transcript.current_id if self._panes.focused is transcript else None

    def of_current(self, do: Callable[[Conversation], object]) -> None:
        """Call `do` with the current conversation, if there is one."""
        if (conversation := self.current.conversation) is not None:
            do(conversation)

    def of_targets(self, do: Callable[[Sequence[Conversation]], object]) -> None:
        """Call `do` with the marked conversations, else the current ones, if there are any."""
        if targets := self.changing.targets():
            do(targets)

    def open_screen(self, name: str, *details: object) -> None:
        """Open a screen by its name in `by_name`, with what else its class takes."""
        self.forget_way_back()
        self._panes.app.push_screen(load(name)(self, *details))

    def go_back(self) -> bool:
        """Open the screen again from which the current conversation was opened; return False if
        there is none."""
        way, current = self.way_back, self.current.conversation
        if way is None or current is None or current.root_id != way.root_id:
            return False
        self.way_back = None
        way.go()
        return True

    def forget_way_back(self) -> None:
        """Remove the screen that is kept for `go_back`."""
        if self.way_back is not None:
            self.way_back.forget()
            self.way_back = None

    def read(self, conversation: Conversation, message_id: int | None = None) -> None:
        """Show a conversation, listed or not, in the transcript and focus that."""
        self.current.open(conversation, message_id=message_id)
        self._panes.set_focus(self._panes.transcript)

    def search_for(self, query: str, remark: str = "") -> None:
        """Search for a text that was not typed; `remark` is shown with the results."""
        self.typing.put(query, remark)
        self._panes.set_focus(self._panes.rows)

    def arrive(self, arrival: Arrival) -> None:
        """Continue here after a switch of stores: show a conversation, or search."""
        if arrival.conversation is not None:
            self.read(arrival.conversation, arrival.message_id)
        elif arrival.query:
            self.search_for(
                arrival.query
            )  # no space after it: it was counted with the last word as a prefix

    def expire_trash(self, age: str) -> None:
        """Drop bundles of this age, as written in the configuration, in the background; report how
        many."""
        self._panes.start_write(self._expire_trash, age)

    async def _expire_trash(self, age: str) -> None:
        trash, now = trash_folder(self.context.location), self.context.clock()
        count = await self._panes.write(
            lambda: len(load("expire")(trash, load("parse-age")(age), now))
        )
        if count:
            text = ngettext(
                "dropped 1 bundle from the trash, as old as the configuration says",
                "dropped {count:,} bundles from the trash, as old as the configuration says",
                count,
            )
            self.context.say(text.format(count=count))

    def close(self) -> None:
        """Close the store, and remove temporary files."""
        self.forget_way_back()
        if "copying" in self.__dict__:
            self.copying.close()
        self.context.close()

    # Callbacks from one to others

    def _matchers(self) -> Sequence[Matcher]:
        return self.searching.matchers if self.is_searching else ()

    def _best_hit(self, conversation: Conversation) -> int | None:
        return self.searching.hits.best_hit(conversation) if self.is_searching else None

    def _catalog_read(self, rows: CatalogRows) -> None:
        if self.marks:  # drop those of conversations that are gone
            self.marks.keep(self.context.catalog.forest.is_root)
        self.listing.show(rows)
        self.context.show_header()
        self.current.catalog_read()
        if self.is_searching:
            self.searching.catalog_read()
        elif not self._is_search_prepared:
            self._is_search_prepared = True
            self._panes.start("search", self._prepare_search)
        self._catalog_was_read()

    async def _prepare_search(self) -> None:
        """Read what every search needs of the whole store before the first keystroke, which would
        cancel this."""
        with contextlib.suppress(BrowseError):  # shown by the list, and by the first search
            await self._panes.read(lambda store: store.prepare_search())

    def _touched(self, session_ids: Sequence[str]) -> None:
        self.listing.touched(session_ids)
        if self.is_searching:
            self.searching.again()

    def _sorted_anew(self) -> None:
        if (
            self.is_searching and not self.searching.has_hits
        ):  # filtered conversations have the list's order
            self.searching.again()

    def _page_shown(self, model: TranscriptModel | None, grown: bool) -> None:
        if self._panes.transcript.is_finding:
            self.finding.shown(model, grown=grown)

    def _hit_shown(self) -> None:
        if (
            self._panes.transcript.is_finding
        ):  # a hit was opened, so n and N step through hits again
            self.finding.close()

    def _came_back(self) -> None:
        self.listing.read()
        self.reading.changed()
