"""Another store instead of the one on screen: the card of profiles and hosts, with the figures of each
or why it cannot be read, and the switch to one of them, to all, or to old transcripts.

The card is there at once, for the keys that are meant for it. Profiles are shown when all of them
were read, one after the other; each host shows when it has answered.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from hermes_browse.store.api import open_store
from hermes_browse.store.errors import BrowseError, StoreError
from hermes_browse.store.hermes.homes import Location, sessions_folder, short_reason
from hermes_browse.store.hosts.host import HostError
from hermes_browse.store.hosts.ssh import in_thread
from hermes_browse.store.places.merged import MergedStore, places_of
from hermes_browse.store.places.place import Place
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _

from ..settings.keys.screen_commands import PROFILES
from ..text import formats
from ..widgets.card import Card, styled
from ..work.application import Arrival
from .panes import Panes, load

if TYPE_CHECKING:
    from hermes_browse.store.hermes.health import StoreSummary


def reason_of(place: Place, error: BrowseError, now: float) -> str:
    """Return why a place is away, and since when; `now` is in Unix seconds."""
    if place.link is None:
        reason = one_line(short_reason(error, place.location()), 300)
        return _("it cannot be read: {reason}", reason=reason)
    own = one_line(error.sentence.removeprefix(f"{place.name[1:]}: "), 300)
    since = place.link.away_since
    if since is None:
        return _("no answer: {reason}", reason=own)
    is_today = formats.day_key(since) == formats.day_key(now)
    time = formats.clock(since).strip() if is_today else formats.timestamp(since)
    return _("away since {time}: {reason}", time=time, reason=own)


class ProfilesCard(Card["Place | bool"]):
    """Returns the place that was chosen, True for all of them, or None.

    Args:
        current: The location of the store on screen.
        now: Unix seconds.
        has_hosts: Whether there are hosts besides profiles.
    """

    AUTO_FOCUS = "#profiles"
    ENTER = N_("Enter open")
    KEYS = PROFILES

    def __init__(self, current: Location, now: float, *, has_hosts: bool) -> None:
        super().__init__()
        self._current, self._now = current, now
        self._places: Sequence[Place] = ()
        self.opened = asyncio.Event()
        self._title = _("Profiles and hosts") if has_hosts else _("Profiles")
        self._all = _("everything as one list") if has_hosts else _("all profiles as one list")

    def content(self) -> ComposeResult:
        yield styled(self._title, "bold")
        yield OptionList(Option(_("asking …"), disabled=True), id="profiles", markup=False)

    def on_mount(self) -> None:
        self.opened.set()

    def keys_text(self) -> str:
        key = self.key("all")
        return self.named_keys(f"{key} {self._all}" if key else "", without=("all",))

    def show(self, places: Sequence[Place]) -> None:
        """List profiles, whose figures are read, then hosts, which are asked now."""
        self._places = places
        box = self.query_one(OptionList)
        box.clear_options()
        box.add_options(map(Option, self._lines()))
        others = (
            index
            for index, place in enumerate(places)
            if not self._is_current(place) and (place.host or place.error is None)
        )
        box.highlighted = next(others, 0)
        for place in places:
            if place.host is not None:
                self.run_worker(self._read(place), group="ask")

    async def _read(self, place: Place) -> None:
        await asyncio.wrap_future(in_thread(place.look, f"ask {place.name}"))
        if self.is_whole:
            box = self.query_one(OptionList)
            for index, line in enumerate(self._lines()):
                box.replace_option_prompt_at_index(index, line)

    def _lines(self) -> list[Content]:
        """Return a line for each place, and one for all of them."""
        count = sum(each.summary.sessions or 0 for each in self._places if each.summary)
        every = Content(f"  {self._all} · {formats.counted(count, 'session')}")
        return [*map(self._line, self._places), every]

    def _line(self, place: Place) -> Content:
        """Build a line: a mark of the store on screen, name, and the figures, or without them the
        state."""
        mark = "● " if self._is_current(place) else "  "
        name = formats.fit(one_line(place.name, 60), 18)
        if (summary := place.summary) is not None:
            columns = self._columns(summary, place.last_active)
            return Content.assemble(mark, (name, "bold"), (columns, "dim"))
        state, error = (_("asking …"), "dim"), place.away or place.error
        if error is not None:
            state = reason_of(place, error, self._now), "$error"
        return Content.assemble(mark, name, state)

    def _is_current(self, place: Place) -> bool:
        if place.host is not None:
            return place.host == self._current.host
        return place.location().path == self._current.path

    def _columns(self, summary: StoreSummary, active: float | None) -> str:
        count = _("{count:>9,} sessions", count=summary.sessions or 0)
        age = formats.age(active, self._now) if active is not None else _("never used")
        return f"{count}  {formats.fit(formats.size(summary.size), 9, right=True)}  {age}"

    @on(OptionList.OptionSelected)
    def selected(self, event: OptionList.OptionSelected) -> None:
        """Return the choice; switching to a broken profile tries again and reports why it fails."""
        index = event.option_index
        self.dismiss(self._places[index] if index < len(self._places) else True)

    def action_all(self) -> None:
        self.dismiss(True)


class Switching:
    """Switches the store of the browser and closes the previous one."""

    def __init__(self, main: Panes) -> None:
        self._main = main

    async def choose(self) -> None:
        """Show the card of this root's profiles and of the hosts; a message if there can be none of
        either."""
        main = self._main
        if main.app.here.root is None and not main.options.hosts:
            main.say(_("this store belongs to no Hermes root, so it has no profiles"))
            return
        card = ProfilesCard(main.location, main.clock(), has_hosts=bool(main.options.hosts))
        main.start("profiles", self._fill, card)
        choice = await main.ask(card)
        if isinstance(choice, Place):
            self.to_place(choice, Arrival())
        elif choice and not main.store.is_several:
            main.start("profiles", self._show_all)

    async def _fill(self, card: ProfilesCard) -> None:
        places = await self._main.call(self._places)
        for place in places:
            if place.host is None:
                await self._main.call(place.look)
        await card.opened.wait()
        if card.is_whole:
            card.show(places)

    def _places(self) -> Sequence[Place]:
        """Return the profiles of this root, and the hosts; on a thread."""
        app = self._main.app
        return places_of(app.here, self._main.options.hosts, app.links)

    async def _show_all(self) -> None:
        """Show the first page of the profiles."""
        main = self._main
        folder = main.app.here.path.parent / "places"
        store = await main.call(lambda: MergedStore(folder, self._places()))
        first = await main.call(lambda: main.first_page(store))
        if main.is_active:
            main.open_screen("places", store, first)

    def show_old(self, query: str = "") -> None:
        """Show the old transcripts beside the store, or say that there are none; search them for a
        text if one is given."""
        main, folder = self._main, sessions_folder(self._main.location)
        if folder is None:
            main.say(_("no old transcripts belong to this store"))
            return
        main.say(_("looking for old transcripts …"))
        main.start("old", self._show_old, folder, query)

    async def _show_old(self, folder: Path, query: str) -> None:
        main = self._main
        read = load("old-transcripts")
        transcripts, first = await main.call(lambda: read(folder, main))
        main.retract(_("looking for old transcripts …"))
        if transcripts.files and main.is_active:
            main.open_screen("old", transcripts, first, query)
            return
        transcripts.close()
        if not transcripts.files:
            main.say(_("no old transcripts in {folder}", folder=folder))

    def search(self, profile: str, query: str) -> None:
        """Switch to another profile of this root, by its name in Hermes, and search it."""
        for location in self._main.location.profiles():
            if location.profile == profile:
                self.to(location, Arrival(query=query))
                return
        self._main.say(_("there is no profile {name} any more", name=profile))

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
        main, app, focused = self._main, self._main.app, self._main.focused
        location = await main.call(where)
        if location.path == main.location.path:
            if self._is_awaited(location, focused):
                while len(app.screen_stack) > 1:
                    app.pop_screen()
                main.arrive(arrival)
            return
        app.refuse_while_writing()
        store = open_store(location, app.links).source
        try:
            first = await main.call(lambda: main.first_page(store))
        except HostError:
            raise
        except StoreError as error:
            reason = short_reason(error, location)
            raise StoreError(f"{location.name}: {reason}") from error
        if self._is_awaited(location, focused):
            app.switch_to(location, store, first, arrival)

    def _is_awaited(self, location: Location, focused: Widget | None) -> bool:
        """Return whether the keys still go where they went when this was asked for: what is typed
        elsewhere must not act in another store. Say so if not."""
        app = self._main.app
        is_typing = isinstance(app.focused, Input) and app.focused is not focused
        is_awaited = app.screen is self._main and not is_typing
        if not is_awaited:
            self._main.say(_("{name} was not opened: you have gone on here", name=location.name))
        return is_awaited
