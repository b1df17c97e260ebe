"""Jobs behind the screen: leased connections that are interrupted alone and closed when idle, and
one queue of writes."""

import asyncio
import gc
import threading
import time
from concurrent.futures import wait

import pytest
from browsing import NOW
from pruning import family
from trashing import run

from hermes_browse.store.api import OpenStore
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import BrowseError, QueryInterruptedError, StoreError
from hermes_browse.tui.work import jobs as working
from hermes_browse.tui.work.jobs import THREADS, Reads, Writes

_ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"


def count(store):
    """Read something."""
    return store.reader.value("SELECT count(*) FROM sessions")


def read_endlessly(store):
    """Read until interrupted."""
    return store.reader.value(_ENDLESS)


@pytest.fixture
async def reads(tmp_path):
    store = Store(family(tmp_path / "state.db"))
    made = Reads(lambda: OpenStore(store))
    yield made
    made.stop()


async def until(holds):
    """Wait until a condition holds."""
    assert callable(holds)
    for _ in range(2_000):
        if holds():
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it never came")


async def test_a_connection_is_used_again_and_closed_when_idle(reads, monkeypatch):
    monkeypatch.setattr(working, "IDLE_SECONDS", 0.2)
    first = await reads.submit(lambda store: (count(store), id(store)))
    assert await reads.submit(lambda store: (count(store), id(store))) == first
    assert reads.holds_store and not reads.is_busy
    await until(lambda: not reads.holds_store)


async def test_what_is_cancelled_ends_at_once_and_interrupts_nothing_else(reads):
    """The connection of the job that was cancelled is not used before its thread has ended."""
    may_end = threading.Event()

    def wait(store):
        assert may_end.wait(20.0)
        return count(store)

    other = reads.submit(wait)
    endless = reads.submit(read_endlessly)
    await asyncio.sleep(0.1)
    begun = time.monotonic()
    endless.cancel()
    with pytest.raises(asyncio.CancelledError):
        await endless
    assert time.monotonic() - begun < 0.5
    may_end.set()
    assert await other == await reads.submit(count)
    await until(lambda: not reads.is_busy)


async def test_a_failure_that_nobody_waits_for_any_more_is_not_reported(reads, caplog):
    """The coroutine that would have waited was cancelled before it began."""

    def fail(store):
        raise OSError("gone")

    reads.submit(fail)
    await until(lambda: not reads.is_busy)
    await asyncio.sleep(0.01)
    gc.collect()
    assert not caplog.records


async def test_cancelled_jobs_do_not_pile_up(reads):
    """Those that had to wait for a thread never run."""
    ran = []
    may_end = threading.Event()

    def wait(number):
        ran.append(number)
        may_end.wait(20.0)

    tasks = [
        reads.submit(lambda store, number=number: wait(number)) for number in range(THREADS + 20)
    ]
    await until(lambda: len(ran) == THREADS)
    for task in tasks:
        task.cancel()
    await asyncio.sleep(0)  # the loop passes it on
    may_end.set()
    await until(lambda: not reads.is_busy)
    assert len(ran) == THREADS


async def test_stopping_interrupts_before_it_waits(reads):
    endless = [reads.submit(read_endlessly) for _ in range(3)]
    await asyncio.sleep(0.1)
    begun = time.monotonic()
    reads.stop()
    assert time.monotonic() - begun < 2.0 and not reads.holds_store
    for outcome in await asyncio.gather(*endless, return_exceptions=True):
        assert isinstance(outcome, QueryInterruptedError)
    with pytest.raises(asyncio.CancelledError):
        await reads.submit(count)


async def test_while_released_the_store_is_closed_and_reads_wait(reads):
    """Also those that came before and have no thread yet; then they go on, and those that were
    interrupted begin anew."""
    before = await reads.submit(count)
    assert reads.holds_store
    jobs = [read_endlessly] * THREADS

    def read(store):
        return (jobs.pop() if jobs else count)(store)

    interrupted = [reads.submit(read) for _ in range(THREADS)]
    await until(lambda: len(reads._running) == THREADS)
    queued = [reads.submit(count) for _ in range(3)]
    await asyncio.sleep(0)
    with reads.released():
        await asyncio.sleep(0.05)
        assert not reads.holds_store and not any(each.done() for each in interrupted + queued)
    assert await asyncio.gather(*interrupted, *queued) == [before] * (THREADS + 3)


async def test_what_waits_while_released_ends_with_the_browser(reads):
    with reads.released():
        waiting = reads.submit(count)
        await asyncio.sleep(0.02)
        reads.stop()
        with pytest.raises(QueryInterruptedError):
            await waiting


async def test_a_replaced_file_is_opened_again(reads, tmp_path):
    assert await reads.submit(count)
    other = family(tmp_path / "other.db")
    run(other, "DELETE FROM sessions")
    other.replace(tmp_path / "state.db")
    assert await reads.submit(count) == 0


async def test_a_failure_closes_the_connection_and_comes_back(reads):
    def fail(store):
        count(store)
        raise StoreError("no")

    with pytest.raises(StoreError):
        await reads.submit(fail)
    assert not reads.holds_store
    assert await reads.submit(count)


async def test_writes_come_one_after_another_and_outlive_who_asked():
    writes, done = Writes(), list[int]()
    may_end = threading.Event()

    def write(number):
        assert may_end.wait(20.0)
        done.append(number)
        return number

    tasks = [asyncio.create_task(writes.run(lambda n=n: write(n))) for n in range(4)]
    await asyncio.sleep(0.05)
    tasks[0].cancel()
    tasks[2].cancel()
    assert writes.is_busy
    may_end.set()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert results[1] == 1 and results[3] == 3
    assert done == [0, 1, 2, 3] and not writes.is_busy
    writes.stop()


async def test_a_write_is_busy_until_its_result_is_known():
    """Else an undo that comes between would find nothing to undo."""
    writes, ended = Writes(), threading.Event()
    result = asyncio.create_task(writes.run(ended.set))
    await asyncio.sleep(0)
    assert ended.wait(5)
    time.sleep(0.05)  # its thread is done with it
    assert writes.is_busy
    await result
    assert not writes.is_busy


async def test_progress_comes_before_the_result():
    writes, told = Writes(), list[str]()

    def write():
        for number in range(50):
            writes.tell(told.append, str(number))

    await writes.run(write)
    assert len(told) == 50
    writes.stop()


async def test_stopping_drops_the_writes_that_wait_and_waits_for_the_running_one(monkeypatch):
    """For that one alone: a job that was cancelled before it began is never done."""
    writes, done, awaited = Writes(), list[str](), []
    monkeypatch.setattr(working, "wait", lambda given, _most: awaited.extend(given) or wait(given))
    begun = threading.Event()

    def long():
        begun.set()
        writes.stopping.wait(20.0)
        done.append("long")

    first = asyncio.create_task(writes.run(long))
    second = asyncio.create_task(writes.run(lambda: done.append("second")))
    await asyncio.to_thread(begun.wait)
    writes.stop()
    assert done == ["long"] and len(awaited) == 1
    await asyncio.gather(first, second, return_exceptions=True)
    with pytest.raises(asyncio.CancelledError):
        await writes.run(lambda: None)


async def test_hermes_does_not_run_beside_a_change(browser):
    """Whichever key runs it: it might delete what is being written, or find the store locked."""
    app, may_end = browser.app, threading.Event()
    change = asyncio.create_task(app.writes.run(may_end.wait))
    await until(lambda: app.writes.is_busy)
    with pytest.raises(BrowseError, match="still being written"):
        app.run_hermes(["/nowhere/hermes"], {})
    may_end.set()
    await change


async def test_while_hermes_runs_no_screen_holds_a_store(browser):
    """Also what a screen over the main one reads by itself, as that of what is new."""
    await browser.press("A")
    of_screen, of_main = browser.app.screen._reads_everywhere, browser.screen.reads
    await of_screen.submit(lambda store: store.catalog(NOW))
    await of_main.submit(count)
    assert of_screen.holds_store and of_main.holds_store
    with browser.app.released():
        assert not of_screen.holds_store and not of_main.holds_store
