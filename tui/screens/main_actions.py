"""What keys of the main screen do to what is shown; each hands over to the controller that knows how."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from hermes_browse.store.errors import BrowseError
from hermes_browse.store.homes import Location
from hermes_browse.store.sessions.models import Sort, View
from hermes_browse.store.wording import _

from .. import header
from ..list_model import shown_line
from .panes import TINY, Panes
from .sub_screen import SubScreen

if TYPE_CHECKING:
    from .changing import Changing
    from .current import Current
    from .listing import Listing
    from .old_files import OldFiles
    from .reading import ConversationPane
    from .resuming import Resuming
    from .searching import Searching
    from .switching import Switching
    from .taking_away import TakingAway
    from .typing import Typing


class MainActions(Panes):
    """Actions on the list, the search, and the conversation shown."""

    location: Location
    changing: Changing
    current: Current
    listing: Listing
    searching: Searching
    typing: Typing
    reading: ConversationPane
    resuming: Resuming
    taking: TakingAway
    old_files: OldFiles
    switching: Switching

    def __init__(self) -> None:
        super().__init__()
        self._said: str | None = ""
        """What the status line says; None for a failure."""
        self._is_of_page = False

    # Telling

    def say(self, text: str) -> None:
        """Put a sentence in the status line."""
        self._said, self._is_of_page = text, False
        self._tell(header.status(text, self.state_text()))

    def say_of_page(self, text: str) -> None:
        """Put a sentence in the status line that is true for as long as the page of the transcript is as it is."""
        self.say(text)
        self._is_of_page = bool(text)

    def page_left(self) -> None:
        """The transcript shows something else: what was said of its page is so no more."""
        if self._is_of_page:
            self.say("")

    def unsay(self, text: str) -> None:
        """Something is over: what was said while it lasted is so no more."""
        if self._said == text:
            self.say("")

    def state_text(self) -> str:
        """Whether the store is being written to."""
        return self.listing.state_text()

    def state_changed(self) -> None:
        """Somebody has begun to write, or stopped: say the same beside the new state."""
        if self._said is not None:
            self._tell(header.status(self._said, self.state_text()))

    def failed(self, error: BrowseError) -> None:
        """Say what went wrong, where it can be seen and does not hide anything."""
        self._said, self._is_of_page = None, False
        self._tell(header.failure(str(error)))

    def _tell(self, content: Content) -> None:
        """In the status line of this screen, and of the one over it."""
        self.line("status").update(content)
        for screen in self._over_this():
            screen.tell(content)

    def _over_this(self) -> list[SubScreen]:
        """Screens over this one that have been put together: one that was opened a moment ago has no lines yet."""
        stack = self.app.screen_stack[1:]
        return [screen for screen in stack if isinstance(screen, SubScreen) and screen.is_whole]

    def catalog_changed(self) -> None:
        """The list has been read again: the screen over this one may want to know."""
        for screen in self._over_this():
            screen.catalog_changed()

    def show_header(self) -> None:
        """The store's name, what is shown, and what is hidden."""
        if self.is_tiny:
            told = _("too small (min {columns}×{lines})").format(columns=TINY[0], lines=TINY[1])
            self.line("header").update(Content.styled(told, "$warning"))
            return
        catalog = self.listing.catalog
        view = self.view
        shown = shown_line(catalog, view)
        if self.searching.is_active and catalog.exact:
            shown = _("searching {count:,} of {total:,} conversations")
            shown = shown.format(count=catalog.forest.counts()[view], total=catalog.forest.counts()[View.ALL])
        if self.old_files.count.files:
            shown += " · " + _("{count:,} old transcripts").format(count=self.old_files.count.files)
        self.line("header").update(header.title(self.location, shown, self.size.width))
        offered = self.typing.offered
        if offered is not None and offered.key:
            self.line("views").update(header.offers(offered.choices, self.size.width))
            return
        self.line("views").update(self.view_line())

    def view_line(self) -> Content:
        """The views, and the order of the list."""
        order = self.listing.sort, self.listing.reverse
        told = self.searching.describe(), self.changing.describe()
        return header.views(
            self.listing.catalog, self.view, *order, *told, self.old_files.count.files, width=self.size.width
        )

    @property
    def view(self) -> View:
        """The view on screen; a search looks everywhere unless told otherwise."""
        return self.searching.view if self.searching.is_active else self.listing.view

    def action_hit(self, by: int) -> None:
        """To the next or previous hit."""
        self.searching.step(by)

    def action_view(self, name: str) -> None:
        """Another view."""
        if self.searching.is_active:
            self.searching.set_view(View(name))
        else:
            self.listing.set_view(View(name))
        self.show_header()

    def action_old(self) -> None:
        """Files without a session in the store."""
        self.old_files.open()

    def action_profiles(self) -> None:
        """Another profile, or all at once."""
        self.switching.choose()

    def action_sort(self) -> None:
        """The next order."""
        order: Sequence[Sort] = [sort for sort in Sort if sort is not Sort.SIZE]
        self.listing.set_sort(order[(order.index(self.listing.sort) + 1) % len(order)], reverse=False)
        self.show_header()

    def action_reverse(self) -> None:
        """The other way round."""
        self.listing.set_sort(self.listing.sort, reverse=not self.listing.reverse)
        self.show_header()

    def action_searches(self) -> None:
        """Kept and earlier searches."""
        self.typing.list_searches()

    def action_fold(self, by: int) -> None:
        """More or fewer hits of a conversation."""
        self.searching.fold(self.rows.current, by)

    def action_keep_search(self) -> None:
        """Keep the search, or no longer."""
        self.typing.keep()

    def action_search_order(self) -> None:
        """Hits newest, best or oldest first."""
        self.searching.next_order()

    def action_reading(self) -> None:
        """Said, live, everything."""
        self.reading.next_reading()

    def action_recap(self) -> None:
        """The recap in place of the transcript."""
        self.reading.show_recap()

    def action_resume(self) -> None:
        """Resume the current conversation."""
        conversation = self.current.conversation
        if conversation is not None:
            self.resuming.start(conversation.id)

    def action_resume_window(self) -> None:
        """Resume the current conversation in a window of its own."""
        conversation = self.current.conversation
        if conversation is not None:
            self.resuming.start_in_window(conversation.id)

    def action_copy_id(self) -> None:
        """Copy the id of the current conversation."""
        conversation = self.current.conversation
        if conversation is not None:
            self.taking.copy(conversation.id, conversation.id)

    def action_copy_command(self) -> None:
        """Copy the command that resumes the current conversation."""
        conversation = self.current.conversation
        if conversation is not None:
            self.resuming.copy_command(conversation.id)

    def action_reload(self) -> None:
        """Read the store again now."""
        self.listing.read()
        self.say(_("reading the store again"))

    def action_mouse(self) -> None:
        """Leave the mouse to the terminal, for selecting text, or take it back."""
        toggle = getattr(self.app._driver, "toggle_mouse", None)
        if toggle is None:
            self.say(_("the mouse is not the browser's to give here"))
        elif toggle():
            self.say(_("the mouse is the browser's"))
        else:
            self.say(_("the mouse is left to the terminal · F9 takes it back"))

    def action_help(self) -> None:
        """All keys."""
        from .help import HelpScreen

        self.app.push_screen(HelpScreen())
