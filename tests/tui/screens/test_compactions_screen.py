"""The inspector of compactions, and what the model saw at a message, on stores that Hermes
wrote."""

import pytest
from browsing import on_store
from builders import T0
from compressed import case, long_conversation, read_memory, store_of
from effort import slow_but
from trashing import add_message

from hermes_browse.store.compression.losses import Losses
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.messages.chat_message import Reading
from hermes_browse.store.messages.transcript import read_outline
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.sessions.first_page import read_neighbourhood
from hermes_browse.store.sessions.models import View
from hermes_browse.tui.browser.preflight import not_remembered
from hermes_browse.tui.screens.inspection import CompactionRow
from hermes_browse.tui.text.styled import line_width

NOW = T0 + 86_400


@pytest.mark.slow
async def test_what_was_left_before_it_was_read_is_read_on_the_way_back(tmp_path, answers):
    path = long_conversation(tmp_path / "state.db", 1200, 1)
    async with on_store(path, NOW, (160, 40)) as browser:
        await browser.press("M", "tab", "n", "G")
        pane = browser.app.screen.replaced
        answers.hold()
        while pane.page.missing is None:
            await browser.send("pageup")
        place = pane.page.position
        await browser.send("n")
        answers.release()
        await browser.settle()
        pane._go(place)
        await browser.settle()
        assert pane.page.missing is None and "…" not in browser.text("#replaced")


RECORDED = ("0.19.0-rotation-twice", "0.18.2-place-often", "0.16.0-rotation-failing")


@pytest.mark.parametrize("name", slow_but(RECORDED[:1], RECORDED))
async def test_recorded_compactions_are_listed_each(tmp_path, name):
    store = store_of(tmp_path / "state.db", case(f"{name}.json"))
    async with on_store(store, NOW) as browser:
        await browser.press("4", "M")
        compactions = browser.app.screen._history.compactions
        assert compactions
        for number, one in enumerate(compactions):
            screen = browser.app.screen
            screen.rows.cursor = number
            await browser.settle()
            assert screen._number == number
            assert len(screen.replaced.page.model.outline.rows) == len(one.replaced)


@pytest.mark.slow
async def test_rows_fill_exactly_their_width(tmp_path):
    store = long_conversation(tmp_path / "state.db", 300, 4, in_place=False)
    async with on_store(store, NOW) as browser:
        await browser.press("M")
        compactions = browser.app.screen._history.compactions
        for number, one in enumerate(compactions):
            row = CompactionRow(number, one, Losses((None,) * 27, True))
            assert [line_width(row.spans(width, NOW)) for width in range(20, 160)] == list(
                range(20, 160)
            )


@pytest.mark.parametrize("in_place", [True, False])
def test_what_a_resume_lacks(tmp_path, in_place):
    path = long_conversation(tmp_path / "state.db", 300, 4, in_place=in_place)
    with Store(path).reader() as reader:
        conversation = read_neighbourhood(reader, ["s0"], NOW).of_session("s0")
        memory = read_memory(reader, conversation.segments)
        live = {row.id for row in read_outline(reader, conversation.segments, Reading.LIVE).rows}
    assert live <= memory.known and not live & set(memory.forgotten)
    assert f"summary of {len(memory.forgotten)} of {memory.said} messages" in not_remembered(memory)


def test_nothing_is_said_where_nothing_is_forgotten(tmp_path):
    path = store_of(tmp_path / "state.db", case("0.19.0-place-killed.json"))
    with Store(path).reader() as reader:
        found = read_catalog(reader, NOW).select(View.ALL)
        assert [not_remembered(read_memory(reader, each.segments)) for each in found] == [""] * len(
            found
        )


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 4])
async def test_a_message_that_comes_moves_neither_the_cursor_nor_the_page(number, tmp_path):
    """In the newest compaction it may name what was lost, which is looked for again."""
    path = long_conversation(tmp_path / "state.db", 300, 4, in_place=False)
    async with on_store(path, NOW, (160, 40)) as browser:
        await browser.press("M")
        screen = browser.app.screen
        screen.rows.cursor = number
        await browser.settle()
        await browser.press("tab", "n", "down", "down")
        place, told = screen.replaced.page.position, browser.text("#replaced-title")
        add_message(path, screen.conversation.id, "a zeppelin", NOW)
        await browser.follow()
        assert screen.rows.cursor == screen._number == number and screen.replaced.has_focus
        assert screen.replaced.page.position == place
        assert screen._losses.keys() >= {*screen._history.compactions}
        assert browser.text("#replaced-title") == told
