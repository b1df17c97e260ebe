"""What the keys of the main screen do, except what one of its parts does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.actions import parse
from textual.events import Key
from textual.widgets import Input

from hermes_browse.store.api import OpenStore
from hermes_browse.store.sessions.models import Sort, View
from hermes_browse.store.wording import _

from ..settings.keys.main_commands import APP
from ..settings.keys.pane_commands import LIST, TRANSCRIPT
from ..terminal.textual_private import bindings_of, driver_of
from ..text.family import CompactionEntry
from ..widgets.bindings import key_names, meaningless
from .by_name import load
from .parts import Parts

if TYPE_CHECKING:
    from .search.searches import TagChoice

_THERE = {
    "trash": "hermes-browse trash list --host {name}",
    "doctor": "hermes-browse doctor --host {name}",
    "retention": "ssh -t {ssh} {command}",
    "old": "hermes-browse list --old --host {name}",
}
"""What shows the files beside a store of another machine, by the screen that shows them here."""


class KeyScreen(Parts):
    """The panes, their parts, and keys."""

    def action_do(self, call: str) -> None:
        part, name, given = parse(call)
        getattr(getattr(self, part) if part else self, name)(*given)

    def on_key(self, event: Key) -> None:
        """Say of a key that does nothing here where it works, if anywhere."""
        words = meaningless(self, event)
        if self.focused is self.rows and not any(
            list(bindings_of(widget, event.key)) for widget in (self.rows, self)
        ):
            for binding in bindings_of(self.transcript, event.key):
                words = _(
                    "{key} ({what}) is for messages: Tab goes to them",
                    key=key_names(event.key),
                    what=_(binding.description),
                )
        if words:
            self.say(words)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave keys that come before those of the focused widget to an input, where they are
        letters."""
        is_letter = parameters in (("focus_search",), ("put_back",))
        return not (action == "do" and is_letter and isinstance(self.focused, Input))

    def action_sort_by(self, sort: str) -> None:
        """Sort by the clicked column, or reverse its order; hits have an order of their own."""
        if self.results is not None:
            self.say(_("hits have an order of their own: o changes it"))
        else:
            self.listing.sort_by(Sort(sort))

    def focus_search(self) -> None:
        self.set_focus(self.box)

    def focus_list(self) -> None:
        self.set_focus(self.rows)

    def show_view(self, name: str) -> None:
        if self.searched is None:
            self.view = View(name)
        else:
            self.search_view = View(name)

    def quit(self) -> None:
        self.host.finish()

    def step_back(self) -> None:
        """Step back once, by the first of these that there is.

        Undim, end a recap, stop a scan, end a zoom, go back to the screen a conversation was opened
        from, else to the list, clear the marks, end the search.
        """
        if self.seen is not None:
            self.toggle_seen_here()
        elif self.loader.is_recap and self.current is not None:
            self.loader.show_recap()  # which ends it
        elif (self.searched is not None and self.search.stop()) or self.end_zoom():
            return
        elif self.focused is not self.rows:
            if not self.go_back():
                self.set_focus(self.rows)
        elif self.marks:
            self.edits.clear()
        elif self.searched is not None:
            self.box.value = ""
        else:
            self.leave()

    def leave(self) -> None:
        """Handle Esc when there is nothing left to step back from."""
        if self.host.is_choice_printed:
            self.host.finish()  # used as a picker, which Esc cancels
        else:
            self.say(_("press q to quit"))  # not quit: Esc is easily pressed once too often

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
        entry = self.lineage.entry if self.focused is self.lineage else None
        number = entry.number if isinstance(entry, CompactionEntry) else None
        if self.current is not None:
            self.open_screen("compactions", number)

    def show_of_current(self, name: str) -> None:
        if self.current is not None:
            self.open_screen(name)

    def choose_sort(self) -> None:
        load("sort")(self.app, self.sort, self.listing.sort_by)

    def choose_search(self) -> None:
        card = load("searches")(self.query_line.history, self.catalog)
        self.app.push_screen(card, self._search_chosen)

    def _search_chosen(self, choice: str | TagChoice | None) -> None:
        if isinstance(choice, str):
            self.set_focus(self.box)
            self.query_line.put(choice)
        elif choice is not None and choice.is_removed:
            self.edits.change_tags(OpenStore.rename_tag, choice.name, None)
        elif choice is not None:
            self.edits.rename_tag(choice.name)

    def show_details(self) -> None:
        if self.current is not None:
            load("details")(self, self.current)

    def export(self) -> None:
        if targets := self.edits.targets:
            self.app.push_screen(load("export")(self, targets))

    def toggle_seen_here(self) -> None:
        load("seen-here")(self)

    def show_help(self) -> None:
        """Show the keys that work here, the signs, and the query language."""
        keys = [command for command in self.KEYS if command.call != "refuse"]
        self.app.push_screen(load("help")(self, [*TRANSCRIPT, *keys, *LIST, *APP]))

    def toggle_mouse(self) -> None:
        """Release the mouse to the terminal, for selecting text, or capture it again."""
        toggle = getattr(driver_of(self.app), "toggle_mouse", None)
        if toggle is None:
            self.say(_("the mouse cannot be switched here"))
        elif toggle():
            self.say(_("the browser has the mouse"))
        else:
            self.say(_("the terminal has the mouse · F9 gives it back to the browser"))

    def copy_id(self) -> None:
        if self.current is not None:
            self.copy(self.current.id)
