"""Deleting on the main screen: what the card asks and spares, and the undo."""

import pytest
from browsing import go_to, listed, on_demo, on_store, rows_of
from builders import make_store
from pruning import NOW
from trashing import add_message, as_before, column_of, differences, dump, execute, is_sound

from hermes_browse.store import progress
from hermes_browse.store.edit import titles
from hermes_browse.store.edit.restore import restore
from hermes_browse.store.hermes.homes import trash_folder
from hermes_browse.store.trash.shelf import list_bundles
from hermes_browse.tui.browser.edit import deleting
from hermes_browse.tui.browser.edit.deleting import DeleteCard, ProgressCard
from hermes_browse.tui.browser.main import MainScreen


async def test_delete_one_and_undo(path):
    """After a different key; with its subagents; u brings back every row."""
    before = dump(path)
    async with on_store(path, NOW) as browser:
        await go_to(browser, "boss")
        await browser.press("D")
        assert isinstance(browser.app.screen, DeleteCard)
        card = browser.card()
        assert (
            "1 conversation to the trash" in card
            and "with 2 subagents" in card
            and "without their parent" in card
        )
        await browser.press("D")
        assert isinstance(browser.app.screen, DeleteCard), "what asks is not what answers"
        await browser.press("escape")
        assert not differences(before, dump(path))
        await browser.press("D", "y")
        assert "boss" not in listed(browser) and "boss" not in column_of(path, "id")
        assert "moved to the trash" in browser.status
        await browser.press("u")
        assert "boss" in listed(browser)
    assert not differences(before, dump(path)) and is_sound(path)


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


async def test_the_question_names_what_goes_as_far_as_the_card_is_wide(tmp_path):
    """One conversation is an it."""
    async with on_demo(tmp_path) as browser:
        titles = [row.conversation.title for row in rows_of(browser)]
        browser.screen.rows.cursor = titles.index("Rotate the signing keys without downtime")
        await browser.press("D")
        card = browser.card()
        assert "Rotate the signing keys without downtime  cli" in card
        assert "It goes to the trash" in card and "u restores it" in card


async def test_delete_several_asks_for_their_number(path, monkeypatch):
    """Anything else leaves all as it is; y is a letter there; long work shows progress."""
    monkeypatch.setattr(deleting, "_FEW_CONVERSATIONS", 0)
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
                "2 conversations" in card and "1 protected: pinned" in card and "Old plans" in card
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
async def test_the_card_makes_ids_of_the_store_harmless(path):
    """A reason names the subagent that stays by its id, and ids are as hostile as any text of a
    store."""
    evil = "help\x1b]0;owned\x07er"
    execute(path, "UPDATE messages SET session_id = ? WHERE session_id = 'helper'", evil)
    execute(path, "UPDATE sessions SET id = ?, pinned = 1 WHERE id = 'helper'", evil)
    parents = "UPDATE sessions SET parent_session_id = ? WHERE parent_session_id = 'helper'"
    execute(path, parents, evil)
    async with on_store(path, NOW) as browser:
        for root in ("old", "boss"):
            await go_to(browser, root)
            await browser.press("space")
        await browser.press("D")
        card = browser.card()
        assert "its subagent help" in card and "\x1b" not in card and "\x07" not in card


async def test_what_is_live_is_not_deleted(path):
    """The reason stands in the status line."""
    add_message(path, "old", "hi", NOW - 5)
    with as_before(path):
        async with on_store(path, NOW) as browser:
            await go_to(browser, "old")
            await browser.press("D")
            assert isinstance(browser.app.screen, MainScreen)
            assert (
                "“Old plans” is protected" in browser.status
                and "last write 5 seconds ago" in browser.status
            )


@pytest.mark.slow
async def test_from_the_results_of_a_search(path):
    """A hit stands for its conversation; what was deleted is found no more."""
    async with on_store(path, NOW) as browser:
        await browser.search("hello")
        await browser.press("enter")
        await go_to(browser, "old")
        await browser.press("D", "y")
        assert "old" not in listed(browser)
        assert browser.screen.searched


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
        titles.rename(browser.screen.store, "b", "another")
        await browser.press("u")
        assert set(column_of(path, "id")) == set("abc")
        assert ": 2 sessions" in browser.status and "Session b was not restored" in browser.status
