"""The card that saves conversations: which messages go into a file, and what is said of those that
do not."""

import threading

import pytest
from browsing import on_store
from builders import make_store
from pruning import NOW
from textual.widgets import Input

from hermes_browse.store.errors import BrowseError
from hermes_browse.tui.screens import exporting


@pytest.fixture
def path(tmp_path, monkeypatch):
    """A store of one message, in the current folder."""
    monkeypatch.chdir(tmp_path)
    message = {"session_id": "a", "content": "x"}
    return make_store(tmp_path / "state.db", sessions=[{"id": "a"}], messages=[message])


@pytest.mark.slow
async def test_what_was_typed_outlives_a_failure(path, tmp_path, monkeypatch):
    """A file that cannot be written leaves the card with its path and says why there; another path
    is saved to."""
    full = BrowseError("The disk is full.", remedy="Make room.")
    async with on_store(path, NOW, (80, 24)) as browser:
        real = exporting.FileExport.save

        def fail(*given, **named):
            raise full

        monkeypatch.setattr(exporting.FileExport, "save", fail)
        await browser.press("e")
        box = browser.app.screen.query_one(Input)
        box.value = str(tmp_path / "typed by hand.md")
        await browser.press("enter")
        assert isinstance(browser.app.screen, exporting.ExportCard)
        assert box.value.endswith(
            "typed by hand.md"
        ) and "The disk is full. Make room." in browser.text("#verdict")
        await browser.press("down", "up")
        assert box.value.endswith("typed by hand.md")
        monkeypatch.setattr(exporting.FileExport, "save", real)
        await browser.press("enter")
        assert browser.app.screen is browser.screen and (tmp_path / "typed by hand.md").exists()


@pytest.mark.slow
async def test_a_card_that_was_left_says_it_in_the_status_line(path, monkeypatch):
    """Esc while it is being saved leaves the card and not the saving; a failure is told where one
    looks then."""
    let_go = threading.Event()

    def slow(*given, **named):
        assert let_go.wait(60)
        raise BrowseError("The disk is full.")

    monkeypatch.setattr(exporting.FileExport, "save", slow)
    async with on_store(path, NOW, (80, 24)) as browser:
        await browser.press("e")
        await browser.send("enter", "enter")
        assert "saving" in browser.text("#verdict") and browser.app.writes.is_busy
        await browser.send("escape")
        assert browser.app.screen is browser.screen
        let_go.set()
        await browser.settle()
        assert browser.app.screen is browser.screen and "The disk is full." in browser.status
