"""Which stores are not written to, and which conversations no bulk write touches: each with its
reason."""

import os
import sqlite3
import sys
from contextlib import closing, contextmanager
from pathlib import Path
from unittest.mock import Mock

import pytest
from builders import T0, make_store
from platforms import posix_only
from trashing import as_before, dump, family, remove, run, write

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.edit import flags, guards
from hermes_browse.store.errors import (
    RefusedError,
    StoreDamagedError,
    StoreRefusedError,
)
from hermes_browse.store.sessions.catalog import read_catalog, why_protected
from hermes_browse.store.sessions.session_rows import read_busy

NOW = T0 + 100 * 86_400.0


@pytest.fixture
def path(tmp_path):
    """A small store."""
    (tmp_path / "home").mkdir()
    return make_store(
        tmp_path / "home" / "state.db", "31", [{"id": "a", "title": "Ferry"}], [{"session_id": "a"}]
    )


def refused(path, words, needs=guards.DELETE_AND_RESTORE):
    """It is not written to, says why, and is as it was."""
    before = path.read_bytes()
    work = Mock(side_effect=AssertionError("the work was begun"))
    with pytest.raises(RefusedError, match=words) as caught:
        write(Store(path), work, lambda *_: None, needs=needs)
    assert caught.value.exit_code == 5
    assert "Nothing was changed." in caught.value.sentence
    assert path.read_bytes() == before


@contextmanager
def with_mode(path, mode):
    """Other permissions for a while."""
    before = path.stat().st_mode
    path.chmod(mode)
    try:
        yield
    finally:
        path.chmod(before)


@posix_only
def test_what_is_read_only_stays_so(path):
    """A file or folder nobody may write to is left alone even by root, who could."""
    with with_mode(path, 0o444):
        refused(path, "the file is read-only")
    with with_mode(path.parent, 0o555):
        refused(path, "folder")
    with Store(path).reader() as reader:
        reader.snapshot = True  # opened as immutable: what it says may be old
        with pytest.raises(RefusedError, match="can only be read"):
            guards.check_writable(Store(path), reader, ())


def test_a_link_is_judged_by_where_it_leads(path, tmp_path):
    """The log stands beside the file itself."""
    link = tmp_path / "link.db"
    try:
        link.symlink_to(path)
    except OSError:
        pytest.skip("no links here")
    assert flags.rename(Store(link), "a", "Quay").rows[-1].after["title"] == "Quay"
    assert not Path(f"{link}-wal").exists()
    with with_mode(path.parent, 0o555):
        refused(link, "folder")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads what Linux tells of mounts")
@pytest.mark.parametrize(
    "system, safe", [("nfs4", False), ("fuse.sshfs", False), ("9p", False), ("ext4", True)]
)
def test_file_systems_of_other_machines(path, tmp_path, monkeypatch, system, safe):
    """Where locks are not seen by all, two would write at once."""
    device = path.stat().st_dev
    mounts = tmp_path / "mounts"
    line = "36 35 {}:{} / /mnt\\040x rw shared:1 - {} server:/x rw\n"
    mounts.write_text(
        line.format(0, 9999, "nfs") + line.format(os.major(device), os.minor(device), system),
        encoding="utf-8",
    )
    monkeypatch.setattr(guards, "_MOUNTS", mounts)
    if safe:
        assert flags.rename(Store(path), "a", "Quay").rows[-1].after["title"] == "Quay"
    else:
        refused(path, f"file system \\({system}\\)")
    monkeypatch.setattr(guards, "_MOUNTS", tmp_path / "none")
    assert flags.rename(Store(path), "a", "Pier").rows[-1].after["title"] == "Pier"


@pytest.mark.parametrize("version", [32, 99])
def test_a_schema_that_becomes_newer_meanwhile(path, version):
    """Only a row changes, so nothing but that row tells; the version is read again in the
    transaction that writes."""
    store = Store(path)
    with store.reader():
        pass  # what is known of the file is kept from here on
    run(path, f"UPDATE schema_version SET version = {version}")
    with as_before(path):
        with pytest.raises(StoreRefusedError, match=f"schema {version}, newer") as caught:
            flags.rename(store, "a", "Quay")
        assert caught.value.exit_code == 5


def test_what_an_operation_needs(tmp_path):
    """A column that this Hermes does not have."""
    path = make_store(tmp_path / "state.db", "11", [{"id": "a"}])
    with (
        as_before(path),
        pytest.raises(StoreRefusedError, match=r"no sessions\.pinned, .* too old"),
    ):
        flags.pin(Store(path), ["a"])


def unknown_tokenizer(path, index):
    """Make a search index want a tokenizer that only Hermes has loaded."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA writable_schema=ON")
        changed = connection.execute(
            "UPDATE sqlite_master SET sql = rtrim(rtrim(sql), ')') || ', tokenize=''hermes_cjk'')' WHERE name = ?",
            [index],
        ).rowcount
        assert changed == 1


def test_triggers_that_cannot_run_here(path):
    """Nothing is deleted: the index would be left behind. What has no such trigger is written
    to."""
    unknown_tokenizer(path, "messages_fts")
    with pytest.raises(StoreRefusedError, match=r"(?i)messages_fts.* needs something .*hermes_cjk"):
        remove(path, "a")
    assert not (path.parent / "trash").exists()
    assert flags.rename(Store(path), "a", "Quay").rows[-1].after["title"] == "Quay"


def test_a_damaged_store(path):
    """What SQLite finds malformed is not made worse."""
    run(path, "PRAGMA wal_checkpoint(TRUNCATE)")
    for beside in ("-wal", "-shm"):
        Path(f"{path}{beside}").unlink(missing_ok=True)
    raw = bytearray(path.read_bytes())
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        (page,) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'sessions'"
        ).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    raw[(page - 1) * size : page * size] = b"\xaa" * size
    path.write_bytes(raw)
    with pytest.raises(StoreDamagedError, match="damaged"):
        flags.rename(Store(path), "a", "Quay")
    assert path.read_bytes() == raw


def reasons(path, now=NOW):
    """What is protected."""
    with Store(path).reader() as reader:
        catalog, busy = read_catalog(reader, now), read_busy(reader, now)
        found = {
            chain.root.id: why_protected(catalog, chain, busy, now)
            for chain in catalog.conversations()
        }
    return {root: why.words for root, why in found.items() if why is not None}


def test_protected_conversations(tmp_path):
    """Live, pinned in any segment, and under a lease or lock of any of them or of the root of their
    family."""
    path = family(tmp_path / "state.db")
    run(path, "UPDATE session_turn_leases SET conversation_id = 'other'")
    assert reasons(path) == {}
    run(path, "UPDATE sessions SET pinned = 1 WHERE id = 'next'")
    assert reasons(path) == {"root": "pinned"}
    run(path, "UPDATE sessions SET pinned = 0")
    run(path, f"UPDATE compression_locks SET expires_at = {NOW + 60}")
    assert reasons(path) == {"root": "a turn or a compression is running in it"}
    run(path, "DELETE FROM compression_locks")
    run(path, f"UPDATE session_turn_leases SET conversation_id = 'root', expires_at = {NOW + 60}")
    found = reasons(path)
    assert found.pop("root") == "a turn or a compression is running in it"
    assert found == dict.fromkeys(
        ("stale", "helper", "nested", "branch"),
        "a turn is running in its family (the lease names root)",
    )
    run(path, "DELETE FROM session_turn_leases")
    run(path, f"UPDATE messages SET timestamp = {NOW - 10} WHERE session_id IN ('tip', 'other')")
    assert reasons(path) == dict.fromkeys(("root", "other"), "in use, last write 10 seconds ago")
    assert reasons(path, NOW + 3600) == {}


def test_a_second_name_of_the_file(path):
    """Hermes may have the store open under the other one: neither sees the log of the other."""
    os.link(path, path.parent / "other.db")
    refused(path, "has a second name")


def test_a_lease_may_name_a_parent_that_is_gone(tmp_path):
    """Hermes stores a turn lease under the id that the topmost link names (0.20), whether or not
    the session is there."""
    path = family(tmp_path / "state.db")
    run(path, "UPDATE sessions SET parent_session_id = 'gone' WHERE id = 'root'")
    run(path, f"UPDATE session_turn_leases SET conversation_id = 'gone', expires_at = {NOW + 60}")
    assert reasons(path)["root"] == "a turn or a compression is running in it"


def test_what_is_live_may_be_marked_by_name(fixture_store):
    """Hermes archives and pins what is in use, too; only a delete would take something from it."""
    path = fixture_store("state-v31")
    leased = "20260119_170000_888102"
    assert leased in reasons(path, T0)
    before = dump(path)
    assert flags.archive(Store(path), [leased]).session_ids == (leased,)
    assert dump(path) != before
