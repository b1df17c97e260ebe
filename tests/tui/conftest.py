"""What every test of the screen needs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from browsing import Browser, HeldAnswers, on_demo
from pruning import family


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
def answers(monkeypatch: pytest.MonkeyPatch) -> HeldAnswers:
    """What reads and writes return to the screen, to be held back."""
    return HeldAnswers(monkeypatch)


@pytest.fixture
async def browser(tmp_path: Path) -> AsyncIterator[Browser]:
    """The browser on a fresh demo home."""
    async with on_demo(tmp_path) as running:
        yield running


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
