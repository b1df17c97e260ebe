"""Temporary folders: private, and gone with their process however that ends."""

from __future__ import annotations

import os
import random
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from effort import slow_but

from hermes_browse.store.temporary import TemporaryFolder, remove_abandoned, temporary_directory

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="locks and signals of POSIX")


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary folder of the system of our own."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    return folder


def test_it_is_private_and_goes(temporary: Path) -> None:
    with TemporaryFolder("demo") as path:
        assert path.parent == temporary and stat.S_IMODE(path.stat().st_mode) == 0o700
        (path / "below").mkdir()
        remove_abandoned()
        assert (path / "below").is_dir(), "it is in use"
    assert list(temporary.iterdir()) == []


def test_only_what_is_surely_abandoned_is_removed(temporary: Path) -> None:
    """A folder that somebody gave such a name stays, as does one that is just being made."""
    (temporary / "hermes-browse-checkout").mkdir()
    (temporary / "hermes-browse-demo-0123456789ab").mkdir()
    full = temporary / "hermes-browse-demo-ba9876543210"
    full.mkdir()
    (full / "mine.txt").touch()
    old = temporary / "hermes-browse-old-aaaaaaaaaaaa"
    old.mkdir()
    for each in (full, old):
        os.utime(each, (1, 1))
    remove_abandoned()
    assert sorted(each.name for each in temporary.iterdir()) == [
        "hermes-browse-checkout",
        "hermes-browse-demo-0123456789ab",
        "hermes-browse-demo-ba9876543210",
    ]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=str)
def test_a_signal_while_the_folder_is_being_removed(temporary: Path, number: signal.Signals) -> None:
    """The removal is done again: what the signal interrupted does not go on."""
    program = """
import os, shutil, sys
from hermes_browse.store import temporary
with temporary.removed_on_signals():
    remove = shutil.rmtree
    def interrupted(path, **options):
        temporary.shutil.rmtree = remove
        os.kill(os.getpid(), int(sys.argv[1]))
    temporary.shutil.rmtree = interrupted
    with temporary.TemporaryFolder("demo") as path:
        (path / "file").touch()
"""
    command = [sys.executable, "-c", program, str(int(number))]
    ended = subprocess.run(command, check=False, stderr=subprocess.DEVNULL)
    assert ended.returncode == -number and list(temporary.iterdir()) == []


def browse(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "hermes_browse.tui", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def wait_for(holds: Callable[[], object], process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 120
    while not holds() and process.poll() is None:
        assert time.monotonic() < end
        time.sleep(0.001)


SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL)


def test_no_signal_interrupts_what_python_does_to_find_the_folder(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It writes a file there and removes it: one that ended the program in between would leave it."""
    held: list[set[signal.Signals]] = []

    def probe() -> str:
        held.append({signal.Signals(each) for each in signal.pthread_sigmask(signal.SIG_BLOCK, [])})
        return str(temporary)

    monkeypatch.setattr(tempfile, "gettempdir", probe)
    assert temporary_directory() == temporary
    assert {signal.SIGTERM, signal.SIGHUP, signal.SIGINT} <= held[0]
    assert not {signal.SIGTERM, signal.SIGHUP, signal.SIGINT} & signal.pthread_sigmask(signal.SIG_BLOCK, [])


@pytest.mark.parametrize("number", slow_but(SIGNALS[:1], SIGNALS), ids=str)
def test_a_command_that_is_stopped_leaves_nothing(temporary: Path, number: signal.Signals) -> None:
    """At random moments after the folder of the sample store is there; after SIGKILL the next command removes it."""
    chance = random.Random(int(number))
    for _ in range(3):
        process = browse("--demo", "export", "--format", "html", "Fix auth bug", "--output", "-")
        wait_for(lambda: any(temporary.glob("hermes-browse-*")), process)
        time.sleep(chance.uniform(0.0, 0.2))
        process.send_signal(number)
        process.wait()
        if number == signal.SIGKILL:
            assert browse("--demo", "list").wait() == 0
        assert list(temporary.iterdir()) == []
