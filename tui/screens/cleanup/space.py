"""The pane beside a plan: the map of the store's bytes under its title."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line

from ...text import formats
from ...widgets.lines import TextLine
from .plan_screen import PlanScreen
from .tile_map import MOST_TILES, StoreBytes, Tile, TileMap


class SpacePane(Vertical):
    """Shows what the screen has measured."""

    def __init__(self, plans: PlanScreen) -> None:
        super().__init__(id="side")
        self._plans, self._main = plans, plans.main

    def compose(self) -> ComposeResult:
        yield TextLine(id="map-title")
        yield TileMap(id="map")

    def on_mount(self) -> None:
        self.watch(self._plans, "space_title", self._show_title)
        self.watch(self._plans, "view", self.redraw, init=False)
        self.watch(self._plans, "space", self.redraw, init=False)

    def _show_title(self, title: Content) -> None:
        self.query_one("#map-title", TextLine).update(title)

    def redraw(self) -> None:
        """Draw the map again, with the names read since."""
        view, space = self._plans.view, self._plans.space
        if space is None:
            return
        freed = view.freed if view is not None else {}
        largest = [
            Tile(self._name_of(tip), size, min(freed.get(tip, 0), size), tip)
            for tip, size in space.conversations[:MOST_TILES]
        ]
        goes = view.totals.bytes if view is not None else 0
        store = StoreBytes(largest, len(space.conversations), space.total, goes)
        self.query_one(TileMap).show(store)

    def _name_of(self, tip: str) -> str:
        conversation = self._main.catalog.of_session(tip)
        if conversation is None:
            return tip
        return one_line(formats.name(self._main.details.complete(conversation)[0]), 100)

    @property
    def current(self) -> Conversation | None:
        """That of the tile under the cursor; None on the one of the others, or if it is gone."""
        tile = self.query_one(TileMap).current
        return self._main.catalog.of_session(tile.tip) if tile is not None else None

    def nameless(self) -> list[Conversation]:
        """Return the largest conversations that have no title and no preview yet."""
        space = self._plans.space
        largest = space.conversations[:MOST_TILES] if space is not None else ()
        conversations = (self._main.catalog.of_session(each.tip) for each in largest)
        return self._main.details.nameless(filter(None, conversations))
