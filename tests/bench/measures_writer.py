"""What a writer notices of the browser: the time of its commits, and the log that is left."""

from __future__ import annotations

import asyncio
import shutil
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from figures import Bench, Figure, copied, percentile
from ptys import environment
from trashing import run
from writers import Writers, writing

from hermes_browse.store.api import OpenStore
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.search.query import Query, parse
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.session_rows import StoreState
from hermes_browse.tui.work.jobs import IDLE_SECONDS, Reads

_MESSAGES = 400
_TYPED = "the harbour ferry and the lantern"
_KEY_SECONDS = 0.08
_POLL_SECONDS = 0.5


class _Browsing:
    """The browser's own reads of a store: the list follows it, and someone types."""

    def __init__(self, path: Path) -> None:
        self._store = store = Store(path)
        self._reads = Reads(lambda: OpenStore(store))
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._search: asyncio.Task[None] | None = None
        self._typed = 0
        self._known: tuple[Catalog, StoreState] | None = None
        self.errors: list[str] = []
        """Sentences for what went wrong."""

    async def _watch(self) -> None:
        before = self._store.fingerprint()
        while True:
            await asyncio.sleep(_POLL_SECONDS)
            now = await self._reads.call(self._store.fingerprint)
            if now != before:
                before = now
                await self._read(self._follow)

    def _follow(self, store: OpenStore) -> None:
        """The list as the screen keeps it: all of it once, then what has changed."""
        now = time.time()
        step = store.increment(*self._known, now) if self._known is not None else None
        if step is None:
            state = store.state()
            step = store.catalog(now), state
        self._known = step

    async def _read(self, job: Callable[[OpenStore], object]) -> None:
        try:
            await self._reads.submit(job)
        except BrowseError as error:
            self.errors.append(error.sentence)

    def __enter__(self) -> _Browsing:
        self._thread.start()
        self._watching = asyncio.run_coroutine_threadsafe(self._watch(), self._loop)
        return self

    def __exit__(self, *_: object) -> None:
        self._watching.cancel()
        self._reads.stop()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.run_until_complete(asyncio.sleep(0))  # what was cancelled ends
        self._loop.close()

    def key(self) -> None:
        """One more letter of a query."""
        self._typed = self._typed % len(_TYPED) + 1
        query = parse(_TYPED[: self._typed])
        if not query.is_empty:
            self._loop.call_soon_threadsafe(self._begin, query)

    def _begin(self, query: Query) -> None:
        if self._search is not None:
            self._search.cancel()
        job = self._read(lambda store: store.search(query, is_typed=True))
        self._search = self._loop.create_task(job)


def appended(writers: Writers) -> list[tuple[float, float]]:
    """What one writer did: when each append began, and how many milliseconds it took."""
    (written,) = writers.stop()
    if written.errors:
        raise RuntimeError(f"the writer failed: {written.errors[0]}")
    return written.times


def _run(bench: Bench, journal: str, *, with_browser: bool) -> tuple[list[float], int]:
    """Write to a fresh copy of the small store.

    Returns:
        The milliseconds of each append, and the bytes of the log after the writer has closed and
        leases have ended.
    """
    folder = bench.folder / "written"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    store = copied(bench.small, folder / "state.db")
    run(store, f"PRAGMA journal_mode={journal}")
    work = writing(store, 1, journal, pace="steady", most=_MESSAGES, env=environment(bench.folder))
    if not with_browser:
        with work as writers:
            times = appended(writers)
        return [took for _, took in times], Store(store).sizes()[1]
    with _Browsing(store) as browsing:
        with work as writers:
            while writers.all_alive:
                browsing.key()
                time.sleep(_KEY_SECONDS)
            times = appended(writers)
        time.sleep(IDLE_SECONDS * 2.5)
        left = Store(store).sizes()[1]
    for sentence in dict.fromkeys(browsing.errors):
        print(f"  while reading: {sentence}", file=sys.stderr)
    return [took for _, took in times], left


def _all(runs: list[tuple[list[float], int]]) -> list[float]:
    return [took for times, _ in runs for took in times]


def measure(bench: Bench) -> list[Figure]:
    """All figures of a writer beside the browser.

    Args:
        bench: A copy of its small store is written to.
    """
    lines: list[Figure] = []
    for journal, limit in (("wal", 1.2), ("delete", 1.5)):
        alone: list[tuple[list[float], int]] = []
        beside: list[tuple[list[float], int]] = []
        for _ in range(max(bench.rounds // 2, 2)):
            alone.append(_run(bench, journal, with_browser=False))
            beside.append(_run(bench, journal, with_browser=True))
        name = "WAL" if journal == "wal" else "DELETE mode"
        if journal == "wal":
            left = [size for _, size in beside]
            more = max(left) - max(size for _, size in alone)
            what = "log left by a writer, browser open: more than without"
            lines.append(Figure("8", what, left, (), 0.0, given=more, unit="bytes"))
        what = f"append beside the browser / alone, {name}"
        lines.append(Figure("8", f"{what}: median", _all(beside), _all(alone), limit))
        slow = [percentile(took, 0.99) for took, _ in beside]
        slow_alone = [percentile(took, 0.99) for took, _ in alone]
        lines.append(Figure("8", f"{what}: 99th percentile", slow, slow_alone, limit))
    return lines
