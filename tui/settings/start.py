"""How the browser starts: as configured, and otherwise as it was left.

What is remembered is in a private file of its own, so that only the user writes the configuration.
If that file is damaged, nothing is remembered.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple, TypeVar

from hermes_browse.store.files import read_regular
from hermes_browse.store.sessions.models import Sort, View

from .folders import config_path, memory_path, write_private
from .options import DEFAULT_THEME, Options
from .pane_sizes import HEIGHT, WIDTH, PaneSizes, percent
from .read_config import Configuration, read_config

Choice = TypeVar("Choice", View, Sort)
_MAX_BYTES = 10_000
"""A larger file was not written by us."""


class LastState(NamedTuple):
    """How the browser was left."""

    view: View = View.CHATS
    sort: Sort = Sort.ACTIVITY
    reverse: bool = False
    theme: str | None = None
    """Chosen in the palette; None if none was."""
    list_width: int = WIDTH
    list_height: int = HEIGHT
    """Percent, as in `PaneSizes`."""
    is_list_alone: bool = False


def _member(value: object, default: Choice) -> Choice:
    return next((each for each in type(default) if each.value == value), default)


def read_memory(path: Path) -> LastState:
    """Read what is remembered; a missing or invalid value is the default."""
    try:
        document = json.loads(read_regular(path, _MAX_BYTES))
    except (OSError, ValueError, RecursionError):
        return LastState()
    if not isinstance(document, dict):
        return LastState()
    theme = document.get("theme")
    return LastState(
        view=_member(document.get("view"), View.CHATS),
        sort=_member(document.get("sort"), Sort.ACTIVITY),
        reverse=document.get("reverse") is True,
        theme=theme if isinstance(theme, str) and len(theme) < 100 else None,
        list_width=percent(document.get("list_width"), WIDTH),
        list_height=percent(document.get("list_height"), HEIGHT),
        is_list_alone=document.get("list_alone") is True,
    )


def write_memory(path: Path, memory: LastState) -> bool:
    """Write the file atomically, and its folder if there is none; return whether it could be
    written."""
    document = memory._asdict()
    document["list_alone"] = document.pop("is_list_alone")
    try:
        write_private(path, f"{json.dumps(document)}\n")
    except OSError:
        return False
    return True


class Start(NamedTuple):
    """The configuration and the memory, and the settings that follow from both."""

    options: Options = Options()
    memory: LastState = LastState()
    configuration: Configuration | None = None
    """None if there is no file."""
    is_first: bool = False
    """Nothing has been remembered yet: the browser has not been used here."""

    @property
    def theme(self) -> str:
        """The first theme."""
        return self.options.theme or self.memory.theme or DEFAULT_THEME

    @property
    def pane_sizes(self) -> PaneSizes:
        """The first sizes of the panes."""
        return PaneSizes(self.memory.list_width, self.memory.list_height, self.memory.is_list_alone)

    @property
    def are_keys_usual(self) -> bool:
        """Whether no key is configured."""
        return not self.options.keys

    @property
    def can_be_painted_ahead(self) -> bool:
        """Whether the first rows are the newest chats, which `prepaint` can draw."""
        memory = self.memory
        return memory.view is View.CHATS and memory.sort is Sort.ACTIVITY and not memory.reverse


def read_start() -> Start:
    """Read the configuration and the memory."""
    memory, is_first = read_memory(memory_path()), not memory_path().exists()
    path = config_path()
    if not path.exists():
        return Start(memory=memory, is_first=is_first)
    configuration = read_config(path)
    return Start(configuration.options, memory, configuration, is_first)
