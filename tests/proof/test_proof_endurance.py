"""Endurance: storms of resizes, floods of keys, a paste of a megabyte, a tiny terminal, stops; long browsing beside a
writer. It goes on answering, and does not grow."""

from __future__ import annotations

import importlib.util
import re
import statistics
import sys
import time
from pathlib import Path

import pytest
from builders import big_store
from counts import IS_LONG, Tell, setting
from driver import LEFT, NO_QUERY, Driven
from watching import check_and_count
from writers import writing

IDEA = "endurance"
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store of some size."""
    folder = tmp_path / "root"
    folder.mkdir()
    return big_store(folder / "state.db", 3000 if IS_LONG else 300, 30000 if IS_LONG else 3000)


def test_storms(store: Path, tell: Tell) -> None:
    """Hundreds of sizes, a megabyte pasted, thousands of keys, a tiny terminal, stops: it answers, leaves in order."""
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
    for start in range(0, len(pasted), 4000):  # a terminal takes no more at once than its queue holds
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
    browser.send("\x03")
    assert browser.wait_for_end(60) == 0
    assert browser.is_restored and b"Traceback" not in browser.raw


def _use(browser: Driven) -> tuple[int, int]:
    """Memory in KB and open files of a browser."""
    place = Path(f"/proc/{browser.pid}")
    found = re.search(r"VmRSS:\s+(\d+)", (place / "status").read_text())
    assert found is not None
    return int(found[1]), len(list((place / "fd").iterdir()))


def _answer(browser: Driven) -> float:
    """Milliseconds from a key to what it draws; the cursor moves down and up again."""
    times = []
    for number in range(20):
        before, begun = len(browser.raw), time.perf_counter()
        browser.send("jk"[number % 2])
        while len(browser.raw) == before:
            browser.read(0.002)
        times.append((time.perf_counter() - begun) * 1000)
        browser.read(0.05)
    return statistics.median(times)


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
@pytest.mark.skipif(not importlib.util.find_spec("hermes_state"), reason="hermes-agent is not installed")
def test_browsing_without_end(store: Path, tell: Tell) -> None:
    """Walks beside a writer for minutes: as many open files at the end as after the first walks, hardly more memory."""
    with writing(store, 1) as writers:
        browser = Driven(store)
        browser.opened()
        for _ in range(2):  # what is loaded once
            browser.walk()
        memory, files, answer = *_use(browser), _answer(browser)
        end = time.monotonic() + setting("MINUTES", 0, 5) * 60
        while time.monotonic() < end:
            tell("steps through reading features", browser.walk())
        browser.read(3)
        more_memory, more_files, later = *_use(browser), _answer(browser)
        assert more_files <= files + 2
        assert more_memory < memory * 1.5 + 50_000
        browser.finish("q")
        (written,) = writers.stop()
    assert not written.errors
    tell("writer errors", 0)
    tell("appends beside it", len(written.times))
    assert check_and_count(store) == len(written.times)
    tell.remark(f"memory {memory / 1024:.0f} MB, later {more_memory / 1024:.0f} MB")
    tell.remark(f"open files {files}, later {more_files}")
    tell.remark(f"a key answered in {answer:.0f} ms, later in {later:.0f} ms (median of 20)")
