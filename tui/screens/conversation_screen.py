"""Base class of screens that tell something of one conversation."""

from __future__ import annotations

from hermes_browse.store.text import one_line

from ..browser.main import MainScreen
from ..text import formats
from .list_screen import ListScreen


class ConversationScreen(ListScreen):
    """Something about the current conversation of the main screen."""

    def __init__(self, main: MainScreen) -> None:
        super().__init__(main)
        assert main.current is not None
        self.conversation = main.current
        self.about = one_line(formats.name(main.current), 200)
