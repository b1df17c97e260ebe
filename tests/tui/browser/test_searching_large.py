"""Searching some thousand messages: hits are counted in the background, read on in pages, and a
scan can be stopped."""

import asyncio
import threading

import pytest
from browsing import NOW, on_store
from builders import big_store
from resting import press_key
from searching import count, search
from trashing import family
from trashing import run as run_sql

from hermes_browse.store.api import OpenStore, open_store
from hermes_browse.store.connection import reader as of_reader
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.connection.reader import Reader
from hermes_browse.store.errors import QueryInterruptedError
from hermes_browse.store.search.query import parse
from hermes_browse.store.sessions.models import View
from hermes_browse.tui.browser.search import live_search as search_work
from hermes_browse.tui.browser.search.search_jobs import (
    NEXT_PAGE,
    PAGE,
    Scan,
    SearchRequest,
    find_words,
)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Some thousand messages."""
    return big_store(tmp_path_factory.mktemp("large") / "state.db", 200, 4000)


@pytest.fixture
async def browser(large):
    """The browser on them."""
    async with on_store(large) as browser:
        yield browser


@pytest.mark.slow
async def test_all_hits_are_counted_while_the_keyboard_rests(browser, large):
    """A page of 32 says 32+ at first; the number stands there soon, with the conversations."""
    with Store(large).reader() as reader:
        total = count(reader, parse("ferry"), cap=0, prefix_last=True)
    assert total.count > 32
    await browser.search("ferry")
    status = browser.status
    catalog = browser.screen.catalog
    roots = {chain.root.id for chain in map(catalog.conversation, total.sessions)}
    assert f"{total.count:,} hits in {len(roots):,} conversations ·" in status
    assert "all 4,000 messages indexed" in status
    await browser.type(" -zzz")
    assert f"{total.count:,} hits" in browser.status


@pytest.mark.slow
async def test_each_press_is_a_step_while_hits_are_read(browser):
    """Also those that come before the next page does."""
    await browser.search("ferry")
    await browser.press("enter", "n")
    assert "hit 1/" in browser.status
    for _press in range(PAGE + 10):
        press_key(browser.app, "n")
    await browser.settle()
    assert f"hit {PAGE + 11}/" in browser.status


@pytest.mark.slow
async def test_the_first_key_finds_the_store_looked_through(large):
    """What the index lacks is found out behind the first frame, not within a keystroke."""
    asked = []
    searching = set()
    original = Reader.rows

    def rows(reader, sql, parameters=()):
        if threading.get_ident() in searching:
            asked.append(sql)
        return original(reader, sql, parameters)

    def noted(search):
        def run(*given, **named):
            searching.add(threading.get_ident())
            try:
                return search(*given, **named)
            finally:
                searching.discard(threading.get_ident())

        return run

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Reader, "rows", rows)
        for name in ("search", "prepare_search"):
            patch.setattr(OpenStore, name, noted(getattr(OpenStore, name)))
        async with on_store(large) as browser:
            assert any("NOT IN (SELECT d.id" in sql for sql in asked)
            asked.clear()
            await browser.search("ferry")
            assert asked and "hits" in browser.status
            assert not any("NOT IN (SELECT d.id" in sql for sql in asked)


@pytest.mark.slow
async def test_a_key_stops_the_count(browser, monkeypatch):
    """What is counted for a query that stands no more is not waited for."""
    counting, stopped = threading.Event(), threading.Event()

    def count_hits(store, *given, **more):
        counting.set()
        try:
            while True:
                store.reader.value("SELECT 1")
        except QueryInterruptedError:
            stopped.set()
            raise

    with monkeypatch.context() as patch:
        patch.setattr(search_work, "count_hits", count_hits)
        await browser.pilot.press("slash", *"ferry")
        await browser.wait_until(counting.is_set)
    await browser.type(" zzzzqq")
    assert stopped.is_set()
    assert "0 hits" in browser.status


@pytest.mark.slow
async def test_another_view_does_not_wait_for_a_count(browser, large, monkeypatch):
    """Nor does it get the number of the view before."""
    original, held = search_work.count_hits, threading.Event()

    def count_hits(store, *given, **more):
        if not held.is_set():
            held.set()
            while True:
                store.reader.value("SELECT 1")  # until it is interrupted
        return original(store, *given, **more)

    monkeypatch.setattr(search_work, "count_hits", count_hits)
    await browser.pilot.press("slash", *"ferry")
    await browser.wait_until(held.is_set)
    browser.screen.set_focus(browser.screen.rows)
    await browser.press("2")
    catalog = browser.screen.catalog
    with Store(large).reader() as reader:
        within = {"catalog": catalog, "view": View.AUTOMATION, "now": NOW}
        total = count(reader, parse("ferry"), cap=0, prefix_last=True, **within)
    assert f"{total.count:,} hits in" in browser.status


def _hits_of(browser):
    """What the status says of hits; the titles are fewer when theirs have been read."""
    parts = browser.status.split(" · ")
    return next(part for part in parts if " hits in " in part)


@pytest.mark.slow
async def test_reading_on_keeps_what_was_counted(browser):
    """The number stays while pages are added to it."""
    await browser.search("ferry")
    before = _hits_of(browser)
    browser.screen.set_focus(browser.screen.rows)
    await browser.press("end", "end")
    found = browser.screen.results
    assert len(found.hits) > 64
    assert _hits_of(browser) == before


@pytest.mark.slow
async def test_every_order_reads_on_to_the_end(browser, large):
    """Newest, best and oldest first: pages join to what a search for all of it gives."""
    await browser.search("ferry quay harbour lantern tide ")
    browser.screen.set_focus(browser.screen.rows)
    for order in ("newest", "relevance", "oldest"):
        assert f"hits {order}" in browser.text("#views")
        with Store(large).reader() as reader:
            every = [
                hit.message_id
                for hit in search(
                    reader, parse("ferry quay harbour lantern tide "), limit=0, order=order
                ).hits
            ]
        assert PAGE + NEXT_PAGE < len(every) < 4 * NEXT_PAGE
        for _ in range(5):
            await browser.press("end")
        found = browser.screen.results
        assert [hit.message_id for hit in found.hits] == every
        await browser.press("o")


@pytest.mark.parametrize("typed", ["absentword zz", "ferry", "ferry source:cli", "ferr"])
def test_a_keystroke_asks_no_more_than_its_search(large, typed, monkeypatch):
    """Counting, coverage and what else would find something wait for the keyboard to rest."""
    query, asked = parse(typed), []
    monkeypatch.setattr(of_reader, "observe", lambda sql, seconds, rows: asked.append(sql))
    with open_store(Store(large)) as store:
        reader, catalog = store.reader, store.catalog(NOW)
        asked.clear()
        answer = search(reader, query, limit=PAGE, prefix_last=True, catalog=catalog, now=NOW)
        searched = len(asked)
        asked.clear()
        found = find_words(store, SearchRequest(query, catalog, View.ALL, "newest", NOW), Scan())
        assert [hit.message_id for hit in found.hits] == [hit.message_id for hit in answer.hits]
        named = 8  # previews of conversations without a title
        assert len(asked) <= searched + named


@pytest.mark.slow
async def test_a_count_does_not_bring_back_what_was_there_before(tmp_path, monkeypatch):
    """The store changes while the hits are counted."""
    path = family(tmp_path / "state.db")
    begun, go_on = threading.Event(), threading.Event()
    count_hits = search_work.count_hits

    def slow(*asked):
        begun.set()
        go_on.wait(10)
        return count_hits(*asked)

    async with on_store(path) as browser:
        monkeypatch.setattr(search_work, "count_hits", slow)
        browser.screen.focus_on("box")
        browser.screen.box.value = "lantern"  # a key would wait for the count
        await asyncio.to_thread(begun.wait, 10)
        run_sql(path, "UPDATE sessions SET title = 'Harbour anew' WHERE id = 'other'")
        browser.screen.listing.read()
        await browser.wait_until(lambda: "Harbour anew" in browser.text("#list"))
        go_on.set()
        await browser.settle()
        assert "Harbour anew" in browser.text("#list")
