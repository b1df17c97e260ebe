"""Insights on the screen: bars and lines agree with the store, Enter shows what is behind them, /
searches for it."""

import time

import pytest
from browsing import (
    NOW,
    browsing,
    demo_app,
    go_to,
    list_of,
    listed,
    on_demo,
    on_store,
    rows_of,
)
from builders import make_store
from effort import slow_but
from spending import message, session, spent_store
from trashing import execute, rows

from hermes_browse.store.api import OpenStore
from hermes_browse.store.errors import StoreError
from hermes_browse.tui.browser.list.conversation_list import ConversationList
from hermes_browse.tui.browser.list.rows import ConversationRow, JobRow
from hermes_browse.tui.browser.main import MainScreen
from hermes_browse.tui.screens.help import HelpCard
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


def behind(browser):
    """Tips of the conversations that are listed."""
    rows = rows_of(browser)
    return {row.conversation.id for row in rows if isinstance(row, ConversationRow)}


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


def chart(browser):
    """The bars."""
    return browser.app.screen.query_one(BarPlot)._chart


def heights(browser):
    """Those of the bars: their parts added up."""
    return [sum(value for _look, value in bar.parts) for bar in chart(browser).bars]


def parts(browser):
    """The name of each part, lowest first, and its height in the last three bars."""
    columns = [dict(bar.parts) for bar in chart(browser).bars[-3:]]
    return [(name, [each[look] for each in columns]) for look, name in chart(browser).legend]


def names(browser):
    """Those of the legend."""
    return [name for name, _values in parts(browser)]


@pytest.mark.slow
async def test_days_with_their_bars(path):
    """Newest first; the bar of the line is the chosen one; Enter, Esc, and what is behind a day."""
    async with on_store(path, NOW) as browser:
        await browser.press("I")
        assert isinstance(browser.app.screen, InsightsScreen)
        assert [(row.group.key, row.group.tokens.total) for row in lines(browser)] == [
            ("2026-05-28", 1500),
            ("2026-05-26", 3050),
        ]
        bars = chart(browser)
        assert (
            len(heights(browser)) == 30
            and heights(browser)[-3:] == [2.0, 0, 0.5]
            and bars.chosen == 29
        )
        assert parts(browser) == [("one", [2.0, 0, 0.5])]
        assert "cost by day" in browser.text("#bars") and "█ one" in browser.text("#bars")
        assert "~$0.50" in browser.text("#groups") and "$2.00?" in browser.text("#groups")
        assert "$2.50: $2.00 actual + $0.50 estimated · 1 session of unknown cost" in browser.text(
            "#costs"
        )
        await browser.press("down")
        assert chart(browser).chosen == 27 and "▲ 26 May" in browser.text("#bars")
        assert "Enter open" in browser.text("#keys")
        await browser.press("enter")
        assert behind(browser) == {"b", "c"}
        assert browser.status.startswith("Tue 26 May 2026: 2 conversations · Enter reads")
        await browser.press("escape")
        assert lines(browser)[1].group.key == "2026-05-26" and chart(browser).chosen == 27
        await browser.press("enter", "enter")
        assert isinstance(browser.app.screen, MainScreen)
        assert browser.screen.current.id in {"b", "c"}


@pytest.mark.slow
async def test_periods_units_and_measures(path):
    """[ and ] look back, b changes the bars, m what they measure."""
    async with on_store(path, NOW) as browser:
        await browser.press("I", "left_square_bracket")
        assert len(heights(browser)) == 7 and "7 days" in browser.text("#header")
        await browser.press("left_square_bracket")
        assert "no shorter" in browser.status
        await browser.press(*["right_square_bracket"] * 4)
        assert [row.group.key for row in lines(browser)] == ["2026-05", "2025-11"]
        assert chart(browser).bars[0].label == "Nov 2025" and len(heights(browser)) == 7
        await browser.press("b")
        assert lines(browser)[0].by == "day" and len(heights(browser)) == 201
        assert heights(browser)[-1] == 0.5 and "cost by day" in browser.text("#bars")
        await browser.press("m")
        assert heights(browser)[-3:] == [3050, 0, 1500] and "tokens by day" in browser.text("#bars")
        await browser.press("m")
        assert heights(browser)[-3:] == [6, 0, 2]


async def test_by_model_source_and_directory(path):
    """Most first; the part of the line is lit in the bars of all."""
    async with on_store(path, NOW) as browser:
        await browser.press("I", "2")
        assert [(row.group.key, row.group.tokens.total) for row in lines(browser)] == [
            ("m/one", 1510),
            ("m/two", 3040),
        ]
        await browser.press("m")
        assert lines(browser)[0].group.key == "m/two"
        # The cursor stays on its line.
        for part in ("one", [10, 0, 1500]), ("two", [3040, 0, 0]):
            assert parts(browser)[0] == part and heights(browser)[-3] == 3050
            await browser.press("up")
        looks = {look for look, _name in chart(browser).legend}
        assert {row.look for row in lines(browser)} == looks
        await browser.press("tab")
        assert {row.group.key for row in lines(browser)} == {"cli", "telegram"}
        await browser.press("5")
        assert {row.group.key for row in lines(browser)} == {"/src", "unknown"}
        await browser.press("7")
        assert [row.group.key for row in lines(browser)] == ["b", "a", "c"], (
            "tokens, as asked for before"
        )
        assert [values for _name, values in parts(browser)] == [[3040, 0, 0], [10, 0, 1500]]
        assert "Chat b" in browser.text("#groups")


@pytest.mark.slow
async def test_the_legend_names_an_untitled_conversation_as_its_row(tmp_path):
    """By its first words, not by its id."""
    told = [message("20260101_000000_abcdef", 1, content="Move the tests to pytest")]
    path = make_store(
        tmp_path / "state.db",
        "31",
        [session("20260101_000000_abcdef", 1, title=None, input_tokens=9), session("b", 1)],
        told,
    )
    async with on_store(path, NOW, (160, 40)) as browser:
        await browser.press("I", "7", "m")
        assert "Move the tests to pytest" in browser.text("#groups")
        legend = browser.text("#bars")
        assert "Move the tests to pytest" in legend and "20260101_000000" not in legend


@pytest.mark.slow
async def test_hours_of_the_week(path):
    """A map instead of bars; Enter shows what a search could not; / says so."""
    async with on_store(path, NOW) as browser:
        await browser.press("I", "6")
        assert (
            not browser.app.screen.query_one(BarPlot).display
            and browser.app.screen.query_one(WeekPlot).display
        )
        row = lines(browser)[0]
        assert (row.group.key, row.group.messages) == ("1-20", 6), (
            "Tuesday, two days ago at the same hour"
        )
        assert "Tue 20:00–21:00" in browser.text("#groups") and "█◂" in browser.text("#week")
        assert "messages by hour of the week" in browser.text("#header") and "to 6" in browser.text(
            "#week"
        )
        await browser.press("m", "m")
        assert "cost by hour" in browser.text("#header") and "to $" in browser.text("#week")
        await browser.press("m", "m")
        assert lines(browser)[0].group.key == "1-20"
        await browser.press("slash")
        assert "cannot ask for an hour" in browser.status
        await browser.press("enter")
        assert behind(browser) == {"b", "c"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "keys, query", [("", "on:2026-05-28"), ("3", "source:cli after:2026-04-28")]
)
async def test_the_search_for_a_line(path, keys, query):
    """It is typed into the box of the main screen, and finds the same conversations."""
    async with on_store(path, NOW) as browser:
        await browser.press("I", *keys)
        wanted = lines(browser)[0].group.conversations
        await browser.press("slash")
        assert (
            isinstance(browser.app.screen, MainScreen) and browser.screen.box.value.strip() == query
        )
        assert listed(browser) == wanted
        assert "those without messages then are left out" in " ".join(browser.status.split())
        await browser.press("tab", "escape")
        assert isinstance(browser.app.screen, MainScreen), "to the list first"
        await browser.press("escape")
        assert isinstance(browser.app.screen, InsightsScreen), "as after Enter"
        assert lines(browser)[0].group.conversations == wanted
        await browser.press("escape")
        assert isinstance(browser.app.screen, MainScreen) and not browser.screen.box.value


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
        word = search_for("model", "any", "all", NOW).note
        assert word and word in browser.status
        assert browser.status.split()[0] == f"{len(browser.screen.rows):,}"
        browser.screen.box.value += " cookie "
        await browser.settle()
        assert word not in browser.status


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
        assert behind(browser)


_BEGIN = "INSERT INTO sessions (id, source, started_at) VALUES (?, 'cli', ?)"


async def test_news_wait_for_f5(path):
    """Sums do not jump while they are looked at; the title says that there is more."""
    async with on_store(path, NOW) as browser:
        await browser.press("I")
        execute(path, _BEGIN, "new", NOW - 9)
        browser.screen.listing.read(whole=False)
        await browser.settle()
        assert lines(browser)[0].group.sessions == 1 and "F5 reads again" in browser.text("#header")
        await browser.press("f5")
        assert lines(browser)[0].group.sessions == 2 and "F5" not in browser.text("#header")


@pytest.mark.slow
async def test_columns_are_stacked(path):
    """By model, by source, or not at all; where lines are models they are the parts."""
    async with on_store(path, NOW) as browser:
        await browser.press("I", "m")
        assert names(browser) == ["two", "one"]
        await browser.press("s")
        assert names(browser) == ["telegram", "cli"]
        assert "by source" in browser.status
        await browser.press("s")
        assert not names(browser) and "not stacked" in browser.status
        await browser.press("2", "s")
        assert "the lines of the table" in browser.status
        assert names(browser) == ["two", "one"]


@pytest.mark.slow
async def test_nothing_at_all(tmp_path):
    """A period without anything says what to press."""
    path = make_store(tmp_path / "state.db", "22", [session("old", 500)], [message("old", 500)])
    async with on_store(path, NOW, (80, 24)) as browser:
        await browser.press("I")
        assert "] looks further back" in browser.text("#groups")
        await browser.press("enter", "slash", "2", "4", "6")
        assert "] looks further back" in browser.text("#groups")
        await browser.press("question_mark")
        assert isinstance(browser.app.screen, HelpCard) and "shorter period" in browser.card()
        await browser.press("escape", "escape")
        assert isinstance(browser.app.screen, MainScreen)


@pytest.mark.slow
async def test_nothing_at_all_time(tmp_path):
    """Nothing is further back."""
    async with on_store(make_store(tmp_path / "state.db", "31", []), NOW, (80, 24)) as browser:
        await browser.press("I", *["right_square_bracket"] * 4)
        assert "all time" in browser.text("#header")
        assert browser.text("#groups").strip().endswith("There is nothing to add up.")


@pytest.mark.slow
async def test_a_long_table_says_what_it_leaves_out(path, monkeypatch):
    """The headings stay when the cursor is on that."""
    monkeypatch.setattr(sums_table, "_MOST_CONVERSATIONS", 3)
    async with on_store(path, NOW) as browser:
        await browser.press("I", *["right_square_bracket"] * 4, "7", "end", "enter", "slash")
        assert len(lines(browser)) == 3 and "convs" in browser.text("#headings")
        assert "1 more conversation comes after these" in browser.text("#groups")
        assert isinstance(browser.app.screen, InsightsScreen)


async def test_a_clock_that_was_wrong_makes_no_million_columns(tmp_path):
    """Its sessions are in the table alone."""
    far = [session("a", 1), {"id": "far", "started_at": 2.5e11}, {"id": "old", "started_at": -6e10}]
    async with on_store(make_store(tmp_path / "state.db", "31", far), NOW) as browser:
        await browser.press("I", *["right_square_bracket"] * 4, "b")
        assert len(lines(browser)) == 3 and len(heights(browser)) == 2


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
