"""What waits for the user, went wrong, is new or is running, over all profiles and machines."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from textual import on
from textual.app import ComposeResult

from hermes_browse.store.api import OpenStore
from hermes_browse.store.places.merged import MergedStore, places_of
from hermes_browse.store.places.names import id_of, place_of
from hermes_browse.store.places.place import Place
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.since.since import LANES, Since, SinceItem
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _

from ..browser.edit.undo import Undoable, Undone
from ..browser.list.conversation_list import ConversationList
from ..browser.main import MainScreen
from ..settings.keys.screen_commands import SINCE
from ..text import formats
from ..text.since_words import LANE_NAMES, why
from ..text.styled import Line
from ..widgets.columns import Column, Columns
from ..widgets.list_rows import FixedRows, HeadRow, ListRow, NoteRow
from ..work.application import Arrival
from ..work.reads import Reads
from .list_screen import ListScreen

_SIGNS = {"waiting": "?", "wrong": "✗", "new": "+", "running": "●"}
_TITLE = 40
"""Most cells of a title."""


class SinceRow(NamedTuple):
    """One thing that happened."""

    item: SinceItem

    @property
    def enter(self) -> str:
        return N_("read") if self.item.session_id is not None else ""

    @property
    def key(self) -> str:
        return f"s{self.item.lane} {self.item.session_id} {self.item.title} {self.item.at}"

    def spans(self, width: int, now: float) -> Line:
        item = self.item
        sign = _SIGNS[item.lane] if item.certain else "…"
        columns = _COLUMNS.text(item, width, now)
        room = width - 3 - len(columns) - 1
        title = formats.fit(one_line(item.title, 400), min(_TITLE, room // 2))
        reason = formats.fit(f"  {why(item)}", room - min(_TITLE, room // 2))
        look = "dim" if item.lane in ("new", "running") else "accent"
        return [(f" {sign} ", look), (title, "title"), (reason, "plain"), (f"{columns} ", "dim")]


_COLUMNS: Columns[SinceItem] = Columns(
    Column(N_("where"), 14, lambda each, now: _place(each.session_id or ""), least=110),
    Column(N_("source"), 10, lambda each, now: formats.source(each.source), least=70),
    Column(N_("when"), 7, lambda each, now: formats.age(each.at, now)),
)


def _place(session_key: str) -> str:
    """Return the profile or host in the key of a session; empty among those of one store."""
    return one_line(place_of(session_key)) if id_of(session_key) != session_key else ""


def since_rows(found: Since) -> Iterator[ListRow]:
    """Yield the lanes, each under its head."""
    for lane in LANES:
        items = found.lane(lane)
        if items:
            yield HeadRow(f"{LANE_NAMES[lane]()} · {len(items):,}")
            yield from map(SinceRow, items)
    if not found.items:
        yield NoteRow(_("nothing waits for you, nothing went wrong, and nothing is new"))


class SinceScreen(ListScreen):
    """What happened since the user looked."""

    ENTER = N_("Read it there")
    HELP_TITLE = N_("Since you looked")
    KEYS = SINCE
    TITLE = N_("since you looked")

    def __init__(self, main: MainScreen) -> None:
        super().__init__(main)
        places = places_of(main.host.here, main.options.hosts, main.host.links)
        self._everywhere: MergedStore | None = None
        """All profiles and machines; None if there is only the store of the main screen, or if that
        is all of them already."""
        if len(places) > 1 and not main.store.is_several:
            self._everywhere = MergedStore(main.location.path.parent / "places", places)
        self._reads_everywhere = Reads(self._opened)

    def _opened(self) -> OpenStore:
        return OpenStore(self._everywhere or self.main.store, self.main.location)

    def content(self) -> ComposeResult:
        yield ConversationList(id="marks")

    def on_unmount(self) -> None:
        super().on_unmount()
        self._reads_everywhere.stop()

    async def read_rows(self) -> None:
        """Read the store of the main screen, then all profiles and machines."""
        now = self.main.clock()

        def read(store: OpenStore) -> Since:
            return store.since(store.catalog(now), now)

        if self._everywhere is None:
            self._show(await self.read(read))
            return
        if isinstance(self.rows.source.row(0), NoteRow):
            self._show(await self.read(read))
        self.show_title(_("since you looked"), _("asking the other profiles and machines …"))
        self._show(await self._reads_everywhere.run(read))

    def _show(self, found: Since) -> None:
        self.show_title(
            _("since you looked"),
            _("new since {time}", time=formats.timestamp(found.since)),
        )
        self.rows.show(FixedRows(list(since_rows(found))))

    @on(ConversationList.Highlighted)
    def highlighted(self, event: ConversationList.Highlighted) -> None:
        """Show the whole reason, which its line may cut off."""
        event.stop()
        if isinstance(event.row, SinceRow):
            self.describe(why(event.row.item), by_hand=event.by_hand)

    @on(ConversationList.Selected)
    def selected(self, event: ConversationList.Selected) -> None:
        """Read it, in its own profile or on its own machine."""
        event.stop()
        item = event.row.item if isinstance(event.row, SinceRow) else None
        if item is None or item.session_id is None:
            self.say(_("there is no conversation to read: a job without a session"))
            return
        several = self._everywhere
        place = several.place(item.session_id) if several is not None else None
        if place is None:
            self.read_message(item.session_id, item.message_id)
        else:
            own = id_of(item.session_id)
            message_id = place.keys.there(item.message_id)
            self.start("message", self._read_there, place, own, message_id)

    async def _read_there(self, place: Place, session_id: str, message_id: int | None) -> None:
        location = await self.call(place.location)
        if location.path == self.main.location.path:
            await self._find_and_read(session_id, message_id)
            return
        conversation = await self.call(partial(_find, place, session_id, self.main.clock()))
        self.dismiss(None)
        self.main.switching.to(location, Arrival(conversation, message_id))

    def action_all_read(self) -> None:
        """Mark everything as read, here and in the other places."""
        self.main.start_write(self._all_read)

    async def _all_read(self) -> None:
        now = self.main.clock()
        with self._opened() as store:
            done = await self.main.write(lambda: store.mark_all_read(now))

        def undo() -> Undone:
            with self._opened() as again:
                return again.undo_all_read(done).sentence, ()

        self.main.edits.done(Undoable(done.sentence, undo), ())


def _find(place: Place, session_id: str, now: float) -> Conversation:
    with place.connect() as store:
        return store.neighbourhood([session_id], now).conversation(session_id)
