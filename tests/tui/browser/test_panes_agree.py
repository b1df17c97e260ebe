"""List, transcript and lineage show the same conversation after a single step, also if an answer
comes late."""

import asyncio

import pytest
from browsing import (
    drawn_row,
    go_to_job,
    of_row,
    on_demo,
    sessions_of_tree,
)
from resting import press_key
from textual.events import Key, Paste

from hermes_browse.store.sessions.models import Sort
from hermes_browse.tui.browser.context import PATIENCE
from hermes_browse.tui.browser.list.rows import ConversationRow, JobRow
from hermes_browse.tui.browser.main import MainScreen
from hermes_browse.tui.text.family import SessionEntry
from hermes_browse.tui.widgets.card import Card


@pytest.mark.slow
async def test_what_is_typed_in_one_go_is_shown_in_every_pane(browser):
    """A search whose answer changes within the rest of the cursor: the tree is that of the result,
    and so are keys."""
    for word in ("parcels", "lisbon"):
        await browser.press("slash")
        for letter in word:  # faster than the cursor rests
            browser.app.post_message(Key(letter, letter))
        await browser.settle()
        model, row = browser.screen.transcript.model, browser.row
        assert of_row(browser, row) == {model.conversation.root_id}
        family = {each.session_id for each in sessions_of_tree(browser)}
        assert {each.id for each in model.conversation.segments} <= family
        await browser.press("escape", "escape")


def _together(browser, *keys):
    """Press keys that come in one go, as over a slow line."""
    for key in keys:
        press_key(browser.app, key)


@pytest.mark.slow
async def test_keys_that_come_together_act_in_their_order(browser):
    """One of the screen, then one of the list: the first is about the row it was pressed on. And
    what Enter chose is there before the next key."""
    row = browser.row
    _together(browser, "y", "enter", "j")
    await browser.settle()
    assert browser.app.clipboard == browser.screen.current.id == row.conversation.id
    assert browser.row.key == row.key, "j was for the transcript"


@pytest.mark.slow
@pytest.mark.parametrize("keys, typed", [("Tabc", "abc"), ("?del", "del"), ("/cook", "cook")])
async def test_letters_wait_for_the_field_that_opens(browser, keys, typed):
    _together(browser, *keys)
    await browser.settle()
    assert browser.app.focused.value == typed


@pytest.mark.slow
async def test_keys_behind_the_answer_of_a_card(browser):
    """The card is closed and its answer acted on: what was deleted or named just now is undone."""
    await browser.press("T")
    _together(browser, *"xyz", "enter", "u")
    await browser.settle()
    assert not browser.screen.edits.journal and not browser.row.conversation.tags
    _together(browser, "s", "down", "enter", "j")
    await browser.settle()
    assert browser.screen.sort is Sort.STARTED and browser.app.screen is browser.screen


@pytest.mark.slow
async def test_a_paste_keeps_its_place_among_keys(browser):
    browser.app.post_message(Key("slash", "/"))
    browser.app.post_message(Paste("cook"))
    _together(browser, "i", "e", "backspace")
    await browser.settle()
    assert browser.screen.box.value == "cooki"


@pytest.mark.slow
async def test_a_card_that_is_late_stands_on_no_other_screen(browser):
    """The details are read behind the screen; what was opened meanwhile has the keys."""
    _together(browser, "i", "B")
    await browser.settle()
    assert [type(each).__name__ for each in browser.app.screen_stack] == ["MainScreen", "RunScreen"]


@pytest.mark.slow
@pytest.mark.parametrize("key", ["D", "R"])
@pytest.mark.parametrize("meanwhile", ["/y", "Py"])
async def test_a_question_that_is_late_takes_no_key(browser, key, meanwhile, answers):
    """What is typed elsewhere while a plan is made does not answer it."""
    await browser.press("j")
    answers.hold()
    await browser.send(key, *meanwhile)
    answers.release()
    await browser.settle()
    assert not isinstance(browser.app.screen, Card)
    if key == "D" and meanwhile == "/y":
        assert browser.screen.box.value == "y"


@pytest.mark.slow
@pytest.mark.parametrize("keys", [("I", "7", "enter"), ("P", "enter")])
async def test_back_from_a_screen_the_list_is_on_what_was_opened(keys, browser):
    """What a screen over the main one opened is marked in the list, or where it is not listed,
    nothing is."""
    await browser.press(*keys[:-1])
    if not isinstance(browser.app.screen, MainScreen):
        await browser.press("down", "down", keys[-1])
    screen = browser.screen
    assert isinstance(browser.app.screen, MainScreen) and screen.transcript.has_focus
    opened = screen.transcript.model
    row = drawn_row(browser)
    assert row is None or opened.conversation.root_id in of_row(browser, row)
    await browser.press("left")
    listed, model = drawn_row(browser), screen.transcript.model
    assert listed is not None and model.conversation.root_id in of_row(browser, listed)


@pytest.mark.slow
async def test_the_tree_marks_what_enter_opens(tmp_path):
    """In the tree a subagent is current as long as the tree has the focus; back in the list its row
    is."""
    async with on_demo(tmp_path, (120, 40)) as browser:
        screen = browser.screen
        await browser.press("l", "home", "down")
        opened, row = screen.transcript.model, screen.lineage.entry
        assert isinstance(row, SessionEntry) and opened is not None
        member = opened.conversation
        assert row.node.session.id in {each.id for each in member.segments} and row.is_target
        assert drawn_row(browser) is None, "a subagent is not listed, so the list marks nothing"
        await browser.press("left")
        listed = drawn_row(browser)
        assert isinstance(listed, ConversationRow) and listed.conversation.root_id != member.root_id
        model = screen.transcript.model
        assert model.conversation.root_id == listed.conversation.root_id


@pytest.mark.slow
async def test_what_is_late_leaves_no_other_text_in_its_place(browser, answers):
    """While a conversation is still being read, its title stands over an empty page, and keys are
    about it."""
    answers.hold()
    await browser.pilot.press("down")
    row = browser.row
    assert isinstance(row, ConversationRow)
    await browser.wait_until(lambda: browser.screen.transcript.model is None)
    assert (row.conversation.title or "")[:12] in browser.text("#title")
    assert browser.screen.current.root_id == row.conversation.root_id
    answers.release()
    await browser.settle()
    model = browser.screen.transcript.model
    assert model.conversation.root_id == row.conversation.root_id


@pytest.mark.slow
async def test_a_job_is_the_run_that_is_shown(browser):
    """In the list the newest run is shown for a job; who has gone into one stays there when the
    order turns round."""
    screen = browser.screen
    await browser.press("2")
    await go_to_job(browser)
    newest = screen.transcript.model
    await browser.press("tab", "S")
    shown, current = screen.transcript.model, screen.current
    assert shown.conversation.root_id == current.root_id == newest.conversation.root_id
    assert isinstance(drawn_row(browser), JobRow)
    await browser.press("left")
    shown, row = screen.transcript.model, browser.row
    assert shown is not None and isinstance(row, JobRow)
    assert shown.conversation.root_id == row.runs[0].root_id != newest.conversation.root_id
    await browser.press("S")
    shown, row = screen.transcript.model, browser.row
    assert shown is not None and isinstance(row, JobRow)
    assert shown.conversation.root_id == row.runs[0].root_id == newest.conversation.root_id


@pytest.mark.slow
async def test_no_timer_empties_a_page_that_has_been_read(browser):
    """The page is emptied only while the next conversation takes long to read."""
    await browser.press("down")
    shown = browser.screen.transcript.model
    assert shown is not None
    await asyncio.sleep(2 * PATIENCE)
    assert browser.screen.transcript.model is shown
