"""What a writer feels: how long an append of the real Hermes takes, alone and beside the
browser."""

from __future__ import annotations

import importlib.util
import sqlite3
import statistics
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from builders import big_store
from counts import Tell, setting
from driver import TIMED, Driven
from writers import writing

IDEA = "what a writer feels"
pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal"),
    pytest.mark.skipif(
        not importlib.util.find_spec("hermes_state"), reason="hermes-agent is not installed"
    ),
]


@pytest.mark.long
@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_what_a_writer_feels(tmp_path: Path, tell: Tell, journal: str) -> None:
    """An append alone and beside us, in turns, and how long statements of ours take; told, for
    machines differ."""
    store = big_store(tmp_path / "state.db", 1000, 30_000)
    if journal == "delete":
        with closing(sqlite3.connect(store)) as connection:
            connection.execute("PRAGMA journal_mode=DELETE")
    alone: list[float] = []
    beside: list[float] = []
    noted = tmp_path / "times"
    for _ in range(setting("TURNS", 1, 2)):
        with writing(store, 1, journal) as writers:
            time.sleep(15)
            for each in writers.stop():
                alone += each.times
        with writing(store, 1, journal) as writers:
            browser = Driven(store, code=TIMED, HERMES_BROWSE_TIMES=str(noted))
            browser.opened()
            browser.walk()
            (each,) = writers.stop()
            beside += each.times
            assert not each.errors
            browser.finish("q")
    ours = [float(text) for text in noted.read_text().split()]

    def figures(times: list[float]) -> str:
        return f"{statistics.median(times):.2f} / {statistics.quantiles(times, n=100)[98]:.1f} / {max(times):.0f}"

    tell.remark(
        f"an append in {journal.upper()} mode to a store of 30,000 messages, median / 99th percentile / slowest in ms: "
        f"alone {figures(alone)} ({len(alone):,}), beside us {figures(beside)} ({len(beside):,}); "
        f"statements of ours {figures(ours)} ({len(ours):,})"
    )
