"""Enter reads on every row, R resumes; what a search shows before another key is pressed."""

import pytest
from browsing import HeldAnswers, browsing, go_to_job, on_demo, rows_of
from configured_app import configured

from hermes_browse.tui.browser.list.rows import ConversationRow, HitRow, MoreRow
from hermes_browse.tui.browser.main import MainScreen
from hermes_browse.tui.browser.preflight import PreflightCard
from hermes_browse.tui.screens.cleanup.prune_screen import PruneScreen
from hermes_browse.tui.screens.compactions import CompactionsScreen


@pytest.mark.slow
async def test_enter_reads_and_r_resumes(tmp_path):
    """Conversations, jobs, the nodes of the tree, also what a screen over the main one lists."""
    async with on_demo(tmp_path, (160, 48)) as browser:
        screen = browser.screen
        await browser.press("enter")
        assert screen.transcript.has_focus
        await browser.press("R")
        assert isinstance(browser.app.screen, PreflightCard)
        await browser.press("escape", "l", "home", "enter")
        assert screen.transcript.has_focus
        await browser.press("l", "home")
        while getattr(screen.lineage.entry, "compaction", None) is None:
            await browser.press("down")
        await browser.press("enter")
        assert isinstance(browser.app.screen, CompactionsScreen)
        await browser.press("escape", "escape", "2")
        await go_to_job(browser)
        assert "Enter open" in browser.text("#keys")
        count = len(screen.rows)
        await browser.press("enter")
        assert screen.rows.has_focus and len(screen.rows) > count, "its runs are shown"
        await browser.press("down", "enter")
        assert screen.transcript.has_focus
        await browser.press("left", "P")
        assert isinstance(browser.app.screen, PruneScreen)
        await browser.press("enter")
        assert isinstance(browser.app.screen, MainScreen) and screen.transcript.has_focus


@pytest.mark.slow
async def test_a_picker_resumes_conversations_of_the_list_only(tmp_path):
    """The line of keys says where."""
    async with browsing(configured(tmp_path, 'enter = "resume"\n'), (160, 48)) as browser:
        screen = browser.screen
        assert "Enter resume" in browser.text("#keys")
        assert "Enter resumes …" in browser.status
        await browser.press("enter")
        assert isinstance(browser.app.screen, PreflightCard)
        await browser.press("escape", "l", "home")
        assert "Enter read" in browser.text("#keys")
        await browser.press("enter")
        assert screen.transcript.has_focus
        await browser.press("slash", *"ferry", "enter")
        assert screen.transcript.has_focus, "a found conversation is read"
        await browser.press("left", "home")
        assert "Enter resumes" not in browser.status
        await browser.press("down")
        assert isinstance(browser.row, ConversationRow | HitRow)
        assert "Enter read" in browser.text("#keys")


async def test_enter_in_the_box_reads_the_first_result(tmp_path, monkeypatch):
    """Also if it is pressed before the result is there; a title as well as a hit."""
    answers = HeldAnswers(monkeypatch)
    async with on_demo(tmp_path) as browser:
        screen = browser.screen
        await browser.press("slash")
        answers.hold()
        await browser.send(*"ferry", "enter")
        assert screen.box.has_focus
        answers.release()
        await browser.settle()
        row, model = browser.row, screen.transcript.model
        assert isinstance(row, ConversationRow) and row.is_named and row.matches
        assert screen.transcript.has_focus and model is not None
        assert model.conversation.root_id == row.conversation.root_id
        await browser.press("slash", "escape", "slash", *"zzzz", "enter")
        assert screen.rows.has_focus, "there is nothing to read"


@pytest.mark.slow
async def test_what_is_typed_is_shown_at_the_match(browser):
    """The first n goes to the hit after that one."""
    screen = browser.screen
    await browser.search("cookie")
    row, found = browser.row, screen.results
    assert isinstance(row, ConversationRow) and row.hits > 1 and found is not None
    assert screen.transcript.page.hit == row.best
    await browser.press("enter", "n")
    walked = browser.row
    assert isinstance(walked, HitRow) and walked.hit.message_id != row.best
    rows = {row.key: row for row in rows_of(browser)}
    keys = list(rows)
    between = keys[keys.index(f"h{row.best}") + 1 : keys.index(walked.key)]
    assert all(isinstance(rows[key], MoreRow | ConversationRow) for key in between)
