"""What the screen says at once, and what no longer: waits, plans being made, fields, idle keys."""

import threading

import pytest
from browsing import on_store
from pruning import NOW
from textual.widgets import Input
from trashing import opened, session_ids

from hermes_browse.store.api import OpenStore
from hermes_browse.tui.screens.cleanup.prune_screen import PruneScreen
from hermes_browse.tui.widgets.lines import TextLine


@pytest.mark.slow
@pytest.mark.parametrize("key", ["D", "a"])
async def test_a_key_for_a_plan_that_is_being_made(path, monkeypatch, key):
    """It says so and waits for the new plan; the numbers of the old one are dim."""
    may_go_on = threading.Event()
    may_go_on.set()

    plan = OpenStore.plan

    def slow(*given, **named):
        may_go_on.wait()
        return plan(*given, **named)

    monkeypatch.setattr(OpenStore, "plan", slow)
    before = session_ids(path)
    async with on_store(path, NOW) as browser:
        await browser.press("P")
        screen = browser.app.screen
        assert isinstance(screen, PruneScreen) and "5 conversations" in browser.text("#totals")
        may_go_on.clear()
        screen.query_one("#rules", Input).value = "is:automation"
        await browser.drain()
        totals = screen.query_one("#totals", TextLine).content
        assert "5 conversations" in str(totals) and "accent" not in str(
            getattr(totals, "spans", "")
        )
        await browser.send(key)
        await browser.wait_until(lambda: "making the plan" in browser.status)
        assert browser.app.screen is screen and session_ids(path) == before
        may_go_on.set()
        await browser.settle()
        asked = {"D": "Move 3 conversations", "a": "Archive 3 conversations"}
        assert asked[key] in browser.card()


@pytest.mark.slow
async def test_a_change_that_waits_for_another_writer_says_so(path):
    """At once, not when it gives up; and what was done takes its place."""
    async with on_store(path, NOW) as browser:
        with opened(path) as other:
            other.execute("BEGIN IMMEDIATE")
            await browser.send("a")
            await browser.wait_until(lambda: "waiting for the store" in browser.status)
            other.execute("ROLLBACK")
        await browser.settle()
        assert "archived" in browser.status
