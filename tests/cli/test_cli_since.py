"""`since`: its document and its table, of one store and of several."""

import time

from commandline import ask, call
from store_builder import StoreBuilder
from trashing import add_message


def home(folder, now):
    """A home with a question, and a conversation from long ago."""
    folder.mkdir(parents=True, exist_ok=True)
    builder = StoreBuilder(folder / "state.db")
    builder.session("asking", title="Deploy", started_at=now - 60)
    builder.message("asking", "user", "go", timestamp=now - 60)
    calls = [{"id": "c", "function": {"name": "clarify", "arguments": '{"question": "Which?"}'}}]
    builder.message("asking", "assistant", tool_calls=calls, timestamp=now - 50)
    builder.session("old", title="Old", started_at=1e9, ended_at=1e9, end_reason="cli_close")
    builder.message("old", "user", "hello", timestamp=1e9)
    builder.write()
    return folder


def test_the_document(tmp_path):
    """Lanes as the contract names them; marks begin with the first call, `--after` needs none."""
    root = home(tmp_path / "root", time.time())
    first = ask("since --home", str(root))
    assert first["new"] == [] and [item["session"] for item in first["waiting"]] == ["asking"]
    item = first["waiting"][0]
    assert item | {"at": 0} == {
        "title": "Deploy",
        "message_id": 2,
        "at": 0,
        "why": "asks: “Which?”",
        "certain": True,
        "source": "cli",
        "session": "asking",
        "conversation": "asking",
        "job": "",
    }
    add_message(root / "state.db", "old", "again", time.time())
    assert [item["why"] for item in ask("since --home", str(root))["new"]] == ["1 new message"]
    since = ask("since --after 1h --home", str(root))
    assert {(item["session"], item["why"]) for item in since["new"]} == {
        ("asking", "2 new messages"),
        ("old", "1 new message"),
    }
    assert ask("since --after 2001-01-01 --home", str(root))["new"][0]["why"] == "2 new messages"
    assert since.keys() >= {"since", "waiting", "wrong", "new", "running"}


def test_in_words(tmp_path):
    """A table, and since when; a time that is none is a usage error."""
    root = home(tmp_path / "root", time.time())
    ended = call("since --home", str(root))
    assert "waits for you" in ended.out and "asks: “Which?”" in ended.out and "since 2" in ended.err
    assert call("since --after soon --home", str(root)).code == 2


def test_all_profiles(tmp_path):
    """Each item says in which profile it is."""
    root = home(tmp_path / "root", time.time())
    home(root / "profiles" / "work", time.time())
    found = ask("since --all-profiles --home", str(root))
    assert sorted(item["profile"] for item in found["waiting"]) == ["default", "work"]
    assert {item["session"] for item in found["waiting"]} == {"asking"}
    assert {item["conversation"] for item in found["waiting"]} == {"asking"}


def test_a_damaged_file_of_notes(tmp_path, monkeypatch):
    """The list is there, the health check says what is wrong, and what needs the marks says so."""
    root = home(tmp_path / "root", time.time())
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    notes = tmp_path / "data" / "hermes-browse" / "notes.db"
    notes.parent.mkdir(parents=True)
    notes.write_bytes(b"no database" * 100)
    assert len(ask("list --home", str(root))["conversations"]) == 2
    problems = ask("doctor --home", str(root))["problems"]
    assert "notes" in {problem["code"] for problem in problems}
    assert call("since --home", str(root)).code == 5
