"""`--old`: transcripts without a session, through the commands that read; counted by `list` and
`doctor`."""

import json

import pytest
from commandline import ask, call, copy_store

SAID = [
    {"role": "session_meta", "platform": "telegram", "model": "m"},
    {"role": "user", "content": "Where is the lighthouse?", "timestamp": "2026-01-02T10:00:01"},
    {
        "role": "assistant",
        "content": "North of the harbour. \x1b[31m",
        "timestamp": "2026-01-02T10:00:04",
    },
]
ID = "20260102_100000_abc.jsonl"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A Hermes root with a store and two old transcripts, one of them damaged."""
    root = tmp_path / "hermes"
    copy_store("state-v22", root)
    folder = root / "sessions"
    folder.mkdir()
    (folder / ID).write_text("\n".join(map(json.dumps, SAID)), encoding="utf-8")
    (folder / "session_20250101_080000_def.json").write_text(
        '{"platform": "cli", "messages": [{"role": "user", "content": "half a lighthouse"}, {"role',
        encoding="utf-8",
    )
    monkeypatch.setenv("HERMES_HOME", str(root))
    return root


def test_they_are_listed_searched_and_shown(home):
    """Under the same documents as conversations of the store, newest first; a search says that it
    scans."""
    listed = ask("--old list --json")
    assert [each["id"] for each in listed["conversations"]] == [
        ID,
        "session_20250101_080000_def.json",
    ]
    found = ask("search --old lighthouse --json")
    assert (found["engine"], found["total"]) == ("scan", 2)
    shown = ask("show --old session_2025 --json")
    assert [each["role"] for each in shown["messages"]] == ["user", "unreadable"]
    assert "cut short" in shown["messages"][1]["text"]
    told = call("--old search lighthouse").err
    assert "scan" in told
    assert "1 place in them cannot be read" in told


@pytest.mark.parametrize("form", ["markdown", "jsonl", "html"])
def test_they_are_exported(home, form):
    """In every form."""
    ended = call("--old export", ID, "--format", form, "--output", "-")
    assert ended.code == 0
    assert "North of the harbour" in ended.out
    assert "\x1b" not in ended.out


def test_list_and_doctor_count_them(home):
    """What is hidden is counted; where there are none nothing is said."""
    assert ask("list --json")["old_transcripts"] == 2
    assert "2 old transcripts: --old" in call("list").err
    problems = ask("doctor --json")["problems"]
    told = [each for each in problems if each["code"] == "old-transcripts"]
    assert len(told) == 1
    assert "2 files" in told[0]["text"]
    for path in (home / "sessions").iterdir():
        path.unlink()
    assert ask("list --json")["old_transcripts"] == 0
    assert "old" not in call("list").err
    assert "old-transcripts" not in call("doctor --json").out


def test_without_a_store_every_file_is_old(home):
    """Versions before the store had nothing else."""
    (home / "state.db").unlink()
    assert ask("--old list --json")["total"] == 2


def test_what_would_change_them_is_refused(home, tmp_path):
    """They are never changed, and Hermes cannot resume them."""
    for command in (("delete", ID), ("archive", ID), ("resume", ID), ("prune",), ("doctor",), ()):
        ended = call("--old", *command)
        assert ended.code == 2, command
        assert "--old goes with" in ended.err
    assert call("--demo --old list").code == 2
    loose = tmp_path / "copy.db"
    loose.write_bytes((home / "state.db").read_bytes())
    assert call("--db", str(loose), "--old", "list").code == 5
