"""The panes of the main screen: layout, focus and zoom, the lines around them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Resize
from textual.screen import ModalScreen, Screen
from textual.widgets import Input, Static

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import View
from hermes_browse.store.wording import N_, _

from ..settings.keys.main_commands import LIST, MAIN, NEEDED, OF_COMPRESSED
from ..settings.start import NARROW, has_head
from ..terminal import clipboard
from ..text import formats
from ..widgets.bindings import working
from ..widgets.keys import KeyLine
from ..widgets.lines import TextLine
from ..widgets.list_rows import ListRow
from ..work.application import Application
from . import header
from .by_name import load
from .context import Context, Result
from .lineage import LineageTree
from .list.columns import order_arrow
from .list.conversation_list import ConversationList, ListHead
from .list.list_model import FirstPage
from .list.rows import is_live
from .list.views import order_name, shown_line
from .search.box import FindBox, GoToBox, SearchBox
from .transcript.view import TranscriptView

_SHOWN = (*NEEDED, "help")
_SAFE = N_("Looking changes nothing. What you delete goes to the trash; {undo} takes it back.")
_MORE = N_("{help} shows every key. The first key takes this hint away.")


class FirstHint(Static):
    """The keys in force, and two sentences."""

    def appear(self) -> None:
        known = {command.id: command for command in (*MAIN, *LIST)}
        in_force = working((known[id] for id in _SHOWN), self.screen.active_bindings)
        keys = {command.id: names.split()[0] for names, command in in_force}
        parts: list[tuple[str, str]] = []
        room = width = self.app.size.width
        for id in filter(keys.__contains__, NEEDED):
            key, title = f"{keys[id]} ", f"{_(known[id].title)}  "
            room -= cell_len(key + title)
            if room < 0:  # a key stands in the line of its title
                parts.append(("\n", ""))
                room = width - cell_len(key + title)
            parts += [(key, "bold $accent"), (title, "")]
        for id, sentence in (("undo", _SAFE), ("help", _MORE)):
            if id in keys:
                parts.append(("\n" + _(sentence, **{id: keys[id]}), ""))
        self.display = True
        self.update(Content.assemble(*parts))


_HIT_ORDERS = {
    "newest": N_("hits newest"),
    "relevance": N_("hits relevance"),
    "oldest": N_("hits oldest"),
}
SHORT = 30
"""Lines below which the tree is shown only on request."""


class Panes(Context):
    """The panes, without their contents."""

    AUTO_FOCUS = ""

    def __init__(
        self, host: Application, location: Location, store: Store, first: FirstPage
    ) -> None:
        super().__init__(host, location, store, first)
        self.pane_sizes = host.pane_sizes
        """The list's share of the panes."""
        self._is_header_due = False
        self.box = SearchBox(id="search")
        """The search box."""
        self.rows = ConversationList(id="list")
        """The list of conversations, or of hits."""
        self.head = ListHead(self.rows, id="head")
        """The column names of the list."""
        self.transcript = TranscriptView(id="transcript")
        """The transcript."""
        hint = _("exact text; n and N go to the next and previous")
        self.find_box = FindBox(placeholder=hint, id="find-box", compact=True)
        """Below the transcript, when a text is asked for."""
        self.go_to_box = GoToBox(id="go-to-box", compact=True)
        """Below the transcript, when a message is asked for."""
        self.lineage = LineageTree(id="lineage")
        """The lineage tree."""
        self.rows.marks = self.marks
        self.rows.clock = self.lineage.clock = host.clock

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
        if self.host.is_hint_wanted:
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

    def open_screen(self, name: str, *given: object) -> None:
        """Open a screen by its name in `by_name`, with what else its class takes."""
        self.app.push_screen(load(name)(self, *given))

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
        self.start("copying", self.copied, text, name or text)

    async def copied(self, text: str, name: str) -> None:
        self.say(f"{name} {await clipboard.copy(text, self.app.copy_to_clipboard)}")

    def redraw_marks(self) -> None:
        self.rows.refresh_rows()
        self.show_header_soon()

    # The lines at the top

    def show_header_soon(self) -> None:
        """Update the lines at the top in the next frame, once for all that has changed."""
        if not self._is_header_due:
            self._is_header_due = True
            self.call_later(self.show_header)

    def show_header(self) -> None:
        self._is_header_due = False
        width, catalog = self.size.width, self.catalog
        counts, is_searching = catalog.counts(), self.searched is not None
        shown = shown_line(catalog, self.view)
        if is_searching and catalog.exact:
            shown = _(
                "search in {count:,} of {total:,} conversations",
                count=counts[self.current_view],
                total=counts[View.ALL],
            )
        old = _("{count:,} old transcripts")
        if is_searching:
            old = _("{count:,} old transcripts not searched")
        old = old.format(count=self.old_files) if self.old_files else ""
        shown = formats.joined(self.covered(), shown, old)
        asks = header.attention(self.attention)
        self.line("header").update(header.title(self.location, asks, shown, width))
        offered = self.offered
        self.line("views").update(header.offers(offered, width) if offered else self.view_line())
        has_hits = self.results is not None
        self.head.show(has_hits=has_hits, is_whole=self.catalog.exact and not has_hits)

    def covered(self) -> str:
        """Return what the counts in the header do not cover; empty if they cover everything."""
        return ""

    def view_line(self) -> Content:
        """Build the line of views, with the list's order."""
        return self.views(self.catalog, self.current_view, self.old_files)

    def views(self, catalog: Catalog, view: View | None, old: int) -> Content:
        """Build the line of views of a catalog; `old` is the number of old transcripts."""
        suffix = f"{order_arrow(self.sort, reverse=self.reverse)} {order_name(self.sort)}"
        if self.marks:
            messages = sum(each.message_count for each in self.marks.values())
            suffix = header.marked(len(self.marks), messages)
        elif self.results is not None:
            suffix = _(_HIT_ORDERS[self.hit_order])
        look = "bold $accent" if self.marks else "dim"
        return header.views(catalog, view, suffix, old, self.size.width, look)

    # The status line

    def watch_status(self) -> None:
        """Show the sentence, and what runs behind the screen; without a sentence, what the search
        found, or what there is to tell of the row under the cursor."""
        if not self.query("#status"):  # the browser is being left while a job tells how far it is
            return
        said, _is_of_page, is_failure = self.status
        text = said or self.search_status
        is_repeated = not text and is_live(self.rows.current)
        writing = header.writers(text or self.about, self.writing, self.size.width)
        state = self.progress or ("" if is_repeated else writing)
        line = header.status(text or self.about, state, look="" if text else "dim")
        self.line("status").update(header.failure(text) if is_failure else line)

    watch_search_status = watch_about = watch_writing = watch_progress = watch_status

    @property
    def status_room(self) -> int:
        """Cells of the status line for a sentence."""
        return self.size.width - 2 - cell_len(f" │ {self.progress or self.writing}")

    def line(self, name: str) -> TextLine:
        return self.query_one(f"#{name}", TextLine)

    def on_resize(self, event: Resize) -> None:
        self.set_class(event.size.width < NARROW, "-narrow")
        self.set_class(event.size.height < SHORT, "-short")
        self.set_class(not has_head(*event.size), "-low")
        self.share_out()
        self.show_header()
        self.watch_status()

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
        outside = -1 if by > 0 else 0
        index = panes.index(self.focused) if self.focused in panes else outside
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
