"""What the screens behind the main one have in common: a title, a status line, keys, one step back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.content import Content
from textual.events import Resize
from textual.screen import Screen

from hermes_browse.store.messages.preview import with_details
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.wording import N_

from ..bindings import bindings
from ..commands import Command
from ..pane_sizes import NARROW
from ..shared import header
from ..shared.lines import TextLine
from .by_name import load
from .card import STYLES
from .controllers import Controllers


class SubScreen(Screen[None]):
    """A screen that works with the store of the main screen, through its workers.

    Args:
        controllers: Controllers of the main screen, to which answers of the workers come.
    """

    AUTO_FOCUS = ""
    CSS_PATH = STYLES / "cleaning.tcss"
    KEYS: ClassVar[tuple[Command, ...]] = ()
    """What its keys do."""
    HELP_TITLE: ClassVar[str] = ""
    """What the help calls this screen."""
    ENTER: ClassVar[str] = N_("read")
    """What Enter does in its lists, for the help; empty where it does nothing."""
    EXAMPLES: ClassVar[tuple[tuple[str, str], ...]] = ()
    """Words of its own and what they mean, for the help."""
    EXAMPLES_TITLE: ClassVar[str] = N_("Rules")
    """What these words are."""

    def __init__(self, controllers: Controllers) -> None:
        super().__init__()
        self.controllers, self.context = controllers, controllers.context

    def __init_subclass__(cls) -> None:
        """Bind the keys of its commands."""
        if "KEYS" in vars(cls):
            cls.BINDINGS = bindings(cls.KEYS)
        super().__init_subclass__()

    def line(self, name: str) -> TextLine:
        """One of the one-line texts."""
        return self.query_one(f"#{name}", TextLine)

    def show_title(self, title: str, note: str = "") -> None:
        """Show the title of the screen, the name of the store and a note in the header."""
        name = header.store_name(self.context.location)
        self.line("header").update(
            Content.assemble((f" {title}  ", "bold"), (name, "$accent"), (f"  {note}" if note else "", "dim"))
        )

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
        self.controllers.read(conversation)

    def read_names(self, slot: str, wanted: Sequence[Conversation], shown: Callable[[], None]) -> None:
        """Read the beginnings of conversations that have no title.

        Args:
            slot: A newer request of the same slot takes the place of this one.
            wanted: Nothing is read where there is none.
            shown: Called when they have been read, if the screen is still there.
        """

        def done(found: list[Conversation]) -> None:
            self.context.details.add(found)
            if self.is_whole:
                shown()

        if wanted:
            self.context.page_worker.submit(
                slot, lambda reader: with_details(reader, wanted), done, self.context.failed
            )

    def action_back(self) -> None:
        """One step back."""
        self.dismiss(None)

    def action_undo(self) -> None:
        """Take back what was done last."""
        self.controllers.changing.undo()

    def action_help(self) -> None:
        """All keys."""
        self.app.push_screen(load("help")(self))
