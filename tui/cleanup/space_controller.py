"""The map beside a plan: bytes of the store by source and conversation, what the plan frees, what
is free."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence

from rich.cells import cell_len
from textual.content import Content
from textual.timer import Timer

from hermes_browse.store.cleanup.plan import Plan
from hermes_browse.store.cleanup.space_map import FileSpace, Space, SpaceMap, read_space_map
from hermes_browse.store.connection.reader import Reader
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

from .. import formats
from ..list.conversation_list import ConversationList
from ..list.list_model import job_key, job_key_of
from ..list.list_rows import FixedRows, ListRow
from ..screens.sub_screen import SubScreen
from ..shared import header
from ..worker import Worker
from .plan_controller import PlanController
from .space_rows import KindRow, MapOfPlan, SpaceRow, below, freed_sums
from .treemap import Tile, TreeMap

_UPDATE = 0.4
"""Seconds between two updates while the store is measured."""


def _roots_of(plan: Plan, ids: Container[str]) -> dict[str, str | None]:
    """Return the roots of conversations of a plan, given by tips or roots, each with its job if it
    is a cron run."""
    return {
        each.conversation.root_id: job_key_of(each.conversation.root)
        for each in plan.selected
        if each.conversation.id in ids or each.conversation.root_id in ids
    }


def before_and_after(
    name: str, file: FileSpace, goes: int, width: int, signs: str = "██░"
) -> Content:
    """Draw the file as a bar of what stays, what goes and what is free already, then its sizes as
    far as they fit.

    `goes` are the bytes that the plan frees; `width` is in cells; the parts are filled with
    `signs`.
    """
    whole = max(file.file_bytes, 1)
    size = max(min(width // 5, 40), 8)
    free = min(round(file.free_bytes / whole * size), size)
    freed = min(max(round(goes / whole * size), 1 if goes else 0), size - free)
    parts = [(f" {name} {formats.size(file.file_bytes)} ", "")]
    counts, looks = (size - freed - free, freed, free), ("$secondary-muted", "$warning", "dim")
    parts += [(sign * count, look) for sign, count, look in zip(signs, counts, looks, strict=True)]
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
    text = ""
    for each in words:
        longer = f"{text} · {each}" if text else each
        if used + cell_len(longer) > width:
            break
        text = longer
    return Content.assemble(*parts, (f" {text}", "dim"))


class SpaceController:
    """Measures the store on a worker of its own, and shows where the bytes are as rows or as
    blocks.

    Conversations are left out of the plan here, too. `measured` is called when more of the store
    has been measured, and when all of it has.
    """

    def __init__(
        self, screen: SubScreen, plan: PlanController, measured: Callable[[], None]
    ) -> None:
        self._screen, self._plan, self._measured = screen, plan, measured
        self._opened: set[str] = set()
        self._inside: list[str] = []
        """Keys of the blocks that were entered, outermost first."""
        self._came_from = ""
        """Key of the block that was left, to which the cursor returns."""
        self._map: SpaceMap | None = None
        self._sums: tuple[dict[str, int], dict[str, int]] | None = None
        """The freed bytes of the plan, and the sums by row that were made from them."""
        self._updates: Timer | None = None
        """Shows how far the first measurement is; None before that has begun."""
        self._worker = Worker(screen.context.store, screen.context.post, self._failed, "space")

    @property
    def is_busy(self) -> bool:
        """Whether the store is being measured."""
        return self._worker.is_busy

    @property
    def total(self) -> int:
        """Bytes of everything; 0 until measured."""
        return self._map.total.total if self._map is not None else 0

    def begin(self) -> None:
        """Start measuring; does nothing after the first call."""
        if self._updates is not None:
            return
        self._screen.context.workers_of_store.append(self._worker)
        self._worker.start()
        self._updates = self._screen.set_interval(_UPDATE, self._show_measuring)
        self._measure()
        self._show_measuring()

    def again(self) -> None:
        """Measure what is new, as the list has been read again."""
        if self._map is not None:
            self._measure()

    def _measure(self) -> None:
        context = self._screen.context
        store, sizes, catalog = context.store, context.sizes, context.catalog

        def work(reader: Reader) -> SpaceMap:
            exact = catalog if catalog.exact else read_catalog(reader, context.clock())
            return read_space_map(reader, exact, wal_bytes=store.sizes()[1], known=sizes)

        self._worker.submit("space", work, self._take)

    def end(self) -> None:
        """Stop measuring."""
        if self._updates is not None:
            self._screen.context.workers_of_store.remove(self._worker)
            self._worker.stop()

    def _show_measuring(self) -> None:
        if not self._screen.is_whole:
            return
        context = self._screen.context
        measured, total = len(context.sizes), len(context.catalog.forest.sessions)
        sentence = _("disk usage · measuring, {count:,} of {total:,} sessions")
        text = sentence.format(count=min(measured, total), total=total)
        self._screen.line("map-title").update(Content.styled(f"  {text}", "dim"))
        self._measured()

    def _stop_updates(self) -> None:
        if self._updates is not None:
            self._updates.stop()

    def _failed(self, error: BrowseError) -> None:
        self._stop_updates()
        if self._screen.is_whole:
            self._screen.line("map-title").update(header.failure(str(error)))

    def _take(self, space_map: SpaceMap) -> None:
        self._stop_updates()
        if not self._screen.is_whole:
            return
        self._map = space_map
        self._show_title([])
        self.show_file()
        self.show()
        self._measured()

    def _show_title(self, inside: Sequence[str]) -> None:
        """Show the path of the blocks that were entered."""
        if self._map is None:
            return
        note = _("{size} with index · Tab goes in").format(size=formats.size(self._map.total.total))
        if inside:
            note = _("{path} · Backspace goes out").format(path=" › ".join(inside))
        title = "  " + _("disk usage") + "  "
        self._screen.line("map-title").update(Content.assemble((title, "bold"), (note, "dim")))

    def show_file(self) -> None:
        """Show the size of the file, what the plan frees in it, and what only `optimize` gives
        back."""
        if self._map is None:
            return
        view = self._plan.view
        file, width = self._map.file, self._screen.size.width
        goes = min(view.bytes if view is not None else 0, file.file_bytes - file.free_bytes)
        name = one_line(self._screen.context.store.path.name, 60)
        signs = "░█·" if self._screen.app.no_color else "██░"
        self._screen.line("file").update(before_and_after(name, file, goes, width, signs))

    @property
    def rows(self) -> ConversationList:
        """The map as a list."""
        return self._screen.query_one("#space", ConversationList)

    @property
    def blocks(self) -> TreeMap:
        """The map as blocks."""
        return self._screen.query_one(TreeMap)

    @property
    def pane(self) -> ConversationList | TreeMap:
        """The visible one of both: blocks if there is room."""
        return self.blocks if self._screen.has_class("-map") else self.rows

    @property
    def has_focus(self) -> bool:
        """Whether the map has the focus."""
        return self.pane.has_focus

    def show(self) -> None:
        """Draw the map with what the plan frees; computed on a worker thread, as the map may be
        large."""
        space_map, screen = self._map, self._screen
        if space_map is None:
            return
        context, planned, view = screen.context, self._plan.planned, self._plan.view
        catalog = (
            planned.catalog
            if planned is not None and not context.catalog.exact
            else context.catalog
        )
        freed = view.freed if view is not None else {}
        opened, cached, read_before = frozenset(self._opened), self._sums, context.details.additions
        are_blocks, size, inside = screen.has_class("-map"), self.blocks.size, tuple(self._inside)

        def work(
            reader: Reader,
        ) -> tuple[dict[str, int], list[ListRow], tuple[list[Tile], list[str]]]:
            sums = (
                cached[1]
                if cached is not None and cached[0] is freed
                else freed_sums(space_map, freed)
            )
            of_plan = MapOfPlan(space_map, sums, catalog, context.details)
            if are_blocks:
                return sums, [], of_plan.blocks(inside, size.width, size.height)
            return sums, of_plan.rows(opened), ([], [])

        def done(
            result: tuple[dict[str, int], list[ListRow], tuple[list[Tile], list[str]]],
        ) -> None:
            sums, rows, (blocks, path) = result
            self._sums = (freed, sums)
            if not screen.is_whole:
                return
            if are_blocks:
                if tuple(self._inside) != inside:  # another block was entered meanwhile
                    return
                self.blocks.show(blocks, self._came_from)
                self._came_from = ""
                del self._inside[len(path) :]  # blocks that are gone from the store
                self._show_title(path)
                spaces = [each.space for each in blocks if each.space is not None]
                screen.read_names("map-names", self._unread(spaces), self.names_read)
            else:
                self.rows.show(FixedRows(rows))
            if context.details.additions != read_before:  # the plan has read names that this lacks
                self.show()

        self._worker.submit("rows", work, done)

    def names_read(self) -> None:
        """Show names that were read for the map, also in the plan, which then has nothing left to
        read."""
        self._plan.rows.refresh_rows()
        self.show()

    def _unread(self, spaces: Iterable[Space]) -> list[Conversation]:
        """Return the conversations that name lines and have not been read: untitled ones, and a run
        of each job."""
        catalog, details = self._screen.context.catalog, self._screen.context.details
        tips = (
            each if each.level == "conversation" else each.below[0]
            for each in spaces
            if each.level in ("conversation", "job")
        )
        conversations = (catalog.of_session(each.name) for each in tips)
        return [
            each
            for each in conversations
            if each and not each.title and not details.complete(each)[1]
        ]

    def nameless(self, first: int, last: int) -> list[Conversation]:
        """Return conversations of some rows that have no title and whose preview has not been
        read."""
        source = self.rows.source
        rows = (source.row(index) for index in range(first, min(last + 1, len(source))))
        return self._unread(row.space for row in rows if isinstance(row, SpaceRow))

    def about(self, row: SpaceRow | KindRow) -> str:
        """Return a sentence about a row, and the keys that work on it."""
        if isinstance(row, KindRow):
            if not row.whole:
                return row.name
            sentence = _("{name}: {share:.1%} of all that is in the store")
            return sentence.format(name=row.name, share=row.bytes / row.whole)
        if row.space.level == "conversation":
            return _(
                "Enter shows its contents · Space adds it to the plan, or removes it · o reads it"
            )
        return _("Enter shows its contents · Space removes it from the plan, or adds it")

    def select(self, row: ListRow) -> None:
        """Open a row, or close it."""
        if isinstance(row, SpaceRow):
            self._opened ^= {row.key}
            self.show()

    @property
    def _current(self) -> Space | None:
        if isinstance(pane := self.pane, TreeMap):
            return pane.current.space if pane.current is not None else None
        return pane.current.space if isinstance(pane.current, SpaceRow) else None

    def enter(self, block: Tile) -> None:
        """Show the parts of a block."""
        if block.can_be_entered:
            self._inside.append(block.key)
            self.show()

    def leave(self) -> bool:
        """Go one level up; return False on the highest."""
        if not self._inside:
            return False
        self._came_from = self._inside.pop()
        self.show()
        return True

    def point_at(self, block: Tile) -> None:
        """Say what a block is and which keys work on it, and move the cursor of the plan there."""
        size, goes = formats.size(block.bytes), formats.size(block.goes)
        sizes = _("{name}: {size}, of which {goes} goes") if block.goes else _("{name}: {size}")
        keys = _("Enter shows its contents · Space adds it to the plan, or removes it")
        if block.space is None:
            keys = _("Enter shows them") if block.can_be_entered else ""
        words = (sizes.format(name=block.name, size=size, goes=goes), keys)
        self._screen.say(" · ".join(filter(None, words)))
        if block.space is not None:
            plan, conversation = self._plan.rows, self._conversation(block.space)
            key = (
                f"p{conversation.root_id}"
                if conversation is not None
                else f"j{job_key(block.space.name)}"
            )
            index = plan.source.index_of(key)
            if index is not None:
                plan.cursor = index

    def _conversation(self, space: Space | None) -> Conversation | None:
        """Return the conversation of a line of the map; None for another line, or if it is gone
        from the store."""
        if space is None or space.level != "conversation":
            return None
        return self._screen.context.catalog.of_session(space.name)

    def read(self) -> None:
        """Read the conversation under the cursor."""
        conversation = self._conversation(self._current)
        if conversation is not None:
            self._screen.read(conversation)

    def take_or_leave(self) -> None:
        """Leave what is under the cursor out of the plan, or take it back."""
        screen, space = self._screen, self._current
        if space is None:  # many small ones, or a kind of content
            if self.has_focus:
                screen.say(_("this cannot be taken by itself"), look="")
            return
        plan, planned, view = self._plan, self._plan.planned, self._plan.view
        if space.level == "conversation":
            conversation = self._conversation(space)
            if conversation is None:
                return
            why = view.spared.get(conversation.root_id) if view is not None else None
            if view is not None and conversation.root_id in view.roots:
                plan.toggle(conversation)
            elif not plan.take_by_hand(conversation, why):
                return
            if self.rows.has_focus:
                self.rows.action_move(1)
        elif planned is None:
            screen.say(_("no rules, so none of it goes"), look="")
        else:
            plan.toggle_all(
                lambda: _roots_of(planned.plan, frozenset(each.name for each in below(space)))
            )
