"""The screen of all profiles: one list and one search; each row opens and resumes in its own profile."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.timer import Timer
from textual.widgets import Input, Static

from hermes_browse.store.errors import BrowseError
from hermes_browse.store.sessions.models import View
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _, ngettext

from ..commands.screens import EVERYWHERE
from ..list.conversation_list import ConversationList
from ..list.rows import FixedRows, ListRow, NoteRow
from ..screens.controllers import Controllers
from ..screens.sub_screen import SubScreen
from ..shared import header
from ..shared.keys import KeyLine
from ..shared.lines import TextLine
from ..shared.text_box import TextBox
from .reading import Answered, Everywhere, Found, complete_all, read_everywhere, search_everywhere
from .rows import FoundRow, head, preview, read_preview_of

_REST = 0.05
"""Seconds the cursor must stay on a row before its preview is read."""
_PAUSE = 0.12
"""Seconds between the last keystroke and the search."""


def _place(found: Found) -> tuple[Path, str]:
    return found.location.path, found.conversation.root_id


def _profiles(count: int) -> str:
    return ngettext("1 profile", "{count:,} profiles", count).format(count=count)


class EverywhereScreen(SubScreen):
    """The list of all profiles."""

    ENTER = N_("Open a hit, or resume a conversation")
    HELP_TITLE = N_("All profiles")
    KEYS = EVERYWHERE

    def __init__(self, controllers: Controllers) -> None:
        super().__init__(controllers)
        self._everywhere: Everywhere | None = None
        self._view = View.CHATS
        self._rows: list[ListRow] = []
        self._requested: set[tuple[Path, str]] = set()
        self._search_number = 0
        self._waiting = False
        self._previewed = ""
        """Key of the row whose preview is shown or being read."""
        self._rest_timer: Timer | None = None

    def compose(self) -> ComposeResult:
        """Compose the header, the search box, the list and the preview."""
        yield TextLine(id="header")
        yield TextBox(placeholder=_("search all profiles"), id="rules", select_on_focus=False)
        with Horizontal(id="panes"):
            with Vertical(id="left"):
                yield TextLine(id="found-head")
                yield ConversationList(id="found")
            with VerticalScroll(id="side", can_focus=False):
                yield Static(id="preview")
        yield TextLine(id="status")
        yield KeyLine(id="keys")

    def on_mount(self) -> None:
        """Read the profiles."""
        self.found.clock = self.context.clock
        self.set_focus(self.found)
        self.action_reload()

    @property
    def found(self) -> ConversationList:
        """The list."""
        return self.query_one("#found", ConversationList)

    @property
    def box(self) -> Input:
        """The search box."""
        return self.query_one(Input)

    @property
    def is_pending(self) -> bool:
        """Whether profiles are being read or searched, or a preview is scheduled."""
        return self._waiting or self._rest_timer is not None

    # Reading

    def action_reload(self) -> None:
        """Read all profiles."""
        here, now, view = self.context.location, self.context.clock(), self._view
        if here.root is None:
            return
        self.found.show(FixedRows([NoteRow(_("reading all profiles …"))]))
        self._waiting = True

        async def run() -> None:
            try:
                self._everywhere = await asyncio.to_thread(read_everywhere, here, now, view)
            except BrowseError as error:
                self.context.failed(error)
            finally:
                self._waiting = False
            self._show()

        self.run_worker(run(), group="read", exclusive=True)

    def _show(self) -> None:
        everywhere = self._everywhere
        if everywhere is None or not self.is_whole:
            return
        if self.box.value.strip():
            self._search()
            return
        empty = _("no {view} in any profile · 4 every session").format(view=_(self._view.value))
        self._list(everywhere.found, empty)
        keys = _("Enter resumes in its own profile · o opens it there · / searches all")
        self.tell(header.status(keys, ""))

    def _list(self, found: Sequence[Found], empty: str) -> None:
        everywhere = self._everywhere
        assert everywhere is not None
        broken = _("{profile} cannot be read: {error}")
        rows: list[ListRow] = [
            NoteRow(broken.format(profile=each.name, error=each.error)) for each in everywhere.broken
        ]
        rows += [FoundRow(each) for each in found]
        if not found:
            rows.append(NoteRow(empty))
        self._rows = rows
        self._requested.clear()
        self.found.show(FixedRows(rows), key=FoundRow(found[0]).key if found else None)
        total = sum(catalog.forest.counts()[View.ALL] for _at, catalog in everywhere.catalogs)
        summary = _("{count:,} {view} of {conversations} in {profiles}").format(
            count=len(everywhere.found),
            view=_(self._view.value),
            conversations=ngettext("1 conversation", "{count:,} conversations", total).format(count=total),
            profiles=_profiles(len(everywhere.catalogs)),
        )
        if everywhere.broken:
            summary += " · " + _("{count:,} cannot be read").format(count=len(everywhere.broken))
        self.line("header").update(Content.assemble((" " + _("all profiles") + "  ", "bold"), (summary, "dim")))

    # Searching

    @on(Input.Changed, "#rules")
    def typed(self, event: Input.Changed) -> None:
        """Search when typing pauses."""
        event.stop()
        self._search_number += 1
        self._waiting = True
        self.run_worker(self._rest(), group="typed", exclusive=True)

    async def _rest(self) -> None:
        await asyncio.sleep(_PAUSE)
        self._waiting = False
        self._show()

    def _search(self) -> None:
        everywhere, text, now = self._everywhere, self.box.value, self.context.clock()
        assert everywhere is not None
        self._search_number += 1
        number = self._search_number
        self._waiting = True
        begun = time.monotonic()

        def work() -> Answered:
            return search_everywhere(everywhere, text, now, cancelled=lambda: self._search_number != number)

        async def run() -> None:
            try:
                answer = await asyncio.to_thread(work)
            except BrowseError as error:
                self.context.failed(error)
                return
            finally:
                self._waiting = self._search_number != number
            if self._search_number == number and self.is_whole:
                self._take(answer, time.monotonic() - begun)

        self.run_worker(run(), group="search")

    def _take(self, answer: Answered, took: float) -> None:
        self._list(answer.found, _("nothing like this in any profile"))
        hits = f"{len(answer.found):,}{'+' if answer.more else ''}"
        profiles = len({each.location.path for each in answer.found})
        count = _("{hits} hits in {profiles}").format(hits=hits, profiles=_profiles(profiles))
        notes = " · ".join(one_line(each, 120) for each in answer.notes)
        self.tell(header.status(" · ".join(part for part in (count, f"{took * 1000:.0f} ms", notes) if part), ""))

    # Keys

    @on(Input.Submitted, "#rules")
    def submitted(self, event: Input.Submitted) -> None:
        """Focus the list on Enter in the box."""
        event.stop()
        self.set_focus(self.found)

    @on(ConversationList.Shown)
    def rows_shown(self, event: ConversationList.Shown) -> None:
        """Read previews and counts of the conversations on screen, as the list of one profile does."""
        event.stop()
        width = self.found.scrollable_content_region.width
        self.line("found-head").update(Content.styled(head(width), "dim"))
        rows = self._rows[event.first : event.last + 1]
        lacking = [row.found for row in rows if isinstance(row, FoundRow) and self._is_incomplete(row.found)]
        if not lacking:
            return
        self._requested.update(map(_place, lacking))

        async def run() -> None:
            complete = await asyncio.to_thread(complete_all, lacking)
            if not self.is_whole:
                return
            for index, row in enumerate(self._rows):
                if isinstance(row, FoundRow) and (conversation := complete.get(_place(row.found))) is not None:
                    self._rows[index] = FoundRow(row.found._replace(conversation=conversation))
            self.found.show(FixedRows(self._rows))

        self.run_worker(run(), group="names")

    def _is_incomplete(self, found: Found) -> bool:
        return found.conversation.rows is None and _place(found) not in self._requested

    @on(ConversationList.Highlighted, "#found")
    def highlighted(self, event: ConversationList.Highlighted) -> None:
        """Preview the row under the cursor."""
        event.stop()
        self._preview()

    def on_resize(self, event: Resize) -> None:
        """Show the preview if there is room now; Textual calls the inherited handler as well."""
        self.call_after_refresh(self._preview)

    def _preview(self) -> None:
        """Read the preview of the row under the cursor once the cursor rests."""
        if self._rest_timer is not None:
            self._rest_timer.stop()
            self._rest_timer = None
        row = self.found.current
        if not self.is_whole or self.has_class("-narrow"):
            self._previewed = ""
            return
        if not isinstance(row, FoundRow):
            self._previewed = ""
            self.query_one("#preview", Static).update("")
            return
        if row.key == self._previewed:
            return
        found, now = row.found, self.context.clock()

        async def run() -> None:
            read = await asyncio.to_thread(read_preview_of, found)
            if self.is_whole and self._previewed == row.key:
                self.query_one("#preview", Static).update(preview(read, now))
                self.query_one("#side").scroll_home(animate=False)

        def rest() -> None:
            self._rest_timer = None
            self._previewed = row.key
            self.run_worker(run(), group="preview", exclusive=True)

        self._rest_timer = self.set_timer(_REST, rest)

    @on(ConversationList.Selected, "#found")
    def selected(self, event: ConversationList.Selected) -> None:
        """Open a hit, or resume a conversation."""
        event.stop()
        if isinstance(event.row, FoundRow) and event.row.found.hit is not None:
            self.controllers.switching.open(event.row.found)
        else:
            self.action_resume()

    def action_resume(self) -> None:
        """Resume the current conversation in its own profile."""
        row = self.found.current
        if isinstance(row, FoundRow):
            self.controllers.resuming.start_there(row.found.location, row.found.conversation.id)

    def action_open(self) -> None:
        """Open the current conversation in its own profile."""
        row = self.found.current
        if isinstance(row, FoundRow):
            self.controllers.switching.open(row.found)

    def action_view(self, name: str) -> None:
        """Show another view."""
        self._view = View(name)
        self.action_reload()

    def action_search(self) -> None:
        """Focus the search box."""
        self.set_focus(self.box)

    def action_back(self) -> None:
        """Step back once: from the empty box to the list, from a search to the whole list, then leave."""
        if self.box.has_focus and not self.box.value:
            self.set_focus(self.found)
        elif self.box.value:
            self.box.value = ""
            self.set_focus(self.found)
        else:
            self.dismiss(None)
