"""The card of long work: a single large conversation has one too, and so has its way back."""

from __future__ import annotations

from pathlib import Path

import pytest
from browsing import browsing, loose, open_app
from builders import make_store
from pruning import NOW, aged
from textual.screen import Screen
from trashing import differences, dump

from hermes_browse.tui.screens.help import HelpScreen
from hermes_browse.tui.screens.progress import ProgressScreen
from hermes_browse.tui.screens.trash import TrashScreen

Shown = list[tuple[float, str]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with a conversation of three thousand messages."""
    messages = [{"session_id": "big", "content": f"quay {n}", "timestamp": NOW - 9e6} for n in range(3000)]
    return make_store(tmp_path / "state.db", "22", [aged("big", 100, title="Big")], messages)


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Shown:
    """What the card showed."""
    found: Shown = []
    show = ProgressScreen.show

    def spy(self: ProgressScreen, share: float, words: str) -> None:
        show(self, share, words)
        found.append((share, words))

    monkeypatch.setattr(ProgressScreen, "show", spy)
    return found


async def test_one_large_conversation(path: Path, shown: Shown) -> None:
    """Deleted and put back with a count of its messages, from nothing to all."""
    before = dump(path)
    async with browsing(open_app(loose(path), NOW)) as browser:
        await browser.press("D")
        await browser.press("y")
        words = [words for _, words in shown]
        assert "0 of 1 · saving 0 of 3,000 messages" in words[0] and words[-1].startswith("1 of 1")
        assert any("deleting 3,000 of 3,000 messages" in each for each in words)
        shares = [share for share, _ in shown]
        assert shares == sorted(shares) and shares[-1] == 1.0
        shown.clear()
        await browser.press("X", "r")
        assert any("0 of 1 · putting back 3,000 of 3,000 messages" in each for _, each in shown)
        assert isinstance(browser.app.screen, TrashScreen) and "put back 1 session" in browser.text("#status")
    assert not differences(before, dump(path))


async def test_stopped_within_it(path: Path, shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    """Esc while it is saved: it stays whole, and nothing is in the trash."""
    show = ProgressScreen.show

    def stop(self: ProgressScreen, share: float, words: str) -> None:
        show(self, share, words)
        self.action_stop()

    monkeypatch.setattr(ProgressScreen, "show", stop)
    before = dump(path)
    async with browsing(open_app(loose(path), NOW)) as browser:
        await browser.press("D")
        await browser.press("y")
        status = browser.text("#status")
        undone = "u undoes" in status  # it may have been too quick to be stopped
        if undone:
            await browser.press("u")
        else:
            assert "stopped, 1 are as they were" in status or "stopped, 1 is as it was" in status, status
    assert not differences(before, dump(path))


async def test_it_goes_though_something_stands_on_it(path: Path) -> None:
    """A card that is done while another covers it goes when that has gone, not before and not never."""
    async with browsing(open_app(loose(path), NOW)) as browser:
        progress = ProgressScreen("1 conversation")
        await browser.app.push_screen(progress)
        over: Screen[None] = HelpScreen()
        await browser.app.push_screen(over)
        progress.finish()
        await browser.pilot.pause()
        assert browser.app.screen is over
        await browser.press("escape")
        assert browser.app.screen is browser.screen
