"""What keys of the main screen do to a store: marks, archive, pin, rename, delete, export, and the undo of each."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from browsing import Browser, browsing, loose, open_app
from builders import make_store
from effort import slow_but
from pruning import NOW, family
from trashing import differences, dump, health

from hermes_browse.store.cleanup import bulk
from hermes_browse.store.edit import titles
from hermes_browse.store.edit.restore import restore
from hermes_browse.store.trash.shelf import list_bundles
from hermes_browse.tui.cleanup import cleaning
from hermes_browse.tui.edit.deleting import DeleteScreen
from hermes_browse.tui.edit.progress import ProgressScreen
from hermes_browse.tui.edit.renaming import RenameScreen
from hermes_browse.tui.export.exporting import ExportScreen
from hermes_browse.tui.list.rows import ConversationRow, JobRow
from hermes_browse.tui.screens.main import MainScreen
from hermes_browse.tui.store_paths import trash_folder


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with one of each kind of conversation, all of them long idle."""
    return family(tmp_path / "state.db")


def rows_of(path: Path, column: str) -> dict[str, object]:
    """A column of all sessions, by id."""
    connection = sqlite3.connect(path)
    found = dict(connection.execute(f"SELECT id, {column} FROM sessions").fetchall())
    connection.close()
    return found


async def go_to(browser: Browser, root: str) -> None:
    """Put the cursor of the list on a conversation."""
    index = browser.screen.rows.source.index_of(f"c{root}")
    assert index is not None, root
    browser.screen.rows.cursor = index
    await browser.settle()


def listed(browser: Browser) -> set[str]:
    """Roots of the conversations in the list."""
    rows = (browser.screen.rows.source.row(index) for index in range(len(browser.screen.rows)))
    return {row.conversation.root_id for row in rows if isinstance(row, ConversationRow)}


async def test_archive_and_undo(path: Path) -> None:
    """The whole chain goes at once, the cursor stays where it is, u brings back every byte."""
    before = dump(path)
    async with browsing(open_app(loose(path), NOW)) as browser:
        await go_to(browser, "root")
        line = browser.screen.rows.cursor
        await browser.press("a")
        assert "root" not in listed(browser) and browser.screen.rows.cursor == line
        assert "archived" in browser.text("#status") and "u undoes" in browser.text("#status")
        assert {id for id, flag in rows_of(path, "archived").items() if flag} == {"root", "tip", "put-away"}
        await browser.press("3")
        assert {"root", "put-away"} <= listed(browser)
        await go_to(browser, "put-away")
        await browser.press("a")  # brings back what is put away
        assert not rows_of(path, "archived")["put-away"]
        await browser.press("u", "u")
        assert "undone" in browser.text("#status")
        await browser.press("u")
        assert "nothing to undo" in browser.text("#status")
    assert not differences(before, dump(path)) and set(health(path).values()) == {"ok"}


@pytest.mark.slow
async def test_undo_pressed_twice_at_once(path: Path) -> None:
    """Takes back two things, the last one first, not one of them twice."""
    before = dump(path)
    async with browsing(open_app(loose(path), NOW)) as browser:
        await go_to(browser, "old")
        await browser.press("a")
        await go_to(browser, "new")
        await browser.press("D")
        await browser.press("y")
        await browser.pilot.press("u", "u")
        await browser.settle()
        assert not len(browser.screen.controllers.changing.journal)
    assert not differences(before, dump(path))


async def test_marks(path: Path) -> None:
    """One by one, as a range, all; counted where they can be seen; Esc takes them away before anything else."""
    async with browsing(open_app(loose(path), NOW)) as browser:
        await browser.press("space", "space")
        marks = browser.screen.controllers.changing.marks
        assert len(marks) == 2 and "2 marked" in browser.text("#views")
        assert browser.text("#list").count("✓") == 2
        await browser.press("up", "space")
        assert len(marks) == 1
        await browser.press("V", "down", "down", "V")
        assert len(marks) == 4
        await browser.press("escape")
        assert len(marks) == 0 and "marked" not in browser.text("#views") and browser.app.is_running
        await browser.press("asterisk")
        assert len(marks) == len(listed(browser)) > 3
        await browser.press("asterisk")
        assert not len(marks)
        await browser.press("2")
        await browser.press("home")
        row = browser.row
        assert isinstance(row, JobRow)
        await browser.press("space")
        assert len(marks) == len(row.runs), "a job stands for all its runs"


async def test_a_bulk_archive_spares_the_protected(path: Path) -> None:
    """And says how many, and why."""
    async with browsing(open_app(loose(path), NOW)) as browser:
        for root in ("old", "pinned", "boss"):
            await go_to(browser, root)
            await browser.press("space")
        await browser.press("a")
        status = browser.text("#status")
        assert "2 conversations archived" in status and "1 spared: pinned" in status
        put_away = {id for id, flag in rows_of(path, "archived").items() if flag}
        assert put_away == {"old", "boss", "put-away"}
        assert not len(browser.screen.controllers.changing.marks)
        await browser.press("u")
        assert {id for id, flag in rows_of(path, "archived").items() if flag} == {"put-away"}


@pytest.mark.parametrize(("shape", "can"), [("31", True), ("22", False)])
async def test_pin(tmp_path: Path, shape: str, can: bool) -> None:
    """Where the store has pins; where not, the screen says so and nothing is changed."""
    from builders import make_store

    path = make_store(tmp_path / "state.db", shape, [{"id": "a"}, {"id": "b"}], [{"session_id": "a", "content": "x"}])
    before = dump(path)
    async with browsing(open_app(loose(path), NOW)) as browser:
        await go_to(browser, "a")
        await browser.press("f")
        if not can:
            assert "Nothing was changed" in browser.text("#status")
        else:
            assert rows_of(path, "pinned") == {"a": 1, "b": 0} and "★" in browser.text("#list")
            await browser.press("f")
            assert rows_of(path, "pinned") == {"a": 0, "b": 0}
            await browser.press("u", "u")
    assert not differences(before, dump(path))


async def test_rename(path: Path) -> None:
    """What would be stored is said at each letter; a taken title is refused; u gives the old one back."""
    before = dump(path)
    async with browsing(open_app(loose(path), NOW)) as browser:
        await go_to(browser, "old")
        await browser.press("T")
        assert isinstance(browser.app.screen, RenameScreen)
        await browser.pilot.press("space", "space", "x")
        await browser.settle()
        assert "stored as Old plans x" in browser.text("#verdict")
        await browser.press("enter")
        assert rows_of(path, "title")["old"] == "Old plans x" and rows_of(path, "title_source")["old"] == "user"
        assert "Old plans x" in browser.text("#list")
        await browser.press("T")
        browser.app.screen.query_one("Input").value = "y" * 101  # type: ignore[attr-defined]
        await browser.press("enter")
        assert isinstance(browser.app.screen, RenameScreen) and "at most 100" in browser.text("#verdict")
        browser.app.screen.query_one("Input").value = "New plans"  # type: ignore[attr-defined]
        await browser.press("enter")
        assert "has the title" in browser.text("#verdict") and rows_of(path, "title")["old"] == "Old plans x"
        await browser.press("escape")
        await browser.press("T", "escape")
        await browser.press("u")
    assert not differences(before, dump(path))


async def test_delete_one_and_undo(path: Path) -> None:
    """After a different key; with its subagents; u brings back every row."""
    before = dump(path)
    async with browsing(open_app(loose(path), NOW)) as browser:
        await go_to(browser, "boss")
        await browser.press("D")
        assert isinstance(browser.app.screen, DeleteScreen)
        card = browser.card()
        assert "1 conversation to the trash" in card and "with 2 subagents" in card and "standalone" in card
        await browser.press("D")
        assert isinstance(browser.app.screen, DeleteScreen), "what asks is not what answers"
        await browser.press("escape")
        assert not differences(before, dump(path))
        await browser.press("D")
        await browser.press("y")
        assert "boss" not in listed(browser) and "boss" not in rows_of(path, "id")
        assert "moved to the trash" in browser.text("#status")
        await browser.press("u")
        assert "boss" in listed(browser)
    assert not differences(before, dump(path)) and set(health(path).values()) == {"ok"}


async def test_delete_several_asks_for_their_number(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Anything else leaves all as it is; y is a letter there; long work shows progress."""
    monkeypatch.setattr(cleaning, "_FEW_CONVERSATIONS", 0)
    seen: list[str] = []
    show = ProgressScreen.show

    def spy(self: ProgressScreen, share: float, words: str) -> None:
        show(self, share, words)
        seen.append(words)

    monkeypatch.setattr(ProgressScreen, "show", spy)
    before = dump(path)
    async with browsing(open_app(loose(path), NOW)) as browser:
        for root in ("old", "new", "pinned"):
            await go_to(browser, root)
            await browser.press("space")
        await browser.press("D")
        card = browser.card()
        assert "2 conversations" in card and "1 spared: 1 pinned" in card and "Old plans" in card
        await browser.press("y", "enter")
        assert isinstance(browser.app.screen, DeleteScreen) and "not 2" in browser.text("#answer")
        await browser.press("backspace", "2", "enter")
        assert isinstance(browser.app.screen, MainScreen) and seen and "2 of 2" in seen[-1]
        assert rows_of(path, "id").keys() & {"old", "new", "pinned"} == {"pinned"}
        await browser.press("u")
        assert ": 2 sessions" in browser.text("#status")
    assert not differences(before, dump(path))


@pytest.mark.slow
async def test_stopped_between_two_portions(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is done stays done, and one undo takes it back."""
    from hermes_browse.store.cleanup import bulk

    monkeypatch.setattr(cleaning, "_FEW_CONVERSATIONS", 0)
    monkeypatch.setattr(bulk, "_MOST_AT_ONCE", 1)
    show = ProgressScreen.show

    def stop(self: ProgressScreen, share: float, words: str) -> None:
        show(self, share, words)
        self.action_stop()

    monkeypatch.setattr(ProgressScreen, "show", stop)
    monkeypatch.setattr(bulk, "_LONGEST_PAUSE", 0.3)
    before = dump(path)
    async with browsing(open_app(loose(path), NOW)) as browser:
        browser.screen.context.writer.stopping.wait = lambda seconds: __import__("time").sleep(0.3)  # type: ignore[method-assign,assignment]
        await browser.press("asterisk")
        await browser.press("a")
        status = browser.text("#status")
        assert "stopped" in status and "as they were" in status
        assert len([1 for flag in rows_of(path, "archived").values() if flag]) < 5
        await browser.press("u")
    assert not differences(before, dump(path))


async def test_the_card_makes_ids_of_the_store_harmless(path: Path) -> None:
    """A reason names the subagent that stays by its id, and ids are as hostile as any text of a store."""
    evil = "help\x1b]0;owned\x07er"
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE messages SET session_id = ? WHERE session_id = 'helper'", [evil])
        connection.execute("UPDATE sessions SET id = ?, pinned = 1 WHERE id = 'helper'", [evil])
        connection.execute("UPDATE sessions SET parent_session_id = ? WHERE parent_session_id = 'helper'", [evil])
    connection.close()
    async with browsing(open_app(loose(path), NOW)) as browser:
        for root in ("old", "boss"):
            await go_to(browser, root)
            await browser.press("space")
        await browser.press("D")
        card = browser.card()
        assert "its subagent help" in card and "\x1b" not in card and "\x07" not in card


async def test_what_is_live_is_not_deleted(path: Path) -> None:
    """The reason stands in the status line."""
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(
            "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('old', 'user', 'hi', ?)", [NOW - 5]
        )
    connection.close()
    before = dump(path)
    async with browsing(open_app(loose(path), NOW)) as browser:
        await go_to(browser, "old")
        await browser.press("D")
        assert isinstance(browser.app.screen, MainScreen)
        assert "left as it is" in browser.text("#status") and "last write 5 seconds ago" in browser.text("#status")
    assert not differences(before, dump(path))


async def test_a_busy_store_says_so_and_the_undo_stays(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was changed, and it can be tried again."""
    from hermes_browse.store.edit import flags

    async with browsing(open_app(loose(path), NOW)) as browser:
        await go_to(browser, "old")
        await browser.press("a")
        holder = sqlite3.connect(path, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        monkeypatch.setattr("hermes_browse.store.edit.transaction._ATTEMPT", 0.05)
        monkeypatch.setattr("hermes_browse.store.edit.flags.PATIENCE", 0.1)
        monkeypatch.setattr("hermes_browse.store.edit.flags.undo.__kwdefaults__", {"patience": 0.1})
        await browser.press("u")
        assert "busy" in browser.text("#status") and len(browser.screen.controllers.changing.journal) == 1
        holder.execute("ROLLBACK")
        holder.close()
        await browser.press("u")
        assert not rows_of(path, "archived")["old"] and flags.archive is not None


@pytest.mark.slow
async def test_from_the_results_of_a_search(path: Path) -> None:
    """A hit stands for its conversation; what was deleted is found no more."""
    async with browsing(open_app(loose(path), NOW)) as browser:
        await browser.press("slash")
        await browser.type("hello")
        await browser.press("enter")
        await go_to(browser, "old")
        await browser.press("D")
        await browser.press("y")
        assert "old" not in listed(browser)
        assert browser.screen.controllers.searching.is_active


async def test_export(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Into a file of the proposed name; what is there stays until it is said that it may go; formats by a key."""
    monkeypatch.chdir(tmp_path)
    async with browsing(open_app(loose(path), NOW)) as browser:
        await go_to(browser, "old")
        await browser.press("e", "enter")
        saved = tmp_path / "Old plans.md"
        assert "hello there" in saved.read_text(encoding="utf-8") and "saved" in browser.text("#status")
        saved.write_text("mine", encoding="utf-8")
        await browser.press("e", "enter")
        assert isinstance(browser.app.screen, ExportScreen) and "already" in browser.text("#verdict")
        assert saved.read_text(encoding="utf-8") == "mine"
        await browser.press("ctrl+o")
        assert "hello there" in saved.read_text(encoding="utf-8")
        await browser.press("e", "down", "down", "enter")
        assert (tmp_path / "Old plans.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
        await browser.press("e")
        browser.app.screen.query_one("Input").value = str(path)  # type: ignore[attr-defined]
        await browser.press("enter")
        assert "belongs to the session store" in " ".join(browser.text("#verdict").split())  # wrapped somewhere


@pytest.mark.parametrize("name", slow_but(["state-v22"], ["state-v11", "state-v14", "state-v22", "state-v31"]))
async def test_every_schema_archives_deletes_and_undoes(name: str, fixture_store: Callable[[str], Path]) -> None:
    """On a store of each Hermes: all that is listed, away and back, and it is what it was."""
    path = fixture_store(name)
    async with browsing(open_app(loose(path), NOW + 400 * 86_400)) as browser:
        before = dump(path)
        await browser.press("4")
        await browser.press("asterisk")
        await browser.press("D")
        assert isinstance(browser.app.screen, DeleteScreen)
        count = browser.app.screen._plan.totals().conversations
        for letter in str(count):
            await browser.press(letter)
        await browser.press("enter")
        assert len(rows_of(path, "id")) < len(before["sessions"])
        await browser.press("u")
        assert "restored" in browser.text("#status"), browser.text("#status")
    changed = differences(before, dump(path))
    # A parent that is in no store cannot be put back: foreign keys are on while we write.
    assert changed.keys() <= {"sessions"} and changed.get("sessions", (0, 0)) in ((0, 0), (1, 1))


async def test_what_has_no_name_is_saved_under_its_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not under the words that stand in the list in its place."""
    monkeypatch.chdir(tmp_path)
    messages = [{"session_id": "20260101_101010_abc", "role": "assistant", "content": ""}]
    make_store(tmp_path / "other.db", "22", [{"id": "20260101_101010_abc", "title": None}], messages)
    async with browsing(open_app(loose(tmp_path / "other.db"), NOW)) as browser:
        await browser.press("4", "e", "enter")
        assert (tmp_path / "20260101_101010_abc.md").exists(), browser.text("#status")


@pytest.mark.slow
async def test_the_undo_of_several_goes_on_past_one_that_is_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One was put back by other means and has changed since: the others come back too, and it is said."""
    monkeypatch.setattr(bulk, "_MOST_AT_ONCE", 1)  # a bundle each
    sessions = [{"id": each, "title": each} for each in "abc"]
    messages = [{"session_id": each, "content": f"{n} of {each}"} for each in "abc" for n in range(30)]
    path = make_store(tmp_path / "other.db", "22", sessions, messages)
    async with browsing(open_app(loose(path), NOW)) as browser:
        await browser.press("4", "asterisk", "D")
        await browser.press("3", "enter")
        assert rows_of(path, "id") == {}
        trash = trash_folder(browser.app.location)
        one = next(each for each in list_bundles(trash) if "b" in each.sessions)
        restore(browser.screen.context.store, trash, one.name)
        titles.rename(browser.screen.context.store, "b", "another")
        await browser.press("u")
        assert set(rows_of(path, "id")) == set("abc")
        assert ": 2 sessions" in browser.text("#status") and "b is not restored" in browser.text("#status")
