"""The panes of the main screen: layout, focus and zoom."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.events import Resize

from ..list.conversation_list import ConversationList, ListHead
from ..list.list_rows import ListRow
from ..pane_sizes import HEIGHT, NARROW, WIDTH, PaneSizes, has_head
from ..search.box import SearchBox
from ..shared.keys import KeyLine
from ..shared.lines import TextLine
from ..transcript.view import TranscriptView
from ..work.store_screen import StoreScreen

SHORT = 30
"""Lines below which the tree is shown only on request."""


class Panes(StoreScreen[object]):
    """Layout and focus of the panes, without their contents."""

    AUTO_FOCUS = ""

    def __init__(self) -> None:
        super().__init__()
        self.pane_sizes = PaneSizes()
        """The list's share of the panes."""
        self._list_size: tuple[str | None, str | None] = None, None
        self.box = SearchBox(id="search")
        """The search box."""
        self.rows = ConversationList(id="list")
        """The list of conversations, or of hits."""
        self.head = ListHead(self.rows, id="head")
        """The column names of the list."""
        self.transcript = TranscriptView(id="transcript")
        """The transcript."""
        self.lineage = ConversationList(id="lineage")
        """The lineage tree."""

    def compose(self) -> ComposeResult:
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
        yield KeyLine(
            id="keys",
            more=("insights", "trash", "profiles", "export", "undo", "details", "rename", "doctor"),
        )

    def notes(self) -> Sequence[ListRow]:
        """Return rows above those of the list: what is missing in it."""
        return ()

    def show_family(self, shown: bool) -> None:
        """Show or hide the lineage tree below the transcript.

        The class is set on `#side`: one of the screen would make Textual recompute the style of
        every widget.
        """
        self.query_one("#side").set_class(shown, "-family")

    def line(self, name: str) -> TextLine:
        """Return a one-line text by id."""
        return self.query_one(f"#{name}", TextLine)

    def on_resize(self, event: Resize) -> None:
        self.set_class(event.size.width < NARROW, "-narrow")
        self.set_class(event.size.height < SHORT, "-short")
        self.set_class(not has_head(*event.size), "-low")
        self.share_out()

    def share_out(self) -> None:
        """Set the list's size from its share; the style sheet has the default."""
        pane_sizes = self.pane_sizes
        is_narrow, is_alone = self.has_class("-narrow"), self.has_class("-zoom-list")
        width = (
            f"{pane_sizes.width}%"
            if not (is_narrow or is_alone or pane_sizes.width == WIDTH)
            else None
        )
        height = (
            f"{pane_sizes.height}%"
            if is_narrow and not is_alone and pane_sizes.height != HEIGHT
            else None
        )
        if (
            width,
            height,
        ) != self._list_size:  # Textual would lay out everything even if nothing changed
            self._list_size = width, height
            pane = self.query_one("#listed")
            pane.styles.width, pane.styles.height = width, height

    def share(self, steps: int) -> None:
        """Move the border between the panes."""
        if self.pane_sizes.change(steps, is_narrow=self.has_class("-narrow")):
            self.end_zoom()
            self.share_out()

    def focus_pane(self, by: int) -> None:
        """Focus the next pane, or the previous one if `by` is negative."""
        panes = [self.rows, self.transcript, *([self.lineage] if self.lineage.display else [])]
        focused = self.focused
        index = next((i for i, pane in enumerate(panes) if pane is focused), -1 if by > 0 else 0)
        self.set_focus(panes[(index + by) % len(panes)])

    def toggle_lineage(self) -> None:
        """Show and focus the lineage tree, or leave it."""
        if self.lineage.has_focus:
            self.remove_class("-lineage")
            self.set_focus(self.rows)
        else:
            self.add_class("-lineage")
            self.set_focus(self.lineage)

    def zoom(self) -> None:
        """Show the focused pane alone, or all again."""
        if not self.end_zoom():
            self.pane_sizes.is_alone = self.rows.has_focus
            self.add_class("-zoom-list" if self.pane_sizes.is_alone else "-zoom-side")
            self.share_out()

    def end_zoom(self) -> bool:
        """Show all panes again; return whether one was zoomed."""
        if not (self.has_class("-zoom-list") or self.has_class("-zoom-side")):
            return False
        self.pane_sizes.is_alone = False
        self.remove_class("-zoom-list", "-zoom-side")
        self.share_out()
        return True
