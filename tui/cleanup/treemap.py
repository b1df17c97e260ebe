"""A treemap: blocks with areas in proportion to bytes, split into what goes and what stays.

It shows two levels: groups with a heading line each, and the blocks in them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from typing import ClassVar, NamedTuple

from rich.cells import cell_len
from textual import events
from textual.binding import BindingType
from textual.reactive import reactive

from hermes_browse.store.cleanup.space_map import Space

from .. import formats
from ..bindings import bindings
from ..commands.main_commands import MAP
from ..shared.stacked_columns import Cell, Picture

_SMALLEST = 10
"""The smallest area of a block, in cells."""
_SMALLEST_GROUP = 4
"""A group is drawn with its parts from this height on, and from twice this width."""
_WORTH = 3
"""Small entries that take as many of the smallest blocks are shown in groups, if these are large
enough."""
REST = "+"
"""The first letter of the key of a block for many small entries: `+<entries with own
blocks>#<group>@<key above>`.

The group is empty for all of them, else `<grouping>:<name>`, or `<grouping>><rank>` for all groups
from a rank on.
"""


class Rect(NamedTuple):
    """A rectangle of cells."""

    x: int
    y: int
    width: int
    height: int

    @property
    def area(self) -> int:
        """Cells."""
        return self.width * self.height


class Tile(NamedTuple):
    """A rectangle of the map."""

    rect: Rect
    key: str
    """As in the list of the map; begins with `REST` for a block of many small entries."""
    name: str
    bytes: int
    goes: int
    """Bytes of it that go."""
    space: Space | None
    """None for many small entries, and for kinds of content."""
    is_heading: bool = False
    """The line of a group, above its parts."""

    @property
    def can_be_entered(self) -> bool:
        """Whether it has parts that can be shown."""
        return self.space is not None or self.key.startswith(REST)


Groups = Callable[[int], Iterable[Sequence["TileData"]]]
"""Groups entries from an index on, in one way after the other: finest first, in each the biggest
group first."""


def _no_groups(first: int) -> Iterable[Sequence[TileData]]:
    return ()


class TileData(NamedTuple):
    """The data of a block."""

    key: str
    name: str
    bytes: int
    goes: int
    space: Space | None
    below: Callable[[], Sequence[TileData]] = tuple
    """Returns its parts, biggest first; called only if there is room for them."""
    items: int = 1
    """How many it stands for."""
    groups: Groups = _no_groups
    """Groups its parts."""


def _shares(entries: Sequence[TileData], rect: Rect) -> list[tuple[TileData, Rect]]:
    """Split a rectangle in halves of about the same bytes, along its longer side, until each entry
    has a part."""
    if not entries or rect.area <= 0:
        return []
    if len(entries) == 1:
        return [(entries[0], rect)]
    total = sum(each.bytes for each in entries)
    half, count = 0, 0
    while count < len(entries) - 1 and (count == 0 or half + entries[count].bytes / 2 < total / 2):
        half += entries[count].bytes
        count += 1
    share = half / total if total else count / len(entries)
    if rect.width >= 2 * rect.height:  # a cell is twice as high as it is wide
        width = (
            min(max(round(rect.width * share), 1), rect.width - 1) if rect.width > 1 else rect.width
        )
        one, other = (
            rect._replace(width=width),
            rect._replace(x=rect.x + width, width=rect.width - width),
        )
    else:
        height = (
            min(max(round(rect.height * share), 1), rect.height - 1)
            if rect.height > 1
            else rect.height
        )
        one, other = (
            rect._replace(height=height),
            rect._replace(y=rect.y + height, height=rect.height - height),
        )
    return _shares(entries[:count], one) + _shares(entries[count:], other)


def _drawable(
    entries: Sequence[TileData],
    rect: Rect,
    smaller: Callable[[int], str],
    groups: Groups,
    above: str = "",
) -> list[TileData]:
    """Return the entries that are large enough for a block, and for the rest groups that are, or
    one entry."""
    entries = [each for each in entries if each.bytes > 0]
    total = sum(each.bytes for each in entries)

    def large(among: Sequence[TileData]) -> list[TileData]:
        return list(
            takewhile(lambda each: each.key and each.bytes * rect.area >= _SMALLEST * total, among)
        )

    shown = large(entries)
    rest, first = entries[len(shown) :], len(shown)
    group = ""
    size = sum(each.bytes for each in rest)
    if size * rect.area >= _WORTH * _SMALLEST * total:
        for candidate in groups(first):
            blocks = large(candidate)
            if len(blocks) > 1 and 2 * sum(each.bytes for each in blocks) >= size:
                group = f"{blocks[0].key.partition('#')[2].partition(':')[0]}>{len(blocks)}"
                shown, rest = [*shown, *blocks], list(candidate[len(blocks) :])
                break
    if len(rest) == 1:
        return [*shown, *rest]
    if rest:
        size, goes = sum(each.bytes for each in rest), sum(each.goes for each in rest)
        count = sum(each.items for each in rest)
        shown.append(
            TileData(
                f"{REST}{first}#{group}@{above}", smaller(count), size, goes, None, items=count
            )
        )
    return shown


def lay_out(
    entries: Sequence[TileData],
    width: int,
    height: int,
    smaller: Callable[[int], str],
    groups: Groups = _no_groups,
) -> list[Tile]:
    """Lay out entries, biggest first, in `width` × `height` cells.

    `smaller` returns the name of a block for so many small entries; `groups` groups the entries.

    Returns:
        Headings and blocks; every cell is in exactly one of them.
    """
    whole = Rect(0, 0, width, height)
    blocks: list[Tile] = []
    for entry, rect in _shares(_drawable(entries, whole, smaller, groups), whole):
        inner = rect._replace(y=rect.y + 1, height=rect.height - 1)
        below = (
            entry.below()
            if inner.width > 2 * _SMALLEST_GROUP and inner.height >= _SMALLEST_GROUP
            else ()
        )
        if len(below) < 2:
            blocks.append(Tile(rect, *entry[:5]))
            continue
        blocks.append(Tile(rect._replace(height=1), *entry[:5], is_heading=True))
        parts = _shares(_drawable(below, inner, smaller, entry.groups, entry.key), inner)
        blocks += [Tile(part, *child[:5]) for child, part in parts]
    return blocks


def neighbour(blocks: Sequence[Tile], index: int, dx: int, dy: int) -> int:
    """Return the index of the next block in a direction; the same index at the edge.

    `dx` is -1 to the left and 1 to the right, `dy` -1 up and 1 down; the other one is 0.
    """
    here = blocks[index].rect
    best, nearest = index, None
    for other, block in enumerate(blocks):
        there = block.rect
        if dx:
            away = there.x - (here.x + here.width) if dx > 0 else here.x - (there.x + there.width)
            aside = max(there.y - here.y, here.y - (there.y + there.height - 1), 0)
        else:
            away = there.y - (here.y + here.height) if dy > 0 else here.y - (there.y + there.height)
            aside = max(there.x - here.x, here.x - (there.x + there.width - 1), 0)
        if away < 0 or other == index:
            continue
        distance = (away + aside * (3 if dx else 1), there.x + there.y)
        if nearest is None or distance < nearest:
            best, nearest = other, distance
    return best


def draw(blocks: Sequence[Tile], cursor: int | None) -> list[list[Cell]]:
    """Draw blocks as rows of cells, top first; `cursor` is the index of a block."""
    height = max((each.rect.y + each.rect.height for each in blocks), default=0)
    rows: list[list[tuple[int, list[Cell]]]] = [[] for _ in range(height)]
    for index, block in enumerate(blocks):
        for line in range(block.rect.height):
            cells = _line(block, line, is_here=index == cursor)
            rows[block.rect.y + line].append((block.rect.x, cells))
    return [
        [cell for _, cells in sorted(row, key=lambda each: each[0]) for cell in cells]
        for row in rows
    ]


def _line(block: Tile, line: int, *, is_here: bool) -> list[Cell]:
    width = block.rect.width
    share = block.goes / block.bytes if block.bytes else 0.0
    split = round(width * share)
    if 0 < block.goes < block.bytes:  # both parts are visible
        split = min(max(split, 1), max(width - 1, 1))
    size = formats.size(block.bytes)
    if block.is_heading:
        name = f" {block.name} "
        text = formats.fit(formats.clip(name, width), width)
        if cell_len(name) + len(size) + 1 <= width:
            text = formats.fit(name, width - len(size) - 1) + size + " "
        return [Cell(text, "here" if is_here else "heading")]
    text = " " * (width - 1)
    if line == 0 and width > 2:
        text = formats.fit(formats.clip(block.name, width - 2), width - 1)
    elif line == 1 and width > len(size):
        text = formats.fit(size, width - 1)
    looks = ("here-goes", "here-stays") if is_here else ("goes", "stays")
    sign = "▏" if line or not block.goes else "✓" if block.goes >= block.bytes else "−"
    edge = Cell(sign, "edge", looks[0] if split else looks[1])
    if is_here and line == 0:
        return [edge, Cell(text, "here")]
    if cell_len(text) != len(text):  # do not cut a wide letter
        return [edge, Cell(text, looks[0] if 2 * split >= width else looks[1])]
    inside = max(split - 1, 0)
    return [edge, Cell(text[:inside], looks[0]), Cell(text[inside:], looks[1])]


class TreeMap(Picture, can_focus=True):
    """A treemap with a cursor.

    Args:
        pointed: Takes the block to which the cursor moved.
        enter: Takes the block whose parts the user wants to see, by Enter or a second click.
        leave: Called when the user wants to see the level above.
        resized: Called when the blocks need another layout.
    """

    NAME = "map"
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"map--{look}"
        for look in ("goes", "stays", "heading", "here", "here-goes", "here-stays", "edge")
    }
    BINDINGS: ClassVar[list[BindingType]] = bindings(MAP)

    cursor: reactive[int] = reactive(0)
    """Index of the block under the cursor."""

    def __init__(
        self,
        pointed: Callable[[Tile], object],
        enter: Callable[[Tile], object],
        leave: Callable[[], object],
        resized: Callable[[], object],
        *,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self._pointed, self._enter, self._leave, self._resized = pointed, enter, leave, resized
        self._blocks: list[Tile] = []

    def show(self, blocks: list[Tile], key: str = "") -> None:
        """Show other blocks, laid out for the size of the widget, with the cursor on the block of a
        key.

        Without a key it stays on its block. If there is no such block, it goes to the largest.
        """
        current = self.current
        target = key or (current.key if current is not None else None)
        self._blocks = blocks
        cursor = next((index for index, each in enumerate(blocks) if each.key == target), None)
        if cursor is None:
            leaves = [index for index, each in enumerate(blocks) if not each.is_heading]
            cursor = max(leaves, key=lambda index: blocks[index].rect.area, default=0)
        self.cursor = cursor
        self.redraw()

    @property
    def current(self) -> Tile | None:
        """The block under the cursor."""
        return self._blocks[self.cursor] if 0 <= self.cursor < len(self._blocks) else None

    def watch_cursor(self) -> None:
        """Draw the cursor, and report the block under it."""
        self.redraw()
        if self.has_focus and (block := self.current) is not None:
            self._pointed(block)

    def on_focus(self) -> None:
        """Show the cursor."""
        self.watch_cursor()

    def on_blur(self) -> None:
        """Hide the cursor."""
        self.redraw()

    def on_resize(self) -> None:
        """Ask for another layout."""
        self._resized()

    def draw_rows(self) -> list[list[Cell]]:
        """Draw the blocks, and the cursor if it is here."""
        return draw(self._blocks, self.cursor if self.has_focus else None)

    def action_go(self, dx: int, dy: int) -> None:
        """Move the cursor to the next block in a direction."""
        if self._blocks:
            self.cursor = neighbour(self._blocks, self.cursor, dx, dy)

    def action_enter(self) -> None:
        """Ask for the parts of the block."""
        if (block := self.current) is not None:
            self._enter(block)

    def action_leave(self) -> None:
        """Ask for the level above."""
        self._leave()

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the block under the mouse; a second click enters it."""
        for index, block in enumerate(self._blocks):
            rect = block.rect
            if rect.x <= event.x < rect.x + rect.width and rect.y <= event.y < rect.y + rect.height:
                self.focus()
                self.cursor = index
                if event.chain > 1:
                    self.action_enter()
                return
