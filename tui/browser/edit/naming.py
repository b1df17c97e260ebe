"""Cards that ask for a title or for tags."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.suggester import Suggester
from textual.widgets import Input, Static

from hermes_browse.store.edit.flags import LONGEST_TITLE, clean_title, why_no_title
from hermes_browse.store.errors import RefusedError
from hermes_browse.store.notes.tagging import TagCount, clean_tag
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _

from ...settings.keys.screen_commands import RENAMING, TAGGING
from ...text import formats
from ...widgets.card import Card
from ...widgets.lines import TextBox

Answer = TypeVar("Answer")
_SHOWN = 30
"""Tags that the card names, the most used first."""


class NamingCard(Card[Answer | None]):
    """Asks for a line of text, and says below it what would become of it.

    Args:
        title: What is asked.
        about: Of what, printable.
        typed: What is in the field at first.
    """

    def __init__(
        self, title: str, about: str, typed: str, suggester: Suggester | None = None
    ) -> None:
        super().__init__()
        self._title, self._about, self._typed = title, about, typed
        self._suggester = suggester

    def content(self) -> ComposeResult:
        yield Static(Content.assemble((f"{self._title}  ", "bold"), (self._about, "dim")))
        yield TextBox(self._typed, suggester=self._suggester, select_on_focus=False)
        yield Static(self.verdict(self._typed), id="verdict")

    def verdict(self, typed: str) -> Content:
        raise NotImplementedError

    def show(self, verdict: Content) -> None:
        self.query_one("#verdict", Static).update(verdict)


class RenameCard(NamingCard[str]):
    """Returns a title as it was typed.

    Args:
        conversation: The conversation.
        refused: What was typed before, and why it was not stored.
    """

    ENTER = N_("Enter rename")
    KEYS = RENAMING

    def __init__(self, conversation: Conversation, refused: tuple[str, str] | None = None) -> None:
        self.conversation, self._refused = conversation, refused
        typed = refused[0] if refused else one_line(conversation.title or "", LONGEST_TITLE)
        super().__init__(_("Rename"), one_line(formats.name(conversation), 200), typed)

    def verdict(self, typed: str) -> Content:
        """Return what would be stored, or why it would not be."""
        if self._refused is not None and typed == self._refused[0]:
            return Content.styled(one_line(self._refused[1], 1000), "$error")
        title = clean_title(typed)
        if problem := why_no_title(title):
            return Content.styled(problem, "$error")
        if not title:
            return Content.styled(_("no title: Hermes will show how it begins"), "dim")
        count = _("{count} of {limit}", count=len(title), limit=LONGEST_TITLE)
        if title != typed:
            return Content.assemble((f"{count} · " + _("stored as "), "dim"), one_line(title))
        return Content.styled(count, "dim")

    @on(Input.Changed)
    def typed(self, event: Input.Changed) -> None:
        self.show(self.verdict(event.value))

    @on(Input.Submitted)
    def submitted(self, event: Input.Submitted) -> None:
        if not why_no_title(clean_title(event.value)):
            self.dismiss(event.value)


class _LastTag(Suggester):
    """Completes the last word to a known tag, the most used first."""

    def __init__(self, known: Sequence[TagCount]) -> None:
        super().__init__(use_cache=False)
        self._known = known

    async def get_suggestion(self, value: str) -> str | None:
        """Return the text with its last word completed; None if no tag begins like it."""
        before, _space, word = value.rpartition(" ")
        if typed := word.lstrip("#"):
            for each in self._known:
                if each.name.startswith(typed):
                    return f"{before} {each.name}".lstrip()
        return None


class TagCard(NamingCard[list[str]]):
    """Returns tags.

    Args:
        title: What is asked.
        about: Of what, printable.
        typed: The tags in the field at first.
        known: All tags, which the field completes.
    """

    ENTER = N_("Enter store")
    KEYS = TAGGING

    def __init__(
        self, title: str, about: str, typed: Sequence[str], known: Sequence[TagCount]
    ) -> None:
        self._known = known
        super().__init__(title, about, "".join(f"{tag} " for tag in typed), _LastTag(known))

    def verdict(self, typed: str) -> Content:
        """Return the tags there are."""
        if not self._known:
            return Content.styled(_("tags are words with spaces between; none yet"), "dim")
        names = (
            f"{formats.hashtags([each.name])} {each.conversations:,}"
            for each in self._known[:_SHOWN]
        )
        return Content.styled("  ".join(names), "dim")

    def action_complete(self) -> None:
        box = self.query_one(Input)
        if box.value and not box.value.endswith(" "):
            box.action_cursor_right()
            box.insert_text_at_cursor(" ")

    @on(Input.Submitted)
    def submitted(self, event: Input.Submitted) -> None:
        try:
            self.dismiss([clean_tag(word) for word in event.value.split()])
        except RefusedError as error:
            self.show(Content.styled(str(error), "$error"))
