"""`serve --stdio`: answer questions about a store, one line of JSON each, until the input ends.

    {"id": 1, "ask": "outline", "with": {…}}
        {"id": 1, "answer": …} to a call of the façade (`codec.py` has the types), or "error"; before
        that "tell" or "portion" with what is done so far
    {"cancel": 1}, {"stop": 1}
        interrupts a question; ends it with what is done so far

Each question has a thread, and a connection to the store that another may have after it. Without
being asked the program says `{"hello": …}` first, and `{"fingerprint": […]}` when the file
changes.

Whoever asks may have nothing but the key to this program: a request cannot name a file or another
store, and is limited in time and memory.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from concurrent.futures import Future, wait
from functools import partial
from importlib import import_module
from typing import IO

import msgspec

from ..api import OpenStore
from ..call import CALLS
from ..cleanup.sizes import Sizes
from ..connection.connect import Fingerprint, Store
from ..connection.stored_values import Json
from ..errors import BrowseError, RefusedError, ValueTooLongError
from ..hermes.homes import Location
from ..sessions.catalog import UNREAD, Catalog
from ..wording import _
from . import codec
from .ssh import ANSWER_BYTES, in_thread

_IDLE_SECONDS = 2.0
"""Connections to the store are closed when nothing was asked for this time: Hermes counts an open
one as a holder (0.22)."""
_WATCH_SECONDS = 0.5
"""Between checks whether the file has changed, and whether a question has taken too long."""
_END_SECONDS = 5.0
"""How long threads may take to end with the input."""
QUESTION_SECONDS = 60.0
"""How long a question that reads may take."""
CHANGE_SECONDS = 600.0
"""How long a change may take without a report; then it is stopped where that is possible, and says
what is done."""
_SQLITE_BYTES = 512_000_000
"""Of memory that SQLite may have for all statements together."""
_PROCESS_BYTES = 2_000_000_000
"""Of memory that the program may have, the stacks of its threads included; macOS does not keep to
it."""
_QUESTION_BYTES = 8_000_000
"""Of a line; a clean-up of 100,000 conversations is one."""
_WAITING = 50
"""Questions that may run at once."""


class _Question(msgspec.Struct, eq=False):
    """A line of the caller. Numbers that are none make it a line of nobody who knows this protocol;
    what else is wrong is answered."""

    id: int = 0
    cancel: int | None = None
    stop: int | None = None
    ask: object = ""
    given: msgspec.Raw = msgspec.field(name="with", default=msgspec.Raw(b"{}"))


class _Asked:
    """A question that runs.

    Args:
        question: As it came.
        store: A connection that nobody else has meanwhile.
    """

    def __init__(self, question: _Question, store: OpenStore) -> None:
        self.id, self.name, self.given = question.id, str(question.ask), question.given
        self.store = store
        self.changes = False
        """Whether it changes the store."""
        self.give_time(QUESTION_SECONDS)
        self.is_stopped = False
        """Whether it is to end with what is done so far."""

    def give_time(self, seconds: float) -> None:
        """Let it take so many seconds from now on."""
        self.seconds, self.until = seconds, time.monotonic() + seconds

    def cancel(self) -> None:
        """Interrupt it, unless it is a change; nobody else may get its connection meanwhile."""
        if not self.changes:
            self.is_stopped = True
            self.store.interrupt()


def _line(number: int, kind: str, value: bytes) -> bytes:
    """Return a line of output about a question."""
    return b'{"id": %d, "%b": %b}\n' % (number, kind.encode(), value)


def _failed(number: int, error: Exception) -> bytes:
    """Return the line that says what went wrong."""
    if MemoryError in (type(error), type(error.__cause__)):
        error = RefusedError(_("This takes more memory than a question may have."))
    if not isinstance(error, BrowseError):
        error = RefusedError(str(error)[:400] or type(error).__name__)
    return _line(number, "error", codec.encode(error))


class Server:
    """Answers the questions of one caller.

    Args:
        store: What is asked about.
        location: Of the store.
        output: Where answers go.
        may_change: Whether calls that change the store are answered.
    """

    def __init__(
        self,
        store: Store,
        location: Location,
        output: IO[bytes],
        *,
        may_change: bool = False,
    ) -> None:
        self.store, self.location = store, location
        self._output, self.may_change = output, may_change
        self.sizes: dict[str, Sizes] = {}
        """Of the sessions that were measured."""
        self._catalog: tuple[Fingerprint, Catalog] = (), UNREAD
        """As of a fingerprint of the store."""
        self._reading_catalog = threading.Lock()
        self._running: dict[_Asked, Future[None]] = {}
        self._free: list[OpenStore] = []
        """Connections that no question has."""
        self._free_since = 0.0
        """When the last question ended, by the monotonic clock."""
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._ended = threading.Event()
        """Set when the caller is gone."""

    def serve(self, source: IO[bytes], hello: Json) -> None:
        """Say hello, and answer until the source ends."""
        rights = ["read", "change"] if self.may_change else ["read"]
        self._write(codec.encode({"hello": hello | {"rights": rights}}) + b"\n")
        in_thread(self._watch, "watch")
        in_thread(self._prepare, "prepare")
        try:
            while line := source.readline(_QUESTION_BYTES):
                # It was cut, as its caller is gone; or nobody knows what it means.
                with contextlib.suppress(ValueError, RecursionError):
                    self._heard(msgspec.json.decode(line, type=_Question))
        finally:
            self._ended.set()
            with self._lock:
                answering = list(self._running.values())
                for asked in self._running:
                    asked.cancel()
            # Python aborts if a thread is inside an output stream while the program ends.
            wait(answering, _END_SECONDS)

    def _prepare(self) -> None:
        """While the hello travels, load the modules of the first list, and read its pages."""
        with contextlib.suppress(Exception), OpenStore(self.store, self.location) as store:
            store.first_page(time.time())  # the first question tells what is wrong

    def _write(self, line: bytes) -> None:
        """Send a line, from any thread; nothing if nobody reads any more."""
        with self._writing, contextlib.suppress(OSError, ValueError):
            self._output.write(line)
            self._output.flush()

    def _report(self, asked: _Asked, kind: str, value: object) -> None:
        """Send what a call has done so far. A change that goes on has its time again."""
        if asked.changes and not asked.is_stopped:
            asked.give_time(asked.seconds)
        self._write(_line(asked.id, kind, codec.encode(value)))

    def catalog(self, store: OpenStore) -> Catalog:
        """Return the catalog of the store, read again when the file has changed."""
        with self._reading_catalog:
            fingerprint = self.store.fingerprint()
            as_of, known = self._catalog
            if as_of != fingerprint:
                self._catalog = fingerprint, store.catalog(time.time(), known)
            return self._catalog[1]

    def _heard(self, question: _Question) -> None:
        with self._lock:
            for asked in self._running:
                if asked.id == question.cancel:
                    asked.cancel()
                asked.is_stopped |= asked.id == question.stop
            if question.cancel is not None or question.stop is not None:
                return
            if len(self._running) < _WAITING:
                free = self._free.pop() if self._free else OpenStore(self.store, self.location)
                free.begin()
                asked = _Asked(question, free)
                self._running[asked] = in_thread(partial(self._answer, asked), "answer")
                return
        refused = RefusedError(_("There are too many questions at once."))
        self._write(_failed(question.id, refused))

    def _answer(self, asked: _Asked) -> None:
        try:
            line = _line(asked.id, "answer", self._ask(asked))
            if len(line) > ANSWER_BYTES or codec.is_too_much(line):
                raise ValueTooLongError(_("This answer is too large to be sent."))
        except Exception as error:  # thread boundary: no question ends the others
            line = _failed(asked.id, error)
        # A change says itself what it has done.
        if not asked.changes and time.monotonic() > asked.until:
            text = _(
                "This took longer than {seconds:.0f} seconds and was stopped.",
                seconds=asked.seconds,
            )
            line = _failed(asked.id, RefusedError(text))
        self._write(line)
        with self._lock:
            self._free.append(asked.store)
            self._free_since = time.monotonic()
            del self._running[asked]

    def _ask(self, asked: _Asked) -> bytes:
        """Carry out a call of the façade; return its answer as JSON."""
        name = asked.name
        if name not in CALLS:
            raise RefusedError(
                _("There is no call “{name}”: `serve` answers no command lines.", name=name[:80])
            )
        types = codec.signature(name)
        if types.is_write and not self.may_change:
            raise RefusedError(
                _(
                    "This connection may only read: “{call}” needs `serve --stdio --allow-changes` there.",
                    call=name,
                )
            )
        values = codec.received(name, asked.given)
        if types.is_write:
            asked.changes = True
            asked.give_time(CHANGE_SECONDS)
        asked.store.check()  # it may be cancelled by now
        own = {"known": self.sizes, "stopped": lambda: asked.is_stopped}
        for each in types.not_sent:
            values[each] = self.catalog(asked.store) if each == "catalog" else own[each]
        values |= {kind: partial(self._report, asked, kind) for kind in types.reports}
        return codec.encode(CALLS[name](asked.store, **values))

    def _watch(self) -> None:
        last: Fingerprint = ()
        while True:
            fingerprint = self.store.fingerprint()
            if fingerprint != last:
                last = fingerprint
                self._write(codec.encode({"fingerprint": fingerprint}) + b"\n")
            self._end_overdue()
            if self._ended.wait(_WATCH_SECONDS):
                return

    def _end_overdue(self) -> None:
        """Close idle connections, and stop questions that take too long; a change polls
        `stopped`."""
        now = time.monotonic()
        with self._lock:
            while self._free and now > self._free_since + _IDLE_SECONDS:
                self._free.pop().close()
            for asked in self._running:
                if now > asked.until:
                    asked.is_stopped = True
                    asked.cancel()


def limit_memory() -> None:
    """Limit what this process may take, and SQLite within that
    (https://sqlite.org/pragma.html#pragma_hard_heap_limit)."""
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"PRAGMA hard_heap_limit={_SQLITE_BYTES}")
    with contextlib.suppress(ImportError):  # Windows has none
        resource = import_module("resource")
        _soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        most = _PROCESS_BYTES if hard == resource.RLIM_INFINITY else min(_PROCESS_BYTES, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
