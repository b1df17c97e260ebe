"""Which messages match what is looked for in a transcript, and which are looked through for it."""

import pytest
from homes import NEEDLES, needles
from transcripts import conversation_of

from hermes_browse.store.api import OpenStore, open_store
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import ValueTooLongError
from hermes_browse.store.messages.chat_message import ChatMessage, ToolCall
from hermes_browse.store.sessions.models import Session
from hermes_browse.tui.browser.transcript import finding
from hermes_browse.tui.browser.transcript.finding import FindResults, contains, needle, scan


@pytest.fixture
def store(tmp_path):
    """A store with a long conversation."""
    needles(tmp_path)
    with open_store(Store(tmp_path / "state.db")) as store:
        yield store


def whole(store):
    """The long conversation, not read."""
    session = Session("s", "cli")
    return conversation_of([session], store.outline([session]).rows)


def test_letters_are_taken_as_they_stand():
    """Any case, with or without accents, inside words; signs of the query language mean nothing."""
    for text in ("xNEEDLEx", "néedle", "ne\u0301edle"):
        assert contains(ChatMessage(1, "s", "user", text), needle("needle"))
    assert contains(ChatMessage(1, "s", "user", "a -b OR c*"), needle("-b or c*"))


def test_what_is_looked_through_is_what_can_be_shown():
    """Escapes of JSON are letters on the screen; what is folded counts."""
    assert contains(ChatMessage(1, "s", "tool", '{"output": "\\u65e5\\u672c"}'), needle("日本"))
    call = ToolCall("c", "terminal", '{"command": "say \\"hi\\""}')
    assert contains(ChatMessage(1, "s", "assistant", "", tool_calls=(call,)), needle('say "hi"'))
    assert contains(ChatMessage(1, "s", "assistant", "", reasoning="because"), needle("cause"))
    assert contains(
        ChatMessage(1, "s", "user", "<memory-context>tea</memory-context> x"), needle("tea")
    )
    assert contains(
        ChatMessage(1, "s", "user", "x", api_content="recalled: tea\n\nx"), needle("tea")
    )
    assert not contains(ChatMessage(1, "s", "user", "x", tool_call_id="tea"), needle("tea"))


def test_signs_of_markdown_that_are_not_shown_part_no_words():
    """What is on the screen can be typed as it is read there."""
    text = "the **bold** words, `some code` here and [a link](https://example.org) to_see 2 * 3 * 4"
    text += ", [a jump](#there) *back*"
    message = ChatMessage(1, "s", "assistant", text)
    for each in (
        "the bold words",
        "words, some code here",
        "to_see",
        "2 * 3",
        "**bold**",
        "jump b",
    ):
        assert contains(message, needle(each)), each
    for each in ("tosee", "2 3", "link to"):
        assert not contains(message, needle(each)), each


def test_batches_give_together_what_one_look_would(store, monkeypatch):
    """However few there are in one, each message is looked at once, from the origin around the
    end."""
    monkeypatch.setattr(finding, "BATCH", 7)
    model = whole(store)
    findings = FindResults(needle("needle"), model, 120)
    batches = 0
    for rows in findings.unscanned():
        findings.found |= scan(store, model, rows, findings.matcher)
        batches += 1
    assert findings.found == {100, 150, 399}, "the result counts as the message that called"
    assert batches > NEEDLES // 10 and findings.is_complete
    assert list(findings.unscanned()) == []


def test_a_result_counts_as_the_message_that_called_though_that_is_not_among_them(store):
    """The result of a call comes later where one reads what is being written."""
    model, matcher = whole(store), needle("needle")
    model.add(store.messages([row.id for row in model.outline.rows]))
    results = [row for row in model.outline.rows if row.role == "tool"]
    assert scan(store, model, results, matcher) == {399}


def test_messages_that_have_been_read_are_not_read_again(store, monkeypatch):
    """Each letter looks through them: of a large one another machine had no room for so many."""
    model = whole(store)
    model.add(store.messages([row.id for row in model.outline.rows[90:200]]))
    asked = []
    monkeypatch.setattr(OpenStore, "messages", lambda store, ids: asked.extend(ids) or [])
    assert (
        scan(store, model, model.outline.rows[90:200], needle("needle")) == {100, 150}
        and asked == []
    )
    scan(store, model, model.outline.rows[190:210], needle("needle"))
    assert asked == [row.id for row in model.outline.rows[200:210]]


def test_a_message_that_a_machine_cannot_send_ends_no_find(store, monkeypatch):
    """All others are looked through."""
    messages = OpenStore.messages

    def refusing(store, ids):
        if 120 in ids:
            raise ValueTooLongError("This answer is too large to be sent.")
        return messages(store, ids)

    model = whole(store)
    monkeypatch.setattr(OpenStore, "messages", refusing)
    assert scan(store, model, model.outline.rows[90:200], needle("needle")) == {100, 150}
