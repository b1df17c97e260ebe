"""A card of kept searches, tags and earlier searches, filtered by typing."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from textual.content import Content
from textual.widgets import Input
from textual.widgets.option_list import Option

from hermes_browse.store.notes.tagging import tags_of
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _

from ...settings.keys.screen_commands import SEARCHES
from ...widgets.card import NarrowCard
from .query_line import QueryHistory


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
