"""The controller of marks and of immediate changes: archive, pin, rename; and the undo of all
changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from hermes_browse.store.api import OpenStore
from hermes_browse.store.connection.reader import chunks
from hermes_browse.store.edit.flags import Change
from hermes_browse.store.errors import BrowseError, RefusedError
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _

from .. import formats
from ..context import Context
from ..list.list_rows import ListRow
from ..list.marks import Marks, Undoable, conversations_of
from ..screens.panes import Panes
from .change_cards import RenameCard

_NAME = 60
"""Cells of the name of a conversation in a sentence."""
_AT_ONCE = 200
"""Conversations changed per transaction."""


def make_undo(
    store: OpenStore, changes: Sequence[Change]
) -> Callable[[], tuple[str, tuple[str, ...]]]:
    """Return a function, for `Undoable.undo`, that undoes changes, the last first."""
    left = list(changes)

    def back() -> tuple[str, tuple[str, ...]]:
        touched: list[str] = []
        sentence = ""
        while left:  # after a failure a second call continues here
            touched += left[-1].session_ids
            sentence = store.undo(left[-1]).sentence
            left.pop()
        if len(changes) != 1:
            sentence = _("undone for {count:,} sessions").format(count=len(touched))
        return sentence, tuple(touched)

    return back


def _by_name(change: Change, conversation: Conversation | None) -> Change:
    """Name an untitled conversation in the sentence as its row does: the store knows its id
    only."""
    if conversation is None or conversation.title or not conversation.preview:
        return change
    name = one_line(formats.name(conversation), _NAME)
    return change._replace(sentence=change.sentence.replace(conversation.id, f"“{name}”"))


class Changing:
    """Acts on the marked conversations, else on the current ones.

    Args:
        current: Returns the conversations that keys act on if none is marked.
        is_listed: Returns whether the row under the list's cursor is current.
        archive_many: Archives several conversations, except protected ones.
        touched: Updates the screen after sessions were changed, deleted or restored.
    """

    def __init__(
        self,
        context: Context,
        panes: Panes,
        marks: Marks,
        *,
        current: Callable[[], tuple[Conversation, ...]],
        is_listed: Callable[[], bool],
        archive_many: Callable[[Sequence[Conversation]], None],
        touched: Callable[[Sequence[str]], None],
    ) -> None:
        self._context, self._panes, self.marks = context, panes, marks
        self._current, self._is_listed, self._archive_many, self._touched = (
            current,
            is_listed,
            archive_many,
            touched,
        )
        self.journal: list[Undoable] = []
        """Changes of this run that can be undone."""
        self._anchor: str | None = None

    # Marks and targets

    def targets(self) -> tuple[Conversation, ...]:
        """Return the marked conversations, else the current ones; show a message if there are
        none."""
        conversations = self.marks.conversations or self._current()
        if not conversations:
            self._context.say(_("no conversation here"))
        return conversations

    def mark(self) -> None:
        """Mark or unmark the current conversations; in the list, move to the next row."""
        conversations = self._current()
        if not conversations:
            self._context.say(_("nothing to mark here"))
            return
        self.marks.toggle(conversations)
        if self._panes.rows.has_focus:
            self._panes.rows.action_move(1)
        self.redraw_marks()

    def mark_range(self) -> None:
        """Begin a range, or end it and mark its rows."""
        rows = self._panes.rows
        current = rows.current
        if current is None or not self._is_listed():
            self._context.say(_("nothing to mark here"))
            return
        start = rows.source.index_of(self._anchor) if self._anchor is not None else None
        if start is None:
            self._anchor = current.key
            self._context.say(_("a range begins here · V again where it ends"))
            return
        self._anchor = None
        self._context.retract(_("a range begins here · V again where it ends"))
        first, last = sorted((start, rows.cursor))
        self._panes.start("marks", self._add, first, last)

    def mark_all(self) -> None:
        """Mark every row of the list, or remove all marks if there are any."""
        if self.marks:
            self.clear()
            return
        self._panes.start("marks", self._add, 0, len(self._panes.rows) - 1)

    async def _add(self, first: int, last: int) -> None:
        source, details = self._panes.rows.source, self._context.details

        def add(store: OpenStore) -> list[Conversation]:
            rows: Iterable[ListRow] = (source.row(index) for index in range(first, last + 1))
            found = (each for row in rows for each in conversations_of(row))
            return [details.complete(each)[0] for each in found]

        self.marks.add(await self._panes.read(add))
        self.redraw_marks()

    def clear(self) -> None:
        """Remove all marks."""
        self.marks.clear()
        self._anchor = None
        self._context.retract(_("a range begins here · V again where it ends"))
        self.redraw_marks()

    def redraw_marks(self) -> None:
        """Redraw after the marks changed."""
        self._panes.rows.refresh_rows()
        self._context.show_header()

    # Archive, pin, rename

    def archive(self) -> None:
        """Archive the targets, or unarchive them if all are archived."""
        conversations = self.targets()
        if not conversations:
            return
        if all(each.archived for each in conversations):
            self._panes.start_write(
                self._flag,
                conversations,
                self._context.opened().unarchive,
                N_("brought {count:,} sessions"),
            )
        elif len(conversations) == 1:
            self._panes.start_write(
                self._flag,
                conversations,
                self._context.opened().archive,
                N_("archived {count:,} sessions"),
            )
        else:
            self._archive_many(conversations)

    def pin(self) -> None:
        """Pin the targets, which keeps Hermes from deleting them, or unpin them if all are
        pinned."""
        conversations = self.targets()
        if conversations:
            self.pin_these(conversations)

    def pin_these(self, conversations: Sequence[Conversation]) -> None:
        """Pin conversations, or unpin them if all are pinned."""
        if all(each.pinned for each in conversations):
            self._panes.start_write(
                self._flag,
                conversations,
                self._context.opened().unpin,
                N_("unpinned {count:,} sessions"),
            )
        else:
            self._panes.start_write(
                self._flag,
                conversations,
                self._context.opened().pin,
                N_("pinned {count:,} sessions"),
            )

    async def _flag(
        self, conversations: Sequence[Conversation], work: Callable[..., Change], many: str
    ) -> None:
        """Set or clear a flag by `work`, called with up to `_AT_ONCE` ids; `many` as in
        `changed`."""
        ids = [each.id for each in conversations]
        changes = await self._panes.write(lambda: [work(some) for some in chunks(ids, _AT_ONCE)])
        named = conversations[0] if len(conversations) == 1 else None
        self.changed([_by_name(each, named) for each in changes], many)

    def changed(self, changes: Sequence[Change], many: str = "") -> None:
        """Report changes, add them to the undo journal, and update the list.

        `many` is the message for several transactions, with a field `count` of sessions.
        """
        done = [each for each in changes if each.rows]
        if not done:
            self._context.say(_("nothing had to be changed"))
            return
        touched = [session for each in done for session in each.session_ids]
        sentence = done[0].sentence
        if len(done) > 1:
            sentence = _(many).format(count=len(touched))
        self.done(Undoable(sentence, make_undo(self._context.opened(), done)), touched)

    def done(self, entry: Undoable, touched: Sequence[str]) -> None:
        """Add a change to the undo journal, report it, and update the list.

        `touched` has the ids of the sessions that were changed, deleted or restored.
        """
        self.journal.append(entry)
        self.clear()
        self._context.say(_("{done} · u undoes").format(done=entry.sentence))
        self._touched(touched)

    def undo(self) -> None:
        """Undo the last change."""
        if not self.journal:
            self._context.say(_("nothing to undo"))
            return
        entry = self.journal.pop()  # at once: a second u while this runs undoes the change before

        self._context.say(_("undoing: {done} …").format(done=entry.sentence))
        self._panes.start_write(self._undo, entry)

    async def _undo(self, entry: Undoable) -> None:
        try:
            sentence, touched = await self._panes.write(entry.undo)
        except BrowseError as error:
            if not isinstance(error, RefusedError):  # it would be refused again
                self.journal.append(entry)
            raise
        if self.journal:
            sentence += " · " + _("u undoes {count:,} more").format(count=len(self.journal))
        self._context.say(sentence)
        self._touched(touched)

    def rename(self) -> None:
        """Ask for another title of the current conversation."""
        conversations = self._current()
        if not conversations:
            self._context.say(_("no conversation here"))
            return
        if len(conversations) != 1:
            self._context.say(_("a title is given to one conversation at a time"))
            return
        conversation = conversations[0]

        def submit(typed: str) -> None:
            self._panes.start_write(self._rename, card, conversation.id, typed)

        card = RenameCard(conversation, submit)
        self._panes.app.push_screen(card)

    async def _rename(self, card: RenameCard, session_id: str, typed: str) -> None:
        store = self._context.opened()
        try:
            renamed = await self._panes.write(lambda: store.rename(session_id, typed))
        except BrowseError as error:
            if card.refused(error):
                return
            raise
        card.done()
        self.changed([renamed.change])
