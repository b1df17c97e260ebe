"""Whatever a row holds: nothing of it acts on the terminal, and each line is exactly as wide as it
claims."""

from __future__ import annotations

import json
import unicodedata

from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from test_transcript_view import START, ViewApp, model_of

from hermes_browse.store.messages.chat_message import ChatMessage, ContentPart, State, ToolCall
from hermes_browse.store.search.terms import Matcher
from hermes_browse.store.text import printable
from hermes_browse.tui.browser.transcript.entries import Look, Tools, TranscriptModel
from hermes_browse.tui.browser.transcript.find import needle
from hermes_browse.tui.browser.transcript.page import Page
from hermes_browse.tui.text.styled import line_text, line_width

PIECES = [
    *"ab .,\n\t\r*_`#>|-[](){}\"':;/\\<&!~+@0",
    *(
        "\x1b[31m",
        "\x1b]8;;https://x\x07",
        "\x9b2J",
        "\x00",
        "\x7f",
        "\u202e",
        "\u2066",
        "\u200d",
        "\u200b",
        "\ufeff",
    ),
    *(
        "\u2028",
        "\ud800",
        "語",
        "한",
        "\uff71",
        "e\u0301",
        "\u0301",
        "\u0e33",
        "ก\u0e49",
        "नि",
        "\u05d0\u05d1",
        "\u0645",
    ),
    *(
        "\ufe0f",
        "\u2764\ufe0f",
        "\U0001f469\u200d\U0001f680",
        "\U0001f1f8\U0001f1ea",
        "\U0001f1f8",
        "\U0001f44d\U0001f3fd",
    ),
    *(
        "\U0001f3fd",
        "1\ufe0f\u20e3",
        "**",
        "```\n",
        "| a | b |\n|---|---|\n",
        "- [ ] ",
        "&#x202e;",
        "![x](",
        "](https://e.org)",
    ),
    *("<memory-context>", "</memory-context>", "[CONTEXT COMPACTION]", '{"output": "'),
]
"""What breaks lines, borders and terminals, in pieces."""
TEXT = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=40).map("".join),
    st.text(max_size=60),
    st.text(
        st.characters(categories=["Cc", "Cf", "Mn", "Me", "Cs", "Co", "So", "Lo"]), max_size=40
    ),
)
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
LOOK = st.builds(Look, st.sampled_from(Tools), st.booleans())


def read(message: ChatMessage, result: str) -> TranscriptModel:
    """A conversation of a message and the result of its calls."""
    model = model_of(2, read=False)
    model.add(
        [
            message,
            ChatMessage(1, "s", "tool", result, START, tool_call_id="c", tool_name=result[:9]),
        ]
    )
    return model


def cannot_act(text: str) -> bool:
    """No control, nothing that turns the direction round, no separator of lines, no half of a
    pair."""
    return printable(text) == text and not any(
        unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp")
        or letter in "\u202a\u202b\u202d\u202e"
        for letter in text
    )


@settings(max_examples=examples(150))
@given(MESSAGE, RESULT, LOOK, st.booleans(), st.integers(14, 100), TEXT)
def test_any_message_is_as_wide_as_it_claims(
    message: ChatMessage, result: str, look: Look, is_open: bool, width: int, wanted: str
) -> None:
    """Laid out whole, with and without something lit in it."""
    page = Page()
    page.open(read(message, result))
    page.resize(width, 50)
    page.look = look
    page.opened = {0, 1} if is_open else set()
    light = needle(wanted)
    matchers: tuple[Matcher, ...] = (light,) if light is not None else ()
    for page.matchers in ((), matchers):
        page.forget()
        for index in range(len(page)):
            for line in page.lines(index) or ():
                text = line_text(line)
                assert cannot_act(text)
                assert line_width(line) <= width
                assert line_width(line) == cell_len(text), (
                    "parts drawn one after the other are as wide as the whole"
                )


@settings(max_examples=examples(12))
@given(st.lists(st.tuples(MESSAGE, RESULT), min_size=1, max_size=6), st.integers(20, 70))
async def test_what_is_painted_fills_the_line_and_no_more(
    rows: list[tuple[ChatMessage, str]], width: int
) -> None:
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
