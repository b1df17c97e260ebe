"""Rows that people do not see: marked where everything is exported, counted where they are left
out."""

import re

import pytest
from builders import make_store
from exports import chat, document

from hermes_browse.store.export.markdown import message_markdown
from hermes_browse.store.export.source import HIDDEN, ExportCounts, Format, rendered
from hermes_browse.store.messages.chat_message import ChatMessage, State


@pytest.fixture
def path(tmp_path):
    """A store with a message of each kind."""
    rows = [
        {"content": "typed"},
        {"content": "of a plug-in", "display_kind": "hidden"},
        {"content": "taken back", "active": 0},
        {"content": "both", "display_kind": "hidden", "active": 0},
        {"content": "replaced", "active": 0, "compacted": 1},
        {"content": "{}", "role": "session_meta"},
        {"content": "for the model", "display_metadata": '{"model_only": true}'},
    ]
    messages = [{} | row for row in rows]
    return chat(tmp_path / "state.db", "31", messages)


MARKED = ["", "hidden", "rewound", "rewound, hidden", "compacted", "hidden", "hidden"]


@pytest.mark.parametrize("form", [Format.MARKDOWN, Format.HTML])
def test_each_hidden_message_is_marked_and_counted(path, form):
    """The head counts what is in the document, and both readings count the same rows."""
    counts = ExportCounts()
    text = document(path, form, everything=True, counts=counts)
    heads = re.findall(r"### .*|<header>.*", text)
    found = [re.search(r' \((.*)\)$|"state">(.*?)<', head) for head in heads]
    assert [(each[1] or each[2]) if each else "" for each in found] == MARKED
    assert "7 messages" in text and counts.messages == 7
    assert form is Format.HTML or "message_count: 7\n" in text
    said = ExportCounts()
    assert "2 messages" in document(path, form, counts=said) and said.messages == 2
    assert said.not_live == counts.not_live == {State.REWOUND: 2, HIDDEN: 3}


def test_the_index_of_several_counts_what_is_in_the_page(path, tmp_path):
    one = document(path, Format.HTML, everything=True)
    rows = [{"session_id": each} for each in "aab"]
    rows += [{"session_id": "b", "content": "meta", "role": "session_meta"}]
    several = make_store(tmp_path / "two.db", "31", [{"id": "a"}, {"id": "b"}], rows)
    page = document(several, Format.HTML, everything=True)
    assert page.count("2 messages</span>") == 2 and "<nav" not in one
    assert document(several, Format.HTML).count("1 messages</span>") == 1


def test_one_hidden_message_outside_of_an_export():
    message = ChatMessage(7, "s", "user", "for the model", is_hidden=True)
    assert message_markdown(rendered(message)).startswith("### You · message 7 (hidden)\n")
