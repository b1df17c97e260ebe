"""What a person reads of an export is in the language that is spoken, what a program reads the same
in all of them."""

import json
import re
from html import unescape

import pytest
from builders import make_store, tool_call
from exports import document
from tongue import speak_brackets

from hermes_browse.store.export.html import SCRIPT
from hermes_browse.store.export.source import Format


@pytest.fixture
def path(tmp_path):
    """A store with all that is named in an export."""
    return make_store(
        tmp_path / "state.db",
        "31",
        sessions=[{"id": "one", "title": "Harbour"}],
        messages=[
            {"session_id": "one", "content": "Hello", "active": 0, "compacted": 1},
            {
                "session_id": "one",
                "role": "assistant",
                "reasoning": "Why",
                "tool_calls": [tool_call("look", "{}")],
            },
            {"session_id": "one", "role": "tool", "tool_name": "look", "content": "a\nb"},
            {"session_id": "one", "role": "tool", "tool_name": "look", "content": ""},
        ],
    )


def test_markdown(path, monkeypatch):
    """Headings and notes, but not the front matter."""
    english = document(path, Format.MARKDOWN)
    speak_brackets(monkeypatch)
    other = document(path, Format.MARKDOWN)
    assert other.split("\n---\n")[0] == english.split("\n---\n")[0] and 'title: "Harbour"' in other
    assert "Hello" in other and "# Harbour\n" in other
    assert "\n### You · " in english and " (compacted)\n" in english and "*no output*" in english
    assert "\n### ‹You› · " in other and " (‹compacted›)\n" in other and "*‹no output›*" in other
    for text in ("Reasoning", "Result of look, 2 lines"):
        assert f"<summary>{text}</summary>" in english and f"<summary>‹{text}›</summary>" in other
    assert " · ‹4 messages›\n" in other and "\n## ‹‹" in other


def test_jsonl(path, monkeypatch):
    """All of it is for programs."""
    english = document(path, Format.JSONL)
    speak_brackets(monkeypatch)
    assert document(path, Format.JSONL) == english


def test_html(path, monkeypatch):
    """Its labels and buttons, in the script too; what the page keeps of a theme stays the same."""
    assert '<html lang="en">' in document(path, Format.HTML)
    speak_brackets(monkeypatch)
    text = document(path, Format.HTML)
    assert '<html lang="zh-CN">' in text and "<title>Harbour</title>" in text
    for words in (
        "Search: press /",
        "Search the messages",
        "Previous hit",
        "Next hit",
        "Unfold all",
        "You",
        "no output",
    ):
        assert f"‹{words}›" in text and f'"{words}"' not in text and f">{words}<" not in text
    assert "‹Theme: ‹auto››</button>" in text
    words = re.search('data-words="([^"]*)"', text)
    assert json.loads(unescape(words[1])) == {
        "count": "‹{shown} of {total} messages›",
        "fold": "‹Fold all›",
        "unfold": "‹Unfold all›",
        "theme": "‹Theme: {name}›",
        "auto": "‹auto›",
        "light": "‹light›",
        "dark": "‹dark›",
    }
    assert SCRIPT in text
