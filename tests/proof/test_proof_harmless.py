"""Harmless: the real Hermes writes at full speed beside the browser, and notices nothing.

Every writer is Hermes' own SessionDB in a process of its own, with its own retries. The browser
runs on a real pseudo-terminal and is driven through every feature that reads; it is left in every
way there is.
"""

import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from counts import IS_LONG, SESSIONS, setting
from driver import ENDINGS, FEW, READING, Driven
from platforms import needs_hermes, posix_only
from trashing import run
from watching import BESIDE, Watch, check_and_count, digest, faultless
from writers import writing
from writing import handles

IDEA = "harmless viewer"
pytestmark = [posix_only, needs_hermes]
PACE = 1.0 if IS_LONG else 0.35
"""Of a walk through the features: 8 seconds, or 3."""
STEPS = READING if IS_LONG else FEW
"""Of a walk where another one has gone through everything."""


@pytest.mark.parametrize("journal", ["wal", pytest.param("delete", marks=pytest.mark.long)])
def test_every_reading_feature_beside_writers(store, tell, journal):
    """Writers and the browser, over and over; the log of the store is the same one from beginning
    to end."""
    if journal == "delete":
        run(store, "PRAGMA journal_mode=DELETE")
    minutes = setting("MINUTES", 0, 5)
    # Without a log two of them at full speed keep each other out for seconds, whether we are there
    # or not.
    with writing(store, 2 if journal == "wal" else 1, journal) as writers, Watch(store) as watch:
        end = time.monotonic() + minutes * 60
        while True:
            browser = Driven(store)
            browser.opened()
            tell("steps through reading features", browser.walk(PACE))
            browser.suspend()
            browser.finish("q")
            assert browser.is_restored
            tell("opens")
            if time.monotonic() >= end:
                break
        assert writers.all_alive
        names, inodes = set(watch.names), set(watch.inodes)
        written = faultless(tell, writers.stop())
    if journal == "wal":
        assert len(inodes) == 1 and names <= BESIDE
    else:
        assert inodes == {0} and names <= {"state.db", "state.db-journal"}
    assert check_and_count(store) == written
    tell("integrity checks ok")


def test_beside_a_clean_up(store, tell):
    """While Hermes optimises its index, rebuilds it and rewrites the whole file, the browser goes
    on reading."""
    # One of them: two keep each other out, and Hermes warns of its optimize that failed, whether we
    # are there or not.
    with (
        writing(store, 1, maintenance=("optimize", "vacuum", "rebuild")) as writers,
        Watch(store) as watch,
    ):
        for _ in range(setting("ROUNDS", 1, 10)):
            browser = Driven(store)
            browser.opened()
            tell("steps through reading features", browser.walk(PACE, STEPS))
            browser.finish("q")
            tell("opens")
        inodes = set(watch.inodes)
        written = faultless(tell, writers.stop())
    assert len(inodes) == 1
    assert check_and_count(store) == written
    tell("integrity checks ok")


def test_no_byte_changes_when_no_one_writes(store, tell):
    """A walk through everything leaves the file as it was; an idle browser has it not open at
    all."""
    before, stat = digest(store), store.stat()
    browser = Driven(store)
    browser.opened()
    tell("steps through reading features", browser.walk(PACE))
    end = time.monotonic() + 20
    while (held := handles(store, browser.pid)) and time.monotonic() < end:
        browser.read(0.1)
    assert held == [], "an idle browser holds the store"
    tell("looks at an idle browser, 0 of our handles found")
    for _ in range(5):  # and it stays so
        browser.read(0.2)
        assert handles(store, browser.pid) == []
        tell("looks at an idle browser, 0 of our handles found")
    browser.finish("q")
    tell("opens")
    after = store.stat()
    assert digest(store) == before
    assert (after.st_ino, after.st_mtime_ns, after.st_size) == (
        stat.st_ino,
        stat.st_mtime_ns,
        stat.st_size,
    )
    assert {path.name for path in store.parent.iterdir()} <= BESIDE


_HOLDER = """
import os, sqlite3, sys
path = sys.argv[1]
gateway = sqlite3.connect(path, isolation_level=None)
gateway.execute("PRAGMA wal_autocheckpoint=0")
gateway.execute("INSERT INTO sessions (id, source, started_at) VALUES ('writer-a', 'cli', 1)")
open(path, "rb").close()  # closing any descriptor of a file drops all POSIX locks of the process on it
print(os.stat(path + "-wal").st_ino, flush=True)
sys.stdin.readline()
gateway.execute("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('writer-a', 'user', 'still', 2)")
print(os.stat(path + "-wal").st_ino, gateway.execute("SELECT count(*) FROM sessions").fetchone()[0], flush=True)
sys.stdin.readline()
"""


@pytest.mark.parametrize(
    "ending",
    [
        pytest.param(each, marks=[] if each in ("q", "KILL") else pytest.mark.long)
        for each in ENDINGS
    ],
)
def test_a_gateway_whose_locks_were_dropped(store, tell, ending):
    """Its log, which the next one to write would take away from under it, is there when we have
    gone."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(store)], stdin=pipe, stdout=pipe, text=True
    ) as holder:
        inode = int(holder.stdout.readline())
        browser = Driven(store)
        browser.opened()
        for keys in ("j\t", "l", "/zebra"):
            browser.send(keys)
            browser.read(0.2)
        browser.finish(ending)
        tell("opens")
        assert Path(f"{store}-wal").stat().st_ino == inode
        holder.stdin.write("go\n")
        holder.stdin.flush()
        assert holder.stdout.readline().split() == [str(inode), str(SESSIONS + 1)]
        holder.communicate("end\n")
    assert check_and_count(store) == 1
    tell("gateways without locks, log kept")


def test_a_restore_that_replaces_the_file(store, tmp_path, tell):
    """The browser goes on with the new file, and the old one's log is nobody's any more."""
    other = tmp_path / "other.db"
    shutil.copy(store, other)
    run(
        other,
        "INSERT INTO sessions (id, source, title, started_at) VALUES ('new', 'cli', 'Restored', 2e9)",
        "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('new', 'user', 'x', 2e9)",
    )
    browser = Driven(store)
    browser.opened()
    browser.send("jjj")
    browser.read(0.3)
    assert not Path(f"{other}-wal").exists()
    for end in ("-wal", "-shm"):
        Path(f"{store}{end}").unlink(missing_ok=True)
    other.replace(store)
    before = digest(store)
    browser.wait_for("Restored")
    tell("steps through reading features", browser.walk(PACE, STEPS))
    browser.finish("q")
    assert digest(store) == before
    assert check_and_count(store) == 0
    tell("restores under an open browser")
