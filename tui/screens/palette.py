"""What is chosen by name: a command (the palette), a theme, the order of the list."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from textual.app import App
from textual.dom import DOMNode
from textual.screen import Screen

from hermes_browse.store.notes.tagging import tags_of
from hermes_browse.store.sessions.models import Sort
from hermes_browse.store.wording import N_, _, language

from ..browser.list.views import order_name
from ..browser.main import MainScreen
from ..settings.keys import Command, final_keys
from ..settings.keys.pane_commands import TRANSCRIPT
from ..text.formats import counted
from ..widgets.bindings import key_names, working
from .choices import Choice, ChoiceCard, ThemeCard

_HERE = N_("Here")


class PaletteEntry(NamedTuple):
    """A command of the palette."""

    choice: Choice
    run: Callable[[], object]


def entries(app: App[Any], screen: Screen[Any], keymap: Mapping[str, str]) -> list[PaletteEntry]:
    """Return the commands that a screen can run, in groups."""
    of_screen: Sequence[Command] = getattr(screen, "KEYS", ())
    is_main = any(command.place == "main" for command in of_screen)
    focused = screen.focused or screen
    commands = [*of_screen, *TRANSCRIPT] if is_main else list(of_screen)
    if focused.id == "transcript":
        commands = [*TRANSCRIPT, *of_screen]
    here = working((each for each in commands if each.task != "Move"), screen.active_bindings)
    known = {command.action for _keys, command in here}
    # The commands of the transcript that its screen carries out work from everywhere, by name.
    rest = [command for command in commands if command.is_method and command.action not in known]
    found: list[PaletteEntry] = []
    for keys, command in [*here, *working(final_keys(rest, keymap))]:
        node = focused if command.place == "transcript" else screen
        is_here = command.place == "transcript" and command.action in known
        group = _(_HERE) if is_here or not command.task else _(command.task)
        found.append(_entry(app, node, command, keys, group))
    if isinstance(screen, MainScreen):
        found += _tags(screen)
    of_app = _(N_("The screen"))
    theme = Choice(
        "theme", _title(N_("theme")), "", _("Colours, shown as the cursor moves"), of_app
    )
    found.append(PaletteEntry(theme, partial(choose_theme, app)))
    if not is_main:
        leave = Choice("quit", _title(N_("quit")), key_names("ctrl+q"), _("Leave"), of_app)
        found.append(PaletteEntry(leave, partial(app.call_later, app.run_action, "quit")))
    return list(_by_group(found))


def _tags(main: MainScreen) -> Iterator[PaletteEntry]:
    """Yield a search for each tag."""
    for tag in tags_of(main.catalog.chains()):
        query = f"tag:{tag.name}"
        about = counted(tag.conversations, "conversation")
        yield PaletteEntry(
            Choice(query, f"#{tag.name}", "", about, _(N_("Tags"))), partial(main.search_for, query)
        )


def _title(title: str) -> str:
    # Capitals follow other rules in other languages, so translated titles stay as they are.
    return _(title).capitalize() if language() == "en" else _(title)


def _entry(app: App[Any], node: DOMNode, command: Command, keys: str, group: str) -> PaletteEntry:
    choice = Choice(command.action, _title(command.title), keys, _(command.tooltip), group)
    return PaletteEntry(choice, partial(app.call_later, app.run_action, command.action, node))


def _by_group(found: list[PaletteEntry]) -> Iterator[PaletteEntry]:
    for group in dict.fromkeys(entry.choice.group for entry in found):
        yield from (entry for entry in found if entry.choice.group == group)


def open_palette(app: App[Any], keymap: Mapping[str, str]) -> None:
    """Ask for a command of the screen, and run it."""
    commands = {entry.choice.value: entry for entry in entries(app, app.screen, keymap)}

    def run(value: str | None) -> None:
        if value is not None:
            commands[value].run()

    choices = [entry.choice for entry in commands.values()]
    app.push_screen(ChoiceCard(_("Command: type its name"), choices), run)


def choose_theme(app: App[Any]) -> None:
    """Ask for a theme, and show the one under the cursor."""
    choices = [Choice(name, name) for name in sorted(app.available_themes)]
    app.push_screen(ThemeCard(_("Theme: type its name"), choices, app.theme))


def choose_sort(app: App[Any], current: Sort, sort_by: Callable[[Sort], object]) -> None:
    """Ask for the order of a list; the one that it has already stays as it is."""

    def chosen(value: str | None) -> None:
        if value is not None and value != current:
            sort_by(Sort(value))

    choices = [Choice(sort.value, order_name(sort)) for sort in Sort]
    app.push_screen(ChoiceCard(_("Sort by: type its name"), choices, current.value), chosen)
