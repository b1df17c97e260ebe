"""The columns, lines and sentences of insights, drawn from given numbers."""

import subprocess
import sys

import pytest
from browsing import NOW, on_store
from builders import DAY, make_store

from hermes_browse.store.insights.sums import Group, Report
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Tokens
from hermes_browse.tui.screens.insights.adding_up import GroupedSums, Question
from hermes_browse.tui.screens.insights.chart import (
    OTHERS,
    OWN,
    Bar,
    BarPlot,
    Chart,
    axis,
    make_chart,
    quantiles,
)
from hermes_browse.tui.screens.insights.sums_table import GroupRow, TableLayout, group_rows
from hermes_browse.tui.screens.insights.words import (
    cost,
    cost_line,
    label,
    search_for,
    tokens_line,
    value_of,
)
from hermes_browse.tui.widgets.stacked_columns import edges


def plain(labels, values, chosen=-1):
    """Columns of one colour."""
    pairs = zip(labels, values, strict=True)
    bars = [Bar("", label, [(OWN[0], value)]) for label, value in pairs]
    return Chart(bars, "messages", chosen=chosen)


def test_columns_in_few_cells():
    """As many as there is room for: the last, or those around the chosen one; labels never meet."""
    many = plain([str(number) for number in range(500)], [1.0] * 500)
    shown = many.within(100).bars
    assert shown[0].label == "400" and shown[-1].label == "499"
    around = many._replace(chosen=50).within(100)
    assert around.bars[0].label == "25" and around.bars[around.chosen].label == "50"
    few = plain(["5 Mar", "6 Mar", "7 Mar"], [1, 2, 3], chosen=2)
    assert axis(few.within(60), 60).index("▲") == 2 * 20 + 9, "columns share the whole width"
    for width in range(1, 80):
        for chosen in range(3):
            each = few._replace(chosen=chosen)
            assert len(axis(each.within(width), width)) == width


def test_shades_by_quantiles():
    """One hour with a hundred times as much as the others does not make them all alike."""
    assert quantiles([1, 2, 3, 4, 5, 6, 7, 800]) == [2, 4, 6, 800]
    assert quantiles([0, 5, 5]) == [5] and quantiles([0.0]) == [] and quantiles([1, 9]) == [1, 9]


def test_parts_are_never_more_than_the_sum():
    """A session of two models counts for both; a column is as high as its sum all the same, and
    hides no part."""
    whole = (Group("2026-05-28", sessions=3),)
    parts = {f"m{number}": {"2026-05-28": Group("", sessions=1)} for number in range(6)}
    question, none = Question("", "30d", "day", "model"), Catalog((), 0.0)
    by_time = Report("day", whole[0], whole)
    report = by_time._replace(by="model")
    answer = GroupedSums(question, none, 0, report, by_time, parts)
    chart = make_chart(answer, "sessions", "m5", NOW, str)
    *_others, before, day = (bar.parts for bar in chart.bars)
    assert sum(value for _look, value in day) == pytest.approx(3)
    names = [name for _look, name in chart.legend]
    assert names == ["m5", "m0", "m1", "m2", "m3", "1 other"]
    assert day[0][1] == 0.5 and before[-1] == (OTHERS, 0.0)
    by_tool = answer._replace(report=report._replace(by="tool"))
    alone = make_chart(by_tool, "sessions", "m5", NOW, str)
    assert alone.bars[-1].parts == [(OWN[0], 1.0), (OTHERS, 2.0)]


def test_a_line_has_the_colour_of_its_part():
    """The largest have one each, those after them share one; lines that are no parts have the
    first."""
    groups = tuple(Group(f"m{number}", messages=9 - number) for number in range(6))
    whole = Group("2026-05-28", messages=39)
    day = Report("day", whole, (whole,))
    parts = {each.key: {whole.key: each} for each in groups}
    models = day._replace(by="model", rows=groups)
    answer = GroupedSums(
        Question("", "30d", "day", "model"), Catalog((), 0.0), 0, models, day, parts
    )
    chart = make_chart(answer, "messages", "m0", NOW, str)
    looks = [row.look for row in group_rows(answer, "messages", str)]
    assert looks == [*OWN, OTHERS, OTHERS] == [look for look, _name in chart.legend] + [OTHERS]
    for by in ("day", "tool"):
        alone = answer._replace(report=models._replace(by=by))
        assert {row.look for row in group_rows(alone, "messages", str)} == {OWN[0]}


@pytest.mark.slow
async def test_columns_are_drawn(tmp_path):
    """To the eighth of a cell, under a legend."""
    sessions, messages = (
        [{"id": "a", "started_at": NOW - DAY}],
        [{"session_id": "a", "timestamp": NOW - DAY}],
    )
    path = make_store(tmp_path / "state.db", "31", sessions, messages)
    async with on_store(path, NOW) as browser:
        await browser.press("I")
        plot = browser.app.screen.query_one(BarPlot)
        height, width = plot.size.height - 2, plot.room

        def drawn():
            return [plot.render_line(y).text for y in range(plot.size.height)]

        def rows_of(value):
            """A column from its foot: eight eighths to a row."""
            eighths = round(value / 4.0 * height * 8)
            return "█" * (eighths // 8) + " ▁▂▃▄▅▆▇"[eighths % 8].strip()

        plot.show(plain(["a", "b", "c", "d"], [4.0, 0.0, 1.4, 1.6], chosen=3))
        places, _free = edges(4, width)
        for index, value in enumerate((4.0, 0.0, 1.4, 1.6)):
            for x in (7 + places[index], 7 + places[index + 1] - 2):
                assert "".join(line[x] for line in drawn()[-2:0:-1]).strip() == rows_of(value)
        assert rows_of(1.4) != rows_of(1.6)
        assert (
            drawn()[1][:7].strip() == "4"
            and drawn()[-1][:7].strip() == "0"
            and "▲ d" in drawn()[-1]
        )
        parts = [(OWN[1], 2.0), (OTHERS, 2.0)]
        legend = [(OWN[1], "low"), (OTHERS, "others")]
        plot.show(Chart([Bar("", "a", parts)], title="sums", legend=legend))
        assert drawn()[0].split() == ["sums", "█", "low", "█", "others"]
        plot.show(plain(["a"], [0.0]))
        assert "█" not in "".join(drawn())


def test_the_label_of_the_chosen_column_stands_once():
    """Beside the arrow; columns as wide as a label have room for it twice."""
    two = plain(["Oct 2026", "Nov 2026"], [1.0, 2.0])
    for chosen in range(2):
        told = axis(two._replace(chosen=chosen), 60)
        assert all(told.count(bar.label) == 1 for bar in two.bars), told
    assert axis(plain(["Nov 2026"], [1.0]), 60).split() == ["Nov", "2026"]


@pytest.mark.slow
def test_the_plots_are_loaded_with_the_screen_alone():
    """The browser starts without them."""
    program = (
        "import sys, hermes_browse.tui.app; print('hermes_browse.tui.screens.insights.chart' in sys.modules); "
        "import hermes_browse.tui.screens.insights.screen; print('hermes_browse.tui.screens.insights.chart' in sys.modules)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ended.stdout.split() == ["False", "True"]


def test_searches():
    """What is asked for, and what cannot be."""
    assert search_for("month", "2026-03", "all", NOW)[0] == "on:2026-03"
    assert search_for("week", "2026-03-02", "1y", NOW)[0] == "after:2026-03-01 before:2026-03-09"
    assert search_for("project", "/my work", "all", NOW) == (
        'cwd:"/my work"',
        "longer names match",
    )
    tool = search_for("tool", "terminal", "7d", NOW)
    assert tool == ("tool:terminal after:2026-05-21", "")
    for by, key, period in (("day", "2026-05-28", "all"), ("source", "cli", "7d")):
        assert "without messages then" in search_for(by, key, period, NOW)[1]
    assert not search_for("source", "cli", "all", NOW)[1]
    assert search_for("conversation", "a1", "7d", NOW)[0] == "id:a1"
    cannot = [("model", "unknown"), ("day", "unknown"), ("hour", "1-02"), ("project", 'a"b')]
    for by, key in (*cannot, ("day", "-001-12-31")):
        query, note = search_for(by, key, "all", NOW)
        assert not query and "cannot" in note


@pytest.mark.parametrize("width", [40, 60, 79, 80, 100, 119, 120, 200])
@pytest.mark.parametrize("by", ["day", "tool"])
def test_lines_fill_their_width(by, width):
    """Exactly, wide letters included, and so does the line above them."""
    from rich.cells import cell_len

    group = Group("日本語の長い名前" * 9, set("ab"), 3, 4, Tokens(1, 2, 3, 4, 5), 1.0, 2.0, 1)
    for name, metric in (
        ("", "calls" if by == "tool" else "tokens"),
        ("short", "failed" if by == "tool" else "cost"),
    ):
        table = TableLayout(by, metric, 10.0, 9 * 14 if not name else 5)
        row = GroupRow(group, table, OWN[0], name or group.key)
        spans = row.spans(width, NOW)
        assert sum(cell_len(text) for text, _ in spans) == width == cell_len(table.headings(width))
        bar = sum(cell_len(text) for text, look in spans if look == OWN[0])
        assert bar == table.rooms(width)[1]
        if name and width >= 120:
            assert cell_len(spans[0][0]) < 20 and bar > width // 5, "bars have the rest"


def test_calls_are_calls():
    """Also of a tool with more answers than calls: the column says the same as the bar."""
    assert value_of(Group("x", set("a"), messages=3, calls=1), "calls") == 1.0


def test_sentences():
    """Words fit the width; unknown and estimated are told apart."""
    group = Group("x", set("a"), 1, 2, Tokens(1000, 200, 3_000_000, 0, 50), 1.0, 0.0, 2, 1)
    assert "1 session begun" in tokens_line(group, 200) and len(tokens_line(group, 78)) <= 78
    assert "no tokens recorded" in tokens_line(group._replace(tokens=Tokens()), 200)
    assert cost(group) == "~$1.00?" and cost(group._replace(estimated_usd=0.0)) == "?"
    assert cost(group._replace(estimated_usd=0.0, actual_usd=2.0, unknown=0)) == "$2.00"
    assert (
        cost_line(group._replace(unknown=0, included=0), 0) == "cost $1.00, $1.00 of it estimated"
    )
    assert cost_line(Group("x", set("a"), unknown=2), 0) == (
        "no cost recorded · 2 sessions of unknown cost"
    )
    told = cost_line(group, 3)
    assert (
        "2 sessions of unknown cost" in told
        and "1 session on a subscription" in told
        and "3 messages of no" in told
    )
    assert (
        label("week", "2026-03-02") == "Mon 2 Mar 2026 to Sun 8 Mar 2026"
        and label("month", "2026-03") == "March 2026"
    )
