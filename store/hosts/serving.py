"""`serve --stdio`: answer questions about a store, one line of JSON each, until the input ends.

    {"id": 1, "sql": …, "values": […]}   {"id": 1, "rows": […]}, or "error" and "code" of SQLite, or "refused"
    {"id": 2, "argv": […]}               {"id": 2, "code": …, "out": …, "err": …}: a command line
    {"cancel": 1}                        interrupts a question

Bytes are `{"b64": …}`. Without being asked it says `{"hello": …}` first, and `{"fingerprint": […]}` when the file
changes.
"""

from __future__ import annotations

import json
import os
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from typing import IO

from ..connection.connect import Reader, Store
from ..errors import BrowseError, QueryInterruptedError
from .link import Json, Reply
from .remote import decode_value, encode_value

_IDLE_SECONDS = 1.0
"""The store is closed after this time without a statement: Hermes counts an open one as a holder (0.22)."""
_QUESTION_BYTES = 4_000_000


class Server:
    """Answers the questions of one caller.

    Args:
        store: What statements read.
        run: Runs a command line.
        output: Where answers go.
    """

    def __init__(self, store: Store, run: Callable[[Sequence[str]], Reply], output: IO[bytes]) -> None:
        self._store, self._run, self._output = store, run, output
        self._questions: queue.Queue[Json | None] = queue.Queue()
        self._reader: Reader | None = None
        self._lock = threading.Lock()
        self._running: object = None
        self._cancelled: set[object] = set()
        self._fingerprint: tuple[int, ...] = ()

    def serve(self, source: IO[bytes], hello: Json) -> None:
        """Say hello, and answer until the source ends."""
        self._say({"hello": hello})
        self._tell_changes()
        threading.Thread(target=self._listen, args=(source,), name="questions", daemon=True).start()
        try:
            while True:
                try:
                    question = self._questions.get(timeout=_IDLE_SECONDS)
                except queue.Empty:
                    self._close()
                    self._tell_changes()
                    continue
                if question is None:
                    return
                self._answer(question)
                self._tell_changes()
        finally:
            self._close()

    def _say(self, answer: Json) -> None:
        self._output.write(json.dumps(answer).encode() + b"\n")
        self._output.flush()

    def _tell_changes(self) -> None:
        fingerprint = self._store.fingerprint()
        if fingerprint != self._fingerprint:
            self._fingerprint = fingerprint
            self._say({"fingerprint": list(fingerprint)})

    def _listen(self, source: IO[bytes]) -> None:
        while line := source.readline(_QUESTION_BYTES):
            try:
                question = json.loads(line)
            except (ValueError, RecursionError):
                continue  # a line that was cut: its caller is gone
            if isinstance(question, dict) and "cancel" in question:
                self._cancel(question["cancel"])
            elif isinstance(question, dict):
                self._questions.put(question)
        self._questions.put(None)
        with self._lock:
            if self._reader is not None:
                self._reader.interrupt()

    def _cancel(self, number: object) -> None:
        with self._lock:
            self._cancelled.add(number)
            if self._running == number and self._reader is not None:
                self._reader.interrupt()

    def _close(self) -> None:
        with self._lock:
            reader, self._reader = self._reader, None
        if reader is not None:
            reader.close()

    def _answer(self, question: Json) -> None:
        number = question.get("id")
        with self._lock:
            if number in self._cancelled:
                self._cancelled.discard(number)
                return
            self._running = number
        try:
            if isinstance(arguments := question.get("argv"), list):
                reply = self._run([str(each) for each in arguments])
                answer: Json = reply._asdict()
            else:
                answer = {"rows": self._rows(question)}
        except QueryInterruptedError as error:
            answer = {"error": str(error), "code": sqlite3.SQLITE_INTERRUPT}
        except BrowseError as error:
            cause = error.__cause__
            if isinstance(cause, sqlite3.Error):  # the caller translates it, with its own name for the file
                answer = {"error": str(cause), "code": getattr(cause, "sqlite_errorcode", sqlite3.SQLITE_ERROR)}
            else:
                answer = {"refused": str(error)}
        finally:
            with self._lock:
                self._running = None
                self._cancelled.discard(number)
        self._say({"id": number} | answer)

    def _rows(self, question: Json) -> list[list[object]]:
        sql, values = question.get("sql"), question.get("values")
        bound: list[object] | dict[str, object] = []
        if isinstance(values, dict):
            bound = {str(name): decode_value(value) for name, value in values.items()}
        elif isinstance(values, list):
            bound = list(map(decode_value, values))
        if self._reader is None or self._store.fingerprint()[:2] != self._fingerprint[:2]:
            self._close()
            reader = self._store.open()
            with self._lock:
                self._reader = reader
        self._reader.begin()
        return [list(map(encode_value, row)) for row in self._reader.rows(str(sql), bound)]


def redirect_standard_output() -> IO[bytes]:
    """Return the standard output for answers, and send everything else that is printed to standard error."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers
