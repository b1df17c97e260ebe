"""What the controllers of the main screen and the screens over it share: a store, its workers, a clock, a voice.

It lies below all of them, so none of them has to know another one.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, NamedTuple, Protocol

from textual.content import Content
from textual.message import Message

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Conversation

from .config.options import Options
from .list.model import Details
from .shared import header
from .worker import Worker
from .writer import Writer

if TYPE_CHECKING:
    from hermes_browse.store.cleanup.sizes import Sizes
    from hermes_browse.store.hermes.resume import ResumePlan

    from .config.start import Start
    from .pane_sizes import PaneSizes


class Arrival(NamedTuple):
    """What to do in a store that was switched to."""

    conversation: Conversation | None = None
    """Read this one."""
    message_id: int | None = None
    """At this message, lit as a hit."""
    query: str = ""
    """Search for this."""


class Host(Protocol):
    """The application, as its screens see it."""

    start: Start
    pane_sizes: PaneSizes
    clock: Callable[[], float]
    is_choice_printed: bool

    def take_early_cursor(self) -> int:
        """The row the cursor was moved to while the browser was loading."""

    def lent(self) -> AbstractContextManager[None]:
        """Lend the terminal to another program."""

    def finish(self, plan: ResumePlan | None = None) -> None:
        """End the browser, with what is to be resumed."""

    def switch_to(
        self, location: Location, store: Store, first: Catalog, shown: list[Conversation], arrival: Arrival
    ) -> None:
        """Show another store in the place of this one."""


class Context:
    """A store, who reads and writes it, and the status line.

    Args:
        host: The application.
        location: Which store.
        store: The store.
        first: What is known of its conversations so far.
        post: Takes answers of the workers to the screen that delivers them.
    """

    def __init__(
        self, host: Host, location: Location, store: Store, first: Catalog, post: Callable[[Message], bool]
    ) -> None:
        self.host, self.location, self.store = host, location, store
        self.clock = host.clock
        """Tells the time; tests freeze it."""
        self.catalog = first
        """What is known of all conversations."""
        self.details = Details()
        """Previews and counts read so far."""
        self.sizes: dict[str, Sizes] = {}
        """Bytes of the sessions measured in this sitting; changed on the thread of `plan_worker` only."""
        self.list_worker = Worker(store, post, "list", watch=True)
        self.page_worker = Worker(store, post, "page")
        self.transcript_worker = Worker(store, post, "transcript")
        self.search_worker = Worker(store, post, "search")
        self.count_worker = Worker(store, post, "count")
        self.plan_worker = Worker(store, post, "plan")
        self.workers_of_store = [
            *(self.list_worker, self.page_worker, self.transcript_worker),
            *(self.search_worker, self.count_worker, self.plan_worker),
        ]
        """All that may have the store open; screens over the main one add theirs."""
        self.writer = Writer(post)
        self.post = post
        self.show_header: Callable[[], None] = lambda: None
        """Draws the lines at the top again; set by the main screen."""
        self.tell: Callable[[Content, Content], None] = lambda own, others: None
        """Puts a text into the status line of the main screen, and one into those over it; set by the main screen."""
        self.writing = ""
        """Whether somebody is writing to the store, in words."""
        self._said: str | None = ""
        """What the status line says; None for a failure."""
        self._is_of_page = False
        self._about, self._is_row_live = "", False

    @property
    def options(self) -> Options:
        """What the user has set."""
        return self.host.start.options

    def close(self) -> None:
        """Let go of the store for good."""
        self.writer.stop()
        for worker in self.workers_of_store:
            worker.stop()

    def say(self, text: str) -> None:
        """Put a sentence into the status line; it stays until another one is said, or the cursor is moved."""
        self._said, self._is_of_page = text, False
        self._show()

    def _show(self) -> None:
        """Show what was said last, on the main screen else what the row under the cursor is."""
        said = self._said or ""
        is_told_twice = not said and self._is_row_live
        own = header.status(said or self._about, "" if is_told_twice else self.writing)
        self.tell(own, header.status(said, self.writing))

    def about_row(self, text: str, *, is_live: bool) -> None:
        """Say what the row under the cursor is, wherever nothing else is to be said.

        Args:
            text: A sentence; empty for none.
            is_live: It says that Hermes is writing.
        """
        if (text, is_live) != (self._about, self._is_row_live):
            self._about, self._is_row_live = text, is_live
            if self._said == "":
                self._show()

    def say_of_page(self, text: str) -> None:
        """Put a sentence into the status line that holds for as long as the transcript shows the same page."""
        self.say(text)
        self._is_of_page = bool(text)

    def page_left(self) -> None:
        """The transcript shows something else: take away what was said about its page."""
        if self._is_of_page:
            self.say("")

    def unsay(self, text: str) -> None:
        """Take a sentence away if it is still there."""
        if self._said == text:
            self.say("")

    def writing_changed(self, words: str) -> None:
        """Say beside the same sentence that somebody has begun to write, or stopped."""
        self.writing = words
        if self._said is not None:
            self._show()

    def failed(self, error: BrowseError) -> None:
        """Say what went wrong."""
        self.warn(str(error))

    def warn(self, text: str) -> None:
        """Say that something is wrong; it stays like any other sentence."""
        self._said, self._is_of_page = None, False
        told = header.failure(text)
        self.tell(told, told)
