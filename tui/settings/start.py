"""How the browser starts: as configured, and otherwise as it was left.

What is remembered is in a private file of its own, so that only the user writes the configuration.
If that file is damaged, nothing is remembered.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import NamedTuple

from hermes_browse.store.files import read_regular, user_folder, write_private
from hermes_browse.store.sessions.models import Sort, View

from .options import DEFAULT_THEME, Options
from .read_config import Configuration, config_path, read_config

_MAX_BYTES = 10_000
"""A larger file was not written by us."""
NARROW = 100
"""With fewer columns, the list is above the transcript instead of beside it."""
WIDTH, HEIGHT = 56, 40
"""Percent of the list, beside and above the transcript; the same as in the style sheet."""
LEAST, MOST, STEP = 20, 80, 4
"""Percent; no pane becomes too small to be found again."""
_HEAD_BESIDE, _HEAD_ABOVE = 12, 18
"""Lines of the screen from which the list has a header row: beside the transcript, and above it."""


def has_head(columns: int, lines: int) -> bool:
    """Whether a terminal of this size has room for the header row of the list."""
    return lines >= (_HEAD_ABOVE if columns < NARROW else _HEAD_BESIDE)


class PaneSizes:
    """The size of the list. No dataclass: importing them takes longer than painting the first rows.

    Args:
        width: Percent, beside the transcript.
        height: Percent, above the transcript.
        is_alone: Only the list is shown.
    """

    def __init__(self, width: int = WIDTH, height: int = HEIGHT, is_alone: bool = False) -> None:
        self.width, self.height, self.is_alone = width, height, is_alone

    def change(self, steps: int, *, is_narrow: bool) -> bool:
        """Make the list larger, or smaller by negative steps: its height if it is above the
        transcript.

        Returns:
            False at the limit.
        """
        before = self.height if is_narrow else self.width
        after = max(LEAST, min(MOST, before + steps * STEP))
        if is_narrow:
            self.height = after
        else:
            self.width = after
        return after != before

    def of(self, columns: int, lines: int) -> tuple[int, int]:
        """Return columns and lines of the list, of the terminal's columns and the lines of both
        panes."""
        if self.is_alone:
            return columns, lines
        if columns < NARROW:
            return columns, lines * self.height // 100
        return columns * self.width // 100, lines


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
    list_alone: bool = False


def memory_path() -> Path:
    """The file in which the browser remembers how it was left."""
    return user_folder("state") / "browser.json"


def read_memory(path: Path) -> LastState:
    """Read what is remembered; a missing value is the default, and with an invalid view, order or
    size all are."""
    try:
        known = LastState()._asdict() | json.loads(read_regular(path, _MAX_BYTES))
        return LastState(
            view=View(known["view"]),
            sort=Sort(known["sort"]),
            reverse=known["reverse"] is True,
            theme=known["theme"] if isinstance(known["theme"], str) else None,
            list_width=_percent(known["list_width"]),
            list_height=_percent(known["list_height"]),
            list_alone=known["list_alone"] is True,
        )
    except (OSError, ValueError, TypeError, RecursionError):
        return LastState()


def _percent(value: object) -> int:
    if type(value) is not int or not LEAST <= value <= MOST:
        raise ValueError(value)
    return value


def write_memory(path: Path, memory: LastState) -> bool:
    """Write the file atomically, and its folder if there is none; return whether it could be
    written."""
    try:
        write_private(path, f"{json.dumps(memory._asdict())}\n")
    except OSError:
        return False
    return True


class Start(NamedTuple):
    """The configuration and the memory, and the settings that follow from both."""

    configuration: Configuration = Configuration(Path())
    memory: LastState = LastState()
    is_first: bool = False
    """Nothing has been remembered yet: the browser has not been used here."""

    @property
    def options(self) -> Options:
        return self.configuration.options

    @property
    def theme(self) -> str:
        """The first theme."""
        return self.options.theme or self.memory.theme or DEFAULT_THEME

    @property
    def pane_sizes(self) -> PaneSizes:
        """The first sizes of the panes."""
        return PaneSizes(self.memory.list_width, self.memory.list_height, self.memory.list_alone)

    @property
    def can_be_painted_ahead(self) -> bool:
        """Whether the first rows are the newest chats, which the start can paint."""
        memory = self.memory
        return memory.view is View.CHATS and memory.sort is Sort.ACTIVITY and not memory.reverse


def read_start() -> Start:
    """Read the configuration and the memory."""
    memory = memory_path()
    return Start(read_config(config_path()), read_memory(memory), not os.path.exists(memory))
