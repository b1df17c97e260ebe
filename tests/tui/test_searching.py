"""Searching on screen: counts, coverage, what is offered when nothing is found, folding."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from browsing import NOW, Browser, browsing, demo_app, loose, open_app
from builders import big_store, make_store
from store_builder import T0, tool_call

from hermes_browse.store.connection.connect import Reader, Row, Store
from hermes_browse.store.errors import QueryInterruptedError
from hermes_browse.store.search import Scope, Total, count, make_conditions, parse, read_coverage, search
from hermes_browse.store.sessions.catalog import allowed_sessions, read_catalog
from hermes_browse.store.sessions.models import View
from hermes_browse.tui.list.rows import ConversationRow, HitRow, ListRow, MoreRow, NoteRow, SuggestionRow
from hermes_browse.tui.search.run import PAGE, run


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
        catalog = browser.screen.context.catalog
        roots = {chain.root.id for chain in map(catalog.forest.chain_of, total.sessions)}
        assert f"{total.count:,} hits in {len(roots):,} conversations ·" in status
        assert "all 4,000 messages indexed" in status
        await browser.type(" -zzz")
        assert f"{total.count:,} hits" in browser.text("#status")


async def test_the_first_key_finds_the_store_looked_through(large: Path) -> None:
    """How ids stand in time and what the index lacks is found out behind the first frame, not within a keystroke."""
    asked: list[str] = []
    original = Reader.rows

    def rows(reader: Reader, sql: str, parameters: Sequence[object] | dict[str, object] = ()) -> list[Row]:
        if threading.current_thread().name == "search":
            asked.append(sql)
        return original(reader, sql, parameters)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Reader, "rows", rows)
        async with browsing(open_app(loose(large))) as browser:
            await browser.settle()
            assert any("m.timestamp FROM messages m WHERE m.session_id" in sql for sql in asked)
            assert any("NOT IN (SELECT d.id" in sql for sql in asked)
            asked.clear()
            await browser.press("slash")
            await browser.type("ferry")
            assert asked and "hits" in browser.text("#status")
            assert not any("m.timestamp FROM messages m" in sql or "NOT IN (SELECT d.id" in sql for sql in asked)


@pytest.mark.slow
async def test_a_key_stops_the_count(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is counted for a query that stands no more is not waited for."""
    from hermes_browse.tui.search import counting as module

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
            patch.setattr(module, "count_hits", count_hits)
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
            "INSERT OR REPLACE INTO state_meta (key, value) VALUES ('fts_rebuild_progress', '4');"
            "DELETE FROM messages_fts WHERE rowid BETWEEN 5 AND 10",
            "rebuilding the index",
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


def _rows(browser: Browser) -> list[ListRow]:
    rows = browser.screen.rows
    return [rows.source.row(index) for index in range(len(rows))]


def _suggestions(browser: Browser) -> dict[str, int]:
    return {row.text: row.hits for row in _rows(browser) if isinstance(row, SuggestionRow)}


async def test_what_finds_nothing_offers_what_does(tmp_path: Path) -> None:
    """Each offer is measured and taken with Enter, from the box."""
    async with browsing(demo_app(tmp_path)) as browser:
        await browser.press("slash")
        await browser.type("cookie source:telegram")
        assert isinstance(_rows(browser)[0], NoteRow)
        offered = _suggestions(browser)
        with Store(browser.app.store.path).reader() as reader:
            found = count(reader, parse("cookie"), cap=0).count
        assert offered["without source:telegram"] == found > 0
        row = browser.row
        assert isinstance(row, SuggestionRow) and str(found) in browser.text("#list")
        await browser.press("enter")
        assert browser.screen.box.value == "cookie " and browser.screen.box.has_focus
        assert f"{found} hits" in browser.text("#status")


@pytest.mark.slow
async def test_another_view_is_offered(tmp_path: Path) -> None:
    async with browsing(demo_app(tmp_path)) as browser:
        await browser.press("slash")
        await browser.type("cookie")
        browser.screen.set_focus(browser.screen.rows)
        await browser.press("3")
        assert browser.screen.controllers.view is View.ARCHIVED
        offered = _suggestions(browser)
        assert "in chats" in offered and "as a prefix: cookie*" not in offered
        while not (isinstance(browser.row, SuggestionRow) and browser.row.text == "in chats"):
            await browser.press("down")
        await browser.press("enter")
        assert browser.screen.controllers.view is View.CHATS and browser.screen.box.value == "cookie"
        hits = [row for row in _rows(browser) if isinstance(row, HitRow)]
        assert hits and f"{offered['in chats']} hits" in browser.text("#status")


@pytest.mark.slow
async def test_a_misspelt_filter_is_offered_right(tmp_path: Path) -> None:
    async with browsing(demo_app(tmp_path)) as browser:
        await browser.press("slash")
        await browser.type("cookie sorce:cli")
        assert "with source:cli" in _suggestions(browser)
        await browser.press("enter")
        assert browser.screen.box.value == "cookie source:cli " and browser.screen.controllers.searching.matchers


async def test_hits_of_a_conversation_fold(tmp_path: Path) -> None:
    """Some are shown; Enter, + and - show all, or the best; n and N walk them all."""
    async with browsing(demo_app(tmp_path)) as browser:
        await browser.press("slash")
        await browser.type("the")
        await browser.press("enter")
        if not browser.screen.rows.has_focus:
            await browser.press("escape")
        rows = _rows(browser)
        place = next(index for index, row in enumerate(rows) if isinstance(row, MoreRow))
        more = rows[place]
        assert isinstance(more, MoreRow)
        above = [row for row in rows[place - 3 : place] if isinstance(row, HitRow)]
        head = rows[place - 4]
        assert len(above) == 3 and isinstance(head, ConversationRow) and head.hits == more.hidden + 3
        browser.screen.rows.cursor = place
        await browser.press("enter")
        unfolded = _rows(browser)
        assert [row.key for row in unfolded[place - 3 : place]] == [row.key for row in above]
        assert all(isinstance(row, HitRow) for row in unfolded[place : place + more.hidden])
        assert browser.screen.rows.cursor == place
        await browser.press("minus")
        assert [row.key for row in _rows(browser)] == [row.key for row in rows]
        assert browser.row is not None and browser.row.key == head.key
        await browser.press("minus")
        assert _rows(browser)[place - 2] == more._replace(hidden=more.hidden + 2)
        await browser.press("n", "n", "n", "n")
        walked = browser.row
        assert isinstance(walked, HitRow) and walked.key == unfolded[place].key
        browser.screen.rows.cursor = place - 4 + head.hits + 2
        await browser.press("N")
        assert browser.row is not None and browser.row.key == unfolded[place - 4 + head.hits].key


@pytest.mark.slow
async def test_n_and_big_n_unfold_on_their_way(tmp_path: Path) -> None:
    async with browsing(demo_app(tmp_path)) as browser:
        await browser.press("slash")
        await browser.type("run")
        await browser.press("enter")
        with Store(browser.app.store.path).reader() as reader:
            every = [hit.message_id for hit in search(reader, parse("run"), limit=0, prefix_last=True).hits]
        assert PAGE < len(every) < 100
        browser.screen.rows.cursor = 0
        await browser.settle()
        seen = list[str]()
        for _ in range(2 * len(every)):
            await browser.pilot.press("n")
            await browser.pilot.pause()
            if "reading on" in browser.text("#status"):
                await browser.settle()
            if "no further hit" in browser.text("#status"):
                break
            assert isinstance(browser.row, HitRow)
            seen.append(browser.row.key)
        found = browser.screen.controllers.searching.hits.found
        assert found is not None and [hit.message_id for hit in found.hits] == every, "n reads on past a page"
        assert len(set(seen)) == len(seen) > PAGE
        await browser.press("N")
        assert browser.row is not None and browser.row.key == seen[-2]


@pytest.mark.slow
async def test_every_order_reads_on_to_the_end(large: Path) -> None:
    """Newest, best and oldest first: pages join to what a search for all of it gives."""
    async with browsing(open_app(loose(large))) as browser:
        await browser.press("slash")
        await browser.type("ferry quay harbour lantern tide ")
        browser.screen.set_focus(browser.screen.rows)
        for order in ("newest", "relevance", "oldest"):
            assert f"hits {order}" in browser.text("#views")
            with Store(large).reader() as reader:
                every = [
                    hit.message_id
                    for hit in search(reader, parse("ferry quay harbour lantern tide "), limit=0, sort=order).hits
                ]
            assert PAGE < len(every) < 5 * PAGE
            for _ in range(5):
                await browser.press("end")
            found = browser.screen.controllers.searching.hits.found
            assert found is not None and [hit.message_id for hit in found.hits] == every
            await browser.press("o")


@pytest.mark.slow
async def test_edits_of_a_file_come_before_mentions(tmp_path: Path) -> None:
    """Newer mentions stand below older edits; pages go on from one to the other."""
    rows: list[dict[str, object]] = []
    for number in range(1, 101):
        call = tool_call("write_file", {"path": "src/auth.py"}) if number <= 40 else None
        text = "" if call else "what is in src/auth.py?"
        rows.append({"session_id": f"s{number % 5}", "role": "assistant", "content": text, "id": number})
        if call:
            rows[-1]["tool_calls"] = [call]
    sessions = [{"id": f"s{number}", "started_at": T0} for number in range(5)]
    path = make_store(tmp_path / "state.db", "22", sessions, rows)
    async with browsing(open_app(loose(path))) as browser:
        await browser.press("slash")
        await browser.type("file")
        await browser.pilot.press("colon")
        await browser.type("src/auth.py")
        browser.screen.set_focus(browser.screen.rows)
        for _ in range(8):
            await browser.press("end")
        found = browser.screen.controllers.searching.hits.found
        assert found is not None
        assert [hit.message_id for hit in found.hits] == [*range(40, 0, -1), *range(100, 40, -1)]


async def test_a_scan_tells_how_far_it_is_and_escape_stops_it(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was found until then is shown, and said not to be all."""
    gate, slices = threading.Event(), list[str]()
    original = Reader.rows

    def rows(self: Reader, sql: str, parameters: Sequence[object] | dict[str, object] = ()) -> list[Row]:
        found = original(self, sql, parameters)
        if "reasoning" in sql and "m.id BETWEEN" in sql:
            slices.append(sql)
            if len(slices) > 2:
                gate.wait(20)
        return found

    monkeypatch.setattr(Reader, "rows", rows)
    async with browsing(open_app(loose(large))) as browser:
        await browser.pilot.press("slash", *"zzqq", "space")
        await browser.settle()
        await browser.pilot.press("i", "n", "colon", *"reasoning")
        for _ in range(100):
            await browser.pilot.pause(0.05)
            if "Esc stops" in browser.text("#status"):
                break
        assert "scanning" in browser.text("#status") and "%" in browser.text("#status")
        assert "Reading the messages" in browser.text("#list")
        await browser.pilot.press("escape")
        gate.set()
        await browser.settle()
        assert browser.screen.box.value == "zzqq in:reasoning", "the first Esc only stops"
        assert "stopped: not everything was looked at" in browser.text("#status")
        assert "Nothing found until it was stopped." in browser.text("#list")
        await browser.press("escape")
        assert browser.screen.box.value == "" and not browser.screen.controllers.searching.is_active


@pytest.mark.slow
async def test_another_view_does_not_wait_for_a_count(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does it get the number of the view before."""
    from hermes_browse.tui.search import counting as module

    original, held = module.count_hits, threading.Event()

    def count_hits(reader: Reader, *given: object, **more: object) -> object:
        if not held.is_set():
            held.set()
            while True:
                reader.value("SELECT 1")  # until it is interrupted
        return original(reader, *given, **more)  # type: ignore[arg-type]  # passed through

    monkeypatch.setattr(module, "count_hits", count_hits)
    async with browsing(open_app(loose(large))) as browser:
        await browser.pilot.press("slash", *"ferry")
        for _ in range(100):
            await browser.pilot.pause(0.02)
            if held.is_set():
                break
        browser.screen.set_focus(browser.screen.rows)
        await browser.press("2")
        catalog = browser.screen.context.catalog
        ids = allowed_sessions(catalog, View.AUTOMATION)
        with Store(large).reader() as reader:
            total = count(reader, parse("ferry"), cap=0, prefix_last=True, scope=Scope(ids.__contains__))
        assert f"{total.count:,} hits in" in browser.text("#status")


@pytest.mark.slow
async def test_reading_on_keeps_what_was_counted(large: Path) -> None:
    """The number stays while pages are added to it."""
    async with browsing(open_app(loose(large))) as browser:
        await browser.press("slash")
        await browser.type("ferry")
        before = browser.text("#status").split(" · ")[0]
        browser.screen.set_focus(browser.screen.rows)
        await browser.press("end")
        await browser.press("end")
        found = browser.screen.controllers.searching.hits.found
        assert found is not None and len(found.hits) > 64
        assert browser.text("#status").split(" · ")[0] == before


@pytest.mark.parametrize("typed", ["absentword zz", "ferry", "ferry source:cli", "ferr"])
def test_a_keystroke_asks_no_more_than_its_search(large: Path, typed: str) -> None:
    """Counting, coverage and what else would find something wait for the keyboard to rest."""
    query = parse(typed)
    conditions = make_conditions(query, NOW)
    with Store(large).reader() as reader:
        catalog = read_catalog(reader, NOW)
        ids = allowed_sessions(catalog, View.ALL, (), conditions.conversation)
        before = reader.statements
        answer = search(reader, query, limit=PAGE, prefix_last=True, scope=Scope(ids.__contains__))
        searched = reader.statements - before
        before = reader.statements
        found = run(reader, query, conditions, catalog=catalog, view=View.ALL, sort="newest", now=NOW, deadline=2e9)
        assert [hit.message_id for hit in found.hits] == [hit.message_id for hit in answer.hits]
        named = 8  # previews of conversations without a title
        assert reader.statements - before <= searched + named


async def test_enter_on_a_conversation_that_was_found_opens_its_best_hit(tmp_path: Path) -> None:
    """Not a resume, which R is; the line of keys says both."""
    async with browsing(demo_app(tmp_path)) as browser:
        await browser.press("slash")
        await browser.type("rotation OR refresh")
        head = browser.row
        assert isinstance(head, ConversationRow) and head.hits > 1
        await browser.press("enter")
        assert browser.screen.rows.has_focus
        keys = browser.text("#keys")
        assert "Enter open" in keys and "R resume" in keys
        await browser.press("enter")
        assert browser.screen.transcript.has_focus and browser.app.return_value is None
        current = browser.screen.transcript.current
        segments = {each.id for each in head.conversation.segments}
        found = browser.screen.controllers.searching.hits.found
        assert found is not None and current is not None
        hits = [hit for hit in found.hits if hit.session_id in segments]
        both = [hit.message_id for hit in hits if len({hit.snippet[a:b].casefold() for a, b in hit.match}) == 2]
        assert current.id in both
        await browser.press("escape", "escape")
        await browser.press("escape")
        assert "Enter resume" in browser.text("#keys") and "Enter open" not in browser.text("#keys")
