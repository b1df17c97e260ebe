"""The help: keys by task, signs and words, of what is on the screen; made from the tables and the user's keymap."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import ActiveBinding
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.events import Key, Resize
from textual.screen import Screen
from textual.widgets import Input, Static

from hermes_browse.store.search import help_lines
from hermes_browse.store.wording import N_, _

from ..bindings import working
from ..commands import Command
from ..commands.panes import TRANSCRIPT
from ..commands.screens import HELP
from ..formats import fit
from ..shared.glyphs import LEGENDS
from ..shared.styled import Line, line_width, wrap_spans
from ..shared.text_box import TextBox
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
_COLUMN = 48
"""Cells of a column of the help, at least."""
_GAP = 3
"""Cells between columns."""
_KEYS = 13, 18
"""Cells for keys and examples, at least and at most; signs take as many as they are wide."""


class Section(NamedTuple):
    """Rows of the help under a title."""

    title: str
    rows: tuple[tuple[str, str], ...]
    """Keys, a sign or an example, and what it means."""
    is_signs: bool = False

    def narrowed(self, text: str) -> Section:
        """The rows that have each of the words; all rows, where the title has them.

        Args:
            text: What was typed; a single character is a key or a sign first.
        """
        words = text.casefold().split()
        if not words or all(word in self.title.casefold() for word in words):
            return self
        return self._replace(rows=tuple(row for row in self.rows if _has(row, words)))

    def of_key(self, key: str) -> Section:
        """The rows of a key, or of a sign."""
        return self._replace(rows=tuple(row for row in self.rows if key in row[0].split()))

    def lines(self, width: int) -> list[Line]:
        """The section, exactly as wide as a column."""
        keys = max(line_width([(row[0], "")]) for row in self.rows)
        if not self.is_signs:
            keys = min(max(keys, _KEYS[0]), _KEYS[1], width // 3)
        lines: list[Line] = [[(fit(self.title, width), "bold $accent")]]
        for name, meaning in self.rows:
            left = wrap_spans([(name, "bold")], keys)
            right = wrap_spans([(meaning, "")], width - keys - 2)
            for number in range(max(len(left), len(right))):
                before = left[number] if number < len(left) else []
                behind = right[number] if number < len(right) else []
                line = [*before, (" " * (keys - line_width(before) + 2), ""), *behind]
                lines.append([*line, (" " * (width - line_width(line)), "")])
        return [*lines, [(" " * width, "")]]


def _has(row: tuple[str, str], words: Sequence[str]) -> bool:
    text = " ".join(row).casefold()
    return all(word in text for word in words)


def _sentence(text: str) -> str:
    """With a capital, where the language has them."""
    return text[:1].upper() + text[1:]


def _in_words(examples: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Examples and what they mean, translated."""
    return tuple((_(example), _(meaning)) for example, meaning in examples)


def _by_task(commands: Iterable[Command], active: Mapping[str, ActiveBinding] | None, otherwise: str) -> list[Section]:
    """Keys that work, by what they are for.

    Args:
        commands: Tables, in the order of the help.
        active: What keys do now; None for the keys that commands have by default.
        otherwise: The title of commands without a task.
    """
    sections: dict[str, list[tuple[str, str]]] = {}
    for keys, command in working(commands, active):
        sections.setdefault(_(command.task) if command.task else otherwise, []).append(
            (keys, _sentence(_(command.help)))
        )
    return [Section(title, tuple(rows)) for title, rows in sections.items()]


def _signs(place: str) -> list[Section]:
    """What the signs of a screen mean."""
    found: dict[str, list[tuple[str, str]]] = {}
    for each in LEGENDS:
        if each.place == place:
            found.setdefault(_(each.title), []).extend(_in_words(each.signs))
    return [Section(title, tuple(rows), is_signs=True) for title, rows in found.items()]


def side_by_side(sections: Sequence[Section], width: int) -> list[Line]:
    """Sections in as many columns as there is room for, each whole, the longest column as short as can be.

    Args:
        sections: In their order.
        width: Cells.
    """
    count = max(1, min(len(sections), (width + _GAP) // (_COLUMN + _GAP), 3))
    room = (width - _GAP * (count - 1)) // count
    blocks = [each.lines(room) for each in sections]
    cuts = min(
        combinations(range(1, len(blocks)), count - 1),
        key=lambda cuts: max(sum(map(len, blocks[a:b])) for a, b in zip((0, *cuts), (*cuts, len(blocks)), strict=True)),
    )
    columns = [
        [line for block in blocks[a:b] for line in block] for a, b in zip((0, *cuts), (*cuts, len(blocks)), strict=True)
    ]
    blank: Line = [(" " * room, "")]
    lines: list[Line] = []
    for number in range(max(map(len, columns))):
        line: Line = []
        for column in columns:
            line += [*([(" " * _GAP, "")] if line else []), *(column[number] if number < len(column) else blank)]
        lines.append(line)
    return lines


class HelpScreen(Card[None]):
    """Keys by task, signs, and the words of searches and rules; narrowed by what is typed.

    Args:
        helped: The screen below, with the pane that has its keys.
        commands: All that can be done there, in the order of the help.
        place: The screen, by the name of its table of commands.
        title: What commands without a task stand under.
        examples: A title, and words of its own with what they mean.
    """

    KEYS = HELP
    AUTO_FOCUS = ""

    def __init__(
        self,
        helped: Screen[object],
        commands: Sequence[Command],
        *,
        place: str = "main",
        title: str = "",
        examples: tuple[str, Sequence[tuple[str, str]]] = (N_("Search"), QUERY_HELP),
    ) -> None:
        super().__init__()
        self._sections = _by_task(commands, helped.active_bindings, _(title) if title else "")
        self._elsewhere: list[Section] = []
        if place == "main":
            here = {row for section in self._sections for row in section.rows}
            there = [row for each in _by_task(TRANSCRIPT, None, "") for row in each.rows if row not in here]
            self._elsewhere = [Section(_("In the transcript (Tab)"), tuple(there))] if there else []
        words = [Section(_(examples[0]), _in_words(examples[1]))] if examples[1] else []
        self._sections += [*words, *_signs(place)] if place != "main" else [*_signs(place), *words]

    def compose(self) -> ComposeResult:
        """The filter, everything in one scroll, keys."""
        with Vertical(id="card"):
            yield TextBox(placeholder=_("type to filter: a word, or a key"), id="filter", select_on_focus=False)
            with VerticalScroll(id="help", can_focus=False):
                yield Static(id="told")
            yield keys_line(self.told_keys())

    def on_resize(self, event: Resize) -> None:
        """As many columns as there is room for."""
        self.call_after_refresh(self._show)

    @on(Input.Changed)
    def typed(self, event: Input.Changed) -> None:
        """Narrow what is listed."""
        event.stop()
        self._show()
        self.action_to(0)

    @on(Input.Submitted)
    def submitted(self, event: Input.Submitted) -> None:
        """Enter: keys move again in what is listed."""
        event.stop()
        self.set_focus(None)

    def on_key(self, event: Key) -> None:
        """A letter that is no key here begins the filter, or goes on with it."""
        if event.character and event.is_printable and self.focused is None and event.key not in self.active_bindings:
            event.stop()
            self.action_filter()
            self._box.insert_text_at_cursor(event.character)

    @property
    def _box(self) -> Input:
        return self.query_one("#filter", Input)

    def _show(self) -> None:
        if not self.is_attached:
            return
        text, every = self._box.value.strip(), [*self._sections, *self._elsewhere]
        shown = [each for each in map(lambda each: each.of_key(text), every) if each.rows] if len(text) == 1 else []
        shown = shown or [each for each in (each.narrowed(text) for each in every) if each.rows]
        if not text:
            shown = self._sections
        width = max(self._page.scrollable_content_region.width - 1, 20)
        none = _("Nothing here is called “{text}”. Esc shows everything.")
        lines = side_by_side(shown, width) if shown else wrap_spans([(none.format(text=text), "dim")], width)
        content = Content("\n").join(Content.assemble(*line) for line in lines)
        self.query_one("#told", Static).update(content)

    @property
    def _page(self) -> VerticalScroll:
        return self.query_one("#help", VerticalScroll)

    def action_filter(self) -> None:
        """Type into the filter."""
        self.set_focus(self._box)
        self._box.cursor_position = len(self._box.value)

    def action_back(self) -> None:
        """Show everything again; if everything is shown, leave."""
        if self._box.value:
            self._box.value = ""
        elif self.focused is None:
            self.dismiss(None)
        self.set_focus(None)

    def action_scroll(self, lines: int) -> None:
        """Scroll by lines."""
        self._page.scroll_relative(y=lines, animate=False)

    def action_page(self, pages: float) -> None:
        """Scroll by pages."""
        self.action_scroll(int(pages * max(self._page.size.height - 2, 1)))

    def action_to(self, end: int) -> None:
        """To the first line, or the last."""
        self._page.scroll_to(y=end * self._page.max_scroll_y, animate=False)
