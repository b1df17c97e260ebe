"""Links and paths of a message: what is found, what may be opened, what the card does with them."""

import time

import pytest
from browsing import on_store
from carded import answer_to, open_references
from hypothesis import given
from hypothesis import strategies as st
from store_builder import StoreBuilder, tool_call
from transcripts import model_of

from hermes_browse.store.messages.chat_message import ChatMessage, ToolCall
from hermes_browse.tui.browser.transcript.references import (
    Reference,
    ReferenceKind,
    references,
)
from hermes_browse.tui.terminal import programs


def found_in(text, *calls):
    """References of an assistant's message, by target."""
    return {
        each.target: each
        for each in references(ChatMessage(1, "s", "assistant", text, tool_calls=calls), EMPTY)
    }


EMPTY = model_of(0)


@pytest.mark.parametrize(
    "text, targets",
    [
        ("see [the docs](https://example.org/a?b=c).", ["https://example.org/a?b=c"]),
        (
            "(https://en.wikipedia.org/wiki/Sixel_(graphics)), and",
            ["https://en.wikipedia.org/wiki/Sixel_(graphics)"],
        ),
        (
            "**https://example.org/x**. Then <https://example.org/y>",
            ["https://example.org/x", "https://example.org/y"],
        ),
        ("詳細はhttps://example.jp/ページ。次", ["https://example.jp/ページ"]),
        ("write to mailto:a@example.org!", ["mailto:a@example.org"]),
        ("[a](src/auth.py) and `tests/test_auth.py:12`", ["src/auth.py", "tests/test_auth.py"]),
        ("in /etc/hosts, ~/notes/a.md and ./b/c", ["/etc/hosts", "~/notes/a.md", "./b/c"]),
        ("yes/no and 1/2 and/or nothing", []),
        ("[up](#heading)", []),
    ],
)
def test_what_a_text_refers_to(text, targets):
    assert list(found_in(text)) == targets


@pytest.mark.slow
@pytest.mark.parametrize("begin, piece", [
    *(("", each) for each in ("a", "+a", "%20", "=+", "+a/")),
    *(("https://example.org", each) for each in (".", ")", ".)")),
])  # fmt: skip
def test_a_run_without_spaces_takes_no_seconds(begin, piece):
    """Python lets no other thread run meanwhile: the screen would stand still."""
    begun = time.process_time()
    assert "".join(found_in(begin + piece * (180_000 // len(piece)))) == begin
    assert time.process_time() - begun < 5


def test_calls_and_their_results_are_looked_through(tmp_path):
    model = model_of(2)
    call = ToolCall(
        "c", "terminal", '{"path": "with space.txt", "command": "curl https://example.org/in"}'
    )
    caller = ChatMessage(0, "s", "assistant", "", tool_calls=(call,))
    result = ChatMessage(
        1, "s", "tool", '{"output": "moved to https:\\/\\/example.org\\/out"}', tool_call_id="c"
    )
    model.add([caller, result])
    targets = [each.target for each in references(caller, model)]
    assert targets == ["https://example.org/in", "https://example.org/out", "with space.txt"]
    assert [each.target for each in references(result, model)] == ["https://example.org/out"]


@pytest.mark.parametrize(
    "target, may",
    [
        ("https://example.org", True),
        ("HTTP://example.org/ü", True),
        ("mailto:a@example.org", True),
        ("mailto:", False),
        ("https:///nowhere", False),
        ("https://[broken", False),
        ("file:///etc/passwd", False),
        ("javascript:alert(1)", False),
        ("vscode://open?x", False),
        ("-https://example.org", False),
        ("https://example.org/\x1b]0;x\x07", False),
        ("https://example.org/\u202egnp", False),
        ("https://example.org/ --flag", False),
    ],
)
def test_only_the_web_and_mails_are_opened(target, may):
    assert Reference(ReferenceKind.LINK, target).can_be_opened is may
    assert not Reference(ReferenceKind.PATH, target).can_be_opened


@given(st.text())
def test_any_text_is_looked_through(text):
    """Nothing raises, and what would be handed to a browser begins with a scheme that may."""
    for each in references(ChatMessage(1, "s", "user", text), EMPTY):
        if each.can_be_opened:
            assert each.target.lower().startswith(("http://", "https://", "mailto:"))


def linked_store(path):
    """One message with a link, one that must not be opened, and a path; another with none."""
    builder = StoreBuilder(path)
    builder.session("other")
    builder.message("other", "user", "so that ids are not places")
    builder.session("s", title="Links")
    builder.message("s", "user", "nothing here")
    text = "[docs](https://example.org/docs), [odd](ftp://example.org/x) and /etc/hosts \x1b]8;;https://evil.example\x07"
    builder.message(
        "s", "assistant", text, tool_calls=[tool_call("terminal", {"command": "ls"}, id="c")]
    )
    return builder.write()


@pytest.mark.slow
async def test_links_are_opened_and_the_rest_is_copied(tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr(
        programs, "open_outside", lambda target: (not opened.append(target), "handed to opener")
    )
    async with on_store(linked_store(tmp_path / "state.db")) as browser:
        await open_references(browser, "G", "right_curly_bracket")
        assert browser.card().startswith("message 2\n"), "its place, as the transcript shows it"
        shown = browser.text("#references")
        assert (
            "link  https://example.org/docs" in shown
            and "ftp://example.org/x  is only copied" in shown
        )
        assert "handed to opener" in await answer_to(browser, "home", "enter")
        assert opened == ["https://example.org/docs"]
        assert "copied" in await answer_to(browser, "c") or "OSC 52" in browser.text("#answer")
        assert browser.app.clipboard == "https://example.org/docs"
        while "ftp:" not in browser.app.clipboard:
            answer = await answer_to(browser, "j", "enter")
        assert "not of the web" in answer or "OSC 52" in answer
        await answer_to(browser, "end", "enter")
        assert browser.app.clipboard == "/etc/hosts"
        assert opened == ["https://example.org/docs"], (
            "neither the other scheme nor the path was opened"
        )
        await browser.press("escape")
        assert browser.app.screen is browser.screen


@pytest.mark.slow
async def test_where_there_is_no_opener_it_is_said(tmp_path, monkeypatch):
    """With the key that copies instead."""
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    async with on_store(linked_store(tmp_path / "state.db")) as browser:
        await open_references(browser, "G", "right_curly_bracket")
        answer = await answer_to(browser, "home", "enter")
        assert "no program here that opens it" in answer and "c copies" in answer
