"""The cards of tags: which tags conversations have, and another name for one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.suggester import Suggester
from textual.widgets import Input, Static

from hermes_browse.store.errors import RefusedError
from hermes_browse.store.notes.tagging import TagCount, clean_tag
from hermes_browse.store.wording import _

from ...settings.keys.screen_commands import TAGGING
from ...text import formats
from ...widgets.card import Card, keys_line
from ...widgets.text_box import TextBox

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
        """Take the completion of the last word."""
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
