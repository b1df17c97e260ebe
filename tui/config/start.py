"""How a browser begins: what the user has set, and where that is silent, as it was left."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hermes_browse.store.sessions.models import Sort, View

from ..shares import Shares
from .folders import config_path, memory_path
from .memory import Memory, read_memory, write_memory
from .options import DEFAULT_THEME, Options

if TYPE_CHECKING:
    from .reading import Configuration


class Start(NamedTuple):
    """Everything a browser is told before it begins."""

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
    def shares(self) -> Shares:
        """How the panes share the screen at first."""
        return Shares(self.memory.list_width, self.memory.list_height, self.memory.is_list_alone)

    @property
    def are_keys_usual(self) -> bool:
        """Whether nothing gives keys other meanings than they have by themselves."""
        return not self.options.keys and self.options.keymap == Options().keymap

    @property
    def is_plain(self) -> bool:
        """Whether the first rows are the newest chats, a line each, which can be painted ahead."""
        return (
            self.view is View.CHATS
            and self.sort is Sort.ACTIVITY
            and not self.reverse
            and self.options.density == "compact"
        )


def read_start() -> Start:
    """How to begin; a look at two files, which are read where they are there."""
    memory = read_memory(memory_path())
    path = config_path()
    if not path.exists():  # the usual case: nothing that reads TOML is loaded
        return Start(memory=memory)
    from .reading import read_config

    configuration = read_config(path)
    return Start(configuration.options, memory, configuration)


def keep(start: Start, view: View, sort: Sort, reverse: bool, theme: str | None, shares: Shares | None = None) -> None:
    """Remember how the browser was left, where that is news.

    Args:
        start: How it began.
        view: The last view.
        sort: The last order.
        reverse: Whether it was turned round.
        theme: The theme on screen; None when it is not the user's choice.
        shares: How the panes shared the screen; None for as before.
    """
    chosen = start.memory.theme if theme is None or theme == start.theme else theme
    shared = shares or start.shares
    memory = Memory(view, sort, reverse, chosen, shared.width, shared.height, shared.is_alone)
    if memory != start.memory:
        write_memory(memory_path(), memory)
