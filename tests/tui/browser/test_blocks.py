"""A block of a message is described once, and every output that tells messages draws from that."""

import pytest
from transcripts import lines_of, model_of

from hermes_browse.store.messages import chat_message
from hermes_browse.store.messages.chat_message import ChatMessage
from hermes_browse.tui.browser.transcript.finding import contains, needle
from hermes_browse.tui.cli.show import as_lines, body_of

SUMMARY = "[CONTEXT COMPACTION] what came before"


def _screen(message, *, is_open):
    return "\n".join(lines_of(message, is_open=is_open))


def _shown(message):
    return "\n".join(line.text for line in as_lines(model_of(1).conversation, [message]))


def test_one_entry_is_all_that_a_new_kind_takes(monkeypatch):
    """Folded on the screen until it is opened, found, and said by `show` and in `--plain`."""
    note = chat_message.BlockKind(
        "note",
        lambda message: message.effect,
        label="a note · {size}",
        shown="[note left out]",
    )
    monkeypatch.setattr(chat_message, "KINDS", (*chat_message.KINDS, note))
    message = ChatMessage(0, "s", "user", "plan my week", effect="**for** the curious")
    model = model_of(1)
    model.add([message])
    index = model.entry_of(0)
    assert index is not None and model.is_foldable(index)
    assert "▸ a note · 19 B" in _screen(message, is_open=False) and "curious" not in _screen(
        message, is_open=False
    )
    assert "┊ **for** the curious" in _screen(message, is_open=True)
    assert contains(message, needle("curious"))
    assert "[note left out]" in _shown(message)


@pytest.mark.parametrize(
    "text", [f"{SUMMARY}\nof a log", "<memory-context>kept</memory-context> of a log"]
)
def test_the_output_of_a_tool_is_told_whatever_it_begins_with(text):
    """It may quote what Hermes itself writes: nothing of it is a summary or an injection."""
    message = ChatMessage(0, "s", "tool", text, tool_call_id="none")
    for told in (_screen(message, is_open=True), _shown(message)):
        assert text.split("\n")[0] in told and "of a log" in told


def test_a_summary_that_is_only_flagged_is_one_everywhere():
    """Hermes 0.22 marks it in a column, and it begins like any text."""
    message = ChatMessage(0, "s", "user", "what came before", is_flagged=True)
    assert "compaction summary" in _screen(message, is_open=False)
    assert body_of(message, with_summary=True) == "what came before"
    assert "[compaction summary left out]" in _shown(message) and "what came before" not in _shown(
        message
    )
