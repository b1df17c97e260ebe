"""What goes wrong leaves everything as it was, and is a sentence."""

import os
import shutil
from itertools import count

import pytest
from trashing import NOW, as_before, dump, family, in_trash, meanwhile, opened, put_back, remove

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.edit import delete as deleting
from hermes_browse.store.edit import restore_rows
from hermes_browse.store.edit.delete import delete
from hermes_browse.store.errors import (
    QueryInterruptedError,
    RefusedError,
    StoreBusyError,
    StoreError,
    WriteFailedError,
    WriteUnverifiedError,
)
from hermes_browse.store.trash import progress
from hermes_browse.store.trash.shelf import list_bundles


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
    os.link(path, tmp_path / "old.db")
    before = dump(path)
    meanwhile(monkeypatch, lambda: os.replace(tmp_path / "copy.db", path))
    with pytest.raises(RefusedError, match="replaced by another file"):
        remove(path, "tip")
    assert dump(path) == dump(tmp_path / "old.db") == before


def test_a_failure_in_the_transaction_takes_it_back(path, tmp_path, monkeypatch):
    """After any statement; and the bundle with it."""
    before = dump(path)
    for at in range(1, 12):
        try:
            done = remove(path, "tip", stop=stop_at(at))
        except QueryInterruptedError:
            assert dump(path) == before and in_trash(tmp_path) == []
        else:
            put_back(path, done.bundle.name)
            shutil.rmtree(tmp_path / "trash")

    def fail(*_, **__):
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr(deleting, "delete_rows", fail)
    with pytest.raises(RuntimeError):
        remove(path, "tip")
    assert dump(path) == before and in_trash(tmp_path) == []


def test_a_commit_whose_outcome_is_not_known_keeps_the_bundle(path, tmp_path, monkeypatch):
    """What may be gone from the store must be somewhere."""
    with as_before(path):

        def check_gone(*_):
            raise StoreError("the disk went away after the commit")

        monkeypatch.setattr(deleting, "_check_gone", check_gone)
        with pytest.raises(WriteUnverifiedError, match="the disk went away"):
            remove(path, "tip")
        (bundle,) = list_bundles(tmp_path / "trash")
        put_back(path, bundle.name)


def test_a_restore_can_be_stopped(path):
    """At any row: nothing is back, or all of it."""
    with as_before(path):
        name = remove(path, "tip").bundle.name
        gone = dump(path)
        for at in range(1, 7):
            with pytest.raises(QueryInterruptedError):
                put_back(path, name, stop=stop_at(at))
            assert dump(path) == gone
        put_back(path, name)


def test_a_restore_of_many_that_is_cut_short_is_finished_by_the_next(path, monkeypatch):
    """Each conversation is back as a whole or not at all, and nothing says that nothing was
    changed."""
    with as_before(path):
        name = remove(path, "tip", "branch", "other").bundle.name
        monkeypatch.setattr(progress, "FEW_ROWS", 1)
        real, calls = restore_rows.RestoredRows.insert, []

        def insert(self, tx):
            calls.append(1)
            if len(calls) == 2:
                raise WriteFailedError("The disk is full.", is_unchanged=True)
            real(self, tx)

        monkeypatch.setattr(restore_rows.RestoredRows, "insert", insert)
        with pytest.raises(WriteFailedError) as caught:
            put_back(path, name)
        assert str(caught.value) == "The disk is full."
        back = put_back(path, name)
        assert len(back.there) == 6 and back.verified and len(calls) == 4
