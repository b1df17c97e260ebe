"""The panes of the main screen: layout, focus and zoom."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen, Screen
from textual.widgets import Input

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.wording import _

from ..settings.keys.main_commands import OF_COMPRESSED
from ..terminal import clipboard
from ..widgets.keys import KeyLine
from ..widgets.lines import TextLine
from ..widgets.list_rows import ListRow
from .by_name import load
from .context import Context, Result
from .hint import FirstHint
from .lineage import LineageTree
from .list.conversation_list import ConversationList, ListHead
from .list.list_model import FirstPage
from .search.box import FindBox, GoToBox, SearchBox
from .transcript.view import TranscriptView

LEAST_FOR_TREE = 14
"""Lines of a terminal in which a line of the tree has room."""


class Panes(Context):
    """The panes, without their contents."""

    AUTO_FOCUS = ""

    def __init__(self, location: Location, store: Store, first: FirstPage) -> None:
        super().__init__(location, store, first)
        self.pane_sizes = self.app.pane_sizes
        """The list's share of the panes."""
        self.box = SearchBox()
        self.rows = ConversationList(id="list")
        """The list of conversations, or of hits."""
        self.head = ListHead(self.rows)
        """The column names of the list."""
        self.transcript = TranscriptView(id="transcript")
        self.find_box = FindBox(placeholder=_("exact text"), id="find-box", compact=True)
        """Below the transcript, when a text is asked for."""
        self.go_to_box = GoToBox(id="go-to-box", compact=True)
        """Below the transcript, when a message is asked for."""
        self.lineage = LineageTree()
        self.rows.marks = self.marks
        self.rows.clock = self.lineage.clock = self.clock

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
                with Horizontal(id="ask"):
                    yield TextLine(id="ask-label")
                    yield self.find_box
                    yield self.go_to_box
                    yield TextLine(id="ask-answer")
                yield TextLine(id="lineage-title")
                yield self.lineage
        if self.app.is_hint_wanted:
            yield FirstHint()
        yield TextLine(id="status")
        yield KeyLine(
            more=("insights", "trash", "profiles", "export", "undo", "details", "rename", "doctor"),
            withheld=OF_COMPRESSED,
        )

    def notes(self) -> Sequence[ListRow]:
        """Return rows above those of the list: what is missing in it; on any thread."""
        return ()

    @property
    def message_id(self) -> int | None:
        """The message that keys act on in the transcript, if that has the keys."""
        return self.transcript.current_id if self.focused is self.transcript else None

    @property
    def lines(self) -> int:
        """How many rows to read for another list of this size."""
        return max(self.size.height, 20)

    def open_screen(self, name: str, *args: object) -> None:
        """Open a screen by its name in `by_name`, with what else its class takes."""
        self.app.push_screen(load(name)(self, *args))

    def open_card(
        self,
        card: ModalScreen[Result],
        answered: Callable[[Result | None], None] | None = None,
        over: Screen[Any] | None = None,
    ) -> bool:
        """Open a card for which something was read, over this screen or another one.

        Returns:
            False if another screen or a field has the keys now: what is typed there must not
            answer.
        """
        is_expected = self.app.screen is (over or self) and not isinstance(self.app.focused, Input)
        if is_expected:
            self.app.push_screen(card, answered)
        return is_expected

    def copy(self, text: str, name: str = "") -> None:
        """Copy a text, and say how; the name is printable and defaults to the text."""
        self.start("copying", self.copy_and_say, text, name or text)

    async def copy_and_say(self, text: str, name: str) -> None:
        self.say(f"{name} {await clipboard.copy(text, self.app.copy_to_clipboard)}")

    def line(self, name: str) -> TextLine:
        return self.query_one(f"#{name}", TextLine)

    def share_out(self) -> None:
        """Set the list's size from its share."""
        is_narrow, is_alone = self.has_class("-narrow"), self.has_class("-zoom-list")
        styles, sizes = self.query_one("#listed").styles, self.pane_sizes
        styles.width = f"{sizes.width}%" if not (is_narrow or is_alone) else None
        styles.height = f"{sizes.height}%" if is_narrow and not is_alone else None

    def share(self, steps: int) -> None:
        if self.pane_sizes.change(steps, is_narrow=self.has_class("-narrow")):
            self.end_zoom()
            self.share_out()

    def focus_pane(self, by: int) -> None:
        """Focus the next pane, or the previous one if `by` is negative."""
        panes = [self.rows, self.transcript, *([self.lineage] if self.lineage.display else [])]
        index = panes.index(self.focused) if self.focused in panes else min(-by, 0)
        self.set_focus(panes[(index + by) % len(panes)])

    def toggle_lineage(self) -> None:
        """Show and focus the lineage tree, or leave it."""
        if self.lineage.has_focus:
            self.remove_class("-lineage")
            self.set_focus(self.rows)
        elif self.size.height < LEAST_FOR_TREE:
            self.say(_("the terminal is too low for the family tree"))
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
