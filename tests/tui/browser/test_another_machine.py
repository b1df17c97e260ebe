"""The browser on another machine's store, through the real ssh client: read, change, undo, resume,
what it refuses."""

from pathlib import Path

import pytest
from browsing import on_demo
from trashing import add_message, execute, opened, rows, run

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.places.place import Place
from hermes_browse.store.sessions.catalog import read_catalog
from hermes_browse.store.sessions.models import View
from hermes_browse.tui.browser.list.rows import ConversationRow
from hermes_browse.tui.work.application import Arrival

NOW = 1_800_000_000.0


@pytest.fixture
def machine(ssh_server, hermes_home):
    """A machine with a recorded store of Hermes 0.19."""
    return ssh_server(hermes_home)


@pytest.fixture
async def browser(tmp_path, machine):
    """The browser that has switched from the sample store to that of the machine."""
    folder = tmp_path / "demo"
    folder.mkdir()
    async with on_demo(folder) as browser:
        at = Location(Path(machine.host.name), host=machine.host)
        browser.screen.switching.to_place(Place(0, at, browser.app.links), Arrival())
        await browser.settle()
        assert browser.screen.location.host == machine.host
        yield browser


def _tip(browser):
    row = browser.row
    assert isinstance(row, ConversationRow)
    return row.conversation.id


def _conversations(machine):
    """Title and archive flag of each conversation, from the file itself."""
    with Store(machine.home / "state.db").reader() as reader:
        catalog = read_catalog(reader, NOW)
        every = (catalog.conversation(root) for root in catalog.order(View.ALL))
        return {each.id: (each.title, each.archived) for each in every}


@pytest.mark.slow
async def test_a_conversation_is_read_there_as_here(browser, machine):
    screen = browser.screen
    assert "vps" in browser.text("#header")
    await browser.press("4", "down")
    row = browser.row
    assert isinstance(row, ConversationRow) and len(screen.transcript.page)
    await browser.search("the")
    assert screen.results


@pytest.mark.slow
async def test_changes_and_the_run_are_read_there(browser, machine):
    await browser.press("F")
    assert "No edit of a file is stored" in browser.text("#files")
    await browser.press("escape", "B")
    assert "1 turn" in browser.text("#facts") and "parts" in browser.text("#axis")


@pytest.mark.slow
async def test_archive_rename_delete_and_their_undo_happen_there(browser, machine):
    before = _conversations(machine)
    tip = _tip(browser)
    await browser.press("a")
    said = browser.status
    assert _conversations(machine)[tip][1]
    assert "archived “" in said and "on vps · u undoes" in said
    await browser.press("u")
    assert _conversations(machine) == before
    tip = _tip(browser)
    await browser.press("D", "y")
    assert tip not in _conversations(machine), browser.status
    await browser.press("u")
    assert _conversations(machine) == before and "restored 1 conversation" in browser.status


@pytest.mark.slow
async def test_a_change_there_that_waits_for_another_writer_says_so(browser, machine):
    """Soon, as it would here; and what was done takes its place."""
    with opened(machine.home / "state.db") as other:
        other.execute("BEGIN IMMEDIATE")
        await browser.send("a")
        await browser.wait_until(lambda: "waiting for the store" in browser.status)
        other.execute("ROLLBACK")
    await browser.settle()
    assert "archived" in browser.status


@pytest.mark.slow
async def test_a_message_that_is_too_long_to_be_sent_keeps_no_other_away(browser, machine):
    """A sentence stands in its place."""
    path = machine.home / "state.db"
    for (name,) in rows(path, "SELECT name FROM sqlite_master WHERE type = 'trigger'"):
        run(path, f'DROP TRIGGER "{name}"')
    execute(path, "INSERT INTO sessions (id, source, started_at) VALUES ('long', 'cli', ?)", NOW)
    for number, text in enumerate(("before it", "ä" * 33_000_000, "after it")):
        add_message(path, "long", text, NOW + number)
    await browser.follow()
    await browser.press("4", "home")
    assert _tip(browser) == "long"
    await browser.press("tab", "end")
    shown = browser.text("#transcript")
    assert "[this message is too long to be sent by that machine]" in " ".join(shown.split())
    assert "before it" in shown and "after it" in shown
    await browser.press("home")
    assert "before it" in browser.text("#transcript")
    add_message(path, "long", "written since", NOW + 9)
    browser.screen.loader.read_new()
    await browser.settle()
    await browser.press("end")
    assert "written since" in browser.text("#transcript"), "news come in"
    await browser.press("backslash", *"after it")
    assert "1 of 1 message" in browser.text("#ask-answer"), "and it can be searched"


@pytest.mark.slow
async def test_a_resume_ends_the_browser_with_the_command_of_ssh(browser, machine):
    tip = _tip(browser)
    await browser.press("R")
    plan = browser.app.return_value
    assert Path(plan.executable or "").name == "ssh"
    line = f"hermes-browse resume --yes -- {tip}"
    assert plan.argv == ("ssh", "-t", *machine.host.ssh_words(), line)


@pytest.mark.slow
async def test_a_risky_resume_shows_its_card_first(browser, machine):
    """The warnings are those of the machine, and the command can be copied."""
    screen = browser.screen
    await browser.press("2", "R")
    assert (
        "on vps" in browser.card() and "! " in browser.card() and "resume --yes" in browser.card()
    )
    await browser.press("escape")
    assert browser.app.screen is screen


@pytest.mark.slow
@pytest.mark.parametrize("key", ["X", "H", "W", "5"])
async def test_what_is_in_files_there_is_named_with_its_command(browser, machine, key):
    screen = browser.screen
    await browser.press(key)
    assert browser.app.screen is screen and "kept on vps" in browser.status


@pytest.mark.slow
async def test_a_machine_that_dies_says_so_and_comes_back_by_itself(browser, machine, monkeypatch):
    """The list stays, a sentence says why nothing more comes, and list and transcript go on when it
    is there again."""
    monkeypatch.setattr("hermes_browse.store.hosts.connection.POLL_SECONDS", 0.1)
    monkeypatch.setattr("hermes_browse.store.hosts.connection.RETRY_SECONDS", 0.1)
    screen = browser.screen
    rows = len(screen.rows)
    machine.stop()
    await browser.wait_until(lambda: "vps: " in browser.status)
    assert len(screen.rows) == rows
    await browser.press("down")
    assert screen.transcript.model is None
    title = "UPDATE sessions SET title = 'while it was away' WHERE id = ?"
    execute(machine.home / "state.db", title, _tip(browser))
    machine.start()
    await browser.wait_until(lambda: "while it was away" in browser.text("#list"))
    await browser.wait_until(lambda: screen.transcript.model is not None)


@pytest.mark.slow
async def test_the_way_home_is_open_while_a_machine_is_away(browser, machine):
    screen = browser.screen
    machine.stop()
    here = browser.app.here
    screen.switching.to(here, Arrival())
    await browser.settle()
    assert browser.screen.location == here
