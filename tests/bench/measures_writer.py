"""What a writer notices of the browser: the time of its commits, and the log that is left."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from figures import Bench, Figure, copied, percentile
from ptys import environment

from hermes_browse.store.api import OpenStore
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.search.query import Query, parse
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.session_rows import StoreState
from hermes_browse.store.text import as_text
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
            await self._reads.run(job)
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


@contextmanager
def writing(
    bench: Bench, store: Path, messages: int, journal: str
) -> Iterator[subprocess.Popen[str]]:
    """A writer that has the store open and waits to be told to go on.

    Args:
        bench: Its folder is the home of the writer.
        store: Is written to, in the session of its newest message.
        messages: How many; 0 for as many as it can until it is told to stop.
        journal: `wal` or `delete`.
    """
    with Store(store).reader() as reader:
        session = (
            as_text(reader.value("SELECT session_id FROM messages ORDER BY id DESC LIMIT 1")) or ""
        )
    script = Path(__file__).with_name("writer.py")
    command = [sys.executable, str(script), str(store), session, str(messages), journal]
    env, pipe = environment(bench.folder), subprocess.PIPE
    with subprocess.Popen(command, env=env, stdin=pipe, stdout=pipe, text=True) as writer:
        assert writer.stdout is not None
        if writer.stdout.readline().strip() != "ready":
            raise RuntimeError("the writer could not open the store")
        yield writer


def written(
    writer: subprocess.Popen[str], meanwhile: Callable[[], object] | None = None
) -> list[tuple[float, float]]:
    """Let the writer go on, and tell it to stop when something else is done.

    Args:
        writer: From `writing`.
        meanwhile: Is done while it writes; nothing for a writer that comes to its end by itself.

    Returns:
        When each append began, in seconds of the monotonic clock, and how many milliseconds it
        took.
    """
    assert writer.stdin is not None
    writer.stdin.write("go\n")
    writer.stdin.flush()
    if meanwhile is not None:
        meanwhile()
    said, _ = writer.communicate("stop\n" if meanwhile is not None else None)
    if writer.returncode:
        raise RuntimeError(f"the writer ended with {writer.returncode}")
    return [(float(at), float(took)) for at, took in json.loads(said)]


def _times(writer: subprocess.Popen[str], browsing: _Browsing | None) -> list[float]:
    """Let the writer go on to its end; returns the milliseconds of each append."""

    def type_on() -> None:
        while browsing is not None and writer.poll() is None:
            browsing.key()
            time.sleep(_KEY_SECONDS)

    return [took for _, took in written(writer, type_on if browsing is not None else None)]


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
    with writing(bench, store, _MESSAGES, journal) as writer:
        if not with_browser:
            times = _times(writer, None)
            return times, Store(store).sizes()[1]
        with _Browsing(store) as browsing:
            times = _times(writer, browsing)
            time.sleep(IDLE_SECONDS * 2.5)
            left = Store(store).sizes()[1]
    for sentence in dict.fromkeys(browsing.errors):
        print(f"  while reading: {sentence}", file=sys.stderr)
    return times, left


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
