"""What is refused or goes wrong, at the worst moment too, leaves everything as it was or is told as it
is."""

import os
import shutil
from itertools import count
from unittest.mock import Mock

import pytest
from platforms import root_only
from trashing import (
    NOW,
    allow_any_trigger,
    as_before,
    dump,
    family,
    in_trash,
    meanwhile,
    opened,
    put_back,
    remove,
    run,
)

from hermes_browse.store import progress
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.edit import delete as deleting
from hermes_browse.store.edit import flags, restore_rows, transaction
from hermes_browse.store.edit.delete import delete
from hermes_browse.store.errors import (
    BrowseError,
    QueryInterruptedError,
    RefusedError,
    StoreBusyError,
    WriteFailedError,
    WriteUnverifiedError,
)


@pytest.mark.parametrize(
    "statement, reason",
    [
        ("UPDATE sessions SET pinned = 1 WHERE id = 'root'", "pinned"),
        ("UPDATE sessions SET pinned = 1 WHERE id = 'nested'", "pinned"),
        (
            f"UPDATE messages SET timestamp = {NOW - 9} WHERE session_id = 'tip'",
            "live|written|in use",
        ),
        (
            f"UPDATE messages SET timestamp = {NOW - 9} WHERE session_id = 'helper'",
            "live|written|in use",
        ),
        ("UPDATE session_turn_leases SET expires_at = 9e12", "turn|busy|live|lease"),
        ("UPDATE compression_locks SET expires_at = 9e12", "compress|busy|live|lock"),
    ],
)
def test_what_is_protected_stays(path, tmp_path, statement, reason):
    """Any segment or subagent of it protects the whole; the reason is said, nothing is written."""
    run(path, statement)
    with as_before(path):
        with pytest.raises(RefusedError, match=f"stays: .*({reason})"):
            remove(path, "tip")
        assert not (tmp_path / "trash").exists()


def test_ids_that_are_no_text_are_refused(tmp_path):
    """They could not be named in a statement again."""
    path = family(tmp_path / "state.db", "22")
    run(path, "INSERT INTO sessions (id, source, started_at) VALUES (x'61', 'cli', 1.0)")
    with pytest.raises(RefusedError, match="no proper text"):
        remove(path, "a")


def stop_at(number):
    """Asks for a stop when it is asked so often."""
    calls = count(1)
    return lambda: next(calls) >= number


def test_a_store_that_is_locked(tmp_path, monkeypatch):
    """By a writer: the bundle is taken back; by someone who lets nobody read: there is none."""
    path = family(tmp_path / "state.db", journal="delete")
    before = dump(path)
    monkeypatch.setattr("hermes_browse.store.edit.transaction.PATIENCE", 0.3)
    with opened(path) as holder:
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusyError, match="Nothing was changed"):
            remove(path, "tip")
        assert in_trash(tmp_path) == []
        holder.execute("ROLLBACK")
        holder.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreBusyError):
            delete(Store(path, busy_seconds=0.1), ["tip"], tmp_path / "trash", now=NOW)
        holder.execute("ROLLBACK")
    assert in_trash(tmp_path) == [] and dump(path) == before
    name = remove(path, "tip").bundle.name
    gone = dump(path)
    with opened(path) as holder:
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusyError, match="Nothing was changed"):
            put_back(path, name)
        holder.execute("ROLLBACK")
    assert dump(path) == gone
    put_back(path, name)
    assert dump(path) == before


def test_a_store_that_is_replaced_meanwhile(tmp_path, monkeypatch):
    """Neither the new file nor the old one is touched."""
    path = family(tmp_path / "state.db", journal="delete")
    shutil.copy(path, tmp_path / "copy.db")
    shutil.copy(path, tmp_path / "kept.db")
    before = dump(path)

    def replace():
        os.rename(path, tmp_path / "old.db")
        os.rename(tmp_path / "copy.db", path)

    meanwhile(monkeypatch, replace)
    with pytest.raises(RefusedError, match="replaced by another file"):
        remove(path, "tip")
    assert dump(path) == dump(tmp_path / "old.db") == before


@pytest.mark.slow
def test_a_failure_in_the_transaction_takes_it_back(path, tmp_path, monkeypatch):
    """After any statement; and the bundle with it."""
    before = dump(path)
    for at in range(1, 12):
        try:
            done = remove(path, "tip", stopped=stop_at(at))
        except QueryInterruptedError:
            assert dump(path) == before and in_trash(tmp_path) == []
        else:
            put_back(path, done.bundle.name)
            shutil.rmtree(tmp_path / "trash")
    monkeypatch.setattr(deleting, "delete_rows", Mock(side_effect=RuntimeError("a fault of ours")))
    with pytest.raises(RuntimeError):
        remove(path, "tip")
    assert dump(path) == before and in_trash(tmp_path) == []


def test_a_restore_can_be_stopped(path):
    """At any row: nothing is back, or all of it."""
    with as_before(path):
        name = remove(path, "tip").bundle.name
        gone = dump(path)
        for at in range(1, 7):
            with pytest.raises(QueryInterruptedError):
                put_back(path, name, stopped=stop_at(at))
            assert dump(path) == gone
        put_back(path, name)


def test_a_restore_of_many_that_is_cut_short_is_finished_by_the_next(path, monkeypatch):
    """Each conversation is back as a whole or not at all, and nothing says that nothing was
    changed."""
    with as_before(path):
        name = remove(path, "tip", "branch", "other").bundle.name
        monkeypatch.setattr(progress, "FEW_ROWS", 1)
        real, calls = restore_rows.RestoredRows.insert_chosen, []

        def insert(self, tx):
            calls.append(1)
            if len(calls) == 2:
                raise WriteFailedError("The disk is full.", is_unchanged=True)
            real(self, tx)

        monkeypatch.setattr(restore_rows.RestoredRows, "insert_chosen", insert)
        with pytest.raises(WriteFailedError) as caught:
            put_back(path, name)
        assert str(caught.value) == "The disk is full."
        back = put_back(path, name)
        assert len(back.present) == 6 and back.verified and len(calls) == 4


def test_a_stat_that_fails_after_the_commit(path, monkeypatch):
    """The file was not replaced: nobody knows, and the change is in it."""
    real = transaction.Writer._check_unchanged
    fail = Mock(side_effect=OSError(5, "Input/output error"))

    def check(writer):
        real(writer)  # the last one before the commit that asks the system for the file
        monkeypatch.setattr(os, "stat", fail)

    monkeypatch.setattr(transaction.Writer, "_check_unchanged", check)
    with pytest.raises(
        WriteUnverifiedError, match=r"was written, but could not be read back.*Input/output"
    ) as caught:
        flags.rename(Store(path), "tip", "Pier at dawn")
    monkeypatch.undo()
    assert "replaced" not in caught.value.sentence
    with Store(path).reader() as reader:
        assert reader.value("SELECT title FROM sessions WHERE id = 'tip'") == "Pier at dawn"


@root_only
def test_root_gives_files_back_to_their_owner(path, tmp_path):
    """A Hermes of another user reads what root restores in its home."""
    folder = tmp_path / "sessions"
    folder.mkdir()
    (folder / "tip.jsonl").write_text("{}\n", encoding="utf-8")
    os.chown(folder / "tip.jsonl", 12345, 23456)
    os.chown(folder, 12345, 23456)
    name = remove(path, "tip", sessions_folder=folder).bundle.name
    assert not (folder / "tip.jsonl").exists()
    put_back(path, name, sessions_folder=folder)
    found = (folder / "tip.jsonl").stat()
    assert (found.st_uid, found.st_gid) == (12345, 23456)


def test_a_trigger_that_refuses_is_an_error_that_changes_nothing(path, monkeypatch):
    """What SQLite says is told, and that nothing was changed; the same error within a larger work
    does not say so."""
    run(
        path,
        "CREATE TRIGGER no BEFORE DELETE ON sessions BEGIN SELECT RAISE(ABORT, 'not here'); END",
    )
    allow_any_trigger(monkeypatch)
    with as_before(path):
        with pytest.raises(BrowseError, match=r"not here.* Nothing was changed") as caught:
            remove(path, "tip")
        caught.value.is_unchanged = False
        assert "Nothing was changed" not in str(caught.value)
