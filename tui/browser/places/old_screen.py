"""The main screen over old transcripts, which are files beside the store."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on
from textual.events import Unmount

from hermes_browse.store.api import open_store
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.places.old_transcripts import OldTranscripts
from hermes_browse.store.sessions.models import View
from hermes_browse.store.wording import N_

from ...settings.keys import changed
from ...settings.keys.main_commands import MAIN
from ..list.list_model import FirstPage, read_first
from ..main import MainScreen, OtherScreen

if TYPE_CHECKING:
    from textual.content import Content


_NOT_OF_FILES = (
    *("resume", "resume-window", "copy-command", "archive", "delete", "pin"),
    *("rename", "tag", "undo", "prune", "trash", "retention", "since"),
)
"""Commands that need sessions of a store."""


def read_old_transcripts(
    folder: Path, store: Store, now: float, lines: int
) -> tuple[OldTranscripts, FirstPage]:
    """Read a first portion of the old transcripts that a store does not have; on a reading thread.

    Returns:
        The temporary store, and its first page (`lines` conversations).
    """
    with open_store(store) as opened:
        known = opened.known_sessions()
    transcripts = OldTranscripts(folder, known)
    try:
        transcripts.fill()
        return transcripts, read_first(Store(transcripts.path), now, lines, View.ALL)
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
        """Read the remaining files; Textual calls the handler of the main screen as well."""
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
