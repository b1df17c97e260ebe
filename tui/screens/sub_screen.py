"""What the screens behind the main one have in common: a title, a status line, keys, one step back."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Resize
from textual.screen import Screen

from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.wording import N_

from ..widgets.line import TextLine
from .card import STYLES
from .panes import NARROW

if TYPE_CHECKING:
    from .main import MainScreen

BACK: list[BindingType] = [
    Binding("escape,q", "back", N_("back"), tooltip=N_("Back to the list")),
    Binding("u", "undo", N_("undo"), tooltip=N_("Take back what was done last"), show=False),
    Binding("question_mark", "help", N_("help"), tooltip=N_("All keys of this screen")),
]
"""Keys of all of them."""


class SubScreen(Screen[None]):
    """A screen that works with the store of the main screen, through its workers.

    Args:
        main: The main screen; answers of its workers come to it and are delivered from there.
    """

    AUTO_FOCUS = ""
    CSS_PATH = STYLES / "cleaning.tcss"
    BINDINGS: ClassVar[list[BindingType]] = []
    HELP_TITLE: ClassVar[str] = ""
    """What the help calls this screen."""
    ENTER: ClassVar[str] = N_("read")
    """What Enter does in its lists, for the help; empty where it does nothing."""
    EXAMPLES: ClassVar[tuple[tuple[str, str], ...]] = ()
    """Words of its own and what they mean, for the help."""
    EXAMPLES_TITLE: ClassVar[str] = N_("Rules")
    """What these words are."""

    def __init__(self, main: MainScreen) -> None:
        super().__init__()
        self.main = main

    def line(self, name: str) -> TextLine:
        """One of the one-line texts."""
        return self.query_one(f"#{name}", TextLine)

    def tell(self, content: Content) -> None:
        """Show what the main screen's status line says."""
        if self.is_whole:
            self.line("status").update(content)

    @property
    def is_whole(self) -> bool:
        """Put together, and not being taken apart: answers and timers may come before and after.

        Textual 8 takes the lines away first, and calls the screen attached until it has gone too.
        """
        return self.is_attached and not self._pruning and bool(self.query("#status"))

    @property
    def is_pending(self) -> bool:
        """Whether something is to be shown that has not been asked for yet."""
        return False

    def catalog_changed(self) -> None:
        """The main screen has read the list again."""

    def on_resize(self, event: Resize) -> None:
        """Panes beside each other where there is room."""
        self.set_class(event.size.width < NARROW, "-narrow")

    def read(self, conversation: Conversation) -> None:
        """Back to the main screen, with this conversation in the transcript."""
        self.dismiss(None)
        self.main.current.open(conversation)
        self.main.set_focus(self.main.transcript)

    def action_back(self) -> None:
        """One step back."""
        self.dismiss(None)

    def action_undo(self) -> None:
        """Take back what was done last."""
        self.main.changing.undo()

    def action_help(self) -> None:
        """All keys."""
        from .help import HelpScreen

        self.app.push_screen(HelpScreen(self))
