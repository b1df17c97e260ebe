"""Read the figures of all profiles of a Hermes root.

Each store is opened, read and closed in turn. A profile that cannot be read is listed with the
reason.
"""

from __future__ import annotations

import time
from typing import NamedTuple

from hermes_browse.store.api import OpenStore
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import StoreError
from hermes_browse.store.hermes.homes import DEFAULT_PROFILE, Location, short_reason
from hermes_browse.store.sessions.models import View


class Figures(NamedTuple):
    """What a card says of a store."""

    sessions: int = 0
    bytes: int = 0
    last_active: float | None = None
    """Unix seconds."""


class Profile(NamedTuple):
    """The figures of a profile, or why it cannot be read."""

    location: Location
    figures: Figures = Figures()
    error: str = ""
    """Why it cannot be read; else empty."""

    @property
    def name(self) -> str:
        """Its name in Hermes."""
        return self.location.profile or DEFAULT_PROFILE


def read_profiles(here: Location) -> list[Profile]:
    """Read the figures of all profiles of the root of a store, from a few rows of each."""
    return [_profile(location) for location in here.profiles()]


def _profile(location: Location) -> Profile:
    store = Store(location.path)
    try:
        return Profile(location, read_figures(OpenStore(store, location)))
    except StoreError as error:
        return Profile(location, error=short_reason(error, location))


def read_figures(store: OpenStore) -> Figures:
    """Read the figures of a store from a few rows, and close it."""
    with store:
        summary = store.summary()
        page = store.first_page(time.time(), view=View.ALL, limit=1)
        newest = [page.conversation(root) for root in page.order(View.ALL)[:1]]
    active = newest[0].last_active if newest else None
    return Figures(summary.sessions or 0, summary.size, active)
