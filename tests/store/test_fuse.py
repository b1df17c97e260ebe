"""A statement that would never end is interrupted, and what is said is a sentence."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from builders import make_store

from hermes_browse.store.connection import time_limit as fuse
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import StoreDamagedError

_ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT count(*) FROM n"


def test_a_statement_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is named; so is what follows in the same piece of work; the next piece is asked again."""
    monkeypatch.setattr(fuse, "SECONDS", 0.1)
    with Store(make_store(tmp_path / "state.db", sessions=[{"id": "a"}])).reader() as reader:
        for sql in (_ENDLESS, "SELECT 1"):
            with pytest.raises(StoreDamagedError, match="took longer"):
                reader.rows(sql)
        reader.begin()
        assert reader.rows("SELECT 1") == [(1,)]
        assert reader.began == 0.0


class _Landed:
    """A statement that ends between two looks at it."""

    def __init__(self) -> None:
        self.looks = 0
        self.blown: list[float] = []

    @property
    def began(self) -> float:
        self.looks += 1
        return time.monotonic() if self.looks % 2 else 0.0

    @began.setter
    def began(self, value: float) -> None:
        raise AssertionError("the watchman only looks")

    def blow(self, began: float) -> None:
        self.blown.append(began)


def test_one_that_ends_while_it_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was not late: what has ended a moment ago began at 0, which is long ago by any clock."""
    monkeypatch.setattr(fuse, "_LOOK", 0.01)
    landed = _Landed()
    time.sleep(0.6)  # the watchman of an earlier test looks by the longer turn once more
    fuse.watch(landed)
    try:
        end = time.monotonic() + 3
        while landed.looks < 20 and time.monotonic() < end:
            time.sleep(0.01)
    finally:
        fuse.forget(landed)
    assert landed.looks >= 20 and landed.blown == []


def test_the_next_statement_is_not_the_late_one(tmp_path: Path) -> None:
    """A fuse that is late itself hits nobody."""
    with Store(make_store(tmp_path / "state.db", sessions=[{"id": "a"}])).reader() as reader:
        reader.began = 2.0
        reader.blow(1.0)
        assert reader.rows("SELECT 1") == [(1,)]
        reader.began = 2.0
        reader.blow(2.0)
        with pytest.raises(StoreDamagedError, match="took longer"):
            reader.rows("SELECT 1")
