"""Searching on screen: counts, coverage, what is offered when nothing is found, folding."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from browsing import browsing, loose, open_app
from builders import big_store

from hermes_browse.store.connect import Reader, Store
from hermes_browse.store.errors import QueryInterruptedError
from hermes_browse.store.search import Total, count, parse, read_coverage, search


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some thousand messages."""
    return big_store(tmp_path_factory.mktemp("large") / "state.db", 200, 4000)


@pytest.mark.parametrize("typed", ["ferry", "h", '"the quay"', "ferry -quay", "日本", "ferry OR quay", "."])
def test_a_count_is_what_a_search_gives(large: Path, typed: str) -> None:
    with Store(large).reader() as reader:
        found = search(reader, parse(typed), limit=0, prefix_last=True)
        total = count(reader, parse(typed), cap=0, prefix_last=True)
    assert total == Total(len(found.hits), False)
    assert total.sessions == {hit.session_id for hit in found.hits}


async def test_all_hits_are_counted_while_the_keyboard_rests(large: Path) -> None:
    """A page of 32 says 32+ at first; the number stands there soon, with the conversations."""
    with Store(large).reader() as reader:
        total = count(reader, parse("ferry"), cap=0, prefix_last=True)
    assert total.count > 32
    async with browsing(open_app(loose(large))) as browser:
        await browser.press("slash")
        await browser.type("ferry")
        status = browser.text("#status")
        catalog = browser.screen.listing.catalog
        roots = {chain.root.id for chain in map(catalog.forest.chain_of.__getitem__, total.sessions)}
        assert f"{total.count:,} hits in {len(roots):,} ·" in status
        assert "all 4,000 messages indexed" in status
        await browser.type(" -zzz")
        assert f"{total.count:,} hits" in browser.text("#status")


async def test_a_key_stops_the_count(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is counted for a query that stands no more is not waited for."""
    from hermes_browse.tui import search_model

    counting, stopped = threading.Event(), threading.Event()

    def count_hits(reader: Reader, *given: object, **more: object) -> None:
        counting.set()
        try:
            while True:
                reader.value("SELECT 1")
        except QueryInterruptedError:
            stopped.set()
            raise

    async with browsing(open_app(loose(large))) as browser:
        with monkeypatch.context() as patch:
            patch.setattr(search_model, "count_hits", count_hits)
            await browser.pilot.press("slash", *"ferry")
            for _ in range(100):
                await browser.pilot.pause(0.02)
                if counting.is_set():
                    break
        await browser.type(" zzzzqq")
        assert stopped.is_set()
        assert "0 hits" in browser.text("#status")


def _spoil(path: Path, script: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(script)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("INSERT OR REPLACE INTO state_meta (key, value) VALUES ('fts_stale', '1')", "stale"),
        (
            "INSERT OR REPLACE INTO state_meta (key, value) VALUES ('fts_rebuild_high_water', '10');"
            "INSERT OR REPLACE INTO state_meta (key, value) VALUES ('fts_rebuild_progress', '4')",
            "making the index anew",
        ),
        ("DROP TABLE messages_fts", "no search index"),
    ],
)
def test_what_the_index_lacks_is_named_with_the_remedy(
    script: str, said: str, fixture_store: Callable[[str], Path]
) -> None:
    path = fixture_store("state-v22")
    _spoil(path, script)
    with Store(path).reader() as reader:
        coverage = read_coverage(reader)
        assert said in str(coverage) and coverage.indexed < coverage.messages
        assert "scanned" in str(coverage)
