"""Temporary folders and files: private, and gone with their process."""

import random
import signal
import stat
import subprocess
import sys
import time

import pytest
from builders import make_store
from effort import slow_but
from platforms import posix_only, until

from hermes_browse.store.files import TemporaryFolder

pytestmark = posix_only


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """A temporary folder of the system of our own."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    return folder


def test_it_is_private_and_goes(temporary):
    with TemporaryFolder("demo") as path:
        assert path.parent == temporary and stat.S_IMODE(path.stat().st_mode) == 0o700
        (path / "below").mkdir()
    assert list(temporary.iterdir()) == []


def test_what_is_put_in_while_it_is_removed_goes_at_the_end(temporary):
    """As a thread does that still reads a store there."""
    program = """
from hermes_browse.store.files import TemporaryFolder
folder = TemporaryFolder("demo")
folder.remove()
folder.path.mkdir()
(folder.path / "state.db-wal").touch()
"""
    subprocess.run([sys.executable, "-c", program], check=True)
    assert list(temporary.iterdir()) == []


def test_a_signal_while_the_folder_is_being_removed(temporary):
    """The removal is done again: what the signal interrupted does not go on."""
    program = """
import os, shutil, signal, tempfile
from hermes_browse.store import files
with files.removed_on_signals():
    remove = shutil.rmtree
    def interrupted(path, **options):
        shutil.rmtree = remove
        os.kill(os.getpid(), signal.SIGTERM)
    shutil.rmtree = interrupted
    with files.TemporaryFolder("demo") as path:
        (path / "file").touch()
"""
    ended = subprocess.run([sys.executable, "-c", program], check=False)
    assert ended.returncode == -signal.SIGTERM and list(temporary.iterdir()) == []


def test_a_signal_while_a_file_is_written(tmp_path):
    """What was there stays, and nothing beside it."""
    (tmp_path / "out").write_text("before")
    program = """
import os, signal, sys
from pathlib import Path
from hermes_browse.store import files
def pieces():
    yield b"half"
    assert len(os.listdir(sys.argv[1])) == 2
    os.kill(os.getpid(), signal.SIGTERM)
    yield b"never"
with files.removed_on_signals():
    files.write_whole(Path(sys.argv[1], "out"), pieces(), replace=True)
"""
    (tmp_path / "temporary").rmdir()
    ended = subprocess.run([sys.executable, "-c", program, tmp_path], check=False)
    assert ended.returncode == -signal.SIGTERM
    assert (tmp_path / "out").read_text() == "before"
    assert [each.name for each in tmp_path.iterdir()] == ["out"]


def browse(*arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "hermes_browse.tui", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


@pytest.mark.slow
@pytest.mark.parametrize("number", slow_but(SIGNALS[:1], SIGNALS), ids=str)
def test_an_export_that_is_stopped_leaves_nothing(tmp_path, number):
    rows = [{"session_id": "s", "content": "word " * 2000}] * 1000
    path = make_store(tmp_path / "state.db", "22", [{"id": "s"}], rows, fts=False)
    folder = tmp_path / "to"
    folder.mkdir()
    process = browse("--db", str(path), "export", "s", "--output", str(folder / "out.md"))
    until(lambda: any(folder.iterdir()))
    process.send_signal(number)
    process.wait()
    assert list(folder.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("number", slow_but(SIGNALS[:1], SIGNALS), ids=str)
def test_a_command_that_is_stopped_leaves_nothing(temporary, number):
    """At random moments after something is in the folder of the sample store."""
    chance = random.Random(int(number))
    for _ in range(3):
        process = browse("--demo", "export", "--format", "html", "Fix auth bug", "--output", "-")
        until(lambda: any(temporary.glob("hermes-browse-*/*")))
        time.sleep(chance.uniform(0.0, 0.2))
        process.send_signal(number)
        process.wait()
        assert list(temporary.iterdir()) == []
