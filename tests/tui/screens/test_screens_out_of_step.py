"""Screens and cards whose answers come late, or over a store that changes meanwhile: keys act on what
is shown, and what is shown and said is of the store as it is."""

import threading

import pytest
from browsing import browsing, go_to, loose, on_demo, on_store, open_app, rows_of
from builders import T0
from compressed import case, store_of
from planting import planted_app
from pruning import NOW
from trashing import add_message, execute, gone_by_hand, opened
from writing import small_store

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.edit.restore import restore
from hermes_browse.store.hermes.homes import trash_folder
from hermes_browse.store.places import id_of
from hermes_browse.store.trash.shelf import list_bundles
from hermes_browse.tui.screens.changes import FileRow
from hermes_browse.tui.screens.help import HelpCard
from hermes_browse.tui.screens.insights import adding_up
from hermes_browse.tui.screens.insights.chart import BarPlot, Chosen
from hermes_browse.tui.screens.insights.screen import GROUPINGS
from hermes_browse.tui.screens.run import RunScreen
from hermes_browse.tui.screens.since import SinceRow


@pytest.fixture
def app(path):
    return open_app(loose(path), NOW)


async def delete_elsewhere(browser, conversation):
    """Delete a conversation as another program, and read the list."""
    gone_by_hand(browser.app.store.path, *conversation.session_ids)
    await browser.follow()


@pytest.fixture
async def compressed(tmp_path):
    """The browser on a conversation that was compressed twice, above another one."""
    path = store_of(tmp_path / "state.db", case("0.19.0-rotation-twice.json"))
    execute(path, "INSERT INTO sessions (id, source, started_at) VALUES ('other', 'cli', ?)", T0)
    async with on_store(path, T0 + 86_400) as running:
        await running.press("4")
        yield running


@pytest.mark.slow
async def test_the_compactions_resume_what_they_show(compressed, monkeypatch):
    shown, asked = compressed.screen.current, []
    await compressed.press("M")
    await delete_elsewhere(compressed, shown)
    monkeypatch.setattr(compressed.screen, "start", lambda *given: asked.append(given))
    await compressed.press("R")
    assert asked[0][2] == shown.id != compressed.screen.current.id


@pytest.mark.slow
async def test_a_conversation_that_is_gone_is_not_called_uncompressed(compressed):
    shown = compressed.screen.current
    await compressed.press("M")
    await delete_elsewhere(compressed, shown)
    assert "another program deleted it" in compressed.text("#compactions")


@pytest.mark.slow
@pytest.mark.parametrize("key", ["B", "F"])
async def test_nothing_is_looked_for_of_a_conversation_that_is_gone(browser, path, key):
    await go_to(browser, "old")
    gone_by_hand(path, "old")
    await browser.press(key)
    (row,) = rows_of(browser)
    assert row.text == browser.status == "There is no session old in this store."


@pytest.mark.slow
async def test_compactions_that_go_while_one_is_read(compressed, answers):
    shown = compressed.screen.current
    async with answers.held(compressed, "sides", "M"):
        gone_by_hand(compressed.app.store.path, *shown.session_ids)
        compressed.screen.listing.read()
        screen = compressed.app.screen
        await compressed.wait_until(lambda: not screen._history.compactions)
    assert screen.has_class("-empty") and screen.replaced.model is None


@pytest.mark.slow
async def test_the_details_lead_to_what_they_are_about(tmp_path):
    async with on_demo(tmp_path) as browser:
        shown = browser.screen.current
        await browser.press("i")
        await delete_elsewhere(browser, shown)
        await browser.press("B")
        assert isinstance(browser.app.screen, RunScreen)
        assert shown.title in browser.text("#header")


@pytest.mark.slow
async def test_the_details_of_the_last_conversation_outlive_it(browser):
    await browser.search("title:Old")
    await browser.press("enter", "i")
    await delete_elsewhere(browser, browser.screen.current)
    assert browser.screen.current is None
    await browser.press("F")
    assert "There is no session old" in browser.status


@pytest.mark.slow
async def test_a_drop_goes_on_when_the_trash_is_left(browser, answers):
    for root in ("old", "boss"):
        await go_to(browser, root)
        await browser.press("D", "y")
    await browser.press("X", "space", "space", "D", "2")
    async with answers.held(browser, "write", "enter"):
        await browser.send("escape")
    assert "deleted 2 deletions for good" in browser.status
    await browser.press("X")
    assert "The trash is empty" in browser.text("#bundles")


@pytest.mark.slow
async def test_an_undo_of_what_another_program_restored_says_so(browser, path):
    await go_to(browser, "old")
    await browser.press("D", "y")
    trash = trash_folder(browser.screen.location)
    (bundle,) = list_bundles(trash)
    restore(Store(path), trash, bundle.name)
    await browser.press("u")
    assert "1 session is in the store already" in browser.status


@pytest.mark.slow
async def test_what_is_archived_already_is_not_said_to_have_been(browser, path):
    """Another program archives some of a plan, or all of it, while the card asks."""
    await browser.press("P", "a")
    execute(path, "UPDATE sessions SET archived = 1 WHERE id = 'old'")
    await browser.press("y")
    assert "4 conversations archived" in browser.status
    await browser.press("u", "a")
    execute(path, "UPDATE sessions SET archived = 1")
    await browser.press("y")
    assert "nothing had to be changed" in browser.status


@pytest.mark.slow
async def test_one_more_taken_while_the_plan_of_other_rules_is_made(browser, answers):
    await browser.press("P", "tab")
    screen = browser.app.screen
    assert screen.map.current.tip == "tip"
    async with answers.held(browser, "plan", "2"):
        await browser.send("space")
    assert screen.view.plan.roots() == {"root", "old"}


@pytest.mark.slow
async def test_the_map_follows_what_goes_while_a_card_is_open(browser, path):
    await browser.press("P", "question_mark")
    gone_by_hand(path, "old")
    await browser.follow()
    await browser.press("escape")
    assert "old" not in [tile.tip for tile in browser.app.screen.map.tiles]


@pytest.mark.slow
async def test_the_map_follows_what_is_written_outside_of_the_plan(browser, path):
    await browser.press("P")
    screen = browser.app.screen
    before = screen.space.total
    add_message(path, "tip", "a zeppelin", NOW)
    await browser.follow()
    assert screen.space.total > before


@pytest.mark.slow
async def test_the_cursor_of_a_plan_stays_where_its_row_goes(browser, path):
    await browser.press("P", "down")
    gone_by_hand(path, "boss", "helper", "helper2")
    await browser.follow()
    assert browser.app.screen.rows.cursor == 1
    await browser.press("1", "2")
    assert browser.app.screen.rows.cursor == 0


async def open_since(browser):
    """Open what happened since, on an item that has a session; return its id."""
    await browser.wait_until(lambda: bool(browser.screen.attention.unread))
    await browser.press("A")
    await browser.wait_until(lambda: any(isinstance(row, SinceRow) for row in rows_of(browser)))
    return id_of(browser.app.screen.rows.current.item.session_id)


@pytest.mark.slow
async def test_news_of_a_conversation_that_is_gone(tmp_path):
    async with browsing(planted_app(tmp_path)) as browser:
        session_id = await open_since(browser)
        gone_by_hand(browser.app.store.path, session_id)
        await browser.press("enter")
        assert f"There is no session {session_id}" in browser.status


@pytest.mark.slow
async def test_a_message_that_is_found_late_does_not_close_the_help(tmp_path, answers):
    async with browsing(planted_app(tmp_path)) as browser:
        await open_since(browser)
        async with answers.held(browser, "message", "enter"):
            await browser.send("question_mark")
        assert isinstance(browser.app.screen, HelpCard)


@pytest.mark.slow
async def test_what_is_exported_has_all_parts_of_now(path, tmp_path, monkeypatch):
    """Another program goes on with it while the card is open, and deletes it."""
    monkeypatch.chdir(tmp_path)
    async with on_store(path, NOW) as browser:
        await go_to(browser, "old")
        await browser.press("e")
        execute(path, "UPDATE sessions SET end_reason = 'compression' WHERE id = 'old'")
        values = "'late', 'cli', 'old', ended_at + 1 FROM sessions WHERE id = 'old'"
        names = "id, source, parent_session_id, started_at"
        execute(path, f"INSERT INTO sessions ({names}) SELECT {values}")
        add_message(path, "late", "a zeppelin", NOW)
        await browser.press("enter")
        assert "a zeppelin" in (tmp_path / "Old plans.md").read_text("utf-8")
        await browser.press("e")
        gone_by_hand(path, "old", "late")
        await browser.press("ctrl+o", *"2", "enter")
        assert "There is no session" in browser.text("#verdict")


@pytest.mark.slow
async def test_edits_of_a_new_part_are_its_own(tmp_path):
    """Another program goes on with a conversation, and writes a file in it."""
    async with on_demo(tmp_path) as browser:
        shown, path = browser.screen.current, browser.app.store.path
        await browser.press("F")
        execute(path, "UPDATE sessions SET end_reason = 'compression' WHERE id = ?", shown.id)
        names = "id, source, parent_session_id, started_at"
        late = f"INSERT INTO sessions ({names}) VALUES ('late', 'cli', ?, ?)"
        execute(path, late, shown.id, shown.last_active + 1)
        for each in shown.session_ids:
            execute(path, "UPDATE messages SET session_id = 'late' WHERE session_id = ?", each)
        await browser.follow()
        files = [row for row in rows_of(browser) if isinstance(row, FileRow)]
        assert {name for row in files for name in row.authors} == {"itself"}


@pytest.mark.slow
@pytest.mark.parametrize("key", ["B", "F", "M"])
async def test_the_title_follows_a_rename(tmp_path, key):
    """Another program renames the conversation while a screen about it is open."""
    async with on_demo(tmp_path) as browser:
        shown = browser.screen.current
        await browser.press(key)
        rename = "UPDATE sessions SET title = 'Quay' WHERE id = ?"
        execute(browser.app.store.path, rename, shown.id)
        await browser.follow()
        assert "Quay" in browser.text("#header")
        assert shown.title not in browser.text("#header")


@pytest.mark.slow
async def test_a_lock_is_said_as_long_as_it_holds(path):
    """On the main screen and one over it."""
    with opened(path) as writer:
        writer.execute("PRAGMA journal_mode=DELETE")
        async with on_store(path, NOW) as browser:
            browser.app.store.busy_seconds = 0.05
            for key in ("home", "B"):
                await browser.press(key)
                writer.execute("BEGIN EXCLUSIVE")
                await browser.follow()
                assert "is locked by another process" in browser.status
                writer.execute("ROLLBACK")
                await browser.follow()
                assert "locked" not in browser.status


@pytest.mark.slow
async def test_a_column_is_chosen_while_another_grouping_is_added_up(tmp_path, monkeypatch):
    """It is that of the chart that is shown."""
    started = threading.Event()

    def wait(facts, question, now):
        assert started.wait(60.0)
        return add_up(facts, question, now)

    add_up = adding_up._add_up
    async with on_demo(tmp_path) as browser:
        await browser.press("I")
        screen = browser.app.screen
        monkeypatch.setattr(adding_up, "_add_up", wait)
        week = next(number for number, by in enumerate(GROUPINGS, 1) if by == "hour")
        await browser.send(str(week))
        key = screen.rows.source.row(2).group.key
        screen.query_one(BarPlot).post_message(Chosen(key))
        await browser.drain()
        assert screen.rows.current.group.key == key
        started.set()


@pytest.mark.slow
async def test_what_is_new_in_the_transcript_is_not_said_over_it(browser):
    """`G` does something else there; the row is described."""
    await browser.press("P")
    described = browser.status
    browser.screen.say_of_page("1 new · G to the end")
    await browser.settle()
    assert browser.status.startswith(described) and "G to" not in browser.status


@pytest.mark.slow
async def test_keys_that_find_nothing_to_act_on_say_so(tmp_path):
    path = small_store(tmp_path / "state.db")
    gone_by_hand(path, "a", "b")
    async with on_store(path, NOW) as browser:
        for screen, keys in (("X", "cDr "), ("W", "fb")):
            await browser.press(screen)
            for key in keys:
                browser.app.screen.say("")
                await browser.press("space" if key == " " else key)
                assert " here" in browser.status, key
            await browser.press("escape")


@pytest.mark.slow
async def test_the_map_describes_the_tile_that_took_a_place(browser, path):
    """Another program deletes the largest conversation, on which the cursor of the map is."""
    await browser.press("P", "tab")
    tile = browser.app.screen.map.current
    assert browser.status.startswith(tile.about())
    gone_by_hand(path, *browser.screen.catalog.of_session(tile.tip).session_ids)
    await browser.follow()
    there = browser.app.screen.map.current
    assert tile.about() not in browser.status
    assert browser.status.startswith(there.about())


@pytest.mark.slow
async def test_the_map_describes_what_was_taken(browser):
    await browser.press("P", "tab", "4")
    before = browser.status
    assert "of which" not in before
    await browser.press("space")
    assert browser.app.screen.map.current.goes and "of which" in browser.status
    await browser.press("space")
    assert browser.status == before
