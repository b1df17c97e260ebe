"""The map beside a plan: taking and leaving from it, its names, and the thread it is made on."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from typing import Any, overload

import pytest
from browsing import on_store
from builders import make_store
from pruning import NOW

from hermes_browse.store.api import OpenStore
from hermes_browse.store.cleanup.sizes import Sizes
from hermes_browse.tui.browser.edit.deleting import DeleteCard
from hermes_browse.tui.screens.cleanup import plan_screen as screen_of_plans
from hermes_browse.tui.screens.cleanup.prune_screen import PruneScreen
from hermes_browse.tui.screens.cleanup.tile_map import TileMap

MANY = 100_000


def tiles(browser):
    """The map."""
    return browser.app.screen.query_one(TileMap)


@pytest.mark.slow
async def test_what_has_gone_is_on_the_map_no_more(path):
    """After a delete, and again after its undo."""
    async with on_store(path, NOW, (160, 48)) as browser:
        await browser.press("P")

        def shows_cron():
            return any(tile.tip.startswith("cron") for tile in tiles(browser).tiles)

        assert shows_cron()
        title = browser.text("#map-title")
        await browser.press("4", "D", "3", "enter")
        # The list is read again when the store is seen to have changed, and the map after it.
        await browser.wait_until(lambda: not shows_cron())
        await browser.settle()
        await browser.press("u")
        await browser.wait_until(shows_cron)
        assert browser.text("#map-title") == title


class Watched(tuple[Any, ...]):
    """A tuple that knows on which threads all of it was looked at."""

    threads: set[int] = set()

    def __iter__(self):
        self.threads.add(threading.get_ident())
        return super().__iter__()

    @overload
    def __getitem__(self, index): ...
    @overload
    def __getitem__(self, index): ...
    def __getitem__(self, index):
        if isinstance(index, slice) and len(range(*index.indices(len(self)))) > 1000:
            self.threads.add(threading.get_ident())
        return super().__getitem__(index)


@pytest.fixture
async def untitled(tmp_path):
    """The clean-up of a conversation that only its first text names; nothing has been read of it
    any more."""
    session = {"id": "a", "started_at": NOW - 9000, "ended_at": NOW - 8000}
    make_store(
        tmp_path / "state.db",
        "22",
        [session],
        [{"session_id": "a", "role": "user", "content": "check the disk"}],
    )
    async with on_store(tmp_path / "state.db", NOW, (160, 40)) as browser:
        browser.screen.edits.choices.rules = "older:0d"
        await browser.press("P")
        assert "check the disk" in browser.text("#map")
        assert "check the disk" in browser.text("#plan")
        details = browser.screen.details
        details._cached.clear()
        browser.app.screen.names_read()
        assert "check the disk" not in browser.text("#plan") + browser.text("#map")
        yield browser


@pytest.mark.slow
@pytest.mark.parametrize("pane", ["plan", "map"])
async def test_names_read_for_one_pane_reach_the_other(untitled, pane):
    """Both were painted without them, and the other finds nothing left to read."""
    screen = untitled.app.screen
    tips = [tile.tip for tile in screen.map.tiles if tile.tip]
    of_plan = screen.main.details.lacking([screen.rows.source.row(0)])
    of_map = map(screen.main.catalog.of_session, tips)
    screen.read_names(of_plan if pane == "plan" else list(of_map))
    await untitled.settle()
    assert "check the disk" in untitled.text("#plan")
    assert "check the disk" in untitled.text("#map")


def many(plan):
    """A plan of a hundred thousand, a fifth of them runs of a job; half as many are spared."""
    sample = next(each for each in plan.selected if each.conversation.id == "old")
    sizes = Sizes(rows=2, content=100, indexed=40)

    def made(number, prefix):
        cron = number % 5 == 0
        name = f"cron_{prefix}_20260101_{number:06}" if cron else f"{prefix}{number}"
        segment = sample.conversation.segments[0]._replace(
            id=name, source="cron" if cron else "cli"
        )
        conversation = sample.conversation._replace(
            segments=(segment,), size=140, last_active=float(number)
        )
        return sample._replace(conversation=conversation, own=sizes, sizes=sizes)

    spared = plan.spared[0]
    return plan._replace(
        selected=Watched(made(number, "big") for number in range(MANY)),
        spared=Watched(
            spared._replace(conversation=made(n, "kept").conversation) for n in range(MANY // 2)
        ),
    )


def map_of(plan, known):
    """A map of what the plan has."""
    conversations = Watched((each.conversation.id, each.own.total) for each in plan.selected)
    return known._replace(
        conversations=conversations, total=sum(size for _tip, size in conversations)
    )


@pytest.mark.slow
async def test_the_screen_works_nothing_out(path, monkeypatch):
    """With a hundred thousand rows no function of ours runs once for each of them on the thread of
    the screen."""
    plans = []
    real_planning, real_map = screen_of_plans.planning, OpenStore.space_map

    def planning(*given, **settings):
        job = real_planning(*given, **settings)

        def swapped(store):
            found = job(store)
            return found._replace(plan=plans[0]) if plans else found

        return swapped

    def read(*arguments, **rest):
        return map_of(plans[0], real_map(*arguments, **rest))

    monkeypatch.setattr(screen_of_plans, "planning", planning)
    async with on_store(path, NOW, (160, 48)) as browser:
        await browser.press("P")
        assert (
            isinstance(browser.app.screen, PruneScreen) and browser.app.screen.planned is not None
        )
        plans.append(many(browser.app.screen.planned.plan))
        await browser.press("escape")
        monkeypatch.setattr(OpenStore, "space_map", read)
        Watched.threads.clear()
        calls = Counter()

        def count(frame, event, _):
            if event == "call" and frame.f_globals.get("__name__", "").startswith("hermes_browse."):
                calls[f"{frame.f_code.co_filename}:{frame.f_code.co_qualname}"] += 1

        sys.setprofile(count)
        try:
            await browser.press("P")
            assert "100,000 conversations" in browser.text("#totals")
            assert "cron big · 20,000 runs" in browser.text(
                "#plan"
            ) and "50,000 protected" in browser.text("#stays")
            await browser.press("space", "space", "home", "enter", "end", "home")
            assert "79,999 conversations" in browser.text("#totals"), (
                "all runs of a job, and one more"
            )
            await browser.press("tab")
            assert "smaller ones" in browser.text("#map") and len(tiles(browser).tiles) > 5
            await browser.press("tab", "D")
            assert isinstance(browser.app.screen, DeleteCard) and "Move 79,999" in browser.card()
            await browser.press("escape")
        finally:
            sys.setprofile(None)
    assert Watched.threads and threading.get_ident() not in Watched.threads
    name, most = calls.most_common(1)[0]
    assert 0 < most < MANY // 4, f"{name}: {most:,} times"
