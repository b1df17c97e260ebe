"""How the browser begins: as the user has set it, and otherwise as it was left.

What it remembers is in a private file of its own, so that nobody but the user writes the configuration. Whatever is
wrong with that file, the browser begins as if nothing had been remembered.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hermes_browse.store.sessions.models import Sort, View

from .. import formats
from ..pane_sizes import HEIGHT, WIDTH, PaneSizes, percent
from .folders import config_path, memory_path
from .options import DEFAULT_THEME, Options

if TYPE_CHECKING:
    from .reading import Configuration


_MOST = 10_000
"""Bytes; what is larger was not written here."""


class Memory(NamedTuple):
    """How the browser was left."""

    view: View = View.CHATS
    sort: Sort = Sort.ACTIVITY
    reverse: bool = False
    theme: str | None = None
    """The theme chosen in the palette; None when none was."""
    list_width: int = WIDTH
    """Percent of the panes, where they stand beside each other."""
    list_height: int = HEIGHT
    """Percent, where they stand above each other."""
    is_list_alone: bool = False


def _member(kind: type[View] | type[Sort], value: object) -> View | Sort | None:
    return next((each for each in kind if each.value == value), None)


def read_memory(path: Path) -> Memory:
    """Read what is remembered; what cannot be read or makes no sense is as on a first start."""
    try:
        with path.open("rb") as file:
            raw = file.read(_MOST + 1)
    except OSError:
        return Memory()
    import json  # not needed on a first start, and it takes a moment

    try:
        found = json.loads(raw) if len(raw) <= _MOST else None
    except (ValueError, RecursionError):
        return Memory()
    if not isinstance(found, dict):
        return Memory()
    view, sort = _member(View, found.get("view")), _member(Sort, found.get("sort"))
    theme = found.get("theme")
    return Memory(
        view=view if isinstance(view, View) else View.CHATS,
        sort=sort if isinstance(sort, Sort) else Sort.ACTIVITY,
        reverse=found.get("reverse") is True,
        theme=theme if isinstance(theme, str) and len(theme) < 100 else None,
        list_width=percent(found.get("list_width"), WIDTH),
        list_height=percent(found.get("list_height"), HEIGHT),
        is_list_alone=found.get("list_alone") is True,
    )


def write_memory(path: Path, memory: Memory) -> bool:
    """Write the file in one step: another browser sees the old one or the new one, never half of it.

    Args:
        path: The file; its folder is made.
        memory: What to remember.

    Returns:
        Whether it could be written; a home that cannot be written to is no reason for a complaint.
    """
    import json

    text = json.dumps(
        {
            "view": memory.view.value,
            "sort": memory.sort.value,
            "reverse": memory.reverse,
            "theme": memory.theme,
            "list_width": memory.list_width,
            "list_height": memory.list_height,
            "list_alone": memory.is_list_alone,
        }
    )
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(f"{text}\n")
                file.flush()
                os.fsync(file.fileno())  # or a power cut may leave an empty file by that name
            beside.replace(path)
        except OSError:
            beside.unlink(missing_ok=True)
            raise
    except OSError:
        return False
    return True


class Start(NamedTuple):
    """The configuration and the memory, and the choices that come from both."""

    options: Options = Options()
    memory: Memory = Memory()
    configuration: Configuration | None = None
    """The file, where there is one."""

    @property
    def view(self) -> View:
        """The first view."""
        return self.options.view or self.memory.view

    @property
    def sort(self) -> Sort:
        """The first order."""
        return self.options.sort or self.memory.sort

    @property
    def reverse(self) -> bool:
        """Whether that order is turned round."""
        return self.options.sort is None and self.memory.reverse

    @property
    def theme(self) -> str:
        """The first theme."""
        return self.options.theme or self.memory.theme or DEFAULT_THEME

    @property
    def pane_sizes(self) -> PaneSizes:
        """How the panes share the screen at first."""
        return PaneSizes(self.memory.list_width, self.memory.list_height, self.memory.is_list_alone)

    @property
    def are_keys_usual(self) -> bool:
        """Whether all keys are the default ones."""
        return not self.options.keys and self.options.keymap == Options().keymap

    @property
    def is_plain(self) -> bool:
        """Whether the first rows are the newest chats on one line each, as `prepaint` can paint them."""
        return (
            self.view is View.CHATS
            and self.sort is Sort.ACTIVITY
            and not self.reverse
            and self.options.density == "compact"
        )


def set_rows(options: Options) -> None:
    """Apply what is set about moments and columns, for rows of the screen and those painted before there is one."""
    formats.set_clock(options.time)
    formats.set_dates(options.dates)
    from ..list import columns  # start: a command goes without Rich

    columns.set_columns(options.columns)


def read_start() -> Start:
    """Read how to begin, from the configuration and the memory, where these files exist."""
    memory = read_memory(memory_path())
    path = config_path()
    if not path.exists():  # the usual case: nothing that reads TOML is loaded
        return Start(memory=memory)
    from .reading import read_config

    configuration = read_config(path)
    return Start(configuration.options, memory, configuration)


def keep(
    start: Start, view: View, sort: Sort, reverse: bool, theme: str | None, pane_sizes: PaneSizes | None = None
) -> None:
    """Remember how the browser was left, if that has changed.

    Args:
        start: How it began.
        view: The last view.
        sort: The last order.
        reverse: Whether it was turned round.
        theme: The theme on screen; None when it is not the user's choice.
        pane_sizes: How the panes shared the screen; None for as before.
    """
    chosen = start.memory.theme if theme is None or theme == start.theme else theme
    shared = pane_sizes or start.pane_sizes
    memory = Memory(view, sort, reverse, chosen, shared.width, shared.height, shared.is_alone)
    if memory != start.memory:
        write_memory(memory_path(), memory)
