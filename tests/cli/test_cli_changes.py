"""`changes`, `blame` and `run` on the command line."""

import os

import pytest
from commandline import ask, call, spawn
from contract import BLAME, CHANGES, RUN, holds
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


def test_changes(store, disk):
    document = ask(*store, "changes", "second")
    holds(document, CHANGES)
    assert (document["session"], document["conversation"]) == ("second", "second")
    assert document["failed"] == 3
    assert [each["command"] for each in document["commands"]] == [
        "sed -i s/old/new/ sedded.txt",
        "echo made > made.txt",
    ]
    files = {os.path.relpath(each["path"], disk): each for each in document["files"]}
    assert files["docs/new.md"]["disk"] == "same"
    assert files["src/app.py"]["by_subagents"] == 1
    assert [edit["session_id"] for edit in files["src/app.py"]["edits"]].count("agent") == 1
    printed = call(*store, "changes", "second").out
    assert "22 files · 3 edits failed" in printed
    assert "what stood there before is not known" in printed
    assert "sed -i s/old/new/ sedded.txt" in printed


def test_git_applies_what_is_printed_and_what_is_written(store, tmp_path, disk):
    """As it stands, with files whose diff is not known whole as comments."""
    recorded = play("0.19.0")
    printed = spawn(*store, "changes", "second", "--diff")
    assert printed.code == 0
    file = tmp_path / "all.diff"
    assert spawn(*store, "changes", "second", "--diff", "--output", str(file)).code == 0
    folder = repository(tmp_path / "git", recorded["before"])
    git(folder, "apply", "--whitespace=nowarn", str(file))
    for path in ("README.md", "crlf.txt", "to_end.txt", "src/moved.py", "docs/new.md"):
        assert (folder / path).read_bytes().decode() == recorded["between"][path], path
    assert not (folder / "gone.txt").exists()
    assert (folder / "unread.txt").read_text() == recorded["before"]["unread.txt"]


def test_one_file_of_a_diff(store):
    printed = call(*store, "changes", "second", "--diff", "--file", "many.txt").out
    assert printed.startswith("diff --git a/many.txt b/many.txt\n")
    assert printed.count("diff --git") == 1
    assert call(*store, "changes", "second", "--diff", "--file", "other").code == 4


def test_a_file_is_not_overwritten(store, tmp_path):
    there = tmp_path / "there.diff"
    there.write_text("mine")
    assert call(*store, "changes", "second", "--diff", "--output", str(there)).code == 5
    assert there.read_text() == "mine"


def test_blame(store, disk):
    path = str(disk / "hand.txt")
    document = ask(*store, "blame", path)
    holds(document, BLAME)
    assert document["file"] == path
    assert [each["session_id"] for each in document["lines"]] == [
        None, None, "second", None, None, "other", None,
    ]  # fmt: skip
    for arguments in ([f"{path}:3"], [path, "--line", "3"]):
        (line,) = ask(*store, "blame", *arguments)["lines"]
        assert (line["text"], line["prompt"]) == ("BETA", "And the rest")
    assert "And the rest" in call(*store, "blame", path).out
    assert call(*store, "blame", f"{path}:99").code == 4
    assert call(*store, "blame", str(disk / "nowhere.txt")).code == 4
    assert call(*store, "blame", str(disk)).code == 4


def test_run(store):
    document = ask(*store, "run", "second")
    holds(document, RUN)
    assert document["from"] <= document["to"]
    assert [each["session"] for each in document["subagents"]] == ["agent"]
    assert "no tokens" in call(*store, "run", "second").out


def test_the_total_of_the_sample():
    document = ask("--demo run", "Fix auth bug")
    below = sum(each["cost_usd"] or 0 for each in document["subagents"])
    assert document["tree_cost_usd"] == pytest.approx(document["cost_usd"] + below)


def test_looking_changes_no_file(store, disk):
    def times():
        return {path: path.stat().st_mtime_ns for path in disk.rglob("*")}

    before = times()
    for command in (["changes", "second"], ["blame", str(disk / "hand.txt")], ["run", "second"]):
        assert call(*store, *command).code == 0
    assert times() == before
