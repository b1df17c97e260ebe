"""The card of a conversation: in words, whole, and harmless whatever is stored."""

import pytest
from browsing import NOW, demo_app, on_demo
from builders import hostile_store

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.messages.details import read_details
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.sessions.list_page import with_details
from hermes_browse.store.text import printable
from hermes_browse.tui.browser.transcript.cards import DetailsCard, details_lines
from hermes_browse.tui.text.styled import line_text
from hermes_browse.tui.widgets.lines import LinesView


def cards(path):
    """The card of every conversation of a store, by its tip."""
    found = {}
    with Store(path).reader() as reader:
        catalog = read_catalog(reader, NOW)
        for root in catalog.order():
            conversation = with_details(reader, [catalog.conversation(root)])[0]
            lines = details_lines(conversation, read_details(reader, conversation), NOW)
            found[conversation.id] = "\n".join(map(line_text, lines))
    return found


def test_no_card_can_act(tmp_path):
    texts = cards(hostile_store(tmp_path / "state.db"))
    assert texts
    for text in texts.values():
        assert printable(text) == text


@pytest.mark.slow
@pytest.mark.parametrize("size", [(120, 36), (40, 12)])
async def test_the_card_tells_of_the_conversation_on_screen(tmp_path, size):
    async with on_demo(tmp_path, size) as browser:
        conversation = browser.screen.current
        expected = cards(browser.app.store.path)[conversation.id]
        await browser.press("i")
        screen = browser.app.screen
        assert isinstance(screen, DetailsCard)
        view = screen.query_one(LinesView)
        seen = []
        for _ in range(200):
            seen += [strip.text.rstrip() for strip in view.render_lines(view.size.region)]
            before = view.scroll_offset
            await browser.press("pagedown")
            if view.scroll_offset == before:
                break
        words = set(" ".join(seen).split())
        assert {word for word in expected.split() if len(word) < 12} <= words, (
            "all of it can be scrolled to"
        )
        assert (
            "from cache" in expected
            and "an estimate" in expected
            and f"{conversation.id}  resumes here" in expected
        )
        await browser.press("i")
        assert browser.app.screen is browser.screen


def test_an_end_is_told_in_words_and_as_stored(tmp_path):
    demo_app(tmp_path)
    texts = cards(tmp_path / "state.db")
    assert any("reset in the chat (session_reset)" in text for text in texts.values())
    assert any("Where it comes from" in text and "telegram" in text for text in texts.values())
