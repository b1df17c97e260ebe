"""Long texts are laid out on another thread: plain until then, and the same as if they had been
laid out at once."""

import threading

import pytest
from browsing import on_store
from builders import make_store
from pygments import lexers
from transcripts import conversation_of, drawn

from hermes_browse.store.messages.chat_message import ChatMessage, RowInfo, State
from hermes_browse.store.search.query import parse
from hermes_browse.store.sessions.models import (
    Session,
)
from hermes_browse.tui.browser.transcript import block_layout, markdown_layout
from hermes_browse.tui.browser.transcript.entries import Look, Tools, TranscriptModel
from hermes_browse.tui.browser.transcript.page import Page, lay_out
from hermes_browse.tui.text.styled import line_text

LONG = "## Tides\n\n" + "- a **lantern** in the harbour\n" * 200
SHORT = "The *ferry* is late."


def model_of(*texts):
    """A conversation of messages of the assistant."""
    rows = [RowInfo(n, 0, "assistant", 0.0, State.LIVE, False) for n in range(len(texts))]
    model = conversation_of([Session("s", "cli", started_at=0.0)], rows)
    model.add([ChatMessage(n, "s", "assistant", text, 0.0) for n, text in enumerate(texts)])
    return model


def page_of(model):
    """Its end on a page."""
    page = Page()
    page.resize(60, 20)
    page.open(model)
    page.settle()
    return page


def finish(page):
    """Lay out what is deferred."""
    page.show_laid_out(lay_out(page.deferred))
    page.settle()


def draw_now(page):
    """Lay out everything at once."""
    drawn(page)
    page.settle()


def texts_of(page):
    """What is on it."""
    return [line_text(line) for _, line in page.frame()]


def test_a_page_is_plain_first_and_then_as_it_is():
    model = model_of(SHORT, LONG, SHORT)
    page, exact = page_of(model), page_of(model)
    draw_now(exact)
    assert page.deferred
    assert "- a **lantern** in the harbour" in "\n".join(texts_of(page)), (
        "as it is stored, not a hole"
    )
    finish(page)
    assert texts_of(page) == texts_of(exact)
    assert page.heights[2] == exact.heights[2]


def test_what_is_read_stays_near_the_top():
    """The line at the top of the page is about as far into its message as it was."""
    page = page_of(model_of(LONG * 2, SHORT * 300))
    index = page.model.entry_of(0)
    page.go((index, 200))
    page.settle()
    plain = page.heights[index]
    finish(page)
    assert page.position[0] == index
    assert page.heights[index] != plain
    assert page.position[1] == pytest.approx(200 * page.heights[index] / plain, abs=1)


def test_what_is_unfolded_stays_so_when_earlier_messages_are_gone():
    """Its entry has another place then."""
    page = page_of(model_of(SHORT, LONG, SHORT))
    page.opened = {2}
    rest = page.model.outline._replace(rows=page.model.outline.rows[2:])
    newer = TranscriptModel(page.model.conversation, rest)
    newer.add(page.model.messages.values())
    page.grow(newer)
    assert page.shown(page.model.entry_of(2)).is_open


def test_texts_near_the_page_are_drawn_ahead():
    page = page_of(model_of(*(f"{number} {LONG}" for number in range(9)), SHORT * 100))
    assert {shown.message.text[0] for shown in page.deferred} >= {"5", "6", "7", "8"}
    assert len(page.deferred) < 9


def test_a_hit_in_a_long_text_is_lit_at_once():
    model = model_of(SHORT, f"{LONG}\n\nThe needle.", SHORT)
    page = page_of(model)
    page.light(parse("needle").terms, 1)
    index = model.entry_of(1)
    assert index is not None and len(page.match_lines(index)) == 1
    assert not page.deferred


@pytest.mark.slow
@pytest.mark.parametrize("tools", list(Tools))
def test_tools_and_reasoning_too(tools):
    """A message with everything in it comes out the same."""
    model = model_of(LONG, "")
    result = '{"output": "' + "quay\\n" * 3000 + '"}'
    model.add([ChatMessage(0, "s", "assistant", LONG, 0.0, reasoning=LONG)])
    model.add([ChatMessage(1, "s", "tool", result, 0.0, tool_call_id="c")])
    shown = []
    for at_once in (True, False):
        page = page_of(model)
        page.look = Look(tools, reasoning=True)
        page.opened = {0, 1}
        page.settle()
        if at_once:
            draw_now(page)
        while page.deferred:
            finish(page)
        shown.append(texts_of(page))
    assert shown[0] == shown[1]


@pytest.mark.slow
async def test_the_thread_of_the_screen_lays_out_no_long_text(tmp_path, monkeypatch):
    """Neither when a conversation is opened, nor at another width, nor where everything of a result
    is asked for."""
    output = '{"output": "' + "2026-01-01 10:00:00 INFO the ferry left\\n" * 2000 + '"}'
    store = make_store(
        tmp_path / "state.db",
        sessions=[{"id": "a", "title": "Tides"}],
        messages=[
            {"session_id": "a", "role": "user", "content": "Tell me of the **needle**"},
            {
                "session_id": "a",
                "role": "assistant",
                "content": f"{LONG}\n\n```python\n{'tide = 1' * 400}\n```",
            },
            {"session_id": "a", "role": "tool", "content": output, "tool_name": "terminal"},
        ],
    )
    threads = {"long": set(), "short": set()}

    lay_out = block_layout.lay_out

    def noted(shown):
        threads["long" if shown.is_heavy else "short"].add(threading.current_thread())
        return lay_out(shown)

    monkeypatch.setattr(block_layout, "lay_out", noted)
    async with on_store(store, size=(120, 36)) as browser:
        assert "## Tides" not in browser.text("#transcript")
        await browser.press("tab", "end", "enter", "pageup", "home")
        assert "Tides" in browser.text("#transcript")
        browser.screen.query_one("#transcript").styles.width = 50
        await browser.settle()
        await browser.press("escape")
        await browser.search("lantern")
        assert "lantern" in browser.text("#transcript")
    assert threads["long"] and threads["short"]
    assert threading.main_thread() not in threads["long"]
    assert threading.main_thread() in threads["short"]


async def test_what_colours_a_language_is_loaded_by_the_thread_that_reads(tmp_path, monkeypatch):
    """Short texts are laid out by the screen's thread, which must not wait for that."""
    markdown_layout._lexer.cache_clear()
    threads = []
    load = lexers.get_lexer_by_name

    def watched(*args, **kwargs):
        threads.append(threading.current_thread())
        return load(*args, **kwargs)

    monkeypatch.setattr(lexers, "get_lexer_by_name", watched)
    text = "So:\n\n```python\ntide = 1\n```\n\n- and\n\n  ~~~ sql\n  SELECT 1\n  ~~~\n"
    store = make_store(
        tmp_path / "state.db",
        sessions=[{"id": "a", "title": "Tides"}],
        messages=[{"session_id": "a", "role": "assistant", "content": text}],
    )
    async with on_store(store) as browser:
        assert "tide = 1" in browser.text("#transcript")
    assert len(threads) == 2
    assert threading.main_thread() not in threads
