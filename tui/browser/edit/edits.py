"""Changes of conversations: archive, pin, rename, delete; marks, undo and tags are in its bases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from hermes_browse.store.api import OpenStore
from hermes_browse.store.cleanup.bulk import Outcome
from hermes_browse.store.cleanup.selection import Selection
from hermes_browse.store.connection.reader import chunks
from hermes_browse.store.edit.flags import Change
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _

from ...text import formats
from ..current import CurrentPanes
from .bulk import PlanChoices, PreparedPlan, card_of, carry_out, planning, protected, spared_words
from .change_cards import RenameCard
from .marking import Undoable, Undone, restore_deleted, undo_changes
from .tagging import NAME_CELLS, Tagging

_AT_ONCE = 200
"""Conversations changed per transaction."""


class Edits(Tagging):
    """Acts on the marked conversations, else on the current ones."""

    def __init__(self, main: CurrentPanes) -> None:
        super().__init__(main)
        self.choices = PlanChoices()
        """With these the clean-up opens, unless conversations are marked in the list."""

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
        outcome = await carry_out(self._main, planned, self._main.opened().delete_planned)
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
    name = one_line(formats.name(conversation), NAME_CELLS)
    return change._replace(sentence=change.sentence.replace(conversation.id, f"“{name}”"))
