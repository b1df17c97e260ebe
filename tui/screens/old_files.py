"""How many old transcripts lie beside the store, and the way to their view."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from hermes_browse.store.connect import Reader, Store
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.old.finding import Count, count_files, known_sessions
from hermes_browse.store.preview import with_names
from hermes_browse.store.sessions.catalog import Catalog, read_first_page
from hermes_browse.store.sessions.models import Conversation, View
from hermes_browse.store.wording import _

from ..places import sessions_folder

if TYPE_CHECKING:
    from hermes_browse.store.old.shelf import Shelf

    from .main import MainScreen


class OldFiles:
    """Knows how many old transcripts lie beside a store, and opens them."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen
        self._is_opening = False
        self.count = Count()
        """How many there are, as far as it is known."""

    def look(self) -> None:
        """Count them behind the screen."""
        folder = sessions_folder(self._screen.location)
        if folder is None or not folder.is_dir():
            return  # the store need not be opened for that

        def done(count: Count) -> None:
            self.count = count
            self._screen.show_header()

        self._screen.page_worker.submit("old", lambda reader: count_files(folder, reader), done, self._screen.failed)

    def open(self) -> None:
        """Show them in a view of their own; says so where there are none."""
        folder, screen = sessions_folder(self._screen.location), self._screen
        if folder is None or self._is_opening:
            screen.say(_("no old transcripts belong to this store"))
            return
        lines = max(screen.size.height, 20)
        now = screen.clock()

        def prepare() -> tuple[Shelf, Catalog, list[Conversation]]:
            from hermes_browse.store.old.shelf import Shelf

            with screen.store.reader() as reader:
                known = known_sessions(reader)
            shelf = Shelf(folder, known)
            try:
                shelf.fill()
                with Store(shelf.path).reader() as reader:
                    return shelf, *_first(reader, now, lines)
            except BrowseError:
                shelf.close()
                raise

        async def run() -> None:
            try:
                shelf, first, shown = await asyncio.to_thread(prepare)
            except BrowseError as error:
                screen.failed(error)
                return
            finally:
                self._is_opening = False
                screen.unsay(_("looking for old transcripts …"))
            if not shelf.files:
                shelf.close()
                screen.say(_("no old transcripts in {folder}").format(folder=folder))
            elif screen.is_current:
                from .old_screen import OldScreen

                screen.app.push_screen(OldScreen(screen, shelf, first, shown))
            else:
                shelf.close()

        self._is_opening = True
        screen.say(_("looking for old transcripts …"))
        screen.run_worker(run(), group="old")


def _first(reader: Reader, now: float, lines: int) -> tuple[Catalog, list[Conversation]]:
    first = read_first_page(reader, now, view=View.ALL, limit=lines)
    return first, with_names(reader, [first.conversation(root) for root in first.order(View.ALL)[:lines]])
