"""What keys of the main screen do to a store: marks, archive, pin, rename, export, and the undo of
each."""

import pytest
from browsing import go_to, on_store
from pruning import NOW
from trashing import as_before, column_of, opened


@pytest.mark.slow
async def test_undo_pressed_twice_at_once(path):
    """Takes back two things, the last one first, not one of them twice."""
    with as_before(path):
        async with on_store(path, NOW) as browser:
            await go_to(browser, "old")
            await browser.press("a")
            await go_to(browser, "new")
            await browser.press("D", "y")
            await browser.pilot.press("u", "u")
            await browser.settle()
            assert not len(browser.screen.edits.journal)


async def test_a_busy_store_says_so_and_the_undo_stays(path, monkeypatch):
    """Nothing was changed, and it can be tried again."""
    async with on_store(path, NOW) as browser:
        await go_to(browser, "old")
        await browser.press("a")
        monkeypatch.setattr("hermes_browse.store.edit.transaction._ATTEMPT", 0.05)
        monkeypatch.setattr("hermes_browse.store.edit.transaction.PATIENCE", 0.1)
        with opened(path) as holder:
            holder.execute("BEGIN IMMEDIATE")
            await browser.press("u")
            assert "busy" in browser.status and len(browser.screen.edits.journal) == 1
        await browser.press("u")
        assert not column_of(path, "archived")["old"]
