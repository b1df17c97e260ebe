"""Cards that show a text: the details of a conversation, and a message as stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from hermes_browse.store.api import OpenStore
from hermes_browse.store.cleanup.sizes import added
from hermes_browse.store.edit.delete_plan import affected_by_delete
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

from ...settings.keys.screen_commands import DETAILS, RAW
from ...terminal import clipboard
from ...text import formats
from ...text.styled import Line, line_text
from ...widgets.card import Card, keys_line
from ...widgets.lines import LinesView
from ..panes import Panes
from .details_lines import details_lines


class LinesCard(Card[str]):
    """Printable lines, not wrapped, under a printable title; a text in their place can be
    copied."""

    VIEW: ClassVar[str]
    """Id of the view of the lines."""
    HAS_LABELS: ClassVar[bool] = False
    """Whether the lines begin with a label."""

    def __init__(self, title: str, copied: str, lines: Sequence[Line]) -> None:
        super().__init__()
        self._title, self._copied = title, copied
        self._view = LinesView(lines, has_labels=self.HAS_LABELS, id=self.VIEW)

    def compose(self) -> ComposeResult:
        with Vertical(id="card"):
            yield Static(Content.styled(self._title, "bold"))
            yield self._view
            yield keys_line(self.keys_text())

    def action_copy(self) -> None:

        async def work() -> None:
            self.answer(await clipboard.copy(self._copied, self.app.copy_to_clipboard))

        self.run_worker(work(), exclusive=True)


class RawCard(LinesCard):
    """A chat message as stored: its JSON, and the same as lines with colours."""

    KEYS = RAW
    VIEW = "raw"


class DetailsCard(LinesCard):
    """The details of a conversation: the lines of `details_lines`; its result is the name of a
    screen about it, or None."""

    KEYS = DETAILS
    VIEW = "details"
    HAS_LABELS = True

    def __init__(self, title: str, lines: Sequence[Line]) -> None:
        super().__init__(title, "\n".join([title, "", *map(line_text, lines)]), lines)


def show_details(main: Panes, conversation: Conversation) -> None:
    main.start("details-card", _show_details, main, conversation)


async def _show_details(main: Panes, conversation: Conversation) -> None:
    now, catalog = main.clock(), main.catalog

    def read(store: OpenStore) -> tuple[Conversation, list[Line]]:
        detailed = conversation
        if detailed.rows is None:
            (detailed,) = store.with_details([detailed])
        if detailed.size is None and catalog.of_session(detailed.id) is not None:
            ids = affected_by_delete(catalog, detailed.id).sessions
            sizes = store.measure([catalog.sessions[each] for each in ids])
            detailed = detailed._replace(size=added(sizes.values()).total)
        words = ""
        if not store.store.is_several:  # each has rules of its own
            forecast = store.retention(now).forecast(detailed)
            words = forecast.reason
            if forecast.prune_in_days is not None:
                words = _(
                    "in {days:,.0f} days: {reason}", days=forecast.prune_in_days, reason=words
                )
        return detailed, details_lines(detailed, store.details(detailed), now, words)

    def go_on(screen: str | None) -> None:
        if screen is not None:
            main.open_screen(screen)

    detailed, lines = await main.read(read)
    main.app.push_screen(DetailsCard(one_line(formats.name(detailed), 200), lines), go_on)
