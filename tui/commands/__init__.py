"""Every command of the browser as data: what a key does, where, and what a keymap calls it. Knows no Textual.

Bindings, the line of keys, the palette, the help, the sample of the configuration and the check of a user's keys are
made from these tables. `tui/bindings.py` turns entries into Textual's bindings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple


class Command(NamedTuple):
    """One command at one place."""

    id: str
    """What a keymap calls it; empty for keys that cannot be changed."""
    keys: str
    """The keys it has by default, in Textual's names, separated by commas; empty where a keymap left it none."""
    title: str
    """A word or two for the line of keys and the palette."""
    tooltip: str = ""
    """A sentence for the help, the palette and the sample."""
    call: str = ""
    """Textual's action; when empty, `do` of the screen with the id: `do('archive')`."""
    footer: bool = False
    """Whether the line of keys shows it."""
    priority: bool = False
    """Whether the key works before the focused widget sees it."""
    printed: str = ""
    """How the first key is printed, where Textual would print something else."""
    place: str = ""
    """The table it stands in: `app`, `main`, a pane, a screen or a card."""
    task: str = ""
    """What it is for, the heading it stands under in the help; empty for what its screen is for."""

    @property
    def action(self) -> str:
        """What Textual runs."""
        return self.call or f"do('{self.id}')"

    @property
    def help(self) -> str:
        """What it does, in as many words as there are."""
        return self.tooltip or self.title

    @property
    def key_names(self) -> list[str]:
        """The keys one by one."""
        return self.keys.split(",") if self.keys else []


Shown = partial(Command, footer=True)
"""A command that the line of keys shows."""


def at(place: str, *entries: Command | str) -> tuple[Command, ...]:
    """The table of a place.

    Args:
        place: Its name; the ids begin with it, but those of the main screen and the application.
        entries: What can be done there, in the order of the help; a text is the task of the commands behind it.
    """
    before = "" if place in ("main", "app") else f"{place}-"
    commands, task = [], ""
    for each in entries:
        if isinstance(each, str):
            task = each
        else:
            name = each.id and f"{before}{each.id}"
            commands.append(each._replace(id=name, place=place, task=each.task or task))
    return tuple(commands)


def final_keys(commands: Sequence[Command], keymap: Mapping[str, str]) -> list[Command]:
    """The commands with the keys a keymap leaves them.

    Like Textual, a keymap that gives a key to one command takes it from other commands of the same place.
    """
    given = {(each.place, key) for each in commands for key in keymap.get(each.id, "").split(",") if key}
    found = []
    for each in commands:
        left = ",".join(key for key in each.key_names if (each.place, key) not in given)
        found.append(each._replace(keys=keymap.get(each.id, left)))
    return found
