"""Switches the browser to another profile or machine, and opens or searches something there."""

from __future__ import annotations

from collections.abc import Sequence

from hermes_browse.store.errors import StoreError
from hermes_browse.store.hermes.homes import Location, short_reason
from hermes_browse.store.hosts.faults import HostError
from hermes_browse.store.hosts.host import Host
from hermes_browse.store.hosts.remote import locate_there, store_at
from hermes_browse.store.wording import _

from ...work.application import Arrival
from ..by_name import load
from ..list.list_model import read_first
from ..panes import Panes
from .profiles_card import ProfilesCard
from .read_profiles import Profile, read_profiles


class Switching:
    """Switches the store of the browser and closes the previous one."""

    def __init__(self, main: Panes) -> None:
        self._main = main

    def choose(self) -> None:
        """Show the card of this root's profiles and of the hosts; a message if there can be none of
        either."""
        main = self._main
        if main.host.here.root is None and not main.options.hosts:
            main.say(_("this store belongs to no Hermes root, so it has no profiles"))
        else:
            main.start("profiles", self._choose)

    async def _choose(self) -> None:
        main, now, hosts = self._main, self._main.clock(), self._main.options.hosts
        profiles = await main.call(lambda: read_profiles(main.host.here))
        if not main.is_current:
            return
        facts = profiles, main.location, now
        card = load("hosts-card")(*facts, hosts, main.host.links) if hosts else ProfilesCard(*facts)
        main.app.push_screen(card, self.chosen)

    def chosen(self, choice: Profile | Host | bool | None) -> None:
        """Switch to what was chosen on the card."""
        if choice is True:
            self.show_all()
        elif isinstance(choice, Host):
            self.to_host(choice)
        elif choice:
            self.to(choice.location, Arrival())

    def show_all(self) -> None:
        """Show all profiles and hosts as one list."""
        main = self._main
        if not main.store.is_several:
            main.start("profiles", self._show_all, main.host.here, main.options.hosts)

    async def _show_all(self, here: Location, hosts: Sequence[Host]) -> None:
        main, now, lines = self._main, self._main.clock(), self._main.lines
        links, read = main.host.links, load("merged-places")
        store, first, shown = await main.call(lambda: read(here, hosts, links, now, lines))
        if main.is_current:
            main.open_screen("places", store, first, shown)

    def search(self, profile: str, query: str) -> None:
        """Switch to another profile of this root, by its name in Hermes, and search it."""
        profiles = self._main.location.profiles()
        location = next((each for each in profiles if each.profile == profile), None)
        if location is None:
            self._main.say(_("there is no profile {name} any more", name=profile))
        else:
            self.to(location, Arrival(query=query))

    def to_host(self, host: Host) -> None:
        """Switch to the store of another machine; if it cannot be reached, report that and stay."""
        self._main.say(_("asking {name} …", name=host.name))
        self._main.start("profiles", self._to_host, host)

    async def _to_host(self, host: Host) -> None:
        link = self._main.host.links.of(host)
        await self._to(await self._main.call(lambda: locate_there(link)), Arrival())

    def to(self, location: Location, arrival: Arrival) -> None:
        """Switch to another store, and open or search something there; if it cannot be read, report
        that and stay."""
        self._main.start("profiles", self._to, location, arrival)

    async def _to(self, location: Location, arrival: Arrival) -> None:
        main, app = self._main, self._main.app
        if location.path == main.location.path:
            while len(app.screen_stack) > 1:
                app.pop_screen()
            main.arrival = arrival
            return
        if main.writes.is_busy:
            main.say(_("something is still being written here: try again when it is done"))
            return
        now, lines, store = main.clock(), main.lines, store_at(location, main.host.links)
        try:
            first, shown = await main.call(lambda: read_first(store, now, lines))
        except HostError:
            raise
        except StoreError as error:
            reason = short_reason(error, location)
            raise StoreError(f"{location.name}: {reason}") from error
        main.host.switch_to(location, store, first, shown, arrival)
