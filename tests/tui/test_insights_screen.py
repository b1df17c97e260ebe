"""Insights on the screen: bars and lines agree with the store, Enter shows what is behind them, / searches for it."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from browsing import NOW, Browser, browsing, demo_app, loose, open_app
from builders import DAY, make_store, tool_call
from textual.color import Color

from hermes_browse.store.errors import QueryInterruptedError, StoreError
from hermes_browse.store.insights.facts import Facts
from hermes_browse.store.insights.sums import Group
from hermes_browse.store.sessions.session import Tokens
from hermes_browse.tui.insights import adding_up
from hermes_browse.tui.insights.plot import BarPlot, Chart, WeekPlot, axis, lay_out, quantiles
from hermes_browse.tui.insights.rows import GroupRow, Table
from hermes_browse.tui.insights.screen import InsightsScreen
from hermes_browse.tui.insights.series import OTHERS, OWN, Series, Stacking
from hermes_browse.tui.insights.words import cost, cost_line, label, search_for, tokens_line
from hermes_browse.tui.list.conversation_list import ConversationList
from hermes_browse.tui.list.rows import ConversationRow, JobRow
from hermes_browse.tui.screens.help import HelpScreen
from hermes_browse.tui.screens.main import MainScreen
from hermes_browse.tui.shared.columns import edges


def session(id: str, days: float, **columns: object) -> dict[str, object]:
    """A session begun so many days before `NOW`."""
    return {"id": id, "started_at": NOW - days * DAY, "title": f"Chat {id}", "source": "cli"} | columns


def message(id: str, days: float, **columns: object) -> dict[str, object]:
    """A message of so many days before `NOW`."""
    return {"session_id": id, "content": "hello", "timestamp": NOW - days * DAY} | columns


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Three chats in two weeks, of two models, with a tool that fails, and an old one."""
    sessions = [
        session("a", 0.1, model="m/one", input_tokens=1000, cache_read_tokens=500, estimated_cost_usd=0.5, cwd="/src"),
        session("b", 2, model="m/two", input_tokens=3000, output_tokens=40, source="telegram"),
        session("c", 2, model="m/one", input_tokens=10, estimated_cost_usd=9.0, actual_cost_usd=2.0, cwd="/src"),
        session("old", 200, model="m/one", input_tokens=7),
    ]
    failed = '{"exit_code": 1}'
    messages = [
        message("a", 0.1, role="assistant", tool_calls=[tool_call("terminal")]),
        message("a", 0.1, role="tool", tool_name="terminal", content=failed),
        *(message("b", 2) for _ in range(5)),
        message("c", 2),
        message("old", 200),
    ]
    return make_store(tmp_path / "state.db", "31", sessions, messages)


def lines(browser: Browser) -> list[GroupRow]:
    """The lines of sums."""
    source = browser.app.screen.query_one("#groups", ConversationList).source
    return [row for row in map(source.row, range(len(source))) if isinstance(row, GroupRow)]


def behind(browser: Browser) -> set[str]:
    """Tips of the conversations that are listed."""
    source = browser.app.screen.query_one("#groups", ConversationList).source
    rows = [source.row(index) for index in range(len(source))]
    return {row.conversation.id for row in rows if isinstance(row, ConversationRow)}


def chart(browser: Browser) -> Chart:
    """The bars."""
    found = browser.app.screen.query_one(BarPlot).chart
    assert found is not None
    return found


async def test_days_with_their_bars(path: Path) -> None:
    """Newest first; the bar of the line is the chosen one; Enter, Esc, and what is behind a day."""
    async with browsing(open_app(loose(path), NOW)) as browser:
        await browser.press("I")
        assert isinstance(browser.app.screen, InsightsScreen)
        assert [(row.group.key, row.group.tokens.total) for row in lines(browser)] == [
            ("2026-05-28", 1500),
            ("2026-05-26", 3050),
        ]
        bars = chart(browser)
        assert len(bars.values) == 30 and bars.values[-3:] == [2.0, 0, 0.5] and bars.chosen == 29
        assert [(each.name, list(each.values[-3:])) for each in bars.series] == [("one", [2.0, 0, 0.5])]
        assert "cost by day" in browser.text("#bars") and "█ one" in browser.text("#bars")
        assert "~$0.50" in browser.text("#groups") and "$2.00?" in browser.text("#groups")
        assert "$2.50: $2.00 actual + $0.50 estimated · 1 session of unknown cost" in browser.text("#costs")
        await browser.press("down")
        assert chart(browser).chosen == 27 and "▲ 26 May" in browser.text("#bars")
        await browser.press("enter")
        assert behind(browser) == {"b", "c"} and "2 conversations" in browser.text("#status")
        await browser.press("escape")
        assert lines(browser)[1].group.key == "2026-05-26" and chart(browser).chosen == 27
        await browser.press("enter", "enter")
        assert isinstance(browser.app.screen, MainScreen)
        assert browser.screen.controllers.current.conversation is not None
        assert browser.screen.controllers.current.conversation.id in {"b", "c"}


async def test_periods_units_and_measures(path: Path) -> None:
    """[ and ] look back, b changes the bars, m what they measure."""
    async with browsing(open_app(loose(path), NOW)) as browser:
        await browser.press("I", "left_square_bracket")
        assert len(chart(browser).values) == 7 and "7 days" in browser.text("#header")
        await browser.press("left_square_bracket")
        assert "no shorter" in browser.text("#status")
        await browser.press(*["right_square_bracket"] * 4)
        assert [row.group.key for row in lines(browser)] == ["2026-05", "2025-11"]
        assert chart(browser).labels[0] == "Nov 2025" and len(chart(browser).values) == 7
        await browser.press("b")
        assert lines(browser)[0].by == "day" and len(chart(browser).values) == 201
        assert chart(browser).values[-1] == 0.5 and "cost by day" in browser.text("#bars")
        await browser.press("m")
        assert chart(browser).values[-3:] == [3050, 0, 1500] and "tokens by day" in browser.text("#bars")
        await browser.press("m")
        assert chart(browser).values[-3:] == [6, 0, 2]


async def test_by_model_source_and_directory(path: Path) -> None:
    """Most first; the part of the line is lit in the bars of all."""
    async with browsing(open_app(loose(path), NOW)) as browser:
        await browser.press("I", "2")
        assert [(row.group.key, row.group.tokens.total) for row in lines(browser)] == [
            ("m/one", 1510),
            ("m/two", 3040),
        ]
        await browser.press("m")
        assert lines(browser)[0].group.key == "m/two"
        for name, part in (("one", [10, 0, 1500]), ("two", [3040, 0, 0])):  # the cursor stays on its line
            lowest = chart(browser).series[0]
            assert (lowest.name, list(lowest.values[-3:])) == (name, part) and chart(browser).values[-3] == 3050
            await browser.press("up")
        assert {row.parts[0][0] for row in lines(browser)} == {each.look for each in chart(browser).series}
        await browser.press("tab")
        assert {row.group.key for row in lines(browser)} == {"cli", "telegram"}
        await browser.press("5")
        assert {row.group.key for row in lines(browser)} == {"/src", "unknown"}
        await browser.press("7")
        assert [row.group.key for row in lines(browser)] == ["b", "a", "c"], "tokens, as asked for before"
        assert [list(each.values[-3:]) for each in chart(browser).series] == [[3040, 0, 0], [10, 0, 1500]]
        assert "Chat b" in browser.text("#groups")


async def test_tools_and_their_failures(path: Path) -> None:
    """Calls, answers, failures; what tokens a tool took nobody knows."""
    async with browsing(open_app(loose(path), NOW)) as browser:
        await browser.press("I", "4")
        (row,) = lines(browser)
        assert (row.group.key, row.group.calls, row.group.failed) == ("terminal", 1, 1)
        assert "100.0%" in browser.text("#groups") and "by tool" in browser.text("#costs")
        await browser.press("enter")
        assert behind(browser) == {"a"}


async def test_hours_of_the_week(path: Path) -> None:
    """A map instead of bars; Enter shows what a search could not; / says so."""
    async with browsing(open_app(loose(path), NOW)) as browser:
        await browser.press("I", "6")
        assert not browser.app.screen.query_one(BarPlot).display and browser.app.screen.query_one(WeekPlot).display
        row = lines(browser)[0]
        assert (row.group.key, row.group.messages) == ("1-20", 6), "Tuesday, two days ago at the same hour"
        assert "Tue 20:00–21:00" in browser.text("#groups") and "█◂" in browser.text("#week")
        assert "messages by hour of the week" in browser.text("#header") and "to 6" in browser.text("#week")
        await browser.press("m", "m")
        assert "cost by hour" in browser.text("#header") and "to $" in browser.text("#week")
        await browser.press("m", "m")
        assert lines(browser)[0].group.key == "1-20"
        await browser.press("slash")
        assert "cannot ask for an hour" in browser.text("#status")
        await browser.press("enter")
        assert behind(browser) == {"b", "c"}


@pytest.mark.parametrize(("keys", "query"), [("", "on:2026-05-28"), ("3", "source:cli after:2026-04-28")])
async def test_the_search_for_a_line(path: Path, keys: str, query: str) -> None:
    """It is typed into the box of the main screen, and finds the same conversations."""
    async with browsing(open_app(loose(path), NOW)) as browser:
        await browser.press("I", *keys)
        wanted = lines(browser)[0].group.conversations
        await browser.press("slash")
        assert isinstance(browser.app.screen, MainScreen) and browser.screen.box.value.strip() == query
        rows = [browser.screen.rows.source.row(index) for index in range(len(browser.screen.rows))]
        assert {row.conversation.root_id for row in rows if isinstance(row, ConversationRow)} == wanted


@pytest.mark.slow
async def test_in_what_a_search_differs_from_the_sums_is_said(tmp_path: Path) -> None:
    """Of a model: behind the count in the status line, until something else is asked."""
    async with browsing(demo_app(tmp_path), size=(80, 24)) as browser:
        await browser.press("I", *["right_square_bracket"] * 4)
        for number in range(1, 7):
            await browser.press(str(number))
            if lines(browser)[0].by == "model":
                break
        await browser.press("slash")
        word = search_for("model", "any", "all", NOW).note
        assert word and word in browser.text("#status")
        assert browser.text("#status").split()[0] == f"{len(browser.screen.rows):,}"
        browser.screen.box.value += " cookie "
        await browser.settle()
        assert word not in browser.text("#status")


async def test_the_demo_as_sql_counts_it(tmp_path: Path) -> None:
    """What the screen says of all time is what the store holds, runs of a job folded behind their line."""
    app = demo_app(tmp_path)
    async with browsing(app, size=(200, 50)) as browser:
        await browser.press("I", *["right_square_bracket"] * 4, "3")
        connection = sqlite3.connect(app.store.path)
        counts = connection.execute(
            "SELECT source, sum(input_tokens), count(*) FROM sessions GROUP BY 1 ORDER BY 1"
        ).fetchall()
        messages = connection.execute("SELECT count(*) FROM messages").fetchone()[0]
        connection.close()
        found = [(row.group.key, row.group.tokens.input, row.group.sessions) for row in lines(browser)]
        assert sorted(found) == counts and f"{messages:,} messages" in browser.text("#sums")
        groups = browser.app.screen.query_one("#groups", ConversationList)
        groups.cursor = groups.source.index_of("gsource cron") or 0
        await browser.press("enter")
        assert isinstance(groups.current, JobRow)
        await browser.press("enter")
        assert behind(browser)


async def test_news_wait_for_f5(path: Path) -> None:
    """Sums do not jump while they are looked at; the title says that there is more."""
    async with browsing(open_app(loose(path), NOW)) as browser:
        await browser.press("I")
        with sqlite3.connect(path) as connection:
            connection.execute("INSERT INTO sessions (id, source, started_at) VALUES ('new', 'cli', ?)", [NOW - 9])
        connection.close()
        browser.screen.controllers.listing.read(whole=False)
        await browser.settle()
        assert lines(browser)[0].group.sessions == 1 and "F5 reads again" in browser.text("#header")
        await browser.press("f5")
        assert lines(browser)[0].group.sessions == 2 and "F5" not in browser.text("#header")


async def test_late_news_of_what_has_been_read(path: Path) -> None:
    """The watcher tells of a write that F5 has read already: the sums are not outdated. After another one they are."""
    async with browsing(open_app(loose(path), NOW)) as browser:
        await browser.press("I")

        def write(name: str) -> None:
            with sqlite3.connect(path) as connection:
                values = [name, "cli", NOW - 9]
                connection.execute("INSERT INTO sessions (id, source, started_at) VALUES (?, ?, ?)", values)
            connection.close()

        write("new")
        await browser.press("f5")
        assert lines(browser)[0].group.sessions == 2
        screen = browser.app.screen
        assert isinstance(screen, InsightsScreen)
        screen.catalog_changed()
        assert "F5" not in browser.text("#header")
        write("newer")
        screen.catalog_changed()
        await browser.settle()
        assert "F5 reads again" in browser.text("#header")


async def test_columns_are_stacked(path: Path) -> None:
    """By model, by source, or not at all; where lines are models they are the parts."""
    async with browsing(open_app(loose(path), NOW)) as browser:
        await browser.press("I", "m")
        assert [each.name for each in chart(browser).series] == ["two", "one"]
        assert [look for look, _ in lines(browser)[1].parts] == [*OWN[:2], OTHERS]
        await browser.press("s")
        assert [each.name for each in chart(browser).series] == ["telegram", "cli"]
        assert "by source" in browser.text("#status")
        await browser.press("s")
        assert [each.name for each in chart(browser).series] == [""] and "not stacked" in browser.text("#status")
        await browser.press("2", "s")
        assert "the lines of the table" in browser.text("#status")
        assert [each.name for each in chart(browser).series] == ["two", "one"]


async def test_nothing_at_all(tmp_path: Path) -> None:
    """A period without anything says what to press."""
    path = make_store(tmp_path / "state.db", "22", [session("old", 500)], [message("old", 500)])
    async with browsing(open_app(loose(path), NOW), size=(80, 24)) as browser:
        await browser.press("I")
        assert "] looks further back" in browser.text("#groups")
        await browser.press("enter", "slash", "2", "4", "6")
        assert "] looks further back" in browser.text("#groups")
        await browser.press("question_mark")
        assert isinstance(browser.app.screen, HelpScreen) and "shorter period" in browser.card()
        await browser.press("escape", "escape")
        assert isinstance(browser.app.screen, MainScreen)


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["hermes-light", "ansi-dark"])
async def test_small_and_in_other_themes(path: Path, theme: str) -> None:
    """80 × 24: bars, lines and keys are there; what is chosen can be told without colour."""
    app = open_app(loose(path), NOW)
    async with browsing(app, size=(80, 24)) as browser:
        app.theme = theme
        await browser.press("I")
        assert "█" in browser.text("#bars") and "28 May ▲" in browser.text("#bars")
        assert len(lines(browser)) == 2 and "measure" in browser.text("#keys")
        await browser.press("2")
        assert "█ one" in browser.text("#bars") and "█ 1 other" not in browser.text("#bars")


async def test_a_click_on_a_bar(path: Path) -> None:
    """Goes to its line; on a day without anything it says so."""
    async with browsing(open_app(loose(path), NOW)) as browser:
        await browser.press("I")
        screen = browser.app.screen
        places = edges(30, screen.query_one(BarPlot).room)
        for index, wanted in ((27, 1), (28, 1), (29, 0)):
            await browser.pilot.click("#bars", offset=(1 + 7 + places[index], 2))
            await browser.settle()
            assert screen.query_one("#groups", ConversationList).cursor == wanted
            assert ("nothing" in browser.text("#status")) is (index == 28)


def plain(labels: Sequence[str], values: Sequence[float], chosen: int | None = None) -> Chart:
    """Columns of one colour."""
    return Chart(labels, [Series("", OWN[0], values)], chosen, lambda value: f"{value:.3g}")


def test_columns_in_few_cells() -> None:
    """As many as there is room for: the last, or those around the chosen one; labels never meet."""
    many = plain([str(number) for number in range(500)], [1.0] * 500)
    assert lay_out(many, 100) == range(400, 500) and lay_out(many._replace(chosen=50), 100).start == 25
    few = plain(["5 Mar", "6 Mar", "7 Mar"], [1, 2, 3], chosen=2)
    assert axis(few, lay_out(few, 60), 60).index("▲") == 2 * 20 + 9, "columns share the whole width"
    for width in range(1, 80):
        for chosen in range(3):
            each = few._replace(chosen=chosen)
            assert len(axis(each, lay_out(each, width), width)) == width


def test_shades_by_quantiles() -> None:
    """One hour with a hundred times as much as the others does not make them all alike."""
    assert quantiles([1, 2, 3, 4, 5, 6, 7, 800]) == [2, 4, 6, 800]
    assert quantiles([0, 5, 5]) == [5] and quantiles([0.0]) == [] and quantiles([1, 9]) == [1, 9]


def test_parts_are_never_more_than_the_sum() -> None:
    """A session of two models counts for both; a column is as high as its sum all the same, and hides no part."""
    whole = [Group("d", sessions=3)]
    parts = {f"m{number}": {"d": Group("", sessions=1)} for number in range(6)}
    stacking = Stacking(whole, parts, "sessions", "m5")
    assert sum(value for _, value in stacking.at("d")) == pytest.approx(3)
    assert [each.name for each in stacking.series(["d"])] == ["m5", "m0", "m1", "m2", "m3", "1 other"]
    assert stacking.series(["d", "e"])[0].values == [0.5, 0.0] and stacking.at("e")[-1] == (OTHERS, 0.0)
    alone = Stacking(whole, parts, "sessions", "m5", alone=True)
    assert alone.at("d") == [(OWN[0], 1.0), (OTHERS, 2.0)]


def test_searches() -> None:
    """What is asked for, and what cannot be."""
    assert search_for("month", "2026-03", "all", NOW).query == "on:2026-03"
    assert search_for("week", "2026-03-02", "1y", NOW).query == "after:2026-03-01 before:2026-03-09"
    assert search_for("project", "/my work", "all", NOW) == (
        'cwd:"/my work"',
        "longer names match",
    )
    assert search_for("tool", "terminal", "7d", NOW).query == "tool:terminal after:2026-05-21"
    assert search_for("conversation", "a1", "7d", NOW).query == "id:a1"
    for by, key in (("model", "unknown"), ("day", "unknown"), ("hour", "1-02"), ("project", 'a"b')):
        found = search_for(by, key, "all", NOW)
        assert not found.query and "cannot" in found.note


@pytest.mark.parametrize("width", [40, 60, 79, 80, 100, 119, 120, 200])
@pytest.mark.parametrize("by", ["day", "tool"])
def test_lines_fill_their_width(by: str, width: int) -> None:
    """Exactly, wide letters included, and so does the line above them."""
    from rich.cells import cell_len

    group = Group("日本語の長い名前" * 9, set("ab"), 3, 4, Tokens(1, 2, 3, 4, 5), 1.0, 2.0, 1)
    for name, metric in (("", "calls" if by == "tool" else "tokens"), ("short", "failed" if by == "tool" else "cost")):
        table = Table(by, metric, 10.0, 9 * 14 if not name else 5)
        row = GroupRow(group, table, [(OWN[0], 3.0), (OTHERS, 4.0)], name)
        spans = row.spans(width, NOW)
        assert sum(cell_len(text) for text, _ in spans) == width == cell_len(table.headings(width))
        bar = sum(cell_len(text) for text, look in spans if look in (OWN[0], OTHERS))
        assert bar == -(-(table.rooms(width)[1] * 7) // 10), "seven of ten"
        if name and width >= 120:
            assert cell_len(spans[0][0]) < 20 and bar > width // 5, "bars have the rest"


def test_sentences() -> None:
    """Words fit the width; unknown and estimated are told apart."""
    group = Group("x", set("a"), 1, 2, Tokens(1000, 200, 3_000_000, 0, 50), 1.0, 0.0, 2, 1)
    assert "1 session begun" in tokens_line(group, 200) and len(tokens_line(group, 78)) <= 78
    assert "no tokens recorded" in tokens_line(replace(group, tokens=Tokens()), 200)
    assert cost(group) == "~$1.00?" and cost(replace(group, estimated_usd=0.0)) == "?"
    assert cost(replace(group, estimated_usd=0.0, actual_usd=2.0, unknown=0)) == "$2.00"
    told = cost_line(group, 3)
    assert "2 sessions of unknown cost" in told and "1 in a subscription" in told and "3 messages of no" in told
    assert (
        label("week", "2026-03-02") == "Mon 2 Mar 2026 to Sun 8 Mar 2026" and label("month", "2026-03") == "March 2026"
    )


def test_the_plots_are_loaded_with_the_screen_alone() -> None:
    """The browser starts without them."""
    program = (
        "import sys, hermes_browse.tui.app; print('hermes_browse.tui.insights.plot' in sys.modules); "
        "import hermes_browse.tui.insights.screen; print('hermes_browse.tui.insights.plot' in sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == ["False", "True"]


async def test_columns_are_drawn(path: Path) -> None:
    """To the eighth of a cell; the chosen one has a band behind it, and parts are in the colours of the legend."""
    async with browsing(open_app(loose(path), NOW)) as browser:
        await browser.press("I")
        plot = browser.app.screen.query_one(BarPlot)
        height, width = plot.size.height - 2, plot.room

        def drawn() -> list[str]:
            return [plot.render_line(y).text for y in range(plot.size.height)]

        def rows_of(value: float) -> str:
            """A column from its foot: eight eighths to a row."""
            eighths = round(value / 4.0 * height * 8)
            return "█" * (eighths // 8) + " ▁▂▃▄▅▆▇"[eighths % 8].strip()

        plot.show(plain(["a", "b", "c", "d"], [4.0, 0.0, 1.4, 1.6], chosen=3))
        places = edges(4, width)
        for index, value in enumerate((4.0, 0.0, 1.4, 1.6)):
            for x in (7 + places[index], 7 + places[index + 1] - 2):
                assert "".join(line[x] for line in drawn()[-2:0:-1]).strip() == rows_of(value)
        assert rows_of(1.4) != rows_of(1.6)
        assert drawn()[1][:7].strip() == "4" and drawn()[-1][:7].strip() == "0" and "▲ d" in drawn()[-1]
        band = Color.parse(browser.app.theme_variables["panel"]).rich_color
        behind = [seg.style.bgcolor == band for seg in plot.render_line(1) if seg.style and not seg.text.strip()]
        assert any(behind) and not all(behind)
        plot.show(Chart(["a"], [Series("low", OWN[1], [2.0]), Series("others", OTHERS, [2.0])], None, str, "sums"))
        assert drawn()[0].split() == ["sums", "█", "low", "█", "others"]
        colors = [
            {seg.style.color.name for seg in plot.render_line(y) if seg.style and seg.style.color and "█" in seg.text}
            for y in (0, 1, height)
        ]
        assert colors[1] < colors[0] and colors[2] < colors[0] and not colors[1] & colors[2]
        plot.show(plain(["a"], [0.0]))
        assert "█" not in "".join(drawn())


async def test_a_reading_is_stopped_with_esc(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The screen stays, F5 begins again; so it does after an error, which is said in the place of the lines."""

    def endless(
        reader: object, catalog: object, *, stopped: Callable[[], bool], tell: Callable[[float], None]
    ) -> Facts:
        while not stopped():
            tell(0.5)
            time.sleep(0.005)
        raise QueryInterruptedError("stopped")

    def broken(*given: object, **named: object) -> Facts:
        raise StoreError("The disk is on fire.", remedy="Run.")

    async with browsing(open_app(loose(path), NOW)) as browser:
        monkeypatch.setattr(adding_up, "read_facts", endless)
        await browser.pilot.press("I")
        await browser.pilot.press("escape")
        await browser.settle()
        assert isinstance(browser.app.screen, InsightsScreen) and "stopped: F5" in browser.text("#status")
        monkeypatch.setattr(adding_up, "read_facts", broken)
        await browser.press("f5")
        assert "on fire" in browser.text("#groups") and "on fire" in browser.text("#status")
        monkeypatch.undo()
        await browser.press("f5")
        assert len(lines(browser)) == 2
