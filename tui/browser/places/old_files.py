"""Count the old transcripts beside a store, and open their view."""

from __future__ import annotations

from pathlib import Path

from hermes_browse.store.wording import _

from ...settings.store_paths import sessions_folder
from ..by_name import load
from ..panes import Panes


class OldFiles:
    """Counts old transcripts, and opens them as a store of their own."""

    def __init__(self, main: Panes) -> None:
        self._main = main
        self._is_opening = False

    def count(self) -> None:
        """Count them in the background."""
        folder = sessions_folder(self._main.location)
        if folder is not None and folder.is_dir():  # without opening the store
            self._main.start("old-files", self._count, folder)

    async def _count(self, folder: Path) -> None:
        self._main.old_files = (await self._main.read(lambda store: store.old_files(folder))).files

    def open(self) -> None:
        """Show them in a view of their own, or say that there are none."""
        main, folder = self._main, sessions_folder(self._main.location)
        if folder is None or self._is_opening:
            main.say(_("no old transcripts belong to this store"))
            return
        self._is_opening = True
        main.say(_("looking for old transcripts …"))
        main.start("old", self._open, folder)

    async def _open(self, folder: Path) -> None:
        main, lines, now = self._main, self._main.lines, self._main.clock()
        try:  # the thread does the import as well
            transcripts, first, shown = await main.call(
                lambda: load("old-transcripts")(folder, main.store, now, lines)
            )
        finally:
            self._is_opening = False
            main.retract(_("looking for old transcripts …"))
        if transcripts.files and main.is_current:
            main.open_screen("old", transcripts, first, shown)
            return
        transcripts.close()
        if not transcripts.files:
            main.say(_("no old transcripts in {folder}", folder=folder))
