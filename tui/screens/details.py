"""The card with everything worth knowing of a conversation, on one key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from hermes_browse.store.connect import Reader
from hermes_browse.store.details import read_details
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _

from .. import clipboard, formats
from ..details_text import LABEL, details_lines
from ..places import read_radar_at
from ..styled import Line, line_text
from ..widgets.lines_view import LinesView
from .card import Card, keys_line

if TYPE_CHECKING:
    from .main import MainScreen


class DetailsScreen(Card[None]):
    """Shows the card.

    Args:
        title: Of the conversation, printable.
        lines: Of the card, not wrapped.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c,y", "copy", N_("copy")),
        Binding("escape,q,i", "dismiss(None)", N_("back")),
    ]

    def __init__(self, title: str, lines: Sequence[Line]) -> None:
        super().__init__()
        self._title, self._lines = title, lines

    def compose(self) -> ComposeResult:
        """Title, card, keys."""
        with Vertical(id="card"):
            yield Static(Content.styled(self._title, "bold"))
            yield LinesView(self._lines, hang=LABEL, id="details")
            yield keys_line(self.told_keys())

    def action_copy(self) -> None:
        """Put the card on the clipboard, and say by which way."""
        text = "\n".join([self._title, "", *map(line_text, self._lines)])

        async def work() -> None:
            self.answer(await clipboard.copy(text, self.app.copy_to_clipboard))

        self.run_worker(work(), exclusive=True)


def show_details(screen: MainScreen, conversation: Conversation) -> None:
    """Read the details of a conversation and show the card."""
    now, location = screen.clock(), screen.location

    def work(reader: Reader) -> tuple[Conversation, list[Line]]:
        from hermes_browse.store.preview import with_details

        known = with_details(reader, [conversation])[0] if conversation.rows is None else conversation
        fate = read_radar_at(location, reader, now).fate(known)
        days = fate.prune_in_days
        kept = fate.reason
        if days is not None:
            kept = _("in {days:,.0f} days: {reason}").format(days=days, reason=kept)
        return known, details_lines(known, read_details(reader, known), now, kept)

    def done(result: tuple[Conversation, list[Line]]) -> None:
        known, lines = result
        screen.app.push_screen(DetailsScreen(one_line(formats.name(known), 200), lines))

    screen.page_worker.submit("card", work, done, screen.failed)
