"""Any text, for property tests of what is drawn."""

from __future__ import annotations

import unicodedata

from hypothesis import strategies as st
from transcripts import START, model_of

from hermes_browse.store.messages.chat_message import ChatMessage
from hermes_browse.store.text import printable
from hermes_browse.tui.browser.transcript.entries import Look, Tools, TranscriptModel

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
