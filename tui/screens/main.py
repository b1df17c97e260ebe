"""The main screen: dispatches commands and events of its panes to the controllers, and fills the
lines around them."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual import on
from textual.binding import BindingType
from textual.content import Content
from textual.events import AppBlur, AppFocus, Key, Resize, ScreenResume
from textual.widget import Widget
from textual.widgets import Input

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Conversation, Sort, Status, View
from hermes_browse.store.wording import _

from ..bindings import bindings, key_names, meaningless
from ..commands.main_commands import MAIN
from ..config.options import FOREVER
from ..context import Application, Context
from ..list.about import about
from ..list.conversation_list import ConversationList
from ..list.conversation_rows import ConversationRow, JobRow
from ..list.hit_rows import HitRow, MoreRow, SuggestionRow
from ..list.list_model import shown_line
from ..list.list_rows import ListRow
from ..search.box import SearchBox
from ..shared import header
from ..textual_private import bindings_of
from ..transcript.scroll import TranscriptScroll
from ..transcript.view import TranscriptView
from .callees import callees
from .controllers import Controllers
from .panes import Panes
from .sub_screen import SubScreen

_POLL_SECONDS = 0.5
"""Between checks whether the file has changed."""
_AWAY_SECONDS = 3.0
"""The same while the terminal has no focus."""


def is_opened(row: ListRow) -> bool:
    """Return whether Enter opens a row of the list instead of resuming it."""
    return isinstance(row, HitRow | JobRow | MoreRow | SuggestionRow) or (
        isinstance(row, ConversationRow) and row.hits > 0
    )


class MainScreen(Panes):
    """List, transcript, lineage and search of a store.

    Args:
        first: Catalog of the first page.
        shown: Its conversations that have been read.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings(MAIN)
    ENTER_READS: ClassVar[bool] = False
    """Whether Enter on a conversation shows its transcript instead of resuming it."""

    def __init__(
        self,
        host: Application,
        location: Location,
        store: Store,
        first: Catalog,
        shown: Sequence[Conversation],
    ) -> None:
        super().__init__()
        self.context = Context(host, self, location, store, first)
        self.reads, self.writes = self.context.reads, self.context.writes
        self.failed = self.context.failed
        self.context.details.add(shown)
        self.context.tell, self.context.show_header = self._tell, self.show_header
        self.controllers = Controllers(self.context, self, self._catalog_read)
        self.callees = callees(self.controllers, self) | {"back": self._step_back}
        # Set here, as keys may come before anything is mounted.
        self.box.on_edit = lambda text: self.controllers.typing.edited(text)
        self._was_seen = self._is_away = False

    # Commands

    def on_key(self, event: Key) -> None:
        """Say of a key that does nothing here where it works, if anywhere."""
        words = meaningless(self, event)
        if self.focused is self.rows and not any(
            list(bindings_of(each, event.key)) for each in (self.rows, self)
        ):
            for binding in bindings_of(self.transcript, event.key):
                sentence = _("{key} ({what}) is for messages: Tab goes to them")
                words = sentence.format(key=key_names(event.key), what=_(binding.description))
        if words:
            self.context.say(words)

    async def action_do(self, name: str) -> None:
        """Run a command by name."""
        coroutine = self.callees[name]()
        if coroutine is not None:
            await coroutine

    def action_sort_by(self, sort: str) -> None:
        """Sort by the clicked column, or reverse its order; hits have an order of their own."""
        controllers = self.controllers
        if controllers.is_searching and controllers.searching.has_hits:
            self.context.say(_("hits have an order of their own: o changes it"))
        else:
            controllers.listing.sort_by(Sort(sort))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave `/` to a focused input, where it is a letter."""
        return not (
            action == "do" and parameters == ("search",) and isinstance(self.focused, Input)
        )

    def leave(self) -> None:
        """Handle Esc when there is nothing left to step back from."""
        if self.context.host.is_choice_printed:
            self.context.host.finish()  # used as a picker, which Esc cancels
        else:
            self.context.say(_("press q to quit"))  # not quit: Esc is easily pressed once too often

    def _step_back(self) -> None:
        """Step back once, by the first of these that there is.

        Undim, end a recap, stop a scan, end a zoom, go back to the screen a conversation was opened
        from, else to the list, clear the marks, end the search.
        """
        if self.transcript.page.seen is not None:
            self.callees["seen-here"]()
            return
        if self.controllers.reading.is_recap and self.controllers.current.conversation is not None:
            self.controllers.reading.show_recap()  # which ends it
            return
        if self._stop_search() or self.end_zoom():
            return
        if self.focused is not self.rows:
            if not self.controllers.go_back():
                self.set_focus(self.rows)
        elif self.controllers.marks:
            self.controllers.changing.clear()
        elif self.controllers.is_searching:
            self.box.value = ""
        else:
            self.leave()

    def _stop_search(self) -> bool:
        return self.controllers.is_searching and self.controllers.searching.stop()

    # Lifecycle

    def on_mount(self) -> None:
        context, current = self.context, self.controllers.current
        for widget in (self.rows, self.lineage):
            widget.clock = context.clock
        self.rows.is_marked = self.controllers.marks.has
        self.rows.is_current = lambda: current.is_listed
        self.rows.opens = is_opened
        self.rows.follow, self.lineage.follow = self._followed, self._node_moved
        self.lineage.opens = lambda row: (
            self.controllers.reading.tree.compaction_of(row) is not None
        )
        self.rows.moved = self._moved
        self.pane_sizes = context.host.pane_sizes
        self.set_class(self.pane_sizes.is_alone, "-zoom-list")
        self.share_out()
        if self.focused is None:
            self.set_focus(self.rows)
        self.box.stops = self._stop_search
        self.controllers.listing.begin(context.host.take_early_cursor())
        self.show_header()
        context.say(context.location.note)
        self.call_after_refresh(self._start_background)

    def on_screen_resume(self, event: ScreenResume) -> None:
        """Skip Textual's refresh of all styles at the first resume, when they are fresh."""
        event.refresh_styles = self._was_seen
        self._was_seen = True

    def _start_background(self) -> None:
        """After the first frame: read the rest, and load modules that are needed soon."""
        gc.freeze()  # objects made so far are permanent
        gc.enable()
        self.start("watch", self._watch)
        self.start("load", self._load_search)
        self.controllers.old_files.look()
        if (age := self.context.options.trash) != FOREVER:
            self.controllers.expire_trash(age)

    def on_unmount(self) -> None:
        self.controllers.close()

    async def _load_search(self) -> None:
        await self.call(self.controllers.load_search)

    async def _watch(self) -> None:
        """Read everything, then again after each write, without moving anything."""
        fingerprint = self.context.store.fingerprint
        before = await self.call(fingerprint)
        self.controllers.listing.read()
        while True:
            await asyncio.sleep(_AWAY_SECONDS if self._is_away else _POLL_SECONDS)
            now = await self.call(fingerprint)
            if now != before:
                before = now
                self.controllers.listing.changed()
                self.controllers.reading.changed()

    def on_app_focus(self, event: AppFocus) -> None:
        """Watch the file more often when the terminal gets the focus."""
        self._is_away = False

    def on_app_blur(self, event: AppBlur) -> None:
        """Watch the file less often when the terminal loses the focus."""
        self._is_away = True

    # Events of the panes

    def on_resize(self, event: Resize) -> None:
        """Fit the lines at the top; Textual also calls the handler of `Panes`."""
        self.show_header()

    def set_focus(self, widget: Widget | None, *given: bool, **named: bool) -> None:
        """Focus a pane, which may change the current conversation.

        A field that opens ends what was said before, except the box of a search, as that is of it.
        """
        is_opened = isinstance(widget, Input) and not isinstance(self.focused, Input)
        if is_opened and not (widget is self.box and self.box.value):
            self._moved()
        super().set_focus(widget, *given, **named)
        self.controllers.current.focus_moved()

    @on(ConversationList.Selected, "#list")
    def row_selected(self, event: ConversationList.Selected) -> None:
        """Handle Enter in the list."""
        self.take(event.row)

    @on(ConversationList.Shown, "#list")
    def rows_shown(self, event: ConversationList.Shown) -> None:
        """Read missing details of the rows on screen."""
        self.controllers.listing.complete(event.first, event.last)
        if self.controllers.is_searching:
            self.controllers.searching.maybe_more(event.last)

    @on(ConversationList.Selected, "#lineage")
    def node_selected(self, event: ConversationList.Selected) -> None:
        """Inspect a compaction, or resume a session, unless the tree is still that of another
        conversation."""
        current, tree = self.controllers.current.conversation, self.controllers.reading.tree
        session_id = tree.session_of(event.row)
        if session_id is None or current is None:
            return
        if session_id not in (each.id for each in current.segments):
            self.context.say(_("the family of this conversation is still being read"))
        elif (number := tree.compaction_of(event.row)) is not None:
            self.controllers.open_screen("compactions", number)
        else:
            self.controllers.resuming.start(session_id)

    @on(TranscriptView.Needed)
    def messages_needed(self, event: TranscriptView.Needed) -> None:
        """Read the messages that became visible."""
        self.controllers.reading.read_window(event.first, event.last)

    @on(TranscriptView.Notice)
    def transcript_notice(self, event: TranscriptView.Notice) -> None:
        """Show or remove a message of the transcript."""
        if event.text:
            self.context.say_of_page(event.text)
        else:
            self.context.page_left()

    @on(TranscriptView.FindKeyPressed)
    def find_asked(self, event: TranscriptView.FindKeyPressed) -> None:
        """Go to the next or previous match in the transcript, or end the find."""
        if event.step:
            self.controllers.finding.step(event.step)
        else:
            self.controllers.finding.end()

    @on(TranscriptScroll.Resized)
    def transcript_resized(self) -> None:
        """Fit title and facts to the transcript's width."""
        self.controllers.reading.fit_titles()

    @on(SearchBox.Moved)
    def box_moved(self, event: SearchBox.Moved) -> None:
        """Handle movement keys typed in the search box."""
        if self.controllers.typing.recall(event.key):
            return
        steps = {"down": 1, "up": -1}
        if event.key in steps:
            self.rows.action_move(steps[event.key])
        else:
            self.rows.action_page(1 if event.key == "pagedown" else -1)

    @on(SearchBox.Left)
    def box_left(self) -> None:
        """Focus the list on Escape in the empty box."""
        self.set_focus(self.rows)

    @on(SearchBox.Entered)
    def box_entered(self) -> None:
        """Handle Enter in the box: open the row under the cursor if it is a hit, else focus the
        list."""
        row = self.rows.current
        if self.controllers.is_searching:
            self.controllers.typing.remember()
        if isinstance(row, HitRow | MoreRow | SuggestionRow):  # others would be resumed or toggled
            self.take(row)
        else:
            self.set_focus(self.rows)

    def take(self, row: ListRow) -> None:
        """Handle Enter on a row: open a job, a hit or the best hit of a conversation; resume or
        read the others."""
        controllers = self.controllers
        if isinstance(row, JobRow):
            controllers.listing.toggle_job(row.name)
        elif isinstance(row, HitRow) or (
            isinstance(row, ConversationRow) and (row.hits or self.ENTER_READS)
        ):
            controllers.current.follow_row()
            self.set_focus(self.transcript)
        elif isinstance(row, MoreRow):
            controllers.searching.hits.unfold(row)
        elif isinstance(row, SuggestionRow):
            controllers.searching.take_suggestion(row)
        elif isinstance(row, ConversationRow):
            controllers.resuming.start(row.conversation.id)

    # The lines around the panes

    def _tell(self, own: Content, others: Content) -> None:
        """Show one text in the status line of this screen, and one in those of the screens over
        it."""
        self.line("status").update(own)
        for screen in self._over_this():
            screen.tell(others)

    def _followed(self, is_moved: bool, by_hand: bool) -> None:
        """Follow the list: another row is under its cursor, or the same row was updated."""
        context, row = self.context, self.rows.current
        self.controllers.current.list_moved(is_moved, by_hand)
        is_live = isinstance(row, ConversationRow) and row.conversation.status is Status.LIVE
        room = self.size.width - 2 - cell_len(f" │ {context.writing}")
        context.about_row(about(row, context.clock(), self.enter_words(), room), is_live=is_live)

    def enter_words(self) -> str:
        """Return the status line's text on Enter for a conversation, with a field `id`."""
        location = self.context.location
        return (
            _("Enter resumes …{id}")
            if location.demo or location.home is not None or location.host
            else ""
        )

    def _node_moved(self, is_moved: bool, by_hand: bool) -> None:
        """Follow the tree: show the session or the compaction under its cursor."""
        controllers, conversation = self.controllers, self.controllers.current.conversation
        compaction = controllers.reading.tree.compaction(self.lineage.current)
        if compaction is None:
            controllers.current.node_moved(is_moved, by_hand)
        elif (
            by_hand
            and conversation is not None
            and compaction.session_id in (s.id for s in conversation.segments)
        ):
            controllers.reading.go_to_compaction(conversation, compaction)

    def _moved(self) -> None:
        """Clear the message when the user moves the cursor or opens a field; the shortfall of a
        search stays."""
        self.context.say(
            self.controllers.searching.shortfall() if self.controllers.is_searching else ""
        )

    def _catalog_read(self) -> None:
        for screen in self._over_this():
            screen.catalog_changed()

    def _over_this(self) -> list[SubScreen]:
        """Return the mounted screens over this one; one that is just being opened has no lines
        yet."""
        stack = self.app.screen_stack[1:]
        return [screen for screen in stack if isinstance(screen, SubScreen) and screen.is_whole]

    def show_header(self) -> None:
        """Update header, line of views and column names."""
        width = self.size.width
        controllers, catalog = self.controllers, self.context.catalog
        shown = shown_line(catalog, controllers.view)
        if controllers.is_searching and catalog.exact:
            shown = _("search in {count:,} of {total:,} conversations")
            shown = shown.format(
                count=catalog.forest.counts()[controllers.view],
                total=catalog.forest.counts()[View.ALL],
            )
        if count := controllers.old_files.count.files:
            unsearched, old = (
                _("{count:,} old transcripts not searched"),
                _("{count:,} old transcripts"),
            )
            shown += " · " + (unsearched if controllers.is_searching else old).format(count=count)
        shown = " · ".join(filter(None, (self.covered(), shown)))
        self.line("header").update(header.title(self.context.location, shown, width))
        offered = controllers.offered
        self.line("views").update(header.offers(offered, width) if offered else self.view_line())
        has_hits = controllers.is_searching and controllers.searching.has_hits
        self.head.show(_("hits") if has_hits else "", is_sorted=not has_hits)

    def covered(self) -> str:
        """Return what the counts in the header do not cover; empty if they cover everything."""
        return ""

    def view_line(self) -> Content:
        """Build the line of views, with the list's order."""
        controllers = self.controllers
        order = controllers.listing.sort, controllers.listing.reverse
        return header.views(
            self.context.catalog,
            controllers.view,
            *order,
            *controllers.search_and_marks(),
            controllers.old_files.count.files,
            progress=controllers.listing.progress(),
            width=self.size.width,
        )
