"""Endurance: storms of resizes, floods of keys, a paste of a megabyte, a tiny terminal, stops; long
browsing beside a writer. It goes on answering, and does not grow."""

from __future__ import annotations

import os
import re
import shutil
import signal
import statistics
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from builders import big_store
from counts import IS_LONG, setting
from driver import ESCAPE, LEFT, NO_QUERY, TRACEBACK, Driven
from platforms import needs_hermes, needs_proc, posix_only
from watching import check_and_count
from writers import writing

IDEA = "endurance"
pytestmark = posix_only


@pytest.fixture
def store(tmp_path):
    """A store of some size."""
    folder = tmp_path / "root"
    folder.mkdir()
    return big_store(folder / "state.db", 3000 if IS_LONG else 300, 30000 if IS_LONG else 3000)


def test_storms(store, tell):
    """Hundreds of sizes, a megabyte pasted, thousands of keys, a tiny terminal, stops: it answers,
    leaves in order."""
    browser = Driven(store)
    browser.opened()
    for number in range(300):
        browser.resize(20 + number * 7 % 180, 5 + number * 11 % 55)
        if number % 10 == 0:
            browser.read(0.01)
        tell("resizes")
    browser.resize(20, 5)
    browser.read(0.3)
    browser.send("jj\t\x1b[D")
    browser.read(0.2)
    assert browser.child.isalive(), browser.text
    tell("terminals of 20 × 5")
    browser.resize(120, 36)
    browser.wait_for("search: words")
    for _ in range(20):  # a burst of what a key that is held sends in three seconds
        browser.send("\x1b[B" * 100)
        browser.read(0.02)
        tell("keys", 100)
    browser.send("g/")
    browser.read(0.2)
    pasted = ("ferry harbour " * 75_000)[:1_000_000]
    browser.send("\x1b[200~")
    for start in range(
        0, len(pasted), 4000
    ):  # a terminal takes no more at once than its queue holds
        browser.send(pasted[start : start + 4000])
        browser.read(0.001)
    browser.send("\x1b[201~")
    tell("bytes pasted into the search box", len(pasted))
    browser.send(NO_QUERY)
    browser.wait_for("search: words", 60)
    browser.send("zebraq")
    browser.wait_for("zebraq", 60)
    browser.suspend()
    browser.suspend()
    tell("stops", 2)
    browser.send(f"{NO_QUERY}\r{LEFT}")
    browser.wait_for("search: words", 60)
    browser.leave()
    assert TRACEBACK not in browser.raw


def _help(browser):
    browser.send("?")
    browser.wait_for("type to filter", 60)
    browser.send(ESCAPE)
    browser.wait_until(lambda it: "type to filter" not in it.text)


def _state(browser):
    """`T` for a process that stands still, by /proc/PID/stat."""
    return Path(f"/proc/{browser.pid}/stat").read_text().rpartition(")")[2].split()[0]


@needs_proc
def test_sleep_and_waking(store, tell):
    """Ctrl+z as a shell sends it: the terminal is given back before it stands still, and taken
    again after."""
    browser = Driven(store)
    browser.opened()
    _help(browser)  # the first rows are there before a key or a signal is heard
    held = browser.settings
    assert held != browser.usual
    for _ in range(10 if IS_LONG else 2):
        os.kill(browser.pid, signal.SIGTSTP)
        browser.wait_until(lambda it: _state(it) == "T")
        browser.read(0.1)
        assert browser.is_restored
        assert browser.settings == browser.usual
        browser.resize(100, 30)  # while it sleeps
        os.kill(browser.pid, signal.SIGCONT)
        browser.wait_until(lambda it: not it.is_restored and "search: words" in it.text)
        assert browser.settings == held
        browser.resize(120, 36)
        _help(browser)
        tell("sleeps and wakings")
    browser.leave()


@dataclass(frozen=True)
class Sample:
    """How a browser fares at a moment."""

    minute: float
    memory: float
    """Resident, in MB."""
    files: int
    """Open, of any kind."""
    answer: float
    """Median of milliseconds from a key to what it draws; the cursor moves down and up again."""


def _sample(browser, began):
    times = []
    for number in range(20):
        before, begun = len(browser.raw), time.perf_counter()
        browser.send("jk"[number % 2])
        while len(browser.raw) == before:
            browser.read(0.002)
        times.append((time.perf_counter() - begun) * 1000)
        browser.read(0.05)
    place = Path(f"/proc/{browser.pid}")
    found = re.search(r"VmRSS:\s+(\d+)", (place / "status").read_text())
    files = len(list((place / "fd").iterdir()))
    return Sample(
        (time.monotonic() - began) / 60, int(found[1]) / 1024, files, statistics.median(times)
    )


def _middle(samples, figure):
    return statistics.median(getattr(sample, figure) for sample in samples)


@pytest.mark.long
@needs_proc
@needs_hermes
def test_browsing_without_end(store, tmp_path, tell):
    """Walks beside a writer who talks and has bursts: in the end as many open files, memory that
    has levelled off."""
    given = os.environ.get("HERMES_BROWSE_PROOF_STORE")
    if given:
        shutil.copy(given, store)
        tell.remark(f"on a store of {store.stat().st_size / 1e6:,.0f} MB")
    minutes, samples = setting("MINUTES", 0, 5), []
    log = tmp_path / "samples.txt"
    with writing(store, 1, pace="human") as writers:
        browser = Driven(store)
        browser.opened()
        browser.walk()  # what is loaded once
        began = time.monotonic()
        samples.append(_sample(browser, began))
        while time.monotonic() < began + minutes * 60:
            tell("steps through reading features", browser.walk())
            browser.raw = browser.raw[:20_000] + browser.raw[-20_000:]  # an hour of frames is much
            browser.read(3)
            if (time.monotonic() - began) / 60 >= samples[-1].minute + 1:
                samples.append(_sample(browser, began))
                with log.open("a") as file:
                    print(samples[-1], file=file)
        browser.read(3)
        samples.append(_sample(browser, began))
        browser.finish("q")
        (written,) = writers.stop()
    assert not written.errors
    tell("writer errors", 0)
    tell("appends beside it", len(written.times))
    assert check_and_count(store) == len(written.times)
    third = max(1, len(samples) // 3)
    first, last = samples[:third], samples[-third:]
    assert _middle(last, "files") <= _middle(first, "files") + 2
    assert _middle(last, "memory") < _middle(first, "memory") * 1.15 + 10
    every = samples[:: max(1, len(samples) // 10)]
    tell.most("minutes of browsing", int(samples[-1].minute))
    tell.remark(
        f"memory {' '.join(f'{sample.memory:.0f}' for sample in every)} MB (from first to last)"
    )
    tell.remark(
        f"open files {_middle(first, 'files'):.0f}, in the last third {_middle(last, 'files'):.0f}"
    )
    tell.remark(
        f"a key answered in {_middle(first, 'answer'):.0f} ms, in the last third in {_middle(last, 'answer'):.0f} ms"
    )
