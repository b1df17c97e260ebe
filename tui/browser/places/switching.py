"""Switches the browser to another profile or machine, or to old transcripts, and opens or searches
something there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from hermes_browse.store.errors import StoreError
from hermes_browse.store.hermes.homes import Location, sessions_folder, short_reason
from hermes_browse.store.hosts.host import Host, HostError
from hermes_browse.store.hosts.link import Links
from hermes_browse.store.hosts.remote import store_at
from hermes_browse.store.places.merged import MergedStore, places_of
from hermes_browse.store.places.place import Place
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Conversation
from hermes_browse.store.wording import _

from ...work.application import Arrival
from ..by_name import load
from ..list.list_model import read_first
from ..panes import Panes
from .profiles_card import ProfilesCard


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
        main, now = self._main, self._main.clock()
        here, hosts, links = main.host.here, main.options.hosts, main.host.links
        places = await main.call(lambda: _looked_at(places_of(here, hosts, links)))
        main.open_card(ProfilesCard(places, main.location, now), self._chosen)

    def _chosen(self, choice: Place | bool | None) -> None:
        if isinstance(choice, Place):
            self.to_place(choice, Arrival())
        elif choice:
            self.show_all()

    def show_all(self) -> None:
        main = self._main
        if not main.store.is_several:
            main.start("profiles", self._show_all, main.host.here, main.options.hosts)

    async def _show_all(self, here: Location, hosts: Sequence[Host]) -> None:
        main, now, lines = self._main, self._main.clock(), self._main.lines
        links = main.host.links
        store, first, shown = await main.call(lambda: _read_places(here, hosts, links, now, lines))
        if main.is_current:
            main.open_screen("places", store, first, shown)

    def show_old(self) -> None:
        """Show the old transcripts beside the store, or say that there are none."""
        main, folder = self._main, sessions_folder(self._main.location)
        if folder is None:
            main.say(_("no old transcripts belong to this store"))
            return
        main.say(_("looking for old transcripts …"))
        main.start("old", self._show_old, folder)

    async def _show_old(self, folder: Path) -> None:
        main, lines, now = self._main, self._main.lines, self._main.clock()
        read = load("old-transcripts")
        transcripts, first, shown = await main.call(lambda: read(folder, main.store, now, lines))
        main.retract(_("looking for old transcripts …"))
        if transcripts.files and main.is_current:
            main.open_screen("old", transcripts, first, shown)
            return
        transcripts.close()
        if not transcripts.files:
            main.say(_("no old transcripts in {folder}", folder=folder))

    def search(self, profile: str, query: str) -> None:
        """Switch to another profile of this root, by its name in Hermes, and search it."""
        profiles = self._main.location.profiles()
        location = next((each for each in profiles if each.profile == profile), None)
        if location is None:
            self._main.say(_("there is no profile {name} any more", name=profile))
        else:
            self.to(location, Arrival(query=query))

    def to_place(self, place: Place, arrival: Arrival) -> None:
        """Switch to the store of a profile or of another machine; if that cannot be reached, report
        that and stay."""
        if place.host is not None:
            self._main.say(_("asking {name} …", name=place.host.name))
        self._main.start("profiles", self._to, place.location, arrival)

    def to(self, location: Location, arrival: Arrival) -> None:
        """Switch to another store, and open or search something there; if it cannot be read, report
        that and stay."""
        self._main.start("profiles", self._to, lambda: location, arrival)

    async def _to(self, where: Callable[[], Location], arrival: Arrival) -> None:
        main, app = self._main, self._main.app
        location = await main.call(where)
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


def _looked_at(places: Sequence[Place]) -> Sequence[Place]:
    """Return places, the profiles among them with their figures."""
    for place in places:
        if place.host is None:
            place.look()
    return places


def _read_places(
    here: Location, hosts: Sequence[Host], links: Links, now: float, lines: int
) -> tuple[MergedStore, Catalog, list[Conversation]]:
    """Return the store of all profiles and hosts, and the first page of the profiles (`lines`
    conversations) with previews; on a reading thread."""
    store = MergedStore(here.path.parent / "places", places_of(here, hosts, links))
    return store, *read_first(store, now, lines)
