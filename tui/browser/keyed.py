"""What the keys of the main screen do, and the parts that do most of it: each reads the screen's
state, sets it, and knows no other part."""

from __future__ import annotations

import asyncio
from functools import cached_property
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from textual.actions import parse
from textual.events import Key
from textual.screen import Screen

from hermes_browse.store.places import id_of
from hermes_browse.store.sessions.models import Sort, View
from hermes_browse.store.wording import N_, _

from ..settings.keys.main_commands import APP, LIST, MAIN, TRANSCRIPT
from ..terminal.textual_private import bindings_of
from ..widgets.bindings import BoundKeys, key_names, meaningless
from .current import ConversationPanes
from .lineage import FamilyLoader
from .list.listing import Listing
from .panes import load
from .transcript.loader import TranscriptLoader

if TYPE_CHECKING:
    from .edit.edits import Edits
    from .resuming import Resuming
    from .search.history import TagChoice
    from .search.live_search import LiveSearch
    from .search.query_line import QueryLine
    from .switching import Switching
    from .transcript.copying import Copying
    from .transcript.finding import Finding


_THERE = {
    "trash": "hermes-browse trash list --host {name}",
    "doctor": "hermes-browse doctor --host {name}",
    "retention": "ssh -t {ssh} {command}",
    "old": "hermes-browse list --old --host {name}",
}
"""What shows the files beside a store of another machine, by the screen that shows them here."""


def _on_first_use(name: str) -> Any:
    """Return a part as an attribute, which is imported and made when it is first asked for."""
    return cached_property(lambda main: load(name)(main))


_QUIT = N_("press q to quit")
WAY_BACK = N_("Esc goes back to where you were")


class WayBack(NamedTuple):
    """The way back from a conversation, or a search, to the screen that opened it."""

    screen: Screen[None]
    root_id: str = ""
    """Of the conversation."""
    query: str = ""
    """The search, as it is in the box."""


class KeyScreen(BoundKeys, ConversationPanes):
    """The panes with their parts and keys."""

    KEYS = MAIN
    RESUMES: ClassVar[bool] = True
    """Whether Enter may resume its conversations, if it is configured to."""

    way_back: WayBack | None = None

    listing = cached_property(Listing)
    """The list: its catalog, view and order."""
    loader = cached_property(TranscriptLoader)
    family_loader = cached_property(FamilyLoader)
    query_line: QueryLine = _on_first_use("query-line")
    """What is typed in the search box."""
    search: LiveSearch = _on_first_use("search")
    finding: Finding = _on_first_use("finding")
    edits: Edits = _on_first_use("edits")
    """Marks, changes, and their undo."""
    copying: Copying = _on_first_use("copying")
    """Clipboard, pager and editor."""
    resuming: Resuming = _on_first_use("resuming")
    switching: Switching = _on_first_use("switching")
    """Switch to other profiles, machines, old transcripts."""

    answer = ConversationPanes.say

    def load_search(self) -> None:
        """Import what the first letter in the search box needs, on a thread, as it takes about
        three frames."""
        load("search")
        self.query_line.history.load()

    def close(self) -> None:
        """Close the store, and remove temporary files."""
        self.forget_way_back()
        if "copying" in self.__dict__:
            self.copying.pictures.close()
        self.reads.stop()

    # Screens over this one

    def open_screen(self, name: str, *args: object) -> None:
        self.forget_way_back()
        super().open_screen(name, *args)

    def go_back(self, query: str = "") -> bool:
        """Open the screen again from which the current conversation was opened, or a search; return
        False if there is none."""
        way, current = self.way_back, self.current
        if way is None or way.query != query:
            return False
        if not query and (current is None or current.root_id != way.root_id):
            return False
        self.way_back = None
        self.retract(_(WAY_BACK))
        self.app.uninstall_screen(way.screen)
        self.app.push_screen(way.screen)
        return True

    def keep_way_back(self, way: WayBack) -> None:
        """Keep a screen that is about to be closed, as long as its conversation is the current one,
        or its search is in the box."""
        self.forget_way_back()
        # Textual removes a closed screen that is not installed.
        self.app.install_screen(way.screen, f"way-back-{id(way.screen)}")
        self.way_back = way

    def forget_way_back(self) -> None:
        if self.way_back is not None:
            self.retract(_(WAY_BACK))
            self.app.uninstall_screen(self.way_back.screen)
            self.way_back.screen.remove()
            self.way_back = None

    def search_for(self, query: str, remark: str = "") -> None:
        """Search for a text that was not typed; `remark` is shown with the results."""
        self.query_line.put(query, remark)
        self.set_focus(self.rows)

    # Keys

    async def action_do(self, call: str) -> None:
        """Do what a key is for; a coroutine is started, in place of one that the same key started
        before, and has begun when the next key comes."""
        self.retract(_(_QUIT))
        part, name, args = parse(call)
        do = getattr(getattr(self, part) if part else self, name)
        if iscoroutinefunction(do):
            self.start(name, do, *args)
            await asyncio.sleep(0)
        else:
            do(*args)

    def on_key(self, event: Key) -> None:
        """Say where a key works that does nothing here."""
        words = meaningless(event)
        if self.focused in (self.rows, self.lineage):
            for binding in bindings_of(self.transcript, event.key):
                words = _(
                    "{key} ({what}) is for messages: {way} goes to them",
                    key=key_names(event.key),
                    what=_(binding.description),
                    way="Tab" if self.focused is self.rows else "Shift+Tab",
                )
        if words:
            self.say(words)

    def action_sort_by(self, sort: str) -> None:
        """Sort by the clicked column, or reverse its order; hits have an order of their own."""
        if self.results is not None:
            self.say(_("hits have an order of their own: o changes it"))
        else:
            self.listing.sort_by(Sort(sort))

    def focus_on(self, pane: str) -> None:
        """Focus the `box` or the `rows`."""
        self.set_focus(getattr(self, pane))

    def show_view(self, name: str) -> None:
        self.forget_status()
        if self.searched is None:
            self.view = View(name)
        else:
            self.search_view = View(name)

    def step_back(self) -> None:
        """Step back once, by the first of these that there is.

        Undim, end a recap, stop a scan, end a zoom, go back to the screen a conversation was opened
        from, go to the list, clear the marks, end the search, which may go back to a screen too.
        """
        if self.seen is not None:
            self.toggle_seen_here()
        elif self.loader.is_recap and self.current is not None:
            self.loader.toggle_recap()  # which ends it
        elif (
            (self.searched is not None and self.search.stop()) or self.end_zoom() or self.go_back()
        ):
            return
        elif self.lineage.has_focus:
            self.toggle_lineage()
        elif self.focused is not self.rows:
            self.set_focus(self.rows)
        elif self.marks:
            self.edits.clear()
        elif self.searched is not None:
            self.go_back(self.box.value)
            self.box.value = ""
        else:
            self.leave()

    def leave(self) -> None:
        """Handle Esc when there is nothing left to step back from."""
        if self.app.is_choice_printed:
            self.app.exit()  # used as a picker, which Esc cancels
        else:
            self.say(_(_QUIT))  # not quit: Esc is easily pressed once too often

    def show_screen(self, name: str) -> None:
        """Open a screen; say where it is shown if what it shows is on another machine."""
        host = self.location.host
        if host is not None and name in _THERE:
            command = _THERE[name].format(**host._asdict())
            self.say(
                _(
                    "this is kept on {name} and shown by `{command}`",
                    name=host.name,
                    command=command,
                )
            )
        elif name == "old":
            self.switching.show_old()
        else:
            self.open_screen(name)

    def open_compactions(self) -> None:
        """Inspect the compactions of the current conversation, at that under the cursor of the
        tree."""
        number = self.lineage.compression if self.focused is self.lineage else None
        self.show_of_current("compactions", number)

    def show_of_current(self, name: str, *args: object) -> None:
        if self.current is not None:
            self.open_screen(name, self.current, *args)

    async def choose_sort(self) -> None:
        """Ask for the order of the list; the one that it has already stays as it is."""
        value = await self.ask(load("sort")(self.sort))
        if value is not None and value != self.sort:
            self.listing.sort_by(Sort(value))

    async def choose_search(self) -> None:
        """Ask for a search to be put into the box, or for a tag to be changed."""
        card = load("searches")(self.query_line.history, self.catalog)
        choice: str | TagChoice | None = await self.ask(card)
        if isinstance(choice, str):
            self.set_focus(self.box)
            self.query_line.put(choice)
        elif choice is not None:
            self.start_write(self.edits.change_tag, choice)

    async def show_details(self) -> None:
        if self.current is not None:
            await load("details")(self, self.current)

    def export(self) -> None:
        if targets := self.edits.targets:
            self.app.push_screen(load("export")(self, targets))

    def toggle_seen_here(self) -> None:
        load("seen-here")(self)

    def show_help(self) -> None:
        """Show the keys that work here, the signs, and the query language."""
        keys = [command for command in self.KEYS if command.call != "refuse"]
        self.app.push_screen(load("help")(self, [*TRANSCRIPT, *keys, *LIST, *APP]))

    def copy_id(self) -> None:
        if self.current is not None:
            self.copy(id_of(self.current.id))
