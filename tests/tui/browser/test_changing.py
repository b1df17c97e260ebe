"""What keys of the main screen do to a store: marks, archive, pin, rename, export, and the undo of
each."""

import pytest
from browsing import go_to, listed, on_store
from builders import make_store
from pruning import NOW
from trashing import as_before, column_of, is_sound, opened

from hermes_browse.tui.browser.edit.naming import RenameCard
from hermes_browse.tui.browser.list.rows import JobRow
from hermes_browse.tui.screens.exporting import ExportCard


async def test_archive_and_undo(path):
    """The whole chain goes at once, the cursor stays where it is, u brings back every byte."""
    with as_before(path):
        async with on_store(path, NOW) as browser:
            await go_to(browser, "root")
            line = browser.screen.rows.cursor
            await browser.press("a")
            assert "root" not in listed(browser) and browser.screen.rows.cursor == line
            assert "archived" in browser.status and "u undoes" in browser.status
            assert {id for id, flag in column_of(path, "archived").items() if flag} == {
                "root",
                "tip",
                "put-away",
            }
            await browser.press("3")
            assert {"root", "put-away"} <= listed(browser)
            await go_to(browser, "put-away")
            await browser.press("a")  # brings back what is put away
            assert not column_of(path, "archived")["put-away"]
            await browser.press("u", "u")
            assert "undone" in browser.status
            await browser.press("u")
            assert "nothing to undo" in browser.status
        assert is_sound(path)


@pytest.mark.slow
async def test_undo_pressed_twice_at_once(path):
    """Takes back two things, the last one first, not one of them twice."""
    with as_before(path):
        async with on_store(path, NOW) as browser:
            await go_to(browser, "old")
            await browser.press("a")
            await go_to(browser, "new")
            await browser.press("D", "y")
            await browser.pilot.press("u", "u")
            await browser.settle()
            assert not len(browser.screen.edits.journal)


async def test_an_untitled_conversation_is_named_as_its_row(tmp_path):
    """By its first words, not by its id; in what is undone, too."""
    messages = [
        {
            "session_id": "20260101_000000_abcdef",
            "content": "Busiest sailing of May?",
            "timestamp": NOW - 60,
        }
    ]
    sessions = [{"id": "20260101_000000_abcdef", "started_at": NOW - 90, "ended_at": NOW - 50}]
    path = make_store(tmp_path / "state.db", "31", sessions, messages)
    async with on_store(path, NOW) as browser:
        await browser.press("a")
        assert "archived “Busiest sailing of May?” · u undoes" in browser.status
        await browser.press("u")
        assert "undone: archived “Busiest sailing of May?”" in browser.status


async def test_marks(path):
    """One by one, as a range, all; counted where they can be seen; Esc takes them away before
    anything else."""
    async with on_store(path, NOW) as browser:
        await browser.press("space", "space")
        marks = browser.screen.marks
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
        await browser.press("2", "home")
        row = browser.row
        assert isinstance(row, JobRow)
        await browser.press("space")
        assert len(marks) == len(row.runs), "a job stands for all its runs"


@pytest.mark.slow
async def test_a_bulk_archive_spares_the_protected(path):
    """And says how many, and why."""
    async with on_store(path, NOW) as browser:
        for root in ("old", "pinned", "boss"):
            await go_to(browser, root)
            await browser.press("space")
        await browser.press("a")
        status = browser.status
        assert "2 conversations archived" in status and "1 protected: pinned" in status
        put_away = {id for id, flag in column_of(path, "archived").items() if flag}
        assert put_away == {"old", "boss", "put-away"}
        assert not len(browser.screen.marks)
        await browser.press("u")
        assert {id for id, flag in column_of(path, "archived").items() if flag} == {"put-away"}


@pytest.mark.slow
@pytest.mark.parametrize("shape, can", [("31", True), ("22", False)])
async def test_pin(tmp_path, shape, can):
    """Where the store has pins; where not, the screen says so and nothing is changed."""
    from builders import make_store

    path = make_store(
        tmp_path / "state.db",
        shape,
        [{"id": "a"}, {"id": "b"}],
        [{"session_id": "a", "content": "x"}],
    )
    with as_before(path):
        async with on_store(path, NOW) as browser:
            await go_to(browser, "a")
            await browser.press("f")
            if not can:
                assert "Nothing was changed" in browser.status
            else:
                assert column_of(path, "pinned") == {"a": 1, "b": 0} and "★" in browser.text(
                    "#list"
                )
                await browser.press("f")
                assert column_of(path, "pinned") == {"a": 0, "b": 0}
                await browser.press("u", "u")


async def test_rename(path):
    """What would be stored is said at each letter; a taken title is refused; u gives the old one
    back."""
    with as_before(path):
        async with on_store(path, NOW) as browser:
            await go_to(browser, "old")
            await browser.press("f2")
            assert isinstance(browser.app.screen, RenameCard)
            await browser.pilot.press("space", "space", "x")
            await browser.settle()
            assert "stored as Old plans x" in browser.text("#verdict")
            await browser.press("enter")
            assert (
                column_of(path, "title")["old"] == "Old plans x"
                and column_of(path, "title_source")["old"] == "user"
            )
            assert "Old plans x" in browser.text("#list") and "Old plans x" in browser.text(
                "#title"
            )
            await browser.press("f2")
            browser.app.screen.query_one("Input").value = "y" * 101
            await browser.press("enter")
            assert isinstance(browser.app.screen, RenameCard) and "at most 100" in browser.text(
                "#verdict"
            )
            browser.app.screen.query_one("Input").value = "New plans"
            await browser.press("enter")
            assert (
                "has the title" in browser.text("#verdict")
                and column_of(path, "title")["old"] == "Old plans x"
            )
            await browser.press("escape", "f2", "escape", "u")


async def test_a_busy_store_says_so_and_the_undo_stays(path, monkeypatch):
    """Nothing was changed, and it can be tried again."""
    async with on_store(path, NOW) as browser:
        await go_to(browser, "old")
        await browser.press("a")
        monkeypatch.setattr("hermes_browse.store.edit.transaction._ATTEMPT", 0.05)
        monkeypatch.setattr("hermes_browse.store.edit.transaction.PATIENCE", 0.1)
        with opened(path) as holder:
            holder.execute("BEGIN IMMEDIATE")
            await browser.press("u")
            assert "busy" in browser.status and len(browser.screen.edits.journal) == 1
        await browser.press("u")
        assert not column_of(path, "archived")["old"]


@pytest.mark.slow
async def test_export(path, tmp_path, monkeypatch):
    """Into a file of the proposed name; what is there stays until it is said that it may go;
    formats by a key."""
    monkeypatch.chdir(tmp_path)
    async with on_store(path, NOW) as browser:
        await go_to(browser, "old")
        await browser.press("e", "enter")
        saved = tmp_path / "Old plans.md"
        assert "hello there" in saved.read_text(encoding="utf-8") and "saved" in browser.status
        saved.write_text("mine", encoding="utf-8")
        await browser.press("e", "enter")
        assert isinstance(browser.app.screen, ExportCard) and "already" in browser.text("#verdict")
        assert saved.read_text(encoding="utf-8") == "mine"
        await browser.press("ctrl+o")
        assert "hello there" in saved.read_text(encoding="utf-8")
        other = tmp_path / "other.html"
        other.write_text("mine", encoding="utf-8")
        await browser.press("e", "enter")
        browser.app.screen.query_one("Input").value = "other.html"
        await browser.press("ctrl+o")  # nothing was said of this one
        assert other.read_text(encoding="utf-8") == "mine"
        await browser.press("enter", "ctrl+o")
        assert other.read_text(encoding="utf-8").startswith("<!DOCTYPE html>"), "as it is named"
        await browser.press("e", "down", "down", "enter")
        assert (
            (tmp_path / "Old plans.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
        )
        await browser.press("e")
        browser.app.screen.query_one("Input").value = str(path)
        await browser.press("enter")
        assert "belongs to the session store" in " ".join(
            browser.text("#verdict").split()
        )  # wrapped somewhere


async def test_what_has_no_name_is_saved_under_its_id(tmp_path, monkeypatch):
    """Not under the words that stand in the list in its place."""
    monkeypatch.chdir(tmp_path)
    messages = [{"session_id": "20260101_101010_abc", "role": "assistant", "content": ""}]
    make_store(
        tmp_path / "other.db", "22", [{"id": "20260101_101010_abc", "title": None}], messages
    )
    async with on_store(tmp_path / "other.db", NOW) as browser:
        await browser.press("4", "e", "enter")
        assert (tmp_path / "20260101_101010_abc.md").exists(), browser.status
