"""The main screen: what its keys call, what its panes tell, and the lines around them."""

from __future__ import annotations

import gc
import threading
from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.binding import BindingType
from textual.content import Content
from textual.events import AppBlur, AppFocus, Resize, ScreenResume
from textual.widget import Widget
from textual.widgets import Input

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Conversation, Sort, Status, View
from hermes_browse.store.wording import _

from ..bindings import bindings
from ..commands.panes import MAIN
from ..config.options import FOREVER
from ..context import Context, Host
from ..list.about import about
from ..list.columns import set_sort
from ..list.conversation_list import ConversationList
from ..list.model import shown_line
from ..list.rows import ConversationRow, HitRow, JobRow, LineageRow, ListRow, MoreRow, SuggestionRow
from ..search.box import SearchBox
from ..shared import header
from ..transcript.scroll import TranscriptScroll
from ..transcript.view import TranscriptView
from ..worker import Answered, StoreChanged
from ..writer import Written
from .callees import callees
from .controllers import Controllers
from .panes import Panes, too_small
from .sub_screen import SubScreen


def is_opened(row: ListRow) -> bool:
    """Whether Enter opens a row of the list instead of resuming it."""
    return isinstance(row, HitRow | JobRow | MoreRow | SuggestionRow) or (
        isinstance(row, ConversationRow) and row.hits > 0
    )


class MainScreen(Panes):
    """List, transcript, lineage and search of a store.

    Args:
        host: The application.
        location: Which store.
        store: The store.
        first: What is known of its conversations.
        shown: Those of them that have been read.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings(MAIN)

    def __init__(
        self, host: Host, location: Location, store: Store, first: Catalog, shown: Sequence[Conversation]
    ) -> None:
        super().__init__()
        self.context = Context(host, location, store, first, self.post_message)
        self.context.details.add(shown)
        self.context.tell, self.context.show_header = self._tell, self.show_header
        self.controllers = Controllers(self.context, self, self._catalog_read)
        self.callees = callees(self.controllers, self) | {"back": self._step_back}
        # At once: keys may have been typed before anything is mounted.
        self.box.on_edit = lambda text: self.controllers.typing.edited(text)
        self._was_seen = False

    # Commands

    async def action_do(self, name: str) -> None:
        """Do what a command says."""
        done = self.callees[name]()
        if done is not None:
            await done

    def action_sort_by(self, sort: str) -> None:
        """Sort by the column whose name was clicked, or turn its order round; hits have an order of their own."""
        by = self.controllers
        if by.is_searching and by.searching.has_hits:
            self.context.say(_("hits have an order of their own: o changes it"))
        else:
            by.listing.sort_by(Sort(sort))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave `/` to a box that has the focus, where it is a letter."""
        return not (action == "do" and parameters == ("search",) and isinstance(self.focused, Input))

    def leave(self) -> None:
        """What one step back does when there is nothing left to step back from."""
        if self.context.host.is_choice_printed:
            self.context.host.finish()  # something is to be picked: Esc gives up, as in every picker
        else:
            self.context.say(_("q leaves"))  # whoever goes back step by step presses Esc once too often

    def _step_back(self) -> None:
        """One step: from a pane to the list, from a search to the list as it was, and no further."""
        if self._stop_search() or self.end_zoom():
            return
        if self.focused is not self.rows:
            self.set_focus(self.rows)
        elif self.controllers.marks:
            self.controllers.changing.clear()
        elif self.controllers.is_searching:
            self.box.value = ""
        else:
            self.leave()

    def _stop_search(self) -> bool:
        return self.controllers.is_searching and self.controllers.searching.stop()

    # Life

    def on_mount(self) -> None:
        """Show the first page, then read the rest behind it."""
        context, current = self.context, self.controllers.current
        for widget in (self.rows, self.lineage):
            widget.clock = context.clock
        self.rows.row_lines = 2 if context.options.density == "comfortable" else 1
        self.rows.is_marked = self.controllers.marks.has
        self.rows.is_current = lambda: current.is_listed
        self.rows.opens = is_opened
        self.rows.follow, self.lineage.follow = self._followed, current.node_moved
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
        self.call_after_refresh(self._go_on)

    def on_screen_resume(self, event: ScreenResume) -> None:
        """Textual works the styles out again whenever a screen is seen; the first time they have just been."""
        listing = self.controllers.listing
        set_sort(listing.sort, reverse=listing.reverse)  # the list of a screen over this one may have another order
        event.refresh_styles = self._was_seen
        self._was_seen = True

    def _go_on(self) -> None:
        """The first frame is out: read the rest behind it, and load what will be wanted."""
        gc.freeze()  # what is in memory now stays; the rest is looked through as usual
        gc.enable()
        for worker in self.context.workers_of_store:  # not before: the first key would wait for what they compute
            worker.start()
        self.controllers.listing.read()
        threading.Thread(target=self.controllers.load_search, name="load", daemon=True).start()
        self.controllers.old_files.look()
        if (age := self.context.options.trash) != FOREVER:
            self.controllers.expire_trash(age)

    def on_unmount(self) -> None:
        """Let go of the store."""
        self.controllers.close()

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
        self.controllers.listing.changed()
        self.controllers.reading.changed()

    def on_app_focus(self, event: AppFocus) -> None:
        """The terminal has the focus again: look at the file more often."""
        self.context.list_worker.away = False

    def on_app_blur(self, event: AppBlur) -> None:
        """Nobody is looking: look at the file less often."""
        self.context.list_worker.away = True

    # Events of the panes

    def on_resize(self, event: Resize) -> None:
        """Fit the lines at the top; Textual also calls the handler of `Panes`."""
        self.show_header()

    def set_focus(self, widget: Widget | None, *given: bool, **named: bool) -> None:
        """Give a pane the keys, which may make another conversation current."""
        super().set_focus(widget, *given, **named)
        self.controllers.current.focus_moved()

    @on(ConversationList.Selected, "#list")
    def row_selected(self, event: ConversationList.Selected) -> None:
        """Enter: open a job, a hit or the best hit of a conversation, resume any other conversation."""
        self.take(event.row)

    @on(ConversationList.Shown, "#list")
    def rows_shown(self, event: ConversationList.Shown) -> None:
        """Read what the rows on screen lack."""
        self.controllers.listing.complete(event.first, event.last)
        if self.controllers.is_searching:
            self.controllers.searching.maybe_more(event.last)

    @on(ConversationList.Selected, "#lineage")
    def node_selected(self, event: ConversationList.Selected) -> None:
        """Resume the conversation of a node, which is the current one unless its tree is still being read."""
        current = self.controllers.current.conversation
        if not isinstance(event.row, LineageRow) or current is None:
            return
        if event.row.node.session.id in (each.id for each in current.segments):
            self.controllers.resuming.start(event.row.node.session.id)
        else:
            self.context.say(_("the family of this conversation is still being read"))

    @on(TranscriptView.Needed)
    def messages_needed(self, event: TranscriptView.Needed) -> None:
        """Read the messages that came into sight."""
        self.controllers.reading.read_window(event.first, event.last)

    @on(TranscriptView.Notice)
    def transcript_notice(self, event: TranscriptView.Notice) -> None:
        """A word from the transcript."""
        if event.text:
            self.context.say_of_page(event.text)
        else:
            self.context.page_left()

    @on(TranscriptView.Finding)
    def find_asked(self, event: TranscriptView.Finding) -> None:
        """To the next find or the one before, or no longer find."""
        if event.step:
            self.controllers.finding.step(event.step)
        else:
            self.controllers.finding.end()

    @on(TranscriptScroll.Resized)
    def transcript_resized(self) -> None:
        """Title and facts stand above the transcript and are as wide."""
        self.controllers.reading.fit_titles()

    @on(SearchBox.Moved)
    def box_moved(self, event: SearchBox.Moved) -> None:
        """Moving keys typed in the search box."""
        if self.controllers.typing.recall(event.key):
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
        if self.controllers.is_searching:
            self.controllers.typing.remember()
        if isinstance(row, HitRow | MoreRow | SuggestionRow):  # a conversation is looked at first
            self.take(row)
        else:
            self.set_focus(self.rows)

    def take(self, row: ListRow) -> None:
        """What Enter does with a row."""
        by = self.controllers
        if isinstance(row, JobRow):
            by.listing.toggle_job(row.name)
        elif isinstance(row, HitRow) or (isinstance(row, ConversationRow) and row.hits):
            by.current.follow_row()
            self.set_focus(self.transcript)
        elif isinstance(row, MoreRow):
            by.searching.hits.unfold(row)
        elif isinstance(row, SuggestionRow):
            by.searching.take_suggestion(row)
        elif isinstance(row, ConversationRow):
            by.resuming.start(row.conversation.id)

    # The lines around the panes

    def _tell(self, own: Content, others: Content) -> None:
        """Put a text into the status line of this screen, and one into those of the screens over it."""
        self.line("status").update(own)
        for screen in self._over_this():
            screen.tell(others)

    def _followed(self, is_moved: bool, by_hand: bool) -> None:
        """The list has another row under its cursor, or draws it anew."""
        context, row = self.context, self.rows.current
        self.controllers.current.listed(is_moved, by_hand)
        is_live = isinstance(row, ConversationRow) and row.conversation.status is Status.LIVE
        context.about_row(about(row, context.clock(), self.enter_words()), is_live=is_live)

    def enter_words(self) -> str:
        """What Enter does with a conversation, for the status line."""
        location = self.context.location
        return _("Enter resumes …{id}") if location.demo or location.home is not None else ""

    def _moved(self) -> None:
        """The user has moved the cursor: what was said is read by now, and what is told of an answer still holds."""
        self.context.say(self.controllers.searching.shortfall() if self.controllers.is_searching else "")

    def _catalog_read(self) -> None:
        for screen in self._over_this():
            screen.catalog_changed()

    def _over_this(self) -> list[SubScreen]:
        """Screens over this one that have been put together: one that was opened a moment ago has no lines yet."""
        stack = self.app.screen_stack[1:]
        return [screen for screen in stack if isinstance(screen, SubScreen) and screen.is_whole]

    def show_header(self) -> None:
        """The store's name, what is shown, and what is hidden."""
        width = self.size.width
        if self.is_tiny:
            self.line("header").update(too_small())
            return
        by, catalog = self.controllers, self.context.catalog
        shown = shown_line(catalog, by.view)
        if by.is_searching and catalog.exact:
            shown = _("search in {count:,} of {total:,} conversations")
            shown = shown.format(count=catalog.forest.counts()[by.view], total=catalog.forest.counts()[View.ALL])
        if by.old_files.count.files:
            shown += " · " + _("{count:,} old transcripts").format(count=by.old_files.count.files)
        self.line("header").update(header.title(self.context.location, shown, width))
        offered = by.offered
        self.line("views").update(header.offers(offered, width) if offered else self.view_line())
        has_hits = by.is_searching and by.searching.has_hits
        self.head.show(_("hits") if has_hits else "", is_sorted=not has_hits)

    def view_line(self) -> Content:
        """The views, and the order of the list."""
        by = self.controllers
        order = by.listing.sort, by.listing.reverse
        return header.views(
            self.context.catalog,
            by.view,
            *order,
            *by.told(),
            by.old_files.count.files,
            progress=by.listing.progress(),
            width=self.size.width,
        )
