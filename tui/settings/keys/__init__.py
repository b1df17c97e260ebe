"""All commands of the browser as data: id, keys, scope, texts and action. Does not import Textual.

The bindings (`tui/widgets/bindings.py`), footer, palette, help, sample configuration and the check of a
user's keymap are built from these tables.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple


class Command(NamedTuple):
    """A command in one scope."""

    id: str
    """Its name in keymaps; empty for keys that cannot be changed."""
    keys: str
    """Default keys by their Textual names, separated by commas; empty if a keymap removed them."""
    title: str
    """One or two words for the footer and the palette."""
    call: str
    """Textual action; with `is_method` a method of the main screen, by its path from there, with
    what it is given."""
    tooltip: str = ""
    """A sentence for the help, the palette and the sample configuration."""
    footer: bool = False
    """Whether the footer shows it."""
    priority: bool = False
    """Whether the key takes precedence over the focused widget."""
    printed: str = ""
    """Label of the first key, if it differs from Textual's."""
    scope: str = ""
    """The table it belongs to: `app`, `main`, a pane, a screen or a card."""
    task: str = ""
    """Its heading in the help; empty for the main purpose of its screen."""
    is_method: bool = False
    """Whether the main screen calls it."""

    @property
    def action(self) -> str:
        return f"screen.do({self.call!r})" if self.is_method else self.call

    @property
    def help(self) -> str:
        """The tooltip, or the title if there is none."""
        return self.tooltip or self.title

    @property
    def key_names(self) -> list[str]:
        return self.keys.split(",") if self.keys else []


Shown = partial(Command, footer=True)
"""A command shown in the footer."""
Does = partial(Command, is_method=True)
ShownDoes = partial(Does, footer=True)
"""The same, of methods of the main screen."""


def at(scope: str, *entries: Command | str) -> tuple[Command, ...]:
    """Build the table of a scope.

    Args:
        scope: Its name, the prefix of its ids except for `main` and `app`.
        entries: Commands in the order of the help; a text is the heading (`task`) of the commands
            after it.
    """
    prefix = "" if scope in ("main", "app") else f"{scope}-"
    commands, task = [], ""
    for each in entries:
        if isinstance(each, str):
            task = each
        else:
            name = each.id and f"{prefix}{each.id}"
            commands.append(each._replace(id=name, scope=scope, task=each.task or task))
    return tuple(commands)


def moves(step: str, page: str, down: str = "pagedown,ctrl+f") -> tuple[Command, ...]:
    """Return the commands that move by lines and by pages.

    Args:
        step: The action that moves by a number of lines.
        page: The action that moves by a number of pages.
        down: The keys for the next page.
    """
    return (
        Command("down", "down,j", "down", f"{step}(1)"),
        Command("up", "up,k", "up", f"{step}(-1)"),
        Command("page-down", down, "page down", f"{page}(1)"),
        Command("page-up", "pageup,ctrl+b", "page up", f"{page}(-1)"),
        Command("half-a-page-down", "ctrl+d", "half a page down", f"{page}(0.5)"),
        Command("half-a-page-up", "ctrl+u", "half a page up", f"{page}(-0.5)"),
    )


def by_scope(*tables: tuple[Command, ...]) -> Mapping[str, tuple[Command, ...]]:
    """Return tables by the names of their scopes, in this order."""
    return {table[0].scope: table for table in tables}


def changed(
    commands: Iterable[Command], changes: Mapping[str, Mapping[str, Any]], refused: Collection[str]
) -> tuple[Command, ...]:
    """Return commands that differ in some, as those of a main screen over another store.

    Args:
        changes: What is different, by id.
        refused: Ids of those that make no sense there: they call `refuse`, in no footer.
    """
    every = {**changes, **{each: {"call": "refuse", "footer": False} for each in refused}}
    return tuple(command._replace(**every.get(command.id, {})) for command in commands)


def final_keys(commands: Sequence[Command], keymap: Mapping[str, str]) -> list[Command]:
    """Apply a keymap to commands.

    As in Textual, a key assigned to one command is removed from the other commands of the same
    scope.
    """
    assigned = {
        (each.scope, key) for each in commands for key in keymap.get(each.id, "").split(",")
    }
    result = []
    for each in commands:
        remaining = ",".join(key for key in each.key_names if (each.scope, key) not in assigned)
        result.append(each._replace(keys=keymap.get(each.id, remaining)))
    return result
