"""What is chosen by name, on a card narrowed down by typing: a command (the palette), a theme, the
order of the list."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from rich.cells import cell_len
from textual import on
from textual.app import App
from textual.content import Content
from textual.dom import DOMNode
from textual.screen import Screen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from hermes_browse.store.notes.tagging import tags_of
from hermes_browse.store.sessions.models import Sort
from hermes_browse.store.wording import N_, _, language

from ..browser.list.columns import order_name
from ..browser.main import MainScreen
from ..settings.keys import Command, final_keys
from ..settings.keys.main_commands import APP, TRANSCRIPT
from ..settings.keys.screen_commands import CHOICES
from ..text.formats import counted, fit
from ..widgets.bindings import key_names, with_keys
from ..widgets.card import NarrowCard

_NO_MATCH = 3


class Choice(NamedTuple):
    """One line of the card; its texts are printable."""

    value: str
    """What the card returns."""
    title: str
    keys: str = ""
    note: str = ""
    group: str = ""
    """The heading above it."""
    run: Callable[[], object] | None = None
    """What it does, if it is a command."""

    def rank(self, words: str) -> int:
        """Return how well it matches what was typed, casefolded: 0 is best, `_NO_MATCH` not at
        all."""
        title = self.title.casefold()
        if title.startswith(words):
            return 0
        if words in title:
            return 1
        whole = f"{title} {self.note.casefold()} {self.group.casefold()}"
        return 2 if all(word in whole for word in words.split()) else _NO_MATCH


class ChoiceCard(NarrowCard[None]):
    """Returns the value chosen, or None.

    Args:
        current: The value under the cursor at first.
    """

    ENTER = N_("Enter choose")
    KEYS = CHOICES
    PROMPT = N_("Command: type its name")

    def __init__(self, choices: Sequence[Choice], current: str = "") -> None:
        super().__init__()
        self._choices = choices
        self._first = current

    def fill(self, typed: str) -> None:
        """List what matches: all choices below their headings, or the best ones first."""
        words = typed.strip().casefold()
        titles = max(cell_len(choice.title) for choice in self._choices)
        keys = max(cell_len(choice.keys) for choice in self._choices)
        options = []
        group = ""
        matching = (choice for choice in self._choices if choice.rank(words) < _NO_MATCH)
        for choice in sorted(matching, key=lambda choice: choice.rank(words)):
            if choice.group != group and not words:
                group = choice.group
                options.append(Option(Content.styled(group, "bold"), disabled=True))
            row = Content.assemble(
                f"  {fit(choice.title, titles)}  ",
                (fit(choice.keys, keys), "$accent"),
                (f"  {choice.note}", "dim"),
            )
            options.append(Option(row, id=choice.value))
        if not options:
            options.append(Option(_("nothing has this name"), disabled=True))
        ids = [option.id for option in options]
        first = next((number for number, name in enumerate(ids) if name is not None), None)
        self.show(options, ids.index(self._first) if self._first in ids else first)

    def action_back(self) -> None:
        """Return nothing."""
        self.dismiss(None)


class SortCard(ChoiceCard):
    """The orders of the list; begins with the current one."""

    PROMPT = N_("Sort by: type its name")

    def __init__(self, current: Sort) -> None:
        super().__init__([Choice(sort.value, order_name(sort)) for sort in Sort], current.value)


class ThemeCard(ChoiceCard):
    """The themes: the one under the cursor is shown, and Esc brings the former one back."""

    PROMPT = N_("Theme: type its name")

    @on(OptionList.OptionHighlighted)
    def highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show the theme."""
        if event.option_id is not None:
            self.app.theme = event.option_id

    def action_back(self) -> None:
        """Bring the former theme back."""
        self.app.theme = self._first
        super().action_back()


def entries(app: App[Any], screen: Screen[Any], keymap: Mapping[str, str]) -> list[Choice]:
    """Return the commands that a screen can run, in groups."""
    of_screen: Sequence[Command] = getattr(screen, "KEYS", ())
    is_main = isinstance(screen, MainScreen)
    focused = screen.focused or screen
    commands = [*of_screen, *TRANSCRIPT] if is_main else list(of_screen)
    if focused.id == "transcript":
        commands = [*TRANSCRIPT, *of_screen]
    commands += [each for each in APP if each.id == "mouse"]
    here = with_keys((each for each in commands if each.task != "Move"), screen.active_bindings)
    known = {command.action for _keys, command in here}
    # The commands of the transcript that its screen carries out work from everywhere, by name.
    rest = [command for command in commands if command.is_method and command.action not in known]
    every = []
    for keys, command in [*here, *with_keys(final_keys(rest, keymap))]:
        node = {"transcript": focused, "app": app}.get(command.scope, screen)
        is_here = command.scope == "transcript" and command.action in known
        group = _("Here") if is_here or not command.task else _(command.task)
        every.append(_entry(app, node, command, keys, group))
    if isinstance(screen, MainScreen):
        every += _tags(screen)
    of_app = _("The screen")
    theme = Choice(
        "theme",
        _title(N_("theme")),
        note=_("Colours, shown as the cursor moves"),
        group=of_app,
        run=partial(choose_theme, app),
    )
    every.append(theme)
    if not is_main:
        leave = Command("", "", "quit", "app.quit", "Leave")
        every.append(_entry(app, screen, leave, key_names("ctrl+q"), of_app))
    groups = list(dict.fromkeys(each.group for each in every))
    return sorted(every, key=lambda each: groups.index(each.group))


def _tags(main: MainScreen) -> Iterator[Choice]:
    """Yield a search for each tag."""
    for tag in tags_of(main.catalog.conversations()):
        query = f"tag:{tag.name}"
        about = counted(tag.conversations, "conversation")
        search = partial(main.search_for, query)
        yield Choice(query, f"#{tag.name}", note=about, group=_("Tags"), run=search)


def _title(title: str) -> str:
    # Capitals follow other rules in other languages, so translated titles stay as they are.
    return _(title).capitalize() if language() == "en" else _(title)


def _entry(app: App[Any], node: DOMNode, command: Command, keys: str, group: str) -> Choice:
    run = partial(app.call_later, app.run_action, command.action, node)
    return Choice(command.action, _title(command.title), keys, _(command.tooltip), group, run)


def open_palette(app: App[Any], keymap: Mapping[str, str]) -> None:
    """Ask for a command of the screen, and run it."""
    commands = {each.value: each for each in entries(app, app.screen, keymap)}

    def run(value: str | None) -> None:
        if value is not None and (command := commands[value].run) is not None:
            command()

    app.push_screen(ChoiceCard(list(commands.values())), run)


def choose_theme(app: App[Any]) -> None:
    """Ask for a theme, and show the one under the cursor."""
    choices = [Choice(name, name) for name in sorted(app.available_themes)]
    app.push_screen(ThemeCard(choices, app.theme))
