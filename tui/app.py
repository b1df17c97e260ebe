"""The application: themes, the main screen of each store, the command palette."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import SystemCommand
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.filter import LineFilter, Monochrome, NoColor
from textual.screen import Screen
from textual.theme import ThemeProvider

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.wording import N_, _, language

from .application import Application, Arrival
from .bindings import bindings, key_names, working
from .commands import final_keys
from .commands.main_commands import APP, TRANSCRIPT
from .config.start import LastState, Start
from .list.conversation_list import AGES_SECONDS, ConversationList
from .screens.by_name import load
from .screens.main import MainScreen
from .start.prepaint import Handover
from .textual_private import forget_colours
from .themes import ANSI_LIGHT, DARK, LIGHT

if TYPE_CHECKING:
    from hermes_browse.store.hosts.link import Links

_OF_TEXTUAL = (
    N_("Theme"), N_("Change the current theme"), N_("Quit"), N_("Quit the application as soon as possible"),
)  # fmt: skip
"""Texts of Textual's own palette (8.2), marked for translation."""
_PALETTE = "--command-palette"
"""The id Textual gives its palette."""
_NO_COLOURS, _GREYS = NoColor(), Monochrome()
_STYLES = Path(__file__).resolve().parent.parent / "styles"


class Commands(Provider):
    """The palette's commands with their keys, in the order in which they are offered."""

    def _every(self) -> Iterator[tuple[SystemCommand, str]]:
        app = self.app
        return app.palette_commands(self.screen) if isinstance(app, BrowseApp) else iter(())

    async def discover(self) -> Hits:
        """All of them."""
        for command, keys in self._every():
            yield DiscoveryHit(
                _with_keys(Content(command.title), keys),
                command.callback,
                command.title,
                command.help,
            )

    async def search(self, query: str) -> Hits:
        """Those whose name is like what was typed."""
        matcher = self.matcher(query)
        for command, keys in self._every():
            if (score := matcher.match(command.title)) > 0:
                told = _with_keys(matcher.highlight(command.title), keys)
                yield Hit(score, told, command.callback, command.title, command.help)


def _with_keys(title: Content, keys: str) -> Content:
    """A name, and its keys in a column."""
    return (
        Content.assemble(title, " " * max(2, 28 - title.cell_length), (keys, "bold $accent"))
        if keys
        else title
    )


class BrowseApp(Application):
    """The browser; its result is a plan to resume a conversation, or None.

    Args:
        first: The first page of the store's catalog.
        shown: Conversations that have been read with their previews.
        handover: The terminal and the keys pressed so far, if rows were painted ahead.
        start: The configuration and what was remembered.
        links: The connections to hosts, if one is open already.
    """

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
        handover: Handover | None = None,
        start: Start | None = None,
        links: Links | None = None,
    ) -> None:
        super().__init__(location, handover, start, links)
        self.location, self.store = location, store
        self._first, self._shown = first, shown
        for theme in (DARK, LIGHT, ANSI_LIGHT):
            self.register_theme(theme)
        self.theme = self.start.theme if self.start.theme in self.available_themes else DARK.name
        self._first_variables = self.get_css_variables()
        self.stylesheet.set_variables(self._first_variables)
        self.keymap: Mapping[str, str] = {}
        """The user's own keys by the id of a binding."""
        self.trouble = ""
        """What is wrong in the configuration."""
        self._main: MainScreen | None = None
        self._stores = 0
        if self.start.configuration is not None:
            self.keymap, self.trouble = load("keymap")(
                self.start.configuration, self.available_themes
            )
            self.set_keymap(self.keymap)

    def refresh_css(self, animate: bool = True) -> None:
        """Apply the style sheets with the colours of the current theme.

        Textual 8 calls this at the start too and parses the style sheets a second time, which takes
        longer than the first layout. That call is skipped: they were parsed with the first theme's
        colours.
        """
        first, self._first_variables = self._first_variables, {}
        if first != self.get_css_variables():
            super().refresh_css(animate)

    def pop_screen(self) -> AwaitComplete:
        """Close a screen, and drop the colours cached for it."""
        popped = super().pop_screen()
        forget_colours()
        return popped

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
        """Begin to draw ages anew; Textual calls the inherited handler as well."""
        # Of the application: the event loop would keep a list that is gone until its own timer.
        self.set_interval(AGES_SECONDS, self._refresh_ages)

    def on_ready(self) -> None:
        """Report what is wrong in the configuration, now that there is a status line."""
        if self.trouble and self._main is not None:
            self._main.warn(self.trouble)

    def _refresh_ages(self) -> None:
        """Let the ages of all rows grow together: one row drawn again would be ahead of others."""
        for each in self.screen.query(ConversationList):
            each.refresh_rows()

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

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Yield the entries of the palette: every command by name, and Textual's own."""
        return (command for command, _keys in self.palette_commands(screen))

    def palette_commands(self, screen: Screen[object]) -> Iterator[tuple[SystemCommand, str]]:
        """Yield the entries of the palette with their keys: first what works where the focus is,
        then the rest."""
        of_panes = (
            [*TRANSCRIPT, *screen.KEYS]
            if isinstance(screen, MainScreen)
            else list(getattr(screen, "KEYS", ()))
        )
        here = working((each for each in of_panes if each.task != "Move"), screen.active_bindings)
        known = {each.action for _keys, each in here}
        # The commands of the transcript that its screen carries out work from everywhere, by name.
        rest = [each for each in of_panes if each.does and each.action not in known]
        at = screen.focused or screen
        for keys, each in [*here, *working(final_keys(rest, self.keymap))]:
            # Capitals follow other rules in other languages, so translated titles stay as they are.
            title = _(each.title).capitalize() if language() == "en" else _(each.title)
            node = at if each.place == "transcript" else screen
            yield (
                SystemCommand(
                    title, _(each.tooltip), partial(self.call_later, node.run_action, each.action)
                ),
                keys,
            )
        ours = {
            "Keys",
            "Screenshot",
            "Maximize",
            "Minimize",
            *(("Quit",) if isinstance(screen, MainScreen) else ()),
        }
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
        self.push_screen(
            CommandPalette(providers=[ThemeProvider], placeholder=_("Search for themes…"))
        )
