"""How the browser begins: as the user has set it, and otherwise as it was left."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hermes_browse.store.models import Sort, View

from .. import formats
from ..list import row_format
from ..pane_sizes import PaneSizes
from .folders import config_path, memory_path
from .memory import Memory, read_memory, write_memory
from .options import DEFAULT_THEME, Options

if TYPE_CHECKING:
    from .reading import Configuration


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
    row_format.set_columns(options.columns)


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
