"""The application: theme, screens, and what it ends with; everything else is in the screens."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual._styles_cache import StylesCache
from textual.app import App, SystemCommand
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.command import CommandPalette
from textual.driver import Driver
from textual.filter import LineFilter
from textual.screen import Screen
from textual.theme import BUILTIN_THEMES, Theme, ThemeProvider

from hermes_browse.store.connect import Store
from hermes_browse.store.homes import Location
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Conversation, Sort, View
from hermes_browse.store.wording import N_, _, language

from .config.applying import set_up
from .config.start import Start
from .header import failure
from .logfile import log_failure
from .screens.main import MainScreen

if TYPE_CHECKING:
    from hermes_browse.store.resume import ResumePlan

    from .early_keys import EarlyKeys

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
    """Our own, but on Windows, where the screen is never taken ahead and no terminal is lost, or if one is named."""
    if sys.platform == "win32" or "TEXTUAL_DRIVER" in os.environ:
        return None
    from .driver import BrowserDriver, TakenScreenDriver

    return TakenScreenDriver if is_screen_taken else BrowserDriver


class BrowseApp(_App):
    """The browser; ends with the plan of a resume, or with nothing."""

    TITLE = "hermes-browse"
    ENABLE_COMMAND_PALETTE = True
    CSS_PATH: ClassVar[list[str | Path]] = [  # type: ignore[assignment]  # a list is one of the forms Textual takes
        _STYLES / name for name in ("app.tcss", "widgets.tcss")
    ]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "quit", N_("quit"), show=False, priority=True),
        Binding("ctrl+c", "quit", N_("quit"), show=False, priority=True),
        Binding("ctrl+p", "command_palette", N_("palette"), show=False, priority=True, id="palette"),
    ]

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
        self.shares = self.start.shares
        """How the panes share the screen, of every store."""
        self.keymap: Mapping[str, str] = {}
        """Keys of the user's own, by the id of a binding."""
        self.glyph_filter: LineFilter | None = None
        """Puts ASCII in the place of signs, where that is wanted."""
        self.trouble = ""
        """What in the configuration does not hold."""
        self._main: MainScreen | None = None
        self._stores = 0
        set_up(self)

    def take_early_cursor(self) -> int:
        """The row the cursor was moved to while all this was loaded; for whoever asks later, the first one."""
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
        self._exit_renderables.append(Text(sentence))
        self._close_messages_no_wait()

    def pop_screen(self) -> AwaitComplete:
        """Leave a screen, and let go of what was drawn for it.

        Textual 8 remembers two colours for each widget that was drawn, in a cache of 1,024 entries that is shared by
        all of them and keeps the widget's lines with it: hours of opening and leaving screens cost some 200 MB.
        """
        left = super().pop_screen()
        forget = getattr(StylesCache.get_inner_outer, "cache_clear", None)
        if forget is not None:
            forget()
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

    def switch_to(self, location: Location, store: Store, first: Catalog, shown: Sequence[Conversation]) -> MainScreen:
        """Another store in the place of this one, in the same view and order.

        Args:
            location: Which store.
            store: The store.
            first: Its first page.
            shown: Conversations of it that have been read.

        Returns:
            The new main screen; it is on its way.
        """
        before = self._main
        self.location, self.store = location, store
        self._main = screen = MainScreen(location, store, first, shown, self.clock)
        if before is not None:
            screen.listing.begin_as(before.listing.view, before.listing.sort, reverse=before.listing.reverse)
        while len(self.screen_stack) > 1:
            self.pop_screen()
        # The screen an application begins with cannot be replaced, so each store has a mode of its own.
        left, self._stores = self.current_mode, self._stores + 1
        name = f"store-{self._stores}"
        self.add_mode(name, lambda: screen)
        self.switch_mode(name)
        if before is not None:
            before.let_go()
        if self._stores > 1:
            self.remove_mode(left)
        return screen

    def get_line_filters(self) -> Sequence[LineFilter]:
        """What every line that is painted passes; signs in ASCII come last."""
        filters = super().get_line_filters()
        return [*filters, self.glyph_filter] if self.glyph_filter is not None else filters

    def get_key_display(self, binding: Binding) -> str:
        """A key as it is printed on a keyboard, by its name where its sign is no ASCII."""
        shown = super().get_key_display(binding)
        return "Enter" if self.glyph_filter is not None and shown == "↵" else shown

    def get_default_screen(self) -> Screen[object]:
        """The one screen everything happens on."""
        self._main = screen = MainScreen(self.location, self.store, self._first, self._shown, self.clock)
        screen.listing.begin_as(self.start.view, self.start.sort, reverse=self.start.reverse)
        return screen

    def on_ready(self) -> None:
        """Say what in the configuration does not hold, once there is a place to say it."""
        if self.trouble and self._main is not None:
            self._main.line("status").update(failure(self.trouble))

    def as_left(self) -> tuple[View, Sort, bool, str | None] | None:
        """View, order, whether it is turned round, and theme, to be found so again; None before there was a screen.

        The sample store is nobody's place to come back to: of it the theme alone is remembered. A theme that is set
        in the configuration needs no remembering.
        """
        if self._main is None:
            return None
        theme = None if self.start.options.theme is not None else self.theme
        memory, listing = self.start.memory, self._main.listing
        if self.location.demo:
            return memory.view, memory.sort, memory.reverse, theme
        return listing.view, listing.sort, listing.reverse, theme

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Everything that keys do, by name, and what Textual itself offers."""
        if isinstance(screen, MainScreen):
            for binding in screen.commands():
                title = _(binding.description)
                # Other languages have no capitals, or none at this place: theirs are those of names.
                title = title.capitalize() if language() == "en" else title
                yield SystemCommand(title, _(binding.tooltip), self._runner(screen, binding))
        for command in super().get_system_commands(screen):
            if command.title not in ("Keys", "Screenshot", "Maximize", "Minimize"):
                yield command._replace(title=_(command.title), help=_(command.help))

    def action_command_palette(self) -> None:
        """Textual's palette, asking in the language of the rest."""
        if self.use_command_palette and self.screen.id != _PALETTE:
            self.push_screen(CommandPalette(id=_PALETTE, placeholder=_("Search for commands…")))

    def search_themes(self) -> None:
        """Its list of themes likewise."""
        self.push_screen(CommandPalette(providers=[ThemeProvider], placeholder=_("Search for themes…")))

    def _runner(self, screen: Screen[object], binding: Binding) -> Callable[[], None]:
        async def run() -> None:
            await screen.run_action(binding.action)

        def start() -> None:
            self.call_later(run)

        return start
