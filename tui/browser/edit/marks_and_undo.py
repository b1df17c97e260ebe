"""What edits act on, the marked conversations or the current ones, and the undo of them."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hermes_browse.store.edit.delete import Deleted
from hermes_browse.store.edit.restore import describe_restored
from hermes_browse.store.errors import BrowseError, RefusedError
from hermes_browse.store.progress import EVERY, Stage
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.wording import N_, _

from ...text import formats
from ...widgets.list_rows import RowSource
from ..context import Context
from ..current import ConversationPanes
from ..list.rows import conversations_of

if TYPE_CHECKING:
    from ..search.results import SearchResults

_RANGE = N_("a range begins here · V again where it ends")


class Undoable(NamedTuple):
    """A change that can be undone."""

    sentence: str
    """Description of the change, in the past tense."""
    undo: Callable[[], str]
    """Undoes it, on the writing thread, and returns a sentence.

    Raises:
        RefusedError: It can no longer be undone; nothing was changed.
        BrowseError: It failed for now; nothing was changed.
    """
    touched: Sequence[str] = ()
    """Ids of the sessions that were changed, deleted or restored."""


class MarksAndUndo:
    """Marks conversations, and keeps a journal of what was done with them."""

    def __init__(self, main: ConversationPanes) -> None:
        self._main = main
        self.journal: list[Undoable] = main.app.journals.setdefault(main.location.path, [])
        """Changes of this run that can be undone."""
        self._anchor = ""
        """The key of the row at which a range begins; empty for no range."""

    # Marks and targets

    @property
    def targets(self) -> tuple[Conversation, ...]:
        """The marked conversations, else the current ones; says so if there are none."""
        conversations = tuple(self._main.marks.values()) or self._main.current_conversations
        if not conversations:
            self._main.say(_("no conversation here"))
        return conversations

    def mark(self) -> None:
        """Mark or unmark the current conversations; in the list, move to the next one."""
        main, roots = self._main, {each.root_id: each for each in self._main.current_conversations}
        if not roots:
            main.say(_("nothing to mark here"))
            return
        if roots.keys() <= main.marks.keys():
            for root in roots:
                del main.marks[root]
        else:
            main.marks.update(roots)
        if main.rows.has_focus:
            main.rows.action_jump(self._index_after(roots))
        main.redraw_marks()

    def _index_after(self, roots: Container[str]) -> int:
        """Return the index of the next row that is not only about these conversations, such as
        another hit in one of them; the present one if there is none."""
        rows = self._main.rows
        for index in range(rows.cursor + 1, len(rows)):
            if any(each.root_id not in roots for each in conversations_of(rows.source.row(index))):
                return index
        return rows.cursor

    def mark_range(self) -> None:
        """Begin a range, or end it and mark its rows."""
        main, rows, current = self._main, self._main.rows, self._main.rows.current
        if current is None or not main.is_row_current:
            main.say(_("nothing to mark here"))
            return
        start = rows.source.index_of(self._anchor)
        if start is None:
            self._anchor = current.key
            main.say(_(_RANGE))
            return
        self._forget_range()
        first, last = sorted((start, rows.cursor))
        main.start("marks", self._mark_rows, rows.source, range(first, last + 1))

    def mark_all(self) -> None:
        """Mark every row of the list, or remove all marks if there are any."""
        main, results, source = self._main, self._main.results, self._main.rows.source
        if main.marks:
            self.clear()
        elif results is not None and results.goes_on:
            main.start("marks", self._mark_found, results, source)
        else:
            main.start("marks", self._mark_rows, source, range(len(source)))

    async def _mark_rows(self, source: RowSource, places: Iterable[int]) -> None:
        """Mark the conversations of some rows, as they were when that was asked for."""

        def roots() -> list[str]:
            rows = map(source.row, places)
            return [each.root_id for row in rows for each in conversations_of(row)]

        # On a thread, as there may be thousands.
        await self.renew_marks(await self._main.call(roots))

    async def _mark_found(self, results: SearchResults, source: RowSource) -> None:
        """Mark all conversations of a search, also those whose hits have not been read."""
        await self._mark_rows(source, range(len(source)))
        if results.total is None or results.total.at_least:
            self._main.say(_("not all hits are counted: those that are shown are marked"))
            return
        roots = map(self._main.catalog.root_of, results.total.sessions)
        await self.renew_marks(filter(None, roots))

    async def renew_marks(self, more: Iterable[str] = ()) -> None:
        """Keep what is marked as it is now, and mark some more, given by their roots; what is gone
        is marked again when it is there again."""
        main, catalog, details = self._main, self._main.catalog, self._main.details
        main.gone_marks |= dict.fromkeys(more)
        marks, gone = main.marks, main.gone_marks
        roots = [*marks, *gone]
        there = (catalog.conversation(root) for root in roots if catalog.root_of(root) == root)
        present = await main.call(lambda: {each.root_id: details.complete(each) for each in there})
        for root in roots:
            if root in present and (root in marks or root in gone):  # not unmarked meanwhile
                marks[root] = present[root]
                gone.pop(root, None)
            elif marks.pop(root, None) is not None:
                gone[root] = None
        main.redraw_marks()

    def clear(self) -> None:
        self._main.marks.clear()
        self._main.gone_marks.clear()
        self._forget_range()
        self._main.redraw_marks()

    def _forget_range(self) -> None:
        self._anchor = ""
        self._main.retract(_(_RANGE))

    # Undo

    def record(self, done: Undoable) -> None:
        """Add a change to the undo journal, report it, and update the list."""
        self.journal.append(done)
        if done.touched:
            self.clear()
        self._main.say(_("{done} · u undoes", done=done.sentence))
        self._main.reread(done.touched)

    def undo(self) -> None:
        """Undo the last change, also one that is still being made."""
        self._main.start_write(self._undo)

    async def _undo(self) -> None:
        main = self._main
        await main.write(lambda: None)  # its turn comes when those before it are in the journal
        if not self.journal:
            main.say(_("nothing to undo"))
            return
        entry = self.journal.pop()
        main.say(_("undoing: {done} …", done=entry.sentence))
        try:
            sentence = await main.write(entry.undo)
        except BrowseError as error:
            if not isinstance(error, RefusedError):  # it would be refused again
                self.journal.append(entry)
            raise
        if self.journal:
            sentence += " · " + _("u undoes {count:,} more", count=len(self.journal))
        main.say(sentence)
        main.reread(entry.touched)


def restore_deleted(context: Context, deleted: Deleted) -> str:
    """Restore a deletion, show how far that is, and say what was restored.

    Raises:
        RefusedError: It can no longer be restored; nothing was changed.
        BrowseError: It failed for now; nothing was changed.
    """

    def tell(stage: Stage) -> None:
        if stage.total >= EVERY:  # too fast to read for fewer messages
            context.writes.tell(context.show_progress, f"{stage.words} …")

    bundle = deleted.bundle
    restored = context.connect().restore(bundle.name, tell=tell)
    conversations = len(set(bundle.conversations).intersection(restored.sessions))
    words = describe_restored([restored])
    if not restored.present.issuperset(restored.sessions):  # else another program was first
        words = _(
            "restored {conversations}: {sessions}, {messages}",
            conversations=formats.counted(conversations, "conversation"),
            sessions=formats.counted(len(restored.sessions), "session"),
            messages=formats.counted(restored.messages, "message"),
        )
    return formats.joined(words, *restored.notes)
