"""One of several stores that are read as one: a profile, or the store of a host, and what was last
read of it."""

from __future__ import annotations

import contextlib
import threading
import time
from concurrent.futures import Future

from ..api import OpenStore
from ..connection.connect import Fingerprint
from ..errors import BrowseError, StoreEmptyError, StoreMissingError
from ..hermes.homes import DEFAULT_PROFILE, Location
from ..hosts.host import Host
from ..hosts.link import Link, Links
from ..hosts.remote import locate_there, store_at
from ..hosts.running import in_thread
from ..sessions.catalog import Catalog
from ..sessions.models import Session
from ..sessions.session_rows import StoreState
from .keys import Keys

_WHOLE_SECONDS = 30.0
"""At most so often is a store that changes read in full; in between, only what it has written."""


class Place:
    """A store among others.

    Args:
        number: Its position among them.
        at: The location of a store of this machine, or a host.
        links: The connections to hosts.
    """

    def __init__(self, number: int, at: Location | Host, links: Links) -> None:
        self._at, self._links = at, links
        self.host = at if isinstance(at, Host) else None
        self.name = f"@{at.name}" if isinstance(at, Host) else at.profile or DEFAULT_PROFILE
        """As the list shows it: the profile, or `@` and the host."""
        self.keys = Keys(number, self.name)
        self.catalog: Catalog | None = None
        """With its own ids; None until it is read."""
        self.sessions: list[Session] = []
        """Those of the catalog, with keys."""
        self.error: BrowseError | None = None
        """Why it could not be read."""
        self.reads = 0
        """How often it was read, or could not be."""
        self._state: StoreState | None = None
        self._mark: Fingerprint | None = None
        self._whole_at = 0.0
        self._lock = threading.Lock()
        self._reading: Future[None] = Future()
        """Of a host, in the background."""
        self._reading.set_result(None)

    @property
    def link(self) -> Link | None:
        """The connection to its host."""
        return self._links.of(self.host) if self.host is not None else None

    def location(self) -> Location:
        """Return where the store is; a host is asked. HostError if that cannot be reached."""
        return locate_there(self._links.of(self._at)) if isinstance(self._at, Host) else self._at

    def connect(self) -> OpenStore:
        """Return a lease of the store; errors as of `location`."""
        location = self.location()
        return OpenStore(store_at(location, self._links), location)

    def fingerprint(self) -> Fingerprint:
        """Return what changes when the store does, or when there is something new to show of it."""
        if self.link is None:
            assert isinstance(self._at, Location)
            return (self.reads, *store_at(self._at, self._links).fingerprint())
        if self.link.error is None:
            return (self.reads, *self.link.fingerprint)
        self.link.try_again()
        return (self.reads,)

    @property
    def _problem(self) -> BrowseError | None:
        of_link = self.link.error if self.link is not None else None
        return of_link or self.error

    @property
    def away(self) -> BrowseError | None:
        """Why nothing of it is shown; None if it was read, or is not in use yet."""
        error = self._problem
        return None if isinstance(error, StoreMissingError | StoreEmptyError) else error

    @property
    def shown(self) -> list[Session]:
        """The sessions that are shown, with keys: none while it cannot be read."""
        return self.sessions if self._problem is None else []

    def refresh(self) -> None:
        """Read what has changed; a host is asked in the background, once at a time."""
        if self.host is None:
            self.read()
        elif self._reading.done():
            self._reading = in_thread(self.read, f"read {self.name}")

    def retry(self) -> None:
        """Read it now, even shortly after a failure; this may wait for a host."""
        if self.link is not None and self.link.error is not None:
            with contextlib.suppress(BrowseError):  # `away` has it
                self.link.reconnect()
        self.read()

    @property
    def is_waited_for(self) -> bool:
        """Whether its first rows are still to come."""
        return self.host is not None and self.catalog is None and self.away is None

    def read(self) -> None:
        """Read the sessions, unless nothing has changed; `error` says why that failed."""
        with self._lock:
            try:
                with self.connect() as store:
                    self._read(store)
            except BrowseError as error:
                self.reads += str(error) != str(self.error)
                self.error, self._mark = error, None

    def _read(self, store: OpenStore) -> None:
        if self.host is not None:
            store.state()  # connects, so that the fingerprint is that of the store there
        mark, now = store.store.fingerprint(), time.time()
        if self.error is None and mark == self._mark:
            return
        is_recent = time.monotonic() - self._whole_at < _WHOLE_SECONDS
        step = None
        if self.catalog is not None and self._state is not None and is_recent:
            step = store.increment(self.catalog, self._state, now)
        if step is None:
            self._whole_at = time.monotonic()
            state = store.state()  # before the catalog, so that no change in between is missed
            step = store.catalog(now, self.catalog), state
        self.catalog, self._state = step
        self.sessions = [self.keys.here(each) for each in self.catalog.sessions.values()]
        self.error, self._mark = None, mark
        self.reads += 1
