"""A statement that would never end is interrupted, and the error is a sentence."""

import pytest
from builders import make_store

from hermes_browse.store.connection import reader as module
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import QueryInterruptedError, StoreDamagedError

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
