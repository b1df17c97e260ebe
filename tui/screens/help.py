"""The help of a screen: keys by task, signs, examples; built from the tables of commands and the
user's keymap."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.binding import ActiveBinding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.events import Key, Resize
from textual.getters import query_one
from textual.screen import Screen
from textual.widgets import Input, Static

from hermes_browse.store.search.filters import help_lines
from hermes_browse.store.wording import N_, _

from ..settings.keys import Command
from ..settings.keys.main_commands import NEEDED, TRANSCRIPT
from ..settings.keys.screen_commands import HELP
from ..text.formats import fit
from ..text.glyphs import LEGENDS
from ..text.styled import Line, line_text, wrap_spans
from ..widgets.bindings import with_keys
from ..widgets.card import Card
from ..widgets.lines import TextBox

QUERY_HELP = (
    (
        N_("word word"),
        N_("both, anywhere in a message; punctuation is literal: don't .env src/main.py 50%"),
    ),
    (N_('"a phrase"'), N_("these words in this order")),
    (N_("one OR two"), N_("either; OR in capitals")),
    (N_("-word, NOT word"), N_("without")),
    ("pre*", N_("words that begin so")),
    (N_("*part*"), N_("words with this anywhere in them")),
    *help_lines(),
    (N_("Tab or →"), N_("takes what is offered behind the cursor; ↑ brings back earlier searches")),
)
_COLUMN = 48
"""Minimum cells of a column of the help."""
_GAP = 3
"""Cells between columns."""
_KEYS = 13, 18
"""Minimum and maximum cells for keys and examples; signs take their own width."""


Row = tuple[str, str]
"""Keys, a sign or an example, and its meaning."""


class Section(NamedTuple):
    """A title and its rows."""

    title: str
    rows: tuple[Row, ...]
    is_signs: bool = False

    def narrowed(self, text: str) -> Section:
        """Keep the rows that have all words of `text`, or all rows if the title has them."""
        words = text.casefold().split()
        if not words or all(word in self.title.casefold() for word in words):
            return self
        texts = {row: " ".join(row).casefold() for row in self.rows}
        rows = (row for row, text in texts.items() if all(word in text for word in words))
        return self._replace(rows=tuple(rows))

    def of_key(self, key: str) -> Section:
        """Keep the rows of a key or sign."""
        return self._replace(rows=tuple(row for row in self.rows if key in row[0].split()))

    def lines(self, width: int) -> list[Line]:
        """Format the section in exactly `width` cells."""
        keys = max(cell_len(name) for name, _meaning in self.rows)
        if not self.is_signs:
            keys = min(max(keys, _KEYS[0]), _KEYS[1], width // 3)
        rest = width - keys - 2
        lines = [[(fit(self.title, width), "bold $accent")]]
        for name, meaning in self.rows:
            pairs = zip_longest(_wrapped(name, keys), _wrapped(meaning, rest), fillvalue="")
            lines += [[(fit(key, keys + 2), "bold"), (fit(text, rest), "")] for key, text in pairs]
        return [*lines, [(" " * width, "")]]


def _wrapped(text: str, width: int) -> list[str]:
    return list(map(line_text, wrap_spans([(text, "")], width)))


def _in_words(examples: Iterable[Row]) -> tuple[Row, ...]:
    """Translate examples and their meanings."""
    return tuple((_(example), _(meaning)) for example, meaning in examples)


def _by_task(
    commands: Iterable[Command], active: Mapping[str, ActiveBinding] | None, otherwise: str
) -> list[Section]:
    """Group the keys that work by task, those that everybody needs first; `otherwise` is the title
    of commands without a task."""
    rows = defaultdict[str, list[Row]](list)
    needed = {name: number for number, name in enumerate(NEEDED)}
    every = with_keys(commands, active)
    for keys, command in sorted(every, key=lambda each: needed.get(each[1].id, len(needed))):
        title = _("To begin with") if command.id in NEEDED else _(command.task) or otherwise
        meaning = _(command.help)
        rows[title].append((keys, meaning[:1].upper() + meaning[1:]))
    return [Section(title, tuple(of_task)) for title, of_task in rows.items()]


def _signs(scope: str) -> list[Section]:
    """Return the meanings of the signs of a screen."""
    rows = defaultdict[str, list[Row]](list)
    for legend in LEGENDS:
        if legend.scope == scope:
            rows[_(legend.title)] += _in_words(legend.signs.items())
    return [Section(title, tuple(signs), is_signs=True) for title, signs in rows.items()]


def side_by_side(sections: Sequence[Section], width: int) -> list[Line]:
    """Lay out sections, unbroken and in order, in up to three columns of `width` cells that are
    about equally high."""
    count = max(1, min(len(sections), (width + _GAP) // (_COLUMN + _GAP), 3))
    room = (width - _GAP * (count - 1)) // count
    blocks = [section.lines(room) for section in sections]
    height = sum(map(len, blocks)) / count
    columns: list[list[Line]] = [[]]
    for block in blocks:
        is_full = len(columns[-1]) + len(block) / 2 > height
        if columns[-1] and is_full and len(columns) < count:
            columns.append([])
        columns[-1] += block
    gap = (" " * _GAP, "")
    rows = zip_longest(*columns, fillvalue=[(" " * room, "")])
    return [[span for line in row for span in (gap, *line)][1:] for row in rows]


class HelpCard(Card[None]):
    """Keys by task, signs, and examples of searches or rules, filtered by typing.

    Args:
        helped: The screen below, whose active bindings are listed.
        commands: Its commands, in the order of the help.
        scope: Name of its table of commands.
        title: Title of the commands without a task.
        examples: A title, and examples with their meanings.
    """

    KEYS = HELP
    AUTO_FOCUS = ""

    _box = query_one(TextBox)
    _page = query_one(VerticalScroll)

    def __init__(
        self,
        helped: Screen[object],
        commands: Sequence[Command],
        scope: str = "main",
        title: str = "",
        examples: tuple[str, Sequence[Row]] = (N_("Search"), QUERY_HELP),
    ) -> None:
        super().__init__()
        of_keys = _by_task(commands, helped.active_bindings, title)
        self._sections = [*of_keys, *_signs(scope)]
        of_examples, rows = examples
        if rows:
            self._sections.append(Section(_(of_examples), _in_words(rows)))
        self._elsewhere: list[Section] = []
        """What works in another pane of the main screen, and is only found by typing."""
        if scope == "main":
            active = {row for section in of_keys for row in section.rows}
            others = [row for each in _by_task(TRANSCRIPT, None, "") for row in each.rows]
            there = tuple(row for row in others if row not in active)
            self._elsewhere.append(Section(_("In the transcript (Tab)"), there))

    def content(self) -> ComposeResult:
        prompt = _("type to filter: a word, or a key")
        yield TextBox(placeholder=prompt, id="filter", select_on_focus=False)
        with VerticalScroll(id="help", can_focus=False):
            yield Static(id="told")

    def on_resize(self, event: Resize) -> None:
        self.call_after_refresh(self._show)

    @on(Input.Changed)
    def typed(self) -> None:
        """Filter the sections."""
        self._show()
        self.action_to(0)

    @on(Input.Submitted)
    def submitted(self) -> None:
        """On Enter leave the filter, so that keys scroll again."""
        self.set_focus(None)

    def on_key(self, event: Key) -> None:
        """Put a letter that is no key here into the filter."""
        if (
            event.character
            and event.is_printable
            and self.focused is None
            and event.key not in self.active_bindings
        ):
            event.stop()
            self.action_filter()
            self._box.insert_text_at_cursor(event.character)

    def _show(self) -> None:
        if not self.is_attached:
            return
        text = self._box.value.strip()
        width = max(self._page.scrollable_content_region.width - 1, 20)
        if shown := self._found(text):
            lines = side_by_side(shown, width)
        else:
            nothing = _("Nothing here is called “{text}”. Esc shows everything.", text=text)
            lines = wrap_spans([(nothing, "dim")], width)
        content = Content("\n").join(Content.assemble(*line) for line in lines)
        self.query_one("#told", Static).update(content)

    def _found(self, text: str) -> list[Section]:
        """Return what a text is found in; a single letter is a key first of all."""
        if not text:
            return self._sections
        every = [*self._sections, *self._elsewhere]
        of_key = [each.of_key(text) for each in every] if len(text) == 1 else []
        narrowed = [each.narrowed(text) for each in every]
        return [each for each in of_key if each.rows] or [each for each in narrowed if each.rows]

    def action_filter(self) -> None:
        """Focus the filter."""
        self.set_focus(self._box)
        self._box.cursor_position = len(self._box.value)

    def action_back(self) -> None:
        """Clear the filter; close the help if it is clear and unfocused."""
        if self._box.value:
            self._box.value = ""
        elif self.focused is None:
            self.dismiss(None)
        self.set_focus(None)

    def action_page(self, pages: float) -> None:
        """Scroll by pages."""
        self.action_scroll(int(pages * max(self._page.size.height - 2, 1)))

    def action_to(self, end: int) -> None:
        """Scroll to the first (0) or last (1) line."""
        self._page.scroll_to(y=end * self._page.max_scroll_y, animate=False)
