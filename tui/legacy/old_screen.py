"""The view of old transcripts, which are files beside the store.

They are read into a temporary store with a main screen of its own. The views in its header are
those of the real store and lead back to it.
"""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType

from hermes_browse.store.api import open_store
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.legacy.old_transcripts import OldTranscripts
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Conversation, Sort, View
from hermes_browse.store.wording import _

from ..bindings import bindings
from ..commands.main_commands import MAIN, VIEW_COMMANDS
from ..list.list_model import read_first
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
"""Commands that need sessions of a store."""


def read_old_transcripts(
    folder: Path, store: Store, now: float, lines: int
) -> tuple[OldTranscripts, Catalog, list[Conversation]]:
    """Read a first portion of the old transcripts that a store does not have; on a reading thread.

    Returns:
        The temporary store, the first page of its catalog (`lines` conversations), and these with
        previews.
    """
    with open_store(store) as opened:
        known = opened.known_sessions()
    transcripts = OldTranscripts(folder, known)
    try:
        transcripts.fill()
        return transcripts, *read_first(Store(transcripts.path), now, lines, View.ALL)
    except BrowseError:
        transcripts.close()
        raise


class OldScreen(MainScreen):
    """The main screen over old transcripts.

    `parent` has the controllers of the store beside the files; `transcripts`, which hold a first
    portion, are closed with the screen; `first` and `shown` are as of `MainScreen`.
    """

    ENTER_READS = True
    BINDINGS: ClassVar[list[BindingType]] = bindings(
        each._replace(footer=False) for each in MAIN if each.id in _REFUSED
    )

    def __init__(
        self,
        parent: Controllers,
        transcripts: OldTranscripts,
        first: Catalog,
        shown: list[Conversation],
    ) -> None:
        location = Location(transcripts.path, old_files=transcripts.folder)
        super().__init__(parent.context.host, location, Store(transcripts.path), first, shown)
        self._parent_controllers, self._transcripts = parent, transcripts
        self.controllers.listing.begin_as(View.ALL, Sort.ACTIVITY, reverse=False)
        self.callees |= {name: self._refuse for name in _REFUSED}
        self.callees |= {
            name: partial(self._back_to, view)
            for name, view in zip(VIEW_COMMANDS, View, strict=True)
        }
        self.callees["view-old"] = lambda: None  # here already
        self.callees["help"] = lambda: show_help(self, _REFUSED)

    def on_mount(self) -> None:
        """Read the remaining files; Textual calls the handler of the main screen as well."""
        self.start("fill", self._fill)

    async def _fill(self) -> None:
        while await self.call(self._transcripts.fill):
            self.context.say(self._transcripts.describe())
        self.context.say(self._transcripts.describe())
        self.show_header()
        self.controllers.listing.read()
        if self.controllers.is_searching:  # the search has not seen the new ones
            self.controllers.searching.again()

    def on_unmount(self) -> None:
        """Delete the temporary store, on a thread because a portion may be under way."""
        threading.Thread(target=self._transcripts.close, name="old").start()

    def view_line(self) -> Content:
        """Return the views of the real store, and this one."""
        controllers = self.controllers
        order = controllers.listing.sort, controllers.listing.reverse
        return header.views(
            self._parent_controllers.context.catalog,
            None,
            *order,
            *controllers.search_and_marks(),
            self._transcripts.files,
            width=self.size.width,
        )

    def enter_words(self) -> str:
        """Enter on a conversation reads it."""
        return _("Enter reads it")

    def _refuse(self) -> None:
        self.context.say(
            _(
                "these are files, not sessions of the store: they can be read, searched, copied and exported"
            )
        )

    def _back_to(self, view: View) -> None:
        """Go back to a view of the store."""
        self.dismiss(None)
        self._parent_controllers.set_view(view)

    def leave(self) -> None:
        """Go back to the store."""
        self.dismiss(None)
