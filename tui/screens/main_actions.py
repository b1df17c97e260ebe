"""What keys of the main screen do to what is shown; each hands over to the controller that knows how."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hermes_browse.store.models import Sort, View
from hermes_browse.store.wording import _

from .panes import Panes

if TYPE_CHECKING:
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

    current: Current
    listing: Listing
    searching: Searching
    typing: Typing
    reading: ConversationPane
    resuming: Resuming
    taking: TakingAway
    old_files: OldFiles
    switching: Switching

    def say(self, text: str) -> None:
        """Put a sentence in the status line."""
        raise NotImplementedError

    def show_header(self) -> None:
        """The store's name, what is shown, and what is hidden."""
        raise NotImplementedError

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
