"""The panes of the main screen: layout, focus and zoom; the lines around them, which are title, views
and column names above them and the status below; and what opens over them, by name."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Resize
from textual.screen import ModalScreen, Screen
from textual.widgets import Input

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.messages.chat_message import HitOrder
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Conversation, View
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _

from ..settings.keys.main_commands import OF_COMPRESSED
from ..settings.start import NARROW, has_head
from ..terminal.programs import copy_text
from ..text import formats
from ..widgets.lines import KeyLine, TextLine
from ..widgets.list_rows import ListRow
from . import header
from .context import Context, Result
from .lineage import LineageTree
from .list.columns import order_arrow, order_name, shown_line
from .list.conversation_list import ConversationList, ListHead
from .list.list_model import FirstPage, read_first
from .list.rows import is_live
from .search.box import FindBox, GoToBox, SearchBox
from .transcript.view import TranscriptView

IMPORTS = {
    "changes": "tui.screens.changes.ChangesScreen",
    "compactions": "tui.screens.compactions.CompactionsScreen",
    "copying": "tui.browser.transcript.copying.Copying",
    "details": "tui.browser.transcript.cards.show_details",
    "doctor": "tui.screens.doctor.DoctorScreen",
    "edits": "tui.browser.edit.edits.Edits",
    "export": "tui.screens.exporting.ExportCard",
    "finding": "tui.browser.transcript.finding.Finding",
    "help": "tui.screens.help.HelpCard",
    "insights": "tui.screens.insights.screen.InsightsScreen",
    "keymap": "tui.settings.keymap.keymap_and_trouble",
    "languages": "tui.browser.transcript.markdown_layout.load_languages",
    "measuring": "tui.browser.list.measuring.measure",
    "old": "tui.browser.other_stores.OldScreen",
    "old-transcripts": "tui.browser.other_stores.read_old_transcripts",
    "palette": "tui.screens.palette.open_palette",
    "places": "tui.browser.other_stores.PlacesScreen",
    "prune": "tui.screens.cleanup.prune_screen.PruneScreen",
    "query-line": "tui.browser.search.query_line.QueryLine",
    "remove-older": "store.trash.shelf.remove_older",
    "resuming": "tui.browser.resuming.Resuming",
    "retention": "tui.screens.cleanup.retention_screen.RetentionScreen",
    "run": "tui.screens.run.RunScreen",
    "search": "tui.browser.search.live_search.LiveSearch",
    "searches": "tui.browser.search.history.SearchesCard",
    "seen-here": "tui.screens.inspection.toggle_seen_here",
    "since": "tui.screens.since.SinceScreen",
    "sort": "tui.screens.palette.SortCard",
    "switching": "tui.browser.switching.Switching",
    "trash": "tui.screens.trash.TrashScreen",
}
"""Screens, cards and rare functions, by module in `hermes_browse` and name, imported on first use:
the first frame does without them, and the screens import the main one."""


def load(name: str) -> Any:
    """Import a class or function; for a screen, `name` is the id of the command that opens it."""
    module, _, attribute = IMPORTS[name].rpartition(".")
    return getattr(import_module(f"hermes_browse.{module}"), attribute)


_NAME = 60
"""Code points of a name in a sentence."""
_SHORT = 30
"""Lines below which the tree is shown only on request."""
_LEAST_FOR_TREE = 14
"""Lines of a terminal in which a line of the tree has room."""
_HIT_ORDERS = {
    HitOrder.NEWEST: N_("hits newest"),
    HitOrder.RELEVANCE: N_("hits relevance"),
    HitOrder.OLDEST: N_("hits oldest"),
}


class Panes(Context):
    """The panes without their contents, and the lines around them."""

    AUTO_FOCUS = ""
    _is_header_due = False

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
        self.status_line = TextLine(id="status")
        self.key_line = KeyLine(
            more=("insights", "trash", "profiles", "export", "undo", "details", "rename", "doctor"),
            withheld=OF_COMPRESSED,
        )
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
        yield self.status_line
        yield self.key_line

    def notes(self) -> Sequence[ListRow]:
        """Return rows above those of the list: what is missing in it; on any thread."""
        return ()

    def why_gone(self, conversation: Conversation) -> str:
        """Return why a conversation is no longer listed in any view."""
        return _(
            "“{name}” is no longer in the store: another program deleted it",
            name=one_line(formats.name(conversation), _NAME),
        )

    @property
    def message_id(self) -> int | None:
        """The message that keys act on in the transcript, if that has the keys."""
        return self.transcript.current_id if self.focused is self.transcript else None

    def first_page(self, store: Store, view: View = View.CHATS) -> FirstPage:
        """Read what the first frame of another store shows, on any thread."""
        return read_first(store, self.clock(), max(self.size.height, 20), view)

    def open_screen(self, name: str, *args: object) -> None:
        """Open a screen by its name in `IMPORTS`, with what else its class takes."""
        self.app.push_screen(load(name)(self, *args))

    async def ask(
        self, card: ModalScreen[Result], over: Screen[Any] | None = None
    ) -> Result | None:
        """Open a card and return its answer, in a coroutine that was started by `start`.

        Args:
            over: Where the key was pressed, if something was read since. None is returned if
                another screen or a field has the keys now: what is typed there must not answer.
        """
        if over is not None and not self.has_keys(over):
            return None
        return await self.app.push_screen_wait(card)

    def has_keys(self, screen: Screen[Any]) -> bool:
        """Return whether a screen has the keys, and none of its fields."""
        return self.app.screen is screen and not isinstance(self.app.focused, Input)

    def copy(self, text: str, name: str = "") -> None:
        """Copy a text, and say how; the name is printable and defaults to the text."""
        self.start("copying", self.copy_and_say, text, name or text)

    async def copy_and_say(self, text: str, name: str) -> None:
        self.say(f"{name} {await copy_text(text, self.app.copy_to_clipboard)}")

    def line(self, name: str) -> TextLine:
        return self.query_one(f"#{name}", TextLine)

    def share_out(self) -> None:
        """Set the list's size from its share. Above a transcript that is read it has half of it."""
        styles, sizes = self.query_one("#listed").styles, self.pane_sizes
        is_read = self.focused not in (self.rows, self.box, None)
        height = sizes.height // 2 if is_read else sizes.height
        shares: dict[str, str | None] = {"width": None, "height": None}
        if not self.has_class("-zoom-list"):
            is_narrow = self.has_class("-narrow")
            shares |= {"height": f"{height}%"} if is_narrow else {"width": f"{sizes.width}%"}
        for name, share in shares.items():
            # To set None lays out the screen, even where it takes nothing away (Textual 8).
            if share is not None or styles.clear_rule(name):
                setattr(styles, name, share)

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
        elif self.size.height < _LEAST_FOR_TREE:
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

    # The lines at the top

    def show_header_soon(self) -> None:
        """Update the lines at the top after the next frame, once for all that has changed."""
        if not self._is_header_due:
            self._is_header_due = True
            self.call_after_refresh(self.show_header)

    def show_header(self) -> None:
        self._is_header_due = False
        width, catalog, counts = self.size.width, self.catalog, self.catalog.counts()
        shown, old = shown_line(catalog, self.view), N_("{count:,} old transcripts")
        if self.searched is not None:
            old = N_("{count:,} old transcripts not searched")
            if catalog.exact:
                shown = _(
                    "search in {count:,} of {total:,} conversations",
                    count=counts[self.search_view],
                    total=counts[View.ALL],
                )
        old = _(old, count=self.old_files) if self.old_files else ""
        shown = formats.joined(self.uncovered(), shown, old)
        self.line("header").update(header.title(self.location, self.attention, shown, width))
        offered = self.offered
        self.line("views").update(header.offers(offered, width) if offered else self.view_line())
        self.head.has_hits, self.head.is_whole = self.results is not None, catalog.exact
        self.head.refresh()

    def uncovered(self) -> str:
        """Return what the counts in the header do not cover; empty if they cover everything."""
        return ""

    def view_line(self) -> Content:
        """Build the line of views, with the list's order."""
        return self.views(self.catalog, self.current_view, self.old_files)

    def views(self, catalog: Catalog, view: View | None, old: int) -> Content:
        """Build the line of views of a catalog; `old` is the number of old transcripts."""
        suffix = f"{order_arrow(self.sort, reverse=self.reverse)} {order_name(self.sort)}"
        if self.marks:
            count = sum(each.message_count for each in self.marks.values())
            suffix = _(
                "✓ {count:,} marked · {messages}",
                count=len(self.marks),
                messages=formats.messages(count),
            )
        elif self.results is not None:
            suffix = _(_HIT_ORDERS[self.hit_order])
        look = "bold $accent" if self.marks else "dim"
        return header.views(catalog, view, suffix, old, self.size.width, look)

    # The status line

    def watch_status(self) -> None:
        """Show the sentence, and what runs behind the screen; without a sentence, what the search
        found, or what there is to tell of the row under the cursor."""
        if not self.status_line.is_attached:  # the browser is being left
            return
        said = self.status if self.status.text else header.StatusText(self.search_status)
        is_told = not said.text and is_live(self.rows.current)  # the row says who writes
        writing = "" if is_told else self.writing
        self.status_line.update(
            header.status(said, self.about, self.progress, writing, self.size.width)
        )

    watch_search_status = watch_about = watch_writing = watch_progress = watch_status

    @property
    def status_room(self) -> int:
        """Cells of the status line for a sentence."""
        return self.size.width - 2 - cell_len(f" │ {self.progress or self.writing}")

    def on_resize(self, event: Resize) -> None:
        self.set_class(event.size.width < NARROW, "-narrow")
        self.set_class(event.size.height < _SHORT, "-short")
        self.set_class(not has_head(*event.size), "-low")
        if event.size.height < _LEAST_FOR_TREE and self.lineage.has_focus:
            self.toggle_lineage()
        self.share_out()
        self.show_header()
        self.watch_status()
