"""What waits for the user, went wrong, is new or is running, over all profiles and machines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple, TypeVar

from textual.app import ComposeResult

from hermes_browse.store.api import OpenStore
from hermes_browse.store.notes.notes_file import AllRead
from hermes_browse.store.places import id_of
from hermes_browse.store.places.merged import MergedStore, places_of
from hermes_browse.store.places.place import Place
from hermes_browse.store.since import SinceItem
from hermes_browse.store.since.since import LANES, Since
from hermes_browse.store.text import one_line, printable
from hermes_browse.store.wording import N_, _

from ..browser.edit.marks_and_undo import Undoable
from ..browser.list.conversation_list import ConversationList
from ..browser.main import MainScreen
from ..browser.transcript.cards import RawCard
from ..settings.keys.screen_commands import SINCE
from ..text import formats
from ..text.sentences import LANE_NAMES, why
from ..text.styled import Line
from ..widgets.list_rows import Column, Columns, FixedRows, HeadRow, ListRow, NoteRow
from ..work.application import Arrival
from ..work.jobs import Reads
from .sub_screen import ListScreen

Result = TypeVar("Result")
_SIGNS = {"waiting": "?", "wrong": "✗", "new": "+", "running": "●"}
_TITLE = 40
"""Most cells of a title."""


class SinceRow(NamedTuple):
    """One thing that happened."""

    item: SinceItem
    enter: str = N_("read")

    @property
    def key(self) -> str:
        item = self.item
        return f"s{item.lane} {item.session_id or (item.job, item.at)}"

    @property
    def about(self) -> str:
        """The whole reason, which its line may cut off."""
        return why(self.item)

    def spans(self, width: int, now: float) -> Line:
        item = self.item
        sign = _SIGNS[item.lane] if item.certain else "…"
        columns = _COLUMNS.text(item, width, now)
        room = width - 3 - _COLUMNS.width(width) - 1
        title = formats.fit(one_line(item.title, 400), min(_TITLE, room // 2))
        reason = formats.fit(f"  {self.about}", room - min(_TITLE, room // 2))
        look = "dim" if item.lane in ("new", "running") else "accent"
        return [(f" {sign} ", look), (title, "title"), (reason, "plain"), (f"{columns} ", "dim")]


_COLUMNS: Columns[SinceItem] = Columns(
    Column(N_("where"), 14, lambda each, now: one_line(each.place), least=110),
    Column(N_("source"), 10, lambda each, now: formats.source(each.source), least=70),
    Column(N_("when"), 7, lambda each, now: formats.age(each.at, now)),
)


def since_rows(since: Since) -> Iterator[ListRow]:
    """Yield the lanes, each under its head."""
    for lane in LANES:
        items = since.lane(lane)
        if items:
            yield HeadRow(f"{_(LANE_NAMES[lane])} · {len(items):,}")
            yield from map(SinceRow, items)
    yield from map(NoteRow, map(one_line, since.notes))
    if not since.items and not since.notes:
        yield NoteRow(_("nothing waits for you, went wrong or is new"))


class SinceScreen(ListScreen):
    """What happened since the user looked."""

    ENTER = N_("Read it there")
    KEYS = SINCE
    TITLE = N_("since you looked")

    def __init__(self, main: MainScreen) -> None:
        super().__init__(main)
        places = places_of(main.app.here, main.options.hosts, main.app.links)
        self._everywhere: MergedStore | None = None
        """All profiles and machines; None if there is only the store of the main screen, or if that
        is all of them already."""
        if len(places) > 1 and not main.store.is_several:
            self._everywhere = MergedStore(main.location.path.parent / "places", places)
        self._reads_everywhere = Reads(self._opened)
        self.main.app.reads.add(self._reads_everywhere)

    def _opened(self) -> OpenStore:
        return OpenStore(self._everywhere or self.main.store, self.main.location)

    def content(self) -> ComposeResult:
        yield ConversationList(id="items")

    def on_unmount(self) -> None:
        self._reads_everywhere.stop()

    def _catalog_read(self) -> None:
        """Follow the list, unless that means to ask hosts at each write here: F5 asks them."""
        if not self.main.options.hosts:
            super()._catalog_read()

    def action_refresh(self) -> None:
        """Read again, and ask all machines."""
        self.catalog_changed()

    async def read_rows(self) -> None:
        """Read the store of the main screen, then all profiles and machines."""
        now = self.main.clock()

        def read(store: OpenStore) -> Since:
            return store.since(store.catalog(now), now)

        if self._everywhere is None or isinstance(self.rows.source.row(0), NoteRow):
            self._show(await self.read(read))
        if self._everywhere is not None:
            self.show_title(_("asking the other profiles and machines …"))
            self._show(await self.result_of(self._reads_everywhere.submit(read)))

    def _show(self, since: Since) -> None:
        self.show_title(_("new since {time}", time=formats.timestamp(since.since)))
        self.rows.show(FixedRows(list(since_rows(since))))

    def chose(self, row: ListRow) -> None:
        """Read it, in its own profile or on its own machine."""
        if not isinstance(row, SinceRow):
            return
        item = row.item
        store = self._everywhere or self.main.store
        places = store.places if isinstance(store, MergedStore) else ()
        place = next((each for each in places if each.name == item.place), None)
        if item.session_id is None:
            self.start("message", self._show_output, place, item)
        elif place is None or self._everywhere is None:
            self.read_message(item.session_id, item.message_id)
        else:
            own = id_of(item.session_id)
            self.start("message", self._read_there, place, own, place.with_own_ids(item.message_id))

    async def _show_output(self, place: Place | None, item: SinceItem) -> None:
        """Show what Hermes kept of the output of a job without a session."""
        output = await self._read_in(
            place, lambda store: store.job_output(item.job, item.at or 0.0)
        )
        if output is None:
            self.say(_("a job without a session, and Hermes kept no output of this run"))
        elif self.app.screen is self:
            lines = [[(printable(line), "text")] for line in output.splitlines()]
            self.app.push_screen(RawCard(one_line(item.title, 200), output, lines))

    async def _read_there(self, place: Place, session_id: str, message_id: int | None) -> None:
        location = await self.call(place.location)
        if location.path == self.main.location.path:
            await self._find_and_read(session_id, message_id)
            return
        find = partial(OpenStore.conversations_of, session_ids=[session_id], now=self.main.clock())
        (conversation,) = await self._read_in(place, find)
        if self.app.screen is self:
            self.dismiss(None)
            self.main.switching.to(location, Arrival(conversation, message_id))

    async def _read_in(self, place: Place | None, job: Callable[[OpenStore], Result]) -> Result:
        """Read the store of a place, or, without one, of the main screen."""
        if place is None:
            return await self.read(job)

        def read() -> Result:
            with place.connect() as store:
                return job(store)

        return await self.call(read)

    def action_all_read(self) -> None:
        """Mark everything as read, here and in the other places."""
        self.main.start_write(self._all_read)

    async def _all_read(self) -> None:
        def mark() -> AllRead:
            with self._opened() as store:
                return store.mark_all_read(self.main.clock())

        done = await self.main.write(mark)

        def undo() -> str:
            with self._opened() as again:
                return again.undo_all_read(done).sentence

        self.main.edits.record(Undoable(done.sentence, undo))
        self.catalog_changed()
