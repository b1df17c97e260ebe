"""What changes the store from the main screen: marks, archive, pin, rename, delete, and the undo of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from hermes_browse.store.connect import Reader
from hermes_browse.store.errors import BrowseError, RefusedError
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.wording import N_, _

from .. import header
from ..marks import Journal, Marks, Undoable, conversations_of
from ..rows import ListRow

if TYPE_CHECKING:
    from hermes_browse.store.write.change import Change

    from .main import MainScreen
    from .renaming import RenameScreen

_AT_ONCE = 200
"""Conversations whose marks are set in one transaction."""


class Changing:
    """Acts on what is marked, else on what is current."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen
        self.marks = Marks()
        self.journal = Journal()
        self._anchor: str | None = None

    # What is meant

    def targets(self) -> tuple[Conversation, ...]:
        """The marked conversations, else what is current; says so where there are none."""
        meant = self.marks.conversations or self._screen.current.meant
        if not meant:
            self._screen.say(_("no conversation here"))
        return meant

    def mark(self) -> None:
        """Mark what is current, or unmark it, and in the list go on to the next row."""
        meant = self._screen.current.meant
        if not meant:
            self._screen.say(_("nothing to mark here"))
            return
        self.marks.toggle(meant)
        if self._screen.rows.has_focus:
            self._screen.rows.action_move(1)
        self.shown()

    def mark_range(self) -> None:
        """The first time: begin a range; the second time: mark everything from there to here."""
        rows = self._screen.rows
        current = rows.current
        if current is None or not self._screen.current.is_listed:
            self._screen.say(_("nothing to mark here"))
            return
        start = rows.source.index_of(self._anchor) if self._anchor is not None else None
        if start is None:
            self._anchor = current.key
            self._screen.say(_("a range begins here · V again where it ends"))
            return
        self._anchor = None
        self._screen.unsay(_("a range begins here · V again where it ends"))
        first, last = sorted((start, rows.cursor))
        self._add(first, last)

    def mark_all(self) -> None:
        """Mark every row of the list, or where there are marks, take all away."""
        if self.marks:
            self.clear()
            return
        self._add(0, len(self._screen.rows) - 1)

    def _add(self, first: int, last: int) -> None:
        source = self._screen.rows.source

        def work(reader: Reader) -> list[Conversation]:
            rows: Iterable[ListRow] = (source.row(index) for index in range(first, last + 1))
            return [each for row in rows for each in conversations_of(row)]

        def done(found: list[Conversation]) -> None:
            self.marks.add(found)
            self.shown()

        self._screen.page_worker.submit("marks", work, done, self._screen.failed)

    def clear(self) -> None:
        """Take all marks away."""
        self.marks.clear()
        self._anchor = None
        self._screen.unsay(_("a range begins here · V again where it ends"))
        self.shown()

    def shown(self) -> None:
        """Draw what is marked."""
        self._screen.rows.refresh_rows()
        self._screen.show_header()

    def catalog_read(self) -> None:
        """The list has been read again: what is gone is marked no longer."""
        if self.marks:
            self.marks.keep(self._screen.listing.catalog.forest.is_root)

    # Archive, pin, rename

    def archive(self) -> None:
        """Put away, or where all of it is put away already, bring back."""
        meant = self.targets()
        if not meant:
            return
        if all(each.archived for each in meant):
            from hermes_browse.store.write.flags import unarchive

            self._flag(meant, unarchive, N_("brought {count:,} sessions"))
        elif len(meant) == 1:
            from hermes_browse.store.write.flags import archive

            self._flag(meant, archive, N_("archived {count:,} sessions"))
        else:
            self._screen.cleaning.archive(meant)

    def pin(self) -> None:
        """Keep from Hermes' own clean-up, or where all of it is pinned already, let go."""
        meant = self.targets()
        if meant:
            self.pin_these(meant)

    def pin_these(self, meant: Sequence[Conversation]) -> None:
        """Pin conversations, or where all are pinned already, let go."""
        from hermes_browse.store.write.flags import pin, unpin

        if all(each.pinned for each in meant):
            self._flag(meant, unpin, N_("unpinned {count:,} sessions"))
        else:
            self._flag(meant, pin, N_("pinned {count:,} sessions"))

    def _flag(self, meant: Sequence[Conversation], work: Callable[..., Change], many: str) -> None:
        """Set a mark on conversations.

        Args:
            meant: Which.
            work: Sets it, for some of them.
            many: What was done, where it took several transactions.
        """
        store = self._screen.store
        ids = [each.id for each in meant]

        def run() -> list[Change]:
            return [work(store, ids[start : start + _AT_ONCE]) for start in range(0, len(ids), _AT_ONCE)]

        self._screen.writer.submit(run, lambda changes: self.changed(changes, many), self._screen.failed)

    def changed(self, changes: Sequence[Change], many: str = "") -> None:
        """Say what was done, note it for an undo, and show it.

        Args:
            changes: What was done.
            many: How several of them are called, with their sessions as `count`.
        """
        done = [each for each in changes if each.rows]
        if not done:
            self._screen.say(_("nothing had to be changed"))
            return
        touched = [session for each in done for session in each.session_ids]
        sentence = done[0].sentence
        if len(done) > 1:
            sentence = _(many).format(count=len(touched))
        self.done(Undoable(sentence, self.taking_back(done)), touched)

    def done(self, entry: Undoable, touched: Sequence[str]) -> None:
        """Something was done: it can be undone, and the list shows it.

        Args:
            entry: For the undo.
            touched: Sessions that were changed, deleted or put back.
        """
        self.journal.add(entry)
        self.clear()
        self._screen.say(_("{done} · u undoes").format(done=entry.sentence))
        self._screen.listing.touched(touched)

    def taking_back(self, changes: Sequence[Change]) -> Callable[[], tuple[str, tuple[str, ...]]]:
        from hermes_browse.store.write.change import undo

        store, left = self._screen.store, list(changes)

        def back() -> tuple[str, tuple[str, ...]]:
            touched: list[str] = []
            sentence = ""
            while left:  # what was taken back before one that fails is not tried again
                touched += left[-1].session_ids
                sentence = undo(store, left[-1]).sentence
                left.pop()
            if len(changes) != 1:
                sentence = _("undone for {count:,} sessions").format(count=len(touched))
            return sentence, tuple(touched)

        return back

    def undo(self) -> None:
        """Take back what was done last."""
        entry = self.journal.last
        if entry is None:
            self._screen.say(_("nothing to undo in this sitting"))
            return

        def done(result: tuple[str, tuple[str, ...]]) -> None:
            sentence, touched = result
            if len(self.journal):
                sentence += " · " + _("u undoes {count:,} more").format(count=len(self.journal))
            self._screen.say(sentence)
            self._screen.listing.touched(touched)

        def failed(error: BrowseError) -> None:
            if not isinstance(error, RefusedError):  # a refusal would be the same the next time
                self.journal.add(entry)
            self._screen.failed(error)

        self.journal.forget(entry)  # a second u while this runs is about what was done before
        self._screen.say(_("undoing: {done} …").format(done=entry.sentence))
        self._screen.writer.submit(entry.undo, done, failed)

    def rename(self) -> None:
        """Give the conversation another title."""
        meant = self._screen.current.meant
        if not meant:
            self._screen.say(_("no conversation here"))
            return
        if len(meant) != 1:
            self._screen.say(_("a title is given to one conversation at a time"))
            return
        from .renaming import RenameScreen

        conversation = meant[0]

        def wanted(typed: str) -> None:
            self._rename(conversation, typed, card)

        card = RenameScreen(conversation, wanted)
        self._screen.app.push_screen(card)

    def _rename(self, conversation: Conversation, typed: str, card: RenameScreen) -> None:
        from hermes_browse.store.write.titles import Renamed, rename

        def done(renamed: Renamed) -> None:
            card.done()
            self.changed([renamed.change])

        def failed(error: BrowseError) -> None:
            if not card.refused(error):
                self._screen.failed(error)

        store = self._screen.store
        self._screen.writer.submit(lambda: rename(store, conversation.id, typed), done, failed)

    # What opens a card or a screen

    def export(self) -> None:
        """Save the marked conversations, or the current one."""
        meant = self.targets()
        if not meant:
            return
        from .exporting import ExportScreen, Wish, export

        def decided(wish: Wish | None) -> None:
            if wish is not None:
                export(self._screen, meant, wish)

        self._screen.app.push_screen(ExportScreen(meant, self._screen), decided)

    def open_prune(self) -> None:
        """The clean-up by rules."""
        from .prune import PruneScreen

        self._screen.app.push_screen(PruneScreen(self._screen))

    def open_trash(self) -> None:
        """What was deleted."""
        from .trash import TrashScreen

        self._screen.app.push_screen(TrashScreen(self._screen))

    def open_retention(self) -> None:
        """What Hermes will delete by itself."""
        from .retention import RetentionScreen

        self._screen.app.push_screen(RetentionScreen(self._screen))

    # The header

    def describe(self) -> str:
        """What the line of views says of marks; empty without any."""
        return header.marked(len(self.marks), self.marks.messages) if self.marks else ""
