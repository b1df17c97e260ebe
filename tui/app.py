"""The application: themes, the main screen of each store, the command palette."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from textual.await_complete import AwaitComplete
from textual.binding import Binding
from textual.filter import LineFilter, Monochrome, NoColor
from textual.screen import ModalScreen, Screen

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.wording import _

from .browser.list.conversation_list import AGES_SECONDS, ConversationList
from .browser.list.list_model import FirstPage
from .browser.main import MainScreen
from .browser.panes import load
from .settings.keys.main_commands import APP
from .settings.start import LastState, Start
from .terminal.handover import Handover, is_job
from .terminal.textual_private import driver_of, forget_colours
from .widgets.bindings import BoundKeys, bindings, key_names
from .widgets.themes import ANSI_LIGHT, DARK, LIGHT, STYLES
from .work.application import Application, Arrival

_NO_COLOURS = NoColor()
_GREYS = Monochrome()


class BrowseApp(Application):
    """The browser; its result is a plan to resume a conversation, or None.

    Args:
        handover: The terminal and the keys pressed so far, if rows were painted ahead.
        startup: The configuration and what was remembered.
    """

    TITLE = "hermes-browse"
    ENABLE_COMMAND_PALETTE = False  # Textual's own; `action_command_palette` opens ours
    CSS_PATH = [STYLES / "app.tcss", STYLES / "looks.tcss"]
    COMPONENT_CLASSES = set(
        re.findall(r"\blook--[\w-]+", (STYLES / "looks.tcss").read_text(encoding="ascii"))
    )
    BINDINGS = bindings(APP)

    def __init__(
        self,
        location: Location,
        store: Store,
        first: FirstPage,
        *,
        handover: Handover | None = None,
        startup: Start | None = None,
    ) -> None:
        super().__init__(location, handover, startup)
        self.location = location
        self.store = store
        self._first = first
        for theme in (DARK, LIGHT, ANSI_LIGHT):
            self.register_theme(theme)
        self.theme = (
            self.startup.theme if self.startup.theme in self.available_themes else DARK.name
        )
        self._first_variables = self.get_css_variables()
        self.stylesheet.set_variables(self._first_variables)
        self.keymap: Mapping[str, str] = {}
        """The user's own keys by the id of a binding."""
        self.trouble = ""
        """What is wrong in the configuration."""
        self._main: MainScreen | None = None
        if self.startup.configuration.exists:
            self.keymap, self.trouble = load("keymap")(
                self.startup.configuration, self.available_themes
            )
            self.set_keymap(self.keymap)

    def refresh_css(self, animate: bool = True) -> None:
        """Apply the style sheets with the colours of the current theme.

        Textual 8 calls this at the start too and parses the style sheets a second time, which takes
        longer than the first layout. That call is skipped: they were parsed with the first theme's
        colours.
        """
        first = self._first_variables
        self._first_variables = {}
        if first != self.get_css_variables():
            super().refresh_css(animate)

    def pop_screen(self) -> AwaitComplete:
        """Close a screen, and drop the colours cached for it."""
        popped = super().pop_screen()
        forget_colours()
        return popped

    def switch_to(
        self, location: Location, store: Store, first: FirstPage, arrival: Arrival
    ) -> None:
        before = self._main
        assert before is not None
        self.location = location
        self.store = store
        self.here = self.here if location.host is not None else location
        screen = self._main_screen(first, before)
        while len(self.screen_stack) > 1:
            self.pop_screen()
        # The first screen of an application cannot be replaced, so each store has a mode.
        previous = self.current_mode
        mode = f"store-{id(screen)}"
        self.add_mode(mode, lambda: screen)
        self.switch_mode(mode)
        before.close()
        if previous != self.DEFAULT_MODE:
            self.remove_mode(previous)
        screen.call_after_refresh(screen.arrive, arrival)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Without colours use the filter of the theme, as Textual keeps that of the first: greys of
        the colours that a terminal has by default are black on black."""
        filters = super().get_line_filters()
        if not self.no_color:
            return filters
        right = _NO_COLOURS if self.native_ansi_color else _GREYS
        return [right if isinstance(each, NoColor | Monochrome) else each for each in filters]

    def get_key_display(self, binding: Binding) -> str:
        return binding.key_display or key_names(binding.key)

    def get_default_screen(self) -> Screen[object]:
        return self._main_screen(self._first, self.startup.memory)

    def _main_screen(self, first: FirstPage, before: LastState | MainScreen) -> MainScreen:
        """Make the screen of the current store, which begins in the view and order of another one
        or of the last run."""
        self._main = screen = MainScreen(self.location, self.store, first)
        screen.begin_as(before.view, before.sort, reverse=before.reverse)
        return screen

    def on_mount(self) -> None:
        """Begin to draw ages anew; Textual calls the inherited handler as well."""
        # Of the application: the event loop would keep a list that is gone until its own timer.
        self.set_interval(AGES_SECONDS, self._refresh_ages)

    def on_ready(self) -> None:
        """Report what is wrong in the configuration, now that there is a status line."""
        if self.trouble and self._main is not None:
            self._main.warn(self.trouble)

    def _refresh_ages(self) -> None:
        """Let the ages of all rows grow together: one row drawn again would be ahead of others."""
        for screen in self.screen_stack[-1:]:  # none is left while the browser ends
            for rows in screen.query(ConversationList):
                rows.refresh_rows()
            if isinstance(screen, MainScreen) and screen.is_mounted:
                screen.describe_row()

    def new_memory(self) -> LastState:
        """Return what the next start begins with.

        View and order of the sample store are not remembered, nor is a theme unless it was chosen
        in the palette and none is configured.
        """
        before = self.startup.memory
        sizes = self.pane_sizes
        is_theme_chosen = self.startup.options.theme is None and self.theme != self.startup.theme
        after = before._replace(
            theme=self.theme if is_theme_chosen else before.theme,
            list_width=sizes.width,
            list_height=sizes.height,
            list_alone=sizes.is_alone,
        )
        if self._main is None or self.location.demo:
            return after
        main = self._main
        return after._replace(view=main.view, sort=main.sort, reverse=main.reverse)

    def action_suspend_process(self) -> None:
        """Stop; not in the middle of a change, nor where nobody would go on with it."""
        if self.writes.is_busy:
            self._say(_("something is still being written: stop when it is done"))
        elif not is_job():
            self._say(_("there is no shell to go back to that could go on with the browser"))
        else:
            super().action_suspend_process()

    def action_toggle_mouse(self) -> None:
        """Release the mouse to the terminal, for selecting text, or capture it again."""
        toggle = getattr(driver_of(self), "toggle_mouse", None)
        if toggle is None:
            self._say(_("the mouse cannot be switched here"))
        elif toggle():
            self._say(_("the browser has the mouse"))
        else:
            self._say(_("the terminal has the mouse · F9 gives it back to the browser"))

    def _say(self, text: str) -> None:
        """Answer a key on the screen or card on top."""
        if isinstance(self.screen, BoundKeys):
            self.screen.answer(text)

    def action_command_palette(self) -> None:
        if not isinstance(self.screen, ModalScreen):
            load("palette")(self, self.keymap)
