"""The lines around the panes of the main screen: title, views and column names above them, the status
below."""

from __future__ import annotations

from rich.cells import cell_len
from textual.content import Content
from textual.events import Resize

from hermes_browse.store.messages.chat_message import HitOrder
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import View
from hermes_browse.store.wording import N_, _

from ..settings.start import NARROW, has_head
from ..text import formats
from . import header
from .list.columns import order_arrow
from .list.rows import is_live
from .list.views import order_name, shown_line
from .panes import LEAST_FOR_TREE, Panes

_HIT_ORDERS = {
    HitOrder.NEWEST: N_("hits newest"),
    HitOrder.RELEVANCE: N_("hits relevance"),
    HitOrder.OLDEST: N_("hits oldest"),
}
SHORT = 30
"""Lines below which the tree is shown only on request."""


class HeaderAndStatus(Panes):
    """The panes, and the lines around them."""

    _is_header_due = False

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
        width, catalog, is_searching = self.size.width, self.catalog, self.searched is not None
        shown, old = shown_line(catalog, self.view), _("{count:,} old transcripts")
        if is_searching:
            old = _("{count:,} old transcripts not searched")
        if is_searching and catalog.exact:
            counts = catalog.counts()
            shown = _(
                "search in {count:,} of {total:,} conversations",
                count=counts[self.current_view],
                total=counts[View.ALL],
            )
        old = old.format(count=self.old_files) if self.old_files else ""
        shown = formats.joined(self.uncovered(), shown, old)
        self.line("header").update(header.title(self.location, self.attention, shown, width))
        offered = self.offered
        self.line("views").update(header.offers(offered, width) if offered else self.view_line())
        self.head.show(has_hits=self.results is not None, is_whole=catalog.exact)

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
            suffix = header.marked(self.marks.values())
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
        text = self.status.text or self.search_status
        if self.status.is_failure:
            self.line("status").update(header.status(text, look="$error"))
            return
        text, look = (text, "") if text else (self.about, "dim")
        writing = "" if look and is_live(self.rows.current) else self.writing
        line = header.status(text, self.progress, writing, self.size.width, look=look)
        self.line("status").update(line)

    watch_search_status = watch_about = watch_writing = watch_progress = watch_status

    @property
    def status_room(self) -> int:
        """Cells of the status line for a sentence."""
        return self.size.width - 2 - cell_len(f" │ {self.progress or self.writing}")

    def on_resize(self, event: Resize) -> None:
        self.set_class(event.size.width < NARROW, "-narrow")
        self.set_class(event.size.height < SHORT, "-short")
        self.set_class(not has_head(*event.size), "-low")
        if event.size.height < LEAST_FOR_TREE and self.lineage.has_focus:
            self.toggle_lineage()
        self.share_out()
        self.show_header()
        self.watch_status()
