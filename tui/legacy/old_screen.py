"""Old transcripts: files beside the store, in a view of their own.

They are read into a temporary store, and this is the main screen over that: list, transcript, search, find, copy and
export are the same. The views above the list stay those of the real store; any of them leads back there.
"""

from __future__ import annotations

import asyncio
import threading
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.legacy.shelf import Shelf
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Conversation, Sort, View
from hermes_browse.store.wording import _

from ..bindings import bindings
from ..commands.panes import MAIN
from ..list.rows import ConversationRow, ListRow
from ..screens.callees import show_help
from ..screens.controllers import Controllers
from ..screens.main import MainScreen
from ..shared import header

if TYPE_CHECKING:
    from textual.content import Content

_REFUSED = (
    *("resume", "resume-window", "copy-command", "archive", "delete", "pin"),
    *("rename", "undo", "prune", "trash", "retention"),
)
"""Commands on sessions of a store; these are files."""
_VIEWS = {
    "view-chats": View.CHATS,
    "view-auto": View.AUTOMATION,
    "view-archived": View.ARCHIVED,
    "view-all": View.ALL,
}


class OldScreen(MainScreen):
    """The main screen over old transcripts.

    Args:
        beside: Controllers of the store they lie beside.
        shelf: Their temporary store, its first portion read; closed with the screen.
        first: What is known of it.
        shown: Conversations of it that have been read.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings(
        each._replace(footer=False) for each in MAIN if each.id in _REFUSED
    )

    def __init__(self, beside: Controllers, shelf: Shelf, first: Catalog, shown: list[Conversation]) -> None:
        location = Location(shelf.path, old_files=shelf.folder)
        super().__init__(beside.context.host, location, Store(shelf.path), first, shown)
        self._beside, self._shelf = beside, shelf
        self.controllers.listing.begin_as(View.ALL, Sort.ACTIVITY, reverse=False)
        self.callees |= {name: self._refuse for name in _REFUSED}
        self.callees |= {name: partial(self._back_to, view) for name, view in _VIEWS.items()}
        self.callees["view-old"] = lambda: None  # here already
        self.callees["help"] = lambda: show_help(self, _REFUSED)

    def on_mount(self) -> None:
        """Read the rest behind what is shown; Textual calls the handler of the main screen as well."""
        self.run_worker(self._fill(), group="old")

    async def _fill(self) -> None:
        try:
            while await asyncio.to_thread(self._shelf.fill):
                self.context.say(self._shelf.describe())
        except BrowseError as error:
            self.context.failed(error)
            return
        self.context.say(self._shelf.describe())
        self.show_header()
        self.controllers.listing.read()
        if self.controllers.is_searching:  # it has looked through what was there
            self.controllers.searching.again()

    def on_unmount(self) -> None:
        """The temporary store goes; not on the screen's thread, for a portion may be under way."""
        threading.Thread(target=self._shelf.close, name="old").start()

    def view_line(self) -> Content:
        """The views of the real store, and this one."""
        by = self.controllers
        order = by.listing.sort, by.listing.reverse
        return header.views(
            self._beside.context.catalog, None, *order, *by.told(), self._shelf.files, width=self.size.width
        )

    def take(self, row: ListRow) -> None:
        """Enter on a conversation reads it."""
        if isinstance(row, ConversationRow):
            self.controllers.current.follow_row()
            self.set_focus(self.transcript)
        else:
            super().take(row)

    def _refuse(self) -> None:
        self.context.say(
            _("these are files, not sessions of the store: they can be read, searched, copied and exported")
        )

    def _back_to(self, view: View) -> None:
        """Back to a view of the store."""
        self.dismiss(None)
        self._beside.set_view(view)

    def leave(self) -> None:
        """One step back is the store."""
        self.dismiss(None)
