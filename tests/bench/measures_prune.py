"""What a writer notices while conversations are deleted: the time of its commits meanwhile, and
before and after.

The command line does the deleting, with its pauses; the writer goes on as long as it does.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from figures import Bench, Figure, copied, percentile
from measures_writer import appended
from ptys import environment
from trashing import run
from writers import writing

from hermes_browse.store.amounts import MINUTE
from hermes_browse.store.cleanup.plan import Plan, make_plan
from hermes_browse.store.cleanup.selection import Selection, parse_line
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.sessions.catalog import read_catalog

_ALONE = 400
"""Messages that are written before a prune, and after it."""
_ROUNDS = 2
_LIMIT = 1.5


class _Pruned(NamedTuple):
    """One prune beside a writer."""

    alone: list[float]
    """Milliseconds of each append before it and after it."""
    beside: list[float]
    """Likewise, from the first bundle in the trash to the end."""
    seconds: float
    conversations: int
    messages: int


def _rule(store: Store, most: int) -> str:
    """An age in the words of the command line that means so many conversations."""
    now = time.time()
    everything = Selection(parse_line("older:0d", now))
    with store.reader() as reader:
        plan: Plan = make_plan(
            reader, read_catalog(reader, now), everything, now, measure_sizes=False
        )
    if not plan.selected:
        raise RuntimeError(f"nothing in {store.path.name} can be deleted")
    last = plan.selected[min(most, len(plan.selected)) - 1].conversation
    idle = now - (last.last_active or last.root.started_at or now)
    return f"{max(idle - 1.0, 0.0) / MINUTE:.4f}min"


def _prune(store: Path, age: str, home: Path) -> tuple[float, float, dict[str, int]]:
    """Run the command.

    Returns:
        When the first conversation had been put into the trash, when it ended, and its sums.
    """
    line = f"-m hermes_browse.tui prune --delete --yes --json --older-than {age} --db"
    with subprocess.Popen(
        [sys.executable, *line.split(), str(store)],
        env=environment(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        begun = 0.0
        while process.poll() is None and not begun:
            time.sleep(0.002)
            if any(home.rglob("trash/*")):
                begun = time.monotonic()
        said, errors = process.communicate()
    if process.returncode:
        raise RuntimeError(f"prune ended with {process.returncode}: {errors.strip()}")
    return begun or time.monotonic(), time.monotonic(), json.loads(said)["plan"]


def _run(bench: Bench, source: Path, journal: str) -> _Pruned:
    """Prune a fresh copy of the store while a writer writes to it."""
    folder = bench.folder / "pruned"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    store = Store(copied(source, folder / "state.db"))
    age = _rule(store, bench.prune)
    run(store.path, f"PRAGMA journal_mode={journal}")
    env = environment(bench.folder)
    alone: list[float] = []

    def write_alone() -> None:
        with writing(store.path, 1, journal, pace="steady", most=_ALONE, env=env) as writers:
            alone.extend(took for _, took in appended(writers))

    write_alone()
    with writing(store.path, 1, journal, pace="steady", env=env) as writers:
        first, end, totals = _prune(store.path, age, folder)
        times = appended(writers)
    write_alone()  # again, for the machine and the index may be others by now
    return _Pruned(
        alone=alone,
        beside=[took for at, took in times if at + took / 1000 >= first and at <= end],
        seconds=end - first,
        conversations=totals["conversations"],
        messages=totals["messages"],
    )


def _lines(name: str, runs: Sequence[_Pruned]) -> list[Figure]:
    alone = [took for run in runs for took in run.alone]
    beside = [took for run in runs for took in run.beside]
    slow = [percentile(run.beside, 0.99) for run in runs]
    slow_alone = [percentile(run.alone, 0.99) for run in runs]
    count, messages = runs[0].conversations, runs[0].messages
    what = f"append beside a prune / alone, {name}"
    return [
        Figure("13", f"{what}: median", beside, alone, _LIMIT),
        Figure("13", f"{what}: 99th percentile", slow, slow_alone),
        Figure("13", f"{what}: slowest", [max(run.beside) for run in runs]),
        Figure(
            "13",
            f"{what}: appends a second",
            [len(r.beside) / r.seconds for r in runs],
            (),
            unit="a second",
        ),
        Figure(
            "13",
            f"prune of {count:,} conversations, {messages:,} messages, {name}",
            [run.seconds for run in runs],
            unit="s",
        ),
    ]


def measure(bench: Bench) -> list[Figure]:
    """All figures of a writer beside a prune.

    Args:
        bench: A copy of the store to be pruned is written to.
    """
    source = bench.prune_store or (bench.large if bench.large_is_ours else bench.small)
    lines: list[Figure] = []
    for journal, name in (("wal", "WAL"), ("delete", "DELETE mode")):
        runs = [_run(bench, source, journal) for _ in range(min(bench.rounds, _ROUNDS))]
        lines += _lines(name, runs)
    return lines
