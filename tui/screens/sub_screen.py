"""Base classes of screens over the main one: title, status line, keys, one step back; for those that
tell something in a list, and those that do it of one conversation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.events import Key, Resize
from textual.getters import query_one
from textual.reactive import var

from hermes_browse.store.errors import BrowseError
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _

from ..browser import header
from ..browser.header import StatusText
from ..browser.keyed import WAY_BACK, WayBack
from ..browser.list.conversation_list import ConversationList, CursorRow
from ..browser.list.rows import conversation_of
from ..browser.main import MainScreen
from ..browser.panes import load
from ..settings.keys import changed
from ..settings.keys.main_commands import APP, LINES, LIST
from ..settings.keys.screen_commands import MAP
from ..settings.start import NARROW
from ..text import formats
from ..text.styled import line_text, row_line
from ..widgets.bindings import BoundKeys, meaningless
from ..widgets.lines import KeyLine, TextLine
from ..widgets.list_rows import Columns, FixedRows, ListRow, MessageRow, NoteRow
from ..widgets.themes import STYLES
from ..work.jobs import StoreScreen

_RUNS = ("progress", "writing")
"""What the status line of the main screen tells beside its sentence."""


class SubScreen(BoundKeys, StoreScreen[None]):
    """A screen that works with the store of the main screen.

    Args:
        main: The main screen, whose store this screen works with.
    """

    AUTO_FOCUS = ""
    CSS_PATH = STYLES / "cleaning.tcss"
    TITLE: ClassVar[str]
    HELP_TITLE = ""
    """Title in the help, if it is another one."""
    ENTER = N_("Read this conversation")
    """Help text of Enter in its lists."""
    EXAMPLES: ClassVar[tuple[str, Sequence[tuple[str, str]]]] = ("", ())
    """A title, and examples with their meanings, for the help."""

    rows = query_one(ConversationList)
    """The first list."""

    said: var[StatusText] = var(StatusText(), init=False, always_update=True)
    """The sentence of the status line."""
    described: var[str] = var("", init=False)
    """What there is to tell of the row under the cursor, where nothing is said."""

    def __init__(self, main: MainScreen) -> None:
        super().__init__()
        self.main = main
        self.reads = main.reads
        self.writes = main.writes
        self._is_away = False

    def compose(self) -> ComposeResult:
        yield TextLine(id="header")
        yield from self.content()
        yield TextLine(id="status")
        yield KeyLine()

    def content(self) -> ComposeResult:
        """Build what stands between the title and the status line."""
        raise NotImplementedError

    def on_mount(self) -> None:
        """Begin in the first list, and follow what the main screen says and reads; Textual calls the
        handlers of subclasses as well."""
        self.watch(self.main, "status", self._main_said, init=False)
        for name in _RUNS:
            self.watch(self.main, name, self.watch_said, init=False)
        self.watch(self.main, "catalog", self._catalog_read, init=False)
        lists = self.query(ConversationList)
        for rows in lists:
            rows.clock = self.main.clock
        if lists:
            self.watch(self.rows, "at", self._cursor_moved, init=False)
            self.set_focus(self.rows)

    def line(self, name: str) -> TextLine:
        """Return a one-line text by id."""
        return self.query_one(f"#{name}", TextLine)

    def show_line(self, name: str, text: str, look: str = "dim") -> None:
        """Show a text in the line of an id."""
        self.line(name).update(Content.styled(text, look))

    def offer_keys(self, *, are_of_use: bool) -> None:
        """Show the screen's own keys in the footer, but not while there is nothing to act on."""
        own = frozenset(command.id for command in self.KEYS)
        self.query_one(KeyLine).withhold(frozenset() if are_of_use else own)

    def show_title(self, note: str) -> None:
        """Show the title of the screen, the name of the store and a note in the header."""
        title = _(self.TITLE)
        name = header.store_name(self.main.location)
        self.line("header").update(
            Content.assemble(
                (f" {title}  ", "bold"), (name, "$accent"), (f"  {note}" if note else "", "dim")
            )
        )

    def on_screen_resume(self) -> None:
        """Catch up with the list after the way back."""
        if self._is_away:
            self._is_away = False
            self.catalog_changed()

    def on_unmount(self) -> None:
        """Be let go of: Textual drops watchers that have ended when a value is set again (8.2)."""
        if self.main.status_line.is_attached:  # else the browser is being left
            for name in ("status", *_RUNS):
                self.main.mutate_reactive(getattr(MainScreen, name))

    def failed(self, error: BrowseError) -> None:
        self.main.failed(error)

    def recovered(self, error: BrowseError) -> None:
        self.main.recovered(error)

    def _main_said(self) -> None:
        """Say what the main screen says, but for what is of its transcript."""
        said = self.main.status
        self.said = StatusText() if said.is_of_page else said

    def watch_said(self) -> None:
        """Show the sentence, and what runs; without a sentence, what the row is about."""
        if self.is_whole:
            main, width = self.main, self.size.width
            line = header.status(self.said, self.described, main.progress, main.writing, width)
            self.line("status").update(line)

    watch_described = watch_said

    def _catalog_read(self) -> None:
        if self.is_whole and not self._is_away:
            self.catalog_changed()

    def say(self, text: str) -> None:
        """Show a sentence in the status line."""
        self.said = StatusText(text)

    answer = say

    def describe(self, text: str, *, by_hand: bool) -> None:
        """Describe the row under the cursor in the status line; a sentence stays if the cursor was
        not moved by hand."""
        if by_hand:
            self.say("")
        self.described = text

    def catalog_changed(self) -> None:
        """Called after the main screen has read the list again."""

    def on_resize(self, event: Resize) -> None:
        self.set_class(event.size.width < NARROW, "-narrow")

    def on_key(self, event: Key) -> None:
        """Say of a key that it does nothing here."""
        if words := meaningless(event):
            self.answer(words)

    def read_conversation(self, conversation: Conversation, message_id: int | None = None) -> None:
        """Return to the main screen with this conversation in the transcript; Esc there comes back
        here."""
        self._leave(WayBack(self, conversation.root_id))
        self.main.read_there(conversation, message_id)
        self.main.say(_(WAY_BACK))

    def search(self, query: str, remark: str) -> None:
        """Return to the main screen with a search; Esc there comes back here."""
        self._leave(WayBack(self, query=query))
        self.main.search_for(query, remark)

    def _leave(self, way: WayBack) -> None:
        self._is_away = True
        self.main.keep_way_back(way)
        self.dismiss(None)

    def read_message(self, session_id: str, message_id: int | None) -> None:
        """Return to the main screen at a message of any conversation; Esc there comes back."""
        self.start("message", self._find_and_read, session_id, message_id)

    async def _find_and_read(self, session_id: str, message_id: int | None) -> None:
        conversation = await self.main.find_conversation(session_id)
        if self.app.screen is self:
            self.read_conversation(conversation, message_id)

    @on(ConversationList.RowsShown)
    def rows_shown(self, event: ConversationList.RowsShown) -> None:
        event.stop()
        self.read_names(self.main.details.lacking(event.rows))
        self.heads_shown()

    def heads_shown(self) -> None:
        """Show the headings of the rows that were drawn, as wide as these."""

    def show_head(
        self, name: str, columns: Columns[Any], title: str, order: object = None, lead: str = "   "
    ) -> None:
        """Show in the line of an id the headings of rows that begin like `lead`."""
        width = self.rows.scrollable_content_region.width
        head = columns.head(width, order)
        self.show_line(name, line_text(row_line((lead, ""), (title, ""), head, width)))

    def _cursor_moved(self, at: CursorRow) -> None:
        if at.row is not None and at.is_moved:
            self.call_later(self.came_to, at.row, by_hand=at.is_step)

    def came_to(self, row: ListRow, *, by_hand: bool) -> None:
        """Show what there is to tell of the row under the cursor of the first list, by default what
        the row is `about`; `by_hand` if the cursor was moved there, else other rows were shown."""
        self.describe(getattr(row, "about", ""), by_hand=by_hand)

    @on(ConversationList.Selected)
    def row_selected(self, event: ConversationList.Selected) -> None:
        self.chose(event.row)

    def chose(self, row: ListRow) -> None:
        """Do what Enter does on a row, by default read its message, or its `conversation`, if it
        has one."""
        if isinstance(row, MessageRow):
            self.read_message(*row.target)
        elif (conversation := conversation_of(row)) is not None:
            self.read_conversation(conversation)

    def names_read(self) -> None:
        """Show names that have been read."""
        for rows in self.query(ConversationList):
            rows.refresh_rows()

    def read_names(self, wanted: Sequence[Conversation], group: str = "names") -> None:
        """Read the previews and counts of conversations, if there are any.

        A newer request of the same group replaces this one.
        """
        if wanted:
            self.start(group, self._read_names, wanted)

    async def _read_names(self, wanted: Sequence[Conversation]) -> None:
        await self.main.read_details(wanted)
        self.names_read()

    def action_back(self) -> None:
        """Close the screen."""
        self.dismiss(None)

    def action_undo(self) -> None:
        """Undo the last change."""
        self.main.edits.undo()

    def action_help(self) -> None:
        """Show the help: the keys that work here, the signs, and the examples."""
        enter = {"list-read": {"tooltip": self.ENTER, "task": ""}}
        commands = [*self.KEYS, *MAP, *changed(LIST, enter, ()), *LINES, *APP]
        title = _(self.HELP_TITLE or self.TITLE)
        title = title[:1].upper() + title[1:]
        self.app.push_screen(load("help")(self, commands, self.KEYS[0].scope, title, self.EXAMPLES))


class ListScreen(SubScreen):
    """A list that is read when the screen opens, and again with the list of the main screen."""

    def on_mount(self) -> None:
        self.show_title("")
        self.rows.show(FixedRows([NoteRow(_("looking …"))]))
        self.catalog_changed()

    def catalog_changed(self) -> None:
        """Read it again."""
        self.start("rows", self._read_rows)

    async def _read_rows(self) -> None:
        """Read it; what cannot be read is not being looked for any more."""
        try:
            await self.read_rows()
        except BrowseError as error:
            if isinstance(self.rows.current, NoteRow):
                self.rows.show(FixedRows([NoteRow(one_line(error.sentence))]))
            raise

    async def read_rows(self) -> None:
        """Read and show what there is to tell."""
        raise NotImplementedError


class ConversationScreen(ListScreen):
    """Something about a conversation."""

    def __init__(self, main: MainScreen, conversation: Conversation) -> None:
        super().__init__(main)
        self.conversation = conversation

    @property
    def about(self) -> str:
        """What stands behind the title; printable."""
        return one_line(formats.name(self.conversation), 200)

    def catalog_changed(self) -> None:
        """Follow the conversation, which may have another part or name now."""
        known = self.main.catalog.of_session(self.conversation.root_id)
        if known is not None:
            self.conversation = self.main.details.complete(known)
        self.show_title(self.about)
        super().catalog_changed()
