"""Whatever a row holds: nothing of it acts on the terminal, and each line is exactly as wide as it
claims."""

import json

import pytest
from any_text import LOOK, TEXT, cannot_act, read
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from transcripts import ViewApp, drawn

from hermes_browse.store.messages.chat_message import ChatMessage, ContentPart, State, ToolCall
from hermes_browse.tui.browser.transcript.finding import needle
from hermes_browse.tui.browser.transcript.page import Page
from hermes_browse.tui.text.styled import line_text, line_width

RESULT = st.one_of(
    TEXT, TEXT.map(lambda text: json.dumps({"output": text, "exit_code": 1, text: [text]}))
)
CALL = st.builds(ToolCall, st.just("c"), TEXT, RESULT)
PART = st.one_of(
    st.builds(ContentPart, st.just("text"), TEXT),
    st.builds(ContentPart, st.just("image"), TEXT, mime=TEXT, url=TEXT, size=st.integers(0, 10**9)),
)
MESSAGE = st.builds(
    ChatMessage,
    st.just(0),
    st.just("s"),
    st.one_of(st.sampled_from(["user", "assistant", "tool", "system"]), TEXT),
    TEXT,
    timestamp=st.one_of(st.none(), st.floats(allow_nan=True)),
    parts=st.lists(PART, max_size=2).map(tuple),
    tool_calls=st.lists(CALL, max_size=2).map(tuple),
    tool_name=st.one_of(st.none(), TEXT),
    reasoning=st.one_of(st.none(), TEXT),
    finish_reason=st.one_of(st.none(), st.just("error"), TEXT),
    state=st.sampled_from(State),
    is_flagged=st.booleans(),
    display_kind=st.one_of(st.none(), TEXT),
    api_content=st.one_of(st.none(), TEXT),
    effect=st.one_of(st.none(), TEXT),
)


@pytest.mark.slow
@settings(max_examples=examples(150))
@given(MESSAGE, RESULT, LOOK, st.booleans(), st.integers(14, 100), TEXT)
def test_any_message_is_as_wide_as_it_claims(message, result, look, is_open, width, wanted):
    """Laid out whole, with and without something lit in it."""
    page = Page()
    page.open(read(message, result))
    page.resize(width, 50)
    page.look = look
    page.opened = {0, 1} if is_open else set()
    matchers = (needle(wanted),) if wanted.strip() else ()
    for terms in ((), matchers):
        page.light(terms)
        for line in drawn(page):
            text = line_text(line)
            assert cannot_act(text)
            assert line_width(line) <= width
            assert line_width(line) == cell_len(text), (
                "parts drawn one after the other are as wide as the whole"
            )


@pytest.mark.slow
@settings(max_examples=examples(12))
@given(st.lists(st.tuples(MESSAGE, RESULT), min_size=1, max_size=6), st.integers(20, 70))
async def test_what_is_painted_fills_the_line_and_no_more(rows, width):
    """The last door before the terminal: borders and the scroll bar stand where they should."""
    app = ViewApp()
    async with app.run_test(size=(width, 30)) as pilot:
        for message, result in rows:
            app.view.show(read(message, result))
            app.view.action_to_start()
            await pilot.pause()
            for y in range(app.view.size.height):
                strip = app.view.render_line(y)
                assert strip.cell_length == app.view.scrollable_content_region.width
                assert sum(cell_len(segment.text) for segment in strip) == strip.cell_length
                assert all(cannot_act(segment.text) for segment in strip)
