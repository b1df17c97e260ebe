"""Answers that come when something else has changed meanwhile: what is shown is of the store as it is,
and of what was asked for last."""

import pytest
from browsing import NOW, HeldAnswers, listed
from trashing import add_message, execute


@pytest.fixture
def answers(monkeypatch):
    return HeldAnswers(monkeypatch)


async def add_session(browser, title=None):
    """Begin a conversation as another program, and read the list."""
    path, names = browser.app.store.path, "id, source, title, started_at, message_count"
    values = "late", "cli", title, NOW, 1
    execute(path, f"INSERT INTO sessions ({names}) VALUES (?, ?, ?, ?, ?)", *values)
    add_message(path, "late", "a zeppelin", NOW)
    browser.screen.listing.read()
    await browser.wait_until(lambda: "late" in browser.screen.catalog.sessions)


async def test_rows_of_another_view_are_those_of_the_newest_list(answers, browser):
    answers.hold("rows")
    await browser.send("4")
    await browser.wait_until(lambda: answers.count == 1)
    await add_session(browser)
    answers.release("rows")
    await browser.settle()
    assert "late" in listed(browser)


async def test_rows_that_were_made_for_another_view_are_not_shown_in_this_one(answers, browser):
    answers.hold("catalog")
    browser.screen.listing.read()
    await browser.wait_until(lambda: answers.count == 1)
    chats = listed(browser)
    await browser.send("3")
    await browser.wait_until(lambda: listed(browser) != chats)
    archived = listed(browser)
    answers.release("catalog")
    await browser.settle()
    assert listed(browser) == archived


async def test_a_search_for_conversations_that_found_none_follows_the_list(browser):
    await browser.search("title:zeppelin")
    assert not listed(browser)
    await add_session(browser, "Zeppelin")
    await browser.settle()
    assert listed(browser) == {"late"}


async def test_a_search_for_conversations_follows_a_list_that_was_read_during_it(answers, browser):
    answers.hold("search")
    await browser.send("slash", *"source:cli")
    await browser.wait_until(lambda: answers.count >= 1)
    await add_session(browser)
    answers.release("search")
    await browser.settle()
    assert "late" in listed(browser)
