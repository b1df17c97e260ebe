"""Read and search all profiles of a Hermes root: their sizes, their conversations as one list, one
search over them.

Each store is opened, read and closed in turn. A profile that cannot be read is listed with the
reason.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from hermes_browse.store.api import OpenStore, open_store
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import StoreEmptyError, StoreError, StoreMissingError
from hermes_browse.store.hermes.homes import DEFAULT_PROFILE, Location
from hermes_browse.store.messages.chat_message import Hit
from hermes_browse.store.places.reason import short_reason
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.models import Conversation, View

NAMED = 200
"""Conversations per profile whose previews are read if they have no title."""
_HITS = 200
"""Maximum hits per profile."""


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


class ProfileMatch(NamedTuple):
    """A conversation, or a hit in it, and its profile."""

    location: Location
    conversation: Conversation
    hit: Hit | None = None

    @property
    def profile(self) -> str:
        """Its name in Hermes; on another machine, also that of the machine."""
        host, profile = self.location.host, self.location.profile or DEFAULT_PROFILE
        if host is None:
            return profile
        return f"@{host.name}" if profile == DEFAULT_PROFILE else f"@{host.name}:{profile}"

    @property
    def place(self) -> tuple[Path, str]:
        """The store and the root id: ids of two stores can be equal."""
        return self.location.path, self.conversation.root_id

    @property
    def moment(self) -> float | None:
        """Unix seconds of the hit, else of the last activity."""
        return self.hit.timestamp if self.hit is not None else self.conversation.last_active


def newest_first(found: Iterable[ProfileMatch]) -> list[ProfileMatch]:
    """Sort by time; what has none comes last."""
    return sorted(found, key=lambda each: each.moment or 0.0, reverse=True)


class AllProfiles(NamedTuple):
    """The readable profiles with their catalogs, and the broken ones."""

    catalogs: tuple[tuple[Location, Catalog], ...]
    found: tuple[ProfileMatch, ...]
    """Conversations of a view, most recently used first."""
    broken: tuple[Profile, ...]

    @property
    def conversations(self) -> int:
        """How many there are in all views."""
        return sum(catalog.counts()[View.ALL] for _at, catalog in self.catalogs)


class FoundHits(NamedTuple):
    """Results of a search over all profiles, or of a host."""

    found: tuple[ProfileMatch, ...]
    """Newest hit first."""
    notes: tuple[str, ...]
    """Messages about what was not covered, each with the profile or the host."""
    more: bool
    """A store has more hits than the limit."""
    engine: str = ""
    """`fts5`, `trigram`, `scan`, `mixed` or `none`; empty for a host."""
    complete: bool = True
    """False if a store could not be searched, or not to its end; a host says so in its notes."""


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


def read_everywhere(
    here: Location,
    now: float,
    view: View = View.CHATS,
    *,
    sources: Collection[str] = (),
    named: int = NAMED,
) -> AllProfiles:
    """Read the conversations of all profiles as one list.

    Args:
        here: Location of one of them.
        now: Unix seconds.
        view: Conversations to include.
        sources: Likewise; empty means any.
        named: Maximum conversations per profile whose previews are read.
    """
    catalogs: list[tuple[Location, Catalog]] = []
    found: list[ProfileMatch] = []
    broken: list[Profile] = []
    for location in here.profiles():
        try:
            with open_store(location) as store:
                catalog = store.catalog(now)
                ordered = [
                    catalog.conversation(each) for each in catalog.order(view, sources=sources)
                ]
                ordered[:named] = store.with_names(ordered[:named])
        except (StoreMissingError, StoreEmptyError):
            continue  # not used yet, which is no error
        except StoreError as error:
            broken.append(Profile(location, error=short_reason(error, location)))
            continue
        catalogs.append((location, catalog))
        found += [ProfileMatch(location, each) for each in ordered]
    return AllProfiles(tuple(catalogs), tuple(newest_first(found)), tuple(broken))


def complete_all(
    found: Sequence[ProfileMatch], *, strict: bool = False
) -> dict[tuple[Path, str], Conversation]:
    """Read previews and count messages of conversations; return them by path of the store and root
    id.

    Those of a store that can no longer be read are missing from the result; if `strict`, its
    StoreError is raised.
    """
    complete: dict[tuple[Path, str], Conversation] = {}
    for path in {each.location.path for each in found}:
        conversations = {
            each.conversation.root_id: each.conversation
            for each in found
            if each.location.path == path
        }
        try:
            with open_store(Store(path)) as store:
                detailed = store.with_details(list(conversations.values()))
        except StoreError:
            if strict:
                raise
            continue
        complete.update({(path, each.root_id): each for each in detailed})
    return complete


def search_everywhere(
    everywhere: AllProfiles,
    text: str,
    now: float,
    *,
    limit: int = _HITS,
    cancelled: Callable[[], bool] = lambda: False,
) -> FoundHits:
    """Search all profiles, archived and automation included; newest hits first.

    Args:
        everywhere: From `read_everywhere`.
        text: The query.
        now: Unix seconds.
        limit: Maximum hits per profile.
        cancelled: Called between statements; True stops the search.
    """
    from hermes_browse.store.search.query import parse  # with the first search

    query = parse(text)
    if query.refusal:
        return FoundHits((), (query.refusal,), False, "none", complete=False)
    found: list[ProfileMatch] = []
    notes: list[str] = []
    more, complete = False, not everywhere.broken
    engines: set[str] = set()
    for location, catalog in everywhere.catalogs:
        if cancelled():
            break
        try:
            with open_store(location) as store:
                answer = store.search(
                    query, catalog, now=now, limit=limit, stopped=cancelled
                ).answer
        except StoreError as error:
            notes.append(f"{location.profile}: {short_reason(error, location)}")
            complete = False
            continue
        pairs = ((catalog.of_session(hit.session_id), hit) for hit in answer.hits)
        found += [
            ProfileMatch(location, conversation, hit)
            for conversation, hit in pairs
            if conversation is not None
        ]
        notes += [
            f"{location.profile}: {note}"
            for note in (*(each.text for each in answer.query.problems), *answer.notes)
        ]
        more, complete = more or answer.more, complete and answer.complete
        engines.add(answer.engine)
    engines = engines - {"none"} or engines
    engine = "none" if not engines else next(iter(engines)) if len(engines) == 1 else "mixed"
    return FoundHits(tuple(newest_first(found)), tuple(notes), more, engine, complete)
