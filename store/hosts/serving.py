"""`serve --stdio`: answer questions about a store, one line of JSON each, until the input ends.

    {"id": 1, "channel": 1, "sql": …, "values": […]}
        {"id": 1, "rows": […], "version": …}, or "error" and "code" of SQLite, or "refused"; bytes are {"b64": …}
    {"id": 2, "argv": […]}
        {"id": 2, "code": …, "out": …, "err": …}: what a command line printed
    {"cancel": 1}
        interrupts a question
    {"close": 1}
        closes a channel and its connection to the store

Each channel is a connection of its own, so that a long statement of one does not keep the others waiting. Without being
asked the program says `{"hello": …}` first, and `{"fingerprint": […]}` when the file changes.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from typing import IO

from ..connection.connect import Store
from ..connection.reader import DATA_VERSION, Reader, allow_readers, interrupt_readers
from ..connection.stored_values import Json
from ..errors import BrowseError, QueryInterruptedError
from ..wording import _
from .link import ANSWER_BYTES, Reply
from .remote import decode_value, encode_value

_IDLE_SECONDS = 3.0
"""A store that its caller left open is closed after this time: Hermes counts an open one as a holder (0.22)."""
_WATCH_SECONDS = 0.5
"""Between checks whether the file has changed."""
_QUESTION_BYTES = 4_000_000
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


def _may_read(action: int, first: str | None, second: str | None, database: str | None, _inside: str | None) -> int:
    """Allow statements that read (https://sqlite.org/c3ref/c_alter_table.html has the arguments).

    The store is opened read-only anyway; this also keeps a statement from opening other files.
    """
    if action == sqlite3.SQLITE_FUNCTION:
        allowed = second not in ("load_extension", "fts3_tokenizer")
    elif action == sqlite3.SQLITE_PRAGMA:
        allowed = first in _PRAGMAS_WITH_VALUE or (first in _PRAGMAS and not second)
    else:
        # A virtual table over an index, in the temporary database, is how its terms are read. To open a virtual table
        # SQLite asks as if it were created; nothing is written to its schema.
        opens = action in _TEMPORARY and (database == "temp" or first == "sqlite_master")
        allowed = action in _READING or opens
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def _line(answer: Json) -> bytes:
    return json.dumps(answer, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


class _Channel:
    """A thread that answers the questions of one reader of the caller, with a read connection of its own."""

    def __init__(self, server: Server, number: object) -> None:
        self._server = server
        self.questions: queue.Queue[Json | None] = queue.Queue()
        """None closes the channel."""
        self._reader: Reader | None = None
        self._opened = 0
        self._lock = threading.Lock()
        self._running: object = None
        self._ident = 0
        threading.Thread(target=self._run, name=f"channel {number}", daemon=True).start()

    def cancel(self, number: object = None) -> None:
        """Interrupt a question if it is running; without a number whatever statement is, but no command."""
        with self._lock:
            if number is not None and number == self._running:
                interrupt_readers(self._ident)
            elif number is None and self._reader is not None:
                self._reader.interrupt()

    def _run(self) -> None:
        self._ident = threading.get_ident()
        try:
            while True:
                try:
                    question = self.questions.get(timeout=_IDLE_SECONDS if self._reader is not None else None)
                except queue.Empty:
                    self._close()
                    continue
                if question is None:
                    return
                answer = self._answer(question)
                if (number := question.get("id")) is not None:
                    self._server.say({"id": number} | answer)
        finally:
            self._close()

    def _close(self) -> None:
        with self._lock:
            reader, self._reader = self._reader, None
        if reader is not None:
            reader.close()

    def _answer(self, question: Json) -> Json:
        number, arguments = question.get("id"), question.get("argv")
        allow_readers()
        try:
            reader = None if isinstance(arguments, list) else self._open()
            if reader is not None:
                reader.begin()
            with self._lock:
                self._running = number
            if number in self._server.cancelled:
                raise QueryInterruptedError(_("The query was interrupted."))
            if isinstance(arguments, list):
                return dict(self._server.run([str(each) for each in arguments])._asdict())
            assert reader is not None
            rows = self._rows(reader, question)
            # Counts for one connection only, and the caller does not see when this one is opened anew.
            return {"rows": rows, "version": f"{os.getpid()}.{self._opened}.{reader.value(DATA_VERSION)}"}
        except QueryInterruptedError as error:
            return {"error": str(error), "code": sqlite3.SQLITE_INTERRUPT}
        except BrowseError as error:
            cause = error.__cause__
            if isinstance(cause, sqlite3.Error):  # the caller translates it, with its own name for the file
                return {"error": str(cause), "code": getattr(cause, "sqlite_errorcode", sqlite3.SQLITE_ERROR)}
            return {"refused": str(error)}
        except (ValueError, OverflowError, MemoryError) as error:  # not as this version asks, or too large
            return {"refused": str(error) or type(error).__name__}
        finally:
            with self._lock:
                self._running = None

    def _open(self) -> Reader:
        if self._reader is None:
            reader = self._server.store.open()
            reader.authorize(_may_read)
            with self._lock:
                self._reader = reader
                self._opened += 1
        assert self._reader is not None
        return self._reader

    def _rows(self, reader: Reader, question: Json) -> list[list[object]]:
        sql, values = str(question.get("sql")), question.get("values")
        bound: list[object] | dict[str, object] = []
        if isinstance(values, dict):
            bound = {str(name): decode_value(value) for name, value in values.items()}
        elif isinstance(values, list):
            bound = list(map(decode_value, values))
        return [list(map(encode_value, row)) for row in reader.rows(sql, bound)]


class Server:
    """Answers the questions of one caller; those of each of its channels one after the other.

    `store` is what statements read; `run` runs a command line; `output` is where answers go.
    """

    def __init__(self, store: Store, run: Callable[[Sequence[str]], Reply], output: IO[bytes]) -> None:
        self.store, self.run, self._output = store, run, output
        self._channels: dict[object, _Channel] = {}
        self._waiting: set[object] = set()
        self.cancelled: set[object] = set()
        """Questions that were cancelled and have no answer yet."""
        self._writing = threading.Lock()
        self._ended = threading.Event()

    def serve(self, source: IO[bytes], hello: Json) -> None:
        """Say hello, and answer until the source ends."""
        self.say({"hello": hello})
        threading.Thread(target=self._watch, name="watch", daemon=True).start()
        # While the hello travels: the modules of the first list are loaded, and its pages are read.
        self._heard({"argv": ["list", "--json", "--limit", "1"]})
        try:
            while line := source.readline(_QUESTION_BYTES):
                try:
                    question = json.loads(line)
                except (ValueError, RecursionError):
                    continue  # a line that was cut: its caller is gone
                if isinstance(question, dict):
                    self._heard(question)
        finally:
            self._ended.set()
            for channel in self._channels.values():
                channel.questions.put(None)
                channel.cancel()

    def say(self, answer: Json) -> None:
        """Send an answer, from any thread; nothing if nobody reads any more."""
        line = _line(answer)
        if len(line) > ANSWER_BYTES:
            line = _line({"id": answer.get("id"), "refused": _("This answer is too large to be sent.")})
        with self._writing, contextlib.suppress(OSError, ValueError):
            self._output.write(line)
            self._output.flush()
        self._waiting.discard(answer.get("id"))
        self.cancelled.discard(answer.get("id"))

    def _heard(self, question: Json) -> None:
        number = None if "argv" in question else question.get("channel")
        if not all(isinstance(question.get(name), int | None) for name in ("id", "channel", "cancel", "close")):
            return  # nobody who knows this protocol sent it
        if "cancel" in question:
            self.cancelled |= {question["cancel"]} & self._waiting
            for channel in self._channels.values():
                channel.cancel(question["cancel"])
        elif "close" in question:
            if (closed := self._channels.pop(question["close"], None)) is not None:
                closed.questions.put(None)
        else:
            if number not in self._channels:
                self._channels[number] = _Channel(self, number)
            self._waiting.add(question.get("id"))
            self._channels[number].questions.put(question)

    def _watch(self) -> None:
        last: tuple[int, ...] = ()
        while True:
            fingerprint = self.store.fingerprint()
            if fingerprint != last:
                last = fingerprint
                self.say({"fingerprint": list(fingerprint)})
            if self._ended.wait(_WATCH_SECONDS):
                return


def redirect_standard_output() -> IO[bytes]:
    """Return the standard output for answers, and send everything else that is printed to standard error."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers
