"""Taking things out: the clipboard's routes and what they claim, messages, code blocks and tool
outputs."""

import asyncio
import json
import os
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest
from platforms import posix_only, script
from store_builder import StoreBuilder
from transcripts import model_of

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.messages.chat_message import ChatMessage, ToolCall
from hermes_browse.store.messages.transcript import read_raw
from hermes_browse.tui.browser.transcript.cards import RawCard
from hermes_browse.tui.browser.transcript.copying import code_blocks, message_text
from hermes_browse.tui.browser.transcript.entries import TranscriptModel
from hermes_browse.tui.browser.transcript.tool_text import output_text
from hermes_browse.tui.screens.palette import entries
from hermes_browse.tui.terminal.programs import (
    chosen,
    copy_text,
    harmless,
    run_tool,
    show,
    tools,
)


@pytest.fixture
def names(monkeypatch):
    """Returns the programs that would be tried in an environment."""

    def names(environment, platform="linux"):
        monkeypatch.setattr(os, "environ", environment)
        monkeypatch.setattr(sys, "platform", platform)
        return [name for name, *_options in tools()]

    return names


def test_the_tool_of_the_desktop_comes_first_and_tmux_after(names):
    assert names({"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0", "TMUX": "x"})[:4] == [
        "wl-copy",
        "xclip",
        "xsel",
        "tmux",
    ]
    assert names({}, "darwin") == ["pbcopy"]
    assert names({}, "win32") == ["clip"]


def test_over_ssh_the_far_desktop_is_left_alone(names):
    """What the far machine keeps on its clipboard is of no use here; tmux passes on to this
    terminal."""
    far = {"SSH_CONNECTION": "1 2 3 4", "WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"}
    assert names(far) == []
    assert names(far, "darwin") == []
    assert set(names(far | {"TMUX": "x"})) == {"tmux"}


@posix_only
def test_the_first_tool_that_takes_the_text_is_named(tmp_path, monkeypatch):
    """One that is missing and one that fails are passed over; nothing is claimed for them."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    script(tmp_path / "fails", "exit 1")
    script(tmp_path / "takes", f"cat > {tmp_path}/kept")
    failing = {("absent-tool",): "A", ("fails",): "B"}
    assert run_tool("één\n語", {**failing, ("takes",): "with takes"}) == "with takes"
    assert (tmp_path / "kept").read_text(encoding="utf-8") == "één\n語"
    assert run_tool("x", failing) is None


def test_without_a_tool_the_terminal_is_told_and_nothing_is_claimed():
    sent = []
    route = asyncio.run(copy_text("words", sent.append))
    assert sent == ["words"]
    assert "OSC 52" in route and "sent" in route and "copied" not in route
    assert "more than some terminals take" in asyncio.run(copy_text("x" * 80_000, sent.append))


def test_what_is_pasted_cannot_act():
    """The end of a bracketed paste, inside a paste, would let the rest be typed."""
    assert "\x1b" not in harmless("a\x1b[201~rm -rf\r")
    assert harmless("a\x1b[201~") == "a␛[201~"
    assert harmless("tab\tand\r\nline") == "tab\tand\nline"
    assert harmless("שלום\u200f 👩‍🚀") == "שלום\u200f 👩‍🚀", (
        "letters and joiners of every script stay"
    )


def test_code_blocks_are_found_where_they_are_nested():
    text = "one\n\n```python\nprint(1)\n```\n\n- item\n\n  ```\n  plain\n  two\n  ```\n"
    blocks = code_blocks(ChatMessage(1, "s", "assistant", text), model_of(0))
    assert [block.text for block in blocks] == ["print(1)", "plain\ntwo"]
    assert "python" in blocks[0].name and "2 lines" in blocks[1].name


def test_a_message_is_taken_without_what_was_injected():
    recalled = "<memory-context>secret</memory-context>\n"
    question = ChatMessage(1, "s", "user", recalled + "plain question")
    assert message_text(question, model_of(3))[0].text == "plain question"
    calls = (ToolCall("c", "terminal", '{"command": "ls"}'),)
    asking = ChatMessage(2, "s", "assistant", "", tool_calls=calls)
    assert message_text(asking, model_of(3))[0].text == 'terminal {"command": "ls"}'


async def _copied(browser, key):
    """Press a key and give what the terminal was sent."""
    browser.app._clipboard = ""
    await browser.press(key)
    return browser.app.clipboard


async def at_calls(browser):
    """Go to the first message with calls; the viewer."""
    view = browser.screen.transcript
    await browser.press("tab", "home")
    while view.current is None or not view.current.tool_calls:
        await browser.press("right_curly_bracket")
    return view


@pytest.mark.slow
async def test_tool_outputs_are_taken_one_after_the_other(browser):
    view = await at_calls(browser)
    results = [view.model.result(call.id) for call in view.current.tool_calls]
    texts = [output_text(each.text) for each in results if each is not None]
    assert texts
    taken = [await _copied(browser, "ctrl+y") for _ in range(len(texts) + 1)]
    assert taken == [*map(harmless, texts), harmless(texts[0])], (
        "after the last one the first again"
    )


@pytest.mark.slow
@posix_only
async def test_a_pager_gets_a_private_file_that_is_gone_afterwards(browser, tmp_path, monkeypatch):
    """0600 while it is there, harmless to the terminal, and the browser goes on."""
    notes = tmp_path / "notes"
    script(
        tmp_path / "page",
        f'for last; do :; done; stat -c "%a %n" "$last" > {notes}; cat "$last" > {notes}.text',
    )
    monkeypatch.setenv("PAGER", f"{tmp_path}/page --some option")
    monkeypatch.setattr(browser.app, "suspend", nullcontext)
    view = await at_calls(browser)
    await browser.press("O")
    mode, name = notes.read_text().split()
    assert mode == "600" and name.endswith(".md")
    assert not Path(name).exists() and not Path(name).parent.exists()
    result = view.model.result(view.current.tool_calls[0].id)
    paged = (tmp_path / "notes.text").read_text(encoding="utf-8")
    assert output_text(result.text).splitlines()[0] in paged, "results are in it, whole"
    assert browser.app.is_running


@pytest.mark.slow
@posix_only
async def test_what_goes_wrong_with_an_editor_is_said(browser, tmp_path, monkeypatch):
    await browser.press("tab")
    monkeypatch.setenv("VISUAL", str(tmp_path / "absent"))
    await browser.press("E")
    assert "cannot be handed over" in browser.status, "this terminal is none"
    monkeypatch.setattr(browser.app, "suspend", nullcontext)
    await browser.press("E")
    assert "could not be started" in browser.status


@posix_only
def test_a_paged_text_cannot_act(tmp_path):
    assert show(["cp", "-t", str(tmp_path)], "a\x1b[2Jb\u202e") == ""
    assert (tmp_path / "text.txt").read_text("utf-8") == "a␛[2Jb\ufffd"


@pytest.mark.parametrize("name", ["state-v11", "state-v31"])
def test_raw_is_what_is_stored(name, fixture_store):
    """Every column, undecoded: also the prefix of multimodal content."""
    store = Store(fixture_store(name))
    with store.reader() as reader:
        rows = reader.rows("SELECT id, content, tool_calls FROM messages ORDER BY id")
        seen = set()
        for message_id, content, calls in rows:
            text = read_raw(reader, int(str(message_id)))
            row = json.loads(text)
            seen |= set(row)
            assert (row["content"], row["tool_calls"]) == (content, calls)
        assert seen == set(reader.schema.message_columns)
        assert read_raw(reader, 10**9) is None


def test_raw_takes_salvaged_bytes(tmp_path):
    builder = StoreBuilder(tmp_path / "state.db")
    builder.session("s")
    number = builder.message("s", "user", b"\xff\x00")
    with Store(builder.write()).reader() as reader:
        text = read_raw(reader, number)
        assert text is not None and json.loads(text)["content"] == {"bytes": 2, "hex": "ff00"}


@pytest.mark.slow
async def test_the_raw_row_needs_no_text_that_is_read(browser, monkeypatch):
    """Beside a busy writer a message is on its way when the key comes: its number is known."""
    await browser.press("tab", "K")
    current = browser.screen.transcript.current
    assert browser.screen.transcript.current_id == current.id
    monkeypatch.setattr(TranscriptModel, "message", lambda self, index: None)
    assert browser.screen.transcript.current is None
    await browser.press("ampersand")
    assert isinstance(browser.app.screen, RawCard)


@pytest.mark.slow
async def test_the_palette_offers_what_keys_of_the_transcript_do(browser):
    """By name, from any pane, and it works from there."""
    commands = {each.title: each for each in entries(browser.app, browser.screen, {})}
    offered = "Copy,Copy code,Copy output,Pager,Editor,Raw,Find here,Go to"
    assert set(offered.split(",")) <= set(commands)
    browser.app._clipboard = ""
    commands["Copy"].run()
    await browser.settle()
    current = browser.screen.transcript.current
    assert browser.app.clipboard == harmless(current.text)


def test_a_variable_that_is_no_command_is_said(monkeypatch):
    """A quote that is not closed does not end the browser."""
    for name, value in {"PAGER": "less -R", "VISUAL": ' vi "', "EDITOR": "nano"}.items():
        monkeypatch.setenv(name, value)
    assert chosen(["PAGER"], []) == ["less", "-R"]
    command = chosen(["VISUAL", "EDITOR"], [])
    assert command == ['vi "']
    assert show(command, "text").startswith('vi " could not be started: ')
