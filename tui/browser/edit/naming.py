"""Cards on names: they ask for a title or for tags, and list kept searches, tags and earlier
searches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.suggester import Suggester
from textual.widgets import Input, Static
from textual.widgets.option_list import Option

from hermes_browse.store.edit.titles import LONGEST_TITLE, check_title
from hermes_browse.store.errors import RefusedError
from hermes_browse.store.notes.tagging import TagCount, clean_tag, tags_of
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _

from ...settings.keys.screen_commands import RENAMING, SEARCHES, TAGGING
from ...text import formats
from ...widgets.card import Card, NarrowCard
from ...widgets.lines import TextBox
from ..search.query_line import QueryHistory

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
        checked = check_title(typed)
        if checked.problem:
            return Content.styled(checked.problem, "$error")
        if checked.title is None:
            return Content.styled(_("no title: Hermes will show how it begins"), "dim")
        count = _("{count} of {limit}", count=checked.length, limit=LONGEST_TITLE)
        if checked.differs:
            return Content.assemble(
                (f"{count} · " + _("stored as "), "dim"), one_line(checked.title)
            )
        return Content.styled(count, "dim")

    @on(Input.Changed)
    def typed(self, event: Input.Changed) -> None:
        self.show(self.verdict(event.value))

    @on(Input.Submitted)
    def submitted(self, event: Input.Submitted) -> None:
        if not check_title(event.value).problem:
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


class TagChoice(NamedTuple):
    """What to do with a tag that was chosen on the card."""

    name: str
    is_removed: bool
    """Else it gets another name."""


class SearchesCard(NarrowCard[TagChoice]):
    """Returns the search chosen, or a tag to rename or remove, or None.

    Args:
        history: Kept and earlier searches.
        catalog: Each of its tags is a search for the conversations that have it.
    """

    ENTER = N_("Enter take")
    KEYS = SEARCHES
    PROMPT = N_("searches: type to narrow")

    def __init__(self, history: QueryHistory, catalog: Catalog) -> None:
        super().__init__()
        self._history = history
        self._tags = {f"tag:{each.name}": each for each in tags_of(catalog.chains())}

    def fill(self, typed: str, at: int = 0) -> None:
        kept, past = self._history.kept, self._history.past
        every = list(dict.fromkeys([*kept, *self._tags, *past]))
        words = typed.casefold().split()
        shown = [each for each in every if all(word in each.casefold() for word in words)]
        rows = [Option(self._line(each, is_kept=each in kept), id=each) for each in shown]
        if not rows:
            none = _("no searches yet: Enter in the search box remembers one")
            rows = [Option(Content(_("no search matches") if every else none), disabled=True)]
        self.show(rows, min(at, len(shown) - 1) if shown else None)

    def _line(self, search: str, *, is_kept: bool) -> Content:
        text = one_line(search, 300)
        if is_kept:
            return Content(f"★ {text}")
        if search not in self._tags:
            return Content(f"  {text}")
        return Content.assemble(f"# {text}", (f"  {self._tags[search].conversations:,}", "dim"))

    def _change(self, change: Callable[[str], object]) -> None:
        if self.current is not None:
            at = self.options.highlighted or 0
            change(self.current)
            self.fill(self.query_one(Input).value, at)

    def action_keep(self) -> None:
        self._change(self._history.keep)

    def action_forget(self) -> None:
        """Remove the search from the history, or the tag from all conversations."""
        if self.current in self._tags:
            self.dismiss(TagChoice(self._tags[self.current].name, is_removed=True))
        else:
            self._change(self._history.forget)

    def action_rename(self) -> None:
        if self.current in self._tags:
            self.dismiss(TagChoice(self._tags[self.current].name, is_removed=False))
