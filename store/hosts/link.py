"""The connections of this process to hosts: one for each, opened when something is asked, and again
after it was lost."""

from __future__ import annotations

import threading
import time
from functools import partial

from ..wording import _
from .connection import AskedQuestion, Connection, Hello, HostState
from .host import Host, HostError, fault
from .ssh import in_thread

RETRY_SECONDS = 5.0
"""After a failure, questions fail at once for this long; then the next one connects again."""
POLL_SECONDS = 15.0
"""Between two attempts to reach a host that is away and still on screen."""


class Link(HostState):
    """The connection to a host, opened by the first question and again after it was lost; any
    thread asks."""

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.connection: Connection | None = None
        """The newest one."""
        self._lock = threading.Lock()
        self._is_closed = False

    @property
    def error(self) -> HostError | None:
        """Why the last attempt failed; None while connected."""
        return self.connection.error if self.connection is not None else None

    def open(self, wait: float | None = None) -> Hello:
        """Connect, unless connected, or a failure is less than `wait` seconds ago, by default
        `RETRY_SECONDS`; return what the host said.

        Raises:
            HostError: It cannot be reached, has no such program, or is about another profile than
                was asked for: the key may decide that.
        """
        hello = self._connected(RETRY_SECONDS if wait is None else wait).hello()
        if self.host.profile and hello.profile != self.host.profile:
            raise fault(
                self.host,
                "host-refused",
                said=_(
                    "this key may serve only the profile “{own}”, not “{wanted}”.",
                    own=hello.profile,
                    wanted=self.host.profile,
                ),
            )
        return hello

    def _connected(self, wait: float) -> Connection:
        with self._lock:
            known = self.connection
            if known is None or (known.error and time.monotonic() - known.lost_at >= wait):
                if self._is_closed:
                    raise fault(self.host, "host-lost")
                known = self.connection = Connection(self)
            return known

    def fingerprint(self) -> tuple[int, ...]:
        """Return what the host said last: it says so when the store changes. Nothing while it is
        away; then it is tried again in the background, if the last attempt is a while ago."""
        lost = self.connection
        if lost is None or lost.error is None:
            return self.said
        if time.monotonic() - lost.lost_at > POLL_SECONDS:
            # Nobody waits for it: `error` has what came of it.
            in_thread(partial(self.open, POLL_SECONDS), f"host {self.host.name}")
        return ()

    def send(self, call: str, arguments: bytes = b"{}") -> AskedQuestion:
        """Send a call with its arguments as JSON; errors as of `open`."""
        self.open()
        assert self.connection is not None
        return self.connection.ask(call, arguments)

    def close(self) -> None:
        """End the connection, without waiting for it; the program on the host ends with its
        input."""
        with self._lock:
            self._is_closed = True
        if self.connection is not None:
            self.connection.end(fault(self.host, "host-lost"))


class Links:
    """The connections of this process, one for each host, each opened by its first question."""

    def __init__(self) -> None:
        self._links: dict[str, Link] = {}
        self._lock = threading.Lock()

    def of(self, host: Host) -> Link:
        """Return the connection to a host; nothing is sent yet."""
        with self._lock:
            return self._links.setdefault(host.name, Link(host))

    def close(self) -> None:
        """End all connections."""
        with self._lock:
            links, self._links = list(self._links.values()), {}
        for link in links:
            link.close()
