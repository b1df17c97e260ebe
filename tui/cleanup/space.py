"""The pane beside a plan: it measures the store and shows where the bytes are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.timer import Timer

from hermes_browse.store.api import OpenStore
from hermes_browse.store.cleanup.space_map import SpaceMap
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

from .. import formats
from ..shared import header
from ..shared.lines import TextLine
from .tile_map import MOST_TILES, StoreBytes, Tile, TileMap

if TYPE_CHECKING:
    from ..screens.sub_screen import SubScreen
    from .plan_view import PlanView

_UPDATE = 0.4
"""Seconds between two updates while the store is measured."""


class SpacePane(Vertical):
    """A map of the store under a title."""

    class Measured(Message):
        """More of the store has been measured, or all of it."""

    def __init__(self, owner: SubScreen) -> None:
        super().__init__(id="side")
        self._owner, self._shared = owner, owner.main
        self._catalog = owner.main.catalog
        self.map: SpaceMap | None = None
        """None until the store has been measured."""
        self._view: PlanView | None = None
        self._updates: Timer | None = None
        """Shows how far the first measurement is; None before that has begun."""

    def compose(self) -> ComposeResult:
        yield TextLine(id="map-title")
        yield TileMap(id="map")

    def on_mount(self) -> None:
        self._show_title(Content.styled("  " + _("disk usage · after the plan"), "dim"))

    def begin(self) -> None:
        """Start measuring; does nothing after the first call."""
        if self._updates is not None:
            return
        self._updates = self.set_interval(_UPDATE, self._show_measuring)
        self._owner.start("space", self._measure)
        self._show_measuring()

    def again(self) -> None:
        """Measure what is new, as the list has been read again."""
        if self.map is not None:
            self._owner.start("space", self._measure)

    async def _measure(self) -> None:
        context = self._shared
        sizes, catalog = context.sizes, context.catalog

        def measure(store: OpenStore) -> tuple[Catalog, SpaceMap]:
            exact = catalog if catalog.exact else store.catalog(context.clock())
            return exact, store.space_map(exact, sizes)

        try:
            self._catalog, measured = await self._owner.read(measure)
        except BrowseError as error:
            self._stop_updates()
            self._show_title(header.failure(str(error)))
            return
        self.map = measured
        self._stop_updates()
        note = _("{size} with index · Tab: select in the map").format(
            size=formats.size(measured.total)
        )
        title = (f"  {_('disk usage')}  ", "bold")
        self._show_title(Content.assemble(title, (note, "dim")))
        self.redraw()
        self.post_message(self.Measured())

    def _show_title(self, title: Content) -> None:
        for line in self.query("#map-title").results(TextLine):  # none after it was removed
            line.update(title)

    def _show_measuring(self) -> None:
        measured, total = len(self._shared.sizes), len(self._shared.catalog.sessions)
        sentence = _("disk usage · measuring, {count:,} of {total:,} sessions")
        text = sentence.format(count=min(measured, total), total=total)
        self._show_title(Content.styled(f"  {text}", "dim"))
        self.post_message(self.Measured())

    def _stop_updates(self) -> None:
        if self._updates is not None:
            self._updates.stop()

    def show(self, view: PlanView | None) -> None:
        """Show what another plan frees."""
        self._view = view
        self.redraw()

    def redraw(self) -> None:
        """Draw the map again, with the names read since."""
        if self.map is None:
            return
        freed = self._view.freed if self._view is not None else {}
        largest = [
            Tile(self._name_of(tip), size, min(freed.get(tip, 0), size), tip)
            for tip, size in self.map.conversations[:MOST_TILES]
        ]
        goes = self._view.bytes if self._view is not None else 0
        store = StoreBytes(largest, len(self.map.conversations), self.map.total, goes)
        for tiles in self.query(TileMap):  # none after it was removed
            tiles.show(store)

    def _name_of(self, tip: str) -> str:
        conversation = self._catalog.of_session(tip)
        if conversation is None:
            return tip
        return one_line(formats.name(self._shared.details.complete(conversation)[0]), 100)

    @property
    def current(self) -> Conversation | None:
        """That of the tile under the cursor; None on the one of the others, or if it is gone."""
        tile = self.query_one(TileMap).current
        return self._catalog.of_session(tile.tip) if tile is not None else None

    def nameless(self) -> list[Conversation]:
        """Return the largest conversations that have no title and no preview yet."""
        largest = self.map.conversations[:MOST_TILES] if self.map is not None else ()
        conversations = (self._catalog.of_session(each.tip) for each in largest)
        return self._shared.details.nameless(filter(None, conversations))
