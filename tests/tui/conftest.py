"""What every test of the screen needs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from browsing import Browser, HeldAnswers, browsing, demo_app
from pruning import family

from hermes_browse.tui.app import BrowseApp


@pytest.fixture(autouse=True)
def no_desktop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests never fill the clipboard of whoever runs them: only the terminal's own route is
    left."""
    monkeypatch.setattr("hermes_browse.tui.terminal.programs.tools", lambda *given: {})


@pytest.fixture
def clipboard(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was copied."""
    copied: list[str] = []
    monkeypatch.setattr(
        "hermes_browse.tui.app.BrowseApp.copy_to_clipboard", lambda app, text: copied.append(text)
    )
    return copied


@pytest.fixture
def app(tmp_path: Path) -> BrowseApp:
    """The browser on a fresh demo home; a file may define another."""
    return demo_app(tmp_path)


@pytest.fixture
async def browser(app: BrowseApp) -> AsyncIterator[Browser]:
    """The browser while it runs."""
    async with browsing(app) as running:
        yield running


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> HeldAnswers:
    """Holds back what the browser waits for."""
    return HeldAnswers(monkeypatch)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with one of each kind of conversation, all of them long idle; a file may define
    another."""
    return family(tmp_path / "state.db")


@pytest.fixture(autouse=True)
def no_freezing(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """The browser collects garbage and freezes the rest when it has read the list
    (`screens/listing.py`).

    That is right for one browser in a process. Here it would go through all that hundreds of tests
    have left.
    """
    if not request.node.get_closest_marker("collector"):
        nothing = SimpleNamespace(
            **dict.fromkeys(("collect", "disable", "enable", "freeze", "unfreeze"), lambda: None)
        )
        monkeypatch.setattr("hermes_browse.tui.browser.list.listing.gc", nothing)
        monkeypatch.setattr("hermes_browse.tui.browser.main.gc", nothing)
