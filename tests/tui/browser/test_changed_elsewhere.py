"""What another process does while something is searched or read: the screen follows, and says what
is gone."""

import asyncio
import threading

import pytest
from browsing import NOW, on_demo, on_store, rows_of
from trashing import family, rows, run

from hermes_browse.tui.browser.list.rows import ConversationRow
from hermes_browse.tui.browser.search import search
from hermes_browse.tui.screens.insights.screen import InsightsScreen

SIZE = (120, 36)


@pytest.fixture
def path(tmp_path):
    return family(tmp_path / "state.db")


def names(browser):
    """The titles in the list, and whether they are archived."""
    found = [row.conversation for row in rows_of(browser) if isinstance(row, ConversationRow)]
    return {each.root_id: (each.title, each.archived) for each in found}


async def changed(browser, path, *statements):
    """Another process changes the store, and the browser has read it whole again."""
    run(path, *statements)
    browser.screen.listing.read()
    await browser.settle()


@pytest.mark.slow
@pytest.mark.parametrize("query", ["lantern", "harbour", "title:harbour"])
async def test_what_was_found_follows_the_store(path, query):
    """Hits, and a list that is narrowed: titles and states, and what is gone."""
    async with on_store(path, NOW, SIZE) as browser:
        await browser.search(query)
        before = names(browser)
        assert len(before) > 1
        first, second = list(before)[:2]
        await changed(
            browser,
            path,
            f"UPDATE sessions SET title = 'Harbour anew', archived = 1 WHERE id = '{first}'",
        )
        assert names(browser)[first] == ("Harbour anew", True)
        await changed(
            browser,
            path,
            f"DELETE FROM messages WHERE session_id = '{second}'",
            f"DELETE FROM sessions WHERE id = '{second}'",
        )
        assert second not in names(browser) and first in names(browser)


async def test_a_count_does_not_bring_back_what_was_there_before(path, monkeypatch):
    """The store changes while the hits are counted."""
    begun, go_on = threading.Event(), threading.Event()
    count_hits = search.count_hits

    def slow(*asked):
        begun.set()
        go_on.wait(10)
        return count_hits(*asked)

    async with on_store(path, NOW, SIZE) as browser:
        monkeypatch.setattr(search, "count_hits", slow)
        browser.screen.focus_search()
        browser.screen.box.value = "lantern"  # a key would wait for the count
        await asyncio.to_thread(begun.wait, 10)
        first = next(iter(names(browser)))
        run(path, f"UPDATE sessions SET title = 'Harbour anew' WHERE id = '{first}'")
        browser.screen.listing.read()
        await browser.wait_until(lambda: names(browser)[first][0] == "Harbour anew")
        go_on.set()
        await browser.settle()
        assert names(browser)[first][0] == "Harbour anew"


@pytest.mark.slow
async def test_reading_again_searches_again(path):
    async with on_store(path, NOW, SIZE) as browser:
        await browser.search("lantern")
        count = len(browser.screen.results.hits)
        run(
            path,
            "INSERT INTO messages (session_id, role, content, timestamp, message_uid) "
            f"VALUES ('other', 'user', 'a lantern', {NOW}, 'late')",
        )
        await browser.press("f5")
        await browser.wait_until(lambda: len(browser.screen.results.hits) == count + 1)


async def test_what_is_deleted_while_it_is_read_is_left(path):
    """The row that takes its place gets no key that was meant for it."""
    async with on_store(path, NOW, SIZE) as browser:
        row = next(row for row in rows_of(browser) if row.conversation.root_id == "other")
        browser.screen.rows.cursor = rows_of(browser).index(row)
        await browser.press("enter")
        assert browser.screen.transcript.has_focus
        await changed(
            browser,
            path,
            "DELETE FROM messages WHERE session_id = 'other'",
            "DELETE FROM sessions WHERE id = 'other'",
        )
        assert browser.screen.rows.has_focus and "is no longer in the store" in browser.status


@pytest.mark.slow
async def test_our_own_delete_is_no_surprise(path):
    async with on_store(path, NOW, SIZE) as browser:
        row = next(row for row in rows_of(browser) if row.conversation.root_id == "other")
        browser.screen.rows.cursor = rows_of(browser).index(row)
        await browser.press("enter", "D", "y")
        assert "other" not in names(browser) and "no longer" not in browser.status


async def test_what_is_marked_follows_the_store(path):
    """A key acts on it as it is now: one that was archived elsewhere is unarchived by `a`."""
    async with on_store(path, NOW, SIZE) as browser:
        await browser.press("4")
        row = next(row for row in rows_of(browser) if row.conversation.root_id == "other")
        browser.screen.rows.cursor = rows_of(browser).index(row)
        await browser.press("space")
        await changed(browser, path, "UPDATE sessions SET archived = 1 WHERE id = 'other'")
        await browser.press("a")
        assert not names(browser)["other"][1] and "brought back" in browser.status


@pytest.mark.slow
async def test_a_title_is_that_of_the_newest_part(path):
    """Another program continued the conversation while the title was typed."""
    async with on_store(path, NOW, SIZE) as browser:
        row = next(row for row in rows_of(browser) if row.conversation.root_id == "other")
        browser.screen.rows.cursor = rows_of(browser).index(row)
        await browser.press("f2")
        run(
            path,
            f"UPDATE sessions SET ended_at = {NOW}, end_reason = 'compression' WHERE id = 'other'",
            "INSERT INTO sessions (id, source, started_at, parent_session_id, title) "
            f"VALUES ('late', 'cli', {NOW}, 'other', 'Quay #2')",
        )
        browser.screen.listing.read()
        await browser.settle()
        await browser.press("ctrl+u", *"Pier", "enter")
        assert rows(path, "SELECT title FROM sessions WHERE id = 'late'") == [("Pier",)]


@pytest.mark.slow
async def test_all_that_is_found_is_marked(tmp_path):
    """Not only what was read to be shown."""
    async with on_demo(tmp_path, SIZE) as browser:
        await browser.search("the")
        screen = browser.screen
        await browser.press("enter", "h")
        await browser.wait_until(lambda: screen.results.total is not None)
        await browser.press("asterisk")
        shown = {each.root_id for each in screen.results.listed}
        roots = {screen.catalog.root_of(each) for each in screen.results.total.sessions}
        assert len(roots) > len(shown) and screen.marks.keys() >= roots
        await browser.press("asterisk")
        assert not screen.marks


@pytest.mark.slow
async def test_the_way_back_is_there_from_the_list_too(tmp_path):
    async with on_demo(tmp_path, SIZE) as browser:
        await browser.press("I", "7", "j", "enter", "h")
        assert browser.screen.rows.has_focus and "Esc goes back" in browser.status
        await browser.press("escape")
        assert isinstance(browser.app.screen, InsightsScreen)


async def test_a_tree_without_room_takes_no_keys(tmp_path):
    async with on_demo(tmp_path, (30, 8)) as browser:
        await browser.press("l")
        assert browser.screen.rows.has_focus and "too low" in browser.status
