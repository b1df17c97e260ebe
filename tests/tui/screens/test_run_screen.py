"""The screen of a run: its axis, and what can be read from there."""

import pytest
from browsing import NOW, on_demo, on_store
from effort import slow_but
from hypothesis import given
from hypothesis import strategies as st
from store_builder import T0, StoreBuilder, add_tool_use

from hermes_browse.tui.screens.run import RunAxis, RunScreen, Scale
from hermes_browse.tui.screens.sub_screen import MessageRow

HOUR = 3600.0


@given(st.lists(st.floats(0, 1e6), max_size=30), st.lists(st.floats(-10, 2e6), max_size=30))
def test_time_goes_on_from_left_to_right(times, others):
    scale = Scale(times)
    places = [scale.share(at) for at in sorted([*times, *others])]
    assert places == sorted(places) and all(0 <= place <= 1 for place in places)


def test_pauses_are_short():
    """A night between two hours of work takes a twentieth of them."""
    work = [60.0 * minute for minute in range(61)]
    scale = Scale([*work, *(12 * HOUR + at for at in work)])
    assert scale.share(12 * HOUR) - scale.share(HOUR) == pytest.approx(0.05 / 1.05)
    assert scale.share(HOUR / 2) == pytest.approx(0.25, rel=0.06)


@pytest.mark.parametrize("size", slow_but([(80, 24)], [(40, 12), (80, 24), (120, 36), (200, 60)]))
async def test_the_run_of_the_sample(tmp_path, size):
    async with on_demo(tmp_path, size) as browser:
        await browser.press("B")
        screen = browser.app.screen
        assert isinstance(screen, RunScreen)
        if size[0] < 80:
            return
        facts = " ".join(browser.text("#facts").split())
        assert "9 turns · 20 calls · $0.45 of $0.56" in facts
        assert "Hermes stores no cost of single messages" in facts
        assert "pauses are" in facts
        (turns, *_rest) = screen.axis.draw_rows()
        assert {cell.look for cell in turns if "█" in cell.text} == {"text", "stays"}, (
            "not those of tools, which the legend names"
        )
        axis = browser.text("#axis")
        for name in ("turns", "9× terminal", "parts", "subagents", "compressed"):
            assert name in axis
        assert axis.count("▼") == 2 and "cache 92 %" in axis
        marks = browser.text("#marks")
        assert "23 hours until the next prompt" in marks
        assert "the slowest call: delegate_task, 30 s" in marks
        assert "subagent: 29 s · Run the whole test suite" in marks


async def test_a_key_moves_the_mark_and_counts_nothing_anew(browser, monkeypatch):
    await browser.press("B")
    monkeypatch.setattr(RunAxis, "_rows", None)
    before = browser.text("#axis").splitlines()
    await browser.press("G")
    after = browser.text("#axis").splitlines()
    moved = [line for line in after if line not in before]
    assert moved and moved == [line for line in after if "▲" in line]


async def test_enter_reads_there_and_escape_comes_back(browser):
    """A mark at its message, a subagent from its end."""
    await browser.press("B", "down")
    screen = browser.app.screen
    assert isinstance(screen, RunScreen)
    row = screen.rows.current
    assert isinstance(row, MessageRow) and row.text[0] in browser.status
    await browser.press("enter")
    assert browser.screen.transcript.current_id == row.target[1]
    await browser.press("escape", "end", "enter")
    current = browser.screen.current
    assert current.root.source == "subagent"
    await browser.press("escape")
    assert browser.app.screen is screen


async def test_a_turn_is_named_as_the_most_expensive_one_if_tokens_are_stored(tmp_path):
    builder = StoreBuilder(tmp_path / "state.db")
    builder.session("s")
    for number, tokens in enumerate((10, 900, 20)):
        at = T0 + 60 * number
        builder.message("s", "user", "go", timestamp=at, token_count=tokens)
        columns = {"timestamp": at + 5}
        add_tool_use(builder, f"c{number}", "\x1b]0;x\x07tool", {}, "done", **columns)
    async with on_store(builder.write(), NOW) as browser:
        await browser.press("B")
        assert "]0;x" in browser.text("#axis")
        assert "\x1b" not in browser.text("#axis")
        assert "Hermes stores no cost of single messages" in browser.text("#facts")
        assert "the most expensive turn: 900 tokens" in browser.text("#marks")
        assert "│ part" not in browser.text("#marks"), "nothing is stored of it"
        assert "pauses" not in browser.text("#facts")


async def test_a_conversation_without_messages_has_a_run(tmp_path):
    builder = StoreBuilder(tmp_path / "state.db")
    builder.session("s")
    async with on_store(builder.write(), NOW) as browser:
        await browser.press("4", "B")
        assert "0 turns" in browser.text("#facts")
        assert browser.text("#marks").strip() == "Nothing more is stored of this run."
