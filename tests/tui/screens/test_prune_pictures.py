"""The pictures of a clean-up: columns over time, blocks of bytes, the file before and after."""

import random
from datetime import datetime
from types import SimpleNamespace

import pytest
from browsing import on_demo, on_store
from hypothesis import given
from hypothesis import strategies as st
from pruning import NOW
from rich.cells import cell_len

from hermes_browse.store.amounts import DAY
from hermes_browse.store.api import open_store
from hermes_browse.store.cleanup.sizes import FileSpace, Sizes
from hermes_browse.tui.browser.main import MainScreen
from hermes_browse.tui.screens.cleanup.prune_screen import file_line
from hermes_browse.tui.screens.cleanup.tile_map import StoreBytes, Tile, TileMap, lay_out
from hermes_browse.tui.screens.cleanup.tile_map import draw as draw_map
from hermes_browse.tui.screens.cleanup.time_axis import (
    AxisShare,
    Measure,
    TimeAxis,
    axis_of,
    coming,
    draw,
    labels,
    make_axis,
)
from hermes_browse.tui.text import formats
from hermes_browse.tui.widgets.stacked_columns import Cell


def _axis(days, *, most=60):
    """Ten messages for each age; every third one goes, the second is spared."""
    kinds = ("goes", "spared", "stays", "goes", "stays", "stays")
    shares = [AxisShare(NOW - age * DAY, kinds[index % 6], 10.0) for index, age in enumerate(days)]
    return make_axis(shares, Measure.MESSAGES, most, NOW)


@given(
    st.lists(st.floats(0, 4000), max_size=60),
    st.integers(2, 90),
    st.integers(4, 120),
    st.integers(1, 9),
    st.one_of(st.none(), st.floats(0, 5000)),
)
def test_an_axis_fills_its_room_and_loses_nothing(days, most, width, height, age):
    """Whatever the times: no more columns than fit, all of it in them, every row as wide as it
    claims."""
    axis = _axis(days, most=min(most, width))
    assert len(axis.columns) <= max(most, 2)
    assert sum(sum(each.values()) for each in axis.columns) == pytest.approx(10.0 * len(days))
    rows = draw(axis, width, height, None if age is None else NOW - age * DAY)
    assert len(rows) == height and all(
        sum(cell_len(cell.text) for cell in row) == width for row in rows
    )
    assert cell_len(labels(axis, width)) == width


@pytest.mark.parametrize("width", [78, 118])
def test_an_axis_names_each_year(width):
    """Whichever months stand beside it: a year says more than a month."""
    ahead = coming([30.0 * month for month in range(36)], most=width // 2, now=NOW)
    named = labels(ahead, width)
    years = {datetime.fromtimestamp(each).year for each in ahead.edges[:-1]}
    assert [str(year) in named for year in sorted(years)[1:]] == [True] * (len(years) - 1)


def test_what_is_there_is_seen_and_what_goes_stands_below():
    """One message beside a thousand; a column is as high as it is large."""
    shares = [AxisShare(NOW - 200 * DAY, "goes", 1.0), AxisShare(NOW - DAY, "stays", 1000.0)]
    rows = draw(make_axis(shares, Measure.MESSAGES, 60, NOW), 60, 4, None)
    assert rows[-1][0] == Cell("▁", "goes") or rows[-1][0].text.startswith("▁"), (
        "it is not rounded away"
    )
    assert any(cell.look == "stays" and "█" in cell.text for cell in rows[0])


def _axis_of(path, measure, sizes):
    with open_store(path) as store:
        catalog = store.catalog(NOW)
    axis = axis_of(catalog, measure, sizes, gone=(), spared=(), most=60, now=NOW)
    return axis, list(catalog.conversations())


def test_a_subagent_is_no_conversation_but_has_bytes(path):
    axis, chains = _axis_of(path, Measure.CONVERSATIONS, {})
    subagents = sum(chain.is_attached_subagent for chain in chains)
    assert subagents and sum(sum(each.values()) for each in axis.columns) == len(chains) - subagents
    every = [segment for chain in chains for segment in chain.segments]
    sizes = {segment.id: Sizes(rows=10, content=1000) for segment in every}
    axis, _chains = _axis_of(path, Measure.BYTES, sizes)
    assert sum(sum(each.values()) for each in axis.columns) == 1000 * len(every)
    assert not axis.is_estimated


def test_bytes_that_are_not_measured_follow_from_messages(path):
    """So that the axis stands at once, and hardly moves when they are."""
    _axis, (first, *others) = _axis_of(path, Measure.MESSAGES, {})
    sizes = {segment.id: Sizes(rows=10, content=1000) for segment in first.segments}
    axis, _chains = _axis_of(path, Measure.BYTES, sizes)
    messages = sum(segment.message_count for chain in others for segment in chain.segments)
    measured = 1000 * len(first.segments)
    assert axis.is_estimated
    assert sum(sum(each.values()) for each in axis.columns) == measured + 100 * messages


def test_places_and_times_are_each_others_inverse():
    axis = _axis([3, 90, 800])
    for x in (0.0, 0.2, 0.5, 0.99):
        assert axis.place_of(axis.time_at(x)) == pytest.approx(x, abs=1e-6)


def test_days_to_come():
    axis = coming([0, 0, 3.5], 30, NOW)
    assert (
        axis.unit == "by day"
        and axis.columns[0]["goes"] == 2
        and sum(each["goes"] for each in axis.columns) == 3
    )


def _store(sizes, others=0):
    """A map of conversations given by bytes and percents that go, and of others."""
    largest = sorted(
        (
            Tile(f"名 {index}", size, size * share // 100, f"t{index}")
            for index, (size, share) in enumerate(sizes)
        ),
        key=lambda tile: -tile.bytes,
    )
    whole = sum(tile.bytes for tile in largest) + others
    return StoreBytes(largest, len(largest) + 1000, whole, sum(tile.goes for tile in largest))


@given(
    st.lists(st.tuples(st.integers(0, 10**9), st.integers(0, 100)), max_size=40),
    st.integers(0, 10**10),
    st.integers(1, 120),
    st.integers(1, 50),
)
def test_tiles_cover_the_map_and_nothing_twice(sizes, others, width, height):
    """Every cell is in one tile, each tile is wide enough to be read, and every byte is in one."""
    store = _store(sizes, others)
    tiles = lay_out(store, width, height)
    cells = [
        (x, y)
        for tile in tiles
        for x in range(tile.region.x, tile.region.right)
        for y in range(tile.region.y, tile.region.bottom)
    ]
    assert len(cells) == len(set(cells))
    if not store.bytes:
        assert not tiles
        return
    assert len(cells) == width * height
    assert len(tiles) == 1 or all(tile.region.width >= 12 for tile in tiles)
    assert sum(tile.bytes for tile in tiles) == store.bytes
    assert sum(tile.goes for tile in tiles) == store.goes
    rows = draw_map(tiles, 0)
    assert len(rows) == height
    assert all(sum(cell_len(cell.text) for cell in row) == width for row in rows)


def test_the_largest_have_tiles_and_the_others_one():
    tiles = lay_out(_store([(400, 0), (300, 100), (200, 50), (1, 0)], 99), 60, 20)
    assert [tile.bytes for tile in tiles] == [400, 300, 200, 100]
    assert [tile.tip for tile in tiles] == ["t0", "t1", "t2", ""]
    assert tiles[-1].name == "1,001 smaller ones"
    areas = [tile.region.area for tile in tiles]
    assert areas == pytest.approx([480, 360, 240, 120], rel=0.1)
    small = lay_out(_store([(10, 0)] * 40, 10**9), 60, 20)
    assert len(small) > 10 and small[-1].region.area == 600, "others take half of it at most"


async def test_every_tile_can_be_reached():
    """By the arrow keys, from the first one."""
    numbers = random.Random(5)
    store = _store([(numbers.randrange(100, 999), 0) for _ in range(20)], 2000)
    tiles = TileMap()
    tiles.tiles = lay_out(store, 80, 24)
    assert len(tiles.tiles) > 8
    reached, waiting = {0}, [0]
    while waiting:
        here = waiting.pop()
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            tiles.set_reactive(TileMap.cursor, here)
            tiles.action_go(dx, dy)
            if tiles.cursor not in reached:
                reached.add(tiles.cursor)
                waiting.append(tiles.cursor)
    assert len(reached) == len(tiles.tiles)


def test_the_file_before_and_after():
    file = FileSpace(1000_000, 100_000, 0)
    sizes = SimpleNamespace(free_bytes=200_000, given_back_bytes=400_000)
    line = file_line("state.db", file, sizes, 120, no_color=False)
    bar = [text for text in line.plain if text in "█░"]
    assert "200 KB free at once · v shrinks it by 500 KB" in line.plain
    assert bar.count("░") == round(len(bar) / 10)
    assert cell_len(file_line("state.db", file, sizes, 60, no_color=False).plain) <= 60


@pytest.mark.slow
async def test_on_a_tiny_terminal_the_keys_stay(tmp_path):
    """What is told of a row is cut."""
    async with on_demo(tmp_path, (40, 10)) as browser:
        await browser.press("P")
        assert browser.app.screen.query_one("#keys").region.bottom == 10


@pytest.mark.slow
async def test_the_cutoff_moves_with_keys_and_mouse(path):
    """The rule, the line on the axis and the plan below are one."""
    async with on_store(path, NOW) as browser:
        await browser.press("P")
        screen = browser.app.screen
        rules = screen.query_one("#rules")
        before, cut = browser.text("#totals"), screen.axis.cut
        await browser.press("left_square_bracket")
        assert cut is not None and screen.axis.cut is not None and screen.axis.cut < cut
        assert rules.value == "older:37d"
        await browser.press("left_curly_bracket", "right_square_bracket", "right_curly_bracket")
        assert rules.value == "older:30d" and browser.text("#totals") == before
        await browser.press(*["left_curly_bracket"] * 20)
        assert "nothing to clean up" in browser.text("#totals")
        width = screen.query_one(TimeAxis).size.width
        await browser.pilot.mouse_down("#axis", offset=(2, 3))
        await browser.pilot.hover("#axis", offset=(width - 10, 3))
        await browser.pilot.mouse_up("#axis", offset=(width - 10, 3))
        await browser.settle()
        assert "conversations" in browser.text("#totals")


async def test_an_unfinished_rule_is_no_mistake_yet(path):
    """As in the search box: it is underlined once something stands behind it."""
    async with on_store(path, NOW, (120, 40)) as browser:
        await browser.press("P")
        box = browser.app.screen.box
        box.value = "older:"
        assert not box.marks
        box.value = "older: "
        assert [look for look, _start, _end in box.marks] == ["problem"]


@pytest.mark.slow
async def test_the_map_takes_leaves_and_reads(path):
    """Space or a click takes or leaves a conversation, Enter reads it; the plan goes where the map
    is."""
    async with on_store(path, NOW, (160, 48)) as browser:
        await browser.press("P", "tab")
        screen = browser.app.screen
        tiles = screen.map
        assert tiles.has_focus and formats.clip(tiles.current.name, 40) in browser.status
        assert sum(tile.bytes for tile in tiles.tiles) == screen.space.total
        places = {tile.tip: index for index, tile in enumerate(tiles.tiles)}
        for tip, key in (("cron_job1_20260101_030000", "jjob1"), ("old", "pold")):
            tiles.cursor = places[tip]
            await browser.settle()
            assert screen.rows.current.key == key
        screen.opened ^= {"jjob1"}
        screen.lay_out_again()
        await browser.settle()
        for tip in ("cron_job1_20260101_030000", "old"):
            tiles.cursor = places[tip]
            await browser.settle()
            assert screen.rows.current.key == f"p{tip}", "an open job has a line for each run"
        assert "of which" in browser.status
        before = browser.text("#totals")
        await browser.press("space")
        assert browser.text("#totals") != before and tiles.current.tip == "old"
        assert tiles.current.goes == 0
        for tip in ("old", "new"):  # the one under the cursor is taken, the other one gets it
            region = tiles.tiles[places[tip]].region
            await browser.pilot.click("#map", offset=(region.x + 1, region.y))
            await browser.settle()
            assert browser.text("#totals") == before and tiles.current.tip == tip
        await browser.press("enter")
        assert isinstance(browser.app.screen, MainScreen)
        assert browser.screen.current.id == "new"


@pytest.mark.slow
async def test_small_ones_together_cannot_be_taken(tmp_path):
    """Space says why it does nothing."""
    async with on_demo(tmp_path, (120, 36)) as browser:
        await browser.press("P", "tab")
        tiles = browser.app.screen.query_one(TileMap)
        tiles.cursor = len(tiles.tiles) - 1
        await browser.settle()
        assert "smaller ones" in browser.status and not tiles.tiles[-1].tip
        before = browser.text("#totals")
        await browser.press("space", "enter")
        assert browser.text("#totals") == before
        assert "cannot be taken by itself" in browser.status


@pytest.mark.slow
async def test_without_colours_signs_tell_what_goes(path, monkeypatch):
    """On the axis, in the bar of the file, and on the map, where the block under the cursor is
    reversed."""
    monkeypatch.setenv("NO_COLOR", "1")
    async with on_store(path, NOW, (120, 40)) as browser:
        await browser.press("P", "tab")
        assert "█ delete" in browser.text("#axis") and "▒ protected" in browser.text("#axis")
        assert "░ keep" in browser.text("#axis") and "░█" in browser.text("#file")
        tiles = browser.app.screen.query_one(TileMap)
        for tile in tiles.tiles:
            sign = browser.text("#map").splitlines()[tile.region.y][tile.region.x]
            assert sign == ("✓" if tile.goes == tile.bytes else "−" if tile.goes else "▏")
        looks = [
            segment.style
            for segment in tiles.render_line(tiles.current.region.y)
            if segment.text.strip()
        ]
        assert sum(bool(style and style.reverse) for style in looks) == 1


def test_no_month_of_a_long_axis_is_left_out():
    """Months have 28 to 31 days."""
    first, last = (datetime(year, month, 15).timestamp() for year, month in ((2024, 1), (2026, 11)))
    axis = make_axis([AxisShare(first, "stays", 1.0)], Measure.MESSAGES, 60, last)
    months = [datetime.fromtimestamp(edge) for edge in axis.edges]
    assert [(each.year, each.month, each.day) for each in months] == [
        (2024 + index // 12, index % 12 + 1, 1) for index in range(36)
    ]
