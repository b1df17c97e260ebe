"""Main screens over other stores: over all profiles and hosts, with a column that says where a
conversation is; and over old transcripts, which are files beside the store."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from textual import on
from textual.events import Unmount

from hermes_browse.store.api import open_store
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.hosts.host import HostError
from hermes_browse.store.places.merged import MergedStore
from hermes_browse.store.places.old_transcripts import OldTranscripts
from hermes_browse.store.places.place import Place
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Conversation, View
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _

from ..settings.keys import changed
from ..settings.keys.main_commands import MAIN
from ..text import formats
from ..text.styled import Span
from ..widgets.list_rows import ListRow
from ..work.application import Arrival
from .list.list_model import FirstPage
from .main import MainScreen, OtherScreen
from .panes import Panes
from .switching import reason_of

if TYPE_CHECKING:
    from textual.content import Content

_NOT_OF_SEVERAL = (
    *("archive", "delete", "pin", "rename", "tag", "undo", "prune", "trash", "retention"),
    *("view-old", "insights", "doctor"),
)
"""Commands about one store."""
_CHANGED: Mapping[str, dict[str, Any]] = {
    "hit-order": {
        "title": N_("open there"),
        "tooltip": N_("Open it in its own profile or host"),
        "footer": True,
        "call": "open_there",
    },
    "back": {"footer": True},
}
"""How commands are shown here, where it differs; hits have one order, so its key opens."""


class AwayRow(NamedTuple):
    """A place of which nothing can be shown."""

    place: Place
    reason: str

    @property
    def key(self) -> str:
        return f"a{self.place.name}"

    def spans(self, width: int, now: float) -> list[Span]:
        name = f"{one_line(self.place.name, 40)}  "
        reason = formats.fit(self.reason, max(width - 3 - len(name), 0))
        return [(" ! ", "note"), (name, "accent"), (reason, "note")]


def _names(names: Sequence[str]) -> str:
    """Return names of places, as many as a line takes."""
    shown, more = ", ".join(names[:3]), len(names) - 3
    return _("{names} and {count:,} more", names=shown, count=more) if more > 0 else shown


class PlacesScreen(OtherScreen):
    """The main screen over a `MergedStore`."""

    KEYS = changed(MAIN, _CHANGED, _NOT_OF_SEVERAL)
    REFUSAL = N_("these are several stores: o opens the one of this conversation, 0 another")

    def __init__(self, beside: MainScreen, store: MergedStore, first: FirstPage) -> None:
        name = _("all profiles and hosts") if beside.options.hosts else _("all profiles")
        location = beside.app.here._replace(
            path=store.path, root=None, profile=name, note="", label=name
        )
        super().__init__(location, store, first)
        self._merged = store
        self._away: list[str] = []
        """Names of the places that were away when the list was read last."""

    def notes(self) -> Sequence[ListRow]:
        now, away = self.clock(), [(place, place.away) for place in self._merged.places]
        return [AwayRow(place, reason_of(place, why, now)) for place, why in away if why]

    def uncovered(self) -> str:
        waited = _names([each.name for each in self._merged.places if each.is_waited_for])
        away = _names([each.name for each in self._merged.places if each.away])
        return formats.joined(
            _("asking {hosts} …", hosts=waited) if waited else "",
            _("without {hosts}", hosts=away) if away else "",
        )

    def why_gone(self, conversation: Conversation) -> str:
        place = self._merged.place(conversation.root_id)
        if place is None or place.away is None:
            return super().why_gone(conversation)
        return f"{one_line(place.name, 40)}: {reason_of(place, place.away, self.clock())}"

    def watch_catalog(self, before: Catalog, catalog: Catalog) -> None:
        """Search again when a place has gone or come back: its hits go and come with it."""
        away = [place.name for place in self._merged.places if place.away is not None]
        if away != self._away and self.searched is not None:
            self.search.is_outdated = True
        self._away = away
        super().watch_catalog(before, catalog)

    def enter_row(self, row: ListRow) -> None:
        """Ask a place again that is away; other rows as on every main screen."""
        if isinstance(row, AwayRow):
            self.say(_("asking {hosts} …", hosts=row.place.name))
            self.start("again", self._read_again, row.place)
        else:
            super().enter_row(row)

    async def _read_again(self, place: Place) -> None:
        await self.call(place.retry)
        self.listing.read()

    def describe_row(self) -> None:
        super().describe_row()
        row = self.rows.current
        if isinstance(row, AwayRow) and (error := row.place.away) is not None:
            more, host = "", row.place.host
            if host is not None:
                more = _("`hermes-browse hosts check {name}` says more", name=host.name)
            remedy = error.mend if isinstance(error, HostError) else error.remedy
            self.about = formats.joined(_("Enter asks it again"), more, one_line(remedy, 300))

    def open_there(self) -> None:
        """Open the current conversation, at the current message or hit, in its own place."""
        conversation = self.current
        place = self._merged.place(conversation.root_id) if conversation is not None else None
        if conversation is None or place is None:
            return
        own = place.with_own_ids(conversation)
        message = self.message_id or self.shown.message_id
        self.switching.to_place(place, Arrival(own, place.with_own_ids(message)))


_NOT_OF_FILES = (
    *("resume", "resume-window", "copy-command", "archive", "delete", "pin"),
    *("rename", "tag", "undo", "prune", "trash", "retention", "since"),
)
"""Commands that need sessions of a store."""


def read_old_transcripts(folder: Path, main: Panes) -> tuple[OldTranscripts, FirstPage]:
    """Read a first portion of the old transcripts that the store of a screen does not have; on a
    reading thread.

    Returns:
        The temporary store, and its first page.
    """
    with open_store(main.store) as opened:
        known = opened.known_sessions()
    transcripts = OldTranscripts(folder, known)
    try:
        transcripts.fill()
        return transcripts, main.first_page(Store(transcripts.path), View.ALL)
    except BrowseError:
        transcripts.close()
        raise


class OldScreen(OtherScreen):
    """The main screen over old transcripts, which are read into a temporary store. The views in its
    header are those of the real store and lead back to it.

    `beside` is that of the store beside the files; `transcripts`, which hold a first portion, are
    closed with the screen. A `query` is searched for at once.
    """

    KEYS = changed(MAIN, {"view-old": {"call": "show_header"}}, _NOT_OF_FILES)
    RESUMES = False
    REFUSAL = N_(
        "these are files, not sessions of the store: they can be read, searched, copied and exported"
    )

    def __init__(
        self, beside: MainScreen, transcripts: OldTranscripts, first: FirstPage, query: str
    ) -> None:
        location = Location(transcripts.path, old_files=transcripts.folder)
        super().__init__(location, Store(transcripts.path), first)
        self._beside, self._transcripts, self._query = beside, transcripts, query
        self.begin_as(View.ALL)

    def on_mount(self) -> None:
        """Read the remaining files, and follow the counts of the real store; Textual calls the handler
        of the main screen as well."""
        self.watch(self._beside, "catalog", self.show_header_soon, init=False)
        self.start("fill", self._fill)
        if self._query:
            self.call_after_refresh(self.search_for, self._query)

    async def _fill(self) -> None:
        while await self.call(self._transcripts.fill):
            self.say(self._transcripts.describe())
        self.say(self._transcripts.describe())
        self.listing.read()
        if self.searched is not None:  # the search has not seen the new ones
            self.search.run()

    @on(Unmount)
    async def delete(self) -> None:
        """Delete the temporary store after the last read, which would make SQLite's files anew in
        its folder; on a thread because a portion may be under way."""
        self.reads.stop()
        await asyncio.to_thread(self._transcripts.close)

    def view_line(self) -> Content:
        """Return the views of the real store, and this one."""
        return self.views(self._beside.catalog, None, self._transcripts.files)

    def reload(self) -> None:
        """Open the screen anew, as files may have come, changed or gone."""
        self.dismiss(None)
        self._beside.count_old_files()
        self._beside.switching.show_old(self.box.value)

    def show_view(self, name: str) -> None:
        """Go back to a view of the store."""
        self.dismiss(None)
        self._beside.show_view(name)
