"""The controller that switches the browser to another profile, and opens or searches something
there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hermes_browse.store.errors import StoreError
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.hosts.faults import HostError
from hermes_browse.store.hosts.host import Host
from hermes_browse.store.hosts.remote import locate_there, store_at
from hermes_browse.store.places.reason import short_reason
from hermes_browse.store.wording import _

from ..context import Arrival, Context
from ..list.list_model import read_first
from ..screens.by_name import load
from ..screens.panes import Panes
from .profiles_card import ProfilesCard
from .read_profiles import Profile, read_profiles

if TYPE_CHECKING:
    from hermes_browse.store.places.merged import MergedStore
    from hermes_browse.store.sessions.catalog import Catalog
    from hermes_browse.store.sessions.models import Conversation


class Switching:
    """Switches the store of the browser and closes the previous one.

    `arrive` performs the arrival if the target is the store on screen; `show_places` opens the
    screen of all profiles and hosts, given their store and its first page.
    """

    def __init__(
        self,
        context: Context,
        panes: Panes,
        arrive: Callable[[Arrival], None],
        show_places: Callable[[MergedStore, Catalog, list[Conversation]], None],
    ) -> None:
        self._context, self._panes, self._arrive = context, panes, arrive
        self._show_places = show_places

    def choose(self) -> None:
        """Show the card of this root's profiles and of the hosts; a message if there can be none of
        either."""
        context, panes, hosts = self._context, self._panes, self._context.options.hosts
        here = context.host.here
        if here.root is None and not hosts:
            context.say(_("this store belongs to no Hermes root, so it has no profiles"))
            return
        now = context.clock()

        async def show() -> None:
            profiles = await panes.call(lambda: read_profiles(here))
            if panes.is_current:
                facts = profiles, context.location, now
                card = (
                    load("hosts-card")(*facts, hosts, context.host.links)
                    if hosts
                    else ProfilesCard(*facts)
                )
                panes.app.push_screen(card, chosen)

        def chosen(choice: Profile | Host | bool | None) -> None:
            if choice is True:
                self.show_all()
            elif isinstance(choice, Host):
                self.to_host(choice)
            elif choice:
                self.to(choice.location, Arrival())

        panes.start("profiles", show)

    def show_all(self) -> None:
        """Show all profiles and hosts as one list."""
        context = self._context
        if context.store.is_several:
            return
        self._panes.start("profiles", self._show_all, context.host.here, context.options.hosts)

    async def _show_all(self, here: Location, hosts: Sequence[Host]) -> None:
        now, lines = self._context.clock(), max(self._panes.size.height, 20)
        links = self._context.host.links
        store, first, shown = await self._panes.call(
            lambda: load("merged-places")(here, hosts, links, now, lines)
        )
        if self._panes.is_current:
            self._show_places(store, first, shown)

    def search(self, profile: str, query: str) -> None:
        """Switch to another profile of this root, by its name in Hermes, and search it."""
        profiles = self._context.location.profiles()
        location = next((each for each in profiles if each.profile == profile), None)
        if location is None:
            self._context.say(_("there is no profile {name} any more").format(name=profile))
        else:
            self.to(location, Arrival(query=query))

    def to_host(self, host: Host) -> None:
        """Switch to the store of another machine; if it cannot be reached, report that and stay."""
        context = self._context
        link = context.host.links.of(host)

        async def ask() -> None:
            self.to(await self._panes.call(lambda: locate_there(link)), Arrival())

        context.say(_("asking {name} …").format(name=host.name))
        self._panes.start("profiles", ask)

    def to(self, location: Location, arrival: Arrival) -> None:
        """Switch to another store, and open or search something there; if it cannot be read, report
        that and stay."""
        context, app = self._context, self._panes.app
        if location.path == context.location.path:
            while len(app.screen_stack) > 1:
                app.pop_screen()
            self._arrive(arrival)
            return
        if context.writes.is_busy:
            context.say(_("something is still being written here: try again when it is done"))
            return
        now, lines = context.clock(), max(self._panes.size.height, 20)
        store = store_at(location, context.host.links)

        async def switch() -> None:
            try:
                first, shown = await self._panes.call(lambda: read_first(store, now, lines))
            except HostError:
                raise
            except StoreError as error:
                reason = short_reason(error, location)
                raise StoreError(f"{location.name}: {reason}") from error
            context.host.switch_to(location, store, first, shown, arrival)

        self._panes.start("profiles", switch)
