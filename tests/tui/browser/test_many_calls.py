"""A message with very many tool calls: what is laid out does not grow with their number."""

import json

import pytest
from transcripts import lines_of, model_of

from hermes_browse.store.export.markdown import message_markdown
from hermes_browse.store.export.source import rendered
from hermes_browse.store.messages.chat_message import ChatMessage, ToolCall
from hermes_browse.store.messages.decode import decode_tool_calls
from hermes_browse.tui.browser.transcript import block_layout
from hermes_browse.tui.browser.transcript.entries import CALL_LIMIT, Look, Tools

_MANY = 100_000


def _calls(count):
    return tuple(
        ToolCall(f"c{n}", "terminal", json.dumps({"command": f"ls {n}"})) for n in range(count)
    )


@pytest.mark.slow
@pytest.mark.parametrize("tools", Tools)
@pytest.mark.parametrize("is_open", [False, True])
def test_few_of_many_calls_are_laid_out(monkeypatch, tools, *, is_open):
    """The same work as for a hundred, a line counts those left out."""
    parsed = 0
    load = block_layout.load_json

    def counted(text):
        nonlocal parsed
        parsed += 1
        return load(text)

    monkeypatch.setattr(block_layout, "load_json", counted)
    message = ChatMessage(0, "s", "assistant", "", tool_calls=_calls(_MANY))
    model = model_of(1)
    lines = lines_of(message, model, 80, Look(tools), is_open=is_open)
    shown = "\n".join(lines)
    assert len(lines) < 10 * CALL_LIMIT and parsed <= 2 * CALL_LIMIT
    if tools is not Tools.OFF or is_open:
        assert f"ls {CALL_LIMIT - 1}" in shown and f"ls {CALL_LIMIT}\n" not in shown
        assert f"… {_MANY - CALL_LIMIT:,} more calls · O opens all" in shown
    else:
        assert f"{_MANY}× terminal" in shown


def test_the_pager_has_all_calls():
    message = ChatMessage(0, "s", "assistant", "", tool_calls=_calls(5 * CALL_LIMIT))
    assert f"ls {5 * CALL_LIMIT - 1}" in message_markdown(rendered(message, model_of(1).result))


def test_a_long_list_of_calls_is_decoded():
    """Whole; one that is cut has none."""
    stored = json.dumps(
        [
            {"id": each.id, "function": {"name": each.name, "arguments": each.arguments}}
            for each in _calls(5_000)
        ]
    )
    assert decode_tool_calls(stored) == _calls(5_000)
    assert decode_tool_calls(stored[:-1]) == ()
