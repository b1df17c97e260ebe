"""Answers that come when something else has changed meanwhile: what is shown is of the store as it
is, and of what was asked for last."""

import sqlite3
import time
from contextlib import asynccontextmanager, closing

import pytest
from browsing import NOW, browsing, listed, loose, on_store, open_app, rows_of
from trashing import add_message, execute, gone_by_hand, run
from writing import small_store

from hermes_browse.store.sessions.models import Relation
from hermes_browse.tui.browser import main
from hermes_browse.tui.browser.edit.deleting import DeleteCard
from hermes_browse.tui.browser.list import listing
from hermes_browse.tui.browser.list.rows import ConversationRow, MoreRow
from hermes_browse.tui.browser.transcript.loader import read_model


@asynccontextmanager
async def late(answers, browser, group, *keys):
    """Press keys, whose answers of a group come at the end of the block, and are shown then."""
    answers.hold(group)
    await browser.send(*keys)
    if group == "catalog":
        browser.screen.listing.read()
    await browser.wait_until(lambda: answers.count >= 1)
    yield
    answers.release(group)
    await browser.settle()


async def add_session(browser, title=None, parent=None):
    """Begin a session as another program, and read the list."""
    path, names = browser.app.store.path, "id, source, title, parent_session_id, started_at"
    values = "late", "cli", title, parent, NOW
    execute(path, f"INSERT INTO sessions ({names}) VALUES (?, ?, ?, ?, ?)", *values)
    add_message(path, "late", "a zeppelin", NOW)
    browser.screen.listing.read()
    await browser.wait_until(lambda: "late" in browser.screen.catalog.sessions)


async def rename(browser, session_id):
    """Give a title as another program, and read the list."""
    execute(browser.app.store.path, "UPDATE sessions SET title = 'Kite' WHERE id = ?", session_id)
    browser.screen.listing.read()
    await browser.wait_until(lambda: browser.screen.catalog.sessions[session_id].title == "Kite")


@pytest.mark.slow
async def test_rows_of_another_view_are_those_of_the_newest_list(answers, browser):
    async with late(answers, browser, "rows", "4"):
        await add_session(browser)
    assert "late" in listed(browser)


@pytest.mark.slow
async def test_rows_that_were_made_for_another_view_are_not_shown_in_this_one(answers, browser):
    async with late(answers, browser, "catalog"):
        chats = listed(browser)
        await browser.send("3")
        await browser.wait_until(lambda: listed(browser) != chats)
        archived = listed(browser)
    assert listed(browser) == archived


@pytest.mark.slow
async def test_a_search_for_conversations_that_found_none_follows_the_list(browser):
    await browser.search("title:zeppelin")
    assert not listed(browser)
    await add_session(browser, "Zeppelin")
    await browser.settle()
    assert listed(browser) == {"late"}


@pytest.mark.slow
async def test_a_search_for_conversations_follows_a_list_that_was_read_during_it(answers, browser):
    async with late(answers, browser, "search", "slash", *"source:cli"):
        await add_session(browser)
    assert "late" in listed(browser)


@pytest.mark.slow
async def test_a_conversation_read_before_it_was_renamed_has_its_new_title(answers, browser):
    async with late(answers, browser, "transcript", "down"):
        await rename(browser, browser.screen.current.id)
    assert "Kite" in browser.text("#title")


async def compress(browser):
    """Go on with the current conversation in a new part as another program, and read the list."""
    session_id, path = browser.screen.current.id, browser.app.store.path
    ended = "UPDATE sessions SET end_reason = 'compression', ended_at = ? WHERE id = ?"
    execute(path, ended, NOW - 1, session_id)
    await add_session(browser, parent=session_id)


@pytest.mark.slow
async def test_a_conversation_read_before_it_had_a_new_part_has_that(answers, browser):
    async with late(answers, browser, "transcript", "down"):
        await compress(browser)
    assert "a zeppelin" in browser.text("#transcript")


@pytest.mark.slow
async def test_a_new_part_does_not_move_the_page(browser):
    await browser.press("tab", "home")
    before = browser.text("#transcript").splitlines()[:9]  # a tree comes below it
    await compress(browser)
    await browser.settle()
    assert browser.text("#transcript").splitlines()[:9] == before
    await browser.press("end")
    assert "a zeppelin" in browser.text("#transcript")


def branch_of(browser):
    """A branch, and the row of the conversation that it comes from."""
    catalog = browser.screen.catalog
    branch = next(each for each in catalog.conversations() if each.relation is Relation.BRANCHED)
    return branch, browser.screen.rows.source.index_of(f"c{branch.parent_root_id}")


@pytest.mark.slow
async def test_the_tree_follows_the_list(browser):
    branch, browser.screen.rows.cursor = branch_of(browser)
    await browser.settle()
    await rename(browser, branch.id)
    await browser.settle()
    assert "Kite" in browser.text("#lineage")


@pytest.mark.slow
async def test_the_tree_follows_a_list_that_was_read_before_it_was_shown(answers, browser):
    answers.hold("lineage")
    branch, browser.screen.rows.cursor = branch_of(browser)
    await browser.wait_until(lambda: answers.count >= 1)
    await rename(browser, branch.id)
    answers.release("lineage")
    await browser.settle()
    assert "Kite" in browser.text("#lineage")


@pytest.mark.slow
async def test_enter_on_a_row_that_goes_at_that_moment_does_nothing(answers, browser):
    screen = browser.screen
    await browser.search("the")
    rows = rows_of(browser)
    row = next(each for each in rows if isinstance(each, MoreRow))
    screen.set_focus(screen.rows)
    screen.rows.cursor = rows.index(row)
    gone_by_hand(browser.app.store.path, *row.conversation.session_ids)
    async with late(answers, browser, "catalog"):
        screen.rows.action_select()
    assert screen.rows.source.index_of(row.key) is None and screen.rows.has_focus


@pytest.mark.slow
@pytest.mark.parametrize("is_read_first", [True, False])
async def test_all_is_marked_that_was_listed_and_is_there(is_read_first, answers, browser):
    """Another list comes in the moment of the key."""
    screen = browser.screen
    row = next(each for each in rows_of(browser)[2:] if isinstance(each, ConversationRow))
    gone_by_hand(browser.app.store.path, *row.conversation.session_ids)
    async with late(answers, browser, "catalog"):
        if is_read_first:
            answers.release("catalog")
        screen.edits.mark_all()
    assert not screen.status.is_failure and row.conversation.root_id not in screen.marks
    assert len(screen.marks) == len(screen.catalog.order())


@pytest.mark.slow
async def test_what_an_undo_brings_back_is_not_new(answers, browser):
    """It is pressed before the list was read after the delete, in a transcript that is not at its
    end."""
    page = browser.screen.transcript.page
    await browser.press("down", "enter", "g")
    count = len(page)
    answers.hold("catalog")
    await browser.send("D")
    await browser.wait_until(lambda: isinstance(browser.app.screen, DeleteCard))
    await browser.send("y")
    await browser.wait_until(lambda: not len(page))
    await browser.send("u")
    await browser.wait_until(lambda: len(page) == count)
    answers.release("catalog")
    await browser.settle()
    assert "restored 1 conversation" in browser.status


@pytest.mark.slow
async def test_what_was_busy_is_read_again_also_if_nothing_was_written(tmp_path, monkeypatch):
    monkeypatch.setattr(listing, "_BETWEEN", 0.0)
    monkeypatch.setattr(main, "_POLL_SECONDS", 0.01)
    path = small_store(tmp_path / "state.db", "delete")
    app = open_app(loose(path))
    app.store.busy_seconds = 0.01
    async with browsing(app) as browser:
        screen = browser.screen
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            await browser.press("down")
            await browser.wait_until(lambda: screen.status.is_failure)
            assert screen.transcript.model is None
            other.execute("ROLLBACK")
        await browser.wait_until(lambda: screen.transcript.model is not None)


@pytest.mark.slow
async def test_hits_are_counted_again_when_some_of_them_are_gone(answers, path):
    """Of those that are counted only the first are read."""
    sessions = "INSERT INTO sessions (id, source, started_at) VALUES ({}, 'cli', {})"
    names = "session_id, role, content, timestamp"
    messages = f"INSERT INTO messages ({names}) VALUES ({{}}, 'user', 'zeppelin', {{}})"
    times = [(at, NOW - at) for at in range(60)]
    run(path, *(each.format(*time) for each in (sessions, *[messages] * 3) for time in times))
    async with on_store(path) as browser:
        screen = browser.screen
        async with late(answers, browser, "count", "slash", *"zeppelin"):
            gone_by_hand(browser.app.store.path, "0")
            screen.listing.read()
            await browser.wait_until(lambda: "0" not in screen.catalog.sessions)
        assert len(screen.results.hits) < screen.results.total.count == 59 * 3
        gone_by_hand(browser.app.store.path, "59")  # none of its hits has been read
        await browser.follow()
        assert "174 hits in 58 conversations" in browser.status


@pytest.mark.slow
async def test_a_message_written_while_its_conversation_is_read_is_shown(answers, browser):
    """Also where nothing else is written after it."""
    screen = browser.screen
    async with late(answers, browser, "transcript", "v"):
        add_message(browser.app.store.path, screen.current.id, "a zeppelin", NOW)
        await browser.wait_until(lambda: screen.current.last_active == NOW and answers.count == 1)
        await browser.wait_until(lambda: bool(screen.attention.unread))
    assert "a zeppelin" in browser.text("#transcript")


@pytest.mark.slow
async def test_a_message_is_shown_while_others_are_written(browser, monkeypatch):
    """They come more quickly than the conversation is read."""

    def slow(*given):
        time.sleep(0.1)
        return read_model(*given)

    def is_shown():
        browser.screen.loader.read_new()
        return "a zeppelin" in browser.text("#transcript")

    monkeypatch.setattr("hermes_browse.tui.browser.transcript.loader.read_model", slow)
    add_message(browser.app.store.path, browser.screen.current.id, "a zeppelin", NOW)
    await browser.wait_until(is_shown)


@pytest.mark.slow
@pytest.mark.parametrize("end", [[], ["enter"]], ids=["in the field", "left"])
@pytest.mark.parametrize("before", ["", "t"], ids=["empty page", "page before"])
async def test_a_text_is_found_that_is_typed_while_the_page_is_read_again(
    before, end, answers, browser
):
    """None of its letters is a command, and it is found in what comes."""
    await browser.press("tab")
    shown = browser.screen.transcript
    answers.hold("transcript")
    await browser.send("v", *(["backslash", *before] if before else []))
    await browser.wait_until(lambda: shown.model is None)
    await browser.send(*([] if before else ["backslash"]), *"the".removeprefix(before))
    assert browser.screen.find_box.value == "the"
    await browser.send(*end)
    answers.release("transcript")
    await browser.settle()
    assert shown.is_finding
    told = browser.status if end else browser.text("#ask-answer")
    assert "of 5 messages" in told
