"""The map beside a plan: where the bytes of the store are, how many of them go, and what the file itself holds free."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from rich.cells import cell_len
from textual.content import Content
from textual.timer import Timer

from hermes_browse.store.cleanup.protection import Why
from hermes_browse.store.cleanup.space_map import FileSpace, Space, SpaceMap, read_space_map
from hermes_browse.store.connection.connect import Reader
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.messages.preview import with_details
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

from .. import formats
from ..cleanup.treemap import Block
from ..cleanup.widgets import TreeMap
from ..list.conversation_list import ConversationList
from ..list.rows import FixedRows, ListRow
from ..screens.cleaning import Planned
from ..screens.sub_screen import SubScreen
from ..shared import header
from ..worker import Worker
from .plan_view import PlanView, jobs_of
from .space_rows import KindRow, SpaceRow, below, freed_sums, space_blocks, space_rows

_LOOK = 0.4
"""Seconds between looks at how far the measuring is."""


def before_and_after(name: str, file: FileSpace, goes: int, width: int) -> Content:
    """The file as a bar: what stays, what the plan frees for reuse, what is free already; the log and the way out.

    Args:
        name: Of the file.
        file: In pages.
        goes: Bytes that the plan frees in it.
        width: Cells there are: where they are few, so are the words.
    """
    whole = max(file.file_bytes, 1)
    size = max(min(width // 5, 40), 8)
    free = min(round(file.free_bytes / whole * size), size)
    freed = min(max(round(goes / whole * size), 1 if goes else 0), size - free)
    parts = [(f" {name} {formats.size(file.file_bytes)} ", "")]
    parts += [("█" * (size - freed - free), "$secondary-muted"), ("█" * freed, "$warning"), ("░" * free, "dim")]
    words = []
    if goes:
        words.append(_("the plan frees {size} inside").format(size=formats.size(goes)))
    if file.free_bytes:
        words.append(_("{size} free already").format(size=formats.size(file.free_bytes)))
    if file.shrinks_itself:
        words.append(_("the file gets smaller by itself"))
    elif goes or file.free_bytes:
        words.append(_("v gives back {size}").format(size=formats.size(goes + file.free_bytes)))
    if file.wal_bytes:
        words.append(_("log {size}").format(size=formats.size(file.wal_bytes)))
    used = sum(cell_len(text) for text, _look in parts) + 1
    told = ""
    for each in words:
        more = f"{told} · {each}" if told else each
        if used + cell_len(more) > width:
            break
        told = more
    return Content.assemble(*parts, (f" {told}", "dim"))


class Plans(Protocol):
    """The plan the map stands beside."""

    @property
    def planned(self) -> Planned | None: ...

    @property
    def view(self) -> PlanView | None: ...

    @property
    def plan_list(self) -> ConversationList: ...
    def show_totals(self) -> None: ...
    def picture_changed(self) -> None: ...
    def may_take(self, why: Why) -> bool: ...
    def toggle(self, conversation: Conversation) -> None: ...
    def take_by_hand(self, conversation: Conversation) -> None: ...
    def toggle_all(self, meant: Callable[[], list[tuple[str, str | None]]]) -> None: ...


class SpacePane:
    """Measures the store behind the plan, on a thread of its own."""

    def __init__(self, screen: SubScreen, plan: Plans) -> None:
        self._screen, self._plan = screen, plan
        self._opened: set[str] = set()
        self._inside: list[str] = []
        """Keys of the blocks that were entered, the outermost first."""
        self._came_from = ""
        """The block that was left: the cursor goes back to it."""
        self._map: SpaceMap | None = None
        self._sums: tuple[dict[str, int], dict[str, int]] | None = None
        """What goes of each line, and the plan's bytes it was worked out from."""
        self._looking: Timer | None = None
        self._begun = False
        self._worker = Worker(screen.context.store, screen.context.post, "space")

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
        self._screen.context.workers_of_store.append(self._worker)
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
        store, sizes, catalog = main.context.store, main.cleaning.sizes, main.context.catalog

        def work(reader: Reader) -> SpaceMap:
            known = catalog if catalog.exact else read_catalog(reader, main.context.clock())
            return read_space_map(reader, known, wal_bytes=store.sizes()[1], known=sizes)

        self._worker.submit("space", work, self._take, self._failed)

    def end(self) -> None:
        """No more measuring."""
        if self._begun:
            self._screen.context.workers_of_store.remove(self._worker)
            self._worker.stop()

    def _show_measuring(self) -> None:
        if not self._screen.is_whole:
            return
        main = self._screen.main
        known, total = len(main.cleaning.sizes), len(main.context.catalog.forest.sessions)
        sentence = _("where the bytes are · measuring, {count:,} of {total:,} sessions")
        text = sentence.format(count=min(known, total), total=total)
        self._screen.line("map-title").update(Content.styled(f"  {text}", "dim"))
        self._plan.picture_changed()

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
        self._show_title([])
        self.show_file()
        self.show()
        self._plan.show_totals()
        self._plan.picture_changed()

    def _show_title(self, inside: Sequence[str]) -> None:
        """Where in the map one is."""
        if self._map is None:
            return
        told = _("{size} with index · Tab").format(size=formats.size(self._map.total.total))
        if inside:
            told = _("{path} · Backspace goes out").format(path=" › ".join(inside))
        title = "  " + _("where the bytes are") + "  "
        self._screen.line("map-title").update(Content.assemble((title, "bold"), (told, "dim")))

    def show_file(self) -> None:
        """The file now, what the plan frees in it, and what only `optimize` gives back."""
        if self._map is None:
            return
        view = self._plan.view
        file, width = self._map.file, self._screen.size.width
        goes = min(view.bytes if view is not None else 0, file.file_bytes - file.free_bytes)
        name = one_line(self._screen.context.store.path.name, 60)
        self._screen.line("file").update(before_and_after(name, file, goes, width))

    @property
    def rows(self) -> ConversationList:
        """The list."""
        return self._screen.query_one("#space", ConversationList)

    @property
    def blocks(self) -> TreeMap:
        """The map in blocks, where there is room for it."""
        return self._screen.query_one(TreeMap)

    @property
    def pane(self) -> ConversationList | TreeMap:
        """What is shown of both."""
        return self.blocks if self._screen.has_class("-map") else self.rows

    @property
    def has_focus(self) -> bool:
        """Whether keys go to the map."""
        return self.pane.has_focus

    def show(self) -> None:
        """Draw the map, with what the plan takes of it; worked out beside the screen's thread, as it may be large."""
        space_map, screen = self._map, self._screen
        if space_map is None:
            return
        context, planned, view = screen.context, self._plan.planned, self._plan.view
        catalog = planned.catalog if planned is not None else context.catalog
        freed = view.freed if view is not None else {}
        opened, known = frozenset(self._opened), self._sums
        are_blocks, size, inside = screen.has_class("-map"), self.blocks.size, tuple(self._inside)

        def work(reader: Reader) -> tuple[dict[str, int], list[ListRow], tuple[list[Block], list[str]]]:
            sums = known[1] if known is not None and known[0] is freed else freed_sums(space_map, freed)
            if are_blocks:
                return (
                    sums,
                    [],
                    space_blocks(space_map, sums, catalog, context.details, inside, size.width, size.height),
                )
            return sums, space_rows(space_map, sums, catalog, context.details, opened), ([], [])

        def done(found: tuple[dict[str, int], list[ListRow], tuple[list[Block], list[str]]]) -> None:
            self._sums = (freed, found[0])
            if not screen.is_whole:
                return
            if are_blocks:
                if tuple(self._inside) != inside:  # another block was entered meanwhile
                    return
                self.blocks.show(found[2][0], self._came_from)
                self._came_from = ""
                del self._inside[len(found[2][1]) :]  # what is gone from the store
                self._show_title(found[2][1])
                self._read_names(found[2][0])
            else:
                self.rows.show(FixedRows(found[1]))

        self._worker.submit("rows", work, done, self._failed)

    def _read_names(self, blocks: Sequence[Block]) -> None:
        """Read how the conversations of blocks without a title begin, and name the blocks."""
        main = self._screen.main
        ids = [each.space.name for each in blocks if each.space is not None and each.space.level == "conversation"]
        found = [each for each in map(main.context.catalog.of_session, ids) if each is not None and not each.title]
        wanted = [each for each in found if not main.context.details.complete(each)[1]]
        if not wanted:
            return

        def done(named: list[Conversation]) -> None:
            main.context.details.add(named)
            if self._screen.is_whole:
                self.show()

        main.context.page_worker.submit(
            "map-names", lambda reader: with_details(reader, wanted), done, main.context.failed
        )

    def nameless(self, first: int, last: int) -> list[Conversation]:
        """Conversations of some lines that have no title and whose beginning has not been read."""
        main, source = self._screen.main, self.rows.source
        rows = (source.row(index) for index in range(first, min(last + 1, len(source))))
        ids = [row.space.name for row in rows if isinstance(row, SpaceRow) and row.space.level == "conversation"]
        found = [each for each in map(main.context.catalog.of_session, ids) if each is not None and not each.title]
        return [each for each in found if not main.context.details.complete(each)[1]]

    def about(self, row: SpaceRow | KindRow | Block) -> str:
        """What a line or a block comes to, and what can be done with it, in words."""
        if isinstance(row, Block):
            size, goes = formats.size(row.bytes), formats.size(row.goes)
            told = _("{name}: {size}").format(name=row.name, size=size)
            if row.goes:
                told = _("{name}: {size}, of which {goes} goes").format(name=row.name, size=size, goes=goes)
            if row.space is None:
                return told
            keys = _("Enter: what it is made of · space takes it, or leaves it")
            return f"{told} · {keys}"
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

    @property
    def _here(self) -> Space | None:
        """What the cursor is on."""
        if isinstance(pane := self.pane, TreeMap):
            return pane.current.space if pane.current is not None else None
        return pane.current.space if isinstance(pane.current, SpaceRow) else None

    def enter(self, block: Block) -> None:
        """Show what a block is made of."""
        if block.key and not block.key.startswith("k"):
            self._inside.append(block.key)
            self.show()

    @property
    def is_inside(self) -> bool:
        """Whether a block was entered."""
        return bool(self._inside)

    def leave(self) -> None:
        """One level up."""
        if self._inside:
            self._came_from = self._inside.pop()
            self.show()

    def follow(self, space: Space) -> None:
        """The plan goes to what the cursor of the map is on, where it is in the plan."""
        plan = self._plan.plan_list
        key = f"j{space.name}"
        if space.level == "conversation":
            found = self._screen.context.catalog.of_session(space.name)
            key = f"p{found.root_id}" if found is not None else ""
        index = plan.source.index_of(key)
        if index is not None:
            plan.cursor = index

    def read(self) -> None:
        """Read the conversation under the cursor."""
        space = self._here
        if space is not None and space.level == "conversation":
            found = self._screen.context.catalog.of_session(space.name)
            if found is not None:
                self._screen.read(found)

    def take_or_leave(self) -> None:
        """Leave what is under the cursor out of the plan, or take it."""
        screen, space = self._screen, self._here
        if space is None:
            return
        plan = self._plan
        planned, view = plan.planned, plan.view
        if space.level == "conversation":
            found = screen.context.catalog.of_session(space.name)
            if found is None:
                return
            why = view.spared.get(found.root_id) if view is not None else None
            if why is not None and not plan.may_take(why):
                told = _("it stays whatever is marked: {reason}").format(reason=why.words)
                screen.tell(header.status(told, ""))
                return
            if self.rows.has_focus:
                self.rows.action_move(1)
            if view is not None and found.root_id in view.roots:
                plan.toggle(found)
            else:
                plan.take_by_hand(found)
        elif planned is None:
            screen.tell(header.status(_("no rule, so nothing of it goes"), ""))
        else:
            plan.toggle_all(lambda: jobs_of(planned.plan, frozenset(each.name for each in below(space))))
