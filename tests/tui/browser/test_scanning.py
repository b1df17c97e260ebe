"""A scan on screen: what it has found is shown while it goes on, the cursor stays, Esc keeps what
there is."""

import threading
from contextlib import asynccontextmanager

import pytest
from browsing import on_store, rows_of
from builders import make_store
from searching import search
from store_builder import T0

from hermes_browse.store.api import OpenStore
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.connection.reader import Reader
from hermes_browse.store.search.query import parse
from hermes_browse.tui.browser.list.rows import HitRow
from hermes_browse.tui.widgets.list_rows import NoteRow

_COUNT = 6000
_WHERE = (5900, 4500, 2500, 100)
"""Ids of the messages with the needle: in the first glance, and in slices far apart."""


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """Some thousand messages without any index, four of them with the needle, each in a session of
    its own."""
    sessions = [{"id": f"s{number}", "title": f"talk {number}"} for number in range(6)]
    rows = [
        {
            "session_id": f"s{key // 1000 % 6}",
            "content": "needle here" if key in _WHERE else "hay",
            "timestamp": T0 + key,
        }
        for key in range(1, _COUNT + 1)
    ]
    return make_store(tmp_path_factory.mktemp("bare") / "state.db", "22", sessions, rows, fts=False)


class _Gate:
    """Lets a scan read so many slices of rows, then holds it until told."""

    def __init__(self, monkeypatch):
        self.slices = 0
        self.free = 0
        self._more = threading.Condition()
        original, search = Reader.rows, OpenStore.search
        searching = set()

        def noted(*given, **named):
            searching.add(threading.get_ident())
            try:
                return search(*given, **named)
            finally:
                searching.discard(threading.get_ident())

        def rows(reader, sql, parameters=()):
            if "WHERE id BETWEEN" in sql and threading.get_ident() in searching:
                with self._more:
                    self._more.wait_for(lambda: self.slices < self.free, 120)
                    self.slices += 1
            return original(reader, sql, parameters)

        monkeypatch.setattr(Reader, "rows", rows)
        monkeypatch.setattr(OpenStore, "search", noted)

    def let(self, slices):
        """So many more."""
        with self._more:
            self.free += slices
            self._more.notify_all()


@pytest.fixture
def gate(monkeypatch):
    return _Gate(monkeypatch)


@asynccontextmanager
async def scanning(path, query):
    """The browser that searches a store for a query, which comes in one go: typed letter by letter
    each would be a scan."""
    async with on_store(path) as browser:
        await browser.press("slash")
        browser.screen.box.value = query
        yield browser


def _hits(browser):
    return [row.hit.message_id for row in rows_of(browser) if isinstance(row, HitRow)]


def test_portions_are_the_beginning_of_the_answer(bare):
    """Each is longer than the one before and begins with it; nothing is told where nothing is
    scanned."""
    portions = []
    with Store(bare).reader() as reader:
        answer = search(
            reader, parse("needle"), portion=lambda answer: portions.append(answer.hits)
        )
    assert [hit.message_id for hit in answer.hits] == list(_WHERE)
    assert len(portions) > 1
    for portion in portions:
        assert portion == answer.hits[: len(portion)]
    assert [len(each) for each in portions] == sorted({len(each) for each in portions})


def test_hits_of_an_index_do_not_wait_for_a_scan_beside_it(tmp_path):
    """Where some rows are in the index and others are scanned, both come in order, as far as the
    scan has come."""
    sessions = [{"id": "s", "source": "cli"}]
    rows = [
        {
            "session_id": "s",
            "content": "日本語の針" if key in (5990, 5000, 10) else "hay",
            "timestamp": T0 + key,
        }
        for key in range(1, _COUNT + 1)
    ]
    rows[20] |= {"role": "tool", "content": "道具の日本語の針"}
    path = make_store(tmp_path / "state.db", "31", sessions, rows)
    portions = []
    with Store(path).reader() as reader:
        answer = search(
            reader,
            parse("日本語"),
            portion=lambda found: portions.append([hit.message_id for hit in found.hits]),
        )
    assert [hit.message_id for hit in answer.hits] == [5990, 5000, 21, 10]
    assert portions and portions[0][0] == 5990
    assert [5990, 5000] in portions


@pytest.mark.slow
async def test_what_a_scan_finds_is_shown_while_it_goes_on(bare, gate):
    async with scanning(bare, "needle ") as browser:
        gate.let(1)
        await browser.wait_until(lambda: "no index covers" in browser.text("#list"))
        gate.let(4)  # down to message 4017
        await browser.wait_until(lambda: _hits(browser) == [5900, 4500])
        assert "2 found so far · scanning" in browser.status
        assert rows_of(browser)[-1] == NoteRow("scanning on …")
        await browser.pilot.press("down", "down", "down")
        row = browser.row
        assert isinstance(row, HitRow) and row.hit.message_id == 4500
        gate.let(1)
        await browser.wait_until(lambda: _hits(browser) == [5900, 4500, 2500])
        assert browser.row.key == row.key, "what comes in does not move the cursor"
        gate.let(100)
        await browser.settle()
        assert _hits(browser) == list(_WHERE) and browser.row.key == row.key
        assert "4 hits in 4 conversations" in browser.status
        assert not isinstance(rows_of(browser)[-1], NoteRow)


@pytest.mark.slow
async def test_escape_keeps_what_was_found(bare, gate):
    async with scanning(bare, "needle ") as browser:
        gate.let(5)
        await browser.wait_until(lambda: _hits(browser) == [5900, 4500])
        await browser.pilot.press("escape")
        gate.let(100)
        await browser.settle()
        assert browser.screen.box.value == "needle ", "the first Esc only stops"
        found = _hits(browser)
        assert found[:2] == [5900, 4500] and 100 not in found
        status = browser.status
        assert "stopped: not everything was looked at" in status
        assert rows_of(browser)[-1] == NoteRow("stopped here: what follows was not looked at")
        # A conversation can be opened at a hit, and hits be walked, as in any answer.
        browser.screen.set_focus(browser.screen.rows)
        await browser.press("n")
        assert isinstance(browser.row, HitRow)
        await browser.press("end")
        assert _hits(browser) == found, "what was stopped is not begun again"


@pytest.mark.slow
async def test_a_scan_that_was_stopped_without_a_hit(bare, gate):
    """It says that nothing was found until then, not that there is nothing."""
    async with scanning(bare, "zzqq ") as browser:
        gate.let(1)
        await browser.wait_until(lambda: "Esc stops" in browser.status)
        await browser.pilot.press("escape")
        gate.let(100)
        await browser.settle()
        assert "Nothing found until it was stopped." in browser.text("#list")
