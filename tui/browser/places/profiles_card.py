"""The card of profiles and hosts: the figures of each, or why it cannot be read, and an entry for
all of them. Profiles are read before, one after the other; each host shows when it has answered."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from hermes_browse.store.api import OpenStore
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import BrowseError, StoreError
from hermes_browse.store.hermes.homes import DEFAULT_PROFILE, Location, short_reason
from hermes_browse.store.hosts.host import Host
from hermes_browse.store.hosts.ssh import in_thread
from hermes_browse.store.places.place import Place
from hermes_browse.store.sessions.models import View
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

from ...settings.keys.screen_commands import PROFILES
from ...text import formats
from ...widgets.card import Card, keys_line

_AGAIN_SECONDS = 15.0
"""Hosts that are away are asked again after this time."""


class Figures(NamedTuple):
    """What the card says of a store."""

    sessions: int = 0
    bytes: int = 0
    last_active: float | None = None
    """Unix seconds."""


class Profile(NamedTuple):
    """The figures of a profile, or why it cannot be read."""

    location: Location
    figures: Figures = Figures()
    error: str = ""


def read_profiles(here: Location) -> list[Profile]:
    """Read the figures of all profiles of the root of a store."""
    return [_read_profile(location) for location in here.profiles()]


def _read_profile(location: Location) -> Profile:
    try:
        return Profile(location, _read_figures(OpenStore(Store(location.path), location)))
    except StoreError as error:
        return Profile(location, error=short_reason(error, location))


def _read_figures(store: OpenStore) -> Figures:
    """Read the figures of a store from a few rows, and close it."""
    with store:
        summary = store.summary()
        page = store.first_page(time.time(), view=View.ALL, limit=1)
        newest = [page.conversation(root) for root in page.order(View.ALL)[:1]]
    active = newest[0].last_active if newest else None
    return Figures(summary.sessions or 0, summary.size, active)


def reason_of(place: Place, error: BrowseError, now: float) -> str:
    """Return why a place is away, and since when; `now` is in Unix seconds."""
    if place.link is None:
        return _(
            "it cannot be read: {reason}",
            reason=one_line(short_reason(error, place.location()), 300),
        )
    own = one_line(error.sentence.removeprefix(f"{place.name[1:]}: "), 300)
    since = place.link.away_since
    if since is None:
        return _("no answer: {reason}", reason=own)
    is_today = formats.day_key(since) == formats.day_key(now)
    time = formats.clock(since).strip() if is_today else formats.timestamp(since)
    return _("away since {time}: {reason}", time=time, reason=own)


class ProfilesCard(Card["Location | Host | bool | None"]):
    """Returns the location of a profile, or the host, that was chosen, True for all, or None.

    Args:
        current: The location of the store on screen.
        now: Unix seconds.
        places: Of hosts.
    """

    AUTO_FOCUS = "#profiles"
    KEYS = PROFILES

    def __init__(
        self,
        profiles: Sequence[Profile],
        current: Location,
        now: float,
        places: Sequence[Place] = (),
    ) -> None:
        super().__init__()
        self._profiles, self._current, self._now = profiles, current, now
        self._hosts = {place.host: place for place in places if place.host is not None}
        locations = [each.location for each in profiles]
        self._choices: list[Location | Host] = [*locations, *self._hosts]
        self._figures: dict[Host, Figures] = {}
        self._asked: set[Host] = set()
        every, profiles_only = _("everything as one list"), _("all profiles as one list")
        self._all = every if self._hosts else profiles_only

    def compose(self) -> ComposeResult:
        title = _("Profiles and hosts") if self._hosts else _("Profiles")
        key = self.key("all")
        key_of_all = [f"{key} {self._all}"] if key else []
        with Vertical(id="card"):
            yield Static(Content.styled(title, "bold"))
            yield OptionList(id="profiles", markup=False)
            yield keys_line(self.keys_text(_("Enter open"), *key_of_all, without=("all",)))

    def on_mount(self) -> None:
        box = self.query_one(OptionList)
        box.add_options(map(Option, self._lines()))
        broken = {each.location for each in self._profiles if each.error}
        others = (
            index
            for index, choice in enumerate(self._choices)
            if not self._is_current(choice) and choice not in broken
        )
        box.highlighted = next(others, 0)
        self._ask()
        self.set_interval(_AGAIN_SECONDS, self._ask)

    def _ask(self) -> None:
        """Ask the hosts of which nothing is known, except those that are being asked."""
        for host, place in self._hosts.items():
            if host not in {*self._figures, *self._asked}:
                self._asked.add(host)
                self.run_worker(self._read(place, host), group="ask")

    async def _read(self, place: Place, host: Host) -> None:
        try:
            reading = in_thread(lambda: _read_figures(place.connect()), f"ask {host.name}")
            self._figures[host] = await asyncio.wrap_future(reading)
        except BrowseError as error:
            place.error = error
        self._asked.discard(host)
        if self.is_whole:
            box = self.query_one(OptionList)
            for index, line in enumerate(self._lines()):
                box.replace_option_prompt_at_index(index, line)

    # Lines

    def _lines(self) -> list[Content]:
        """Return a line for each choice, and one for all of them."""
        figures = [*(each.figures for each in self._profiles), *self._figures.values()]
        sessions = formats.counted(sum(each.sessions for each in figures), "session")
        return [
            *map(self._line_of_profile, self._profiles),
            *map(self._line_of_host, self._hosts),
            Content(f"  {self._all} · {sessions}"),
        ]

    def _line_of_profile(self, profile: Profile) -> Content:
        name = profile.location.profile or DEFAULT_PROFILE
        if not profile.error:
            return self._line(profile.location, name, profile.figures)
        wrong = _("cannot be read: "), "$error"
        return self._line(profile.location, name, None, wrong, (one_line(profile.error, 200), ""))

    def _line_of_host(self, host: Host) -> Content:
        place, figures = self._hosts[host], self._figures.get(host)
        state = _("asking …"), "dim"
        if place.away is not None:
            state = reason_of(place, place.away, self._now), "$error"
        return self._line(host, place.name, figures, state)

    def _line(
        self,
        choice: Location | Host,
        name: str,
        figures: Figures | None,
        *state: tuple[str, str],
    ) -> Content:
        """Build a line: a mark of the store on screen, name, and the figures, or without them the
        state."""
        mark = "● " if self._is_current(choice) else "  "
        fitted = formats.fit(one_line(name, 60), 18)
        if figures is None:
            return Content.assemble(mark, fitted, *state)
        return Content.assemble(mark, (fitted, "bold"), (self._columns(figures), "dim"))

    def _is_current(self, choice: Location | Host) -> bool:
        if isinstance(choice, Host):
            return choice == self._current.host
        return choice.path == self._current.path

    def _columns(self, figures: Figures) -> str:
        count = _("{count:>9,} sessions", count=figures.sessions)
        active = figures.last_active
        age = formats.age(active, self._now) if active is not None else _("never used")
        return f"{count}  {formats.fit(formats.size(figures.bytes), 9, right=True)}  {age}"

    # Keys

    @on(OptionList.OptionSelected)
    def selected(self, event: OptionList.OptionSelected) -> None:
        """Return the choice; switching to a broken profile tries again and reports why it fails."""
        index = event.option_index
        self.dismiss(self._choices[index] if index < len(self._choices) else True)

    def action_move(self, way: str) -> None:
        """Move the cursor `up` or `down` (Vim's keys)."""
        getattr(self.query_one(OptionList), f"action_cursor_{way}")()

    def action_all(self) -> None:
        self.dismiss(True)
