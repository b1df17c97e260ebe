"""`serve --stdio`: answer questions about a store, one line of JSON each, until the input ends.

    {"id": 1, "lease": 1, "ask": "outline", "with": {…}}
        {"id": 1, "answer": …} to a call of the façade (`codec.py` has the types), or "error"; before
        that "tell" or "portion" with what is done so far
    {"cancel": 1}, {"stop": 1}
        interrupts a question; ends it with what is done so far
    {"close": 1}
        closes a lease and its connection to the store

Each lease is a connection of its own, so that a long call of one does not keep the others waiting.
Without being asked the program says `{"hello": …}` first, and `{"fingerprint": […]}` when the file
changes.

Whoever asks may have nothing but the key to this program: a request cannot name a file or another
store, and is limited in time and memory.
"""

from __future__ import annotations

import contextlib
import json
import math
import queue
import sqlite3
import threading
import time
from functools import partial
from importlib import import_module
from typing import IO

import msgspec

from ..api import OpenStore
from ..call import CALLS
from ..cleanup.sizes import Sizes
from ..connection.connect import Fingerprint, Store
from ..connection.stored_values import Json
from ..errors import BrowseError, QueryInterruptedError, RefusedError, ValueTooLongError
from ..hermes.homes import Location
from ..sessions.catalog import Catalog
from ..wording import _
from . import codec
from .link import PROGRESS_BYTES
from .ssh import ANSWER_BYTES

_IDLE_SECONDS = 3.0
"""A store that its caller left open is closed after this time: Hermes counts an open one as a
holder (0.22)."""
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
"""Questions that may have no answer yet, and leases."""


class _Question(msgspec.Struct, eq=False):
    """A line of the caller. Numbers that are none make it a line of nobody who knows this protocol;
    what else is wrong is answered."""

    id: int | None = None
    lease: int | None = None
    cancel: int | None = None
    stop: int | None = None
    close: int | None = None
    ask: object = None
    given: msgspec.Raw = msgspec.field(name="with", default=msgspec.Raw(b"{}"))


_decoder = msgspec.json.Decoder(_Question)


def _read_question(line: bytes) -> _Question:
    try:
        return _decoder.decode(line)
    except msgspec.DecodeError:  # perhaps for half a surrogate pair
        return _decoder.decode(codec.encode(json.loads(line)))


class _Asked:
    """A question without an answer."""

    def __init__(self, question: _Question) -> None:
        self.id, self.name, self.given = question.id, str(question.ask), question.given
        self.changes = False
        """Whether it changes the store."""
        self.seconds = QUESTION_SECONDS
        self.until = math.inf
        """When its time is over, by the monotonic clock."""
        self.is_cancelled = self.is_stopped = self.is_answered = False


def _line(number: int | None, kind: str, value: bytes) -> bytes:
    """Return a line of output about a question."""
    return b'{"id": %b, "%b": %b}\n' % (codec.encode(number), kind.encode(), value)


def _failed(number: int | None, error: Exception) -> bytes:
    """Return the line that says what went wrong."""
    if isinstance(error, MemoryError) or isinstance(error.__cause__, MemoryError):
        error = RefusedError(_("This takes more memory than a question may have."))
    if not isinstance(error, BrowseError):
        error = RefusedError(str(error)[:400] or type(error).__name__)
    return _line(number, "error", codec.encode(error))


class _LeaseThread:
    """A thread that answers the questions of one lease of the caller, with a read connection of its
    own."""

    def __init__(self, server: Server, number: int | None) -> None:
        self._server = server
        self.questions: queue.Queue[_Asked | None] = queue.Queue()
        """None closes the lease."""
        self._store = OpenStore(server.store, server.location)
        self._lock = threading.Lock()
        self._running: _Asked | None = None
        """What is being answered."""
        self.thread = threading.Thread(target=self._run, name=f"lease {number}", daemon=True)
        self.thread.start()

    def interrupt(self) -> None:
        """Interrupt what is running if it was cancelled and is no change."""
        with self._lock:
            running = self._running
            if running is not None and running.is_cancelled and not running.changes:
                self._store.interrupt()

    def end(self) -> None:
        """Interrupt whatever statement is running, but no change, and close the lease."""
        self.questions.put(None)
        self._store.interrupt()

    def expire(self, now: float) -> None:
        """Stop what runs if it has taken too long; one that reads is refused at once, even if it
        does not stop."""
        with self._lock:
            running = self._running
            if running is None or now < running.until:
                return
            running.until, running.is_stopped = math.inf, True
            if running.changes:
                return  # it polls `stopped`, and says itself what it has done
            self._store.interrupt()
        text = _(
            "This took longer than {seconds:.0f} seconds and was stopped.", seconds=running.seconds
        )
        self._server.send(running, _failed(running.id, RefusedError(text)))

    def _run(self) -> None:
        with contextlib.closing(self._store):
            while True:
                try:
                    asked = self.questions.get(
                        timeout=_IDLE_SECONDS if self._store.is_open else None
                    )
                except queue.Empty:
                    self._store.close()
                    continue
                if asked is None:
                    return
                line = self._answer(asked)
                with self._lock:
                    self._running = None
                self._server.send(asked, line)

    def _answer(self, asked: _Asked) -> bytes:
        """Return the line that answers a question."""
        try:
            return _line(asked.id, "answer", self._ask(asked))
        except Exception as error:  # thread boundary: no question ends the others
            return _failed(asked.id, error)

    def _begin(self, asked: _Asked) -> None:
        """Note that a question runs. QueryInterruptedError if it was cancelled before that."""
        self._store.begin()
        with self._lock:
            asked.until = time.monotonic() + asked.seconds
            self._running = asked
        if asked.is_cancelled or self._server.ended.is_set():
            raise QueryInterruptedError(_("The query was interrupted."))

    def _ask(self, asked: _Asked) -> bytes:
        """Carry out a call of the façade; return its answer as JSON."""
        name, server = asked.name, self._server
        if name not in CALLS:
            raise RefusedError(_("There is no call “{name}”.", name=name[:80]))
        now, types = time.time(), codec.signature(name)
        if types.changes and not server.may_change:
            text = _(
                "This connection may only read: “{call}” needs `serve --stdio --allow-changes` there.",
                call=name,
            )
            raise RefusedError(text)
        values = codec.received(name, asked.given)
        if types.changes:
            asked.changes, asked.seconds = True, CHANGE_SECONDS
        self._begin(asked)
        for own in types.own:
            values[own] = server.sizes if own == "known" else server.catalog(self._store, now)
        for kind in types.reports:
            values[kind] = partial(server.report, asked, kind)
        if types.stops:
            values["stopped"] = lambda: (
                asked.is_stopped or (server.ended.is_set() and not asked.changes)
            )
        return codec.encode(CALLS[name](self._store, **values))


class Server:
    """Answers the questions of one caller; those of each of its leases one after the other.

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
        self._catalog: Catalog | None = None
        self._catalog_as_of: Fingerprint = ()
        self._reading_catalog = threading.Lock()
        self._leases: dict[int | None, _LeaseThread] = {}
        self._waiting: set[_Asked] = set()
        """Questions that have no answer yet."""
        self._counting = threading.Lock()
        self._writing = threading.Lock()
        self.ended = threading.Event()
        """Set when the caller is gone."""

    def serve(self, source: IO[bytes], hello: Json) -> None:
        """Say hello, and answer until the source ends."""
        rights = ["read", "change"] if self.may_change else ["read"]
        self._write(codec.encode({"hello": hello | {"rights": rights}}) + b"\n")
        threading.Thread(target=self._watch, name="watch", daemon=True).start()
        threading.Thread(target=self._prepare, name="prepare", daemon=True).start()
        try:
            while line := source.readline(_QUESTION_BYTES):
                # It was cut, as its caller is gone; or nobody knows what it means.
                with contextlib.suppress(ValueError, RecursionError):
                    self._heard(_read_question(line))
        finally:
            self.ended.set()
            until = time.monotonic() + _END_SECONDS
            leases = list(self._leases.values())
            for lease in leases:
                lease.end()
            # Python aborts if a thread is inside an output stream while the program ends.
            for lease in leases:
                lease.thread.join(max(0.0, until - time.monotonic()))

    def _prepare(self) -> None:
        """While the hello travels, load the modules of the first list, and read its pages."""
        with contextlib.suppress(Exception), OpenStore(self.store, self.location) as store:
            store.first_page(time.time())  # the first question tells what is wrong

    def _write(self, line: bytes) -> None:
        """Send a line, from any thread; nothing if nobody reads any more."""
        with self._writing, contextlib.suppress(OSError, ValueError):
            self._output.write(line)
            self._output.flush()

    def send(self, asked: _Asked, line: bytes) -> None:
        """Send the line that answers a question, unless it has an answer already."""
        with self._counting:
            is_first, asked.is_answered = not asked.is_answered, True
            self._waiting.discard(asked)
        if len(line) > ANSWER_BYTES or codec.is_too_much(line):
            error = ValueTooLongError(_("This answer is too large to be sent."))
            line = _failed(asked.id, error)
        if is_first:
            self._write(line)

    def report(self, asked: _Asked, kind: str, value: object) -> None:
        """Send what a call has done so far. A change that goes on has its time again."""
        if asked.changes and not asked.is_stopped:
            asked.until = time.monotonic() + asked.seconds
        line = _line(asked.id, kind, codec.encode(value))
        if len(line) < PROGRESS_BYTES:
            self._write(line)

    def catalog(self, store: OpenStore, now: float) -> Catalog:
        """Return the catalog of the store, read again when the file has changed."""
        with self._reading_catalog:
            fingerprint = self.store.fingerprint()
            if self._catalog is None or self._catalog_as_of != fingerprint:
                self._catalog = store.catalog(now, self._catalog)
                self._catalog_as_of = fingerprint
            return self._catalog

    def _heard(self, question: _Question) -> None:
        with self._counting:
            waiting = list(self._waiting)
        if question.cancel is not None:
            for asked in waiting:
                asked.is_cancelled |= asked.id == question.cancel
            for lease in self._leases.values():
                lease.interrupt()
        elif question.stop is not None:
            for asked in waiting:
                asked.is_stopped |= asked.id == question.stop
        elif question.close is not None:
            if (closed := self._leases.pop(question.close, None)) is not None:
                closed.questions.put(None)
        elif question.ask is None:
            sentence = _("There is no such question: `serve` answers calls, no command lines.")
            self._write(_failed(question.id, RefusedError(sentence)))
        else:
            self._put(_Asked(question), question.lease, len(waiting))

    def _put(self, asked: _Asked, number: int | None, waiting: int) -> None:
        """Let a question wait for its lease, if there is room beside those that wait."""
        if waiting >= _WAITING or (number not in self._leases and len(self._leases) >= _WAITING):
            sentence = _("There are too many questions at once.")
            self._write(_failed(asked.id, RefusedError(sentence)))
            return
        with self._counting:
            self._waiting.add(asked)
        if number not in self._leases:
            self._leases[number] = _LeaseThread(self, number)
        self._leases[number].questions.put(asked)

    def _watch(self) -> None:
        last: Fingerprint = ()
        while True:
            fingerprint = self.store.fingerprint()
            if fingerprint != last:
                last = fingerprint
                self._write(codec.encode({"fingerprint": fingerprint}) + b"\n")
            for lease in list(self._leases.values()):
                lease.expire(time.monotonic())
            if self.ended.wait(_WATCH_SECONDS):
                return


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
