"""Hosts without ssh: connections that answer what a test says, when it says so."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from typing import Any

from hermes_browse.store.errors import QueryInterruptedError
from hermes_browse.store.hosts.codec import PROTOCOL
from hermes_browse.store.hosts.faults import HostError, fault
from hermes_browse.store.hosts.host import Host
from hermes_browse.store.hosts.link import Hello, Reply

Json = dict[str, Any]


def conversation(id: str, last_active: float, **more: object) -> Json:
    """A CONVERSATION as a host prints it."""
    return {
        "id": id,
        "root_id": id,
        "segments": [id],
        "title": f"Chat {id}",
        "preview": f"said in {id}",
        "source": "telegram",
        "model": "opus",
        "last_active": last_active,
        "status": "ended",
        "kind": "chat",
        "message_count": 3,
    } | more


def hit(
    message_id: int, conversation_id: str, timestamp: float, snippet: str = "the lighthouse there"
) -> Json:
    """A HIT as a host prints it."""
    return {
        "message_id": message_id,
        "session_id": conversation_id,
        "conversation_id": conversation_id,
        "role": "user",
        "timestamp": timestamp,
        "snippet": snippet,
        "match": [[4, 14]],
        "state": "live",
    }


class FakeLink:
    """A connection to a host that answers `list` and `search`.

    Args:
        host: The host.
        conversations: What `list` prints.
        hits: What `search` prints.
    """

    def __init__(
        self, host: Host, conversations: Sequence[Json] = (), hits: Sequence[Json] = ()
    ) -> None:
        self.host, self.conversations, self.hits = host, list(conversations), list(hits)
        self.total = len(self.conversations)
        self.hello = Hello("1.0", f"/home/{host.name}/.hermes/state.db", "", PROTOCOL)
        self.error: HostError | None = None
        """Set by `fail`: why it is away."""
        self.away_since: float | None = None
        self.fingerprint: tuple[int, ...] = ()
        self.asked: list[tuple[str, Json]] = []
        """The calls so far, with their arguments."""
        self.reads = 0
        """How many reads of the store were asked for."""
        self.cancelled: list[int] = []
        self.gate = threading.Event()
        """A call waits for it."""
        self.reading = threading.Event()
        """A read waits for it."""
        self.gate.set()
        self.reading.set()
        self.answer: Callable[[str, Json], str] = self._answer
        """Returns what a call prints."""

    def fail(
        self,
        code: str = "host-down",
        *,
        said: str = "Connection refused",
        since: float | None = None,
    ) -> None:
        """Be away from now on."""
        self.error, self.away_since = fault(self.host, code, said=said), since

    def come_back(self) -> None:
        """Be there again."""
        self.error = self.away_since = None

    def open(self) -> Hello:
        """As of `Link`."""
        if self.error is not None:
            raise self.error
        return self.hello

    reconnect = open

    def call(
        self,
        name: str,
        values: Json,
        *,
        seconds: float = 0,
        sent: Callable[[int], object] | None = None,
    ) -> Reply:
        """As of `Link`."""
        self.asked.append((name, values))
        number = len(self.asked)
        if sent is not None:
            sent(number)
        gate = self.gate
        while not gate.wait(0.01):
            if number in self.cancelled:
                raise QueryInterruptedError("cancelled")
        self.open()
        return Reply(0, self.answer(name, values), "")

    def send(self, question: Json, arguments: bytes = b"{}") -> int:
        """As of `Link`, but it has no store to read: the connection is lost while it is read."""
        self.reads += 1
        self.reading.wait()
        self.open()
        raise fault(self.host, "host-lost")

    def tell(self, message: Json) -> None:
        """As of `Link`."""

    def cancel(self, number: int) -> None:
        """As of `Link`."""
        self.cancelled.append(number)

    def _answer(self, name: str, values: Json) -> str:
        if name == "search":
            query = values["query"][0]
            return json.dumps(
                {"query": query, "complete": True, "more": False, "hits": self.hits, "notes": []}
            )
        store = {"sessions": self.total, "bytes": 4096}
        return json.dumps(
            {
                "store": store,
                "total": self.total,
                "conversations": self.conversations[: values["limit"]],
            }
        )


class FakeLinks:
    """The connections of a process."""

    def __init__(self, *links: FakeLink) -> None:
        self._links = {each.host.name: each for each in links}
        self.is_closed = False

    def of(self, host: Host) -> FakeLink:
        """As of `Links`."""
        return self._links[host.name]

    def close(self) -> None:
        """As of `Links`."""
        self.is_closed = True
        for each in self._links.values():
            each.gate.set()
            each.reading.set()
