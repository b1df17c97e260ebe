"""Who has a store open: real processes, and none of ours."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from platforms import needs_proc, script

from hermes_browse.store.hermes.health import holders

pytestmark = needs_proc

_HOLD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("SELECT count(*) FROM sqlite_master").fetchall()
print("open", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def held(fixture_store, tmp_path):
    """A store and the process that has it open; it is called as Hermes is."""
    store = fixture_store("state-v22")
    program = tmp_path / "hermes"
    program.write_text(_HOLD.replace("sys.argv[1]", "sys.argv[2]"))
    process = subprocess.Popen(
        [sys.executable, str(program), "gateway", str(store)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout.readline() == b"open\n"
    yield store, process.pid
    process.communicate(b"")


def test_another_process_is_named(held, tmp_path):
    """With what Hermes was told to do, and no more of its words; also by way of a link to the
    store."""
    store, pid = held
    link = tmp_path / "link.db"
    link.symlink_to(store)
    for path in (store, link):
        found = holders(path)
        assert found is not None and [(each.pid, each.name, each.is_gone) for each in found] == [
            (pid, "hermes gateway", False)
        ]


def test_a_store_that_was_replaced_under_it(held):
    """It writes where nobody reads."""
    store, pid = held
    other = store.with_suffix(".new")
    other.write_bytes(store.read_bytes())
    other.replace(store)
    found = holders(store)
    assert found is not None and [(each.pid, each.is_gone) for each in found] == [(pid, True)]


def test_ours_is_none(fixture_store):
    """Nobody else has it."""
    store = fixture_store("state-v22")
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchall()
        assert any(
            os.readlink(each) == str(store)
            for each in Path("/proc/self/fd").iterdir()
            if each.is_symlink()
        )
        assert holders(store) == []


def test_where_the_system_does_not_tell(tmp_path, monkeypatch):
    """None, which is not nobody."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert holders(tmp_path / "state.db", tmp_path / "nowhere") is None
    assert holders(tmp_path / "state.db", tmp_path) is None


@pytest.mark.parametrize(
    "body, wanted",
    [
        (
            "printf 'p41\\nchermes\\nf3\\np7\\ncsqlite3\\nf4\\nf5\\n'",
            [(7, "sqlite3"), (41, "hermes")],
        ),
        ("exit 1", []),
        ("echo broken >&2; exit 1", None),
        ("exit 3", None),
    ],
)
def test_where_lsof_tells(
    tmp_path,
    monkeypatch,
    body,
    wanted,
):
    """Processes with their names; nobody is not the same as not knowing."""
    store = tmp_path / "state.db"
    store.write_bytes(b"")
    script(tmp_path / "lsof", body)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = holders(store, tmp_path / "nowhere")
    assert (None if found is None else [(each.pid, each.name) for each in found]) == wanted
