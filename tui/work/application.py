"""The browser as a program: its terminal, signals, the end, what all stores share; and keys, one after
the other: each is handled when all that those before it led to is done, and what it has changed is
drawn at once."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakSet

from rich.text import Text
from textual.app import App
from textual.driver import Driver
from textual.events import Event, Key, Paste
from textual.screen import Screen
from textual.widgets import Input

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import BrowseError
from hermes_browse.store.hermes.homes import Location, locate
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.text import printable
from hermes_browse.store.wording import _

from ..settings.start import Start
from ..terminal.handover import Handover, call_at_end
from ..terminal.logfile import log_failure
from ..terminal.programs import not_started, wait_for_enter
from ..terminal.textual_private import (
    draw_now,
    driver_of,
    end_with,
    run_bound,
)
from .jobs import Reads, Writes

if sys.platform != "win32":
    from ..terminal.driver import BrowserDriver

if TYPE_CHECKING:
    from hermes_browse.store.hermes.resume_command import ResumePlan  # noqa: F401 -- in quotes
    from hermes_browse.store.hosts.connection import Links

ENDS_WELL = (0, -signal.SIGINT, 128 + signal.SIGINT)
"""How Hermes ends when the user wants it to, also by Ctrl+C."""
_ANSWER_TURNS = 3
"""Turns of the event loop until a coroutine that awaits a card goes on: its future, the shield around
that, and the coroutine's task take one each (`push_screen_wait` of Textual 8)."""
_PATIENCE = 1.0
"""Seconds that a key waits at most for those before it."""
WHEEL_LINES = 3
"""Lines that a step of the mouse's wheel scrolls."""
_FRAME = 1 / 60
"""Seconds between two keys that are drawn at once."""


class Arrival(NamedTuple):
    """What to show in a store after switching to it."""

    conversation: Conversation | None = None
    """Read this one."""
    message_id: int | None = None
    """Scroll to this message, highlighted as a hit."""
    query: str = ""
    """Search for this."""


def _driver() -> type[Driver] | None:
    """Return our own driver; None, for Textual's, on Windows and where the environment names
    one."""
    if sys.platform == "win32" or "TEXTUAL_DRIVER" in os.environ:
        return None
    return BrowserDriver


class Application(App["ResumePlan"]):
    """What screens may ask of the app: jobs, settings, switching of stores. Its result is a plan to
    resume a conversation, or None.

    Args:
        location: The first store.
        handover: The terminal and the keys pressed so far, if rows were painted ahead.
        startup: The configuration and what was remembered.
    """

    def __init__(
        self, location: Location, handover: Handover | None, startup: Start | None
    ) -> None:
        self.handover = handover or Handover()
        self._is_ready = False
        super().__init__(driver_class=_driver())
        self.here = location if location.host is None else locate()
        """The store of this machine that was opened last, whose profiles are offered."""
        self.is_choice_printed = False
        """The chosen command is printed, not run: Hermes need not be installed."""
        self.clock = time.time
        """Returns Unix seconds; tests freeze it."""
        self.startup = startup or Start()
        self.is_hint_wanted = self.startup.is_first
        """It is the very first start, and no key was pressed yet."""
        self.reads: WeakSet[Reads] = WeakSet()
        """Those of all stores that are open on some screen."""
        self.writes = Writes()
        """Of all stores: a change goes on when another store is shown."""
        self.journals: dict[Path, list[Any]] = {}
        """What can be undone in each store, by its path: it stays when another store is shown."""
        self.pane_sizes = self.startup.pane_sizes
        """Shared by the main screens of all stores."""
        self.scroll_sensitivity_y = WHEEL_LINES
        self._drawn_at = 0.0
        """When a key was drawn at once, by `time.monotonic`."""
        self._keyed_screen: Screen[Any] | None = None
        """Where the last key went."""

    def switch_to(self, location: Location, store: Store, first: Any, arrival: Arrival) -> None:
        """Replace this store by another, in the same view and order; the arguments are those of
        `MainScreen`."""
        raise NotImplementedError

    def take_early_cursor(self) -> int:
        """Return the row to which early keys moved the cursor; 0 from the second call on."""
        keys = self.handover.keys
        self.handover.keys = None
        return keys.cursor if keys is not None else 0

    def _fatal_error(self) -> None:
        """End with one sentence: Textual's traceback prints local variables, and so parts of
        conversations."""
        words = _(
            "hermes-browse: something unexpected went wrong ({kind}). Details: {log}",
            kind=getattr(sys.exc_info()[0], "__name__", "failure"),
            log=log_failure(),
        )
        end_with(self, Text(words))

    @contextmanager
    def released(self) -> Iterator[None]:
        """Hold no handle on any store within the block."""
        with ExitStack() as released:
            for reads in set(self.reads):
                released.enter_context(reads.released())
            yield

    @contextmanager
    def lend_terminal(self) -> Iterator[None]:
        """Give the terminal to another program, with the settings it had before the browser
        started.

        Raises:
            SuspendNotSupported: The driver has no terminal.
        """
        with self.suspend(), self.handover.lent():
            try:
                yield
            finally:
                if (drop := getattr(driver_of(self), "drop_input", None)) is not None:
                    drop()

    def refuse_while_writing(self) -> None:
        """Raise BrowseError while a change is under way."""
        if self.writes.is_busy:
            raise BrowseError(_("something is still being written here: try again when it is done"))

    def run_hermes(
        self, command: Sequence[str], environment: Mapping[str, str], *, is_shown: bool = False
    ) -> int:
        """Run Hermes in this terminal until it ends, with no handle on any store, as one would stop
        its own prune, and return its exit code.

        Args:
            command: Its path first.
            environment: All of it.
            is_shown: Print the command before it, and wait for Enter behind it; else that is waited
                for only if it failed, as it has said why.

        Raises:
            BrowseError: A change is under way, or it cannot be started.
            SuspendNotSupported: There is no terminal to take back.
        """
        self.refuse_while_writing()
        try:
            with self.released(), self.lend_terminal():
                if is_shown:
                    print(printable(shlex.join(command)), flush=True)
                code = subprocess.call(command, env=environment)
                if is_shown or code not in ENDS_WELL:
                    wait_for_enter()
        except OSError as error:
            raise BrowseError(not_started(command[0], error)) from error
        return code

    @cached_property
    def links(self) -> Links:
        """The connections to the configured hosts; none is open before it is asked."""
        from hermes_browse.store.hosts.connection import Links  # start: most users have no hosts

        return Links()

    def on_unmount(self) -> None:
        """End what is being written, and the connections to hosts, so that no thread waits for
        one."""
        self.writes.stop()
        if "links" in self.__dict__:
            self.links.close()

    def on_mount(self) -> None:
        """Make SIGINT, SIGTERM and SIGHUP end the browser like `q`, so that the terminal is
        restored."""
        call_at_end(self._end, asyncio.get_running_loop())

    def _end(self, number: int) -> None:
        """End the browser by a signal; before its first screen is up, remember it until then."""
        self.handover.signal = number
        if self._is_ready:
            self.exit(return_code=self.handover.exit_code)

    def on_ready(self) -> None:
        """End by a signal that came before the first screen was up."""
        self._is_ready = True
        if self.handover.signal:
            self._end(self.handover.signal)

    def stop_input(self) -> None:
        """Stop the thread that reads the terminal.

        If the terminal disappears while Textual 8 restores it, that thread goes on waiting, and
        Python waits for it.
        """
        if (event := getattr(driver_of(self), "exit_event", None)) is not None:
            event.set()

    # Keys

    async def on_event(self, event: Event) -> None:
        """Handle a key, or a paste, when all that those before it led to is done.

        In Textual 8 a key passes the queues of the focused widget and of all its ancestors first: that
        takes half a millisecond, and of keys that come together one may overtake another, or what
        that has chosen. The hint of the very first start goes with the first key.
        """
        if not isinstance(event, Key | Paste):
            await super().on_event(event)
            return
        if self.is_hint_wanted:
            self.is_hint_wanted = False
            self.query("FirstHint").remove()
        self.app_focus = True
        await self._come_to_rest()
        event.stop()
        field = self.focused
        if isinstance(field, Input) and (isinstance(event, Paste) or event.is_printable):
            await field.on_event(event)
        elif isinstance(event, Key) and not await run_bound(self, event.key):
            await self.screen.on_event(event)
        if not self._is_ready:
            return  # the first frame shows what all early keys have changed
        await asyncio.sleep(0)  # a search that the key has started runs while this draws
        # Draw what the key has changed where it went, unless keys come faster than frames.
        now = time.monotonic()
        if self.focused is not None and now - self._drawn_at > _FRAME:
            self._drawn_at = now
            draw_now(self.focused)

    async def _come_to_rest(self) -> None:
        """Wait for what is under way where the keys go: a choice, the answer of a card, the focus of
        a screen that has just come. Keys typed before the first frame do not wait for that frame."""
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            *pumps, _app = (self.focused or self.screen).ancestors_with_self
            is_starting = not self._is_ready and self.screen.is_mounted
            if is_starting or not any(pump.message_queue_size for pump in pumps):
                break
            await asyncio.sleep(0)
        if self.screen is not self._keyed_screen:
            self._keyed_screen = self.screen
            for _turn in range(_ANSWER_TURNS):
                await asyncio.sleep(0)
