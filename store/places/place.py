"""One of several stores that are read as one: a profile, or the store of a host, what was last read
of it, and its keys: ids of sessions and messages that name their place, since ids of two stores can
be equal.

A session `20261124_101500_ab12` of the profile work is `20261124_101500_ab12 work`; a message has
the number of its place in front of its own id.

Every field whose name is in `_ID_FIELDS` or `_KEYED_FIELDS` is changed, wherever it stands in what
a store is asked or answers, whatever its class. So a new field may have such a name only if it
holds ids, and if it holds ids, its name must be there.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ..api import OpenStore, open_store
from ..connection.connect import Fingerprint, Store
from ..errors import BrowseError, StoreEmptyError, StoreMissingError
from ..hermes.homes import DEFAULT_PROFILE, Location
from ..hosts.connection import Links
from ..hosts.remote import locate_there
from ..hosts.ssh import in_thread
from ..messages.chat_message import ToolCall
from ..messages.transcript import END
from ..sessions.catalog import UNREAD, Catalog
from ..sessions.models import Session, View
from ..sessions.relations import ORPHANED
from ..sessions.session_rows import StoreState
from . import place_of

if TYPE_CHECKING:
    from ..hermes.health import StoreSummary

_WHOLE_SECONDS = 30.0
"""At most so often is a store that changes read in full; in between, only what it has written."""
T = TypeVar("T")
_Translation = Callable[[Any], Any]
"""From ids to keys, or back."""
_BITS = 64
"""Of the ids that SQLite gives."""
_HALF = 1 << (_BITS - 1)
_OF_SESSION = ("id", "parent_id", "branched_from", "delegate_from", "reset_from")
"""Fields of a `Session`."""
_ID_FIELDS = frozenset((
    *_OF_SESSION, "ids", "session_id", "session_ids", "into_session_id", "empty_sessions",
    "parent_root_id", "above", "focus", "target", "predicted", "message_id", "last_message_id", "copies",
    "original", "before", "replaced", "summary", "merged", "not_stored_again", "since", "first",
    "last", "known", "forgotten", "at", "of", "messages", "conversation_id", "first_message_id",
    "result_id", "waiting",
))  # fmt: skip
"""Fields that hold nothing but ids: texts those of sessions, whole numbers those of messages."""
_KEYED_FIELDS = frozenset({"gaps", "unread", "conversations"})
"""Fields with a mapping whose keys alone are ids."""


def number_in(value: object, numbers: Mapping[str, int]) -> int:
    """Return the number of the place that the first key in a value names; 0 without a key.

    Args:
        numbers: By the name of the place.
    """

    def number(key: str | int) -> int | None:
        if isinstance(key, str):
            return numbers.get(place_of(key))
        return None if key == END else (key + _HALF) >> _BITS

    keys: list[str | int] = []
    _changed(value, keys.append, is_id=True)
    return next((each for each in map(number, keys) if each is not None), 0)


def _changed(value: Any, change: _Translation, *, is_id: bool, is_keyed: bool = False) -> Any:
    """Return a value with its ids changed; `is_id` says whether texts and numbers in it are, and
    `is_keyed` whether the keys of a mapping are."""
    if type(value) in (str, int):
        return change(value) if is_id else value
    if isinstance(value, Session):  # there are many
        own = {name: getattr(value, name) for name in _OF_SESSION}
        return value._replace(
            **{name: change(each) for name, each in own.items() if each is not None}
        )
    if isinstance(value, ToolCall):  # its id is not that of a session
        return value
    if isinstance(value, Mapping):
        return {
            _changed(key, change, is_id=is_id or is_keyed): _changed(each, change, is_id=is_id)
            for key, each in value.items()
        }
    names = getattr(value, "__match_args__", ())  # the fields of a named tuple or a data class
    if names:
        return type(value)(**{each: _field(change, each, getattr(value, each)) for each in names})
    if isinstance(value, list | tuple | set | frozenset):
        return type(value)(_changed(each, change, is_id=is_id) for each in value)
    return value


def _field(change: _Translation, name: str, value: Any) -> Any:
    return _changed(value, change, is_id=name in _ID_FIELDS, is_keyed=name in _KEYED_FIELDS)


class Place:
    """A store among others.

    Keys: fields of rows are translated by their names (see the module). Outside of rows, every text
    or number in a question is an id; of an answer, the items of a list and the keys of a mapping
    are; an answer that is one text is not.

    Args:
        number: Its position among them.
        at: The location of a store of this machine; of a host, which says itself where its store is,
            one with that host.
        links: The connections to hosts.
    """

    def __init__(self, number: int, at: Location, links: Links) -> None:
        self._at, self._links, self.host = at, links, at.host
        self.link = links.of(at.host) if at.host is not None else None
        """The connection to its host."""
        self.name = f"@{at.host.name}" if at.host is not None else at.profile or DEFAULT_PROFILE
        """As the list shows it: the profile, or `@` and the host."""
        self.number = number
        self.catalog = UNREAD
        """With its own ids; `UNREAD` until it is read."""
        self.sessions: list[Session] = []
        """Those of the catalog, with keys."""
        self.summary: StoreSummary | None = None
        """Its facts and numbers; None until they are read."""
        self.last_active: float | None = None
        """Its last activity when the summary was read, in Unix seconds; None if it has none."""
        self.error: BrowseError | None = None
        """Why it could not be read."""
        self._state: StoreState | None = None
        self._mark: Fingerprint | None = None
        self._whole_at = 0.0
        self._lock = threading.Lock()
        self._reading: Future[None] | None = None
        """Of a host, in the background."""

    def location(self) -> Location:
        """Return where the store is; a host is asked. HostError if that cannot be reached."""
        return locate_there(self.link) if self.link is not None else self._at

    def connect(self) -> OpenStore:
        """Return a connection to the store; errors as of `location`."""
        return open_store(self.location(), self._links)

    def fingerprint(self) -> Fingerprint:
        """Return what changes when the store does, or when there is something new to show of it."""
        source = self.link or Store(self.location().path)
        return hash((self._mark, str(self.error))), *source.fingerprint()

    @property
    def away(self) -> BrowseError | None:
        """Why nothing of it is shown; None if it was read, or is not in use yet."""
        error = (self.link and self.link.error) or self.error
        return None if isinstance(error, StoreMissingError | StoreEmptyError) else error

    @property
    def shown(self) -> list[Session]:
        """The sessions that are shown, with keys: none while it cannot be read."""
        return [] if self.error or self.away else self.sessions

    def look(self) -> None:
        """Read the summary and a few rows; this may wait for a host. `error` says why that
        failed."""
        try:
            with self.connect() as store:
                summary = store.summary()
                page = store.first_page(time.time(), view=View.ALL, limit=1)
            newest = (page.conversation(root).last_active for root in page.order(View.ALL))
            self.last_active, self.summary = next(newest, None), summary
        except BrowseError as error:
            self.error = error

    def refresh(self) -> None:
        """Read what has changed; a host is asked in the background, once at a time."""
        if self.host is None:
            self.read()
        elif self._reading is None or self._reading.done():
            self._reading = in_thread(self.read, f"read {self.name}")

    def retry(self) -> None:
        """Read it now, even shortly after a failure; this may wait for a host."""
        if self.link is not None:
            with contextlib.suppress(BrowseError):  # `away` has it
                self.link.open(at_once=True)
        self.read()

    @property
    def is_waited_for(self) -> bool:
        """Whether its first rows are still to come."""
        return self.host is not None and self.catalog is UNREAD and self.away is None

    def read(self) -> None:
        """Read the sessions, unless nothing has changed; `error` says why that failed."""
        with self._lock:
            try:
                with self.connect() as store:
                    self._read(store)
            except BrowseError as error:
                self.error, self._mark = error, None

    def _read(self, store: OpenStore) -> None:
        if self.host is not None:
            store.state()  # connects, so that the fingerprint is that of the store there
        mark, now = store.source.fingerprint(), time.time()
        if self.error is None and mark == self._mark:
            return
        is_recent = time.monotonic() - self._whole_at < _WHOLE_SECONDS
        step = None
        if self._state is not None and is_recent:
            step = store.increment(self.catalog, self._state, now)
        if step is None:
            self._whole_at = time.monotonic()
            state = store.state()  # before the catalog, so that no change in between is missed
            step = store.catalog(now, self.catalog), state
        self.catalog, self._state = step
        self.sessions = list(map(self.with_keys, self.catalog.sessions.values()))
        self.error, self._mark = None, mark

    # Its keys

    def with_keys(self, value: T) -> T:
        """Return what a store answered with keys in place of its ids; of its catalog, a part of one
        for all places."""
        if isinstance(value, Catalog):
            sessions = map(self.with_keys, value.sessions.values())
            return cast("T", Catalog(sessions, value.now, exact=False))
        is_id = not isinstance(value, str | Mapping)
        return cast("T", _changed(value, self._key, is_id=is_id, is_keyed=True))

    def with_own_ids(self, value: T) -> T:
        """Return what a store is asked with its own ids in place of keys."""
        return cast("T", _changed(value, self._id, is_id=True))

    def with_own_arguments(self, values: Mapping[str, object]) -> dict[str, Any]:
        """Return the arguments of a call with own ids in place of keys."""
        return {name: _field(self._id, name, value) for name, value in values.items()}

    def _key(self, own: str | int) -> str | int:
        if isinstance(own, str):
            return own if own == ORPHANED else f"{own} {self.name}"
        return own if own == END else own + (self.number << _BITS)

    def _id(self, key: str | int) -> str | int:
        if isinstance(key, str):
            return key.removesuffix(f" {self.name}")
        return key if key == END else key - (self.number << _BITS)
