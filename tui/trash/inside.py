"""The screen of an opened bundle: the main screen on a temporary store with its conversations, which it can restore."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from textual.binding import BindingType

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.edit.delete_plan import affected_by_delete
from hermes_browse.store.edit.restore import Restored, restore
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.sessions.catalog import Catalog, read_catalog
from hermes_browse.store.sessions.models import Conversation, Sort, View
from hermes_browse.store.text import one_line
from hermes_browse.store.trash.opened import OpenedBundle
from hermes_browse.store.wording import N_, _

from ..bindings import bindings
from ..commands.main_commands import MAIN
from ..screens.controllers import Controllers
from ..screens.main import MainScreen
from ..store_paths import sessions_folder, trash_folder
from .bundles import tell_restored

_REFUSED = (
    *("resume-window", "copy-command", "archive", "delete", "pin"),
    *("rename", "undo", "prune", "trash", "retention", "profiles", "view-old"),
)
"""Commands that need sessions in the user's store; these are deleted."""


_CHANGED: Mapping[str, dict[str, Any]] = {
    "resume": {"title": N_("restore"), "tooltip": N_("Restore this conversation, or the marked ones"), "printed": ""},
    "back": {"footer": True},
    **{each: {"footer": False} for each in (*_REFUSED, "sort", "lineage", "tools", "reading")},
}
"""How commands are shown here, where it differs; Esc needs the room."""


class BundleScreen(MainScreen):
    """The main screen with the conversations of a bundle; `R` restores them.

    Args:
        beside: Controllers of the store that the bundle belongs to.
        opened: The bundle as a temporary store; closed with the screen.
        first: Its catalog.
        shown: The conversations of the first page.
        title: Of the bundle.
    """

    ENTER_READS = True
    BINDINGS: ClassVar[list[BindingType]] = bindings(
        each._replace(**_CHANGED[each.id]) for each in MAIN if each.id in _CHANGED
    )

    def __init__(
        self, beside: Controllers, opened: OpenedBundle, first: Catalog, shown: list[Conversation], title: str
    ) -> None:
        label = _("trash: {title}").format(title=one_line(title, 40))
        super().__init__(beside.context.host, Location(opened.path, label=label), Store(opened.path), first, shown)
        self._beside, self._opened = beside, opened
        self.controllers.listing.begin_as(View.ALL, Sort.ACTIVITY, reverse=False)
        self.callees |= dict.fromkeys(_REFUSED, self._refuse)
        self.callees["resume"] = partial(self.controllers.of_targets, self._put_back)

    def on_unmount(self) -> None:
        """Remove the temporary store on a thread, as it may be large."""
        threading.Thread(target=self._opened.close, name="bundle").start()

    def _put_back(self, conversations: Sequence[Conversation]) -> None:
        """Restore conversations with their subagents; the bundle keeps them as well."""
        beside, store, name = self._beside.context, self.context.store, self._opened.manifest.name
        trash, files, now = trash_folder(beside.location), sessions_folder(beside.location), beside.clock()

        def work() -> Restored:
            stop = beside.writer.stopping.is_set
            with store.reader() as reader:
                forest = read_catalog(reader, now).forest
            only = affected_by_delete(forest, [each.id for each in conversations]).sessions
            return restore(beside.store, trash, name, now=now, sessions_folder=files, only=only, stop=stop)

        def done(restored: Restored) -> None:
            message = tell_restored(self._beside, [restored], ())
            if self.is_attached:
                self.context.say(message)

        def failed(error: BrowseError) -> None:
            (self.context if self.is_attached else beside).failed(error)

        self.context.say(_("restoring …"))
        beside.writer.submit(work, done, failed)

    def _refuse(self) -> None:
        self.context.say(_("this is in the trash: it can be read, searched, copied, exported, and restored with R"))

    def leave(self) -> None:
        """Return to the trash."""
        self.dismiss(None)
