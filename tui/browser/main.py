"""The main screen: its life, and what changes of its state lead to.

It is one object in layers. Each class is derived from the one above it, and uses what that has:

    Context            context.py   the state, alone: store and screens need no widget of it
    Panes              panes.py     the widgets, which show the state
    ConversationPanes  current.py   which conversation is shown, before keys act on it
    KeyScreen          keyed.py     the keys, and the parts that do their work
    PaneMessages       messages.py  messages of the panes, which lead to the parts
    MainScreen         main.py      begins and ends all of it, and watches the state
    OtherScreen        main.py      the same over another store, on top of a main screen
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from textual.content import Content
from textual.events import ScreenResume
from textual.widgets import Static

from hermes_browse.store.amounts import parse_age
from hermes_browse.store.errors import BrowseError, StoreBusyError
from hermes_browse.store.hermes.homes import sessions_folder, trash_folder
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.wording import N_, _, ngettext

from ..settings.keys.main_commands import LIST, MAIN, NEEDED
from ..settings.options import FOREVER
from ..widgets.bindings import with_keys
from ..work.application import Arrival
from .context import ShownConversation
from .messages import PaneMessages
from .panes import load

_POLL_SECONDS = 0.5
"""Between checks whether the file has changed."""
_AWAY_SECONDS = 3.0
"""The same while the terminal has no focus."""
_IN_HEADER = (
    *("catalog", "attention", "view", "search_view", "sort", "hit_order"),
    *("searched", "results", "offered", "old_files"),
)
"""The state that the lines at the top show."""


_HINTED = (*NEEDED, "help")
_SAFE = N_("Looking changes nothing. What you delete goes to the trash; {undo} takes it back.")
_MORE = N_("{help} shows every key. The first key takes this hint away.")


class FirstHint(Static):
    """The hint of the very first start: the keys in force, and two sentences."""

    def on_mount(self) -> None:
        known = {command.id: command for command in (*MAIN, *LIST)}
        in_force = with_keys((known[id] for id in _HINTED), self.screen.active_bindings)
        keys = {command.id: names.split()[0] for names, command in in_force}
        lines = [Content()]
        for id in filter(keys.__contains__, NEEDED):
            title = f"{_(known[id].title)}  "
            named = Content.assemble((f"{keys[id]} ", "bold $accent"), title)
            if lines[-1].cell_length + named.cell_length > self.app.size.width:
                lines.append(Content())  # a key stands in the line of its title
            lines[-1] += named
        for id, sentence in (("undo", _SAFE), ("help", _MORE)):
            if id in keys:
                lines.append(Content(_(sentence, **{id: keys[id]})))
        self.update(Content("\n").join(lines))


class MainScreen(PaneMessages):
    """List, transcript, lineage and search of a store."""

    _was_seen = _is_search_prepared = False

    # Lifecycle

    def on_mount(self) -> None:
        for name in _IN_HEADER:
            self.watch(self, name, self.show_header_soon, init=False)
        self.rows.resumes = self.RESUMES and self.options.enter == "resume"
        self.watch(self.rows, "at", self.row_changed, init=False)
        self.watch(self.rows, "at", self.tell_of_row_soon, init=False)
        self.watch(self.lineage, "at", self.entry_changed, init=False)
        self.watch(self.transcript, "needed", self.loader.read_window, init=False)
        self.set_class(self.pane_sizes.is_alone, "-zoom-list")
        self.share_out()
        if self.focused is None:
            self.set_focus(self.rows)
        self.listing.begin(self.app.take_early_cursor())
        self.show_header()
        self.say(self.location.note)
        self.call_after_refresh(self._start_background)

    def on_screen_resume(self, event: ScreenResume) -> None:
        """Skip Textual's refresh of all styles at the first resume, when they are fresh."""
        event.refresh_styles = self._was_seen
        self._was_seen = True

    def _start_background(self) -> None:
        """After the first frame: read the rest, and load modules that are needed soon."""
        gc.freeze()  # objects made so far are permanent
        gc.enable()
        if self.app.is_hint_wanted:
            self.mount(FirstHint(), before="#status")
        self.follow_box()
        self.start("watch", self._watch)
        self.start("load", self.call, self.load_search)
        self.count_old_files()
        if (age := self.options.trash) != FOREVER:
            self.start_write(self._remove_old_deletions, age)

    on_unmount = PaneMessages.close

    async def _remove_old_deletions(self, age: str) -> None:
        """Remove the bundles of this age, as written in the configuration; report how many."""
        given = trash_folder(self.location), parse_age(age), self.clock()
        removed = await self.write(lambda: load("remove-older")(*given))
        if count := len(removed):
            self.say(
                ngettext(
                    "1 deletion as old as the configuration says was deleted for good",
                    "{count:,} deletions as old as the configuration says were deleted for good",
                    count,
                )
            )

    def count_old_files(self) -> None:
        """Count the old transcripts beside the store in the background."""
        folder = sessions_folder(self.location)
        if folder is not None and (self.old_files or folder.is_dir()):  # without opening the store
            self.start("old-files", self._count_old_files, folder)

    async def _count_old_files(self, folder: Path) -> None:
        self.old_files = (await self.read(lambda store: store.old_files(folder))).files

    async def _watch(self) -> None:
        """Read everything, then again after each write, and while something is live, which silence
        ends; without moving anything."""
        before = await self.call(self.store.fingerprint)
        self.listing.read()
        while True:
            await asyncio.sleep(_POLL_SECONDS if self.app.app_focus else _AWAY_SECONDS)
            now = await self.call(self.store.fingerprint)
            if now != before:
                before, self.listing.is_outdated = now, True
                self.loader.read_new()
            self.listing.read_if_due()

    async def _prepare_search(self) -> None:
        """Read what every search needs of the whole store before the first keystroke, which would
        cancel this."""
        with contextlib.suppress(BrowseError):  # shown by the list, and by the first search
            await self.read(lambda store: store.prepare_search())

    # Changes of the state

    def watch_catalog(self, before: Catalog, catalog: Catalog) -> None:
        if self.marks or self.gone_marks:
            self.start("renew-marks", self.edits.renew_marks)
        self.refresh_shown()
        self.family_loader.list_read(before)
        if self.searched is not None:
            self.search.list_read(before)
        elif not self._is_search_prepared:
            self._is_search_prepared = True
            self.start("search", self._prepare_search)

    def watch_attention(self) -> None:
        self.details.attention = self.attention
        self.rows.refresh_rows()
        self.loader.read_new()
        self.describe_row()

    def watch_view(self) -> None:
        self.listing.refresh(top=True)
        self.listing.measure()

    def watch_search_view(self) -> None:
        self.search.run()

    def watch_sort(self) -> None:
        if self.searched is not None and self.results is None:  # the list's order
            self.search.run()

    def watch_searched(self) -> None:
        """Show the list again after a search, with the cursor on what was read or where it was."""
        self.offer_keys()
        if self.searched is None:
            current = self.current if not self.box.has_focus else None
            keys = [f"c{current.root_id}"] if current is not None else []
            self.listing.refresh(at=[*keys, self.search.row_before])
            self.say("")
            self.search_status = ""

    watch_results = PaneMessages.offer_keys

    def watch_shown(self, shown: ShownConversation) -> None:
        self.rows.is_cursor_current = self.is_row_current
        self.describe_row()
        if shown.message_id is not None and self.matchers and self.transcript.is_finding:
            self.finding.stop()  # a hit was opened, so n and N step through hits again
        self.loader.follow(shown)
        self.family_loader.follow(shown)

    def watch_model(self) -> None:
        if self.transcript.is_finding:
            self.finding.shown()

    def watch_seen(self) -> None:
        self.transcript.see(self.seen)
        self.offer_keys()
        self.loader.fit_titles()

    # What other parts ask for

    def failed(self, error: BrowseError) -> None:
        """Show an error; what could not be read as the store was busy is read again soon."""
        self.warn(str(error))
        if isinstance(error, StoreBusyError):
            self.listing.is_outdated = True

    def reload(self) -> None:
        """Read everything again, and search again."""
        self.search.is_outdated = True
        self.listing.reload()
        self.count_old_files()

    def reread(self, session_ids: Sequence[str]) -> None:
        self.listing.reread(session_ids)
        self.loader.read_new()
        if session_ids and self.searched is not None:
            self.search.is_outdated = True

    def arrive(self, arrival: Arrival) -> None:
        if arrival.conversation is not None:
            self.read_there(arrival.conversation, arrival.message_id)
        elif arrival.query:
            # No space after it: it was counted with the last word as a prefix.
            self.search_for(arrival.query)


class OtherScreen(MainScreen):
    """A main screen that lies over the one it was opened from."""

    REFUSAL: ClassVar[str]
    """What is said of a command that cannot be used here."""

    def refuse(self) -> None:
        self.say(_(self.REFUSAL))

    def leave(self) -> None:
        self.dismiss(None)
