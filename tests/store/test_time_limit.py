"""A statement that would never end is interrupted, and the error is a sentence."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from builders import make_store

from hermes_browse.store.connection import reader as module
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import QueryInterruptedError, StoreDamagedError

_ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT count(*) FROM n"


def test_a_statement_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It fails, and so does what follows in the same piece of work; the next piece runs again."""
    monkeypatch.setattr(module, "TIME_LIMIT", 0.1)
    with Store(make_store(tmp_path / "state.db", sessions=[{"id": "a"}])).reader() as reader:
        for sql in (_ENDLESS, "SELECT 1"):
            with pytest.raises(StoreDamagedError, match="took longer"):
                reader.rows(sql)
        reader.begin()
        assert reader.rows("SELECT 1") == [(1,)]
        assert reader.began == 0.0


class _Ended:
    """A reader whose statement ends between two looks at it."""

    is_stopped = False

    def __init__(self) -> None:
        self.looks = 0
        self.timed_out: list[float] = []

    @property
    def began(self) -> float:
        self.looks += 1
        return time.monotonic() if self.looks % 2 else 0.0

    @began.setter
    def began(self, value: float) -> None:
        raise AssertionError("the watchdog only looks")

    def time_out(self, began: float) -> None:
        self.timed_out.append(began)


def test_one_that_ends_while_it_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was not late: the time of a statement that has just ended is 0, which is long ago by any
    clock."""
    monkeypatch.setattr(module, "_WATCH_INTERVAL", 0.01)
    ended = _Ended()
    time.sleep(0.6)  # the watchdog of an earlier test sleeps the longer interval once more
    module._watch(ended)
    try:
        end = time.monotonic() + 120
        while ended.looks < 20 and time.monotonic() < end:
            time.sleep(0.01)
    finally:
        module._watched.discard(ended)
    assert ended.looks >= 20 and ended.timed_out == []


def test_the_next_statement_is_not_the_late_one(tmp_path: Path) -> None:
    """A watchdog that is late itself interrupts no other statement."""
    with Store(make_store(tmp_path / "state.db", sessions=[{"id": "a"}])).reader() as reader:
        reader.began = 2.0
        reader.time_out(1.0)
        assert reader.rows("SELECT 1") == [(1,)]
        reader.began = 2.0
        reader.time_out(2.0)
        with pytest.raises(StoreDamagedError, match="took longer"):
            reader.rows("SELECT 1")


def test_one_that_is_interrupted_just_before_it_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite forgets that interrupt; the statement ran until the time limit."""
    monkeypatch.setattr(module, "_WATCH_INTERVAL", 0.01)
    with Store(make_store(tmp_path / "state.db", sessions=[{"id": "a"}])).reader() as reader:

        def checked_then_interrupted() -> None:
            monkeypatch.undo()
            reader.check()
            reader.interrupt()

        monkeypatch.setattr(reader, "check", checked_then_interrupted)
        with pytest.raises(QueryInterruptedError):
            reader.rows(_ENDLESS)
        reader.begin()
        assert reader.rows("SELECT 1") == [(1,)]
