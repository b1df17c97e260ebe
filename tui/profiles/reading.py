"""All profiles of a Hermes root at once: what each holds, their conversations in one order, one search over them.

Each store is read for itself and let go of; what is found knows the profile it is from. A profile that cannot be read
is an entry with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import StoreEmptyError, StoreError, StoreMissingError
from hermes_browse.store.hermes.health import summarize
from hermes_browse.store.hermes.homes import Location, profiles
from hermes_browse.store.messages.models import Hit
from hermes_browse.store.messages.preview import with_names
from hermes_browse.store.sessions.catalog import Catalog, allowed_sessions, read_catalog
from hermes_browse.store.sessions.first_page import read_first_page
from hermes_browse.store.sessions.models import Conversation, View
from hermes_browse.store.wording import _

if TYPE_CHECKING:
    from hermes_browse.store.search import Answer

NAMED = 200
"""Conversations of each profile whose first words are read, where they have no title."""
_HITS = 200
"""Hits asked of each profile, at most."""


class Profile(NamedTuple):
    """One profile, or why it cannot be read."""

    location: Location
    sessions: int = 0
    bytes: int = 0
    last_active: float | None = None
    """Unix seconds."""
    error: str = ""
    """Why it cannot be read; empty where it can."""

    @property
    def name(self) -> str:
        """What Hermes calls it."""
        return self.location.profile or "default"


class Found(NamedTuple):
    """A conversation and the profile it is in; with a hit of a search in it."""

    location: Location
    conversation: Conversation
    hit: Hit | None = None

    @property
    def profile(self) -> str:
        """What Hermes calls it."""
        return self.location.profile or "default"


class Everywhere(NamedTuple):
    """All profiles that can be read, with their catalogs, and the others with the reason."""

    catalogs: tuple[tuple[Location, Catalog], ...]
    found: tuple[Found, ...]
    """Conversations of a view, the one used last first."""
    broken: tuple[Profile, ...]


class Answered(NamedTuple):
    """What a search over all profiles found."""

    found: tuple[Found, ...]
    """Newest hit first."""
    notes: tuple[str, ...]
    """What was not covered, with the profile."""
    more: bool
    """A profile has more hits than were asked for."""
    engine: str
    """`fts5`, `trigram`, `scan`, `mixed` or `none`."""
    complete: bool
    """False when a store could not be searched, or not to its end."""


def read_profiles(root: Path, now: float) -> list[Profile]:
    """What each profile of a root holds; costs a few rows of each.

    Args:
        root: A Hermes root.
        now: Unix seconds.
    """
    return [_profile(location, now) for location in profiles(root)]


def short_reason(error: StoreError, location: Location) -> str:
    """Why a store cannot be read, on one line: where it is goes without saying beside the profile's name."""
    if isinstance(error, StoreMissingError | StoreEmptyError):
        return _("it has not been used yet")
    return error.sentence.replace(str(location.path), location.path.name)


def _profile(location: Location, now: float) -> Profile:
    store = Store(location.path)
    try:
        with store.reader() as reader:
            summary = summarize(reader, store, location)
            page = read_first_page(reader, now, view=View.ALL, limit=1)
            newest = [page.conversation(root) for root in page.order(View.ALL)[:1]]
    except StoreError as error:
        return Profile(location, bytes=store.sizes()[0], error=short_reason(error, location))
    return Profile(location, summary.sessions or 0, summary.size, newest[0].last_active if newest else None)


def read_everywhere(
    root: Path, now: float, view: View = View.CHATS, *, sources: Collection[str] = (), named: int = NAMED
) -> Everywhere:
    """The conversations of all profiles as one list.

    Args:
        root: A Hermes root.
        now: Unix seconds.
        view: Which conversations.
        sources: Only these sources; empty means any.
        named: Of how many of each profile the first words are read.
    """
    catalogs: list[tuple[Location, Catalog]] = []
    found: list[Found] = []
    broken: list[Profile] = []
    for location in profiles(root):
        try:
            with Store(location.path).reader() as reader:
                catalog = read_catalog(reader, now)
                ordered = [catalog.conversation(each) for each in catalog.order(view, sources=sources)]
                ordered[:named] = with_names(reader, ordered[:named])
        except (StoreMissingError, StoreEmptyError):
            continue  # it has not been used yet: there is nothing to show, and nothing wrong
        except StoreError as error:
            broken.append(Profile(location, error=short_reason(error, location)))
            continue
        catalogs.append((location, catalog))
        found += [Found(location, each) for each in ordered]
    found.sort(key=lambda each: each.conversation.last_active or 0.0, reverse=True)
    return Everywhere(tuple(catalogs), tuple(found), tuple(broken))


def name_all(found: Sequence[Found]) -> dict[tuple[Path, str], Conversation]:
    """Conversations with their first words, by store and root; each store is opened once.

    Args:
        found: Which; those of a store that cannot be read any more are missing from the answer.
    """
    named: dict[tuple[Path, str], Conversation] = {}
    for path in {each.location.path for each in found}:
        wanted = {each.conversation.root_id: each.conversation for each in found if each.location.path == path}
        try:
            with Store(path).reader() as reader:
                named.update({(path, each.root_id): each for each in with_names(reader, list(wanted.values()))})
        except StoreError:
            continue
    return named


def search_everywhere(
    everywhere: Everywhere,
    text: str,
    now: float,
    *,
    limit: int = _HITS,
    cancelled: Callable[[], bool] = lambda: False,
) -> Answered:
    """Look in all profiles, archived and automation included; newest hits first.

    Args:
        everywhere: The profiles, read before.
        text: The query.
        now: Unix seconds.
        limit: Most hits of each profile.
        cancelled: Asked now and then whether to stop.
    """
    found: list[Found] = []
    notes: list[str] = []
    more, complete = False, not everywhere.broken
    engines: set[str] = set()
    for location, hits, answer in _answers(everywhere.catalogs, text, now, limit, cancelled):
        found += hits
        if isinstance(answer, StoreError):
            notes.append(f"{location.profile}: {short_reason(answer, location)}")
            complete = False
            continue
        notes += [f"{location.profile}: {note}" for note in (*(each.text for each in answer.problems), *answer.notes)]
        more, complete = more or answer.more, complete and answer.complete
        engines.add(answer.engine)
    engines = engines - {"none"} or engines
    engine = "none" if not engines else next(iter(engines)) if len(engines) == 1 else "mixed"
    found.sort(key=lambda each: (each.hit.timestamp if each.hit is not None else None) or 0.0, reverse=True)
    return Answered(tuple(found), tuple(notes), more, engine, complete)


def _answers(
    catalogs: Sequence[tuple[Location, Catalog]], text: str, now: float, limit: int, cancelled: Callable[[], bool]
) -> Iterator[tuple[Location, list[Found], Answer | StoreError]]:
    from hermes_browse.store.search import Scope, make_conditions, parse, search

    query = parse(text)
    conditions = make_conditions(query, now)
    for location, catalog in catalogs:
        if cancelled():
            return
        sessions = None
        if conditions.conversation is not None:
            sessions = allowed_sessions(catalog, View.ALL, (), conditions.conversation).__contains__
        scope = Scope(sessions, frozenset(), conditions.message)
        try:
            with Store(location.path).reader() as reader:
                answer = search(reader, query, limit=limit, scope=scope, cancelled=cancelled)
        except StoreError as error:
            yield location, [], error
            continue
        pairs = ((catalog.of_session(hit.session_id), hit) for hit in answer.hits)
        hits = [Found(location, conversation, hit) for conversation, hit in pairs if conversation is not None]
        yield location, hits, answer
