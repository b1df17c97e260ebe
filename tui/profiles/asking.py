"""Ask all hosts one question at once: each on a thread of its own, so that nothing waits for one
that is away."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from hermes_browse.store.api import open_store
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import BrowseError, StoreError
from hermes_browse.store.hosts.contract import ROWS, read_list, read_search
from hermes_browse.store.hosts.host import Host
from hermes_browse.store.hosts.link import Link, Links
from hermes_browse.store.hosts.remote import locate_there
from hermes_browse.store.hosts.running import in_thread
from hermes_browse.store.sessions.models import (
    Conversation,
    ConversationKind,
    Relation,
    Status,
    View,
)
from hermes_browse.store.sessions.session import Session
from hermes_browse.store.text import one_line
from hermes_browse.store.wording import _

from .. import formats
from .read_profiles import FoundHits, ProfileMatch

if TYPE_CHECKING:
    from textual.worker import Worker

T = TypeVar("T")
Sent = Callable[[int], object]
"""Takes the number of a question, by which it is cancelled."""
_DECODING = threading.Lock()
"""One thread decodes at a time: the screen waits a turn of each that computes."""
AGAIN_SECONDS = 15.0
"""Hosts that are away are asked again after this time."""


class HostListing(NamedTuple):
    """Conversations of a host."""

    found: tuple[ProfileMatch, ...]
    """Of one view, most recently used first."""
    total: int
    """Conversations of the store, in whichever view."""
    sessions: int
    bytes: int

    @property
    def is_part(self) -> bool:
        """Whether there are more conversations than were sent."""
        return len(self.found) == ROWS < self.total


async def on_own_thread(work: Callable[[], T], name: str) -> T:
    """Await a function that may wait for a host: it would keep a thread of the pool from work on
    this machine."""
    return await asyncio.wrap_future(in_thread(work, name))


class Asking(Generic[T]):
    """What hosts, in the order of the configuration, have answered to the newest question.

    `clock` returns Unix seconds, and `changed` is called after each answer.
    """

    def __init__(
        self,
        links: Links,
        hosts: Sequence[Host],
        clock: Callable[[], float],
        run_worker: Callable[[Coroutine[None, None, None]], Worker[None]],
        changed: Callable[[], None],
    ) -> None:
        self.hosts = hosts
        self._links, self._clock, self._run_worker, self._changed = (
            links,
            clock,
            run_worker,
            changed,
        )
        self._question: Callable[[Link, Sent], T] | None = None
        self.answers: dict[str, T] = {}
        """By the name of the host."""
        self.away: dict[str, BrowseError] = {}
        """Why a host has not answered, by its name; it stays while it is asked again."""
        self.waiting: set[str] = set()
        """Names of the hosts that are being asked."""
        self._workers: dict[str, Worker[None]] = {}

    def ask(self, question: Callable[[Link, Sent], T]) -> None:
        """Ask all hosts; answers to older questions are dropped."""
        self.stop()
        self._question = question
        for host in self.hosts:
            self._ask(host)

    def stop(self) -> None:
        """Cancel the question, and drop its answers."""
        for worker in self._workers.values():
            worker.cancel()
        self._question = None
        self.answers, self.away, self.waiting, self._workers = {}, {}, set(), {}

    def again(self, insist: Host | None = None) -> None:
        """Ask those that are away, also those that have gone away after they had answered.

        With `insist`, only that host is asked, however shortly after a failure.
        """
        for host in self.hosts if insist is None else [insist]:
            error = self._links.of(host).error
            if error is not None and self.answers.pop(host.name, None) is not None:
                self.away[host.name] = error
                self._changed()
            if (
                host.name in self.away
                and host.name not in self.waiting
                and self._question is not None
            ):
                self._ask(host, insists=insist is not None)

    def _ask(self, host: Host, *, insists: bool = False) -> None:
        question, link = self._question, self._links.of(host)
        assert question is not None
        self.waiting.add(host.name)
        sent: list[int] = []

        def work() -> T:
            if insists and link.error is not None:
                link.reconnect()
            return question(link, sent.append)

        async def run() -> None:
            try:
                self.answers[host.name] = await on_own_thread(work, f"ask {host.name}")
                self.away.pop(host.name, None)
            except BrowseError as error:
                self.away[host.name] = error
            except asyncio.CancelledError:
                for each in sent:
                    link.cancel(each)
                raise
            self.waiting.discard(host.name)
            self._changed()

        self._workers[host.name] = self._run_worker(run())

    @property
    def names_waiting(self) -> list[str]:
        """Names of the hosts that are being asked, in the order of the configuration."""
        return [host.name for host in self.hosts if host.name in self.waiting]

    def reason(self, host: Host) -> str:
        """Return why a host is away, and since when."""
        error, since = self.away[host.name], self._links.of(host).away_since
        own = one_line(error.sentence.removeprefix(f"{host.name}: "), 300)
        if since is None:
            return _("no answer: {reason}").format(reason=own)
        is_today = formats.day_key(since) == formats.day_key(self._clock())
        time = formats.clock(since).strip() if is_today else formats.timestamp(since)
        return _("away since {time}: {reason}").format(time=time, reason=own)


# Questions; each runs on the thread of its host


def list_there(link: Link, sent: Sent, view: View, limit: int = ROWS) -> HostListing:
    """Ask for the newest conversations of a view."""
    reply = link.call("list", {"view": view.value, "limit": limit}, sent=sent)
    location = locate_there(link)
    with _DECODING:
        listed = read_list(link, reply)
        found = tuple(ProfileMatch(location, each) for each in listed.conversations)
    return HostListing(found, *listed[1:])


def search_there(
    link: Link, sent: Sent, text: str, known: Mapping[str, Sequence[ProfileMatch]]
) -> FoundHits:
    """Search, archived and automation included.

    `known` has conversations by the name of their host; of others only the id is known at first.
    """
    conversations = {
        each.conversation.id: each.conversation for each in known.get(link.host.name, ())
    }
    reply = link.call("search", {"query": [text], "limit": ROWS}, sent=sent)
    location = locate_there(link)
    with _DECODING:
        searched = read_search(link, reply)
    found = [
        ProfileMatch(location, conversations.get(at) or _bare(at), hit) for at, hit in searched.hits
    ]
    return FoundHits(
        tuple(found), tuple(f"@{link.host.name}: {each}" for each in searched.notes), searched.more
    )


def _bare(session_id: str) -> Conversation:
    """Return a conversation of which only the id is known, which is its name for now."""
    session = Session(session_id, "")
    return Conversation(
        (session,),
        Relation.ROOT,
        ConversationKind.CHAT,
        Status.ENDED,
        None,
        None,
        preview=session_id,
    )


def complete_there(
    store: Store, found: Sequence[ProfileMatch], now: float
) -> dict[tuple[Path, str], Conversation]:
    """Read conversations of one host of which only the id is known; those that are gone are
    missing."""
    lacking = {each.place: each for each in found}.values()
    ids = [each.conversation.id for each in lacking]
    try:
        with open_store(store) as opened:
            catalog = opened.neighbourhood(ids, now)
            whole = [(each, catalog.of_session(each.conversation.id)) for each in lacking]
            named = opened.with_names([each for _found, each in whole if each is not None])
            counts = opened.count_rows([segment.id for each in named for segment in each.segments])
    except StoreError:
        return {}  # the line of the host says why
    detailed = {
        each.root_id: each._replace(
            rows=sum(counts.get(segment.id, 0) for segment in each.segments)
        )
        for each in named
    }
    return {each.place: detailed[own.root_id] for each, own in whole if own is not None}
