"""`doctor` on the screen: the facts of the command, each problem with its remedy, taken off the
screen's thread."""

import sys
import threading

import pytest
from browsing import NOW, browsing, demo_app, on_store
from builders import make_store
from user_config import write_config

from hermes_browse.store.connection.reader import Reader
from hermes_browse.tui.browser.main import MainScreen
from hermes_browse.tui.screens import doctor as doctor
from hermes_browse.tui.screens.doctor import DoctorScreen
from hermes_browse.tui.settings.read_config import config_path
from hermes_browse.tui.text import checkup


@pytest.mark.slow
async def test_problems_first_then_how_everything_is(tmp_path, monkeypatch):
    """What does not hold in the configuration is there with its line and its remedy; F5 looks
    again."""
    write_config("theme = 3\n")
    monkeypatch.setattr(checkup, "disk_free", lambda path: 5_000_000_000)  # others write meanwhile
    app = demo_app(tmp_path)
    async with browsing(app, (200, 60)) as browser:  # paths of a temporary folder can be long
        await browser.press("H")
        assert isinstance(browser.app.screen, DoctorScreen)
        text = browser.text("#report")
        found = checkup.examine(app.store, app.location, sys.__stdout__)
        assert "! warning" in text and "line 1" in text and "not found" in text
        for name, told in checkup.facts(found):
            assert name in text and told.split(" (")[0][:60] in text
        assert text.index("→") < text.index("journal mode")
        config_path().unlink()
        await browser.press("f5")
        assert "line 1" not in browser.text("#report")
        await browser.press("escape")
        assert isinstance(browser.app.screen, MainScreen)


@pytest.mark.slow
async def test_a_store_that_went_away(tmp_path):
    """Is an error with a remedy, and everything else is told all the same."""
    path = make_store(tmp_path / "state.db", "22", [{"id": "a"}])
    async with on_store(path, NOW, (80, 24)) as browser:
        path.unlink()
        await browser.press("H")
        text = browser.text("#report")
        assert "✗ error" in text and "no session store" in text and "clipboard" in text
        assert "1 error" in browser.text("#header")


@pytest.mark.slow
async def test_the_screen_never_waits(tmp_path, monkeypatch):
    """Nothing of it runs on the screen's thread, and what goes wrong there is a sentence."""
    threads = set()
    original = Reader.rows

    def rows(self, *given):
        threads.add(threading.current_thread())
        return original(self, *given)

    app = demo_app(tmp_path)
    async with browsing(app) as browser:
        monkeypatch.setattr(Reader, "rows", rows)
        await browser.press("H")
        assert threads and threading.main_thread() not in threads

        def broken(*given):
            raise RuntimeError("secret words")

        monkeypatch.setattr(doctor, "examine", broken)
        await browser.press("f5")
        told = browser.text("#header")
        assert "RuntimeError" in told and "secret" not in told and "looking" not in told


@pytest.mark.slow
async def test_the_report_can_be_copied(tmp_path, monkeypatch):
    """As plain text, problems included."""
    app = demo_app(tmp_path)
    async with browsing(app) as browser:
        copied = []
        monkeypatch.setattr(app, "copy_to_clipboard", copied.append)
        await browser.press("H", "y")
        assert "journal mode" in copied[0] and "→" in copied[0]
        assert "the report" in browser.status
