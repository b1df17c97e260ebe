"""Cards that ask for one of several choices, narrowed down by typing: commands, themes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from hermes_browse.store.wording import _

from ..settings.keys.screen_commands import CHOICES
from ..text.formats import fit
from ..widgets.card import Card, keys_line
from ..widgets.text_box import TextBox


class Choice(NamedTuple):
    """One line of the card; its texts are printable."""

    value: str
    """What the card returns."""
    title: str
    keys: str = ""
    note: str = ""
    group: str = ""
    """The heading above it."""

    def rank(self, words: str) -> int | None:
        """Return how well it matches what was typed, casefolded: 0 is best; None for not at all."""
        title = self.title.casefold()
        if title.startswith(words):
            return 0
        if words in title:
            return 1
        whole = f"{title} {self.note.casefold()} {self.group.casefold()}"
        return 2 if all(word in whole for word in words.split()) else None


class ChoiceCard(Card[str | None]):
    """Returns the value chosen, or None.

    Args:
        prompt: Stands in the empty field.
        current: The value under the cursor at first.
    """

    AUTO_FOCUS = "#narrow"
    KEYS = CHOICES

    def __init__(self, prompt: str, choices: Sequence[Choice], current: str = "") -> None:
        super().__init__()
        self._prompt, self._choices, self._first = prompt, choices, current

    def compose(self) -> ComposeResult:
        with Vertical(id="card"):
            yield TextBox(placeholder=self._prompt, id="narrow", compact=True)
            yield OptionList(id="choices", markup=False)
            yield keys_line(self.keys_text(_("Enter choose")))

    def on_mount(self) -> None:
        self._fill("")

    @property
    def _list(self) -> OptionList:
        return self.query_one("#choices", OptionList)

    def _fill(self, typed: str) -> None:
        """List what matches: all choices below their headings, or the best ones first."""
        words = typed.strip().casefold()
        ranks = {choice: choice.rank(words) for choice in self._choices}
        found = [choice for choice in self._choices if ranks[choice] is not None]
        if words:
            found.sort(key=lambda choice: ranks[choice] or 0)
        options: list[Option] = []
        group = ""
        for choice in found:
            if choice.group != group and not words:
                group = choice.group
                options.append(Option(Content.styled(group, "bold"), disabled=True))
            options.append(Option(self._row(choice), id=choice.value))
        if not options:
            options.append(Option(_("nothing has this name"), disabled=True))
        self._list.clear_options()
        self._list.add_options(options)
        ids = [option.id for option in options]
        first = next((number for number, name in enumerate(ids) if name is not None), None)
        self._list.highlighted = ids.index(self._first) if self._first in ids else first

    def _row(self, choice: Choice) -> Content:
        titles, keys = (
            max(map(cell_len, texts))
            for texts in zip(*((each.title, each.keys) for each in self._choices), strict=True)
        )
        return Content.assemble(
            f"  {fit(choice.title, titles)}  ",
            (fit(choice.keys, keys), "$accent"),
            (f"  {choice.note}", "dim"),
        )

    @on(Input.Changed, "#narrow")
    def narrowed(self, event: Input.Changed) -> None:
        """List what matches."""
        self._fill(event.value)

    @on(OptionList.OptionSelected)
    def selected(self, event: OptionList.OptionSelected) -> None:
        """Return the choice."""
        self.dismiss(event.option_id)

    @on(Input.Submitted, "#narrow")
    def submitted(self) -> None:
        """Return the choice under the cursor."""
        self._list.action_select()

    def action_back(self) -> None:
        """Return nothing."""
        self.dismiss(None)

    def action_move(self, by: int) -> None:
        """Move the cursor; the field keeps the focus."""
        if by > 0:
            self._list.action_cursor_down()
        else:
            self._list.action_cursor_up()


class ThemeCard(ChoiceCard):
    """The themes: the one under the cursor is shown, and Esc brings the former one back."""

    @on(OptionList.OptionHighlighted)
    def highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show the theme."""
        if event.option_id is not None:
            self.app.theme = event.option_id

    def action_back(self) -> None:
        """Bring the former theme back."""
        self.app.theme = self._first
        super().action_back()
