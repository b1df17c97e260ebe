"""Taking things out: the clipboard's routes and what they claim, messages, code blocks and tool outputs."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from browsing import Browser, browsing, demo_app

from hermes_browse.store.models import ChatMessage, ToolCall
from hermes_browse.tui import clipboard
from hermes_browse.tui.clipboard import Tool, harmless, run_tool
from hermes_browse.tui.takings import code_blocks, said
from hermes_browse.tui.tool_text import what_it_said

REAL_TOOLS = clipboard.tools
"""Before the fixture takes it away."""

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="the stand-ins are shell scripts")


def script(folder: Path, name: str, body: str) -> Path:
    """A program of that name, first on the path."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def names(environment: dict[str, str], platform: str = "linux") -> list[str]:
    """The programs that would be tried."""
    return [tool.argv[0] for tool in REAL_TOOLS(environment, platform)]


def test_the_tool_of_the_desktop_comes_first_and_tmux_after() -> None:
    assert names({"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0", "TMUX": "x"})[:4] == [
        "wl-copy",
        "xclip",
        "xsel",
        "tmux",
    ]
    assert names({}, "darwin") == ["pbcopy"]
    assert names({}, "win32") == ["clip"]


def test_over_ssh_the_far_desktop_is_left_alone() -> None:
    """What the far machine keeps on its clipboard is of no use here; tmux passes on to this terminal."""
    far = {"SSH_CONNECTION": "1 2 3 4", "WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"}
    assert names(far) == []
    assert names(far, "darwin") == []
    assert set(names(far | {"TMUX": "x"})) == {"tmux"}


@POSIX
def test_the_first_tool_that_takes_the_text_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is missing and one that fails are passed over; nothing is claimed for them."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    script(tmp_path, "fails", "exit 1")
    script(tmp_path, "takes", f"cat > {tmp_path}/kept")
    candidates = [Tool(("absent-tool",), "A"), Tool(("fails",), "B"), Tool(("takes",), "with takes")]
    assert run_tool("één\n語", candidates) == "with takes"
    assert (tmp_path / "kept").read_text(encoding="utf-8") == "één\n語"
    assert run_tool("x", candidates[:2]) is None


def test_without_a_tool_the_terminal_is_told_and_nothing_is_claimed() -> None:
    sent: list[str] = []
    route = asyncio.run(clipboard.copy("words", sent.append))
    assert sent == ["words"]
    assert "OSC 52" in route and "sent" in route and "copied" not in route
    assert "more than some terminals take" in asyncio.run(clipboard.copy("x" * 80_000, sent.append))


def test_what_is_pasted_cannot_act() -> None:
    """The end of a bracketed paste, inside a paste, would let the rest be typed."""
    assert "\x1b" not in harmless("a\x1b[201~rm -rf\r")
    assert harmless("a\x1b[201~") == "a␛[201~"
    assert harmless("tab\tand\r\nline") == "tab\tand\nline"
    assert harmless("שלום\u200f 👩‍🚀") == "שלום\u200f 👩‍🚀", "letters and joiners of every script stay"


def test_code_blocks_are_found_where_they_are_nested() -> None:
    text = "one\n\n```python\nprint(1)\n```\n\n- item\n\n  ```\n  plain\n  two\n  ```\n"
    blocks = code_blocks(ChatMessage(1, "s", "assistant", text))
    assert [block.text for block in blocks] == ["print(1)", "plain\ntwo"]
    assert "python" in blocks[0].name and "2 lines" in blocks[1].name


def test_a_message_is_taken_without_what_was_injected() -> None:
    recalled = "<memory-context>secret</memory-context>\n"
    assert said(ChatMessage(1, "s", "user", recalled + "plain question")).text == "plain question"
    call = ToolCall("c", "terminal", '{"command": "ls"}')
    assert said(ChatMessage(2, "s", "assistant", "", tool_calls=(call,))).text == 'terminal {"command": "ls"}'


async def _copied(browser: Browser, key: str) -> str:
    """Press a key and give what the terminal was sent."""
    browser.app._clipboard = ""
    await browser.press(key)
    await browser.app.workers.wait_for_complete()
    await browser.settle()
    return browser.app.clipboard


async def test_keys_copy_the_message_and_say_by_which_way(tmp_path: Path) -> None:
    async with browsing(demo_app(tmp_path)) as browser:
        await browser.press("tab", "K")
        current = browser.screen.transcript.current
        assert current is not None and current.role == "user"
        assert await _copied(browser, "c") == current.text
        assert "OSC 52" in browser.text("#status") and f"message {current.id}" in browser.text("#status")
        assert await _copied(browser, "y") == browser.screen.reading.conversation.id  # type: ignore[union-attr]  # one is open
        assert "OSC 52" in browser.text("#status")


async def test_tool_outputs_are_taken_one_after_the_other(tmp_path: Path) -> None:
    async with browsing(demo_app(tmp_path)) as browser:
        await browser.press("tab", "home")
        view = browser.screen.transcript
        assert view.model is not None
        while view.current is None or not view.current.tool_calls:
            await browser.press("right_curly_bracket")
        results = [view.model.result(call.id) for call in view.current.tool_calls]
        texts = [what_it_said(each.text) for each in results if each is not None]
        assert texts
        taken = [await _copied(browser, "ctrl+y") for _ in range(len(texts) + 1)]
        assert taken == [*map(harmless, texts), harmless(texts[0])], "after the last one the first again"


async def test_where_there_is_nothing_to_take_it_is_said(tmp_path: Path) -> None:
    async with browsing(demo_app(tmp_path)) as browser:
        await browser.press("tab", "K")
        assert await _copied(browser, "C") == ""
        assert "no code block" in browser.text("#status")
