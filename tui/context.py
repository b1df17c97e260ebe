"""What controllers and screens share: the store, its workers, the clock, the status line."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, NamedTuple, Protocol

from textual.content import Content

from hermes_browse.store.api import OpenStore
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.wording import _

from .config.options import Options
from .list.list_model import RowDetails
from .shared import header
from .work.reads import Reads
from .work.writes import Writes

if TYPE_CHECKING:
    from hermes_browse.store.cleanup.sizes import Sizes
    from hermes_browse.store.hermes.resume_command import ResumePlan
    from hermes_browse.store.hosts.link import Links

    from .config.start import Start
    from .pane_sizes import PaneSizes
    from .work.store_screen import StoreScreen


class Arrival(NamedTuple):
    """What to show in a store after switching to it."""

    conversation: Conversation | None = None
    """Read this one."""
    message_id: int | None = None
    """Scroll to this message, highlighted as a hit."""
    query: str = ""
    """Search for this."""


class Application(Protocol):
    """The application, as its screens see it."""

    start: Start
    pane_sizes: PaneSizes
    clock: Callable[[], float]
    is_choice_printed: bool
    writes: Writes

    here: Location
    """The store of this machine that was opened last."""

    @property
    def links(self) -> Links:
        """The connections to the configured hosts; none is open before it is asked."""

    def take_early_cursor(self) -> int:
        """Return the row to which early keys moved the cursor."""

    def lend_terminal(self) -> AbstractContextManager[None]:
        """Give the terminal to another program."""

    def finish(self, plan: ResumePlan | None = None) -> None:
        """End the browser, with a plan to be carried out."""

    def switch_to(
        self,
        location: Location,
        store: Store,
        first: Catalog,
        shown: list[Conversation],
        arrival: Arrival,
    ) -> None:
        """Replace this store by another."""


class Context:
    """A store, how to read and write it, and the status line.

    Args:
        main: The main screen of this store.
        first: The first page of the store's catalog.
    """

    def __init__(
        self,
        host: Application,
        main: StoreScreen[object],
        location: Location,
        store: Store,
        first: Catalog,
    ) -> None:
        self.host, self.main, self.location, self.store = host, main, location, store
        self.clock = host.clock
        """Returns Unix seconds; tests freeze it."""
        self.catalog = first
        self.details = RowDetails()
        """Previews and counts read so far."""
        self.sizes: dict[str, Sizes] = {}
        """Bytes of the sessions measured so far. Jobs that plan or measure add to it."""
        self.reads = Reads(self.opened)
        self.writes = host.writes
        store.on_wait = self._tell_of_wait
        self.show_header: Callable[[], None] = lambda: None
        """Redraws the header; set by the main screen."""
        self.tell: Callable[[Content, Content], None] = lambda own, others: None
        """Shows a text in the status line of the main screen, and one in those over it; set by the
        main screen."""
        self.writing = ""
        """A sentence while another process writes to the store, else empty."""
        self._status: str | None = ""
        """Text of the status line; None for a failure."""
        self._is_of_page = False
        self._about, self._is_row_live = "", False

    @property
    def options(self) -> Options:
        """The configuration."""
        return self.host.start.options

    def opened(self) -> OpenStore:
        """Return the store, to be changed; each change opens and closes the file."""
        return OpenStore(self.store, self.location)

    def close(self) -> None:
        """End what reads, which closes the store."""
        self.reads.stop()

    def say(self, text: str) -> None:
        """Show a sentence in the status line until there is another one or the cursor moves."""
        self._status, self._is_of_page = text, False
        self._show()

    def _show(self) -> None:
        """Show the sentence; without one, the main screen describes the row under the cursor."""
        status = self._status or ""
        is_repeated = not status and self._is_row_live
        own = header.status(
            status or self._about, "" if is_repeated else self.writing, look="" if status else "dim"
        )
        self.tell(own, header.status(status, self.writing, look=""))

    def about_row(self, text: str, *, is_live: bool) -> None:
        """Describe the row under the cursor, by a sentence or none, wherever there is no other
        sentence.

        Args:
            is_live: It says that Hermes is writing.
        """
        if (text, is_live) != (self._about, self._is_row_live):
            self._about, self._is_row_live = text, is_live
            if self._status == "":
                self._show()

    def say_of_page(self, text: str) -> None:
        """Show a sentence until the transcript shows another page."""
        self.say(text)
        self._is_of_page = bool(text)

    def page_left(self) -> None:
        """Remove a sentence about the page that the transcript has left."""
        if self._is_of_page:
            self.say("")

    def retract(self, text: str) -> None:
        """Remove a sentence if it is still shown."""
        if self._status == text:
            self.say("")

    def writing_changed(self, words: str) -> None:
        """Show beside the sentence that another process has begun or ceased to write."""
        self.writing = words
        if self._status is not None:
            self._show()

    def failed(self, error: BrowseError) -> None:
        """Show an error in the status line."""
        self.warn(str(error))

    def _tell_of_wait(self) -> None:
        """Say, from a job that writes, that another process has the store, until the result."""
        self.writes.tell(self.say, _("waiting for the store …"))

    def warn(self, text: str) -> None:
        """Show that something is wrong; it stays like any other sentence."""
        self._status, self._is_of_page = None, False
        failure = header.failure(text)
        self.tell(failure, failure)
