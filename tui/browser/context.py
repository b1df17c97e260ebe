"""What the parts of the main screen and the screens over it share: a store, how to read and write it,
and the state that all of them show.

State flows one way: a key or a message sets it here, and what shows it watches it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from textual import getters
from textual.reactive import var

from hermes_browse.store.api import OpenStore
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import BrowseError, RefusedError
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.messages.chat_message import HitOrder, Reading
from hermes_browse.store.sessions.catalog import UNREAD, Catalog
from hermes_browse.store.sessions.models import Conversation, Sort, View
from hermes_browse.store.since import Attention
from hermes_browse.store.wording import _

from ..settings.options import Options
from ..text.family import NO_FAMILY, Family
from ..work.application import Application, Arrival
from ..work.jobs import Reads, StoreScreen
from .header import StatusText
from .list.list_model import FirstPage, Order

if TYPE_CHECKING:
    from hermes_browse.store.search.query import Query
    from hermes_browse.store.search.terms import Term

    from .search.results import SearchResults
    from .transcript.entries import TranscriptModel
    from .transcript.page import SeenByModel


Result = TypeVar("Result")
REST = 0.025
"""Seconds without a move of the cursor before the panes read a conversation: more than a frame, too
short to notice."""
PATIENCE = 0.15
"""Seconds for which a pane shows the previous conversation while the next is read."""


class ShownConversation(NamedTuple):
    """What the panes show."""

    conversation: Conversation | None = None
    """None for nothing, also while one is being looked up."""
    message_id: int | None = None
    """Begin at this message, highlighted as a hit."""
    segment: str | None = None
    """Begin at this session."""
    is_listed: bool = True
    """Whether it is the row under the list's cursor, and follows it."""
    is_same: bool = False
    """It was shown before: only what is known of it has changed."""


class Context(StoreScreen[object]):
    """A store and the state of its main screen."""

    app = getters.app(Application)

    catalog: var[Catalog] = var(UNREAD, init=False)
    view: var[View] = var(View.CHATS, init=False)
    sort: var[Sort] = var(Sort.ACTIVITY, init=False)
    reverse: var[bool] = var(False, init=False)
    searched: var[Query | None] = var(None, init=False)
    """What is searched for; None while the list shows the store."""
    search_view: var[View] = var(View.ALL, init=False)
    hit_order: var[HitOrder] = var(HitOrder.NEWEST, init=False)
    offered: var[tuple[str, ...]] = var((), init=False)
    """Values that would complete the filter at the end of the query."""
    results: var[SearchResults | None] = var(None, init=False)
    """None while the list shows conversations."""
    shown: var[ShownConversation] = var(ShownConversation(), init=False, always_update=True)
    model: var[TranscriptModel | None] = var(None, init=False, always_update=True)
    """What the transcript shows."""
    seen: var[SeenByModel | None] = var(None, init=False)
    """What is not dimmed in it; None for no dimming."""
    family: var[Family] = var(NO_FAMILY, init=False)
    """The family tree of the current conversation; empty until it is read."""
    mode: var[Reading] = var(Reading.SAID, init=False)
    status: var[StatusText] = var(StatusText(), init=False, always_update=True)
    search_status: var[str] = var("", init=False)
    """What the search found, shown in the status line where nothing was said since."""
    about: var[str] = var("", init=False)
    """A sentence about the row under the cursor, shown where there is no other."""
    writing: var[str] = var("", init=False)
    """A sentence on who writes to the store."""
    progress: var[str] = var("", init=False)
    """What runs behind the screen, and how far it is; empty if nothing does."""
    old_files: var[int] = var(0, init=False)
    """Old transcripts beside the store; 0 until they are counted."""

    attention: var[Attention] = var(Attention(), init=False)
    """What is new, and what waits for the user."""
    _has_begun_marks = False

    def __init__(self, location: Location, store: Store, first: FirstPage) -> None:
        super().__init__()
        self.location, self.store = location, store
        self.clock = self.app.clock
        """Returns Unix seconds; tests freeze it."""
        self.set_reactive(Context.catalog, first.catalog)
        self.details = first.details
        """Previews and counts read so far."""
        self.settled: dict[Sort, Mapping[str, int]] = {}
        """Measured sort keys as of the last complete pass, so that no row moves during one."""
        self.marks: dict[str, Conversation] = {}
        """The marked conversations by their roots, which stay when a chain grows."""
        self.gone_marks: dict[str, None] = {}
        """Roots of those that are gone, as with a machine that is away."""
        self.reads = Reads(self.connect)
        self.app.reads.add(self.reads)
        self.writes = self.app.writes
        # Called from a job that writes, while another process has the store.
        store.on_wait = lambda: self.writes.tell(self.say, _("waiting for the store …"))

    def begin_as(self, view: View, sort: Sort = Sort.ACTIVITY, *, reverse: bool = False) -> None:
        self.set_reactive(Context.view, view)
        self.set_reactive(Context.sort, sort)
        self.set_reactive(Context.reverse, reverse)

    @property
    def options(self) -> Options:
        return self.app.startup.options

    def connect(self) -> OpenStore:
        """Return a connection to the store: its first read opens the file, and each change opens
        and closes it."""
        return OpenStore(self.store, self.location)

    @property
    def current(self) -> Conversation | None:
        """The conversation that all panes show and all keys act on."""
        conversation = self.shown.conversation
        return self.details.complete(conversation) if conversation is not None else None

    @property
    def current_view(self) -> View:
        return self.view if self.searched is None else self.search_view

    @property
    def order(self) -> Order:
        return Order(self.sort, self.reverse, self.settled.get(self.sort, {}))

    @property
    def matchers(self) -> tuple[Term, ...]:
        """The terms of the search, to be highlighted in the transcript."""
        return tuple(self.results.answer.matchers) if self.results is not None else ()

    def say(self, text: str) -> None:
        """Show a sentence in the status line until there is another one or the cursor moves."""
        self.status = StatusText(text)

    def say_of_page(self, text: str) -> None:
        """Show a sentence until the transcript shows another page; an empty one removes the sentence
        of the page that was left."""
        if text or self.status.is_of_page:
            self.status = StatusText(text, is_of_page=bool(text))

    def retract(self, text: str, then: str = "") -> None:
        """Remove a sentence if it is still shown, and say what comes after it."""
        if self.status.text == text:
            self.say(then)

    def warn(self, text: str) -> None:
        """Show that something is wrong; it stays like any other sentence."""
        self.status = StatusText(text, is_failure=True)

    def show_progress(self, text: str) -> None:
        self.progress = text

    async def read_at_rest(
        self, job: Callable[[OpenStore], Result], clear: Callable[[], None]
    ) -> Result:
        """Read what a pane shows of the current conversation when the cursor rests, after its row
        is painted.

        Args:
            clear: Empties the pane, if this takes long or fails.
        """
        await asyncio.sleep(REST)
        late = asyncio.get_running_loop().call_later(PATIENCE, clear)
        try:
            return await self.read(job)
        except BrowseError:
            clear()
            raise
        finally:
            late.cancel()

    async def read_details(self, conversations: Sequence[Conversation]) -> None:
        """Read the previews and counts of conversations."""
        self.details.add(await self.read(lambda store: store.with_details(conversations)))

    async def find_conversation(self, session_id: str) -> Conversation:
        """Read the conversation of a session, whether or not it is listed.

        Raises:
            NotFoundError: There is no such session.
        """
        found = await self.read(lambda store: store.conversations_of([session_id], self.clock()))
        return found[0]

    async def write(self, work: Callable[[], Result]) -> Result:
        """Run a job that writes, as `StoreScreen` does; its progress is over with it."""
        try:
            return await super().write(work)
        finally:
            self.progress = ""

    def read_attention(self) -> None:
        """Read in the background what is new, and what waits for the user."""
        if self.catalog.exact:
            self.start("attention", self._read_attention, self.catalog)

    async def _read_attention(self, catalog: Catalog) -> None:
        attention = await self.read(lambda store: store.attention(catalog, self.clock()))
        if not attention.have_marks and not self._has_begun_marks:
            self._has_begun_marks = True
            self.start("begin-marks", self.begin_marks)  # a newer read does not cancel it
        self.attention = attention

    async def begin_marks(self) -> None:
        """Keep read marks from now on; a machine that may only be read keeps none."""
        with suppress(RefusedError):
            await self.call(lambda: self.connect().begin_marks(self.clock()))

    async def mark_read(self, session_ids: Sequence[str], message_id: int | None) -> None:
        """Mark a conversation, given all its sessions, as read up to a message, or all of it; a
        machine that may only be read keeps no marks."""
        with suppress(RefusedError):
            await self.call(lambda: self.connect().mark_read(session_ids, message_id))
        self.read_attention()

    def reread(self, session_ids: Sequence[str]) -> None:
        """Show the sessions anew that this program has changed, deleted or restored just now; none
        after another program had the terminal."""
        raise NotImplementedError

    def arrive(self, arrival: Arrival) -> None:
        """Show a conversation, or search, after a switch of stores."""
        raise NotImplementedError

    def recovered(self, error: BrowseError) -> None:
        self.retract(str(error))
