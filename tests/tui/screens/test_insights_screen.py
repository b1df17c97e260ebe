"""Insights on the screen: lines agree with the store, what a search leaves out is said, and faults."""

import time

import pytest
from browsing import (
    NOW,
    browsing,
    demo_app,
    go_to,
    list_of,
    on_demo,
    on_store,
    rows_of,
)
from builders import make_store
from effort import slow_but
from spending import session, spent_store
from trashing import rows

from hermes_browse.store.api import OpenStore
from hermes_browse.store.errors import StoreError
from hermes_browse.tui.browser.list.conversation_list import ConversationList
from hermes_browse.tui.browser.list.rows import JobRow
from hermes_browse.tui.screens.insights import sums_table
from hermes_browse.tui.screens.insights.chart import BarPlot, WeekPlot
from hermes_browse.tui.screens.insights.screen import InsightsScreen
from hermes_browse.tui.screens.insights.sums_table import GroupRow
from hermes_browse.tui.screens.insights.words import search_for
from hermes_browse.tui.widgets.stacked_columns import edges


@pytest.fixture
def path(tmp_path):
    """Three chats in two weeks, and an old one."""
    return spent_store(tmp_path / "state.db")


def lines(browser):
    """The lines of sums."""
    return [row for row in rows_of(browser) if isinstance(row, GroupRow)]


@pytest.mark.slow
@pytest.mark.parametrize("tab", slow_but(["1", "6"], ["1", "2", "6"]))
@pytest.mark.parametrize("size", slow_but([(80, 16)], [(50, 14), (80, 16), (80, 24)]))
async def test_a_low_terminal_shows_lines_rather_than_the_chart(path, tab, size):
    """There are always some, and a resize brings the picture."""
    async with on_store(path, NOW, size) as browser:
        await browser.press("I", tab)
        screen = browser.app.screen
        assert screen.query_one("#groups").region.height >= 4
        await browser.pilot.resize_terminal(80, 36)
        await browser.wait_until(lambda: screen.size.height == 36)
        picture = screen.query_one(WeekPlot if tab == "6" else BarPlot)
        assert picture.region.height >= 6 and screen.query_one("#groups").region.height >= 4


@pytest.mark.slow
async def test_in_what_a_search_differs_from_the_sums_is_said(tmp_path):
    """Of a model: behind the count in the status line, until something else is asked."""
    async with on_demo(tmp_path, (80, 24)) as browser:
        await browser.press("I", *["right_square_bracket"] * 4)
        for number in range(1, 7):
            await browser.press(str(number))
            if lines(browser)[0].by == "model":
                break
        await browser.press("slash")
        word = search_for("model", "any", "all", NOW)[1]
        assert word and word in browser.status
        assert browser.status.split()[0] == f"{len(browser.screen.rows):,}"
        browser.screen.box.value += " cookie "
        await browser.settle()
        assert word not in browser.status


@pytest.mark.slow
async def test_the_demo_as_sql_counts_it(tmp_path):
    """What the screen says of all time is what the store holds, runs of a job folded behind their
    line."""
    app = demo_app(tmp_path)
    async with browsing(app, size=(200, 50)) as browser:
        await browser.press("I", *["right_square_bracket"] * 4, "3")
        sums = "SELECT source, sum(input_tokens), count(*) FROM sessions GROUP BY 1 ORDER BY 1"
        counts = rows(app.store.path, sums)
        ((messages,),) = rows(app.store.path, "SELECT count(*) FROM messages")
        found = [
            (row.group.key, row.group.tokens.input, row.group.sessions) for row in lines(browser)
        ]
        assert sorted(found) == counts and f"{messages:,} messages" in browser.text("#sums")
        await go_to(browser, "source cron", "g")
        await browser.press("enter")
        assert isinstance(list_of(browser).current, JobRow)
        await browser.press("enter")
        assert "cron" in browser.text("#groups")


@pytest.mark.slow
async def test_a_long_table_says_what_it_leaves_out(path, monkeypatch):
    """The headings stay when the cursor is on that."""
    monkeypatch.setattr(sums_table, "_MOST_CONVERSATIONS", 3)
    async with on_store(path, NOW) as browser:
        await browser.press("I", *["right_square_bracket"] * 4, "7", "end", "enter", "slash")
        assert len(lines(browser)) == 3 and "convs" in browser.text("#headings")
        assert "1 more conversation comes after these" in browser.text("#groups")
        assert isinstance(browser.app.screen, InsightsScreen)


@pytest.mark.slow
async def test_a_clock_that_was_wrong_makes_no_million_columns(tmp_path):
    """Its sessions are in the table alone."""
    far = [session("a", 1), {"id": "far", "started_at": 2.5e11}, {"id": "old", "started_at": -6e10}]
    async with on_store(make_store(tmp_path / "state.db", "31", far), NOW) as browser:
        await browser.press("I", *["right_square_bracket"] * 4, "b")
        assert (
            len(lines(browser)) == 3 and len(browser.app.screen.query_one(BarPlot)._chart.bars) == 2
        )


@pytest.mark.slow
async def test_a_click_on_a_bar(path):
    """Goes to its line; on a day without anything it says so."""
    async with on_store(path, NOW) as browser:
        await browser.press("I")
        screen = browser.app.screen
        places, _free = edges(30, screen.query_one(BarPlot).room)
        for index, wanted in ((27, 1), (28, 1), (29, 0)):
            await browser.pilot.click("#bars", offset=(1 + 7 + places[index], 2))
            await browser.settle()
            assert screen.query_one("#groups", ConversationList).cursor == wanted
            assert ("nothing" in browser.status) is (index == 28)


@pytest.mark.slow
async def test_a_reading_is_stopped_with_esc(path, monkeypatch):
    """The screen stays, F5 begins again; so it does after an error, which is said in the place of
    the lines."""

    def endless(store, catalog, *, of_tools, tell):
        while True:
            store.check()  # as every statement does
            tell(0.5)
            time.sleep(0.005)

    def broken(*given, **named):
        raise StoreError("The disk is on fire.", remedy="Run.")

    async with on_store(path, NOW) as browser:
        monkeypatch.setattr(OpenStore, "facts", endless)
        await browser.pilot.press("I")
        await browser.pilot.press("escape")
        await browser.settle()
        assert isinstance(browser.app.screen, InsightsScreen) and "stopped: F5" in browser.status
        monkeypatch.setattr(OpenStore, "facts", broken)
        await browser.press("f5")
        assert "on fire" in browser.text("#groups") and "on fire" in browser.status
        monkeypatch.undo()
        await browser.press("f5")
        assert len(lines(browser)) == 2
