"""Exit codes, and what goes where: one document or nothing on standard output, sentences on
standard error."""

import os
from pathlib import Path
from unittest.mock import Mock

import pytest
from commandline import Ended, call, copy_store
from effort import slow_but
from platforms import python
from trashing import run

READS = "hermes_browse.store.sessions.list_page.read_catalog"
_KILLED = """
import os, sqlite3, sys
hermes = sqlite3.connect(sys.argv[1], isolation_level=None)
hermes.execute("PRAGMA cache_size = 1")
hermes.execute("BEGIN IMMEDIATE")
hermes.execute("UPDATE messages SET content = content || hex(randomblob(2000))")
os._exit(0)
"""


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A Hermes root."""
    copy_store("state-v22", tmp_path / "root")
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "root"))
    return tmp_path / "root"


def refused(ended, code, *words):
    """It ended so, with one line for a person and nothing for a script."""
    assert ended.code == code, ended.err
    assert ended.out == ""
    assert ended.err.count("\n") == 1 and ended.err.startswith("hermes-browse")
    assert "Traceback" not in ended.err
    for word in words:
        assert word in ended.err


@pytest.mark.parametrize(
    "command",
    [
        "list",
        "search x",
        "show x",
        "lineage x",
        "changes x",
        "blame x",
        "run x",
        "compactions x",
        "context x",
        "resume x",
        "resume --last --print",
    ],
)
def test_no_store(tmp_path, command):
    """3 for a store that is missing or none at all, with and without --json."""
    folder = tmp_path / "root"
    expected = [
        ("no folder", "There is no session store", None),
        ("no file", "There is no session store", None),
        ("nothing in it", "is empty", b""),
        ("another file", "not a session store", b"no database at all" * 400),
        ("only a header", "state.db", b"SQLite format 3\0" + b"\xff" * 4096),
    ]
    for name, word, content in expected:
        if name != "no folder":
            folder.mkdir(exist_ok=True)
        if content is not None:
            (folder / "state.db").write_bytes(content)
        ended = call("--home", str(folder), *command.split())
        refused(ended, 3, word)
        assert call("--home", str(folder), *command.split(), *_json(command)) == ended
    refused(
        call("--db", str(folder), *command.split()),
        3 if "resume" not in command else 5,
        str(folder),
    )


def _json(command):
    return ["--json"] if not command.startswith("resume x") else []


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read everything")
def test_a_store_that_may_not_be_read(root):
    """3: forbidden is not missing."""
    (root / "state.db").chmod(0)
    refused(call("list"), 3, "permissions")


_READING = ["list", "search x --json", "doctor"]
_WRITING = "archive 20260101_090000_aaa001"


@pytest.mark.parametrize("line", slow_but(["list", _WRITING], [*_READING, _WRITING]))
def test_a_write_that_was_broken_off(root, line):
    """3: Hermes was killed within a write. Nothing is read or put right behind its back, and what
    to do is said."""
    path = root / "state.db"
    run(path, "PRAGMA journal_mode = DELETE")
    python(_KILLED, str(path))
    before = {each.name: each.read_bytes() for each in root.iterdir() if each.is_file()}
    assert before["state.db-journal"]
    ended = call(line)
    assert ended.code == 3 and (ended.out == "" or line == "doctor")
    assert "interrupted write. Start a chat in Hermes once" in (ended.err or ended.out)
    assert {each.name: each.read_bytes() for each in root.iterdir() if each.is_file()} == before


@pytest.mark.parametrize("odd", ["a\nb", "\udcff", "x" * 5000])
def test_odd_names_are_not_found(root, odd):
    """4: whatever is typed."""
    refused(call("show --", odd), 4, "No session has the id")


def test_something_unexpected_is_one_line_and_a_log(root, monkeypatch):
    """1: what failed is in the log by place, none of the values it held."""
    monkeypatch.setattr(READS, Mock(side_effect=RuntimeError("a secret of the user")))
    ended = call("list")
    refused(ended, 1, "something unexpected went wrong (RuntimeError)")
    log = Path(ended.err.rsplit("Details: ", 1)[1].strip())
    assert "list_page.py" in log.read_text() and "secret" not in log.read_text() + ended.err
    assert log.stat().st_mode & 0o077 == 0


def test_interrupted(root, monkeypatch):
    """130: and nothing is said."""
    monkeypatch.setattr(READS, Mock(side_effect=KeyboardInterrupt))
    assert call("list") == Ended(130, "", "")


def test_help_and_version():
    """0: with or without other options, for every command."""
    assert call("--version").out.startswith("hermes-browse ")
    assert call("--version list").out.startswith("hermes-browse ")
    whole = call("--help")
    assert whole.code == 0 and whole.err == "" and "exit codes" in whole.out
    for command in ("list", "search", "show", "lineage", "resume", "profiles", "doctor"):
        ended = call(command, "--help")
        assert ended.code == 0 and "--json" in ended.out and command in whole.out
