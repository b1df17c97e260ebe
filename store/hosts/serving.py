"""`serve --stdio`: answer questions about a store, one line of JSON each, until the input ends.

    {"id": 1, "lease": 1, "ask": "outline", "with": {…}}
        {"id": 1, "answer": …} to a call of the façade (`codec.py` has the types), or "error"; before
        that "tell" or "portion" with what is done so far
    {"id": 2, "call": "list", "with": {"limit": 5}}
        {"id": 2, "code": …, "out": …, "err": …}: exit code and output of what `calls.py` lists
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
import os
import queue
import sqlite3
import threading
import time
from collections.abc import Callable
from types import ModuleType
from typing import IO, NamedTuple

from ..api import CALLS as CALLS_OF_STORE
from ..api import OpenStore
from ..cleanup.sizes import Sizes
from ..connection.connect import Fingerprint, Store
from ..connection.reader import allow_readers, interrupt_readers
from ..connection.stored_values import Json
from ..errors import BrowseError, QueryInterruptedError, RefusedError, ValueTooLongError
from ..hermes.homes import Location
from ..sessions.catalog import Catalog
from ..wording import _
from . import codec
from .calls import CALLS, checked
from .link import ANSWER_BYTES, Reply

resource: ModuleType | None
try:
    import resource
except ImportError:  # Windows
    resource = None

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
"""How long a change may take; then it is stopped where that is possible, and says what is done."""
_SQLITE_BYTES = 512_000_000
"""Of memory that SQLite may have for all statements together."""
_PROCESS_BYTES = 2_000_000_000
"""Of memory that the program may have, the stacks of its threads included; macOS does not keep to
it."""
_QUESTION_BYTES = 4_000_000
_PROGRESS_BYTES = 1_000_000
"""Of a line about what is done so far; a longer one is not sent."""
_SPARE = 100
"""Bytes of a line beside its answer."""
_WAITING_BYTES = 16_000_000
"""Of all questions that have no answer yet."""
_QUESTION_COST = 1_000
"""Bytes that each of them counts for beside its own."""
_LEASES = 50


def _bytes(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _line(answer: Json) -> bytes:
    """Return a line of output."""
    return _bytes(answer) + b"\n"


def _too_large() -> ValueTooLongError:
    return ValueTooLongError(_("This answer is too large to be sent."))


def _too_late(seconds: float) -> str:
    return _("This took longer than {seconds:.0f} seconds and was stopped.").format(seconds=seconds)


class _Running(NamedTuple):
    """A question that is being answered."""

    number: object
    until: float
    """When it has taken too long, by the monotonic clock."""
    seconds: float
    """Its limit."""
    is_change: bool


class _Answering:
    """A thread that answers the questions of one lease of the caller, with a read connection of its
    own."""

    def __init__(self, server: Server, number: object) -> None:
        self._server = server
        self.questions: queue.Queue[Json | None] = queue.Queue()
        """None closes the lease."""
        self._store = OpenStore(server.store, server.location)
        self._lock = threading.Lock()
        self._running: _Running | None = None
        self._is_late = False
        """Whether what runs has taken too long."""
        self._ident = 0
        self.thread = threading.Thread(target=self._run, name=f"lease {number}", daemon=True)
        self.thread.start()

    def cancel(self, number: object = None) -> None:
        """Interrupt a question if it is running and no change; without a number whatever statement
        is, but no call."""
        with self._lock:
            running = self._running
            if (
                number is not None
                and running is not None
                and number == running.number
                and not running.is_change
            ):
                interrupt_readers(self._ident)
            elif number is None:
                self._store.interrupt()

    def expire(self, now: float) -> None:
        """Stop what runs if it has taken too long; one that reads is refused at once, even if it
        does not stop."""
        with self._lock:
            running = self._running
            if running is None or self._is_late or now < running.until:
                return
            self._is_late = True
            if running.is_change:
                return  # it polls `stop`, and says itself what it has done
            interrupt_readers(self._ident)
        refused = _failed(running.number, RefusedError(_too_late(running.seconds)))
        self._server.send(running.number, refused)

    def _run(self) -> None:
        self._ident = threading.get_ident()
        try:
            while True:
                try:
                    question = self.questions.get(
                        timeout=_IDLE_SECONDS if self._store.is_open else None
                    )
                except queue.Empty:
                    self._store.close()
                    continue
                if question is None:
                    return
                line = self._answer(question)
                with self._lock:
                    was_refused = (
                        self._is_late and self._running is not None and not self._running.is_change
                    )
                    self._running = None
                number = question.get("id")
                if number is None:
                    self._store.close()  # nobody waits, so nobody asks more
                elif not was_refused:
                    self._server.send(number, line)
                self._server.forget(question)
        finally:
            self._store.close()

    def _answer(self, question: Json) -> bytes:
        """Return the line that answers a question."""
        number = question.get("id")
        try:
            if "call" in question:
                return _line({"id": number, **self._call(question)._asdict()})
            return self._ask(question)
        except BrowseError as error:
            return _failed(number, error)
        except MemoryError:
            return _failed(number, _no_memory())
        except Exception as error:  # thread boundary: no question ends the others
            return _failed(number, RefusedError(str(error)[:400] or type(error).__name__))

    def _begin(self, number: object, seconds: float, *, is_change: bool = False) -> None:
        """Note that a question runs. QueryInterruptedError if it was cancelled before that."""
        allow_readers()
        with self._lock:
            self._is_late = False
            self._running = _Running(number, time.monotonic() + seconds, seconds, is_change)
        if number in self._server.cancelled or self._server.has_ended:
            raise QueryInterruptedError(_("The query was interrupted."))

    def _call(self, question: Json) -> Reply:
        try:
            name, values = checked(
                question["call"], question.get("with", {}), may_change=self._server.may_change
            )
        except RefusedError as refused:
            return Reply(refused.exit_code, "", str(refused))
        is_change = CALLS[name].changes
        seconds = CHANGE_SECONDS if is_change else QUESTION_SECONDS
        self._begin(question.get("id"), seconds, is_change=is_change)
        reply = self._server.run(name, values, lambda: self._is_late)
        if reply.code and self._is_late:
            return Reply(RefusedError.exit_code, "", f"{reply.err}\n{_too_late(seconds)}")
        return reply

    def _ask(self, question: Json) -> bytes:
        """Carry out a call of the façade."""
        number, name = question.get("id"), question["ask"]
        if not isinstance(name, str) or name not in CALLS_OF_STORE:
            raise RefusedError(_("There is no call “{name}”.").format(name=str(name)[:80]))
        if not isinstance(given := question.get("with", {}), dict):
            raise RefusedError(_("The arguments of “{call}” are no object.").format(call=name))
        now = time.time()
        types = codec.signature(name)
        values = codec.received(name, given, now)
        self._store.begin()
        self._begin(number, QUESTION_SECONDS)
        for own in types.own:
            is_sizes = own == "known"
            values[own] = self._server.sizes if is_sizes else self._server.catalog(self._store, now)
        server = self._server
        callbacks: Json = {
            "stopped": lambda: number in server.stopped or self._is_late or server.has_ended,
            "tell": lambda share: server.report(number, "tell", share),
            "portion": lambda found: server.report(number, "portion", found),
        }
        values |= {each: callbacks[each] for each in types.callbacks}
        try:
            answer = codec.encode(CALLS_OF_STORE[name](self._store, **values))
        finally:
            server.stopped.discard(number)
        if isinstance(start := question.get("from"), int) and start >= 0:
            answer = codec.window(answer, start)
        if len(answer) > ANSWER_BYTES - _SPARE:
            raise _too_large()
        return b'{"id": %b, "answer": %b}\n' % (_bytes(number), answer)


def _no_memory() -> RefusedError:
    return RefusedError(_("This takes more memory than a question may have."))


def _failed(number: object, error: BrowseError) -> bytes:
    """Return the line that says what went wrong."""
    is_memory = isinstance(error.__cause__, MemoryError)
    said = _no_memory() if is_memory else error
    failure = codec.Failure(type(said).__name__, said.sentence, said.remedy, said.advice)
    return b'{"id": %b, "error": %b}\n' % (_bytes(number), codec.encode(failure))


class Server:
    """Answers the questions of one caller; those of each of its leases one after the other.

    Args:
        store: What is asked about.
        location: Of the store.
        run: Carries out a call of `calls.py` by its name, with all of its arguments; the last
            argument says whether to stop.
        output: Where answers go.
        may_change: Whether calls that change the store are answered.
    """

    def __init__(
        self,
        store: Store,
        location: Location,
        run: Callable[[str, Json, Callable[[], bool]], Reply],
        output: IO[bytes],
        *,
        may_change: bool = False,
    ) -> None:
        self.store, self.location, self.run = store, location, run
        self._output, self.may_change = output, may_change
        self.sizes: dict[str, Sizes] = {}
        """Of the sessions that were measured."""
        self.stopped: set[object] = set()
        """Questions that are to end with what is done so far."""
        self._catalog: tuple[Fingerprint, Catalog] | None = None
        self._reading_catalog = threading.Lock()
        self._leases: dict[object, _Answering] = {}
        self._waiting: dict[int, tuple[object, int]] = {}
        """Questions that have no answer yet, by their identity: number and bytes."""
        self._waiting_bytes = 0
        self._counting = threading.Lock()
        self.cancelled: set[object] = set()
        """Questions that were cancelled and have no answer yet."""
        self._writing = threading.Lock()
        self._ended = threading.Event()

    def serve(self, source: IO[bytes], hello: Json) -> None:
        """Say hello, and answer until the source ends."""
        self.say({"hello": hello | {"rights": ["read", "change"] if self.may_change else ["read"]}})
        threading.Thread(target=self._watch, name="watch", daemon=True).start()
        # While the hello travels: the modules of the first list are loaded, and its pages are read.
        self._heard({"ask": "first_page", "with": {"now": time.time()}}, 0)
        try:
            while line := source.readline(_QUESTION_BYTES):
                try:
                    question = codec.question(line)
                except ValueError:
                    continue  # a line that was cut: its caller is gone
                if isinstance(question, dict):
                    self._heard(question, len(line))
        finally:
            self._ended.set()
            until = time.monotonic() + _END_SECONDS
            leases = list(self._leases.values())
            for lease in leases:
                lease.questions.put(None)
                lease.cancel()
            # Python aborts if a thread is inside an output stream while the program ends.
            for lease in leases:
                lease.thread.join(max(0.0, until - time.monotonic()))

    @property
    def has_ended(self) -> bool:
        """Whether the caller is gone."""
        return self._ended.is_set()

    def say(self, answer: Json) -> None:
        """Send an answer, from any thread; nothing if nobody reads any more."""
        self.send(answer.get("id"), _line(answer))

    def send(self, number: object, line: bytes) -> None:
        """Send the line that answers a question, from any thread."""
        if len(line) > ANSWER_BYTES:
            line = _failed(number, _too_large())
        with self._writing, contextlib.suppress(OSError, ValueError):
            self._output.write(line)
            self._output.flush()
        self.cancelled.discard(number)

    def report(self, number: object, kind: str, value: object) -> None:
        """Send what a call has done so far."""
        line = b'{"id": %b, "%b": %b}\n' % (_bytes(number), kind.encode(), codec.encode(value))
        if number is not None and len(line) < _PROGRESS_BYTES:
            with self._writing, contextlib.suppress(OSError, ValueError):
                self._output.write(line)
                self._output.flush()

    def catalog(self, store: OpenStore, now: float) -> Catalog:
        """Return the catalog of the store, read again when the file has changed."""
        with self._reading_catalog:
            fingerprint = self.store.fingerprint()
            if self._catalog is None or self._catalog[0] != fingerprint:
                known = self._catalog[1] if self._catalog is not None else None
                self._catalog = fingerprint, store.catalog(now, known)
            return self._catalog[1]

    def forget(self, question: Json) -> None:
        """Note that a question needs no answer any more."""
        with self._counting:
            _number, size = self._waiting.pop(id(question))
            self._waiting_bytes -= size

    def _heard(self, question: Json, size: int) -> None:
        number = question.get("id")
        lease = None if "call" in question else question.get("lease")
        if not all(
            isinstance(question.get(name), int | None)
            for name in ("id", "lease", "cancel", "stop", "close")
        ):
            return  # nobody who knows this protocol sent it
        if "cancel" in question:
            with self._counting:
                if any(question["cancel"] == waiting for waiting, _size in self._waiting.values()):
                    self.cancelled.add(question["cancel"])
            for each in self._leases.values():
                each.cancel(question["cancel"])
        elif "stop" in question:
            self.stopped.add(question["stop"])
        elif "close" in question:
            if (closed := self._leases.pop(question["close"], None)) is not None:
                closed.questions.put(None)
        elif "call" not in question and "ask" not in question:
            sentence = _("There is no such question: `serve` answers calls, no command lines.")
            self.send(number, _failed(number, RefusedError(sentence)))
        elif not self._has_room(lease, size):
            sentence = _("There are too many questions at once.")
            self.send(number, _failed(number, RefusedError(sentence)))
        else:
            if lease not in self._leases:
                self._leases[lease] = _Answering(self, lease)
            with self._counting:
                self._waiting[id(question)] = number, size + _QUESTION_COST
                self._waiting_bytes += size + _QUESTION_COST
            self._leases[lease].questions.put(question)

    def _has_room(self, lease: object, size: int) -> bool:
        """Whether another question may wait."""
        has_lease = lease in self._leases or len(self._leases) < _LEASES
        return has_lease and self._waiting_bytes + size <= _WAITING_BYTES

    def _watch(self) -> None:
        last: tuple[int, ...] = ()
        while True:
            fingerprint = self.store.fingerprint()
            if fingerprint != last:
                last = fingerprint
                self.say({"fingerprint": list(fingerprint)})
            for lease in list(self._leases.values()):
                lease.expire(time.monotonic())
            if self._ended.wait(_WATCH_SECONDS):
                return


def limit_memory() -> None:
    """Limit what this process may take, and SQLite within that
    (https://sqlite.org/pragma.html#pragma_hard_heap_limit)."""
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"PRAGMA hard_heap_limit={_SQLITE_BYTES}")
    if resource is not None:
        _soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        most = _PROCESS_BYTES if hard == resource.RLIM_INFINITY else min(_PROCESS_BYTES, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def take_standard_streams() -> tuple[IO[bytes], IO[bytes]]:
    """Return standard input and output for questions and answers.

    Everything else that is printed goes to standard error, and whoever else reads finds the end.
    """
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return questions, answers
