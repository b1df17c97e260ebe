"""Enter reads on every row, R resumes; what a search shows before another key is pressed."""

import pytest
from browsing import rows_of

from hermes_browse.tui.browser.list.rows import ConversationRow, HitRow, MoreRow


@pytest.mark.slow
async def test_enter_in_the_box_reads_the_first_result(browser, answers):
    """Also if it is pressed before the result is there; a title as well as a hit."""
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
