"""A store made of several: one catalog, one search; a read of one conversation goes to its place.

What comes from hosts never waits: their conversations are in the catalog as of their last answer,
and their hits join a search when they come.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import replace
from functools import partial, partialmethod
from pathlib import Path
from typing import Any, TypeVar

from ..api import OpenStore
from ..connection.connect import Fingerprint, RemoteCalls, Store
from ..connection.reader import Reader, Stopped, grouped
from ..errors import BrowseError, QueryInterruptedError, RefusedError
from ..hermes.homes import Location
from ..hermes.resume_command import ResumePlan
from ..hosts.connection import Links
from ..hosts.host import Host
from ..hosts.ssh import in_thread
from ..notes.notes_file import AllRead
from ..progress import TellShare, never, quiet
from ..search.found import Found
from ..search.query import Query
from ..sessions.catalog import UNREAD, Catalog
from ..sessions.models import Conversation, Session, View
from ..sessions.session_rows import SessionsPortion, StoreState
from ..wording import _
from . import id_of, place_of
from .answers import MERGED, merged_hits
from .place import Place, number_in

T = TypeVar("T")
OF_ONE = frozenset((
    "outline", "messages", "system_prompt", "raw_message", "image", "recap", "details", "lineage",
    "is_compressed", "compactions", "seen_at", "losses", "stored_session", "stored_messages",
    "neighbourhood", "file_changes", "prompt_before", "run", "mark_read",
))  # fmt: skip
"""Calls about one conversation."""
_TURN = 0.05
"""Seconds between two looks at what has come from hosts."""


def places_of(here: Location, hosts: Sequence[Host], links: Links) -> list[Place]:
    """Return the profiles of the root of a store, then the hosts."""
    there = [Location(Path(host.name), host=host) for host in hosts]
    return [Place(number, at, links) for number, at in enumerate([*here.profiles(), *there])]


class MergedStore(Store):
    """Several stores as one, whose ids name their places."""

    is_several = True

    def __init__(self, path: Path, places: Sequence[Place]) -> None:
        super().__init__(path)
        self.places = places

    def remote_calls(self) -> MergedConnection:
        """Return a connection to all of them."""
        return MergedConnection(self.places)

    def fingerprint(self) -> Fingerprint:
        """Return what changes when one of them has something new to show."""
        return 0, 0, hash(tuple(place.fingerprint() for place in self.places))

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


class MergedConnection(RemoteCalls):
    """A connection to several stores, each opened by the first call about it.

    What is neither about one conversation nor about all places is a method, or refused.
    """

    def __init__(self, places: Sequence[Place]) -> None:
        self._places = places
        self._number_of = {place.name: place.number for place in places}
        self._open: dict[Place, OpenStore] = {}
        self._is_interrupted = False

    def call(self, name: str, values: Mapping[str, Any]) -> object:
        """Carry a call out in the place that it is about, or in all of them.

        Raises:
            RefusedError: It is about one store.
            BrowseError: What happened in its place.
        """
        if name in OF_ONE:
            place = self._place(list(values.values()))
            return self._ask(place, name, **place.with_own_arguments(values))
        if name in MERGED:
            return self._ask_everywhere(name, values)
        if not hasattr(self, name):
            raise _refused()
        return getattr(self, name)(**values)

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
        if place not in self._open:
            self._open[place] = place.connect()
        self._check()
        return self._open[place]

    def _ask(self, place: Place, name: str, *items: Any, **values: Any) -> Any:
        """Return the answer of a place to a question with its own ids, with keys."""
        return place.with_keys(getattr(self._store(place), name)(*items, **values))

    # About one conversation, or some

    def _place(self, asked: object) -> Place:
        """Return the place that a question is about; about no row, the first."""
        number = number_in(asked, self._number_of)
        if not 0 <= number < len(self._places):
            raise RefusedError(_("There is no such profile or host any more."))
        return self._places[number]

    def local_resume_plan(self, session_id: str, now: float) -> ResumePlan:
        """Plan to resume a conversation in its place."""
        place = self._place(session_id)
        plan = self._store(place).resume_plan(id_of(session_id), now)
        return replace(plan, conversation=place.with_keys(plan.conversation))

    def _by_place(self, name: str, items: Sequence[Any], *others: Any) -> Iterator[Any]:
        """Yield the answers to a question about some items: that of each place about its own."""
        for place, some in grouped(items, self._place).items():
            yield self._ask(place, name, place.with_own_ids(some), *others)

    def _complete(self, name: str, conversations: Sequence[Conversation]) -> list[Conversation]:
        """Return conversations as their places complete them; as they are where one is away."""
        completed = {each.root_id: each for each in conversations}
        there = [each for each in conversations if self._place(each).away is None]
        for answer in self._by_place(name, there):
            completed |= {each.root_id: each for each in answer}
        return list(completed.values())

    def _look_up(self, name: str, **values: Any) -> dict[str, object]:
        """Return what places know of sessions, or of their ids, by key; these are the first
        argument."""
        items, *others = values.values()
        return dict(ChainMap(*self._by_place(name, items, *others)))

    with_names = partialmethod(_complete, "with_names")
    with_details = partialmethod(_complete, "with_details")
    count_rows = partialmethod(_look_up, "count_rows")
    sizes_of = partialmethod(_look_up, "sizes_of")

    def undo_all_read(self, done: AllRead) -> AllRead:
        """Undo it in the places where it was done."""

        def undo(place: Place) -> None:
            if (before := done.before.get(place.name)) is not None:
                self._store(place).undo_all_read(done._replace(before={"": before}))

        notes = [_("undone: {done}", done=done.sentence)]
        list(self._answers(undo, notes))
        return done._replace(sentence=" · ".join(notes))

    # The catalog

    def first_page(self, now: float, *, view: View = View.CHATS, limit: int = 50) -> Catalog:
        """Read the first pages of the profiles; hosts come later."""
        sessions: list[Session] = []
        for place in self._places:
            if place.host is None:
                ask = partial(self._ask, place, "first_page", now, view=view, limit=limit)
                for _place, page in self._answer(place, ask, []):
                    sessions += page.sessions.values()
        return Catalog(sessions, now, exact=False)

    def sessions_after(self, after: int | None) -> SessionsPortion:
        """Return all sessions of all places, as far as they have been heard of."""
        for place in self._places:
            self._check()
            place.refresh()
        return SessionsPortion([session for place in self._places for session in place.shown], None)

    def state(self) -> StoreState:
        """Return always the same; see `changes`."""
        return StoreState(0, 0, 0, frozenset())

    def changes(self, state: StoreState, session_ids: Sequence[str]) -> None:
        """Return None: each place finds its own changes."""

    # In all of them

    def prepare_search(self) -> None:
        """Prepare a search of the profiles; hosts are not asked."""
        for place in self._places:
            if place.host is None and place.away is None and place.catalog is not UNREAD:
                self._store(place).prepare_search()

    def _ask_everywhere(self, name: str, values: Mapping[str, Any]) -> object:
        def ask(place: Place) -> Any:
            own = {"catalog": place.catalog} if "catalog" in values else {}
            return getattr(self._store(place), name)(**{**values, **own})

        notes: list[str] = []
        return MERGED[name]([*self._answers(ask, notes, values.get("stopped", never))], notes)

    def _answers(
        self, ask: Callable[[Place], T], notes: list[str], stopped: Stopped = never
    ) -> Iterator[tuple[Place, T]]:
        """Ask all places, hosts on threads of their own, and yield the answers as they come.

        Args:
            notes: Gets why others did not answer.
        """
        running: dict[Future[T], Place] = {
            in_thread(partial(ask, place), f"ask {place.name}"): place
            for place in self._places
            if place.host is not None
        }
        for place in self._places:
            if place.host is None and place.catalog is not UNREAD:
                yield from self._answer(place, partial(ask, place), notes)
        while running and not stopped():
            self._check()
            for each in wait(running, _TURN).done:
                yield from self._answer(running.pop(each), each.result, notes)
        for place in running.values():  # what it still does there is no concern of another call
            if (store := self._open.pop(place, None)) is not None:
                store.interrupt()
            notes.append(f"{place.name}: " + _("stopped"))

    def _answer(
        self, place: Place, get: Callable[[], T], notes: list[str]
    ) -> Iterator[tuple[Place, T]]:
        """Yield the answer of a place, unless there is none."""
        try:
            yield place, get()
        except QueryInterruptedError:
            self._check()
            notes.append(f"{place.name}: " + _("stopped"))
        except BrowseError as error:
            notes.append(f"{place.name}: {error.sentence.removeprefix(place.name[1:] + ': ')}")

    def search(
        self,
        query: Query,
        catalog: Catalog,
        *,
        limit: int,
        titles: int = 0,
        stopped: Stopped = never,
        tell: TellShare = quiet,
        portion: Callable[[Found], object] = quiet,
        order: object = None,
        after: object = None,
        **others: Any,
    ) -> Found:
        """Search all places; the hits of each join the others when they come. They have one order,
        by time, and are read from the first on each time."""
        others |= {"limit": limit, "titles": titles, "stopped": stopped}
        pages: list[tuple[Place, Found]] = []
        notes: list[str] = []

        def ask(place: Place) -> Any:
            return self._ask(place, "search", query=query, catalog=place.catalog, **others)

        merged = partial(merged_hits, pages, notes, limit=limit, titles=titles)
        for answer in self._answers(ask, notes, stopped):
            pages.append(answer)
            tell(len(pages) / len(self._places))
            portion(merged(is_part=True))
        return merged(is_part=stopped())
