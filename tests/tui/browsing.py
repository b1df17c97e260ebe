"""The browser under a pilot: opened on a store, with a frozen clock."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot
from textual.visual import RichVisual
from textual.widgets import Static

from hermes_browse.store.catalog import read_first_page
from hermes_browse.store.connect import Store
from hermes_browse.store.demo import build
from hermes_browse.store.homes import Location, locate_file
from hermes_browse.store.preview import with_details
from hermes_browse.store.resume import ResumePlan
from hermes_browse.store.wording import _
from hermes_browse.tui.app import BrowseApp
from hermes_browse.tui.rows import ListRow
from hermes_browse.tui.screens.main import MainScreen
from hermes_browse.tui.screens.sub_screen import SubScreen

NOW = 1_780_000_000.0
"""2026-05-28 20:26:40 UTC."""


def open_app(location: Location, now: float = NOW) -> BrowseApp:
    """The browser as `launch` opens it, with the clock at `now`."""
    store = Store(location.path)
    with store.reader() as reader:
        first = read_first_page(reader, now)
        shown = with_details(reader, first.select()[:60])
    app = BrowseApp(location, store, first, shown)
    app.clock = lambda: now
    return app


def demo_app(folder: Path, now: float = NOW) -> BrowseApp:
    """The browser on a fresh demo store."""
    path = folder / "state.db"
    build(path, now=now)
    return open_app(Location(path, demo=True, note=_("a sample store: yours opens without --demo")), now)


class Browser:
    """A running browser and its pilot."""

    def __init__(self, app: BrowseApp, pilot: Pilot[ResumePlan]) -> None:
        self.app, self.pilot = app, pilot

    @property
    def screen(self) -> MainScreen:
        """The main screen; that of old transcripts where it is over the store's."""
        return next(each for each in reversed(self.app.screen_stack) if isinstance(each, MainScreen))

    @property
    def row(self) -> ListRow | None:
        """The row under the cursor of the list."""
        return self.screen.rows.current

    async def press(self, *keys: str) -> None:
        """Press keys and wait until the workers have answered."""
        await self.pilot.press(*keys)
        await self.settle()

    async def type(self, text: str) -> None:
        """Type text and wait for the answer."""
        names = {" ": "space", '"': "quotation_mark", ":": "colon", "-": "minus", "*": "asterisk", "'": "apostrophe"}
        await self.press(*(names.get(letter, letter) for letter in text))

    @property
    def _is_busy(self) -> bool:
        screen = self.screen
        pending = screen.reading.is_pending or screen.searching.is_pending or screen.transcript.is_drawing
        pending = pending or any(each.is_pending for each in self.app.screen_stack if isinstance(each, SubScreen))
        return pending or self.screen.writer.is_busy or any(worker.is_busy for worker in screen.workers_of_store)

    async def settle(self) -> None:
        """Wait until no worker has anything to do and everything is on screen."""
        end = time.monotonic() + 30
        while time.monotonic() < end:
            await self.pilot.pause()
            if not self._is_busy:
                await self.pilot.pause(0.02)  # longer than a frame: what is drawn may ask for more
                if not self._is_busy:
                    return
            await self.pilot.pause(0.01)
        raise AssertionError("a worker never came to rest")

    async def measure(self) -> None:
        """Lay out the whole transcript: the scroll bar estimates what has not been on screen yet.

        Which parts have been depends on how quickly the machine drew them, and a picture must not.
        """
        transcript = self.screen.transcript
        count = len(transcript.page)
        self.screen.reading.read_window(0, count)
        await self.settle()
        for index in range(count):
            transcript.page.lines(index)
        transcript.on_resize()
        await self.settle()

    def text(self, widget: str) -> str:
        """What a widget of the screen on top shows, as plain lines."""
        target = self.app.screen.query_one(widget)
        return "\n".join(strip.text.rstrip() for strip in target.render_lines(target.size.region))

    def card(self) -> str:
        """What the texts of the card on top say; what stands in a table, word by word."""

        def said(static: Static) -> str:
            visual = static.render()
            if not isinstance(visual, RichVisual):
                return str(visual)
            return " ".join(" ".join(strip.text for strip in static.render_lines(static.size.region)).split())

        return "\n".join(map(said, self.app.screen.query(Static)))


@asynccontextmanager
async def browsing(app: BrowseApp, size: tuple[int, int] = (120, 36)) -> AsyncIterator[Browser]:
    """Run the browser until the end of the block."""
    async with app.run_test(size=size) as pilot:
        browser = Browser(app, pilot)
        await browser.settle()
        yield browser


def loose(path: Path) -> Location:
    """A store file by its path."""
    return locate_file(path)
