"""What a benchmark gives: figures with a limit, as ratios of two things timed in turns."""

from __future__ import annotations

import sqlite3
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Bench:
    """What the measures work on."""

    small: Path
    """A store of the ordinary size."""
    large: Path
    """The store the limits are about."""
    large_is_ours: bool
    """The large store was built here, so a copy of it may be made and given to Hermes."""
    rounds: int
    """How often each thing is timed."""
    folder: Path
    """For copies, and as the home of the programs that are started."""
    prune: int = 400
    """How many conversations are deleted beside a writer."""
    prune_store: Path | None = None
    """A store for that, which is copied; None for one of the others."""


@dataclass(frozen=True)
class Figure:
    """One line of the table.

    The value is the ratio of two medians, unless one is given.
    """

    number: str
    name: str
    ours: Sequence[float]
    """One value for each run."""
    other: Sequence[float] = ()
    """What it is compared with, timed in the same turns."""
    limit: float | None = None
    """None for a figure that only informs."""
    given: float | None = None
    unit: str = "ms"
    """Of a value that is no ratio, and of `ours` and `other`."""
    runs_in: str = ""
    """The unit of `ours` where it is another one."""
    at_least: bool = False
    """The limit is a floor."""

    @property
    def value(self) -> float:
        """What is held against the limit."""
        if self.given is not None:
            return self.given
        middle = statistics.median(self.ours)
        return middle / statistics.median(self.other) if self.other else middle

    @property
    def is_ratio(self) -> bool:
        """Whether the value is without a unit."""
        return bool(self.other)

    @property
    def falls_short(self) -> bool:
        """Whether the value is on the wrong side of its limit."""
        if self.limit is None:
            return False
        return self.value < self.limit if self.at_least else self.value > self.limit


def timed(work: Callable[[], object]) -> Callable[[], float]:
    """The same work, returning how many milliseconds it took."""

    def run() -> float:
        begun = time.perf_counter()
        work()
        return (time.perf_counter() - begun) * 1000

    return run


def in_turns(rounds: int, *runs: Callable[[], float]) -> list[list[float]]:
    """Run several things A B C A B C …, so that a slow moment of the machine meets all of them.

    Args:
        rounds: How often; one round more goes before and is not counted.
        runs: Each returns its own time.

    Returns:
        The times of each.
    """
    times: list[list[float]] = [[] for _ in runs]
    for round_number in range(rounds + 1):
        for found, run in zip(times, runs, strict=True):
            value = run()
            if round_number:
                found.append(value)
    return times


def copied(store: Path, to: Path) -> Path:
    """A whole copy of a store, its log included, made through SQLite.

    Args:
        store: Only read.
        to: A path that is free, or a copy to be replaced.

    Returns:
        The copy, in WAL mode.
    """
    to.unlink(missing_ok=True)
    source = sqlite3.connect(f"{store.absolute().as_uri()}?mode=ro", uri=True)
    target = sqlite3.connect(to)
    try:
        source.backup(target)
        target.execute("PRAGMA journal_mode=WAL").fetchone()
    finally:
        target.close()
        source.close()
    return to


def percentile(values: Sequence[float], share: float) -> float:
    """The value that this share of the values does not exceed.

    Args:
        values: At least one.
        share: From 0 to 1.
    """
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}" if value >= 0.01 else f"{value:.1g}"


def _show(value: float, figure: Figure) -> str:
    if not figure.is_ratio:
        return f"{_number(value)} {figure.unit}".rstrip()
    return f"1/{1 / value:,.0f}" if 0 < value <= 0.1 else f"{value:.2f}"


def _spread(values: Sequence[float], unit: str) -> str:
    if not values:
        return "-"
    return (
        " / ".join(_number(each) for each in (min(values), statistics.median(values), max(values)))
        + f" {unit}"
    )


def table(lines: Sequence[Figure]) -> str:
    """All figures as one Markdown table with even columns."""
    rows = [
        [
            "#",
            "measure",
            "value",
            "limit",
            "",
            "ours: min / median / max",
            "compared with: min / median / max",
        ]
    ]
    for line in lines:
        limit = (
            "-"
            if line.limit is None
            else f"{'≥' if line.at_least else '≤'} {_show(line.limit, line)}"
        )
        verdict = "" if line.limit is None else "over the limit" if line.falls_short else "ok"
        if line.at_least and line.falls_short:
            verdict = "below the limit"
        spreads = [_spread(each, line.runs_in or line.unit) for each in (line.ours, line.other)]
        rows.append([line.number, line.name, _show(line.value, line), limit, verdict, *spreads])
    widths = [max(3, *(len(row[column]) for row in rows)) for column in range(len(rows[0]))]
    rows.insert(1, ["-" * width for width in widths])
    return "\n".join("| " + " | ".join(map(str.ljust, row, widths)) + " |" for row in rows)
