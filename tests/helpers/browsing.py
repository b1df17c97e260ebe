"""The browser under a pilot: opened on a store, with a frozen clock."""

from __future__ import annotations

import asyncio
import functools
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from resting import PATIENCE, drain, handled, is_asking, press_key
from textual.pilot import Pilot
from textual.visual import RichVisual
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.demo import build_home
from hermes_browse.store.hermes.homes import DEFAULT_PROFILE, Location, locate_file, notes_file
from hermes_browse.store.hermes.resume_command import ResumePlan
from hermes_browse.store.sessions.first_page import read_first_page
from hermes_browse.store.sessions.list_page import with_details
from hermes_browse.store.wording import _
from hermes_browse.tui.app import BrowseApp
from hermes_browse.tui.browser.lineage import TreeRow
from hermes_browse.tui.browser.list.conversation_list import ConversationList
from hermes_browse.tui.browser.list.list_model import FirstPage, RowDetails
from hermes_browse.tui.browser.list.rows import ConversationRow, HitRow, JobRow, MoreRow
from hermes_browse.tui.browser.main import MainScreen
from hermes_browse.tui.browser.transcript.scroll import Needed
from hermes_browse.tui.browser.transcript.view import TranscriptView
from hermes_browse.tui.settings.start import Start
from hermes_browse.tui.text.family import Entry, SessionEntry
from hermes_browse.tui.widgets.list_rows import ListRow
from hermes_browse.tui.work.jobs import StoreScreen

NOW = 1_780_000_000.0
"""2026-05-28 20:26:40 UTC."""


def open_app(location: Location, now: float = NOW, startup: Start | None = None) -> BrowseApp:
    """The browser as `start.run_browser` opens it, with the clock at `now`."""
    store = Store(location.path, notes=notes_file(location))
    with store.reader() as reader:
        first = read_first_page(reader, now)
        details = RowDetails()
        details.add(with_details(reader, first.select()[:60]))
    app = BrowseApp(location, store, FirstPage(first, details), startup=startup)
    app.clock = lambda: now
    return app


@functools.cache
def _demo_home(now: float) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        build_home(Path(folder), now=now)
        files = [each for each in Path(folder).rglob("*") if each.is_file()]
        return {str(each.relative_to(folder)): each.read_bytes() for each in files}


def demo_location(folder: Path, now: float = NOW) -> Location:
    """A fresh demo home."""
    for name, content in _demo_home(now).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    note = _("this is a sample store; without --demo your own opens")
    return Location(folder / "state.db", folder, DEFAULT_PROFILE, demo=True, note=note)


def demo_app(folder: Path, now: float = NOW) -> BrowseApp:
    """The browser on a fresh demo home."""
    return open_app(demo_location(folder, now), now)


def tree_of(browser: Browser) -> list[Entry]:
    """What stands in the lines of the lineage tree, top to bottom."""
    source = browser.screen.lineage.source
    rows = map(source.row, range(len(source)))
    return [row.entry for row in rows if isinstance(row, TreeRow)]


def sessions_of_tree(browser: Browser) -> list[SessionEntry]:
    """The sessions in the lineage tree that are not folded."""
    return [each for each in tree_of(browser) if isinstance(each, SessionEntry)]


class Browser:
    """A running browser and its pilot."""

    def __init__(self, app: BrowseApp, pilot: Pilot[ResumePlan]) -> None:
        self.app, self.pilot = app, pilot

    @property
    def screen(self) -> MainScreen:
        """The main screen; that of old transcripts where it is over the store's."""
        return next(
            each for each in reversed(self.app.screen_stack) if isinstance(each, MainScreen)
        )

    @property
    def row(self) -> ListRow | None:
        """The row under the cursor of the list."""
        return self.screen.rows.current

    async def press(self, *keys: str) -> None:
        """Press keys, each when the workers have answered the one before it; letters typed in a box
        come in one go."""
        for number, key in enumerate(keys):
            if number and not (len(key) == 1 and isinstance(self.app.focused, Input)):
                await self.settle()
            await self.send(key)
        await self.settle()

    async def sort(self, order: str) -> None:
        """Choose an order of the list by its name."""
        await self.press("s", *order, "enter")

    async def send(self, *keys: str) -> None:
        """Press keys without waiting for the workers: as quickly as the screen takes them."""
        for key in keys:
            press_key(self.app, key)
            await self.drain()

    async def type(self, text: str) -> None:
        """Type text and wait for the answer."""
        await self.press(*text)

    async def search(self, text: str) -> None:
        """Type a search and wait for the answer."""
        await self.press("slash", *text)

    @property
    def _is_busy(self) -> bool:
        if not all(each.is_mounted for each in self.app.screen_stack):
            return True  # one that was just opened has no panes yet
        if self.app._resize_event is not None or self.app._resize_timer is not None:
            return True  # Textual passes a new size on after a moment
        if not self.screen.listing._read_at:
            return True  # the first read of the list begins when a thread has looked at the file
        pending = any(
            view._being_laid_out
            for each in self.app.screen_stack
            for view in each.query(TranscriptView)
        )
        waiting = ("watch", "changes", "whole")  # for time to pass
        workers = (each for each in self.app.workers if each.group not in waiting)
        return (
            pending
            or not all(worker.is_finished or is_asking(worker) for worker in workers)
            or self.app.writes.is_busy
            or self.screen.reads.is_busy
        )

    async def drain(self) -> None:
        """Wait until every message has been handled and every frame is drawn."""
        await drain(self.pilot)

    async def settle(self) -> None:
        """Wait until no worker has anything to do and everything is on screen."""
        await self.wait_until(lambda: not self._is_busy)

    async def wait_until(self, holds: Callable[[], bool], *, seconds: float = PATIENCE) -> None:
        """Wait until a condition holds and what that led to is on screen.

        Args:
            holds: The condition.
            seconds: After so long the test fails; only a fault takes that long, also on a busy
                machine.
        """
        end = time.monotonic() + seconds
        while True:
            await self.drain()
            if holds():
                await self.drain()
                if holds():
                    return
            before = handled()
            while handled() == before and not holds():  # a thread is at work, or a timer runs
                assert time.monotonic() < end, "it never came"
                await asyncio.sleep(0.004)

    async def follow(self) -> None:
        """Read what another program has written, as the browser does soon after."""
        self.screen.listing.read()
        self.screen.loader.read_new()
        await self.settle()

    async def measure(self) -> None:
        """Lay out the whole transcript: the scroll bar estimates what has not been on screen yet.

        Which parts have been depends on how quickly the machine drew them, and a picture must not.
        """
        transcript = self.screen.transcript
        count = len(transcript.page)
        transcript.needed = Needed(transcript.page.model, 0, count)
        await self.settle()
        for index in range(count):
            transcript.page.draw(index, now=True)
        transcript.on_resize()
        await self.settle()

    def text(self, widget: str) -> str:
        """What a widget of the screen on top shows, as plain lines."""
        target = self.app.screen.query_one(widget)
        return "\n".join(strip.text.rstrip() for strip in target.render_lines(target.size.region))

    @property
    def status(self) -> str:
        """What the status line says."""
        return self.text("#status")

    def card(self) -> str:
        """What the texts of the card on top say; what stands in a table, word by word."""

        def said(static: Static) -> str:
            visual = static.render()
            if not isinstance(visual, RichVisual):
                return str(visual)
            return " ".join(
                " ".join(strip.text for strip in static.render_lines(static.size.region)).split()
            )

        return "\n".join(map(said, self.app.screen.query(Static)))


class HeldAnswers:
    """Holds back what reads and writes return to the screen, all of them or those of a group of
    coroutines."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._gates: dict[str, asyncio.Event] = {}
        """By group, "" for all; set if answers may go."""
        self.count = 0
        """Answers that are held back."""
        monkeypatch.setattr(StoreScreen, "result_of", self._held(StoreScreen.result_of))

    def _gate(self, group: str) -> asyncio.Event:
        if group not in self._gates:
            self._gates[group] = asyncio.Event()
            self._gates[group].set()
        return self._gates[group]

    def _held(self, ask: Callable[..., Awaitable[object]]) -> Callable[..., Awaitable[object]]:
        async def held(screen: StoreScreen[Any], job: Awaitable[object]) -> object:
            try:
                return await ask(screen, job)
            finally:
                self.count += 1
                try:
                    await self._gate("").wait()
                    await self._gate(get_current_worker().group).wait()
                finally:
                    self.count -= 1

        return held

    def hold(self, group: str = "") -> None:
        """Hold back answers from now on."""
        self._gate(group).clear()

    def release(self, group: str = "") -> None:
        """Give all answers."""
        self._gate(group).set()

    @asynccontextmanager
    async def held(self, browser: Browser, group: str, *keys: str) -> AsyncIterator[None]:
        """Press keys; the block begins when an answer to them is held back, and all are given and
        shown at its end."""
        self.hold(group)
        await browser.send(*keys)
        await browser.wait_until(lambda: self.count > 0)
        yield
        self.release(group)
        await browser.settle()


@asynccontextmanager
async def browsing(app: BrowseApp, size: tuple[int, int] = (120, 36)) -> AsyncIterator[Browser]:
    """Run the browser until the end of the block."""
    async with app.run_test(size=size) as pilot:
        browser = Browser(app, pilot)
        await browser.settle()
        yield browser


def on_demo(
    folder: Path, size: tuple[int, int] = (120, 36)
) -> AbstractAsyncContextManager[Browser]:
    """Run the browser on a fresh demo home."""
    return browsing(demo_app(folder), size)


def on_store(
    path: Path, now: float = NOW, size: tuple[int, int] = (120, 36)
) -> AbstractAsyncContextManager[Browser]:
    """Run the browser on a store file."""
    return browsing(open_app(loose(path), now), size)


def loose(path: Path) -> Location:
    """A store file by its path."""
    return locate_file(path)


def drawn_row(browser: Browser) -> ListRow | None:
    """The row of the list that is drawn as the one the cursor is on."""
    rows = browser.screen.rows
    for y in range(rows.size.height):
        if rows.render_line(y).text[:1] in ("▌", "▏"):
            return rows.source.row(y + rows.scroll_offset.y)
    return None


def of_row(browser: Browser, row: ListRow | None) -> set[str]:
    """The roots a row of the list is about."""
    if isinstance(row, ConversationRow):
        return {row.conversation.root_id}
    if isinstance(row, JobRow):
        return {each.root_id for each in row.runs}
    if isinstance(row, HitRow) and row.conversation is not None:
        return {row.conversation.root_id}
    return {row.root_id} if isinstance(row, MoreRow) else set()


def list_of(browser: Browser) -> ConversationList:
    """The first list on the screen."""
    return browser.app.screen.query(ConversationList).first()


async def go_to(browser: Browser, root: str, kind: str = "c") -> None:
    """Put the cursor of the list on a conversation; `kind` begins the keys of such rows."""
    index = list_of(browser).source.index_of(f"{kind}{root}")
    assert index is not None, root
    list_of(browser).cursor = index
    await browser.settle()


def rows_of(browser: Browser) -> list[ListRow]:
    """All rows of the list."""
    source = list_of(browser).source
    return [source.row(index) for index in range(len(source))]


async def go_to_job(browser: Browser) -> None:
    """Move the cursor of the list to its first job."""
    rows = enumerate(rows_of(browser))
    browser.screen.rows.cursor = next(index for index, row in rows if isinstance(row, JobRow))
    await browser.settle()


def listed(browser: Browser) -> set[str]:
    """Roots of the conversations in the list."""
    rows = (row for row in rows_of(browser) if isinstance(row, ConversationRow))
    return {row.conversation.root_id for row in rows}


def lit_lines(browser: Browser) -> list[str]:
    """Lines of the transcript in which something is lit as the current find."""
    return lines_with(browser, lambda looks: looks.endswith("hit-current"))


def lines_with(browser: Browser, is_wanted: Callable[[str], bool]) -> list[str]:
    """Lines of the transcript with a text of these looks."""
    return [
        "".join(text for text, _looks in line).strip()
        for _entry, line in browser.screen.transcript.page.frame()
        if any(is_wanted(looks) for text, looks in line if text.strip())
    ]
