"""Help from the bindings themselves, so that it is never wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from hermes_browse.store.wording import N_, _

from ..key_names import key_names
from ..list.conversation_list import ConversationList
from ..transcript.view import TranscriptView
from .bindings import MAIN_BINDINGS
from .card import Card, keys_line
from .sub_screen import SubScreen

QUERY_HELP = (
    (N_("word word"), N_("both, anywhere in a message; punctuation is literal: don't .env src/main.py 50%")),
    (N_('"a phrase"'), N_("these words in this order")),
    (N_("one OR two"), N_("either; OR in capitals")),
    (N_("-word, NOT word"), N_("without")),
    ("pre*", N_("words that begin so")),
    (N_("*part*"), N_("words with this anywhere in them")),
    ("source:cli role:user tool:terminal", N_("where, who, with which tool")),  # not shown otherwise: it is typed so
    ("file:src/auth.py", N_("conversations that edited this file, then those that mention it")),
    ("in:reasoning", N_("look in reasoning instead: it is in no index, so this scans")),
    ("title:x id:x cwd:x model:x", N_("of the conversation")),
    ("after:3d before:2026-03 on:mon", N_("when; also today, yesterday, 2w, 2026-03-05")),
    (
        "is:live is:archived -is:rewound …",  # not shown otherwise
        N_(
            "live open stale (open, silent for a day) ended empty "
            "archived pinned hidden chat automation subagent branch; compacted or rewound (taken back) messages"
        ),
    ),
    ("has:image has:error has:code", N_("also has:tool has:branch has:subagent")),  # not shown otherwise
    ("cost>1 msgs>100 tokens>1m", N_("size of the conversation")),
    (N_("Tab or →"), N_("takes what is offered behind the cursor; ↑ brings back earlier searches")),
)


def binding_rows(bindings: Iterable[BindingType], keymap: Mapping[str, str] | None = None) -> list[tuple[str, str]]:
    """Keys and what they do; keys of one action together.

    Args:
        bindings: As they are written down.
        keymap: Keys of the user's own, by the id of a binding.
    """
    rows: dict[str, tuple[list[str], str]] = {}
    for binding in bindings:
        if isinstance(binding, Binding):
            text = _(binding.tooltip or binding.description)
            keys = (keymap or {}).get(binding.id or "", binding.key)
            rows.setdefault(binding.action, ([], text))[0].append(key_names(keys))
    return [(" ".join(keys), text) for keys, text in rows.values()]


def _list_keys(enter: str) -> list[BindingType]:
    """Keys of a list on a screen where Enter does something of its own, or nothing."""
    keys: list[BindingType] = []
    for each in ConversationList.BINDINGS:
        if not isinstance(each, Binding) or each.action != "select":
            keys.append(each)
        elif enter:
            keys.append(replace(each, description=enter))
    return keys


def _in_words(examples: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Examples and what they mean; those without words of a language are the same in all of them."""
    return [(_(example), _(meaning)) for example, meaning in examples]


def _table(rows: Iterable[tuple[str, str]]) -> Table:
    """Keys beside what they do, each wrapped in a column of its own."""
    table = Table.grid(padding=(0, 2, 0, 0), expand=True)
    table.add_column(ratio=2, style="bold")
    table.add_column(ratio=5, style="dim")
    for keys, text in rows:
        table.add_row(Text(keys), Text(text))
    return table


class HelpScreen(Card[None]):
    """All keys by pane, and the query language."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark", "dismiss", N_("back")),
        Binding("down,j", "scroll(1)", N_("down"), show=False),
        Binding("up,k", "scroll(-1)", N_("up"), show=False),
        Binding("pagedown,space,ctrl+f", "page(1)", N_("page down"), show=False),
        Binding("pageup,ctrl+b", "page(-1)", N_("page up"), show=False),
        Binding("ctrl+d", "page(0.5)", N_("half a page down"), show=False),
        Binding("ctrl+u", "page(-0.5)", N_("half a page up"), show=False),
        Binding("home,g", "to(0)", N_("start"), show=False),
        Binding("end,G", "to(1)", N_("end"), show=False),
    ]

    def __init__(self, screen: SubScreen | None = None) -> None:
        super().__init__()
        self._screen_helped = screen

    def _sections(self) -> Sequence[tuple[str, Sequence[tuple[str, str]]]]:
        other = self._screen_helped
        keymap = getattr(self.app, "keymap", {})
        palette = key_names(keymap.get("palette", "ctrl+p"))
        if other is not None:
            keys = [(_(other.HELP_TITLE), binding_rows(other.BINDINGS, keymap))]
            lists = [(_("Lists"), binding_rows(_list_keys(other.ENTER), keymap))]
            examples = [(_(other.EXAMPLES_TITLE), _in_words(other.EXAMPLES))] if other.EXAMPLES else []
            return [*keys, *examples, *lists]
        return (
            (
                _("Everywhere"),
                [*binding_rows(MAIN_BINDINGS, keymap), (palette, _("Command palette: every command by name, themes"))],
            ),
            (_("List and lineage"), binding_rows(ConversationList.BINDINGS, keymap)),
            (_("Transcript"), binding_rows(TranscriptView.BINDINGS, keymap)),
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
