"""What deleting and restoring cost, against Hermes' own prune of as many messages.

Both work on fresh copies of one store, on which nobody else works, and take a third of its
sessions. Hermes' `prune_sessions` (0.19) is called in this process, so its start is not counted.
"""

from __future__ import annotations

import importlib
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from figures import Bench, Figure, copied

from hermes_browse.store.api import OpenStore
from hermes_browse.store.cleanup.selection import Selection, parse_line
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.hermes.homes import Location

_DELETE_LIMIT, _RESTORE_LIMIT = 1.5, 2.5
_SHARE = 3
"""One session in so many is old enough to go."""


class _Round(NamedTuple):
    """Milliseconds for a thousand messages."""

    hermes: float
    delete: float
    restore: float


def _value(path: Path, sql: str, *values: object) -> float:
    with closing(sqlite3.connect(path)) as database:
        return float(database.execute(sql, values).fetchone()[0])


def _messages(path: Path) -> int:
    return int(_value(path, "SELECT count(*) FROM messages"))


def _cut(path: Path) -> float:
    """The time of start before which a third of the sessions began."""
    sql = (
        "SELECT started_at FROM sessions ORDER BY started_at "
        f"LIMIT 1 OFFSET (SELECT count(*) / {_SHARE} FROM sessions)"
    )
    return _value(path, sql)


def _ended_before(path: Path, cut: float) -> frozenset[str]:
    """The sessions that Hermes would prune."""
    sql = "SELECT id FROM sessions WHERE started_at < ? AND ended_at IS NOT NULL"
    with closing(sqlite3.connect(path)) as database:
        return frozenset(row[0] for row in database.execute(sql, [cut]))


def _for_a_thousand(path: Path, work: Callable[[], object]) -> float:
    """Do the work; return its milliseconds for a thousand of the messages that come or go."""
    before, begun = _messages(path), time.perf_counter()
    work()
    seconds = time.perf_counter() - begun
    return seconds * 1_000_000 / abs(before - _messages(path))


def _hermes(path: Path, cut: float) -> float:
    database = importlib.import_module("hermes_state").SessionDB(db_path=path)
    try:
        return _for_a_thousand(
            path, lambda: database.prune_sessions(older_than_days=None, started_before=cut)
        )
    finally:
        database.close()


def _ours(path: Path, cut: float) -> tuple[float, float]:
    """What a delete costs, and its undo."""
    now = time.time()
    selection = Selection(parse_line("", now), _ended_before(path, cut))
    with OpenStore(Store(path), Location(path, demo=True)) as store:
        catalog = store.catalog(now)
        plan = store.plan(catalog, selection, now, measure_sizes=False)
        store.close()
        names: list[str] = []

        def delete() -> None:
            deleted = store.delete_planned(plan).deleted
            assert deleted is not None
            names.append(deleted.bundle.name)

        deleted = _for_a_thousand(path, delete)
        restored = _for_a_thousand(path, lambda: [store.restore(name) for name in names])
    return deleted, restored


def _round(bench: Bench, source: Path) -> _Round:
    path = bench.folder / "deleted" / "state.db"
    path.parent.mkdir(exist_ok=True)
    cut = _cut(source)
    hermes = _hermes(copied(source, path), cut)
    return _Round(hermes, *_ours(copied(source, path), cut))


def measure(bench: Bench) -> list[Figure]:
    """The figures of both stores; a store that was not built here is copied first."""
    figures: list[Figure] = []
    for source in (bench.small, bench.large):
        rounds = [_round(bench, source) for _ in range(bench.rounds)]
        hermes = [each.hermes for each in rounds]
        of = f"Hermes' prune, {source.stem}"
        deletes = [each.delete for each in rounds]
        restores = [each.restore for each in rounds]
        figures.append(Figure("15", f"delete / {of}", deletes, hermes, _DELETE_LIMIT))
        figures.append(Figure("15", f"restore / {of}", restores, hermes, _RESTORE_LIMIT))
    return figures
