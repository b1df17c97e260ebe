"""A card of kept searches, tags and earlier searches, filtered by typing."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from hermes_browse.store.notes.tagging import tags_of
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

from ...settings.keys.screen_commands import SEARCHES
from ...widgets.card import Card, keys_line
from ...widgets.lines import TextBox
from .history import QueryHistory


class TagChoice(NamedTuple):
    """What to do with a tag that was chosen on the card."""

    name: str
    is_removed: bool
    """Else it gets another name."""


class SearchesCard(Card[str | TagChoice | None]):
    """Returns the search chosen, or a tag to rename or remove, or None.

    Args:
        history: Kept and earlier searches.
        catalog: Each of its tags is a search for the conversations that have it.
    """

    AUTO_FOCUS = "#narrow"
    KEYS = SEARCHES

    def __init__(self, history: QueryHistory, catalog: Catalog) -> None:
        super().__init__()
        self._history = history
        self._tags = {f"tag:{each.name}": each for each in tags_of(catalog.chains())}
        self._shown: list[str] = []

    def compose(self) -> ComposeResult:
        with Vertical(id="card"):
            yield TextBox(placeholder=_("searches: type to narrow"), id="narrow", compact=True)
            yield OptionList(id="searches", markup=False)
            yield keys_line(self.keys_text(_("Enter take")))

    def on_mount(self) -> None:
        self._fill("")

    @property
    def _list(self) -> OptionList:
        return self.query_one("#searches", OptionList)

    def _fill(self, narrow: str, at: int = 0) -> None:
        kept, past = self._history.kept, self._history.past
        every = list(dict.fromkeys([*kept, *self._tags, *past]))
        words = narrow.casefold().split()
        self._shown = [each for each in every if all(word in each.casefold() for word in words)]
        rows = [Option(self._line(each)) for each in self._shown]
        if not rows:
            none = _("no searches yet: Enter in the search box remembers one")
            rows = [Option(Content(_("no search matches") if every else none), disabled=True)]
        self._list.clear_options()
        self._list.add_options(rows)
        self._list.highlighted = min(at, len(self._shown) - 1) if self._shown else None

    def _line(self, search: str) -> Content:
        text = one_line(search, 300)
        if search in self._history.kept:
            return Content(f"★ {text}")
        if search not in self._tags:
            return Content(f"  {text}")
        return Content.assemble(f"# {text}", (f"  {self._tags[search].conversations:,}", "dim"))

    @property
    def _current(self) -> str | None:
        index = self._list.highlighted
        return self._shown[index] if index is not None and index < len(self._shown) else None

    @on(Input.Changed, "#narrow")
    def narrowed(self, event: Input.Changed) -> None:
        self._fill(event.value)

    @on(Input.Submitted, "#narrow")
    def submitted(self) -> None:
        if self._current is not None:
            self.dismiss(self._current)

    @on(OptionList.OptionSelected)
    def selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._shown[event.option_index])

    def action_move(self, key: str) -> None:
        """Move the cursor; the filter keeps the focus."""
        if key == "down":
            self._list.action_cursor_down()
        else:
            self._list.action_cursor_up()

    def _change(self, change: Callable[[str], object]) -> None:
        if self._current is not None:
            index = self._list.highlighted or 0
            change(self._current)
            self._fill(self.query_one("#narrow", Input).value, index)

    def action_keep(self) -> None:
        self._change(self._history.keep)

    def action_forget(self) -> None:
        """Remove the search from the history, or the tag from all conversations."""
        if self._current in self._tags:
            self.dismiss(TagChoice(self._tags[self._current].name, is_removed=True))
        else:
            self._change(self._history.forget)

    def action_rename(self) -> None:
        if self._current in self._tags:
            self.dismiss(TagChoice(self._tags[self._current].name, is_removed=False))
