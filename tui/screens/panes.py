"""The panes of the main screen: where they are, which has the keys, which is alone."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.events import Resize
from textual.screen import Screen

from ..list.conversation_list import ConversationList, ListHead
from ..pane_sizes import HEIGHT, NARROW, WIDTH, PaneSizes, has_head
from ..search.box import SearchBox
from ..shared.keys import KeyLine
from ..shared.lines import TextLine
from ..textual_private import use_near_compositor
from ..transcript.view import TranscriptView

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
        self.pane_sizes = PaneSizes()
        """How much of the panes is the list's."""
        self._shared: tuple[str | None, str | None] = None, None
        self.box = SearchBox(id="search")
        """The search box."""
        self.rows = ConversationList(id="list")
        """The list of conversations, or of hits."""
        self.head = ListHead(self.rows, id="head")
        """The names of its columns."""
        self.transcript = TranscriptView(id="transcript")
        """The transcript."""
        self.lineage = ConversationList(id="lineage")
        """The family tree."""

    def compose(self) -> ComposeResult:
        """Header, search, views, the three panes, status and keys."""
        yield TextLine(id="header")
        yield self.box
        yield TextLine(id="views")
        with Horizontal(id="panes"):
            with Vertical(id="listed"):
                yield self.head
                yield self.rows
            with Vertical(id="side"):
                yield TextLine(id="title")
                yield TextLine(id="facts")
                yield self.transcript
                yield TextLine(id="lineage-title")
                yield self.lineage
        yield TextLine(id="status")
        yield KeyLine(id="keys")

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
        self.set_class(not has_head(*event.size), "-low")
        self.share_out()

    @property
    def is_tiny(self) -> bool:
        """Whether there is room for the list alone."""
        return self.size.width < TINY[0] or self.size.height < TINY[1]

    def share_out(self) -> None:
        """Size the list as its share says; the default is left to the style sheet."""
        pane_sizes = self.pane_sizes
        is_narrow, is_alone = self.has_class("-narrow"), self.has_class("-zoom-list")
        width = f"{pane_sizes.width}%" if not (is_narrow or is_alone or pane_sizes.width == WIDTH) else None
        height = f"{pane_sizes.height}%" if is_narrow and not is_alone and pane_sizes.height != HEIGHT else None
        if (width, height) != self._shared:  # Textual lays out everything anew, also where nothing becomes another
            self._shared = width, height
            pane = self.query_one("#listed")
            pane.styles.width, pane.styles.height = width, height

    def share(self, steps: int) -> None:
        """Move the line between the panes."""
        if self.pane_sizes.change(steps, is_narrow=self.has_class("-narrow")):
            self.end_zoom()
            self.share_out()

    def focus_pane(self, by: int) -> None:
        """Give the keys to the next pane, or with a negative number to the one before."""
        panes = [self.rows, self.transcript, *([self.lineage] if self.lineage.display else [])]
        focused = self.focused
        index = next((i for i, pane in enumerate(panes) if pane is focused), -1 if by > 0 else 0)
        self.set_focus(panes[(index + by) % len(panes)])

    def toggle_lineage(self) -> None:
        """To the family tree, or away from it."""
        if self.lineage.has_focus:
            self.remove_class("-lineage")
            self.set_focus(self.rows)
        else:
            self.add_class("-lineage")
            self.set_focus(self.lineage)

    def zoom(self) -> None:
        """The focused pane alone, or all again."""
        if not self.end_zoom():
            self.pane_sizes.is_alone = self.rows.has_focus
            self.add_class("-zoom-list" if self.pane_sizes.is_alone else "-zoom-side")
            self.share_out()

    def end_zoom(self) -> bool:
        """All panes again.

        Returns:
            Whether one was alone.
        """
        if not (self.has_class("-zoom-list") or self.has_class("-zoom-side")):
            return False
        self.pane_sizes.is_alone = False
        self.remove_class("-zoom-list", "-zoom-side")
        self.share_out()
        return True
