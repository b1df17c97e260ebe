"""The screen of all profiles: one list and one search; each row opens and resumes in its own
profile."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.timer import Timer
from textual.widgets import Input

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.sessions.models import Conversation, View
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _

from ..commands.screen_commands import EVERYWHERE
from ..formats import counted
from ..list.conversation_list import ConversationList
from ..list.list_rows import FixedRows, ListRow, NoteRow
from ..screens.controllers import Controllers
from ..screens.sub_screen import SubScreen
from ..shared.keys import KeyLine
from ..shared.lines import Paragraph, TextLine
from ..shared.text_box import TextBox
from .profile_rows import FoundRow, Preview, head, preview, read_preview_of
from .read_profiles import (
    AllProfiles,
    FoundHits,
    ProfileMatch,
    complete_all,
    read_everywhere,
    search_everywhere,
)

_REST = 0.05
"""Seconds the cursor must stay on a row before its preview is read."""
_PAUSE = 0.12
"""Seconds between the last keystroke and the search."""


class EverywhereScreen(SubScreen):
    """The list of all profiles."""

    ENTER = N_("Open a hit, or resume a conversation")
    HELP_TITLE = N_("All profiles")
    KEYS = EVERYWHERE
    NAME: ClassVar[str] = N_("all profiles")
    """For the header."""
    PLACEHOLDER: ClassVar[str] = N_("search all profiles")
    PLACE: ClassVar[str] = N_("profile")
    """Heading of the column that says where a conversation is."""

    def __init__(self, controllers: Controllers) -> None:
        super().__init__(controllers)
        self.everywhere: AllProfiles | None = None
        self.answer: FoundHits | None = None
        """What the profiles have answered to the search; None before."""
        self.took = 0.0
        self.asked = ""
        """What the rows are the answer to; empty for all conversations."""
        self.view = View.CHATS
        self._rows: list[ListRow] = []
        self._requested: set[tuple[Path, str]] = set()
        self._complete: dict[tuple[Path, str], Conversation] = {}
        """Conversations whose previews and counts have been read since the list was."""
        self._is_new = True
        """Whether the cursor has not been put on a row since another list was asked for."""
        self._search_number = 0
        self._waiting = self.is_reading = False
        self._previewed = ""
        """Key of the row whose preview is shown or being read."""
        self._rest_timer: Timer | None = None

    def compose(self) -> ComposeResult:
        yield TextLine(id="header")
        yield TextBox(placeholder=_(self.PLACEHOLDER), id="rules", select_on_focus=False)
        with Horizontal(id="panes"):
            with Vertical(id="left"):
                yield TextLine(id="found-head")
                yield ConversationList(id="found")
            with VerticalScroll(id="side", can_focus=False):
                yield Paragraph(id="preview")
        yield TextLine(id="status")
        yield KeyLine(id="keys")

    def on_mount(self) -> None:
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
        here, now, view = self.context.host.here, self.context.clock(), self.view
        if here.root is None:
            return
        self.begin()
        self._complete.clear()
        self.found.show(FixedRows([NoteRow(_("reading all profiles …"))]))
        self._waiting = self.is_reading = True

        async def run() -> None:
            try:
                self.everywhere = await asyncio.to_thread(read_everywhere, here, now, view)
            except BrowseError as error:
                self.context.failed(error)
            finally:
                self._waiting = self.is_reading = False
            self.show()

        self.run_worker(run(), group="read", exclusive=True)

    def begin(self) -> None:
        """Expect the rows of what is typed now."""
        self.asked, self._is_new, self.answer = self.box.value, True, None
        self._requested.clear()

    @property
    def is_searching(self) -> bool:
        """Whether the rows are, or will be, hits."""
        return bool(self.asked.strip())

    def show(self) -> None:
        """Show the list, or search, if the profiles have been read."""
        if self.everywhere is None or not self.is_whole:
            return
        if self.is_searching:
            self.search(self.everywhere)
            return
        self.show_rows()
        self.tell_keys()

    def tell_keys(self) -> None:
        """Say in the status line what can be done with a conversation."""
        self.say(_("Enter resumes in its own profile · o opens it there · / searches all"))

    def found_here(self) -> Sequence[ProfileMatch]:
        """Return the conversations, or the hits, of the profiles."""
        read = self.answer if self.is_searching else None if self.is_reading else self.everywhere
        return read.found if read is not None else ()

    def notes(self) -> list[ListRow]:
        """Return the sentences above the rows."""
        if self.is_reading:
            return [NoteRow(_("reading all profiles …"))]
        broken = self.everywhere.broken if self.everywhere is not None else ()
        sentence = _("{profile} cannot be read: {error}")
        return [NoteRow(sentence.format(profile=each.name, error=each.error)) for each in broken]

    def empty(self) -> str:
        """Return the sentence instead of rows."""
        if self.is_searching:
            return _("nothing like this in any profile")
        return _("no {view} in any profile · 4 every session").format(view=_(self.view.value))

    def show_rows(self) -> None:
        """Show what is known; the cursor stays on its row, or on the first while something is
        typed."""
        found, rows = self.found_here(), self.notes()
        rows += (
            [FoundRow(self._detailed(each)) for each in found]
            if self._complete
            else map(FoundRow, found)
        )
        if not found and (empty := self.empty()):
            rows.append(NoteRow(empty))
        self._rows = rows
        is_free = self._is_new or self.box.has_focus
        self.found.show(FixedRows(rows), key=FoundRow(found[0]).key if found and is_free else None)
        self._is_new = self._is_new and not found
        name = " " + _(self.NAME) + "  "
        self.line("header").update(Content.assemble((name, "bold"), (self.summary(), "dim")))

    def _detailed(self, found: ProfileMatch) -> ProfileMatch:
        conversation = self._complete.get(found.place)
        return found if conversation is None else found._replace(conversation=conversation)

    def summary(self) -> str:
        """Return what the list covers, for the header."""
        everywhere = self.everywhere
        if everywhere is None:
            return ""
        summary = _("{count:,} {view} of {conversations} in {profiles}").format(
            count=len(everywhere.found),
            view=_(self.view.value),
            conversations=counted(everywhere.conversations, "conversation"),
            profiles=counted(len(everywhere.catalogs), "profile"),
        )
        if everywhere.broken:
            summary += " · " + _("{count:,} cannot be read").format(count=len(everywhere.broken))
        return summary

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
        self.begin()
        self.show()

    def search(self, everywhere: AllProfiles) -> None:
        """Search what is typed."""
        text, now = self.asked, self.context.clock()
        self._search_number += 1
        number = self._search_number
        self._waiting = True
        begun = time.monotonic()

        def work() -> FoundHits:
            return search_everywhere(
                everywhere, text, now, cancelled=lambda: self._search_number != number
            )

        async def run() -> None:
            try:
                answer = await asyncio.to_thread(work)
            except BrowseError as error:
                self.context.failed(error)
                return
            finally:
                self._waiting = self._search_number != number
            if self._search_number == number and self.is_whole:
                self.answer, self.took = answer, time.monotonic() - begun
                self.show_rows()
                self.tell_hits()

        self.run_worker(run(), group="search")

    def tell_hits(self) -> None:
        """Say in the status line what was found."""
        answer = self.answer
        assert answer is not None
        hits = f"{len(answer.found):,}{'+' if answer.more else ''}"
        places = counted(len({each.location.path for each in answer.found}), "profile")
        count = _("{hits} hits in {profiles}").format(hits=hits, profiles=places)
        self.tell_parts(count, f"{self.took * 1000:.0f} ms", *answer.notes)

    def tell_parts(self, *parts: str) -> None:
        """Show parts of a sentence in the status line."""
        self.say(" · ".join(one_line(each, 120) for each in parts if each))

    # Keys

    @on(Input.Submitted, "#rules")
    def submitted(self, event: Input.Submitted) -> None:
        """Focus the list on Enter in the box."""
        event.stop()
        self.set_focus(self.found)

    @on(ConversationList.Shown)
    def rows_shown(self, event: ConversationList.Shown) -> None:
        """Read previews and counts of the conversations on screen, as the list of one profile
        does."""
        event.stop()
        width = self.found.scrollable_content_region.width
        self.line("found-head").update(
            Content.styled(head(width, _(self.PLACE), hits=self.is_searching), "dim")
        )
        seen = [
            row.found
            for row in self._rows[event.first : event.last + 1]
            if isinstance(row, FoundRow)
        ]
        lacking = [
            each
            for each in seen
            if each.conversation.rows is None and each.place not in self._requested
        ]
        if lacking:
            self._requested.update(each.place for each in lacking)
            self.complete(lacking)

    def complete(self, lacking: Sequence[ProfileMatch]) -> None:
        """Read previews and counts of conversations on screen."""
        self.fill_in(lambda: asyncio.to_thread(complete_all, lacking))

    def fill_in(self, read: Callable[[], Awaitable[dict[tuple[Path, str], Conversation]]]) -> None:
        """Read conversations, and show them in their rows."""

        async def run() -> None:
            complete = await read()
            if not self.is_whole or not complete:
                return
            self._complete.update(complete)
            rows = self._rows
            self._rows = [
                FoundRow(self._detailed(row.found)) if isinstance(row, FoundRow) else row
                for row in rows
            ]
            self.found.show(FixedRows(self._rows))

        self.run_worker(run(), group="names")

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
            self.query_one("#preview", Paragraph).update(self.about(row))
            return
        if row.key == self._previewed:
            return
        found, now = row.found, self.context.clock()

        async def run() -> None:
            read = await self.read_preview(found)
            if self.is_whole and self._previewed == row.key:
                self.query_one("#preview", Paragraph).update(preview(read, now))
                self.query_one("#side").scroll_home(animate=False)

        def rest() -> None:
            self._rest_timer = None
            if not self.is_whole:
                return
            self._previewed = row.key
            self.reading(found)
            self.run_worker(run(), group="preview", exclusive=True)

        self._rest_timer = self.set_timer(_REST, rest)

    def about(self, row: ListRow | None) -> Content:
        """Return what is shown beside a row that is no conversation."""
        return Content("")

    def reading(self, found: ProfileMatch) -> None:
        """Called before the preview of a row is read."""

    async def read_preview(self, found: ProfileMatch) -> Preview:
        """Read the preview of a row."""
        return await asyncio.to_thread(read_preview_of, found, Store(found.location.path))

    @on(ConversationList.Selected, "#found")
    def selected(self, event: ConversationList.Selected) -> None:
        """Open a hit, or resume a conversation."""
        event.stop()
        if isinstance(event.row, FoundRow) and event.row.found.hit is not None:
            self.open_there(event.row.found)
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
            self.open_there(row.found)

    def open_there(self, found: ProfileMatch) -> None:
        """Open a conversation in its own profile."""
        self.controllers.switching.open(found)

    def action_view(self, name: str) -> None:
        """Show another view."""
        self.view = View(name)
        self.action_reload()

    def action_search(self) -> None:
        """Focus the search box."""
        self.set_focus(self.box)

    def action_back(self) -> None:
        """Step back once: from the empty box to the list, from a search to the whole list, then
        leave."""
        if self.box.has_focus and not self.box.value:
            self.set_focus(self.found)
        elif self.box.value:
            self.box.value = ""
            self.set_focus(self.found)
        else:
            self.dismiss(None)
