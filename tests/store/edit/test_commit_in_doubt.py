"""A commit that fails: what is said is what the store holds, and no bundle goes away over it.

Here SQLite's connection itself raises; `tests/proof/test_proof_faults.py` has the system calls fail
below it.
"""

import sqlite3

import pytest
from pruning import chosen, delete_planned, plan_of
from trashing import NOW, dump, family, is_sound, put_back, remove

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.edit import transaction
from hermes_browse.store.errors import (
    WriteInDoubtError,
)
from hermes_browse.store.trash.shelf import list_bundles


@pytest.fixture
def arm(monkeypatch):
    """Has the next COMMIT raise: behind it (`done`), or in its place, with the work taken back."""
    real = sqlite3.connect
    state = {"outcome": None}

    class Failing(sqlite3.Connection):
        def execute(self, sql, *arguments):
            if sql != "COMMIT" or state["outcome"] is None:
                return super().execute(sql, *arguments)
            outcome, state["outcome"] = state["outcome"], None
            super().execute("COMMIT" if outcome == "done" else "ROLLBACK")
            raise state["error"]

    def connect(database, **rest):
        return real(
            database, **rest, **({"factory": Failing} if "mode=rw" in str(database) else {})
        )

    def set_up(outcome, error=None):
        if error is None:
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorcode = sqlite3.SQLITE_IOERR
        state.update(outcome=outcome, error=error)

    monkeypatch.setattr(transaction.sqlite3, "connect", connect)
    return set_up


@pytest.mark.parametrize("journal", ["wal", "delete"])
@pytest.mark.parametrize("outcome", ["done", "undone"])
def test_a_delete_keeps_its_bundle(tmp_path, arm, journal, outcome):
    """Whatever the store holds: the sentence says it, and restoring the bundle is safe either
    way."""
    path = family(tmp_path / "state.db", journal=journal)
    before = dump(path)
    arm(outcome)
    with pytest.raises(WriteInDoubtError) as caught:
        remove(path, "tip")
    (bundle,) = list_bundles(tmp_path / "trash")
    assert bundle.name in caught.value.remedy and "othing was" not in str(caught.value)
    assert ("the store has the change" in caught.value.sentence) is (outcome == "done")
    assert (dump(path) == before) is (outcome == "undone")
    put_back(path, bundle.name)
    assert dump(path) == before and is_sound(path)


def test_a_key_that_interrupts_in_the_commit(path, tmp_path, arm):
    """Ctrl+c may come before it or behind it: that is a doubt too, and the bundle stays."""
    arm("done", KeyboardInterrupt())
    with pytest.raises(WriteInDoubtError, match="the store has the change"):
        remove(path, "tip")
    assert len(list_bundles(tmp_path / "trash")) == 1


def test_a_clean_up_counts_what_is_in_doubt(path, tmp_path, arm):
    """Neither as done nor as it was."""
    plan = plan_of(path, chosen("", "other", "tip"), NOW)
    assert len(plan.selected) == 2
    arm("done")
    outcome = delete_planned(Store(path), plan, tmp_path / "trash")
    assert isinstance(outcome.error, WriteInDoubtError)
    assert outcome.doubtful >= 1 and outcome.doubtful + outcome.left + len(outcome.done) == 2
    assert "uncertain" in outcome.sentence("deleted")
