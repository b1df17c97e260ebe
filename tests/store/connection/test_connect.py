"""Connections: how long a handle lives, what a broken-off write looks like, what an open reader sees,
and statements that would never end."""

import os
import shutil
import sqlite3
import tempfile
import threading
from contextlib import closing
from pathlib import Path

import pytest
from builders import make_store
from platforms import needs_proc, root_only
from writing import another_process, as_nobody, handles

from hermes_browse.store.connection import reader as module
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import (
    QueryInterruptedError,
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreMissingError,
    StoreUnreadableError,
)
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.sessions.models import View


def writer(path, journal="DELETE"):
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute(f"PRAGMA journal_mode = {journal}")
    return connection


@needs_proc
def test_a_handle_lives_as_long_as_the_block(fixture_store):
    """Also when the work in it fails."""
    path = fixture_store("state-v22")
    store = Store(path)
    assert store.fingerprint()[3] == store.sizes()[0] == path.stat().st_size
    assert handles(path) == []
    with store.reader() as reader:
        read_catalog(reader, 0.0)
        assert str(path) in handles(path)
    assert handles(path) == []
    with pytest.raises(StoreError, match="no such column"), store.reader() as reader:
        reader.rows("SELECT no_such_column FROM sessions")
    assert handles(path) == []


def test_a_reader_in_use_is_one_inode(fixture_store):
    """A file put in place meanwhile is another store: the open reader reads the old one, the next
    the new one."""
    path = fixture_store("state-v22")
    store = Store(path)
    before = store.fingerprint()
    with store.reader() as reader:
        assert reader.schema.version == 22
        os.replace(fixture_store("state-v31"), path)
        assert reader.value("SELECT count(*) FROM sessions") == 60
        assert store.fingerprint() != before
    with store.reader() as reader:
        assert (reader.schema.version, reader.value("SELECT count(*) FROM sessions")) == (31, 81)
    path.unlink()
    assert store.fingerprint()[:4] == (0, 0, 0, 0)
    with pytest.raises(StoreMissingError):
        store.open()


def test_a_column_added_meanwhile_is_seen(fixture_store):
    """The layout is read again when the store has changed its own, and only then."""
    path = fixture_store("state-v11")
    store = Store(path)
    with store.reader() as reader:
        first = reader.schema
        assert "archived" not in first.session_columns
    with store.reader() as reader:
        assert reader.schema is first
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("ALTER TABLE sessions ADD COLUMN archived INTEGER NOT NULL DEFAULT 1")
    with store.reader() as reader:
        assert "archived" in reader.schema.session_columns
        assert all(chain.root.archived for chain in read_catalog(reader, 0.0).conversations())


@pytest.mark.parametrize("is_link", [False, True])
@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_every_commit_moves_the_fingerprint(fixture_store, tmp_path, journal, is_link):
    """With and without a log, also by a link; what has not changed has the same one."""
    path = fixture_store("state-v22")
    store = Store(linked(path, tmp_path) if is_link else path)
    with closing(writer(path, journal)) as connection:
        marks = [store.fingerprint()]
        for number in range(5):
            connection.execute(
                "INSERT INTO state_meta (key, value) VALUES (?, ?)",
                [f"k{number}", "v" * 500 * number],
            )
            marks.append(store.fingerprint())
            assert store.fingerprint() == marks[-1]
    assert len(set(marks)) == len(marks)


def test_nothing_can_be_written_through_a_reader(fixture_store):
    """Not even into a temporary table."""
    path = fixture_store("state-v22")
    with Store(path).reader() as reader:
        for statement in (
            "DELETE FROM messages",
            "CREATE TEMP TABLE t (id)",
            "PRAGMA user_version = 7",
        ):
            with pytest.raises(StoreError):
                reader.rows(statement)
        assert reader.value("PRAGMA user_version") == 0
        assert reader.value("SELECT count(*) FROM messages") == 120


def test_locked_by_another_connection(fixture_store):
    """Busy when it lasts longer than one waits; read as if nothing had been when it does not."""
    path = fixture_store("state-v22")
    with closing(writer(path)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreBusyError, match="locked") as caught:
            Store(path, busy_seconds=0.1).open()
        assert "try again" in caught.value.remedy
        timer = threading.Timer(0.2, connection.execute, ["COMMIT"])
        timer.start()
        with Store(path, busy_seconds=30.0).reader() as reader:
            assert reader.value("SELECT count(*) FROM sessions") == 60
        timer.join()


_WRITER = """
import sqlite3, sys, threading, time
def write():
    connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=9)
    while True:
        connection.execute("BEGIN EXCLUSIVE")
        time.sleep(0.06)
        connection.execute("COMMIT")
        time.sleep(0.004)
threading.Thread(target=write, daemon=True).start()
print("ready", flush=True)
sys.stdin.readline()
"""


@pytest.mark.slow
def test_beside_a_writer_at_full_speed(tmp_path):
    """In DELETE mode it lets readers in for milliseconds; where SQLite itself waits, it looks ten
    times a second."""
    path = make_store(tmp_path / "state.db", "31", [{"id": "a"}], [], journal="delete")
    with another_process(_WRITER, str(path)):
        for _ in range(10):
            with Store(path, busy_seconds=2.0).reader() as reader:
                assert reader.value("SELECT count(*) FROM sessions") == 1


def test_what_fails_because_it_was_interrupted_is_no_fault_of_the_store(fixture_store, monkeypatch):
    """SQLite may say that a virtual table could not be set up; a search would go on without its
    index."""
    with Store(fixture_store("state-v22")).reader() as reader:

        class Interrupted:
            def execute(self, *given):
                reader.is_stopped = True  # as `interrupt` does, from another thread
                raise sqlite3.OperationalError("vtable constructor failed: messages_fts")

        with monkeypatch.context() as patch:
            patch.setattr(reader, "_connection", Interrupted())
            with pytest.raises(QueryInterruptedError):
                reader.rows("SELECT 1")


def test_an_interrupt_stops_and_a_new_beginning_goes_on(fixture_store):
    """The statement in flight, and all that would follow in the same piece of work."""
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    with Store(fixture_store("state-v22")).reader() as reader:
        timer = threading.Timer(0.05, reader.interrupt)
        timer.start()
        with pytest.raises(QueryInterruptedError):
            reader.rows(endless)
        timer.join()
        with pytest.raises(QueryInterruptedError):
            reader.value("SELECT 1")
        reader.begin()
        assert reader.value("SELECT 1") == 1
    reader.interrupt()  # after the end: nothing to stop, nothing raised


def linked(path, tmp_path):
    """A link to a store, in another folder."""
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "state.db"
    link.symlink_to(path)
    return link


def half_written(path, copy):
    """A copy of a store and its journal in the middle of a write."""
    with closing(writer(path)) as connection:
        # What does not fit is written before the commit.
        connection.execute("PRAGMA cache_size = 2")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("UPDATE sessions SET title = 'half of it ' || id")
        connection.execute("UPDATE messages SET content = 'half of it'")
        shutil.copy(path, copy)
        shutil.copy(f"{path}-journal", f"{copy}-journal")
        connection.execute("ROLLBACK")


def test_a_write_that_was_broken_off(fixture_store, tmp_path):
    """Half of it stands in the file, its other half in the journal: half a write is never shown."""
    path, crashed = fixture_store("state-v22"), tmp_path / "crashed.db"
    half_written(path, crashed)
    with Store(path, busy_seconds=0.1).reader() as reader:  # broken off while a reader is open
        shutil.copy(f"{crashed}-journal", f"{path}-journal")
        with pytest.raises(StoreUnreadableError, match="interrupted write"):
            reader.rows("SELECT 1 FROM sessions")
    with pytest.raises(StoreUnreadableError, match="interrupted write"):
        Store(linked(crashed, tmp_path), busy_seconds=0.1).open()
    store = Store(crashed, busy_seconds=0.1)
    with pytest.raises(StoreUnreadableError, match="interrupted write") as caught:
        store.open()
    assert "Start a chat in Hermes" in caught.value.remedy and "-journal" in caught.value.remedy
    with closing(writer(crashed)) as connection:  # as Hermes would: its first look puts it right
        half = "SELECT count(*) FROM messages WHERE content = 'half of it'"
        assert connection.execute(half).fetchone() == (0,)
    with store.reader() as reader:
        assert read_catalog(reader, 0.0).counts()[View.ALL] == 56


@pytest.fixture
def elsewhere(fixture_store):
    """A store in a folder that any user may look into."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield Path(shutil.move(fixture_store("state-v22"), folder / "state.db"))
    folder.chmod(0o755)
    shutil.rmtree(folder)


def read_as_nobody(path):
    """What a user without privileges gets: whether it is a snapshot and the number of sessions, or
    the error."""

    def work():
        with Store(path).reader() as reader:
            return reader.snapshot, reader.value("SELECT count(*) FROM sessions")

    return as_nobody(work)


@root_only
def test_a_store_that_may_not_be_read_is_not_called_broken_off(elsewhere):
    """Beside a writer in DELETE mode there is a journal too: what is wrong are the permissions."""
    with closing(writer(elsewhere)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("UPDATE sessions SET title = 'in the middle ' || id")
        assert Path(f"{elsewhere}-journal").stat().st_size
        elsewhere.chmod(0o600)

        def said():
            try:
                Store(elsewhere).open()
            except StoreUnreadableError as error:
                return error.sentence

        assert "cannot be opened" in as_nobody(said)


@root_only
def test_beside_a_live_writer_in_a_folder_one_may_not_write_to(elsewhere):
    """The writer's own log is read, newest rows and all: no snapshot, which would miss them."""
    with closing(writer(elsewhere, "WAL")) as connection:
        connection.execute(
            "INSERT INTO sessions (id, source, started_at) VALUES ('newest', 'cli', 1.0)"
        )
        for each in elsewhere.parent.iterdir():
            each.chmod(0o644)
        elsewhere.parent.chmod(0o555)
        assert read_as_nobody(elsewhere) == "(False, 61)"
    for blocked, mode in ((elsewhere, 0o600), (elsewhere.parent, 0o700)):
        blocked.chmod(mode)
        assert read_as_nobody(elsewhere) == "StoreUnreadableError"


@root_only
def test_folders_one_may_not_write_to(elsewhere):
    """A snapshot where no log holds newer rows; a sentence where one does and cannot be read."""
    elsewhere.chmod(0o644)
    elsewhere.parent.chmod(0o555)
    assert read_as_nobody(elsewhere) == "(True, 60)"
    log = elsewhere.parent / "state.db-wal"
    log.write_bytes(b"x" * 64)
    log.chmod(0o644)
    assert read_as_nobody(elsewhere) == "StoreUnreadableError"


_ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT count(*) FROM n"


def test_a_statement_without_end(tmp_path, monkeypatch):
    """It fails, and so does what follows in the same piece of work; the next piece runs again."""
    monkeypatch.setattr(module, "TIME_LIMIT", 0.1)
    with Store(make_store(tmp_path / "state.db", sessions=[{"id": "a"}])).reader() as reader:
        for sql in (_ENDLESS, "SELECT 1"):
            with pytest.raises(StoreDamagedError, match="took longer"):
                reader.rows(sql)
        reader.begin()
        assert reader.rows("SELECT 1") == [(1,)]
        monkeypatch.setattr(module, "TIME_LIMIT", 0.0)
        reader.interrupt_late()
        assert reader.rows("SELECT 1") == [(1,)], "nothing ran that could have been late"


def test_one_that_is_interrupted_just_before_it_begins(tmp_path, monkeypatch):
    """SQLite forgets that interrupt; the statement ran until the time limit."""
    with Store(make_store(tmp_path / "state.db", sessions=[{"id": "a"}])).reader() as reader:

        def checked_then_interrupted():
            monkeypatch.undo()
            reader.check()
            reader.interrupt()

        monkeypatch.setattr(reader, "check", checked_then_interrupted)
        with pytest.raises(QueryInterruptedError):
            reader.rows(_ENDLESS)
        reader.begin()
        assert reader.rows("SELECT 1") == [(1,)]
