"""The application: themes, the main screen of each store, the palette, and what the browser ends with."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import App, SystemCommand
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.driver import Driver
from textual.filter import LineFilter
from textual.screen import Screen
from textual.theme import BUILTIN_THEMES, Theme, ThemeProvider
from textual.widget import Widget

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Conversation, Sort, View
from hermes_browse.store.wording import N_, _, language

from .bindings import bindings, working
from .commands import final_keys
from .commands.panes import APP, MAIN, TRANSCRIPT
from .config.start import Start, set_rows
from .context import Arrival
from .logfile import log_failure
from .screens.main import MainScreen
from .shared.glyphs import are_plain
from .shared.header import failure
from .shared.key_names import key_names
from .textual_private import end_with, forget_colours

if TYPE_CHECKING:
    from hermes_browse.store.hermes.resume import ResumePlan

    from .start.early_keys import EarlyKeys

    _App = App[ResumePlan]
else:
    _App = App  # what makes plans is loaded when one is wanted

_OF_TEXTUAL = (
    N_("Theme"), N_("Change the current theme"), N_("Quit"), N_("Quit the application as soon as possible"),
)  # fmt: skip
"""What Textual 8 offers in its palette, for the collector of texts."""
_PALETTE = "--command-palette"
"""By which Textual knows its palette."""
_STYLES = Path(__file__).resolve().parent.parent / "styles"

DARK = Theme(
    name="hermes-dark",
    primary="#7aa2c8",
    secondary="#8a8f98",
    accent="#d8a657",
    warning="#d8a657",
    success="#8fb573",
    error="#e06c6c",
    foreground="#d5d3cd",
    background="#16171a",
    surface="#16171a",
    panel="#24262b",
    dark=True,
)
LIGHT = Theme(
    name="hermes-light",
    primary="#2f5f8f",
    secondary="#6b6f76",
    accent="#8a5a00",
    warning="#8a5a00",
    success="#3d6b21",
    error="#b3261e",
    foreground="#26282c",
    background="#faf9f6",
    surface="#faf9f6",
    panel="#eae8e2",
    dark=False,
)
ANSI_LIGHT = replace(BUILTIN_THEMES["ansi-light"], warning="ansi_yellow")
"""Textual's has its errors and its warnings in two reds; here warnings, and whoever asks, are gold as in all themes."""


def _driver(*, is_screen_taken: bool) -> type[Driver] | None:
    """Our own driver; Textual's on Windows, where nothing is painted ahead, and where the environment names one."""
    if sys.platform == "win32" or "TEXTUAL_DRIVER" in os.environ:
        return None
    from .start.driver import BrowserDriver, TakenScreenDriver

    return TakenScreenDriver if is_screen_taken else BrowserDriver


class Commands(Provider):
    """The palette's commands with their keys, in the order in which they are offered."""

    def _every(self) -> Iterator[tuple[SystemCommand, str]]:
        app = self.app
        return app.palette_commands(self.screen) if isinstance(app, BrowseApp) else iter(())

    async def discover(self) -> Hits:
        """All of them."""
        for command, keys in self._every():
            yield DiscoveryHit(_with_keys(Content(command.title), keys), command.callback, command.title, command.help)

    async def search(self, query: str) -> Hits:
        """Those whose name is like what was typed."""
        matcher = self.matcher(query)
        for command, keys in self._every():
            if (score := matcher.match(command.title)) > 0:
                told = _with_keys(matcher.highlight(command.title), keys)
                yield Hit(score, told, command.callback, command.title, command.help)


def _with_keys(title: Content, keys: str) -> Content:
    """A name, and its keys in a column."""
    return Content.assemble(title, " " * max(2, 28 - title.cell_length), (keys, "bold $accent")) if keys else title


class BrowseApp(_App):
    """The browser; its result is the plan of a resume, or None."""

    TITLE = "hermes-browse"
    ENABLE_COMMAND_PALETTE = True
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {Commands}
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
        is_screen_taken: bool = False,
        start: Start | None = None,
    ) -> None:
        super().__init__(driver_class=_driver(is_screen_taken=is_screen_taken))
        self.location = location
        """Which store."""
        self.store = store
        """The store."""
        self._first, self._shown = first, shown
        self.is_choice_printed = False
        """What is chosen is printed, not run: there need be no Hermes here."""
        self.put_terminal_back: Callable[[], None] = lambda: None
        """Gives a program that is lent the terminal the settings it had before us."""
        self.early_keys: EarlyKeys | None = None
        """Answered the first keys; the driver ends that."""
        self.is_told_to_end: Callable[[], bool] = lambda: False
        """Whether a signal to end came before there was anyone to take it."""
        self.clock: Callable[[], float] = time.time
        """Tells the time; tests freeze it."""
        self.register_theme(DARK)
        self.register_theme(LIGHT)
        self.register_theme(ANSI_LIGHT)
        self.start = start or Start()
        """How to begin: what the user has set, and what was remembered."""
        self.theme = self.start.theme if self.start.theme in self.available_themes else DARK.name
        self._begun_with = self.get_css_variables()
        self.stylesheet.set_variables(self._begun_with)
        self.pane_sizes = self.start.pane_sizes
        """How the panes share the screen, of every store."""
        self.keymap: Mapping[str, str] = {}
        """Keys of the user's own, by the id of a binding."""
        self.glyph_filter: LineFilter | None = None
        """Puts ASCII in the place of signs, where that is wanted."""
        self.trouble = ""
        """What in the configuration does not hold."""
        self._main: MainScreen | None = None
        self._stores = 0
        self._set_up()

    def _set_up(self) -> None:
        """Apply the configuration; there is no screen yet."""
        set_rows(self.start.options)
        encoding = getattr(sys.__stderr__, "encoding", None)  # Textual paints there
        if are_plain(self.start.options.glyphs, encoding):
            from .shared.lines import GlyphFilter  # start: few terminals need it

            self.glyph_filter = GlyphFilter(encoding)
        if self.start.configuration is not None:
            from .config.keymap import settle  # start: nothing to look at without a configuration

            self.keymap, self.trouble = settle(self.start.configuration, self.available_themes)
            self.set_keymap(self.keymap)

    def take_early_cursor(self) -> int:
        """The row the cursor was moved to while the browser was loading; the first row from the second call on."""
        keys, self.early_keys = self.early_keys, None
        return keys.cursor if keys is not None else 0

    def refresh_css(self, animate: bool = True) -> None:
        """Style everything anew for another theme.

        Textual 8 does so at the start too, for the theme it begins with: it reads the style sheets a second time, which
        takes longer than the first layout. Ours have been read with that theme.
        """
        begun_with, self._begun_with = self._begun_with, {}
        if begun_with != self.get_css_variables():
            super().refresh_css(animate)

    def _fatal_error(self) -> None:
        """End with a sentence: Textual would print the values of variables, and so what was said in a chat."""
        kind = sys.exc_info()[0]
        name = kind.__name__ if kind is not None else "failure"
        sentence = _("hermes-browse: something unexpected went wrong ({kind}). Details: {log}").format(
            kind=name, log=log_failure()
        )
        end_with(self, Text(sentence))

    def pop_screen(self) -> AwaitComplete:
        """Leave a screen, and let go of what was drawn for it."""
        left = super().pop_screen()
        forget_colours()
        return left

    @contextmanager
    def lent(self) -> Iterator[None]:
        """Lend the terminal to another program, as it was before this one came.

        Raises:
            SuspendNotSupported: There is no terminal to lend.
        """
        with self.suspend():
            self.put_terminal_back()
            # Ctrl+c is for that program; a handler of ours, unlike an ignored signal, does not pass on to it.
            before = signal.signal(signal.SIGINT, lambda number, frame: None)
            try:
                yield
            finally:
                signal.signal(signal.SIGINT, before)

    def switch_to(
        self, location: Location, store: Store, first: Catalog, shown: Sequence[Conversation], arrival: Arrival
    ) -> None:
        """Show another store in the place of this one, in the same view and order.

        Args:
            location: Which store.
            store: The store.
            first: Its first page.
            shown: Conversations of it that have been read.
            arrival: What to do there.
        """
        before = self._main
        self.location, self.store = location, store
        self._main = screen = MainScreen(self, location, store, first, shown)
        if before is not None:
            listing = before.controllers.listing
            screen.controllers.listing.begin_as(listing.view, listing.sort, reverse=listing.reverse)
        while len(self.screen_stack) > 1:
            self.pop_screen()
        # The screen an application begins with cannot be replaced, so each store has a mode of its own.
        left, self._stores = self.current_mode, self._stores + 1
        name = f"store-{self._stores}"
        self.add_mode(name, lambda: screen)
        self.switch_mode(name)
        if before is not None:
            before.controllers.close()
        if self._stores > 1:
            self.remove_mode(left)
        screen.call_after_refresh(screen.controllers.arrive, arrival)

    def finish(self, plan: ResumePlan | None = None) -> None:
        """End the browser, with what is to be resumed."""
        self.exit(plan)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """The filters that every painted line passes; the one for ASCII signs comes last."""
        filters = super().get_line_filters()
        return [*filters, self.glyph_filter] if self.glyph_filter is not None else filters

    def get_key_display(self, binding: Binding) -> str:
        """A key as it is printed on a keyboard."""
        return binding.key_display or key_names(binding.key.partition(",")[0])

    def get_default_screen(self) -> Screen[object]:
        """The main screen of the store the browser begins with."""
        self._main = screen = MainScreen(self, self.location, self.store, self._first, self._shown)
        screen.controllers.listing.begin_as(self.start.view, self.start.sort, reverse=self.start.reverse)
        return screen

    def on_mount(self) -> None:
        """Take signals before there is a screen."""
        self._leave_in_order()

    def _leave_in_order(self) -> None:
        """End like `q` when told to from outside, so that the terminal is restored."""
        loop = asyncio.get_running_loop()
        if threading.current_thread() is threading.main_thread():
            for name in ("SIGTERM", "SIGHUP"):
                if hasattr(signal, name):
                    self._end_by(getattr(signal, name), loop)
        if self.is_told_to_end():
            self.exit()

    def _end_by(self, number: int, loop: asyncio.AbstractEventLoop) -> None:
        """End the browser on a signal, also after the event loop has closed: its own handlers are gone by then."""

        def end(number: int, frame: FrameType | None) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(self.exit)
            elif callable(before):
                before(number, frame)

        before = signal.signal(number, end)

    def on_ready(self) -> None:
        """Say what is wrong in the configuration: from now on there is a status line."""
        if self.trouble and self._main is not None:
            self._main.line("status").update(failure(self.trouble))

    def as_left(self) -> tuple[View, Sort, bool, str | None] | None:
        """What the next start begins with: view, order, whether it is reversed, theme. None if there was no screen.

        The sample store is nobody's place to come back to: of it the theme alone is remembered. A theme that is set
        in the configuration needs no remembering.
        """
        if self._main is None:
            return None
        theme = None if self.start.options.theme is not None else self.theme
        memory, listing = self.start.memory, self._main.controllers.listing
        if self.location.demo:
            return memory.view, memory.sort, memory.reverse, theme
        return listing.view, listing.sort, listing.reverse, theme

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """What the palette offers: every command by name, and Textual's own."""
        return (command for command, keys in self.palette_commands(screen))

    def palette_commands(self, screen: Screen[object]) -> Iterator[tuple[SystemCommand, str]]:
        """What the palette offers, each with its keys: first what works where the keys are, then the rest."""
        of_panes = [*TRANSCRIPT, *MAIN] if isinstance(screen, MainScreen) else list(getattr(screen, "KEYS", ()))
        here = working((each for each in of_panes if each.task != "Move"), screen.active_bindings)
        known = {each.action for _keys, each in here}
        # What the transcript asks of its screen works from everywhere, by name.
        rest = [
            each for each in of_panes if each.action not in known and (each.place == "main" or "screen." in each.call)
        ]
        at = screen.focused or screen
        for keys, each in [*here, *working(final_keys(rest, self.keymap))]:
            # Other languages have no capitals, or none at this place: theirs are those of names.
            title = _(each.title).capitalize() if language() == "en" else _(each.title)
            on = at if each.place == "transcript" else screen
            yield SystemCommand(title, _(each.tooltip), self._runner(on, each.action)), keys
        ours = {"Keys", "Screenshot", "Maximize", "Minimize", *(("Quit",) if isinstance(screen, MainScreen) else ())}
        for command in super().get_system_commands(screen):
            if command.title not in ours:
                keys = key_names("ctrl+q") if command.title == "Quit" else ""
                yield command._replace(title=_(command.title), help=_(command.help)), keys

    def action_command_palette(self) -> None:
        """Open Textual's palette with a translated prompt."""
        if self.use_command_palette and self.screen.id != _PALETTE:
            self.push_screen(CommandPalette(id=_PALETTE, placeholder=_("Search for commands…")))

    def search_themes(self) -> None:
        """Open the list of themes with a translated prompt."""
        self.push_screen(CommandPalette(providers=[ThemeProvider], placeholder=_("Search for themes…")))

    def _runner(self, on: Widget, action: str) -> Callable[[], None]:
        async def run() -> None:
            await on.run_action(action)

        def start() -> None:
            self.call_later(run)

        return start
