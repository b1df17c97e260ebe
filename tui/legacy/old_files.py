"""Count the old transcripts beside a store, and open their view."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_browse.store.legacy.transcript_files import Count
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.wording import _

from ..context import Context
from ..screens.by_name import load
from ..screens.panes import Panes
from ..store_paths import sessions_folder

if TYPE_CHECKING:
    from hermes_browse.store.legacy.old_transcripts import OldTranscripts


class OldFiles:
    """Counts old transcripts, and opens them: `show` takes a temporary store, its first page, and
    conversations."""

    def __init__(
        self,
        context: Context,
        panes: Panes,
        show: Callable[[OldTranscripts, Catalog, list[Conversation]], None],
    ) -> None:
        self._context, self._panes, self._show = context, panes, show
        self._is_opening = False
        self.count = Count()
        """How many there are; nothing until they are counted."""

    def look(self) -> None:
        """Count them in the background."""
        folder = sessions_folder(self._context.location)
        if folder is not None and folder.is_dir():  # without opening the store
            self._panes.start("old-files", self._count, folder)

    async def _count(self, folder: Path) -> None:
        self.count = await self._panes.read(lambda store: store.old_files(folder))
        self._context.show_header()

    def open(self) -> None:
        """Show them in a view of their own, or say that there are none."""
        context, folder = self._context, sessions_folder(self._context.location)
        if folder is None or self._is_opening:
            context.say(_("no old transcripts belong to this store"))
            return
        self._is_opening = True
        context.say(_("looking for old transcripts …"))
        self._panes.start("old", self._open, folder)

    async def _open(self, folder: Path) -> None:
        context, lines, now = self._context, max(self._panes.size.height, 20), self._context.clock()
        try:  # the thread does the import as well
            transcripts, first, shown = await self._panes.call(
                lambda: load("old-transcripts")(folder, context.store, now, lines)
            )
        finally:
            self._is_opening = False
            context.retract(_("looking for old transcripts …"))
        if not transcripts.files:
            transcripts.close()
            context.say(_("no old transcripts in {folder}").format(folder=folder))
        elif self._panes.is_current:
            self._show(transcripts, first, shown)
        else:
            transcripts.close()
