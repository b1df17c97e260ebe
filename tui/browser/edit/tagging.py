"""Tags of conversations: the cards that ask for them, and their undo."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hermes_browse.store.api import OpenStore
from hermes_browse.store.notes.tagging import TagChange, tags_of
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

from ...text import formats
from .marking import Marking
from .tag_cards import TagCard
from .undo import Undoable, Undone

NAME_CELLS = 60
"""Cells of the name of a conversation in a sentence."""


class Tagging(Marking):
    """Sets and renames tags."""

    def tag(self) -> None:
        """Ask for the tags of the targets; in the field are those that all of them have."""
        main, conversations = self._main, self.targets
        if not conversations:
            return
        common = set(conversations[0].tags).intersection(*(each.tags for each in conversations))
        about = formats.counted(len(conversations), "conversation")
        if len(conversations) == 1:
            about = one_line(formats.name(conversations[0]), NAME_CELLS)

        def submit(tags: list[str]) -> None:
            ids = [conversation.id for conversation in conversations]
            self.change_tags(OpenStore.tag, ids, tags, sorted(common.difference(tags)))

        known = tags_of(main.catalog.chains())
        main.app.push_screen(TagCard(_("Tags"), about, sorted(common), known, submit))

    def rename_tag(self, tag: str) -> None:
        """Ask for another name of a tag."""

        def submit(names: list[str]) -> None:
            if names:
                self.change_tags(OpenStore.rename_tag, tag, "-".join(names))

        known = tags_of(self._main.catalog.chains())
        about = formats.hashtags([tag])
        self._main.app.push_screen(TagCard(_("Rename the tag"), about, [tag], known, submit))

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
