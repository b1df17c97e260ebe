"""Tags in the browser: the card, the rows, the searches, and the undo."""

from __future__ import annotations

import pytest
from browsing import browsing, demo_app
from textual.widgets import Input, OptionList

from hermes_browse.tui.browser.edit.naming import SearchesCard, TagCard, TagChoice
from hermes_browse.tui.browser.list.rows import ConversationRow


def tagged(browser):
    """The tags of the listed conversations that have any, by the index of the row."""
    rows = browser.screen.rows
    listed = (rows.source.row(index) for index in range(len(rows)))
    return {
        index: row.conversation.tags
        for index, row in enumerate(listed)
        if isinstance(row, ConversationRow) and row.conversation.tags
    }


async def test_tag_and_undo(tmp_path):
    """T on one, then on marked ones: the field has what all of them have, and completes."""
    async with browsing(demo_app(tmp_path)) as browser:
        await browser.press("T", *"deploy", "enter")
        assert tagged(browser) == {0: ("deploy",)}
        assert "#deploy" in browser.text("#status") and "#deploy" in browser.text("#facts")
        await browser.press("i")
        assert "#deploy" in browser.text("#details")
        await browser.press("i")
        await browser.press("down", "T", *"dep", "tab", *"x", "enter")
        assert tagged(browser) == {0: ("deploy",), 1: ("deploy", "x")}
        await browser.press("up", "space", "space", "T")
        assert isinstance(browser.app.screen, TagCard)
        assert browser.app.screen.query_one(Input).value == "deploy "
        await browser.press("ctrl+u", *"all", "enter")
        assert tagged(browser) == {0: ("all",), 1: ("all", "x")}
        await browser.press("u")
        assert tagged(browser) == {0: ("deploy",), 1: ("deploy", "x")}
        await browser.press("u", "u")
        assert tagged(browser) == {}


@pytest.mark.slow
async def test_refused(tmp_path):
    """What is no tag is said in the card, where it can be edited."""
    async with browsing(demo_app(tmp_path)) as browser:
        await browser.press("T", *"a,b", "enter")
        assert isinstance(browser.app.screen, TagCard) and "is no tag" in browser.text("#verdict")
        await browser.press("escape")
        assert tagged(browser) == {}


@pytest.mark.slow
async def test_a_search_and_its_tag(tmp_path):
    """All results of a search are tagged at once; Ctrl+R and the palette lead to them; F2 and
    Delete there rename and remove the tag."""
    async with browsing(demo_app(tmp_path)) as browser:
        await browser.press("slash", *"boat", "enter", "left", "asterisk")
        count = len(browser.screen.marks)
        assert count > 1
        await browser.press("T", *"sea", "enter", "ctrl+r")
        assert isinstance(browser.app.screen, SearchesCard)
        options = browser.app.screen.query_one(OptionList)
        assert f"# tag:sea  {count}" in [
            str(options.get_option_at_index(index).prompt) for index in range(options.option_count)
        ]
        await browser.press(*"tag:sea", "f2", "ctrl+u", *"water", "enter")
        await browser.press("ctrl+p", *"#water", "enter")
        assert browser.screen.box.value == "tag:water"
        assert {tags for tags in tagged(browser).values()} == {("water",)}
        await browser.press("ctrl+r", *"tag:water", "delete")
        assert tagged(browser) == {}
        await browser.press("u")
        assert {tags for tags in tagged(browser).values()} == {("water",)}


@pytest.mark.slow
async def test_another_name(tmp_path):
    """The card names the tags there are; words become one name."""
    async with browsing(demo_app(tmp_path)) as browser:
        await browser.press("T", *"deploy", "enter")
        browser.screen.edits.tag_chosen(TagChoice("deploy", is_removed=False))
        await browser.settle()
        assert "#deploy 1" in browser.text("#verdict")
        await browser.press("ctrl+u", *"in", "space", *"review", "enter")
        assert tagged(browser) == {0: ("in-review",)}
