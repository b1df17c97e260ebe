"""The log of a store that much is deleted from: it is kept short, and nobody beside notices."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from builders import DAY, big_store
from pruning import NOW, opened
from trashing import health
from writing import HOLDER, POSIX, another_process, small_store

from hermes_browse.store.connect import Store
from hermes_browse.store.prune.plan import make_plan, parents_first
from hermes_browse.store.prune.rules import Rules
from hermes_browse.store.write import carry
from hermes_browse.store.write.carry import Step, carry_out, delete_unit
from hermes_browse.store.write.unit import shorten_log

LATER = NOW + 3000 * DAY


def log_of(path: Path) -> Path:
    """The write-ahead log of a store."""
    return Path(f"{path}-wal")


def written(path: Path, times: int = 50) -> None:
    """Make the log longer than the store."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA wal_autocheckpoint=0")
        beside = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)  # else the log goes with the last connection
        beside.execute("SELECT * FROM sessions").fetchall()
        for _ in range(times):
            connection.execute("UPDATE sessions SET title = hex(randomblob(20000)) WHERE id = 'a'")
        connection.execute("UPDATE sessions SET title = 'long' WHERE id = 'a'")
    beside.close()
    assert log_of(path).stat().st_size > 1_000_000


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_a_clean_up_keeps_the_log_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, journal: str) -> None:
    """Without a gateway nobody else does; between two looks it grows by what is written between them."""
    path = big_store(tmp_path / "state.db", 120, 3000)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute(f"PRAGMA journal_mode={journal}").fetchone() == (journal,)
    monkeypatch.setattr(carry, "_MOST_ROWS", 100)
    monkeypatch.setattr(carry, "_LOG_EVERY", 2)
    sizes: list[int] = []
    most: dict[int, int] = {}
    for bound in (10**9, 200_000):
        monkeypatch.setattr(carry, "_LOG_BYTES", bound)
        with opened(path, LATER) as (reader, catalog):
            plan = make_plan(reader, catalog, Rules(older_than=0), LATER)
        half = plan._replace(would=tuple(parents_first(catalog, plan.would))[: len(plan.would) // 2])
        sizes.clear()

        def tell(_: Step) -> None:
            sizes.append(Store(path).sizes()[1])

        unit = delete_unit(Store(path), catalog, tmp_path / "trash", None)
        outcome = carry_out(Store(path), half, unit, pause=lambda _: None, tell=tell)
        assert outcome.error is None and len(outcome.results) > 5 and not outcome.refused
        most[bound] = max(sizes[3:])
        assert set(health(path).values()) == {"ok"}
    if journal == "wal":
        assert most[200_000] < most[10**9] / 2 and min(sizes) == 0
    else:
        assert most == {10**9: 0, 200_000: 0}


@POSIX
@pytest.mark.parametrize("locks", ["dropped", "kept"])
def test_beside_a_gateway(tmp_path: Path, locks: str) -> None:
    """Its log is emptied, not taken away: it goes on, with all that was written."""
    path = small_store(tmp_path / "state.db")
    with another_process(HOLDER, str(path), locks) as gateway:
        inode = log_of(path).stat().st_ino
        for _ in range(3):
            shorten_log(Store(path), 0)
        assert log_of(path).stat().st_ino == inode
        said, _ = gateway.communicate("go on\n")
    assert said.split() == ["a:held", "b:", "later:"]


def test_a_reader_keeps_what_it_sees(tmp_path: Path) -> None:
    """While somebody reads an older state, the log stays, and nobody is waited for."""
    path = small_store(tmp_path / "state.db")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN")
        before = other.execute("SELECT id, title FROM sessions ORDER BY id").fetchall()
        written(path)
        size = log_of(path).stat().st_size
        shorten_log(Store(path, busy_seconds=0.0), 0)
        assert log_of(path).stat().st_size == size
        assert other.execute("SELECT id, title FROM sessions ORDER BY id").fetchall() == before
        other.execute("COMMIT")
        assert ("a", "long") in other.execute("SELECT id, title FROM sessions").fetchall()
        shorten_log(Store(path), 0)
        assert log_of(path).stat().st_size == 0
        assert ("a", "long") in other.execute("SELECT id, title FROM sessions").fetchall()


def test_a_writer_is_not_waited_for(tmp_path: Path) -> None:
    """It has the lock; its transaction goes on, and is what the store holds afterwards."""
    path = small_store(tmp_path / "state.db")
    written(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("UPDATE sessions SET title = 'theirs' WHERE id = 'a'")
        shorten_log(Store(path), 0)
        assert log_of(path).stat().st_size > 0
        other.execute("COMMIT")
    with closing(sqlite3.connect(path)) as again:
        assert again.execute("SELECT title FROM sessions WHERE id = 'a'").fetchone() == ("theirs",)


def test_a_short_log_is_left_alone(tmp_path: Path) -> None:
    """Looking at it costs a stat, no connection."""
    path = small_store(tmp_path / "state.db")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("UPDATE sessions SET title = 'x' WHERE id = 'a'")
        size = log_of(path).stat().st_size
        assert size > 0
        shorten_log(Store(path), size)
        assert log_of(path).stat().st_size == size
