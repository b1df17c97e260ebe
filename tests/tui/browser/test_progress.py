"""The card of long work: a single large conversation has one too, and so has its way back."""

import pytest
from browsing import on_store
from builders import make_store
from pruning import NOW, aged
from textual.widgets import ProgressBar, Static
from trashing import as_before

from hermes_browse.store.edit import delete_plan
from hermes_browse.tui.browser.edit.long_writes import ProgressCard
from hermes_browse.tui.screens.trash import TrashScreen


@pytest.fixture
def path(tmp_path):
    """A store with a conversation of three thousand messages."""
    messages = [
        {"session_id": "big", "content": f"quay {n}", "timestamp": NOW - 9e6} for n in range(3000)
    ]
    return make_store(tmp_path / "state.db", "22", [aged("big", 100, title="Big")], messages)


@pytest.fixture
def shown(monkeypatch):
    """What the card showed."""
    found = []
    show = ProgressCard.show

    def spy(self, share, words):
        show(self, share, words)
        found.append((share, words))

    monkeypatch.setattr(ProgressCard, "show", spy)
    return found


@pytest.mark.slow
async def test_progress_before_the_card_is_there(path):
    """The first portion may be done before Textual has made the widgets of the card."""
    async with on_store(path, NOW) as browser:
        card = ProgressCard("Work")
        browser.app.push_screen(card)
        card.show(0.5, "half of it")
        await browser.settle()
        card.show(0.75, "three quarters")
        assert "three quarters" in browser.card()
        card.dismiss()


@pytest.mark.slow
async def test_one_large_conversation(path, shown):
    """Deleted and put back with a count of its messages, from nothing to all."""
    with as_before(path):
        async with on_store(path, NOW) as browser:
            await browser.press("D", "y")
            words = [words for _, words in shown]
            assert "0 of 1 · saving 0 of 3,000 messages" in words[0] and words[-1].startswith(
                "1 of 1"
            )
            assert any("deleting 3,000 of 3,000 messages" in each for each in words)
            shares = [share for share, _ in shown]
            assert shares == sorted(shares) and shares[-1] == 1.0
            shown.clear()
            await browser.press("X", "r")
            assert any("0 of 1 · restoring 3,000 of 3,000 messages" in each for _, each in shown)
            assert (
                isinstance(browser.app.screen, TrashScreen)
                and "restored 1 session" in browser.status
            )


@pytest.mark.slow
async def test_what_holds_hermes_up_is_said(path, monkeypatch):
    """A conversation that takes longer to delete than Hermes waits for the lock is asked about with
    a warning."""
    async with on_store(path, NOW) as browser:
        await browser.press("D")
        assert "cannot write" not in browser.card()
        await browser.press("escape")
        monkeypatch.setattr(delete_plan, "_LOCK_PATIENCE", 1.0)
        await browser.press("D")
        assert (
            "3,000 messages" in browser.card()
            and "about 2 seconds Hermes cannot write" in browser.card()
        )
        await browser.press("escape")


@pytest.mark.slow
async def test_stopped_within_it(path, shown, monkeypatch):
    """Esc while it is saved: it stays whole, and nothing is in the trash."""
    show = ProgressCard.show

    def stop(self, share, words):
        show(self, share, words)
        self.action_stop()

    monkeypatch.setattr(ProgressCard, "show", stop)
    with as_before(path):
        async with on_store(path, NOW) as browser:
            await browser.press("D", "y")
            status = browser.status
            undone = "u undoes" in status  # it may have been too quick to be stopped
            if undone:
                await browser.press("u")
            else:
                assert (
                    "stopped, 1 are as they were" in status or "stopped, 1 is as it was" in status
                ), status


@pytest.mark.slow
async def test_it_can_be_seen_at_80_columns(path):
    """The bar has cells, and no line of words is cut."""
    async with on_store(path, NOW, (80, 24)) as browser:
        progress = ProgressCard("1 conversation to be moved to the trash · 50,000 messages")
        await browser.app.push_screen(progress)
        progress.show(0.5, "0 of 1 · deleting 12,500 of 50,000 messages · 0:41 left")
        await browser.settle()
        bar = progress.query_one(ProgressBar).query_one("#bar")
        assert bar.region.width > 40 and bar.region.height == 1
        assert bar.region in progress.query_one("#card").region
        for each in progress.query(Static):
            shown = " ".join(
                "".join(strip.text.split()) for strip in each.render_lines(each.size.region)
            )
            assert "".join(str(each.render()).split()) == shown.replace(" ", ""), (
                "all of it is on the screen"
            )
