"""The main screen: list, transcript, lineage and search wired together."""

from __future__ import annotations

import asyncio
import gc
import signal
import threading
import time
from collections.abc import Callable, Sequence
from types import FrameType
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.events import AppBlur, AppFocus, Resize, ScreenResume
from textual.widget import Widget
from textual.widgets import Input

from hermes_browse.store.connect import Store
from hermes_browse.store.homes import Location
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.wording import _

from ..config.options import FOREVER
from ..list_model import Details
from ..rows import ConversationRow, HitRow, JobRow, LineageRow, ListRow, MoreRow, SuggestionRow
from ..widgets.conversation_list import ConversationList
from ..widgets.search_box import SearchBox
from ..widgets.transcript_view import TranscriptView
from ..worker import Answered, StoreChanged, Worker
from ..writer import Writer, Written
from .bindings import MAIN_BINDINGS
from .changing import Changing
from .changing_actions import ChangingActions
from .cleaning import Cleaning
from .current import Current
from .finding import Finding
from .listing import Listing
from .main_actions import MainActions
from .old_files import OldFiles
from .reading import ConversationPane
from .resuming import Resuming
from .searching import Searching
from .switching import Switching
from .taking_away import TakingAway
from .transcript_actions import TranscriptActions
from .typing import Typing

if TYPE_CHECKING:
    from ..app import BrowseApp


class MainScreen(ChangingActions, TranscriptActions, MainActions):
    """Composition and wiring; what is shown in the panes is decided by four small controllers."""

    BINDINGS: ClassVar[list[BindingType]] = [*MAIN_BINDINGS]

    def __init__(
        self,
        location: Location,
        store: Store,
        first: Catalog,
        shown: Sequence[Conversation],
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__()
        self.location, self.store = location, store
        self.details = Details()
        self.details.add(shown)
        post = self.post_message
        self.list_worker = Worker(store, post, "list", watch=True)
        self.page_worker = Worker(store, post, "page")
        self.transcript_worker = Worker(store, post, "transcript")
        self.search_worker = Worker(store, post, "search")
        self.count_worker = Worker(store, post, "count")
        self.plan_worker = Worker(store, post, "plan")
        self.workers_of_store = [
            self.list_worker,
            self.page_worker,
            self.transcript_worker,
            self.search_worker,
            self.count_worker,
            self.plan_worker,
        ]
        """All that may have the store open; screens over this one add theirs."""
        self.writer = Writer(post)
        self.listing = Listing(self, first)
        self.current = Current(self)
        self.reading = ConversationPane(self)
        self.searching = Searching(self)
        self.typing = Typing(self)
        self.query_edited = self.typing.edited
        self.resuming = Resuming(self)
        self.changing = Changing(self)
        self.cleaning = Cleaning(self)
        self.taking = TakingAway(self)
        self.finding = Finding(self)
        self.old_files = OldFiles(self)
        self.switching = Switching(self)
        self.clock = clock
        """Tells the time; tests freeze it."""
        self._was_seen = False

    def commands(self) -> list[Binding]:
        """What the palette and the help offer."""
        return [*MAIN_BINDINGS, *self.transcript_commands()]

    def browse_app(self) -> BrowseApp:
        """The application, as what it is."""
        from ..app import BrowseApp

        assert isinstance(self.app, BrowseApp)
        return self.app

    # Life

    def on_mount(self) -> None:
        """Show the first page, then read the rest behind it."""
        for widget in (self.rows, self.lineage):
            widget.clock = self.clock
        self.rows.row_lines = 2 if self.browse_app().start.options.density == "comfortable" else 1
        self.rows.is_marked = self.changing.marks.has
        self.rows.is_current = lambda: self.current.is_listed
        self.rows.follow, self.lineage.follow = self.current.listed, self.current.node_moved
        self.shares = self.browse_app().shares
        self.set_class(self.shares.is_alone, "-zoom-list")
        self.share_out()
        if self.focused is None:
            self.set_focus(self.rows)
        self.box.stops = self.searching.stop
        self.listing.begin(self.browse_app().take_early_cursor())
        self.show_header()
        self.say(self.location.note)
        self.call_after_refresh(self._go_on)
        self._leave_in_order()

    def on_screen_resume(self, event: ScreenResume) -> None:
        """Textual works the styles out again whenever a screen is seen; the first time they have just been."""
        event.refresh_styles = self._was_seen
        self._was_seen = True

    def _go_on(self) -> None:
        """The first frame is out: read the rest behind it, and load what will be wanted."""
        gc.freeze()  # what is in memory now stays; the rest is looked through as usual
        gc.enable()
        for worker in self.workers_of_store:  # not before: the first key would wait for what they compute
            worker.start()
        self.listing.read()
        self.searching.get_ready()
        self.old_files.look()
        if (age := self.browse_app().start.options.trash) != FOREVER:
            self.cleaning.expire(age)

    def _leave_in_order(self) -> None:
        """End like `q` when told to from outside, so that the terminal is restored."""
        loop = asyncio.get_running_loop()

        if threading.current_thread() is threading.main_thread():
            for name in ("SIGTERM", "SIGHUP"):
                if hasattr(signal, name):
                    self._end_by(getattr(signal, name), loop)
        if self.browse_app().is_told_to_end():
            self.app.exit()

    def _end_by(self, number: int, loop: asyncio.AbstractEventLoop) -> None:
        """Have a signal end the browser, also while it is being left: what the loop sets itself goes with the loop."""

        def end(number: int, frame: FrameType | None) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(self.app.exit)
            elif callable(before):
                before(number, frame)

        before = signal.signal(number, end)

    def on_unmount(self) -> None:
        """It is over."""
        self.let_go()

    def let_go(self) -> None:
        """Let go of the store, and of what was written to be looked at, for good."""
        self.taking.close()
        self.writer.stop()
        for worker in self.workers_of_store:
            worker.stop()

    @on(Answered)
    def take_answer(self, event: Answered) -> None:
        """A job of a worker is done."""
        event.stop()
        event.deliver()

    @on(Written)
    def take_written(self, event: Written) -> None:
        """The writer has done something."""
        event.stop()
        event.deliver()

    @on(StoreChanged)
    def store_changed(self, event: StoreChanged) -> None:
        """Someone wrote: read again, without moving anything."""
        event.stop()
        self.listing.changed()
        self.reading.changed()

    def on_app_focus(self, event: AppFocus) -> None:
        """The terminal has the focus again: look at the file more often."""
        self.list_worker.away = False

    def on_app_blur(self, event: AppBlur) -> None:
        """Nobody is looking: look at the file less often."""
        self.list_worker.away = True

    # Events of the panes

    def on_resize(self, event: Resize) -> None:
        """Other words fit into the lines at the top; Textual calls the handler of the panes as well."""
        self.show_header()

    def set_focus(self, widget: Widget | None, *given: bool, **named: bool) -> None:
        """Give a pane the keys, which may make another conversation current."""
        super().set_focus(widget, *given, **named)
        self.current.focus_moved()

    @on(ConversationList.Selected, "#list")
    def row_selected(self, event: ConversationList.Selected) -> None:
        """Enter: open a job, go to a hit, resume a conversation."""
        self.take(event.row)

    @on(ConversationList.Shown, "#list")
    def rows_shown(self, event: ConversationList.Shown) -> None:
        """Read what the rows on screen lack."""
        self.listing.complete(event.first, event.last)
        self.searching.maybe_more(event.last)

    @on(ConversationList.Selected, "#lineage")
    def node_selected(self, event: ConversationList.Selected) -> None:
        """Resume the conversation of a node, which is the current one unless its tree is still being read."""
        current = self.current.conversation
        if not isinstance(event.row, LineageRow) or current is None:
            return
        if event.row.node.session.id in (each.id for each in current.segments):
            self.resuming.start(event.row.node.session.id)
        else:
            self.say(_("the family of this conversation is still being read"))

    @on(TranscriptView.Wanted)
    def messages_wanted(self, event: TranscriptView.Wanted) -> None:
        """Read the messages that came into sight."""
        self.reading.read_window(event.first, event.last)

    @on(TranscriptView.Told)
    def transcript_told(self, event: TranscriptView.Told) -> None:
        """A word from the transcript."""
        if event.text:
            self.say_of_page(event.text)
        else:
            self.page_left()

    @on(SearchBox.Moved)
    def box_moved(self, event: SearchBox.Moved) -> None:
        """Moving keys typed in the search box."""
        if self.typing.recall(event.key):
            return
        steps = {"down": 1, "up": -1}
        if event.key in steps:
            self.rows.action_move(steps[event.key])
        else:
            self.rows.action_page(1 if event.key == "pagedown" else -1)

    @on(SearchBox.Left)
    def box_left(self) -> None:
        """Escape in the empty box."""
        self.set_focus(self.rows)

    @on(SearchBox.Entered)
    def box_entered(self) -> None:
        """Enter in the box: to the results, or into the one under the cursor."""
        row = self.rows.current
        self.typing.remember()
        if isinstance(row, HitRow | MoreRow | SuggestionRow):
            self.take(row)
        else:
            self.set_focus(self.rows)

    def take(self, row: ListRow) -> None:
        """What Enter does with a row."""
        if isinstance(row, JobRow):
            self.listing.toggle_job(row.name)
        elif isinstance(row, HitRow):
            self.current.follow_row()
            self.set_focus(self.transcript)
        elif isinstance(row, MoreRow):
            self.searching.unfold(row)
        elif isinstance(row, SuggestionRow):
            self.searching.take_suggestion(row)
        elif isinstance(row, ConversationRow):
            self.resuming.start(row.conversation.id)

    # Actions

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A slash in a box is a letter."""
        return not (action == "search" and isinstance(self.focused, Input))

    def action_search(self) -> None:
        """To the search box."""
        self.set_focus(self.box)

    def action_details(self) -> None:
        """Everything worth knowing of the conversation shown."""
        from .details import show_details

        conversation = self.current.conversation
        if conversation is not None:
            show_details(self, conversation)

    def action_insights(self) -> None:
        """Tokens, cost and activity."""
        from .insights import InsightsScreen

        self.app.push_screen(InsightsScreen(self))

    def action_doctor(self) -> None:
        """How everything is."""
        from .doctor import DoctorScreen

        self.app.push_screen(DoctorScreen(self))

    def action_step_back(self) -> None:
        """One step: from a pane to the list, from a search to the list as it was, and no further."""
        if self.searching.stop():
            return
        if self.end_zoom():
            return
        if self.focused is not self.rows:
            self.set_focus(self.rows)
        elif self.changing.marks:
            self.changing.clear()
        elif self.searching.is_active:
            self.box.value = ""
        else:
            self.leave()

    def leave(self) -> None:
        """What one step back does when there is nothing left to step back from."""
        if self.browse_app().is_choice_printed:
            self.app.exit()  # something is to be picked: Esc gives up, as in every picker
        else:
            self.say(_("q leaves"))  # whoever goes back step by step presses Esc once too often

    def action_quit(self) -> None:
        """Leave."""
        self.app.exit()
