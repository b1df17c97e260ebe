"""Beside other processes: busy, half done, and a gateway whose log must stay where it is."""

import sqlite3
import threading
from pathlib import Path

import pytest
from platforms import posix_only, python
from trashing import as_before, write
from writing import NEEDS, another_process, check, retitle, small_store

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.edit import transaction
from hermes_browse.store.edit.transaction import writing
from hermes_browse.store.errors import StoreBusyError

_HOLDER = """
import sqlite3, sys
path = sys.argv[1]
gateway = sqlite3.connect(path, isolation_level=None)
gateway.execute("UPDATE sessions SET title = 'held' WHERE id = 'a'")
if sys.argv[2] == "dropped":
    open(path, "rb").close()  # POSIX: closing any descriptor of a file drops all locks of the process on it
print("ready", flush=True)
sys.stdin.readline()
try:
    gateway.execute("INSERT INTO sessions (id, source, started_at) VALUES ('later', 'cli', 1)")
    print(gateway.execute("SELECT group_concat(id || ':' || COALESCE(title, ''), ' ') FROM sessions").fetchone()[0])
except sqlite3.Error as error:
    print("failed:", error)
"""

_LOCKER = """
import sqlite3, sys
other = sqlite3.connect(sys.argv[1], isolation_level=None)
other.execute(sys.argv[2])
held = other.execute("SELECT id FROM sessions")
held.fetchone()
print("ready", flush=True)
sys.stdin.readline()
"""


@pytest.fixture(params=["wal", "delete"])
def path(request, tmp_path):
    """A small store in either journal mode."""
    return small_store(tmp_path / "state.db", str(request.param))


def test_a_reader_in_delete_mode_holds_up_the_commit(tmp_path, monkeypatch):
    """Everything is taken back then: without the log nobody may read while the file is written."""
    monkeypatch.setattr(transaction, "PATIENCE", 0.3)
    path = small_store(tmp_path / "state.db", "delete")
    with (
        as_before(path),
        another_process(_LOCKER, str(path), "BEGIN"),
        pytest.raises(StoreBusyError, match="Nothing was changed"),
    ):
        write(Store(path), retitle, check)
    assert not Path(f"{path}-journal").exists()


def test_it_waits_its_turn(path, monkeypatch):
    """Another writer that lets go in time is waited for."""
    monkeypatch.setattr(transaction, "PATIENCE", 30.0)
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    timer = threading.Timer(0.3, lambda: other.execute("COMMIT"))
    timer.start()
    assert write(Store(path), retitle, check) == "Quay"
    timer.join()
    other.close()


def test_before_and_between_transactions(tmp_path):
    """What is read there waits as well, and a later transaction says so too when it waits."""
    path = small_store(tmp_path / "state.db", "delete")
    store, waits = Store(path), []
    store.on_wait = lambda: waits.append("waits")
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)

    def held():
        other.execute("BEGIN EXCLUSIVE")
        timer = threading.Timer(0.6, lambda: other.execute("COMMIT"))
        timer.start()
        return timer

    with writing(store, NEEDS) as unit:
        timer = held()
        assert unit.rows("SELECT count(*) FROM sessions") == [(2,)]
        timer.join()
        assert unit.run(retitle, check) == "Quay" and not waits
        timer = held()
        unit.run(lambda _unit: None, lambda *_: None)
        timer.join()
        assert waits == ["waits"]
    other.close()


@posix_only
@pytest.mark.parametrize("locks", ["dropped", "kept"])
@pytest.mark.parametrize("how", ["ours", "reading"])
def test_the_log_stays_under_a_gateway(tmp_path, locks, how):
    """A gateway whose locks were dropped goes on beside our writes: its log is still there, and the
    same file."""
    path = small_store(tmp_path / "state.db")
    log = Path(f"{path}-wal")
    with another_process(_HOLDER, str(path), locks) as gateway:
        inode = log.stat().st_ino
        for _ in range(3):
            if how == "ours":
                write(Store(path), retitle, check, needs=NEEDS)
            else:
                with Store(path).reader() as reader:
                    assert reader.value("SELECT count(*) FROM sessions") == 2
        assert log.exists() and log.stat().st_ino == inode
        said, _ = gateway.communicate("go on\n")
    assert said.split() == ["a:Quay" if how == "ours" else "a:held", "b:", "later:"]


@posix_only
def test_alone_it_would_go(tmp_path):
    """The measurement itself: a write connection without ours beside it takes the log from under
    the same gateway."""
    path = small_store(tmp_path / "state.db")
    with another_process(_HOLDER, str(path), "dropped"):
        script = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT * FROM sessions'); c.close()"
        python(script, str(path))
        assert not Path(f"{path}-wal").exists()


def test_the_log_is_not_checkpointed(tmp_path):
    """However much is written: checkpoints are Hermes' business, and its readers may need the
    pages."""
    path = small_store(tmp_path / "state.db")
    size = path.stat().st_size

    def work(unit):
        for _ in range(20):
            unit.execute("UPDATE sessions SET title = hex(randomblob(200000)) WHERE id = 'a'")
            unit.execute("UPDATE sessions SET title = 'short' WHERE id = 'a'")

    for _ in range(3):
        write(Store(path), work, lambda *_: None)
    assert path.stat().st_size == size
    assert Path(f"{path}-wal").stat().st_size > 1_000_000
