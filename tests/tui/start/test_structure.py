"""What makes it quick, told by counting: modules, statements, threads and lines, never seconds."""

import asyncio
import gc
import sqlite3
import threading
import time
import weakref
from contextlib import closing

import pytest
from browsing import NOW, browsing, loose, on_demo, open_app
from builders import big_store
from effort import slow_but
from platforms import python
from searching import search
from statements import noted_statements
from trashing import execute

from hermes_browse.store.api import OpenStore
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.connection.reader import Reader
from hermes_browse.store.messages.decode import with_names
from hermes_browse.store.search.query import parse
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.sessions.first_page import read_first_page
from hermes_browse.tui.browser.list import listing
from hermes_browse.tui.terminal.textual_private import StylesCache
from hermes_browse.tui.widgets.list_rows import FixedRows, NoteRow

HEAVY = (
    "argparse",
    "asyncio",
    "dataclasses",
    "inspect",
    "logging",
    "rich.console",
    "rich.markdown",
    "pygments",
    "textual",
)
SIZES = ((300, 3_000), (3_000, 30_000))


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """The same kind of store, small and ten times as large."""
    folder = tmp_path_factory.mktemp("sizes")
    return [
        big_store(folder / f"{sessions}.db", sessions, messages) for sessions, messages in SIZES
    ]


def test_the_first_rows_need_nothing_heavy():
    """What is imported before the first rows are on screen, with the arguments of a bare start."""
    program = (
        "import sys; before = set(sys.modules); import hermes_browse.tui.cli.entry as entry; "
        "assert entry.read_quickly(['--db', 'x']); import hermes_browse.tui.start; "
        f"print(*[name for name in {HEAVY!r} if name in sys.modules and name not in before])"
    )
    ended = python(program)
    assert ended.split() == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "typed",
    slow_but(
        ["n", "日本"], ["n", "ne", "needle", "harb", '"the quay"', "日本", "absentword", "rare"]
    ),
)
def test_a_keystroke_asks_as_much_of_a_large_store(stores, typed):
    """But for the first search of a file, which learns the times of its rows and what its index
    lacks."""
    asked = []
    for path in stores:
        with Store(path).reader() as reader:
            search(reader, parse("absent"), limit=20)
            with noted_statements() as statements:
                search(reader, parse(typed), limit=20, prefix_last=True)
            asked.append(len(statements))
    assert max(asked) <= 40
    assert asked[1] <= asked[0] + 12


@pytest.mark.slow
async def test_the_thread_of_the_screen_runs_no_sql(stores, monkeypatch):
    """Nothing that is done on the screen waits for the store."""
    store, original = stores[1], Reader.rows
    app = open_app(loose(store))
    threads = set()

    def rows(self, sql, parameters=()):
        threads.add(threading.current_thread())
        return original(self, sql, parameters)

    monkeypatch.setattr(Reader, "rows", rows)
    async with browsing(app) as browser:
        await browser.press(
            "j",
            "j",
            "pagedown",
            "end",
            "home",
            "2",
            "1",
            "s",
            "enter",
            "S",
            "tab",
            "t",
            "v",
            "l",
            "escape",
        )
        await browser.search("needle")
        await browser.press("enter", "n", "n", "escape", "escape", "f5")
    assert threads
    assert threading.main_thread() not in threads


@pytest.mark.slow
@pytest.mark.collector
async def test_after_the_first_reading_only_changes_are_read(tmp_path, monkeypatch):
    """A commit of Hermes' does not make the whole list be read again."""
    whole, steps = [], []
    read, step = OpenStore.catalog, OpenStore.increment
    monkeypatch.setattr(OpenStore, "catalog", lambda *given: (whole.append(1), read(*given))[1])
    monkeypatch.setattr(OpenStore, "increment", lambda *given: (steps.append(1), step(*given))[1])
    async with on_demo(tmp_path) as browser:
        assert (len(whole), len(steps)) == (1, 0)
        browser.screen.rows.action_move(3)
        cursor = browser.screen.rows.cursor
        kept = []
        for number in range(3):
            insert = "INSERT INTO sessions (id, source, title, started_at) VALUES (?, 'cli', ?, ?)"
            values = (f"new{number}", f"Brand new {number}", browser.app.clock())
            execute(browser.app.store.path, insert, *values)
            browser.screen.listing.read(whole=False)
            await browser.settle()
            assert f"Brand new {number}" in browser.text("#list")
            kept.append(gc.get_freeze_count())
        assert kept == sorted(kept, reverse=True), (
            "nothing more is kept from being collected with each change"
        )
        assert len(whole) == 1 and len(steps) >= 3, "the file is watched as well"
        assert browser.screen.rows.cursor == cursor + 3, "the cursor stays on its conversation"


@pytest.mark.slow
async def test_changes_are_read_with_a_pause_between(browser, monkeypatch):
    """Each reading makes all conversations anew; a read under way is not cancelled by a change, as
    of a large store it takes longer than the pause."""
    browser.screen.cancel("watch")
    reading, reads = browser.screen.listing, list[bool]()
    monkeypatch.setattr(reading, "read", lambda *, whole=True: reads.append(whole))
    now = time.monotonic()
    reading._read_at, reading._whole_at, reading._took = now, now, 0.0
    reading.is_live, reading.is_outdated = False, True
    reading.read_if_due()
    assert not reads, "it was read just now"
    reading._read_at = reading._whole_at = now - listing._BETWEEN
    reading.read_if_due()
    assert reads == [False]
    reading._read_at, reading._whole_at = now, now - listing._WHOLE_PAUSE
    reading.read_if_due()
    assert reads == [False, True], "an increment cannot detect every change"
    browser.screen.start("catalog", asyncio.sleep, 60.0)
    reading.read_if_due()
    assert len(reads) == 2
    reading._read_at, reading._whole_at = now, now - 1
    reading.reread(["one"])
    assert reads[2:] == [False]
    reading._read_at = reading._whole_at = now
    reading.reread(["one"])
    assert reads[3:] == [True], "what was read in full is read in full by its successor"


@pytest.mark.parametrize("is_hit", [False, True])
async def test_a_move_is_not_overtaken_by_the_list_that_comes_back(browser, monkeypatch, is_hit):
    """Unless it went to a hit, which is not in the list."""
    rows, read = browser.screen.rows, browser.screen.read
    rows.cursor = 5
    wanted = rows.source.row(3).key

    async def read_and_move(job, **how):
        result = await read(job, **how)
        if is_hit:
            rows.show(FixedRows([NoteRow("one"), NoteRow("two")]), top=True)
        rows.action_jump(1)
        return result

    monkeypatch.setattr(browser.screen, "read", read_and_move)
    await browser.screen.listing._refresh(False, [wanted])
    assert rows.cursor == (3 if is_hit else 1)


@pytest.mark.collector
@pytest.mark.parametrize("key", slow_but((), ["question_mark", "i", "I", "W", "P", "X", "H"]))
async def test_a_screen_that_was_left_is_let_go_of(browser, key):
    """And all in it, at the latest when the next one is left (a worker holds its last job); also
    one that was open while the list was read whole, when what is there is kept for long.
    """
    left, main = [], browser.screen
    for _ in range(3):
        await browser.press(key)
        await browser.settle()
        assert browser.app.screen is not main
        last = [weakref.ref(each) for each in browser.app.screen.walk_children(with_self=True)]
        left.append(last)
        main.listing.read()
        await browser.settle()
        await browser.press("escape")
        await browser.settle()
        assert StylesCache.get_inner_outer.cache_info().currsize < 30, (
            "lines of widgets that are gone"
        )
    main.listing.read()
    await browser.settle()
    gc.collect()
    assert [ref() for ref in left[0] + left[1] if ref() is not None] == []


def test_between_statements_nothing_is_locked(tmp_path):
    """In DELETE mode an open cursor would block each commit; a writer that does not wait commits
    between any two."""
    path = big_store(tmp_path / "state.db", 300, 3_000)
    with closing(sqlite3.connect(path, timeout=0.0, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode=DELETE")
        commits, original = [], Reader.rows
        with Store(path).reader() as reader:

            def rows(sql, parameters=()):
                found = original(reader, sql, parameters)
                writer.execute("UPDATE sessions SET title = NULL WHERE id = 'nobody'")
                commits.append(1)
                return found

            reader.rows = rows
            catalog = read_first_page(reader, NOW)
            with_names(reader, [catalog.conversation(root) for root in catalog.order()[:20]])
            search(reader, parse("needle OR 日本"), prefix_last=True)
            read_catalog(reader, NOW)
    assert len(commits) > 20
