"""The card of profiles and hosts: profiles at once, each host when it has answered."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from textual.content import Content
from textual.widgets import OptionList

from hermes_browse.store.errors import BrowseError
from hermes_browse.store.hermes.homes import Location
from hermes_browse.store.hosts.host import Host
from hermes_browse.store.hosts.link import Links
from hermes_browse.store.hosts.running import in_thread
from hermes_browse.store.places.place import Place
from hermes_browse.store.wording import N_, _

from ...text import formats
from .places_screen import reason_of
from .profiles_card import ProfilesCard
from .read_profiles import Figures, Profile, read_figures

AGAIN_SECONDS = 15.0
"""Hosts that are away are asked again after this time."""


class HostsCard(ProfilesCard):
    """The card of profiles and hosts."""

    TITLE_OF_CARD = N_("Profiles and hosts")
    ALL = N_("everything as one list")

    def __init__(
        self,
        profiles: Sequence[Profile],
        current: Location,
        now: float,
        hosts: Sequence[Host],
        links: Links,
    ) -> None:
        super().__init__(profiles, current, now)
        self._hosts = hosts
        self._places = [Place(number, host, links) for number, host in enumerate(hosts)]
        self._figures: dict[Host, Figures] = {}
        self._asked: set[Host] = set()

    def on_mount(self) -> None:
        """Ask the hosts; Textual calls the inherited handler, which fills the list, as well."""
        self._ask()
        self.set_interval(AGAIN_SECONDS, self._ask)

    def _ask(self) -> None:
        """Ask the hosts of which nothing is known, except those that are being asked."""
        for place in self._places:
            if place.host is not None and place.host not in {*self._figures, *self._asked}:
                self._asked.add(place.host)
                self.run_worker(self._read(place, place.host), group="ask")

    async def _read(self, place: Place, host: Host) -> None:
        try:
            reading = in_thread(lambda: read_figures(place.connect()), f"ask {host.name}")
            self._figures[host] = await asyncio.wrap_future(reading)
        except BrowseError as error:
            place.error = error
        self._asked.discard(host)
        self._answered()

    def keys_told(self) -> str:
        """Describe the keys, with this card's own text for the key that shows everything."""
        key = self.key("all")
        return self.keys_text(
            _("Enter open"), *([f"{key} {_(self.ALL)}"] if key else []), without=("all",)
        )

    def choices(self) -> Sequence[Profile | Host]:
        """Return profiles, then hosts."""
        return [*self.profiles, *self._hosts]

    def lines(self) -> list[Content]:
        """Return a line for each profile, then for each host."""
        return [*super().lines(), *map(self._line_of_host, self._places)]

    def sessions(self) -> int:
        """Return how many sessions there are in all that have been heard of."""
        return super().sessions() + sum(each.sessions for each in self._figures.values())

    def _line_of_host(self, place: Place) -> Content:
        assert place.host is not None
        mark, name = self.mark(place.host), formats.fit(place.name, 18)
        if (figures := self._figures.get(place.host)) is not None:
            return Content.assemble(mark, (name, "bold"), (self.figures(figures), "dim"))
        if place.away is not None:
            reason = reason_of(place, place.away, self.now)
            return Content.assemble(mark, (name, ""), (reason, "$error"))
        return Content.assemble(mark, (name, ""), (_("asking …"), "dim"))

    def _answered(self) -> None:
        if not self.is_whole:
            return
        box = self.query_one(OptionList)
        for index, line in enumerate([*self.lines(), self.last_line()]):
            box.replace_option_prompt_at_index(index, line)
