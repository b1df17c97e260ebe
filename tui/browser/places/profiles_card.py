"""The card of profiles and hosts: the figures of each, or why it cannot be read, and an entry for
all of them. Profiles are read before, one after the other; each host shows when it has answered."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from hermes_browse.store.errors import BrowseError
from hermes_browse.store.hermes.homes import Location, short_reason
from hermes_browse.store.hosts.ssh import in_thread
from hermes_browse.store.places.place import Figures, Place
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import N_, _

from ...settings.keys.screen_commands import PROFILES
from ...text import formats
from ...widgets.card import Card, styled


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
        places: Profiles, whose figures are read, then hosts.
        current: The location of the store on screen.
        now: Unix seconds.
    """

    AUTO_FOCUS = "#profiles"
    ENTER = N_("Enter open")
    KEYS = PROFILES

    def __init__(
        self,
        places: Sequence[Place],
        current: Location,
        now: float,
    ) -> None:
        super().__init__()
        self._places, self._current, self._now = places, current, now
        self._hosts = [place for place in places if place.host is not None]
        every, profiles_only = _("everything as one list"), _("all profiles as one list")
        self._all = every if self._hosts else profiles_only

    def content(self) -> ComposeResult:
        yield styled(_("Profiles and hosts") if self._hosts else _("Profiles"), "bold")
        yield OptionList(id="profiles", markup=False)

    def keys_text(self) -> str:
        key = self.key("all")
        return self.named_keys(f"{key} {self._all}" if key else "", without=("all",))

    def on_mount(self) -> None:
        box = self.query_one(OptionList)
        box.add_options(map(Option, self._lines()))
        others = (
            index
            for index, place in enumerate(self._places)
            if not self._is_current(place) and (place.host or place.error is None)
        )
        box.highlighted = next(others, 0)
        for place in self._hosts:
            self.run_worker(self._read(place), group="ask")

    async def _read(self, place: Place) -> None:
        await asyncio.wrap_future(in_thread(place.look, f"ask {place.name}"))
        if self.is_whole:
            box = self.query_one(OptionList)
            for index, line in enumerate(self._lines()):
                box.replace_option_prompt_at_index(index, line)

    def _lines(self) -> list[Content]:
        """Return a line for each place, and one for all of them."""
        count = sum(each.figures.sessions for each in self._places if each.figures)
        every = Content(f"  {self._all} · {formats.counted(count, 'session')}")
        return [*map(self._line, self._places), every]

    def _line(self, place: Place) -> Content:
        """Build a line: a mark of the store on screen, name, and the figures, or without them the
        state."""
        mark = "● " if self._is_current(place) else "  "
        name = formats.fit(one_line(place.name, 60), 18)
        if (figures := place.figures) is not None:
            return Content.assemble(mark, (name, "bold"), (self._columns(figures), "dim"))
        state, error = (_("asking …"), "dim"), place.away or place.error
        if error is not None:
            state = reason_of(place, error, self._now), "$error"
        return Content.assemble(mark, name, state)

    def _is_current(self, place: Place) -> bool:
        if place.host is not None:
            return place.host == self._current.host
        return place.location().path == self._current.path

    def _columns(self, figures: Figures) -> str:
        count = _("{count:>9,} sessions", count=figures.sessions)
        active = figures.last_active
        age = formats.age(active, self._now) if active is not None else _("never used")
        return f"{count}  {formats.fit(formats.size(figures.bytes), 9, right=True)}  {age}"

    @on(OptionList.OptionSelected)
    def selected(self, event: OptionList.OptionSelected) -> None:
        """Return the choice; switching to a broken profile tries again and reports why it fails."""
        index = event.option_index
        self.dismiss(self._places[index] if index < len(self._places) else True)

    def action_all(self) -> None:
        self.dismiss(True)
