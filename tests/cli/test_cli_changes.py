"""`changes`, `blame` and `run` on the command line."""

import pytest
from commandline import ask, spawn
from contract import holds
from plays import git, play, repository, store_of, write_files


@pytest.fixture
def disk(tmp_path):
    """A folder as the agent and the user left it."""
    write_files(tmp_path / "disk", play("0.19.0")["after"])
    return tmp_path / "disk"


@pytest.fixture
def store(tmp_path, disk):
    """The options that name a store of what Hermes 0.19 did in that folder."""
    return ["--db", str(store_of(play("0.19.0"), tmp_path / "state.db", str(disk)))]


@pytest.mark.slow
def test_git_applies_what_is_printed_and_what_is_written(store, tmp_path, disk):
    """As it stands, with files whose diff is not known whole as comments."""
    recorded = play("0.19.0")
    printed = spawn(*store, "changes", "second", "--diff")
    assert printed.code == 0
    file = tmp_path / "all.diff"
    assert spawn(*store, "changes", "second", "--diff", "--output", str(file)).code == 0
    assert spawn(*store, "changes", "second", "--diff", "--output", "-") == printed
    folder = repository(tmp_path / "git", recorded["before"])
    git(folder, "apply", "--whitespace=nowarn", str(file))
    for path in ("README.md", "crlf.txt", "to_end.txt", "src/moved.py", "docs/new.md"):
        assert (folder / path).read_bytes().decode() == recorded["between"][path], path
    assert not (folder / "gone.txt").exists()
    assert (folder / "unread.txt").read_text() == recorded["before"]["unread.txt"]


def test_the_total_of_the_sample():
    document = ask("--demo run", "Fix auth bug")
    below = sum(each["cost_usd"] or 0 for each in document["subagents"])
    assert document["tree_cost_usd"] == pytest.approx(document["cost_usd"] + below)


def test_looking_changes_no_file(store, disk):
    def times():
        return {path: path.stat().st_mtime_ns for path in disk.rglob("*")}

    before = times()
    for command in (["changes", "second"], ["blame", str(disk / "hand.txt")], ["run", "second"]):
        holds(ask(*store, *command), command[0].upper())
    assert times() == before
