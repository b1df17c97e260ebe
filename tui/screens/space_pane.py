"""The map beside a plan: where the bytes of the store are, how many of them go, and what the file itself holds free."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content
from textual.timer import Timer

from hermes_browse.store.connect import Reader
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.prune.spacemap import FileSpace, SpaceMap
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

from .. import formats, header
from ..clean_rows import KindRow, SpaceRow
from ..map_rows import below, freed_sums, space_rows
from ..plan_view import jobs_of
from ..rows import FixedRows, ListRow
from ..widgets.conversation_list import ConversationList
from ..worker import Worker

if TYPE_CHECKING:
    from .plan_screen import PlanScreen

_LOOK = 0.4
"""Seconds between looks at how far the measuring is."""


def file_line(name: str, file: FileSpace, width: int) -> str:
    """`state.db 6.4 GB · 210 MB free inside · log 4 MB · …`.

    Args:
        name: Of the file.
        file: In pages.
        width: Cells there are: where they are few, so are the words.
    """
    parts = [f" {name} {formats.size(file.file_bytes)}"]
    if file.free_bytes:
        parts.append(_("{size} free inside").format(size=formats.size(file.free_bytes)))
    if file.wal_bytes:
        parts.append(_("log {size}").format(size=formats.size(file.wal_bytes)))
    if file.shrinks_itself:
        return " · ".join([*parts, _("the file gets smaller by itself")])
    told = _("what goes makes room for Hermes' next rows; the file gets smaller by a VACUUM only: v")
    whole = " · ".join([*parts, told])
    return whole if cell_len(whole) <= width else " · ".join([*parts, _("only a VACUUM makes it smaller: v")])


class SpacePane:
    """Measures the store behind the plan, on a thread of its own."""

    def __init__(self, screen: PlanScreen) -> None:
        self._screen = screen
        self._opened: set[str] = set()
        self._map: SpaceMap | None = None
        self._sums: tuple[dict[str, int], dict[str, int]] | None = None
        """What goes of each line, and the plan's bytes it was worked out from."""
        self._looking: Timer | None = None
        self._begun = False
        self._worker = Worker(screen.main.store, screen.main.post_message, "space")

    @property
    def is_busy(self) -> bool:
        """Whether the store is being measured."""
        return self._worker.is_busy

    @property
    def total(self) -> int:
        """Bytes of everything; 0 until it is known."""
        return self._map.total.total if self._map is not None else 0

    def announce(self) -> None:
        """Say what will be here."""
        self._screen.line("map-title").update(Content.styled("  " + _("where the bytes are · after the plan"), "dim"))

    def begin(self) -> None:
        """Measure, once: behind the first plan, which is what was asked for."""
        if self._begun:
            return
        self._begun = True
        self._screen.main.workers_of_store.append(self._worker)
        self._worker.start()
        self._looking = self._screen.set_interval(_LOOK, self._show_measuring)
        self._measure()
        self._show_measuring()

    def again(self) -> None:
        """Something has gone, or come back: what was measured before is not measured again."""
        if self._map is not None:
            self._measure()

    def _measure(self) -> None:
        main = self._screen.main
        store, sizes, catalog = main.store, main.cleaning.sizes, main.listing.catalog

        def work(reader: Reader) -> SpaceMap:
            from hermes_browse.store.prune.spacemap import read_space_map
            from hermes_browse.store.sessions.catalog import read_catalog

            known = catalog if catalog.exact else read_catalog(reader, main.clock())
            return read_space_map(reader, known, wal_bytes=store.sizes()[1], known=sizes)

        self._worker.submit("space", work, self._take, self._failed)

    def end(self) -> None:
        """No more measuring."""
        if self._begun:
            self._screen.main.workers_of_store.remove(self._worker)
            self._worker.stop()

    def _show_measuring(self) -> None:
        if not self._screen.is_whole:
            return
        main = self._screen.main
        known, total = len(main.cleaning.sizes), len(main.listing.catalog.forest.sessions)
        sentence = _("where the bytes are · measuring, {count:,} of {total:,} sessions")
        text = sentence.format(count=min(known, total), total=total)
        self._screen.line("map-title").update(Content.styled(f"  {text}", "dim"))

    def _stop_looking(self) -> None:
        if self._looking is not None:
            self._looking.stop()
            self._looking = None

    def _failed(self, error: BrowseError) -> None:
        self._stop_looking()
        if self._screen.is_whole:
            self._screen.line("map-title").update(header.failure(str(error)))

    def _take(self, found: SpaceMap) -> None:
        self._stop_looking()
        if not self._screen.is_whole:
            return
        self._map = found
        told = _("{size} with index · Tab").format(size=formats.size(found.total.total))
        title = "  " + _("where the bytes are") + "  "
        self._screen.line("map-title").update(Content.assemble((title, "bold"), (told, "dim")))
        self.show_file()
        self.show()
        self._screen.show_totals()

    def show_file(self) -> None:
        """What the file itself holds."""
        if self._map is not None:
            name = one_line(self._screen.main.store.path.name, 60)
            text = file_line(name, self._map.file, self._screen.size.width)
            self._screen.line("file").update(Content.styled(text, "dim"))

    @property
    def rows(self) -> ConversationList:
        """The list."""
        return self._screen.query_one("#space", ConversationList)

    def show(self) -> None:
        """Draw the map, with what the plan takes of it; worked out beside the screen's thread, as it may be large."""
        space_map, screen = self._map, self._screen
        if space_map is None:
            return
        main, planned, view = screen.main, screen.planned, screen.view
        catalog = planned.catalog if planned is not None else main.listing.catalog
        freed = view.freed if view is not None else {}
        opened, known = frozenset(self._opened), self._sums

        def work(reader: Reader) -> tuple[dict[str, int], list[ListRow]]:
            sums = known[1] if known is not None and known[0] is freed else freed_sums(space_map, freed)
            return sums, space_rows(space_map, sums, catalog, main.details, opened)

        def done(found: tuple[dict[str, int], list[ListRow]]) -> None:
            self._sums = (freed, found[0])
            if screen.is_whole:
                self.rows.show(FixedRows(found[1]))

        self._worker.submit("rows", work, done, self._failed)

    def nameless(self, first: int, last: int) -> list[Conversation]:
        """Conversations of some lines that have no title and whose beginning has not been read."""
        main, source = self._screen.main, self.rows.source
        rows = (source.row(index) for index in range(first, min(last + 1, len(source))))
        ids = [row.space.name for row in rows if isinstance(row, SpaceRow) and row.space.level == "conversation"]
        found = [each for each in map(main.listing.catalog.of_session, ids) if each is not None and not each.title]
        return [each for each in found if not main.details.complete(each)[1]]

    def about(self, row: SpaceRow | KindRow) -> str:
        """What a line comes to, and what can be done with it, in words."""
        if isinstance(row, KindRow):
            if not row.whole:
                return row.name
            sentence = _("{name}: {share:.1%} of all that is in the store")
            return sentence.format(name=row.name, share=row.bytes / row.whole)
        if row.space.level == "conversation":
            return _("Enter: what it is made of · space takes it, or leaves it · o reads it")
        return _("Enter: what it is made of · space leaves what goes of it, or takes it")

    def take(self, row: ListRow) -> None:
        """Enter on a line: open or close it.

        Args:
            row: Of the map.
        """
        if isinstance(row, SpaceRow):
            self._opened ^= {row.key}
            self.show()

    def read(self) -> None:
        """Read the conversation under the cursor."""
        row = self.rows.current
        if isinstance(row, SpaceRow) and row.space.level == "conversation":
            found = self._screen.main.listing.catalog.of_session(row.space.name)
            if found is not None:
                self._screen.read(found)

    def take_or_leave(self) -> None:
        """Leave what is under the cursor out of the plan, or take it."""
        screen, row = self._screen, self.rows.current
        if not isinstance(row, SpaceRow):
            return
        planned, view, space = screen.planned, screen.view, row.space
        if space.level == "conversation":
            found = screen.main.listing.catalog.of_session(space.name)
            if found is None:
                return
            why = view.spared.get(found.root_id) if view is not None else None
            if why is not None and not screen.may_take(why):
                told = _("it stays whatever is marked: {reason}").format(reason=why.words)
                screen.tell(header.status(told, ""))
                return
            self.rows.action_move(1)
            if view is not None and found.root_id in view.roots:
                screen.toggle(found)
            else:
                screen.take_by_hand(found)
        elif planned is None:
            screen.tell(header.status(_("no rule, so nothing of it goes"), ""))
        else:
            screen.toggle_all(lambda: jobs_of(planned.plan, frozenset(each.name for each in below(space))))
