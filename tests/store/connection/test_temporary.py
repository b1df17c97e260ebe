"""Temporary folders: private, and gone with their process."""

import random
import signal
import stat
import subprocess
import sys
import time

import pytest
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


def browse(*arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "hermes_browse.tui", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


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
