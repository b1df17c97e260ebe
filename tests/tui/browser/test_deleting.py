"""Deleting on the main screen: progress, small terminals, and the undo; and a store that is busy."""

import pytest
from browsing import go_to, on_demo, on_store
from builders import make_store
from pruning import NOW
from trashing import as_before, column_of, opened

from hermes_browse.store import progress
from hermes_browse.store.edit import flags
from hermes_browse.store.edit.restore import restore
from hermes_browse.store.hermes.homes import trash_folder
from hermes_browse.store.trash.shelf import list_bundles
from hermes_browse.tui.browser.edit import edits
from hermes_browse.tui.browser.edit.deleting import DeleteCard
from hermes_browse.tui.browser.edit.long_writes import ProgressCard
from hermes_browse.tui.browser.main import MainScreen


@pytest.mark.slow
async def test_the_question_is_seen_in_a_small_terminal(tmp_path):
    """A long list of what goes takes the room that is left, and scrolls."""
    async with on_demo(tmp_path, (80, 24)) as browser:
        await browser.press("P", "D")
        assert isinstance(browser.app.screen, DeleteCard)
        assert "conversations to the trash?" in browser.card()
        assert browser.app.screen.query_one("#card").max_scroll_y == 0
        left_out = browser.app.screen.query("#doomed Static")[3]
        assert str(left_out.render()) == "  … and 49 more"
        doomed = browser.app.screen.query_one("#doomed").region
        assert doomed.contains_region(left_out.region), "what is not named is counted in sight"


@pytest.mark.slow
async def test_delete_several_asks_for_their_number(path, monkeypatch):
    """Anything else leaves all as it is; y is a letter there; long work shows progress."""
    monkeypatch.setattr(edits, "_FEW_CONVERSATIONS", 0)
    seen = []
    told = set()
    show = ProgressCard.show

    def spy(self, share, words):
        show(self, share, words)
        seen.append(words)
        told.add(browser.screen.progress)

    monkeypatch.setattr(ProgressCard, "show", spy)
    with as_before(path):
        async with on_store(path, NOW) as browser:
            for root in ("old", "new", "pinned"):
                await go_to(browser, root)
                await browser.press("space")
            await browser.press("D")
            card = browser.card()
            assert (
                "2 conversations" in card
                and "3 marked: 2 go · 1 protected" in card
                and "Old plans" in card
            )
            await browser.press("y", "enter")
            assert isinstance(browser.app.screen, DeleteCard) and "not 2" in browser.text("#answer")
            await browser.press("backspace", "2", "enter")
            assert isinstance(browser.app.screen, MainScreen) and seen and "2 of 2" in seen[-1]
            assert all(text.startswith("Moving 2 conversations to the trash · ") for text in told)
            assert not browser.screen.progress, "it is over"
            assert column_of(path, "id").keys() & {"old", "new", "pinned"} == {"pinned"}
            await browser.press("u")
            assert ": 2 sessions" in browser.status


@pytest.mark.slow
async def test_the_undo_of_several_goes_on_past_one_that_is_back(tmp_path, monkeypatch):
    """One was put back by other means and has changed since: the others come back too, and it is
    said."""
    monkeypatch.setattr(progress, "MOST_AT_ONCE", 1)
    sessions = [{"id": each, "title": each} for each in "abc"]
    messages = [
        {"session_id": each, "content": f"{n} of {each}"} for each in "abc" for n in range(30)
    ]
    path = make_store(tmp_path / "other.db", "22", sessions, messages)
    async with on_store(path, NOW) as browser:
        await browser.press("4", "asterisk", "D", "3", "enter")
        assert column_of(path, "id") == {}
        trash = trash_folder(browser.app.location)
        one = next(each for each in list_bundles(trash) if "b" in each.sessions)
        restore(browser.screen.store, trash, one.name)
        flags.rename(browser.screen.store, "b", "another")
        await browser.press("u")
        assert set(column_of(path, "id")) == set("abc")
        assert "2 sessions are in the store already" in browser.status
        assert "Session b was not restored" in browser.status


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


@pytest.mark.slow
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
