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
