"""`serve --stdio`: answer questions about a store, one line of JSON each, until the input ends.

    {"id": 1, "channel": 1, "sql": …, "values": […]}
        {"id": 1, "rows": […], "version": …}, or "error" and "code" of SQLite, or "refused"; bytes
        are {"b64": …}; "refused" with the "code" SQLITE_TOOBIG: what was asked for is too long, a
        part of it may not be
    {"id": 2, "call": "list", "with": {"limit": 5}}
        {"id": 2, "code": …, "out": …, "err": …}: exit code and output of what `calls.py` lists
    {"cancel": 1}
        interrupts a question
    {"close": 1}
        closes a channel and its connection to the store

Each channel is a connection of its own, so that a long statement of one does not keep the others
waiting. Without being asked the program says `{"hello": …}` first, and `{"fingerprint": […]}` when
the file changes.

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
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import IO, NamedTuple

from ..connection.connect import Store
from ..connection.reader import DATA_VERSION, Reader, allow_readers, interrupt_readers
from ..connection.stored_values import Json
from ..errors import BrowseError, QueryInterruptedError, RefusedError, ValueTooLongError
from ..wording import _
from .calls import CALLS, checked
from .link import ANSWER_BYTES, Reply
from .remote import decode_value, encode_value

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
VALUE_BYTES = 64_000_000
"""Of one value of a statement, at every step of its computation."""
_SQLITE_BYTES = 512_000_000
"""Of memory that SQLite may have for all statements together."""
_PROCESS_BYTES = 2_000_000_000
"""Of memory that the program may have, the stacks of its threads included; macOS does not keep to
it."""
_QUESTION_BYTES = 4_000_000
_WAITING_BYTES = 16_000_000
"""Of all questions that have no answer yet."""
_QUESTION_COST = 1_000
"""Bytes that each of them counts for beside its own."""
_CHANNELS = 50
_PRAGMAS = {
    "data_version",
    "schema_version",
    "journal_mode",
    "page_size",
    "page_count",
    "freelist_count",
    "auto_vacuum",
}
"""Those of a connection and its schema, and of the sizes that the map of the clean-up shows."""
_PRAGMAS_WITH_VALUE = {"table_info", "query_only", "temp_store"}
_TEMPORARY = {sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_CREATE_VTABLE}
_READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE}


def _may_read(
    action: int, first: str | None, second: str | None, database: str | None, _inside: str | None
) -> int:
    """Allow statements that read (https://sqlite.org/c3ref/c_alter_table.html has the arguments).

    The store is opened read-only anyway; this also keeps a statement from opening other files.
    """
    if action == sqlite3.SQLITE_FUNCTION:
        allowed = second not in ("load_extension", "fts3_tokenizer")
    elif action == sqlite3.SQLITE_PRAGMA:
        allowed = first in _PRAGMAS_WITH_VALUE or (first in _PRAGMAS and not second)
    else:
        # A virtual table over an index, in the temporary database, is how its terms are read. To
        # open a virtual table SQLite asks as if it were created; nothing is written to its schema.
        opens = action in _TEMPORARY and (database == "temp" or first == "sqlite_master")
        allowed = action in _READING or opens
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def _bytes(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _line(answer: Json, rows: Sequence[bytes] | None = None) -> bytes:
    """Return a line of output; `rows` are those of the answer, each written as JSON already."""
    if rows is None:
        return _bytes(answer) + b"\n"
    return b'%b, "rows": [%b]}\n' % (_bytes(answer)[:-1], b", ".join(rows))


def _too_large() -> ValueTooLongError:
    return ValueTooLongError(_("This answer is too large to be sent."))


def _taken(cursor: sqlite3.Cursor) -> list[bytes]:
    """Return the rows of a statement as JSON, which takes less memory than the values; refused if
    they are too many."""
    rows: list[bytes] = []
    size = 0
    for row in cursor:
        rows.append(_bytes(list(map(encode_value, row))))
        size += len(rows[-1]) + 2
        if size > ANSWER_BYTES:
            raise _too_large()
    return rows


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


class _Channel:
    """A thread that answers the questions of one reader of the caller, with a read connection of
    its own."""

    def __init__(self, server: Server, number: object) -> None:
        self._server = server
        self.questions: queue.Queue[Json | None] = queue.Queue()
        """None closes the channel."""
        self._reader: Reader | None = None
        self._opened = 0
        self._lock = threading.Lock()
        self._running: _Running | None = None
        self._is_late = False
        """Whether what runs has taken too long."""
        self._ident = 0
        self.thread = threading.Thread(target=self._run, name=f"channel {number}", daemon=True)
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
            elif number is None and self._reader is not None:
                self._reader.interrupt()

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
        self._server.say({"id": running.number, "refused": _too_late(running.seconds)})

    def _run(self) -> None:
        self._ident = threading.get_ident()
        try:
            while True:
                try:
                    question = self.questions.get(
                        timeout=_IDLE_SECONDS if self._reader is not None else None
                    )
                except queue.Empty:
                    self._close()
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
                if number is not None and not was_refused:
                    self._server.send(number, line)
                self._server.forget(question)
        finally:
            self._close()

    def _close(self) -> None:
        with self._lock:
            reader, self._reader = self._reader, None
        if reader is not None:
            reader.close()

    def _answer(self, question: Json) -> bytes:
        """Return the line that answers a question."""
        answer: Json = {"id": question.get("id")}
        try:
            if "call" in question:
                return _line(answer | self._call(question)._asdict())
            return self._rows(question, answer)
        except QueryInterruptedError as error:
            return _line(answer | {"error": str(error), "code": sqlite3.SQLITE_INTERRUPT})
        except BrowseError as error:
            return _line(answer | _failure(error))
        except (
            ValueError,
            OverflowError,
            MemoryError,
        ) as error:  # not as this version asks, or too large
            return _line(answer | {"refused": str(error) or type(error).__name__})

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

    def _open(self) -> Reader:
        if self._reader is None:
            reader = self._server.store.open()
            reader.confine(_may_read, VALUE_BYTES)
            with self._lock:
                self._reader = reader
                self._opened += 1
        assert self._reader is not None
        return self._reader

    def _rows(self, question: Json, answer: Json) -> bytes:
        allow_readers()
        reader = self._open()
        reader.begin()
        self._begin(question.get("id"), QUESTION_SECONDS)
        sql, values = str(question.get("sql")), question.get("values")
        bound: list[object] | dict[str, object] = []
        if isinstance(values, dict):
            bound = {str(name): decode_value(value) for name, value in values.items()}
        elif isinstance(values, list):
            bound = list(map(decode_value, values))
        rows = reader.collect(sql, bound, _taken)
        # Counts for one connection only, and the caller does not see when this one is opened anew.
        version = f"{os.getpid()}.{self._opened}.{reader.value(DATA_VERSION)}"
        return _line(answer | {"version": version}, rows)


def _failure(error: BrowseError) -> Json:
    """Return what an answer says of an error."""
    cause = error.__cause__
    if isinstance(error, ValueTooLongError):
        return {"refused": str(error), "code": sqlite3.SQLITE_TOOBIG}
    if isinstance(cause, MemoryError):
        return {"refused": _("This takes more memory than a question may have.")}
    if isinstance(cause, sqlite3.Error):  # the caller translates it, with its own name for the file
        code = getattr(cause, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
        if code == sqlite3.SQLITE_TOOBIG:
            sentence = _("A value is longer than {size} MB, and is not sent.")
            return {"refused": sentence.format(size=VALUE_BYTES // 1_000_000), "code": code}
        if code != sqlite3.SQLITE_INTERRUPT:  # else the limit of a statement, which `error` says
            return {"error": str(cause), "code": code}
    return {"refused": str(error)}


class Server:
    """Answers the questions of one caller; those of each of its channels one after the other.

    Args:
        store: What statements read.
        run: Carries out a call of `calls.py` by its name, with all of its arguments; the last
            argument says whether to stop.
        output: Where answers go.
        may_change: Whether calls that change the store are answered.
    """

    def __init__(
        self,
        store: Store,
        run: Callable[[str, Json, Callable[[], bool]], Reply],
        output: IO[bytes],
        *,
        may_change: bool = False,
    ) -> None:
        self.store, self.run, self._output, self.may_change = store, run, output, may_change
        self._channels: dict[object, _Channel] = {}
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
        self._heard({"call": "list", "with": {"limit": 1}}, 0)
        try:
            while line := source.readline(_QUESTION_BYTES):
                try:
                    question = json.loads(line)
                except (ValueError, RecursionError):
                    continue  # a line that was cut: its caller is gone
                if isinstance(question, dict):
                    self._heard(question, len(line))
        finally:
            self._ended.set()
            until = time.monotonic() + _END_SECONDS
            channels = list(self._channels.values())
            for channel in channels:
                channel.questions.put(None)
                channel.cancel()
            # Python aborts if a thread is inside an output stream while the program ends.
            for channel in channels:
                channel.thread.join(max(0.0, until - time.monotonic()))

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
            line = _line({"id": number} | _failure(_too_large()))
        with self._writing, contextlib.suppress(OSError, ValueError):
            self._output.write(line)
            self._output.flush()
        self.cancelled.discard(number)

    def forget(self, question: Json) -> None:
        """Note that a question needs no answer any more."""
        with self._counting:
            _number, size = self._waiting.pop(id(question))
            self._waiting_bytes -= size

    def _heard(self, question: Json, size: int) -> None:
        number = question.get("id")
        channel = None if "call" in question else question.get("channel")
        if not all(
            isinstance(question.get(name), int | None)
            for name in ("id", "channel", "cancel", "close")
        ):
            return  # nobody who knows this protocol sent it
        if "cancel" in question:
            with self._counting:
                if any(question["cancel"] == waiting for waiting, _size in self._waiting.values()):
                    self.cancelled.add(question["cancel"])
            for each in self._channels.values():
                each.cancel(question["cancel"])
        elif "close" in question:
            if (closed := self._channels.pop(question["close"], None)) is not None:
                closed.questions.put(None)
        elif "call" not in question and "sql" not in question:
            sentence = _("There is no such question: `serve` answers calls, no command lines.")
            self.say({"id": number, "refused": sentence})
        elif not self._has_room(channel, size):
            self.say({"id": number, "refused": _("There are too many questions at once.")})
        else:
            if channel not in self._channels:
                self._channels[channel] = _Channel(self, channel)
            with self._counting:
                self._waiting[id(question)] = number, size + _QUESTION_COST
                self._waiting_bytes += size + _QUESTION_COST
            self._channels[channel].questions.put(question)

    def _has_room(self, channel: object, size: int) -> bool:
        """Whether another question may wait."""
        has_channel = channel in self._channels or len(self._channels) < _CHANNELS
        return has_channel and self._waiting_bytes + size <= _WAITING_BYTES

    def _watch(self) -> None:
        last: tuple[int, ...] = ()
        while True:
            fingerprint = self.store.fingerprint()
            if fingerprint != last:
                last = fingerprint
                self.say({"fingerprint": list(fingerprint)})
            for channel in list(self._channels.values()):
                channel.expire(time.monotonic())
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
