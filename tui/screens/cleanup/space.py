"""The pane beside a plan: the map of the store's bytes under its title."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.reactive import var

from hermes_browse.store.cleanup.space_map import SpaceMap
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import one_line

from ...browser.context import Context
from ...text import formats
from ...widgets.lines import TextLine
from .plan_view import PlanView
from .tile_map import MOST_TILES, StoreBytes, Tile, TileMap


class SpacePane(Vertical):
    """Shows what the screen has measured; `main` has the names of conversations."""

    view: var[PlanView | None] = var(None, init=False, always_update=True)
    space: var[SpaceMap | None] = var(None, init=False, always_update=True)
    space_title: var[Content] = var(Content(""), init=False)

    def __init__(self, main: Context) -> None:
        super().__init__(id="side")
        self._main = main

    def compose(self) -> ComposeResult:
        yield TextLine(id="map-title")
        yield TileMap(id="map")

    def watch_space_title(self, title: Content) -> None:
        for line in self.query("#map-title").results(TextLine):  # none before it is mounted
            line.update(title)

    def on_mount(self) -> None:
        self.watch_space_title(self.space_title)

    def redraw(self) -> None:
        """Draw the map again, with the names read since."""
        view, space = self.view, self.space
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

    watch_view = watch_space = redraw

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
        largest = self.space.conversations[:MOST_TILES] if self.space is not None else ()
        conversations = (self._main.catalog.of_session(each.tip) for each in largest)
        return self._main.details.nameless(filter(None, conversations))
