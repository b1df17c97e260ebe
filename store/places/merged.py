"""A store made of several: one catalog, one search; a read of one conversation goes to its place.

What comes from hosts never waits: their conversations are in the catalog as of their last answer,
and their hits join a search when they come.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import replace
from functools import partial, partialmethod
from pathlib import Path
from typing import Any, TypeVar

from ..api import OpenStore
from ..connection.connect import Fingerprint, Store
from ..connection.reader import Reader, Stopped
from ..errors import BrowseError, QueryInterruptedError, RefusedError
from ..hermes.homes import Location
from ..hermes.resume_command import ResumePlan
from ..hosts.host import Host
from ..hosts.link import Links
from ..hosts.running import in_thread
from ..notes.read_marks import AllRead
from ..search.coverage import Coverage
from ..search.engine import Total
from ..search.filters import Vocabulary
from ..search.found import Found, Suggestion
from ..search.query import Query, parse
from ..sessions.catalog import Catalog
from ..sessions.increment import StoreState
from ..sessions.models import Conversation, View
from ..sessions.session import Session
from ..sessions.session_rows import SessionsPortion
from ..since.attention import Attention
from ..since.since import Since, order
from ..trash.progress import never
from ..wording import _
from .hits import merged
from .keys import numbers_in
from .names import id_of, place_of
from .place import Place

T = TypeVar("T")
Answers = Sequence[tuple[Place, T]]
"""What places have answered, with their own ids."""
OF_ONE = frozenset(
    {
        *("outline", "messages", "system_prompt", "raw_message", "recap", "details", "lineage"),
        *("is_compressed", "compactions", "seen_at", "losses"),
        *("stored_session", "stored_messages", "neighbourhood"),
        *("file_changes", "prompt_before", "run", "mark_read"),
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
        return 0, 0, hash(tuple(place.fingerprint() for place in self.places))

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
        return next((place for place in self.places if place.name == name), None)


def _refused() -> RefusedError:
    return RefusedError(
        _("This is done in one store at a time."), remedy=_("Open the profile or the host first.")
    )


class MergedLease:
    """A lease of several stores; see `connect.Far`. Each is opened by the first call about it."""

    def __init__(self, places: Sequence[Place]) -> None:
        self._places = places
        self._number_of = {place.name: place.keys.number for place in places}
        self._open: dict[int, OpenStore] = {}
        self._is_interrupted = False

    def call(self, name: str, args: Sequence[object], named: Mapping[str, object]) -> object:
        """Carry a call out in the place that it is about, or in all of them.

        Raises:
            RefusedError: It is about one store.
            BrowseError: What happened in its place.
        """
        if name in OF_ONE:
            return self._ask_one(name, args, named)
        if name in MERGED:
            return self._ask_everywhere(name, args, named)
        method: Callable[..., object] | None = getattr(self, f"_{name}", None)
        if method is None:
            raise _refused()
        return method(*args, **named)

    def begin(self) -> None:
        self._is_interrupted = False
        for store in self._open.values():
            store.begin()

    def interrupt(self) -> None:
        self._is_interrupted = True
        for store in list(self._open.values()):
            store.interrupt()

    def close(self) -> None:
        opened, self._open = self._open, {}
        for store in opened.values():
            store.close()

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
        own = {key: place.keys.there(value) for key, value in named.items()}
        answer = getattr(self._store(place), name)(*map(place.keys.there, args), **own)
        if isinstance(answer, Catalog):
            sessions = map(place.keys.here, answer.sessions.values())
            return Catalog(sessions, answer.now, exact=False)
        return place.keys.here(answer)

    def _place(self, asked: object) -> Place:
        """Return the place that a question is about; about no row, the first."""
        number = next(numbers_in(asked, self._number_of), 0)
        if not 0 <= number < len(self._places):
            raise RefusedError(_("There is no such profile or host any more."))
        return self._places[number]

    def _image(self, message_id: int, number: int) -> bytes | None:
        place = self._place(message_id)
        return self._store(place).image(place.keys.there(message_id), number)

    def _plan_resume(self, session_id: str, now: float) -> ResumePlan:
        place = self._place(session_id)
        plan = self._store(place).resume_plan(id_of(session_id), now)
        return replace(plan, conversation=place.keys.here(plan.conversation))

    def _by_place(self, items: Sequence[T], key: Callable[[T], str]) -> Answers[list[T]]:
        """Return the places of some items that are read, each with its own."""
        own = [
            (place, [it for it in items if place_of(key(it)) == place.name])
            for place in self._places
        ]
        return [(place, place.keys.there(some)) for place, some in own if some]

    def _completed(self, name: str, conversations: Sequence[Conversation]) -> list[Conversation]:
        """Return conversations as their places complete them; as they are where one is away."""
        completed: dict[str, Conversation] = {}
        for place, own in self._by_place(conversations, lambda conversation: conversation.root_id):
            if place.away is None:
                answer = getattr(self._store(place), name)(own)
                completed |= {each.root_id: each for each in place.keys.here(answer)}
        return [completed.get(each.root_id, each) for each in conversations]

    _with_names = partialmethod(_completed, "with_names")
    _with_details = partialmethod(_completed, "with_details")

    def _numbers(self, name: str, items: Sequence[Any], *how: object) -> dict[str, object]:
        """Return what places know of sessions, or of their ids, by key."""
        found: dict[str, object] = {}
        for place, own in self._by_place(items, lambda each: getattr(each, "id", each)):
            known = getattr(self._store(place), name)(own, *how)
            found |= zip(place.keys.here(list(known)), known.values(), strict=True)
        return found

    _count_rows = partialmethod(_numbers, "count_rows")
    _sizes_of = partialmethod(_numbers, "sizes_of")

    # Marks of what was read; a place that may only be read keeps none

    def _begin_marks(self, now: float) -> None:
        self._ask_all(lambda place, store: store.begin_marks(now))

    def _mark_all_read(self, now: float) -> AllRead:
        answers, notes = self._ask_all(lambda place, store: store.mark_all_read(now))
        if not answers and notes:
            raise RefusedError(" · ".join(notes))
        before = {place.name: done.before[""] for place, done in answers}
        return AllRead(" · ".join([_("everything is marked as read"), *notes]), before)

    def _undo_all_read(self, done: AllRead) -> AllRead:
        def undo(place: Place, store: OpenStore) -> None:
            if (before := done.before.get(place.name)) is not None:
                store.undo_all_read(done._replace(before={"": before}))

        _answers, notes = self._ask_all(undo)
        sentence = _("undone: {done}", done=done.sentence)
        return done._replace(sentence=" · ".join([sentence, *notes]))

    # The catalog

    def _first_page(self, now: float, *, view: View = View.CHATS, limit: int = 50) -> Catalog:
        """Read the first pages of the profiles; hosts come later."""
        sessions: list[Session] = []
        for place in self._places:
            if place.host is None:
                try:
                    page = self._store(place).first_page(now, view=view, limit=limit)
                except QueryInterruptedError:
                    raise
                except BrowseError as error:
                    place.error = error
                    continue
                sessions += map(place.keys.here, page.sessions.values())
        return Catalog(sessions, now, exact=False)

    def _sessions_after(self, after: int | None) -> SessionsPortion:
        """Return all sessions of all places, as far as they have been heard of."""
        for place in self._places:
            self._check()
            place.refresh()
        return SessionsPortion([session for place in self._places for session in place.shown], None)

    def _state(self) -> StoreState:
        return StoreState(0, 0, 0, frozenset())

    def _changes(self, state: StoreState, session_ids: Sequence[str]) -> None:
        """Return None: each place finds its own changes."""

    # In all of them

    def _prepare_search(self) -> None:
        for place in self._places:
            if place.host is None and place.away is None and place.catalog is not None:
                self._store(place).prepare_search()

    def _ask_everywhere(
        self, name: str, args: Sequence[object], named: Mapping[str, Any]
    ) -> object:
        def ask(place: Place, store: OpenStore) -> Any:
            own = place.catalog or Catalog((), exact=False)
            return getattr(store, name)(
                *(own if isinstance(value, Catalog) else value for value in args), **named
            )

        return MERGED[name](*self._ask_all(ask, named.get("stopped", never)))

    def _ask_all(
        self,
        ask: Callable[[Place, OpenStore], T],
        stopped: Stopped = never,
        answered: Callable[[Place, T], object] = lambda place, answer: None,
    ) -> tuple[Answers[T], list[str]]:
        """Ask all places, hosts on threads of their own.

        Returns:
            The answers, and why others did not answer.
        """
        answers: list[tuple[Place, T]] = []
        notes: list[str] = []

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

        def ask_one(place: Place) -> T:
            return ask(place, self._store(place))

        far = [place for place in self._places if place.host is not None]
        running: dict[Future[T], Place] = {
            in_thread(partial(ask_one, place), f"ask {place.name}"): place for place in far
        }
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
        query: Query | str,
        catalog: Catalog | None = None,
        view: View = View.ALL,
        *,
        now: float | None = None,
        after: object = None,
        stopped: Stopped = never,
        tell: Callable[[float], None] = lambda share: None,
        portion: Callable[[Found], None] | None = None,
        **how: Any,
    ) -> Found:
        """Search all places; the hits of each join the others when they come."""
        moment = time.time() if now is None else now
        asked = parse(query, now=moment) if isinstance(query, str) else query
        shown = {name: how[name] for name in ("sort", "limit", "titles") if name in how}
        found: list[tuple[Place, Found]] = []

        def ask(place: Place, store: OpenStore) -> Found:
            return store.search(asked, place.catalog, view, now=moment, stopped=stopped, **how)

        def answered(place: Place, answer: Found) -> None:
            found.append((place, answer))
            tell(len(found) / len(self._places))
            if portion is not None:
                portion(merged(asked, found, is_partial=True, **shown))

        _answers, notes = self._ask_all(ask, stopped, answered)
        return merged(asked, found, notes, is_stopped=stopped(), **shown)


def _total(answers: Answers[Total], notes: Sequence[str]) -> Total:
    sessions = [key for place, each in answers for key in place.keys.here(list(each.sessions))]
    is_part = bool(notes) or any(each.at_least for _place, each in answers)
    return Total(sum(each.count for _place, each in answers), is_part, frozenset(sessions))


def _best(answers: Answers[Suggestion | None], notes: Sequence[str]) -> Suggestion | None:
    found = [(place, (each,)) for place, each in answers if each is not None]
    return next(iter(_added_up(found, notes)), None)


def _added_up(
    answers: Answers[tuple[Suggestion, ...]], notes: Sequence[str]
) -> tuple[Suggestion, ...]:
    """Return one suggestion for each query, with the hits of all places."""
    by_query: dict[str, Suggestion] = {}
    for each in (each for _place, found in answers for each in found):
        if (same := by_query.get(each.query)) is not None:
            at_least = each.at_least or same.at_least
            each = Suggestion(same.text, same.query, same.hits + each.hits, at_least, same.of_list)
        by_query[each.query] = each
    return tuple(by_query.values())


def _roots(answers: Answers[list[str]], notes: Sequence[str]) -> list[str]:
    return [root for place, roots in answers for root in place.keys.here(roots)]


def _vocabulary(answers: Answers[Vocabulary], notes: Sequence[str]) -> Vocabulary:
    words = [vocabulary for _place, vocabulary in answers] or [Vocabulary()]
    columns = zip(*words, strict=True)
    return Vocabulary(*(tuple(dict.fromkeys(sum(column, ()))) for column in columns))


def _coverage(answers: Answers[Coverage], notes: Sequence[str]) -> Coverage:
    reasons = [f"{place.name}: {each.reason}" for place, each in answers if each.reason]
    messages = sum(each.messages for _place, each in answers)
    indexed = sum(each.indexed for _place, each in answers)
    return Coverage(messages, indexed, " · ".join(reasons))


def _attention(answers: Answers[Attention], notes: Sequence[str]) -> Attention:
    every = [place.keys.here(each) for place, each in answers]
    unread = {root: new for each in every for root, new in each.unread.items()}
    waiting = frozenset(root for each in every for root in each.waiting)
    failures = sum(each.failures for each in every)
    return Attention(unread, waiting, failures, all(each.have_marks for each in every))


def _since(answers: Answers[Since], notes: Sequence[str]) -> Since:
    """Return what happened in all places.

    Raises:
        RefusedError: None of them answered.
    """
    if not answers:
        raise RefusedError(" · ".join(notes))
    items = [
        item._replace(place=place.name)
        for place, each in answers
        for item in place.keys.here(each).items
    ]
    since = min(each.since for _place, each in answers)
    return Since(since, tuple(sorted(items, key=order)), tuple(notes))


MERGED: Mapping[str, Callable[..., object]] = {
    "count_hits": _total,
    "count_matches": _best,
    "suggestions": _added_up,
    "roots": _roots,
    "vocabulary": _vocabulary,
    "coverage": _coverage,
    "attention": _attention,
    "since": _since,
}
"""Calls about all places: what makes one answer of theirs, and of why others did not answer."""
