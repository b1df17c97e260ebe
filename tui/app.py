"""The application: themes, the main screen of each store, the command palette, signals and the
end."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import App
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.driver import Driver
from textual.filter import LineFilter, Monochrome, NoColor
from textual.screen import ModalScreen, Screen

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.hermes.homes import Location, locate
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.wording import _

from .bindings import bindings, key_names
from .commands.main_commands import APP
from .config.start import LastState, Start
from .context import Arrival
from .lineage.tree import LineageTree
from .list.conversation_list import AGES_SECONDS, ConversationList
from .logfile import log_failure
from .screens.by_name import load
from .screens.main import MainScreen
from .start.prepaint import ENDING, Handover
from .textual_private import driver_of, end_with, forget_colours
from .themes import ANSI_LIGHT, DARK, LIGHT
from .work.writes import Writes

if sys.platform != "win32":
    from .start.driver import BrowserDriver, PaintedScreenDriver

if TYPE_CHECKING:
    from hermes_browse.store.hermes.resume_command import ResumePlan
    from hermes_browse.store.hosts.link import Links

    _App = App[ResumePlan]
else:
    _App = App  # the module of plans is loaded with the first one

_NO_COLOURS, _GREYS = NoColor(), Monochrome()
_STYLES = Path(__file__).resolve().parent.parent / "styles"


def _driver(*, is_painted: bool) -> type[Driver] | None:
    """Return our own driver; None, for Textual's, on Windows and where the environment names
    one."""
    if sys.platform == "win32" or "TEXTUAL_DRIVER" in os.environ:
        return None
    return PaintedScreenDriver if is_painted else BrowserDriver


class BrowseApp(_App):
    """The browser; its result is a plan to resume a conversation, or None.

    Args:
        first: The first page of the store's catalog.
        shown: Conversations that have been read with their previews.
        handover: The terminal and the keys pressed so far, if rows were painted ahead.
        start: The configuration and what was remembered.
        links: The connections to hosts, if one is open already.
    """

    TITLE = "hermes-browse"
    ENABLE_COMMAND_PALETTE = False  # Textual's own; `action_command_palette` opens ours
    CSS_PATH: ClassVar[list[str | Path]] = [  # type: ignore[assignment]  # a list is one of the forms Textual takes
        _STYLES / name for name in ("app.tcss", "widgets.tcss")
    ]
    BINDINGS: ClassVar[list[BindingType]] = bindings(APP)

    def __init__(
        self,
        location: Location,
        store: Store,
        first: Catalog,
        shown: Sequence[Conversation] = (),
        *,
        handover: Handover | None = None,
        start: Start | None = None,
        links: Links | None = None,
    ) -> None:
        self.handover = handover or Handover()
        self._is_ready = False
        super().__init__(driver_class=_driver(is_painted=self.handover.is_painted))
        self.location, self.store = location, store
        self.here = location if location.host is None else locate()
        """The store of this machine that was opened last, whose profiles are offered."""
        if links is not None:
            self.links = links
        self._first, self._shown = first, shown
        self.is_choice_printed = False
        """The chosen command is printed, not run: Hermes need not be installed."""
        self.clock: Callable[[], float] = time.time
        """Returns Unix seconds; tests freeze it."""
        self.register_theme(DARK)
        self.register_theme(LIGHT)
        self.register_theme(ANSI_LIGHT)
        self.start = start or Start()
        self.theme = self.start.theme if self.start.theme in self.available_themes else DARK.name
        self._first_variables = self.get_css_variables()
        self.stylesheet.set_variables(self._first_variables)
        self.writes = Writes()
        """Of all stores: a change goes on when another store is shown."""
        self.pane_sizes = self.start.pane_sizes
        """Shared by the main screens of all stores."""
        self.keymap: Mapping[str, str] = {}
        """The user's own keys by the id of a binding."""
        self.trouble = ""
        """What is wrong in the configuration."""
        self._main: MainScreen | None = None
        self._stores = 0
        self._configure()

    def _configure(self) -> None:
        """Apply the configuration; there is no screen yet."""
        if self.start.configuration is not None:
            self.keymap, self.trouble = load("keymap")(
                self.start.configuration, self.available_themes
            )
            self.set_keymap(self.keymap)

    def take_early_cursor(self) -> int:
        """Return the row to which early keys moved the cursor; 0 from the second call on."""
        keys, self.handover.keys = self.handover.keys, None
        return keys.cursor if keys is not None else 0

    def refresh_css(self, animate: bool = True) -> None:
        """Apply the style sheets with the colours of the current theme.

        Textual 8 calls this at the start too and parses the style sheets a second time, which takes
        longer than the first layout. That call is skipped: they were parsed with the first theme's
        colours.
        """
        first, self._first_variables = self._first_variables, {}
        if first != self.get_css_variables():
            super().refresh_css(animate)

    def _fatal_error(self) -> None:
        """End with one sentence: Textual's traceback prints local variables, and so parts of
        conversations."""
        kind = sys.exc_info()[0]
        name = kind.__name__ if kind is not None else "failure"
        sentence = _(
            "hermes-browse: something unexpected went wrong ({kind}). Details: {log}"
        ).format(kind=name, log=log_failure())
        end_with(self, Text(sentence))

    def pop_screen(self) -> AwaitComplete:
        """Close a screen, and drop the colours cached for it."""
        popped = super().pop_screen()
        forget_colours()
        return popped

    @contextmanager
    def lend_terminal(self) -> Iterator[None]:
        """Give the terminal to another program, with the settings it had before the browser
        started.

        Raises:
            SuspendNotSupported: The driver has no terminal.
        """
        with self.suspend():
            self.handover.restore_settings()
            # Ctrl+c is for that program. It would inherit SIG_IGN, but it does not inherit a
            # handler.
            before = signal.signal(signal.SIGINT, lambda number, frame: None)
            try:
                yield
            finally:
                signal.signal(signal.SIGINT, before)
                if (drop := getattr(driver_of(self), "drop_input", None)) is not None:
                    drop()

    def switch_to(
        self,
        location: Location,
        store: Store,
        first: Catalog,
        shown: Sequence[Conversation],
        arrival: Arrival,
    ) -> None:
        """Replace this store by another, in the same view and order; the arguments are those of
        `MainScreen`."""
        before = self._main
        self.location, self.store = location, store
        self.here = self.here if location.host is not None else location
        self._main = screen = MainScreen(self, location, store, first, shown)
        if before is not None:
            screen.begin_as(before.view, before.sort, reverse=before.reverse)
        while len(self.screen_stack) > 1:
            self.pop_screen()
        # The first screen of an application cannot be replaced, so each store has a mode.
        previous_mode, self._stores = self.current_mode, self._stores + 1
        name = f"store-{self._stores}"
        self.add_mode(name, lambda: screen)
        self.switch_mode(name)
        if before is not None:
            before.close()
        if self._stores > 1:
            self.remove_mode(previous_mode)
        screen.call_after_refresh(setattr, screen, "arrival", arrival)

    @cached_property
    def links(self) -> Links:
        """The connections to the configured hosts; none is open before it is asked."""
        from hermes_browse.store.hosts.link import Links  # start: most users have no hosts

        return Links()

    def on_unmount(self) -> None:
        """End what is being written, and the connections to hosts, so that no thread waits for
        one."""
        self.writes.stop()
        if "links" in self.__dict__:
            self.links.close()

    def finish(self, plan: ResumePlan | None = None) -> None:
        """End the browser, with a plan to be carried out."""
        self.exit(plan)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Without colours use the filter of the theme: Textual keeps that of the first."""
        filters = super().get_line_filters()
        if self.no_color:  # greys of the colours that a terminal has by default are black on black
            right = _NO_COLOURS if self.native_ansi_color else _GREYS
            filters = [
                right if isinstance(each, NoColor | Monochrome) else each for each in filters
            ]
        return filters

    def get_key_display(self, binding: Binding) -> str:
        """Return a key as it is printed on a keyboard."""
        return binding.key_display or key_names(binding.key.partition(",")[0])

    def get_default_screen(self) -> Screen[object]:
        """Return the main screen of the first store."""
        self._main = screen = MainScreen(self, self.location, self.store, self._first, self._shown)
        memory = self.start.memory
        screen.begin_as(memory.view, memory.sort, reverse=memory.reverse)
        return screen

    def on_mount(self) -> None:
        """Make SIGINT, SIGTERM and SIGHUP end the browser like `q`, so that the terminal is
        restored."""
        loop = asyncio.get_running_loop()
        if threading.current_thread() is threading.main_thread():
            for number in ENDING:
                self._end_by(number, loop)
        # Of the application: the event loop would keep a list that is gone until its own timer.
        self.set_interval(AGES_SECONDS, self._refresh_ages)

    def _refresh_ages(self) -> None:
        """Let the ages of all rows grow together: one row drawn again would be ahead of others."""
        for rows in self.screen.query(ConversationList):
            rows.refresh_rows()
        for tree in self.screen.query(LineageTree):
            tree.refresh_rows()

    def _end(self, number: int) -> None:
        """End the browser by a signal; before its first screen is up, remember it until then."""
        self.handover.signal = number
        if self._is_ready:
            self.exit(
                return_code=128 + number if number == signal.SIGINT else 0
            )  # 130: interrupted

    def _end_by(self, number: int, loop: asyncio.AbstractEventLoop) -> None:
        """End the browser on a signal. A closed event loop has removed its own handlers, so this is
        one of `signal`."""

        def end(number: int, frame: FrameType | None) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._end, number)
            elif callable(before):
                before(number, frame)

        before = signal.signal(number, end)

    def on_ready(self) -> None:
        """Report what is wrong in the configuration, now that there is a status line; or end by an
        early signal."""
        self._is_ready = True
        if self.handover.signal:
            self._end(self.handover.signal)
        if self.trouble and self._main is not None:
            self._main.warn(self.trouble)

    def stop_input(self) -> None:
        """Stop the thread that reads the terminal.

        If the terminal disappears while Textual 8 restores it, that thread goes on waiting, and
        Python waits for it.
        """
        if (driver := driver_of(self)) is not None and (
            event := getattr(driver, "exit_event", None)
        ) is not None:
            event.set()

    def new_memory(self) -> LastState:
        """Return what the next start begins with.

        View and order of the sample store are not remembered, nor is a theme unless it was chosen
        in the palette and none is configured.
        """
        before, sizes = self.start.memory, self.pane_sizes
        is_theme_chosen = self.start.options.theme is None and self.theme != self.start.theme
        after = before._replace(
            theme=self.theme if is_theme_chosen else before.theme,
            list_width=sizes.width,
            list_height=sizes.height,
            is_list_alone=sizes.is_alone,
        )
        if self._main is None or self.location.demo:
            return after
        main = self._main
        return after._replace(view=main.view, sort=main.sort, reverse=main.reverse)

    def action_command_palette(self) -> None:
        """Ask for a command by name."""
        if self._is_ready and not isinstance(self.screen, ModalScreen):
            load("palette")(self, self.keymap)
