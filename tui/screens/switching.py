"""From one profile to another: the card of profiles, the store behind it, what is opened there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from hermes_browse.store.connect import Store
from hermes_browse.store.errors import StoreError
from hermes_browse.store.homes import Location, profiles
from hermes_browse.store.preview import with_names
from hermes_browse.store.sessions.catalog import Catalog, read_first_page
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.wording import _

if TYPE_CHECKING:
    from ..profiles import Found, Profile
    from .main import MainScreen


class Switching:
    """Switches the store of the browser; the store that is left is let go of."""

    def __init__(self, screen: MainScreen) -> None:
        self._screen = screen

    def choose(self) -> None:
        """Show the profiles of this root; says so where the store belongs to none."""
        screen, root = self._screen, self._screen.location.root
        if root is None:
            screen.say(_("this store belongs to no Hermes root, so it has no profiles"))
            return
        now = screen.clock()

        async def run() -> None:
            from ..profiles import read_profiles
            from .profiles_card import ProfilesScreen

            found = await asyncio.to_thread(read_profiles, root, now)
            if screen.is_current:
                screen.app.push_screen(ProfilesScreen(found, screen.location, now), chosen)

        def chosen(profile: Profile | bool | None) -> None:
            if profile is True:
                self.show_all()
            elif profile:
                self.to(profile.location)

        screen.run_worker(run(), group="profiles", exclusive=True)

    def show_all(self) -> None:
        """All profiles as one list and one search."""
        from .everywhere import EverywhereScreen

        self._screen.app.push_screen(EverywhereScreen(self._screen))

    def open(self, found: Found) -> None:
        """Open a conversation in its own profile, at the hit if it is one."""

        def read(screen: MainScreen) -> None:
            message = found.hit.message_id if found.hit is not None else None
            screen.current.open(found.conversation, message_id=message)
            screen.set_focus(screen.transcript)

        self.to(found.location, read)

    def search(self, profile: str, query: str) -> None:
        """Search another profile of this root, and stay there.

        Args:
            profile: What Hermes calls it.
            query: What to look for, in its own list.
        """
        screen, root = self._screen, self._screen.location.root
        known = profiles(root) if root is not None else []
        location = next((each for each in known if each.profile == profile), None)
        if location is None:
            screen.say(_("there is no profile {name} any more").format(name=profile))
            return

        def ask(arrived: MainScreen) -> None:
            arrived.typing.put(query)  # as it was counted: no space behind the last word
            arrived.set_focus(arrived.rows)

        self.to(location, ask)

    def to(self, location: Location, then: Callable[[MainScreen], None] = lambda screen: None) -> None:
        """Switch to another store; one that cannot be read leaves everything as it is.

        Args:
            location: Which.
            then: What to do there.
        """
        screen = self._screen
        app = screen.browse_app()
        if location.path == screen.location.path:
            while len(app.screen_stack) > 1:
                app.pop_screen()
            then(screen)
            return
        if screen.writer.is_busy:
            screen.say(_("something is still being written here: try again when it is done"))
            return
        now, lines = screen.clock(), max(screen.size.height, 20)
        store = Store(location.path)

        def work() -> tuple[Catalog, list[Conversation]]:
            with store.reader() as reader:
                first = read_first_page(reader, now, limit=lines)
                return first, with_names(reader, [first.conversation(root) for root in first.order()[:lines]])

        async def run() -> None:
            try:
                first, shown = await asyncio.to_thread(work)
            except StoreError as error:
                from ..profiles import short_reason

                screen.failed(StoreError(f"{location.profile}: {short_reason(error, location)}"))
                return
            arrived = app.switch_to(location, store, first, shown)
            arrived.call_after_refresh(then, arrived)

        screen.run_worker(run(), group="profiles", exclusive=True)
