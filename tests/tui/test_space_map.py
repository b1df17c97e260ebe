"""The map beside a plan: what each line is made of, taking and leaving from it, and the thread it
is made on."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, SupportsIndex, overload

import pytest
from browsing import Browser, browsing, loose, open_app
from builders import make_store
from pruning import NOW

from hermes_browse.store.cleanup import space_map
from hermes_browse.store.cleanup.plan import Plan, Planned
from hermes_browse.store.cleanup.sizes import Sizes, added
from hermes_browse.store.cleanup.space_map import Space, SpaceMap
from hermes_browse.tui.cleanup import space_controller
from hermes_browse.tui.cleanup.cleaning import Cleaning, PreparedPlan
from hermes_browse.tui.cleanup.prune_screen import PruneScreen
from hermes_browse.tui.cleanup.space_rows import KindRow, SpaceRow
from hermes_browse.tui.edit.change_cards import DeleteCard
from hermes_browse.tui.list.conversation_list import ConversationList
from hermes_browse.tui.list.row_format import format_row
from hermes_browse.tui.screens.main import MainScreen

MANY = 100_000
BARS = (96, 40)
"""Too narrow for blocks."""


def space(browser: Browser) -> ConversationList:
    """The map."""
    return browser.app.screen.query_one("#space", ConversationList)


def to(browser: Browser, key: str) -> None:
    """Put the cursor of the map on a line."""
    index = space(browser).source.index_of(key)
    assert index is not None, key
    space(browser).cursor = index


@pytest.mark.slow
async def test_what_a_conversation_is_made_of(path: Path) -> None:
    """Source, job, conversation, kinds of content: opened and closed line by line; o reads."""
    async with browsing(open_app(loose(path), NOW), BARS) as browser:
        await browser.press("P", "tab")
        to(browser, "m0sourcecron")
        await browser.press("enter")
        to(browser, "m1jobjob1")
        await browser.press("enter")
        key = "m2conversationcron_job1_20260101_030000"
        to(browser, key)
        before = len(space(browser).source)
        await browser.press("enter")
        rows = [space(browser).source.row(index) for index in range(len(space(browser).source))]
        kinds = [row for row in rows if isinstance(row, KindRow) and row.under == key]
        opened = next(row for row in rows if isinstance(row, SpaceRow) and row.key == key)
        assert len(rows) == before + len(kinds) and {"said", "search index, estimated"} <= {
            row.name for row in kinds
        }
        assert sum(row.bytes for row in kinds) == opened.space.sizes.total
        assert "o reads it" in browser.text("#status")
        await browser.press("enter")
        assert len(space(browser).source) == before and space(browser).cursor == space(
            browser
        ).source.index_of(key)
        await browser.press("o")
        assert isinstance(browser.app.screen, MainScreen)
        shown = browser.screen.controllers.current.conversation
        assert shown is not None and shown.id == "cron_job1_20260101_030000"


@pytest.mark.slow
async def test_taken_and_left_in_the_map(path: Path) -> None:
    """One, all of a line, one that the rules do not mean; never one that is protected."""
    async with browsing(open_app(loose(path), NOW), BARS) as browser:
        await browser.press("P", "tab")
        assert "5 conversations" in browser.text("#totals")
        to(browser, "m0sourcecron")
        await browser.press("space")
        assert "2 conversations" in browser.text("#totals"), "all runs of all jobs stay"
        assert "−" not in next(
            line for line in browser.text("#space").splitlines() if "cron" in line
        )
        await browser.press("space")
        assert "5 conversations" in browser.text("#totals")
        to(browser, "m0sourcecli")
        await browser.press("enter")
        to(browser, "m1conversationold")
        await browser.press("space")
        assert "4 conversations" in browser.text("#totals")
        to(browser, "m1conversationnew")
        await browser.press("space")
        assert "5 conversations" in browser.text("#totals") and space(browser).has_focus
        to(browser, "m1conversationopen")
        await browser.press("space")
        assert "6 conversations" in browser.text("#totals"), (
            "what is spared for being open is taken by hand"
        )
        to(browser, "m1conversationpinned")
        await browser.press("space")
        assert "6 conversations" in browser.text(
            "#totals"
        ) and "stays whatever is marked" in browser.text("#status")


@pytest.mark.slow
async def test_what_has_gone_is_on_the_map_no_more(path: Path) -> None:
    """After a delete, and again after its undo."""
    async with browsing(open_app(loose(path), NOW), BARS) as browser:
        await browser.press("P")
        assert space(browser).source.index_of("m0sourcecron") is not None
        title = browser.text("#map-title")
        await browser.press("4")
        await browser.press("D")
        await browser.press("3", "enter")
        # The list is read again when the store is seen to have changed, and the map after it.
        await browser.wait_until(lambda: space(browser).source.index_of("m0sourcecron") is None)
        await browser.settle()
        await browser.press("u")
        await browser.wait_until(lambda: space(browser).source.index_of("m0sourcecron") is not None)
        assert browser.text("#map-title") == title


class Watched(tuple[Any, ...]):
    """A tuple that knows on which threads all of it was looked at."""

    threads: set[int] = set()

    def __iter__(self) -> Iterator[Any]:
        self.threads.add(threading.get_ident())
        return super().__iter__()

    @overload
    def __getitem__(self, index: SupportsIndex) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Any, ...]: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Any:
        if isinstance(index, slice) and len(range(*index.indices(len(self)))) > 1000:
            self.threads.add(threading.get_ident())
        return super().__getitem__(index)


@pytest.fixture
async def untitled(tmp_path: Path) -> AsyncIterator[Browser]:
    """The clean-up of a conversation that only its first text names; nothing has been read of it
    any more."""
    session = {"id": "a", "started_at": NOW - 9000, "ended_at": NOW - 8000}
    make_store(
        tmp_path / "state.db",
        "22",
        [session],
        [{"session_id": "a", "role": "user", "content": "check the disk"}],
    )
    async with browsing(open_app(loose(tmp_path / "state.db"), NOW), (160, 40)) as browser:
        browser.screen.controllers.cleaning.last_rules = "older:0d"
        await browser.press("P", "tab", "enter")  # into its source
        assert "check the disk" in browser.text("#map") and "check the disk" in browser.text(
            "#plan"
        )
        browser.screen.context.details._cached.clear()
        prune_screen(browser).plan.rows.refresh_rows()
        assert "check the disk" not in browser.text("#plan")
        yield browser


def prune_screen(browser: Browser) -> PruneScreen:
    """The clean-up."""
    assert isinstance(browser.app.screen, PruneScreen)
    return browser.app.screen


async def test_names_read_for_the_map_reach_the_plan(untitled: Browser) -> None:
    """The plan was painted without them, and finds nothing left to read."""
    prune_screen(untitled).space.show()
    await untitled.settle()
    assert "check the disk" in untitled.text("#plan")


async def test_names_read_for_the_plan_reach_the_map(
    untitled: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They come after the map was computed, and before it is shown."""
    screen, context = prune_screen(untitled), untitled.screen.context
    (conversation,) = context.catalog.select()
    read = [conversation._replace(preview="check the disk", rows=1)]
    map_of_plan = space_controller.MapOfPlan.blocks

    def blocks(*arguments: Any) -> object:
        drawn = map_of_plan(*arguments)
        if read:  # the first time
            context.details.add([read.pop()])
        return drawn

    monkeypatch.setattr(space_controller.MapOfPlan, "blocks", blocks)
    screen.space.show()
    await untitled.settle()
    assert "check the disk" in untitled.text("#map")


def many(plan: Plan) -> Plan:
    """A plan of a hundred thousand, a fifth of them runs of a job; half as many are spared."""
    sample = next(each for each in plan.selected if each.conversation.id == "old")
    sizes = Sizes(rows=2, text=100, search=40)

    def made(number: int, prefix: str) -> Planned:
        cron = number % 5 == 0
        name = f"cron_{prefix}_20260101_{number:06}" if cron else f"{prefix}{number}"
        segment = sample.conversation.segments[0]._replace(
            id=name, source="cron" if cron else "cli"
        )
        conversation = sample.conversation._replace(
            segments=(segment,), size=140, last_active=float(number)
        )
        return sample._replace(conversation=conversation, own=sizes, of_subagents=Sizes())

    spared = plan.spared[0]
    return plan._replace(
        selected=Watched(made(number, "big") for number in range(MANY)),
        spared=Watched(
            spared._replace(conversation=made(n, "kept").conversation) for n in range(MANY // 2)
        ),
    )


def map_of(plan: Plan, known: SpaceMap) -> SpaceMap:
    """A map with all of them in one source."""
    below = Watched(
        Space(each.conversation.id, "conversation", each.own, 1) for each in plan.selected
    )
    total = added(each.sizes for each in below)
    return known._replace(sources=(Space("cli", "source", total, len(below), below),), total=total)


def text_of(rows: ConversationList) -> str:
    """All rows of a list."""
    return "\n".join(
        "".join(text for text, _ in format_row(rows.source.row(index), 80, NOW))
        for index in range(len(rows.source))
    )


@pytest.mark.slow
async def test_the_screen_works_nothing_out(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a hundred thousand rows no function of ours runs once for each of them on the thread of
    the screen."""
    plans: list[Plan] = []
    real_plan, real_map = Cleaning.plan, space_map.read_space_map

    def plan(
        self: Cleaning, rules: Any, done: Callable[[PreparedPlan], None], **settings: Any
    ) -> None:
        def swap(found: PreparedPlan) -> None:
            done(PreparedPlan(plans[0] if plans else found.plan, found.catalog))

        real_plan(self, rules, swap, **settings)

    def read(*arguments: Any, **rest: Any) -> SpaceMap:
        return map_of(plans[0], real_map(*arguments, **rest))

    monkeypatch.setattr(Cleaning, "plan", plan)
    async with browsing(open_app(loose(path), NOW), BARS) as browser:
        await browser.press("P")
        assert (
            isinstance(browser.app.screen, PruneScreen)
            and browser.app.screen.plan.planned is not None
        )
        plans.append(many(browser.app.screen.plan.planned.plan))
        await browser.press("escape")
        monkeypatch.setattr(space_controller, "read_space_map", read)
        Watched.threads.clear()
        calls: Counter[str] = Counter()

        def count(frame: FrameType, event: str, _: object) -> None:
            if event == "call" and frame.f_globals.get("__name__", "").startswith("hermes_browse."):
                calls[f"{frame.f_code.co_filename}:{frame.f_code.co_qualname}"] += 1

        sys.setprofile(count)
        try:
            await browser.press("P")
            assert "100,000 conversations" in browser.text("#totals")
            assert "cron big · 20,000 runs" in browser.text(
                "#plan"
            ) and "50,000 spared" in browser.text("#stays")
            await browser.press("space", "space", "home", "enter", "end", "home")
            assert "79,999 conversations" in browser.text("#totals"), (
                "all runs of a job, and one more"
            )
            await browser.press("tab", "enter")
            assert "… and 99,900 smaller ones" in text_of(space(browser))
            await browser.press("space")
            assert "100,000 conversations" in browser.text("#totals"), "all of a source is taken"
            await browser.press("left", "D")
            assert isinstance(browser.app.screen, DeleteCard) and "Move 100,000" in browser.card()
            await browser.press("escape")
        finally:
            sys.setprofile(None)
    assert Watched.threads and threading.get_ident() not in Watched.threads
    name, most = calls.most_common(1)[0]
    assert 0 < most < MANY // 4, f"{name}: {most:,} times"
