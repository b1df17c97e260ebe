"""Changes of conversations: archive, pin, rename, tags, delete; marks and undo are in its base."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any, TypeVar

from textual.screen import Screen

from hermes_browse.store.api import OpenStore
from hermes_browse.store.cleanup.bulk import CleanedUp, archived_of
from hermes_browse.store.cleanup.plan import Plan
from hermes_browse.store.cleanup.selection import Selection
from hermes_browse.store.connection.reader import Stopped
from hermes_browse.store.edit.flags import Change
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.notes.tagging import TagChange, tags_of
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _, ngettext

from ...text import formats
from ..current import ConversationPanes
from ..search.history import TagChoice
from .deleting import (
    PlanChoices,
    PreparedPlan,
    card_of,
    planning,
    protected,
    spared_words,
)
from .long_writes import Tell, write_in_sight
from .marks_and_undo import MarksAndUndo, Undoable, restore_deleted
from .naming import RenameCard, TagCard

Changed = TypeVar("Changed", Change, TagChange)

_FEW_CONVERSATIONS = 25
"""Up to so many conversations, the progress of a deletion is shown in the status line."""
_NAME_CELLS = 60
"""Cells of the name of a conversation in a sentence."""


class Edits(MarksAndUndo):
    """Acts on the marked conversations, else on the current ones."""

    def __init__(self, main: ConversationPanes) -> None:
        super().__init__(main)
        self.choices = PlanChoices()
        """With these the clean-up opens, unless conversations are marked in the list."""

    # Archive and pin

    async def archive(self) -> None:
        """Archive the targets, or unarchive them if all are archived."""
        main, conversations = self._main, self.targets
        if not conversations:
            return
        if all(conversation.archived for conversation in conversations):
            main.start_write(self._flag, conversations, OpenStore.unarchive)
        elif len(conversations) == 1:
            main.start_write(self._flag, conversations, OpenStore.archive)
        else:  # protected ones are spared
            job = planning(main, _selection(conversations), archive=True, measure=False)
            self.archive_planned(await main.read(job))

    def pin(self) -> None:
        """Pin the targets, which keeps Hermes from deleting them, or unpin them if all are
        pinned."""
        if conversations := self.targets:
            self.pin_these(conversations)

    def pin_these(self, conversations: Sequence[Conversation]) -> None:
        are_pinned = all(conversation.pinned for conversation in conversations)
        work = OpenStore.unpin if are_pinned else OpenStore.pin
        self._main.start_write(self._flag, conversations, work)

    async def _flag(
        self, conversations: Sequence[Conversation], work: Callable[[OpenStore, list[str]], Change]
    ) -> None:
        """Set or clear a flag by `work`, called with the store and ids."""
        store, ids = self._main.connect(), [conversation.id for conversation in conversations]
        change = await self._main.write(partial(work, store, ids))
        if len(conversations) == 1:
            changed = self._outermost(conversations[0], change.session_ids)
            change = _by_name(change, conversations[0], changed)
        self._changed(change, store.undo)

    def _outermost(self, conversation: Conversation, touched: Collection[str]) -> Conversation:
        """Return the outermost conversation that a flag was set on: as in Hermes, that of a subagent
        is set on the conversation it works for as well, if that was compressed."""
        above = self._main.catalog.of_session(conversation.parent_root_id or "")
        if above is None or set(touched).isdisjoint(above.session_ids):
            return conversation
        return self._outermost(self._main.details.complete(above), touched)

    def _changed(
        self, change: Changed, undo: Callable[[Changed], Changed], sentence: str = ""
    ) -> None:
        """Record a change, with another sentence than its own if one is given; `undo` takes it
        back."""
        if change.session_ids:
            done = sentence or change.sentence
            self.record(Undoable(done, lambda: undo(change).sentence, change.session_ids))
        else:
            self._main.say(_("nothing had to be changed"))

    # Titles and tags

    def rename(self) -> None:
        """Ask for another title of the current conversation, whatever is marked."""
        conversations = self._main.current_conversations
        if len(conversations) == 1:
            self._main.start_write(self._rename, conversations[0])
        elif conversations:
            self._main.say(_("a title is given to one conversation at a time"))
        else:
            self._main.say(_("no conversation here"))

    async def _rename(self, conversation: Conversation) -> None:
        """Ask for a title and store it; ask again if it was refused."""
        main, store = self._main, self._main.connect()
        typed = await main.ask(RenameCard(conversation))
        while typed is not None:
            # Another program may have continued it in a new part since the card opened.
            present = main.catalog.of_session(conversation.id) or conversation
            try:
                renamed = await main.write(partial(store.rename, present.id, typed))
            except BrowseError as error:
                if not main.has_keys(main):
                    raise
                typed = await main.ask(RenameCard(conversation, (typed, str(error))))
            else:
                self._changed(renamed, store.undo)
                return

    async def tag(self) -> None:
        """Ask for the tags of the targets; in the field are those that all of them have."""
        conversations = self.targets
        if not conversations:
            return
        common = set(conversations[0].tags).intersection(*(each.tags for each in conversations))
        about = formats.counted(len(conversations), "conversation")
        if len(conversations) == 1:
            about = one_line(formats.name(conversations[0]), _NAME_CELLS)
        tags = await self._ask_tags(_("Tags"), about, sorted(common))
        if tags is not None:
            ids = [conversation.id for conversation in conversations]
            lost = sorted(common.difference(tags))
            self._main.start_write(self._store_tags, lambda store: store.tag(ids, tags, lost))

    async def change_tag(self, choice: TagChoice) -> None:
        """Take a tag from all conversations, or ask for another name for it."""
        tag, name = choice.name, None
        if not choice.is_removed:
            names = await self._ask_tags(_("Rename the tag"), formats.hashtags([tag]), [tag])
            if not names:
                return
            name = "-".join(names)
        await self._store_tags(lambda store: store.rename_tag(tag, name))

    async def _ask_tags(self, title: str, about: str, typed: Sequence[str]) -> list[str] | None:
        known = tags_of(self._main.catalog.conversations())
        return await self._main.ask(TagCard(title, about, typed, known))

    async def _store_tags(self, work: Callable[[OpenStore], TagChange]) -> None:
        store = self._main.connect()
        done = await self._main.write(partial(work, store))
        self._changed(done, store.undo_tags)

    # Plans: delete, and archive several

    async def delete(self) -> None:
        """Ask, then move the targets to the trash; protected ones are spared."""
        if conversations := self.targets:
            self._main.say(_("making the plan …"))
            planned = await self._main.read(planning(self._main, _selection(conversations)))
            await self.delete_planned(planned, self._main)

    async def delete_planned(self, planned: PreparedPlan, over: Screen[Any]) -> None:
        """Ask over a screen, then delete by a plan."""
        main = self._main
        if not planned.plan.selected:
            main.say(protected(main, planned.plan))
            return
        card = await main.read(partial(card_of, planned=planned, location=main.location))
        main.say("")
        if await main.ask(card, over):
            main.start_write(self._delete, planned.plan)
        else:
            main.say(_("nothing was deleted"))

    async def _delete(self, plan: Plan) -> None:
        main, store, count = self._main, self._main.connect(), len(plan.selected)
        messages = sum(each.messages for each in plan.selected)
        title = ngettext(
            "Moving 1 conversation to the trash",
            "Moving {count:,} conversations to the trash",
            count,
        )

        def delete(tell: Tell, stopped: Stopped) -> CleanedUp:
            return store.delete_planned(
                plan, tell=lambda step: tell(step.share, step.words), stopped=stopped
            )

        is_long = count > _FEW_CONVERSATIONS
        cleaned = await write_in_sight(main, title, messages, delete, is_long=is_long)
        deleted = cleaned.deleted
        sentence = spared_words(plan, cleaned, _("moved to the trash"))
        sentence = formats.joined(sentence, *cleaned.notes[:1])
        if deleted is not None:
            undo = partial(restore_deleted, main, deleted)
            touched = *deleted.bundle.sessions, *deleted.reparented
            self.record(Undoable(sentence, undo, touched))
        if cleaned.error is not None:
            main.failed(cleaned.error)
        elif deleted is None:
            main.say(sentence)

    def archive_planned(self, planned: PreparedPlan) -> None:
        """Archive the conversations of a plan; u undoes it."""
        self._main.start_write(self._archive_planned, planned)

    async def _archive_planned(self, planned: PreparedPlan) -> None:
        main = self._main
        if not planned.plan.selected:
            main.say(protected(main, planned.plan))
            return
        store = main.connect()
        plan = planned.plan
        change = await main.write(partial(store.archive_planned, plan))
        cleaned = archived_of(plan, change.session_ids)
        self._changed(change, store.undo, spared_words(plan, cleaned, _("archived")))


def _selection(conversations: Sequence[Conversation]) -> Selection:
    return Selection(marks=frozenset(conversation.id for conversation in conversations))


def _by_name(change: Change, asked: Conversation, changed: Conversation) -> Change:
    """Name in the sentence the conversation that was changed, as its row does: the store names the
    session it was asked for, by its title or else its id."""
    known = changed.title or changed.preview
    if not known:
        return change
    title = asked.tip.title
    old = f"“{one_line(title, _NAME_CELLS)}”" if title else asked.id
    name = f"“{one_line(known, _NAME_CELLS)}”"
    return change._replace(sentence=change.sentence.replace(old, name))
