"""`--old`: transcripts without a session, through the commands that read; counted by `list` and
`doctor`."""

import homes
import pytest
from commandline import ask, call

ID = "20260102_100000_abc.jsonl"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A Hermes root with a store and two old transcripts, one of them damaged."""
    homes.transcripts(tmp_path)
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("form", ["markdown", "jsonl", "html"])
def test_they_are_exported(home, form):
    """In every form."""
    ended = call("--old export", ID, "--format", form, "--output", "-")
    assert ended.code == 0
    assert "North." in ended.out
    assert "\x1b" not in ended.out


def test_where_there_are_none_nothing_is_said(home):
    for path in (home / "sessions").iterdir():
        path.unlink()
    assert ask("list --json")["old_transcripts"] == 0
    assert "old" not in call("list").err
    assert "old-transcripts" not in call("doctor --json").out


def test_without_a_store_every_file_is_old(home):
    """Versions before the store had nothing else."""
    (home / "state.db").unlink()
    assert ask("--old list --json")["total"] == 2
