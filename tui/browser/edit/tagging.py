"""Tags of conversations: the cards that ask for them, and their undo."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.suggester import Suggester
from textual.widgets import Input, Static

from hermes_browse.store.api import OpenStore
from hermes_browse.store.errors import RefusedError
from hermes_browse.store.notes.tagging import TagChange, TagCount, clean_tag, tags_of
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

from ...settings.keys.screen_commands import TAGGING
from ...text import formats
from ...widgets.card import Card, keys_line
from ...widgets.lines import TextBox
from .marking import Marking, Undoable, Undone

NAME_CELLS = 60
"""Cells of the name of a conversation in a sentence."""


_SHOWN = 30
"""Tags that the card names, the most used first."""


class _LastTag(Suggester):
    """Completes the last word to a known tag, the most used first."""

    def __init__(self, known: Sequence[TagCount]) -> None:
        super().__init__(use_cache=False)
        self._known = known

    async def get_suggestion(self, value: str) -> str | None:
        """Return the text with its last word completed; None if no tag begins like it."""
        before, _space, word = value.rpartition(" ")
        typed = word.lstrip("#")
        fitting = (each.name for each in self._known if typed and each.name.startswith(typed))
        tag = next(fitting, None)
        return f"{before} {tag}".lstrip() if tag is not None else None


class TagCard(Card[None]):
    """Asks for the tags of conversations, or for the name of one tag; a refused text can be edited.

    Args:
        title: What is asked.
        about: Of what, printable.
        typed: What is in the field at first.
        known: All tags, which the field completes.
        submit: Called with the tags.
    """

    KEYS = TAGGING

    def __init__(
        self,
        title: str,
        about: str,
        typed: Sequence[str],
        known: Sequence[TagCount],
        submit: Callable[[list[str]], None],
    ) -> None:
        super().__init__()
        self._title, self._about, self._submit = title, about, submit
        self._typed, self._known = typed, known

    def compose(self) -> ComposeResult:
        with Vertical(id="card"):
            yield Static(Content.assemble((f"{self._title}  ", "bold"), (self._about, "dim")))
            yield TextBox(
                "".join(f"{tag} " for tag in self._typed),
                id="tags-box",
                suggester=_LastTag(self._known),
                select_on_focus=False,
            )
            yield Static(self._known_line(), id="verdict")
            yield keys_line(self.keys_text(_("Enter store")))

    def _known_line(self) -> Content:
        if not self._known:
            return Content.styled(_("tags are words with spaces between; none yet"), "dim")
        most_used = self._known[:_SHOWN]
        names = [f"{formats.hashtags([each.name])} {each.conversations:,}" for each in most_used]
        return Content.styled("  ".join(names), "dim")

    def action_complete(self) -> None:
        box = self.query_one(Input)
        if box.value and not box.value.endswith(" "):
            box.action_cursor_right()
            box.insert_text_at_cursor(" ")

    @on(Input.Submitted)
    def submitted(self, event: Input.Submitted) -> None:
        """Hand over the tags, unless one of them is none."""
        try:
            tags = [clean_tag(word) for word in event.value.split()]
        except RefusedError as error:
            self.query_one("#verdict", Static).update(Content.styled(str(error), "$error"))
            return
        self.dismiss(None)
        self._submit(tags)


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
