"""The map of bytes beside a plan: a tile for each of the largest conversations, and one for all
others.

The area of a tile is in proportion to its bytes; the others together take half of the map at most,
so that the largest can be seen in a store of many small ones.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rich.cells import cell_len
from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.reactive import reactive

from hermes_browse.store.wording import _

from ...settings.keys.screen_commands import MAP
from ...text import formats
from ...widgets.bindings import bindings
from ...widgets.stacked_columns import Cell, Drawing, Picture

_NARROWEST = 12
"""Cells; a conversation whose tile would be narrower belongs to the others."""
MOST_TILES = 40
"""Conversations with a tile of their own, at most."""


class Tile(NamedTuple):
    """What a tile stands for, and where it is."""

    name: str
    bytes: int
    goes: int
    """Bytes of it that the plan frees."""
    tip: str = ""
    """Of its conversation; empty for all others together."""
    region: Region = Region()

    def about(self) -> str:
        """Say what it is, and which keys work on it."""
        sentence = (
            _("{name}: {size}, of which {goes} is deleted") if self.goes else _("{name}: {size}")
        )
        size = formats.size(self.bytes)
        goes = formats.size(self.goes)
        about = sentence.format(name=formats.clip(self.name, 40), size=size, goes=goes)
        keys = _("Space selects or keeps it · Enter reads it")
        return formats.joined(about, keys if self.tip else "")


class StoreBytes(NamedTuple):
    """What a map shows."""

    largest: Sequence[Tile]
    """The largest conversations, at most `MOST_TILES`."""
    conversations: int
    """How many there are."""
    bytes: int
    """Of all of them."""
    goes: int
    """Bytes of all of them that the plan frees."""


def lay_out(store: StoreBytes, width: int, height: int) -> list[Tile]:
    """Lay out as many of the largest conversations as fit, then one tile for the others."""
    largest = [tile for tile in store.largest if tile.bytes]
    for count in range(len(largest), -1, -1):
        tiles = largest[:count]
        sizes = [tile.bytes for tile in tiles]
        shown = sum(sizes)
        others = store.bytes - shown
        if others:
            name = _("{count:,} smaller ones", count=store.conversations - count)
            goes = store.goes - sum(tile.goes for tile in tiles)
            tiles.append(Tile(name, others, min(max(goes, 0), others)))
            sizes.append(min(others, shown) or others)
        regions = _split(sizes, Region(0, 0, width, height)) if sizes else []
        if all(region.width >= _NARROWEST and region.height for region in regions):
            break
    return [tile._replace(region=region) for tile, region in zip(tiles, regions, strict=True)]


def _split(sizes: Sequence[int], region: Region) -> list[Region]:
    """Halve a region by bytes, beside or below each other, until each size has its own."""
    if len(sizes) == 1:
        return [region]
    total = sum(sizes)
    count = 1
    half = sizes[0]
    while count < len(sizes) - 1 and half + sizes[count] / 2 < total / 2:
        half += sizes[count]
        count += 1
    width = round(region.width * half / total)
    height = round(region.height * half / total)
    is_wide = region.width >= 2 * region.height  # a cell is twice as high as it is wide
    if is_wide and _NARROWEST <= width <= region.width - _NARROWEST:
        first, second = region.split_vertical(width)
    else:
        first, second = region.split_horizontal(height)
    return _split(sizes[:count], first) + _split(sizes[count:], second)


def draw(tiles: Sequence[Tile], cursor: int | None) -> Drawing:
    """Draw tiles as rows of cells, top first; `cursor` is the index of a tile."""
    height = max((tile.region.bottom for tile in tiles), default=0)
    rows: Drawing = [[] for _ in range(height)]
    for index, tile in sorted(enumerate(tiles), key=lambda each: each[1].region.x):
        for line in range(tile.region.height):
            rows[tile.region.y + line] += _line(tile, line, is_here=index == cursor)
    return rows


def _line(tile: Tile, line: int, *, is_here: bool) -> list[Cell]:
    """Draw a line of a tile: its name, its size, or nothing, over what goes and what stays."""
    width = tile.region.width
    words = {0: formats.clip(tile.name, max(width - 2, 0)), 1: formats.size(tile.bytes)}
    text = formats.fit(words.get(line, ""), width - 1)
    goes, stays = ("tile-here-goes", "tile-here-stays") if is_here else ("tile-goes", "tile-stays")
    split = round(width * tile.goes / tile.bytes)
    if 0 < tile.goes < tile.bytes:  # both parts are visible
        split = min(max(split, 1), width - 1)
    sign = "▏" if line or not tile.goes else "✓" if tile.goes >= tile.bytes else "−"
    edge = Cell(sign, "tile-edge", goes if split else stays)
    if is_here and line == 0:
        return [edge, Cell(text, "tile-here")]
    inside = bisect_left(range(len(text)), split - 1, key=lambda at: cell_len(text[:at]))
    return [edge, Cell(text[:inside], goes), Cell(text[inside:], stays)]


class TileMap(Picture, can_focus=True):
    """A map of tiles with a cursor."""

    BINDINGS = bindings(MAP)

    cursor = reactive(0)
    """Index of the tile under the cursor."""

    @dataclass
    class Highlighted(Message):
        """Another tile is to be described: the cursor was moved there `by_hand`, or the tiles have
        changed under it."""

        by_hand: bool

    class Selected(Message):
        """Enter was pressed."""

    class Toggled(Message):
        """The tile under the cursor was clicked."""

    tiles: Sequence[Tile] = ()
    _store = StoreBytes((), 0, 0, 0)

    @property
    def current(self) -> Tile | None:
        """The tile under the cursor."""
        return self.tiles[self.cursor] if self.cursor < len(self.tiles) else None

    def show(self, store: StoreBytes) -> None:
        """Show the bytes of a store; the cursor stays on its conversation if that has a tile."""
        self._store = store
        self._lay_out()

    def _lay_out(self) -> None:
        before = self.current
        self.tiles = lay_out(self._store, *self.size)
        tips = [tile.tip for tile in self.tiles]
        at = tips.index(before.tip) if before is not None and before.tip in tips else 0
        self.set_reactive(TileMap.cursor, at)
        self.redraw()
        if self.has_focus and self.current != before:
            self.post_message(self.Highlighted(by_hand=False))

    def on_resize(self) -> None:
        self._lay_out()

    def watch_cursor(self) -> None:
        self.redraw()
        if self.has_focus:
            self.post_message(self.Highlighted(by_hand=True))

    def on_focus(self) -> None:
        self.redraw()
        self.post_message(self.Highlighted(by_hand=True))

    def on_blur(self) -> None:
        self.redraw()

    def draw_rows(self) -> Drawing:
        return draw(self.tiles, self.cursor if self.has_focus else None)

    def _tile_at(self, x: int, y: int) -> int:
        """Return the index of the tile that has a cell; beyond the edges that of the cursor."""
        under = (index for index, tile in enumerate(self.tiles) if tile.region.contains(x, y))
        return next(under, self.cursor)

    def action_go(self, dx: int, dy: int) -> None:
        """Go to the next tile in a direction; one of both is -1 or 1, the other 0."""
        if self.current is not None:
            x, y, width, height = self.current.region
            beside = width if dx > 0 else dx
            below = height if dy > 0 else dy
            self.cursor = self._tile_at(x + beside, y + below)

    def action_enter(self) -> None:
        self.post_message(self.Selected())

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to a tile; clicked there again, take it along or leave it."""
        before = self.cursor if self.has_focus else None
        self.focus()
        self.cursor = self._tile_at(event.x, event.y)
        if self.cursor == before:
            self.post_message(self.Toggled())
