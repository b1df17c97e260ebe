"""Old transcripts: files beside the store, in a view of their own.

They are read into a temporary store, and this is the main screen over that: list, transcript, search, find, copy and
export are the same. The views above the list stay those of the real store; any of them leads back there.
"""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType

from hermes_browse.store.connect import Store
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.homes import Location
from hermes_browse.store.old.shelf import Shelf
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Conversation, Sort, View
from hermes_browse.store.wording import _

from .. import header
from ..rows import ConversationRow, ListRow
from .bindings import MAIN_BINDINGS
from .main import MainScreen

if TYPE_CHECKING:
    from textual.content import Content

_REFUSED = (
    *("resume", "resume_window", "copy_command", "archive", "delete", "pin"),
    *("rename", "undo", "prune", "trash", "retention"),
)
"""Actions on sessions of a store; these are files."""


class OldScreen(MainScreen):
    """The main screen over old transcripts.

    Args:
        beside: The screen of the store they lie beside.
        shelf: Their temporary store, its first portion read; closed with the screen.
        first: What is known of it.
        shown: Conversations of it that have been read.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        replace(each, show=False) for each in MAIN_BINDINGS if each.action in _REFUSED
    ]

    def __init__(self, beside: MainScreen, shelf: Shelf, first: Catalog, shown: list[Conversation]) -> None:
        location = Location(shelf.path, old_files=shelf.folder)
        super().__init__(location, Store(shelf.path), first, shown, beside.clock)
        self._beside, self._shelf = beside, shelf
        self.listing.begin_as(View.ALL, Sort.ACTIVITY, reverse=False)

    def on_mount(self) -> None:
        """Read the rest behind what is shown; Textual calls the handler of the main screen as well."""
        self.run_worker(self._fill(), group="old")

    async def _fill(self) -> None:
        try:
            while await asyncio.to_thread(self._shelf.fill):
                self.say(self._shelf.describe())
        except BrowseError as error:
            self.failed(error)
            return
        self.say(self._shelf.describe())
        self.show_header()
        self.listing.read()
        if self.searching.is_active:  # it has looked through what was there
            self.searching.again()

    def on_unmount(self) -> None:
        """The temporary store goes; not on the screen's thread, for a portion may be under way."""
        threading.Thread(target=self._shelf.close, name="old").start()

    def state_text(self) -> str:
        """Whether a temporary store is written to concerns nobody."""
        return ""

    def view_line(self) -> Content:
        """The views of the real store, and this one."""
        order = self.listing.sort, self.listing.reverse
        told = self.searching.describe(), self.changing.describe()
        return header.views(self._beside.listing.catalog, None, *order, *told, self._shelf.files, width=self.size.width)

    def take(self, row: ListRow) -> None:
        """Enter on a conversation reads it."""
        if isinstance(row, ConversationRow):
            self.current.follow_row()
            self.set_focus(self.transcript)
        else:
            super().take(row)

    def _refuse(self) -> None:
        self.say(_("these are files, not sessions of the store: they can be read, searched, copied and exported"))

    action_resume = _refuse
    action_archive = action_delete = action_pin = action_rename = action_undo = _refuse
    action_prune = action_trash = action_retention = action_copy_command = action_resume_window = _refuse

    def action_view(self, name: str) -> None:
        """Back to a view of the store."""
        self.dismiss(None)
        self._beside.action_view(name)

    def action_old(self) -> None:
        """Here already."""

    def leave(self) -> None:
        """One step back is the store."""
        self.dismiss(None)
