"""A statement that would never end is interrupted, and what is said is a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import make_store

from hermes_browse.store import fuse
from hermes_browse.store.connect import Store
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
