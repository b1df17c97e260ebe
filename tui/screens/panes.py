"""The panes of the main screen: where they are, which has the keys, which is alone."""

from __future__ import annotations

from collections.abc import Callable

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.events import Resize
from textual.screen import Screen

from ..list.conversation_list import ConversationList
from ..shared.lines import TextLine
from ..shares import HEIGHT, NARROW, WIDTH, Shares
from ..textual_private import use_near_compositor
from ..transcript.view import TranscriptView
from ..widgets.keys import KeyLine
from ..widgets.search_box import SearchBox

__all__ = ["NARROW", "SHORT", "Panes"]

TINY = (30, 8)
"""Columns and lines below which there is room for the list alone."""
SHORT = 30
"""Lines below which the tree is shown only when asked for."""


class Panes(Screen[object]):
    """Layout and focus; knows nothing of what is shown."""

    AUTO_FOCUS = ""

    def __init__(self) -> None:
        super().__init__()
        use_near_compositor(self)
        self.shares = Shares()
        """How much of the panes is the list's."""
        self._shared: tuple[str | None, str | None] = None, None

    query_edited: Callable[[str], None]
    """Takes the query at each keystroke."""

    def compose(self) -> ComposeResult:
        """Header, search, views, the three panes, status and keys."""
        yield TextLine(id="header")
        box = SearchBox(id="search")
        box.on_edit = self.query_edited  # at once: keys may have been typed before anything is mounted
        yield box
        yield TextLine(id="views")
        with Horizontal(id="panes"):
            yield ConversationList(id="list")
            with Vertical(id="side"):
                yield TextLine(id="title")
                yield TextLine(id="facts")
                yield TranscriptView(id="transcript")
                yield TextLine(id="lineage-title")
                yield ConversationList(id="lineage")
        yield TextLine(id="status")
        yield KeyLine(id="keys")

    @property
    def rows(self) -> ConversationList:
        """The list of conversations, or of hits."""
        return self.query_one("#list", ConversationList)

    @property
    def lineage(self) -> ConversationList:
        """The family tree."""
        return self.query_one("#lineage", ConversationList)

    @property
    def transcript(self) -> TranscriptView:
        """The transcript."""
        return self.query_one("#transcript", TranscriptView)

    @property
    def box(self) -> SearchBox:
        """The search box."""
        return self.query_one("#search", SearchBox)

    def show_family(self, shown: bool) -> None:
        """Show the family tree below the transcript, or leave it out.

        A class of the screen would have the style of every widget worked out again.
        """
        self.query_one("#side").set_class(shown, "-family")

    def line(self, name: str) -> TextLine:
        """One of the one-line texts."""
        return self.query_one(f"#{name}", TextLine)

    def on_resize(self, event: Resize) -> None:
        """Panes beside each other where there is room, else above each other."""
        self.set_class(event.size.width < NARROW, "-narrow")
        self.set_class(event.size.height < SHORT, "-short")
        self.set_class(self.is_tiny, "-tiny")
        self.share_out()

    @property
    def is_tiny(self) -> bool:
        """Whether there is room for the list alone."""
        return self.size.width < TINY[0] or self.size.height < TINY[1]

    def share_out(self) -> None:
        """Give the list what it is to have; what is as in the style sheet is left to it."""
        shares = self.shares
        is_narrow, is_alone = self.has_class("-narrow"), self.has_class("-zoom-list")
        width = f"{shares.width}%" if not (is_narrow or is_alone or shares.width == WIDTH) else None
        height = f"{shares.height}%" if is_narrow and not is_alone and shares.height != HEIGHT else None
        if (width, height) != self._shared:  # Textual lays out everything anew, also where nothing becomes another
            self._shared = width, height
            self.rows.styles.width, self.rows.styles.height = width, height

    def action_share(self, steps: int) -> None:
        """Move the line between the panes."""
        if self.shares.change(steps, is_narrow=self.has_class("-narrow")):
            self.end_zoom()
            self.share_out()

    def action_next_pane(self) -> None:
        """To the next pane."""
        self._focus_pane(1)

    def action_previous_pane(self) -> None:
        """To the previous pane."""
        self._focus_pane(-1)

    def _focus_pane(self, by: int) -> None:
        panes = [self.rows, self.transcript, *([self.lineage] if self.lineage.display else [])]
        focused = self.focused
        index = next((i for i, pane in enumerate(panes) if pane is focused), -1 if by > 0 else 0)
        self.set_focus(panes[(index + by) % len(panes)])

    def action_to_list(self) -> None:
        """Back to the list."""
        self.set_focus(self.rows)

    def action_lineage(self) -> None:
        """To the family tree, or away from it."""
        if self.lineage.has_focus:
            self.remove_class("-lineage")
            self.set_focus(self.rows)
        else:
            self.add_class("-lineage")
            self.set_focus(self.lineage)

    def action_transcript(self, action: str) -> None:
        """Something the transcript does, from any pane."""
        getattr(self.transcript, f"action_{action}")()

    def action_zoom(self) -> None:
        """The focused pane alone, or all again."""
        if not self.end_zoom():
            self.shares.is_alone = self.rows.has_focus
            self.add_class("-zoom-list" if self.shares.is_alone else "-zoom-side")
            self.share_out()

    def end_zoom(self) -> bool:
        """All panes again.

        Returns:
            Whether one was alone.
        """
        if not (self.has_class("-zoom-list") or self.has_class("-zoom-side")):
            return False
        self.shares.is_alone = False
        self.remove_class("-zoom-list", "-zoom-side")
        self.share_out()
        return True
