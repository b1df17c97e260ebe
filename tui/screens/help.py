"""The help, made from the tables of commands and the user's keymap."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Protocol

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from hermes_browse.store.search import help_lines
from hermes_browse.store.wording import N_, _

from ..bindings import help_rows
from ..commands import Command
from ..commands.panes import LIST, MAIN, TRANSCRIPT
from ..commands.screens import HELP
from ..shared.key_names import key_names
from .card import Card, keys_line

QUERY_HELP = (
    (N_("word word"), N_("both, anywhere in a message; punctuation is literal: don't .env src/main.py 50%")),
    (N_('"a phrase"'), N_("these words in this order")),
    (N_("one OR two"), N_("either; OR in capitals")),
    (N_("-word, NOT word"), N_("without")),
    ("pre*", N_("words that begin so")),
    (N_("*part*"), N_("words with this anywhere in them")),
    *help_lines(),
    (N_("Tab or →"), N_("takes what is offered behind the cursor; ↑ brings back earlier searches")),
)


def _list_commands(enter: str) -> list[Command]:
    """The keys of a list, with what Enter does there; without Enter where it does nothing."""
    others = [each for each in LIST if each.call != "select"]
    return [*others, *(each._replace(title=enter, tooltip="") for each in LIST if each.call == "select" and enter)]


def _in_words(examples: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Examples and what they mean, translated."""
    return [(_(example), _(meaning)) for example, meaning in examples]


def _table(rows: Iterable[tuple[str, str]]) -> Table:
    """Keys beside what they do, each wrapped in a column of its own."""
    table = Table.grid(padding=(0, 2, 0, 0), expand=True)
    table.add_column(ratio=2, style="bold")
    table.add_column(ratio=5, style="dim")
    for keys, text in rows:
        table.add_row(Text(keys), Text(text))
    return table


class Helped(Protocol):
    """A screen behind the main one, as the help sees it."""

    HELP_TITLE: ClassVar[str]
    KEYS: ClassVar[tuple[Command, ...]]
    ENTER: ClassVar[str]
    EXAMPLES: ClassVar[tuple[tuple[str, str], ...]]
    EXAMPLES_TITLE: ClassVar[str]


class HelpScreen(Card[None]):
    """All keys by pane, and the query language."""

    KEYS = HELP

    def __init__(self, screen: Helped | None = None) -> None:
        super().__init__()
        self._screen_helped = screen

    def _sections(self) -> Sequence[tuple[str, Sequence[tuple[str, str]]]]:
        other = self._screen_helped
        keymap = getattr(self.app, "keymap", {})
        palette = key_names(keymap.get("palette", "ctrl+p"))
        if other is not None:
            keys = [(_(other.HELP_TITLE), help_rows(other.KEYS, keymap))]
            lists = [(_("Lists"), help_rows(_list_commands(other.ENTER), keymap))]
            examples = [(_(other.EXAMPLES_TITLE), _in_words(other.EXAMPLES))] if other.EXAMPLES else []
            return [*keys, *examples, *lists]
        return (
            (
                _("Everywhere"),
                [*help_rows(MAIN, keymap), (palette, _("Command palette: every command by name, themes"))],
            ),
            (_("List and lineage"), help_rows(LIST, keymap)),
            (_("Transcript"), help_rows(TRANSCRIPT, keymap)),
            (_("Search"), _in_words(QUERY_HELP)),
        )

    def compose(self) -> ComposeResult:
        """Tables in one scroll."""
        sections = self._sections()
        with Vertical(id="card"):
            with VerticalScroll(id="help", can_focus=False):
                for title, rows in sections:
                    yield Static(Content.styled(title, "bold $accent"), classes="section")
                    yield Static(_table(rows))
            yield keys_line(self.told_keys())

    @property
    def _page(self) -> VerticalScroll:
        return self.query_one("#help", VerticalScroll)

    def action_scroll(self, lines: int) -> None:
        """Scroll by lines."""
        self._page.scroll_relative(y=lines, animate=False)

    def action_page(self, pages: float) -> None:
        """Scroll by pages."""
        self.action_scroll(int(pages * max(self._page.size.height - 2, 1)))

    def action_to(self, end: int) -> None:
        """To the first line, or the last."""
        self._page.scroll_to(y=end * self._page.max_scroll_y, animate=False)
