"""Old transcripts: which files count, what is read of them whatever their state, and that they are
never changed."""

import json
import os
from contextlib import closing

import pytest

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.messages.decode import read_messages_of
from hermes_browse.store.messages.transcript import read_outline
from hermes_browse.store.places.old_transcripts import (
    UNREADABLE,
    OldTranscripts,
    read_pieces,
)
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.sessions.list_page import with_details
from hermes_browse.store.trash.session_files import count_old_files, find_old_files, session_of

META = {
    "role": "session_meta",
    "model": "m-1",
    "platform": "telegram",
    "timestamp": "2026-01-02T10:00:00",
}
SAID = [
    {"role": "user", "content": "Where is the boat?", "timestamp": "2026-01-02T10:00:01"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "terminal", "arguments": "{}"}}
        ],
        "timestamp": "2026-01-02T10:00:02",
    },
    {
        "role": "tool",
        "tool_call_id": "c1",
        "name": "terminal",
        "content": "harbour",
        "timestamp": "2026-01-02T10:00:03",
    },
    {"role": "assistant", "content": "In the harbour.", "timestamp": "2026-01-02T10:00:04"},
]


def write_lines(path, *pieces):
    """A JSONL transcript; texts stand as they are."""
    lines = [piece if isinstance(piece, str) else json.dumps(piece) for piece in pieces]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path):
    """The folder of a home."""
    made = tmp_path / "hermes" / "sessions"
    made.mkdir(parents=True)
    return made


def everything(shelf):
    """All conversations of a shelf, and their messages by id."""
    while shelf.fill():
        pass
    with Store(shelf.path).reader() as reader:
        catalog = read_catalog(reader, 1.8e9)
        messages = {
            chain.root.id: read_messages_of(
                reader, [row.id for row in read_outline(reader, chain.segments).rows]
            )
            for chain in catalog.conversations()
        }
    return catalog, messages


def read_all(folder, **how):
    """The same of the transcripts in a folder."""
    with closing(OldTranscripts(folder, (), **how)) as shelf:
        return everything(shelf)


@pytest.mark.parametrize(
    "name, session",
    [
        ("20260102_100000_abc.jsonl", "20260102_100000_abc"),
        ("session_20260102_100000_abc.json", "20260102_100000_abc"),
        ("20260102_100000_abc.json", "20260102_100000_abc"),
        ("sessions.json", None),
        ("request_dump_x_1.json", None),
        (".sessions_x.tmp", None),
        (".hidden.jsonl", None),
        ("session_.json", None),
        ("notes.txt", None),
    ],
)
def test_which_names_are_transcripts(name, session):
    """The routing index, dumps of requests and temporary files are none."""
    assert session_of(name) == session


def test_only_plain_files_without_a_session_count(folder, fixture_store):
    """What the store has is not old; links of either kind may be anything, the store itself at
    worst."""
    store = Store(fixture_store("state-v22"))
    with store.reader() as reader:
        known = str(reader.value("SELECT id FROM sessions LIMIT 1"))
    write_lines(folder / f"{known}.jsonl", *SAID)
    old = write_lines(folder / "gone_1.jsonl", *SAID)
    (folder / "link.jsonl").symlink_to(old)
    write_lines(folder / "first.jsonl", *SAID)
    os.link(folder / "first.jsonl", folder / "second.jsonl")
    (folder / "folder.jsonl").mkdir()
    os.mkfifo(folder / "pipe.jsonl")
    with store.reader() as reader:
        assert count_old_files(folder, reader) == (1, old.stat().st_size)
        assert count_old_files(folder / "missing", reader) == (0, 0)
        assert count_old_files(None, reader) == (0, 0)
    assert [each.path for each in find_old_files(folder, {known})] == [old]


def test_lines_of_another_kind_are_shown_as_they_are(folder):
    call = {"type": "sandbox_tool_call", "tool": "web_search", "args": {"query": "boat"}}
    details = [{"type": "reasoning.text", "text": "hm"}]
    answer = {"role": "assistant", "content": "x", "reasoning_details": details}
    write_lines(folder / "20260102_100000_abc.jsonl", META, SAID[0], call, answer)
    _catalog, messages = read_all(folder)
    _said, other, answered = next(iter(messages.values()))
    assert json.loads(other.text) == call
    assert answered.reasoning == "hm"


def test_a_gateway_transcript_is_a_conversation(folder):
    """Platform, model, times, calls and their results are where those of the store are."""
    write_lines(folder / "20260102_100000_abc.jsonl", META, *SAID)
    with closing(OldTranscripts(folder, ())) as shelf:
        catalog, messages = everything(shelf)
        conversation = catalog.of_session("20260102_100000_abc.jsonl")
        assert (conversation.source, conversation.model) == ("telegram", "m-1")
        told = messages["20260102_100000_abc.jsonl"]
        assert [message.role for message in told] == ["user", "assistant", "tool", "assistant"]
        assert told[1].tool_calls[0].name == "terminal"
        assert (told[2].tool_call_id, told[2].tool_name) == ("c1", "terminal")
        assert told[3].timestamp == conversation.last_active
        with Store(shelf.path).reader() as reader:
            assert with_details(reader, [conversation])[0].preview == "Where is the boat?"


def test_a_snapshot_is_a_conversation(folder):
    """Its facts stand around the messages, which carry no time of their own."""
    document = {
        "session_id": "s1",
        "model": "m-2",
        "platform": "cli",
        "session_start": "2026-01-02T10:00:00",
    }
    parts = [
        {"type": "text", "text": "Look"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
    ]
    said = [{"role": "user", "content": parts}, {"role": "assistant", "content": "A boat."}]
    whole = {**document, "messages": said, "system_prompt": "Be kind."}
    (folder / "session_s1.json").write_text(json.dumps(whole), encoding="utf-8")
    catalog, messages = read_all(folder)
    conversation = catalog.of_session("session_s1.json")
    assert (conversation.source, conversation.model) == ("cli", "m-2")
    asked, answered = messages["session_s1.json"]
    assert [part.kind for part in asked.parts] == ["text", "image"]
    assert answered.text == "A boat." and asked.timestamp == conversation.root.started_at


def test_what_can_be_read_is_shown_and_what_cannot_is_named(folder):
    """Cut, hostile and senseless lines stand as notes in their places; every message around them is
    there."""
    deep = "[" * 100_000
    write_lines(
        folder / "bad.jsonl",
        SAID[0],
        '{"role": "user", "content": "cut \x1b[2J',
        "[1, 2]",
        deep,
        '{"role": 7, "content": {"a": 1}, "timestamp": "never", "tool_calls": "x"}',
        '{"n": ' + "9" * 5000 + "}",
        SAID[3],
    )
    with (folder / "bad.jsonl").open("ab") as file:
        file.write(b'{"role": "user", "content": "\xff\xfe\\ud800"}\n\n')
    with closing(OldTranscripts(folder, ())) as shelf:
        _, messages = everything(shelf)
        told = messages["bad.jsonl"]
        assert [message.role for message in told] == [
            "user", UNREADABLE, UNREADABLE, UNREADABLE, "7", UNREADABLE, "assistant", "user",
        ]  # fmt: skip
        assert "line 2 is no message (Invalid control" in told[1].text
        assert "line 3 is no message (no object)" in told[2].text
        assert "nested too deep" in told[3].text
        assert "\x1b" not in told[1].text
        assert told[6].text == "In the harbour."
        assert "\ufffd" in told[7].text
        assert shelf.notes == 4
        assert "4 places" in shelf.describe()


DOCUMENTS = ["", "   ", "nonsense", '{"messages": [{', '"text"', "{}", '{"messages": 3}', "[1]"]


@pytest.mark.parametrize("text", [*DOCUMENTS, pytest.param("[" * 100_000, id="deep")])
def test_a_document_without_messages_says_so(folder, text):
    """Never an empty conversation without a reason."""
    (folder / "session_x.json").write_text(text, encoding="utf-8")
    assert any(piece["role"] == UNREADABLE for piece in read_pieces(folder / "session_x.json"))


def test_a_line_without_end_is_not_read(folder, monkeypatch):
    """A damaged file may be one line of gigabytes."""
    monkeypatch.setattr("hermes_browse.store.places.old_transcripts.MAX_LINE_BYTES", 200)
    write_lines(folder / "long.jsonl", SAID[0], "x" * 1000, SAID[3])
    first, *notes, last = read_pieces(folder / "long.jsonl")
    assert (first, last) == (SAID[0], SAID[3])
    assert {note["role"] for note in notes} == {UNREADABLE}


def state(folder):
    """Contents and times of all files."""
    return {each.name: (each.read_bytes(), each.stat().st_mtime_ns) for each in folder.iterdir()}


def test_files_are_never_changed_and_the_store_goes(folder):
    """Contents and times stay; the temporary store is its owner's alone, and gone afterwards."""
    write_lines(folder / "a.jsonl", META, *SAID)
    (folder / "session_b.json").write_text('{"messages": [{"role": "user"', encoding="utf-8")
    before = state(folder)
    shelf = OldTranscripts(folder, ())
    everything(shelf)
    place = shelf.path.parent
    assert place.stat().st_mode & 0o077 == 0
    shelf.close()
    shelf.close()
    assert not place.exists()
    assert state(folder) == before


def test_many_files_come_in_portions_newest_first(folder):
    """The first portion is there to be read while the rest is still to come."""
    for number in range(450):
        path = write_lines(folder / f"old_{number:03}.jsonl", SAID[0])
        os.utime(path, (1e9 + number, 1e9 + number))
    with closing(OldTranscripts(folder, ())) as shelf:
        assert shelf.fill()
        with Store(shelf.path).reader() as reader:
            assert reader.rows("SELECT count(*), min(id), max(id) FROM sessions") == [
                (200, "old_250.jsonl", "old_449.jsonl")
            ]
        assert "200 of 450" in shelf.describe()
        while shelf.fill():
            pass
        assert shelf.describe().startswith("450 old transcripts")
        assert not shelf.fill()


def test_only_what_is_named_is_read(folder):
    """One transcript out of twenty thousand is there at once."""
    for name in ("alpha_1", "alpha_2", "beta_1"):
        write_lines(folder / f"{name}.jsonl", SAID[0])
    catalog, _messages = read_all(folder, only=["alpha"])
    assert {chain.root.id for chain in catalog.conversations()} == {
        "alpha_1.jsonl",
        "alpha_2.jsonl",
    }
