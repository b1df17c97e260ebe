"""A store made of several: one catalog, one search; a read of one conversation goes to its place.

What comes from hosts never waits: their conversations are in the catalog as of their last answer,
and their hits join a search when they come.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from ..api import OpenStore, Stopped, never
from ..connection.connect import Fingerprint, Store
from ..connection.reader import Reader
from ..errors import BrowseError, QueryInterruptedError, RefusedError
from ..hermes.homes import Location
from ..hermes.resume_command import ResumePlan
from ..hosts.host import Host
from ..hosts.link import Links
from ..hosts.running import in_thread
from ..search.coverage import Coverage
from ..search.engine import Total
from ..search.filters import Vocabulary
from ..search.found import Found, Suggestion
from ..search.query import Query
from ..sessions.catalog import Catalog, StoreState
from ..sessions.conversations import Forest
from ..sessions.models import Conversation, View
from ..sessions.session import Session
from ..sessions.session_rows import SessionsPortion
from ..wording import _
from .hits import Hits
from .keys import numbers_in
from .names import id_of, place_of
from .place import Place

T = TypeVar("T")
_OF_ONE = frozenset(
    {
        *("outline", "messages", "system_prompt", "raw_message", "recap", "details", "lineage"),
        *("is_compressed", "compactions", "seen_at", "memory", "losses"),
        *("stored_session", "stored_messages", "neighbourhood"),
    }
)
"""Calls about one conversation."""
_TURN = 0.05
"""Seconds between two looks at what has come from hosts."""


def places_of(here: Location, hosts: Sequence[Host], links: Links) -> list[Place]:
    """Return the profiles of the root of a store, then the hosts."""
    every: list[Location | Host] = [*here.profiles(), *hosts]
    return [Place(number, at, links) for number, at in enumerate(every)]


class MergedStore(Store):
    """Several stores as one, whose ids name their places (`keys.py`)."""

    def __init__(self, path: Path, places: Sequence[Place]) -> None:
        super().__init__(path)
        self.places = places

    @property
    def is_elsewhere(self) -> bool:
        """True: nothing writes to several stores at once."""
        return True

    @property
    def is_several(self) -> bool:
        return True

    def far(self) -> MergedLease:
        """Return a lease of all of them."""
        return MergedLease(self.places)

    def fingerprint(self) -> Fingerprint:
        """Return what changes when one of them has something new to show."""
        return 0, 0, hash(tuple(each.fingerprint() for each in self.places))

    def sizes(self) -> tuple[int, int]:
        """Return zeros: there is no such file."""
        return 0, 0

    def check(self) -> None:
        """Nothing to check: a place that cannot be read says so in its line."""

    def open(self) -> Reader:
        """Refused: no statement is about several stores."""
        raise _refused()

    def place(self, session_key: str) -> Place | None:
        """Return the place that the key of a session names."""
        name = place_of(session_key)
        return next((each for each in self.places if each.name == name), None)


def _refused() -> RefusedError:
    return RefusedError(
        _("This is done in one store at a time."), remedy=_("Open the profile or the host first.")
    )


class MergedLease:
    """A lease of several stores; see `connect.Far`. Each is opened by the first call about it."""

    def __init__(self, places: Sequence[Place]) -> None:
        self._places = places
        self._numbers = {each.name: each.keys.number for each in places}
        self._open: dict[int, OpenStore] = {}
        self._is_interrupted = False

    # As of `Far`

    def call(self, name: str, args: Sequence[object], named: Mapping[str, object]) -> object:
        """Carry a call out in the place that it is about, or in all of them.

        Raises:
            RefusedError: It is about one store.
            BrowseError: What happened in its place.
        """
        if name in _OF_ONE:
            return self._ask_one(name, args, named)
        method: Callable[..., object] | None = getattr(self, f"_{name}", None)
        if method is None:
            raise _refused()
        return method(*args, **named)

    def begin(self) -> None:
        self._is_interrupted = False
        for each in self._open.values():
            each.begin()

    def interrupt(self) -> None:
        self._is_interrupted = True
        for each in list(self._open.values()):
            each.interrupt()

    def close(self) -> None:
        opened, self._open = self._open, {}
        for each in opened.values():
            each.close()

    def _check(self) -> None:
        if self._is_interrupted:
            raise QueryInterruptedError(_("The query was interrupted."))

    def _store(self, place: Place) -> OpenStore:
        number = place.keys.number
        if number not in self._open:
            self._open[number] = place.connect()
        self._check()
        return self._open[number]

    # About one conversation, or some

    def _ask_one(self, name: str, args: Sequence[object], named: Mapping[str, object]) -> object:
        place = self._place([*args, *named.values()])
        ask: Callable[..., object] = getattr(self._store(place), name)
        own = {key: place.keys.there(value) for key, value in named.items()}
        answer = ask(*(place.keys.there(each) for each in args), **own)
        if isinstance(answer, Catalog):
            sessions = map(place.keys.here, answer.forest.sessions.values())
            return Catalog(Forest(sessions, answer.now), exact=False)
        return place.keys.here(answer)

    def _place(self, asked: object) -> Place:
        """Return the place that a question is about; about no row, the first."""
        number = next(numbers_in(asked, self._numbers), 0)
        if not 0 <= number < len(self._places):
            raise RefusedError(_("There is no such profile or host any more."))
        return self._places[number]

    def _image(self, message_id: int, number: int) -> bytes | None:
        place = self._place(message_id)
        return self._store(place).image(place.keys.there(message_id), number)

    def _by_place(self, keys: Sequence[str]) -> list[tuple[Place, list[int]]]:
        """Return the places of some keys, each with the positions of its keys."""
        positions: dict[str, list[int]] = {}
        for position, key in enumerate(keys):
            positions.setdefault(place_of(key), []).append(position)
        return [(each, positions[each.name]) for each in self._places if each.name in positions]

    def _with_names(self, conversations: Sequence[Conversation]) -> list[Conversation]:
        return self._completed("with_names", conversations)

    def _with_details(self, conversations: Sequence[Conversation]) -> list[Conversation]:
        return self._completed("with_details", conversations)

    def _completed(self, name: str, conversations: Sequence[Conversation]) -> list[Conversation]:
        """Return conversations as their places complete them; as they are where one is away."""
        completed = list(conversations)
        for place, positions in self._by_place([each.root_id for each in conversations]):
            if place.away is not None:
                continue
            own = [place.keys.there(conversations[each]) for each in positions]
            ask: Callable[..., list[Conversation]] = getattr(self._store(place), name)
            for position, each in zip(positions, ask(own), strict=True):
                completed[position] = place.keys.here(each)
        return completed

    def _count_rows(self, session_ids: Sequence[str]) -> dict[str, int]:
        counts: dict[str, int] = {}
        for place, positions in self._by_place(session_ids):
            own = [place.keys.there(session_ids[each]) for each in positions]
            counted = self._store(place).count_rows(own)
            counts |= dict(zip(place.keys.here(list(counted)), counted.values(), strict=True))
        return counts

    def _sizes_of(self, sessions: Sequence[Session], most: int | None = None) -> dict[str, object]:
        sizes: dict[str, object] = {}
        for place, positions in self._by_place([each.id for each in sessions]):
            own = [place.keys.there(sessions[each]) for each in positions]
            measured = self._store(place).sizes_of(own, most)
            sizes |= dict(zip(place.keys.here(list(measured)), measured.values(), strict=True))
        return sizes

    def _plan_resume(self, session_id: str, now: float) -> ResumePlan:
        """Plan a resume in its place."""
        (place, _positions), *_others = self._by_place([session_id])
        plan = self._store(place).resume_plan(id_of(session_id), now)
        return replace(plan, conversation=place.keys.here(plan.conversation))

    # The catalog

    def _first_page(self, now: float, view: View = View.CHATS, limit: int = 50) -> Catalog:
        """Read the first pages of the profiles; hosts come later."""
        sessions: list[Session] = []
        for place in self._places:
            if place.host is None:
                try:
                    page = self._store(place).first_page(now, view, limit)
                except QueryInterruptedError:
                    raise
                except BrowseError as error:
                    place.error = error
                    continue
                sessions += map(place.keys.here, page.forest.sessions.values())
        return Catalog(Forest(sessions, now), exact=False)

    def _sessions_after(self, rowid: int | None) -> SessionsPortion:
        """Return all sessions of all places, as far as they have been heard of."""
        for place in self._places:
            self._check()
            place.refresh()
        return SessionsPortion([each for place in self._places for each in place.shown], None)

    def _state(self) -> StoreState:
        return StoreState(0, 0, 0, frozenset())

    def _changes(self, state: StoreState, session_ids: Sequence[str]) -> None:
        """Return None: each place finds its own changes."""

    # In all of them

    def _prepare_search(self) -> None:
        for place in self._places:
            if place.host is None and place.away is None and place.catalog is not None:
                self._store(place).prepare_search()

    def _ask_all(
        self,
        ask: Callable[[Place, OpenStore], T],
        stopped: Stopped = never,
        answered: Callable[[Place, T], object] = lambda place, answer: None,
    ) -> tuple[list[tuple[Place, T]], list[str]]:
        """Ask all places, hosts on threads of their own.

        Returns:
            The answers, and why others did not answer.
        """
        answers: list[tuple[Place, T]] = []
        notes: list[str] = []
        running: dict[Future[T], Place] = {}

        def ask_one(place: Place) -> T:
            return ask(place, self._store(place))

        def take(place: Place, get: Callable[[], T]) -> None:
            try:
                answer = get()
            except QueryInterruptedError:
                self._check()
                notes.append(f"{place.name}: " + _("stopped"))
            except BrowseError as error:
                notes.append(f"{place.name}: {error.sentence.removeprefix(place.name[1:] + ': ')}")
            else:
                answers.append((place, answer))
                answered(place, answer)

        for place in self._places:
            if place.host is not None:
                running[in_thread(partial(ask_one, place), f"ask {place.name}")] = place
        for place in self._places:
            if place.host is None and place.catalog is not None:
                take(place, partial(ask_one, place))
        while running and not stopped():
            self._check()
            done, _waiting = wait(running, _TURN)
            for each in done:
                take(running.pop(each), each.result)
        for place in running.values():  # what it still does there is no concern of another call
            if (store := self._open.pop(place.keys.number, None)) is not None:
                store.interrupt()
            notes.append(f"{place.name}: " + _("stopped"))
        return answers, notes

    def _search(
        self,
        query: Query,
        catalog: Catalog | None = None,
        view: View = View.ALL,
        *,
        sort: str = "newest",
        now: float,
        limit: int = 50,
        titles: int = 0,
        is_typed: bool = False,
        after: object = None,
        stopped: Stopped = never,
        tell: Callable[[float], None] = lambda share: None,
        portion: Callable[[Found], None] | None = None,
    ) -> Found:
        """Search all places; the hits of each join the others when they come."""
        hits = Hits(query, sort, limit, titles)

        def ask(place: Place, store: OpenStore) -> Found:
            return store.search(
                query,
                place.catalog,
                view,
                sort=sort,
                now=now,
                limit=limit,
                titles=titles,
                is_typed=is_typed,
                stopped=stopped,
            )

        def answered(place: Place, found: Found) -> None:
            hits.add(place, found)
            tell(len(hits.answers) / len(self._places))
            if portion is not None:
                portion(hits.found(is_partial=True))

        _answers, notes = self._ask_all(ask, stopped, answered)
        return hits.found(notes, is_stopped=stopped())

    def _count_hits(
        self,
        query: Query,
        catalog: Catalog,
        view: View,
        now: float,
        *,
        stopped: Stopped = never,
        seconds: float = 20.0,
    ) -> Total:
        def ask(place: Place, store: OpenStore) -> Total:
            own = place.catalog or _nothing(now)
            total = store.count_hits(query, own, view, now, stopped=stopped, seconds=seconds)
            return Total(
                total.count, total.at_least, frozenset(place.keys.here(list(total.sessions)))
            )

        answers, notes = self._ask_all(ask, stopped)
        totals = [total for _place, total in answers]
        sessions = frozenset[str]().union(*(each.sessions for each in totals))
        is_part = bool(notes) or any(each.at_least for each in totals)
        return Total(sum(each.count for each in totals), is_part, sessions)

    def _count_matches(
        self,
        query: Query,
        catalog: Catalog,
        view: View,
        now: float,
        *,
        stopped: Stopped = never,
    ) -> Suggestion | None:
        def ask(place: Place, store: OpenStore) -> Suggestion | None:
            own = place.catalog or _nothing(now)
            return store.count_matches(query, own, view, now, stopped=stopped)

        answers, _notes = self._ask_all(ask, stopped)
        found = [each for _place, each in answers if each is not None]
        return next(iter(_added_up(found)), None)

    def _suggestions(
        self,
        query: Query,
        catalog: Catalog,
        view: View,
        now: float,
        *,
        stopped: Stopped = never,
    ) -> tuple[Suggestion, ...]:
        def ask(place: Place, store: OpenStore) -> tuple[Suggestion, ...]:
            own = place.catalog or _nothing(now)
            return store.suggestions(query, own, view, now, stopped=stopped)

        answers, _notes = self._ask_all(ask, stopped)
        return tuple(_added_up([each for _place, found in answers for each in found]))

    def _roots(self, query: Query, catalog: Catalog, view: View, now: float) -> list[str]:
        def ask(place: Place, store: OpenStore) -> list[str]:
            if place.catalog is None:
                return []
            return place.keys.here(store.roots(query, place.catalog, view, now))

        answers, _notes = self._ask_all(ask)
        return [root for _place, roots in answers for root in roots]

    def _vocabulary(self, catalog: Catalog) -> Vocabulary:
        def ask(place: Place, store: OpenStore) -> Vocabulary:
            return store.vocabulary(place.catalog or catalog)

        answers, _notes = self._ask_all(ask)
        words = [vocabulary for _place, vocabulary in answers] or [Vocabulary()]
        columns = zip(*words, strict=True)
        merged = (tuple(dict.fromkeys(word for each in some for word in each)) for some in columns)
        return Vocabulary(*merged)

    def _coverage(self) -> Coverage:
        answers, _notes = self._ask_all(lambda place, store: store.coverage())
        reasons = [f"{place.name}: {each.reason}" for place, each in answers if each.reason]
        messages = sum(each.messages for _place, each in answers)
        indexed = sum(each.indexed for _place, each in answers)
        return Coverage(messages, indexed, " · ".join(reasons))


def _nothing(now: float) -> Catalog:
    return Catalog(Forest((), now), exact=False)


def _added_up(suggestions: Sequence[Suggestion]) -> list[Suggestion]:
    """Return one suggestion for each query, with the hits of all places."""
    by_query: dict[str, list[Suggestion]] = {}
    for each in suggestions:
        by_query.setdefault(each.query, []).append(each)
    return [
        Suggestion(
            same[0].text,
            query,
            sum(each.hits for each in same),
            any(each.at_least for each in same),
            same[0].of_list,
        )
        for query, same in by_query.items()
    ]
