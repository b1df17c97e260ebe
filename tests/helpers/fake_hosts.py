"""Hosts without ssh: connections to stores of this machine, which answer when a test says so."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hermes_browse.store.api import OpenStore
from hermes_browse.store.connection.connect import Store
from hermes_browse.store.errors import QueryInterruptedError
from hermes_browse.store.hosts.codec import PROTOCOL, Hello
from hermes_browse.store.hosts.host import Host, HostError
from hermes_browse.tui.app import BrowseApp


def configured(app: BrowseApp, hosts: tuple[Host, ...]) -> None:
    """Let the configuration of an application name hosts."""
    before = app.startup.configuration
    after = before._replace(options=before.options._replace(hosts=hosts))
    app.startup = app.startup._replace(configuration=after)


class FakeLink:
    """A connection to a host, whose store is a file of this machine."""

    def __init__(self, host: Host, file: Path) -> None:
        self.host, self.file = host, file
        self.hello = Hello("1.0", f"/home/{host.name}/.hermes/state.db", "", PROTOCOL)
        self.error: HostError | None = None
        """Set by `fail`: why it is away."""
        self.away_since: float | None = None
        self.asked: list[str] = []
        """The names of the calls so far."""
        self.interrupted = 0
        """How many calls were given up."""
        self.gate = threading.Event()
        """A call waits for it."""
        self.gate.set()

    def fail(
        self,
        code: str = "host-down",
        *,
        said: str = "Connection refused",
        since: float | None = None,
    ) -> None:
        """Be away from now on."""
        self.error, self.away_since = HostError(self.host, code, said=said), since

    def come_back(self) -> None:
        """Be there again."""
        self.error = self.away_since = None

    def open(self, *, at_once: bool = False) -> Hello:
        """As of `Link`."""
        if self.error is not None:
            raise self.error
        return self.hello

    def fingerprint(self) -> tuple[int, ...]:
        """As of `Link`."""
        return Store(self.file).fingerprint() if self.error is None else ()


class FakeConnection:
    """A connection to the store of a `FakeLink`; as of `remote.HostConnection`."""

    def __init__(self, link: FakeLink) -> None:
        self._link = link
        self._is_interrupted = False

    def call(self, name: str, values: Mapping[str, Any]) -> object:
        """Answer from the file, once the gate is open."""
        link = self._link
        link.asked.append(name)
        gate = link.gate
        while not gate.wait(0.01):
            if self._is_interrupted:
                link.interrupted += 1
                raise QueryInterruptedError("interrupted")
        link.open()
        with OpenStore(Store(link.file)) as store:
            answer: object = getattr(store, name)(**values)
            return answer

    def begin(self) -> None:
        """As of `RemoteCalls`."""
        self._is_interrupted = False

    def interrupt(self) -> None:
        """As of `RemoteCalls`."""
        self._is_interrupted = True

    def close(self) -> None:
        """As of `RemoteCalls`."""


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
