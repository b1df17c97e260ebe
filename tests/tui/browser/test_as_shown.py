"""What the screens say holds at the moment it is read: keys, names, counts, titles, sentences."""

import pytest
from browsing import NOW, browsing, on_demo, on_store, open_app, rows_of
from builders import big_store

from hermes_browse.store.hermes.homes import locate_file
from hermes_browse.store.sessions.models import Status, View
from hermes_browse.tui.browser.list.conversation_list import ConversationList
from hermes_browse.tui.browser.list.list_model import RowDetails
from hermes_browse.tui.browser.list.rows import ConversationRow
from hermes_browse.tui.screens.cleanup.plan_rows import SparedRow
from hermes_browse.tui.settings.start import LastState, Start


@pytest.mark.slow
async def test_a_spared_row_is_named_as_in_the_list(fixture_store):
    """P reads how a spared conversation without a title begins, also where the list has not shown
    it."""
    path = fixture_store("state-v31")
    async with on_store(path, 1_900_000_000.0, (120, 14)) as browser:
        browser.screen.edits.choices.rules = "older:0d"
        browser.screen.details = RowDetails()
        await browser.press("P")
        plan = browser.app.screen.query_one("#plan", ConversationList)
        spared = [
            index
            for index, row in enumerate(rows_of(browser))
            if isinstance(row, SparedRow)
            and not row.conversation.title
            and row.conversation.status is not Status.EMPTY
        ]
        assert spared
        plan.cursor = spared[-1]
        await browser.settle()
        row = plan.source.row(spared[-1])
        assert isinstance(row, SparedRow) and row.conversation.preview


@pytest.mark.slow
async def test_help_goes_where_lists_go(tmp_path):
    """End, Home, g, G, Ctrl+D and Ctrl+U move in it."""
    async with on_demo(tmp_path, (80, 24)) as browser:
        await browser.press("question_mark")
        page = browser.app.screen.query_one("#help")
        for keys, where in (
            (("end",), "end"),
            (("home",), "start"),
            (("G",), "end"),
            (("g",), "start"),
            (("ctrl+d",), "between"),
            (("ctrl+u",), "start"),
        ):
            await browser.press(*keys)
            y, last = page.scroll_y, page.max_scroll_y
            assert {"end": y == last, "start": y == 0, "between": 0 < y < last}[where], keys


@pytest.mark.slow
async def test_silence_ends_what_was_live(browser, monkeypatch):
    """Without any change of the store."""
    monkeypatch.setattr("hermes_browse.tui.browser.list.listing.SILENT_SECONDS", 0.0)
    assert "Hermes is writing" in browser.status
    browser.screen.clock = lambda: NOW + 86_400
    await browser.wait_until(lambda: "no one is writing" in browser.status)
    rows = [row for row in rows_of(browser) if isinstance(row, ConversationRow)]
    assert not any(row.conversation.status is Status.LIVE for row in rows)


async def test_a_store_that_cannot_be_read_any_more_is_not_said_to_be_read(tmp_path):
    """In another view than the first rows are of, its rows wait for the whole list."""
    path = big_store(tmp_path / "state.db", 300, 300)
    app = open_app(locate_file(path))
    app.startup = Start(memory=LastState(view=View.ALL))
    path.write_bytes(b"SQLite format 3\0" + b"\xff" * 8000)
    async with browsing(app) as browser:
        assert "reading the store" not in browser.text("#list")
        said = " ".join(browser.text("#list").split())
        assert said.startswith("state.db is not a session store")
