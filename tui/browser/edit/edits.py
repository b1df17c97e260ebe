"""Changes of conversations and their undo: marks, archive, pin, rename, delete."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from hermes_browse.store.api import OpenStore
from hermes_browse.store.cleanup.bulk import Outcome
from hermes_browse.store.cleanup.selection import Selection
from hermes_browse.store.connection.reader import chunks
from hermes_browse.store.edit.flags import Change
from hermes_browse.store.errors import BrowseError, RefusedError
from hermes_browse.store.notes.tagging import TagChange, tags_of
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _

from ...text import formats
from ...widgets.list_rows import ListRow
from ..current import CurrentPanes
from ..list.marks import conversations_of
from .bulk import PlanChoices, PreparedPlan, card_of, carry_out, planning, protected, spared_words
from .change_cards import RenameCard
from .tag_cards import TagCard
from .undo import Undoable, Undone, restore_deleted, undo_changes

_NAME = 60
"""Cells of the name of a conversation in a sentence."""
_AT_ONCE = 200
"""Conversations changed per transaction."""
_RANGE = N_("a range begins here · V again where it ends")


class Edits:
    """Acts on the marked conversations, else on the current ones."""

    def __init__(self, main: CurrentPanes) -> None:
        self._main = main
        self.journal: list[Undoable] = []
        """Changes of this run that can be undone."""
        self.choices = PlanChoices()
        """With these the clean-up opens, unless conversations are marked in the list."""
        self._anchor: str | None = None

    # Marks and targets

    @property
    def targets(self) -> tuple[Conversation, ...]:
        """The marked conversations, else the current ones; says so if there are none."""
        conversations = self._main.marks.conversations or self._main.targets
        if not conversations:
            self._main.say(_("no conversation here"))
        return conversations

    def mark(self) -> None:
        """Mark or unmark the current conversations; in the list, move to the next row."""
        main = self._main
        if not main.targets:
            main.say(_("nothing to mark here"))
            return
        main.marks.toggle(main.targets)
        if main.rows.has_focus:
            main.rows.action_move(1)
        main.redraw_marks()

    def mark_range(self) -> None:
        """Begin a range, or end it and mark its rows."""
        main, rows, current = self._main, self._main.rows, self._main.rows.current
        if current is None or not main.is_row_current:
            main.say(_("nothing to mark here"))
            return
        start = rows.source.index_of(self._anchor) if self._anchor is not None else None
        if start is None:
            self._anchor = current.key
            main.say(_(_RANGE))
            return
        self._forget_range()
        first, last = sorted((start, rows.cursor))
        main.start("marks", self._mark_rows, first, last)

    def mark_all(self) -> None:
        """Mark every row of the list, or remove all marks if there are any."""
        if self._main.marks:
            self.clear()
        else:
            self._main.start("marks", self._mark_rows, 0, len(self._main.rows) - 1)

    async def _mark_rows(self, first: int, last: int) -> None:
        source, details = self._main.rows.source, self._main.details

        def conversations(store: OpenStore) -> list[Conversation]:
            rows: Iterable[ListRow] = map(source.row, range(first, last + 1))
            found = (each for row in rows for each in conversations_of(row))
            return [details.complete(conversation)[0] for conversation in found]

        self._main.marks.add(await self._main.read(conversations))
        self._main.redraw_marks()

    def clear(self) -> None:
        """Remove all marks."""
        self._main.marks.clear()
        self._forget_range()
        self._main.redraw_marks()

    def _forget_range(self) -> None:
        self._anchor = None
        self._main.retract(_(_RANGE))

    # Archive, pin, rename

    def archive(self) -> None:
        """Archive the targets, or unarchive them if all are archived."""
        conversations = self.targets
        if not conversations:
            return
        if all(conversation.archived for conversation in conversations):
            self._flag(conversations, OpenStore.unarchive, N_("brought {count:,} sessions"))
        elif len(conversations) == 1:
            self._flag(conversations, OpenStore.archive, N_("archived {count:,} sessions"))
        else:  # protected ones are spared
            self._main.start("plan", self._archive, conversations)

    async def _archive(self, conversations: Sequence[Conversation]) -> None:
        job = planning(self._main, _selection(conversations), archive=True, measure=False)
        self.archive_planned(await self._main.read(job))

    def pin(self) -> None:
        """Pin the targets, which keeps Hermes from deleting them, or unpin them if all are
        pinned."""
        if conversations := self.targets:
            self.pin_these(conversations)

    def pin_these(self, conversations: Sequence[Conversation]) -> None:
        """Pin conversations, or unpin them if all are pinned."""
        if all(conversation.pinned for conversation in conversations):
            self._flag(conversations, OpenStore.unpin, N_("unpinned {count:,} sessions"))
        else:
            self._flag(conversations, OpenStore.pin, N_("pinned {count:,} sessions"))

    def _flag(
        self, conversations: Sequence[Conversation], work: Callable[..., Change], many: str
    ) -> None:
        """Set or clear a flag by `work`, called with the store and up to `_AT_ONCE` ids; `many` is
        the message for several transactions, with a field `count` of sessions."""
        self._main.start_write(self._write_flag, conversations, work, many)

    async def _write_flag(
        self, conversations: Sequence[Conversation], work: Callable[..., Change], many: str
    ) -> None:
        store, ids = self._main.opened(), [conversation.id for conversation in conversations]
        changes = await self._main.write(
            lambda: [work(store, some) for some in chunks(ids, _AT_ONCE)]
        )
        named = conversations[0] if len(conversations) == 1 else None
        self._changed([_by_name(change, named) for change in changes], many)

    def _changed(self, changes: Sequence[Change], many: str = "") -> None:
        done = [change for change in changes if change.rows]
        if not done:
            self._main.say(_("nothing had to be changed"))
            return
        touched = [session for change in done for session in change.session_ids]
        sentence = done[0].sentence if len(done) == 1 else _(many, count=len(touched))
        self.done(Undoable(sentence, undo_changes(self._main.opened(), done)), touched)

    def rename(self) -> None:
        """Ask for another title of the current conversation."""
        main, conversations = self._main, self._main.targets
        if len(conversations) != 1:
            several = _("a title is given to one conversation at a time")
            main.say(several if conversations else _("no conversation here"))
            return
        conversation = conversations[0]

        def submit(typed: str) -> None:
            main.start_write(self._rename, card, conversation.id, typed)

        card = RenameCard(conversation, submit)
        main.app.push_screen(card)

    async def _rename(self, card: RenameCard, session_id: str, typed: str) -> None:
        store = self._main.opened()
        try:
            renamed = await self._main.write(lambda: store.rename(session_id, typed))
        except BrowseError as error:
            if card.refused(error):
                return
            raise
        card.done()
        self._changed([renamed.change])

    # Tags

    def tag(self) -> None:
        """Ask for the tags of the targets; in the field are those that all of them have."""
        main, conversations = self._main, self.targets
        if not conversations:
            return
        common = set(conversations[0].tags).intersection(*(each.tags for each in conversations))
        about = formats.counted(len(conversations), "conversation")
        if len(conversations) == 1:
            about = one_line(formats.name(conversations[0]), _NAME)

        def submit(tags: list[str]) -> None:
            ids = [conversation.id for conversation in conversations]
            self.change_tags(OpenStore.tag, ids, tags, sorted(common.difference(tags)))

        known = tags_of(main.catalog.chains())
        main.app.push_screen(TagCard(_("Tags"), about, sorted(common), known, submit))

    def rename_tag(self, tag: str) -> None:
        """Ask for another name of a tag."""

        def submit(names: list[str]) -> None:
            if names:
                self.change_tags(OpenStore.rename_tag, tag, names[0])

        self._main.app.push_screen(TagCard(_("Rename the tag"), f"#{tag}", [tag], (), submit))

    def change_tags(self, work: Callable[..., TagChange], *given: object) -> None:
        """Change tags by `work`, called with the store and what is given."""
        self._main.start_write(self._change_tags, work, given)

    async def _change_tags(self, work: Callable[..., TagChange], given: Sequence[object]) -> None:
        store = self._main.opened()
        done = await self._main.write(lambda: work(store, *given))
        if not done.session_ids:
            self._main.say(_("nothing had to be changed"))
            return

        def undo() -> Undone:
            return store.undo_tags(done).sentence, done.session_ids

        self.done(Undoable(done.sentence, undo), done.session_ids)

    # Undo

    def done(self, entry: Undoable, touched: Sequence[str]) -> None:
        """Add a change to the undo journal, report it, and update the list.

        `touched` has the ids of the sessions that were changed, deleted or restored.
        """
        self.journal.append(entry)
        if touched:
            self.clear()
        self._main.say(_("{done} · u undoes", done=entry.sentence))
        self._main.touched = tuple(touched)

    def undo(self) -> None:
        """Undo the last change, also one that is still being made."""
        self._main.start_write(self._undo)

    async def _undo(self) -> None:
        main = self._main
        if main.writes.is_busy:
            await main.write(lambda: None)  # its turn comes when those before it are in the journal
        if not self.journal:
            main.say(_("nothing to undo"))
            return
        entry = self.journal.pop()
        main.say(_("undoing: {done} …", done=entry.sentence))
        try:
            sentence, touched = await main.write(entry.undo)
        except BrowseError as error:
            if not isinstance(error, RefusedError):  # it would be refused again
                self.journal.append(entry)
            raise
        if self.journal:
            sentence += " · " + _("u undoes {count:,} more", count=len(self.journal))
        main.say(sentence)
        main.touched = touched

    # Plans: delete, and archive several

    def delete(self) -> None:
        """Ask, then move the targets to the trash; protected ones are spared."""
        if conversations := self.targets:
            self._main.say(_("making the plan …"))
            self._main.start("plan", self._delete, conversations)

    async def _delete(self, conversations: Sequence[Conversation]) -> None:
        job = planning(self._main, _selection(conversations))
        await self._ask(await self._main.read(job))

    def ask(self, planned: PreparedPlan) -> None:
        """Ask whether to delete the conversations of a plan."""
        self._main.start("plan", self._ask, planned)

    async def _ask(self, planned: PreparedPlan) -> None:
        main = self._main
        if not planned.plan.selected:
            main.say(protected(planned.plan, main.details))
            return

        def decided(go: bool | None) -> None:
            if go:
                main.start_write(self._delete_planned, planned)
            else:
                main.say(_("nothing was deleted"))

        card = await main.read(partial(card_of, planned=planned, location=main.location))
        main.say("")
        main.app.push_screen(card, decided)

    async def _delete_planned(self, planned: PreparedPlan) -> None:
        delete = partial(self._main.opened().clean_up, catalog=planned.catalog)
        outcome = await carry_out(self._main, planned, delete)
        deleted = list(outcome.results)
        notes = [note for done in deleted for note in done.notes]
        words = " · ".join([spared_words(outcome, _("moved to the trash")), *notes[:1]])
        self._carried_out(outcome, words, partial(restore_deleted, self._main, deleted))

    def archive_planned(self, planned: PreparedPlan) -> None:
        """Archive the conversations of a plan without asking, as it can be undone."""
        self._main.start_write(self._archive_planned, planned)

    async def _archive_planned(self, planned: PreparedPlan) -> None:
        main = self._main
        if not planned.plan.selected:
            main.say(protected(planned.plan, main.details))
            return
        store = main.opened()
        outcome = await main.write(partial(store.archive_planned, planned.plan))
        undo = undo_changes(store, outcome.results)
        self._carried_out(outcome, spared_words(outcome, _("archived")), undo)

    def _carried_out(
        self, outcome: Outcome[Any], sentence: str, undo: Callable[[], Undone]
    ) -> None:
        if outcome.results:
            touched = [session for each in outcome.plan.selected for session in each.session_ids]
            touched += [session.id for session in outcome.plan.reparented]
            self.done(Undoable(sentence, undo), touched)
        if outcome.error is not None:
            self._main.failed(outcome.error)
        elif not outcome.results:
            self._main.say(sentence)


def _selection(conversations: Sequence[Conversation]) -> Selection:
    return Selection(marks=frozenset(conversation.id for conversation in conversations))


def _by_name(change: Change, conversation: Conversation | None) -> Change:
    """Name an untitled conversation in the sentence as its row does: the store knows its id
    only."""
    if conversation is None or conversation.title or not conversation.preview:
        return change
    name = one_line(formats.name(conversation), _NAME)
    return change._replace(sentence=change.sentence.replace(conversation.id, f"“{name}”"))
