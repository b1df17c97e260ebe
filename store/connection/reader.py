"""One open read connection: statements are fetched whole, can be interrupted from any thread, and
fail with a sentence.

A watchdog thread interrupts statements that take longer than any intact store needs. A damaged or
malicious file can hold b-trees that never end: pages whose children are all the same page. SQLite
walks such a tree forever, and counting its rows is one instruction, inside which no progress
handler is called (https://sqlite.org/c3ref/progress_handler.html); an interrupt does work.
"""

from __future__ import annotations

import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from ..errors import (
    QueryInterruptedError,
    StoreDamagedError,
    StoreError,
)
from ..wording import _
from .failures import SQLITE_ERRORS, translate
from .schema import Schema, sql_name
from .store_cache import FileCache, StoreCache

Row = tuple[object, ...]
_T = TypeVar("_T")

_IOERR_TRIES = 3
_IOERR_PAUSE = 0.05
_CHUNK = 400

SQLITE = sqlite3.sqlite_version
"""The version of the SQLite library in use."""

DATA_VERSION = "PRAGMA data_version"
"""Changes when another connection commits (https://sqlite.org/pragma.html#pragma_data_version)."""
TIME_LIMIT = 60.0
"""Seconds a statement may take before the watchdog interrupts it."""
_WATCH_INTERVAL = 0.5
_watched: weakref.WeakSet[Reader] = weakref.WeakSet()
_interrupted: set[int] = set()
_watch_lock = threading.Lock()
_watchdog: threading.Thread | None = None

observe: Callable[[str, float, int | None], None] | None = None
"""Called after each statement with its SQL (without values), the seconds it took, and its rows
(None if it failed)."""


def _watch(reader: Reader) -> None:
    """Let the watchdog check a reader; its thread ends when no reader is open."""
    global _watchdog
    with _watch_lock:
        _watched.add(reader)
        if (
            _watchdog is None or not _watchdog.is_alive()
        ):  # it is not alive in the child of a fork either
            _watchdog = threading.Thread(
                target=_interrupt_late_statements, name="watchdog", daemon=True
            )
            _watchdog.start()


def _interrupt_late_statements() -> None:
    global _watchdog
    while True:
        time.sleep(_WATCH_INTERVAL)
        with _watch_lock:
            if not _watched:
                _watchdog = None
                return
            statements = [
                (reader, reader.began) for reader in _watched
            ]  # read once: it may end at any moment
        for reader, began in statements:
            if began and (reader.is_stopped or time.monotonic() - began > TIME_LIMIT):
                reader.time_out(began)


def interrupt_readers(thread: int) -> None:
    """Interrupt the connections that a thread has made, by its identifier, and those it makes until
    `allow_readers`."""
    with _watch_lock:
        _interrupted.add(thread)
        readers = [reader for reader in _watched if reader.thread == thread]
    for reader in readers:
        reader.interrupt()


def allow_readers() -> None:
    """End what `interrupt_readers` has begun for this thread."""
    with _watch_lock:
        _interrupted.discard(threading.get_ident())


def chunks(items: Sequence[_T], size: int) -> Iterator[Sequence[_T]]:
    """Yield items in chunks of at most `size`."""
    return (items[start : start + size] for start in range(0, len(items), size))


def rows_in(
    rows: Callable[[str, list[object]], list[Row]],
    sql: str,
    keys: Sequence[object],
    before: Sequence[object] = (),
) -> list[Row]:
    """Run a statement for many keys, in chunks; see `Reader.rows_in`."""
    found: list[Row] = []
    for chunk in chunks(keys, _CHUNK):
        found.extend(rows(sql.replace("{keys}", ",".join("?" * len(chunk))), [*before, *chunk]))
    return found


class Reader:
    """One open read connection and the schema of its file; used by one thread, interrupted by
    any."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        schema: Schema,
        *,
        snapshot: bool = False,
        of_file: FileCache | None = None,
    ) -> None:
        self._connection = connection
        self.path = path
        """The store."""
        self.schema = schema
        """Columns, tables and search indexes of this file."""
        self.snapshot = snapshot
        """Opened as immutable because nothing else was possible: may miss what is written
        meanwhile."""
        self.of_file = FileCache() if of_file is None else of_file
        """What all readers of the file share."""
        self.index_remedy = ""
        """How to repair the search index, once a search could not use it."""
        self.began = 0.0
        """When the running statement began, by the monotonic clock; 0 when none is running."""
        self._began_lock = threading.Lock()
        self.is_stopped = False
        """Whether it was interrupted, and `begin` was not called since."""
        self._timed_out = False
        self._cache = StoreCache()
        self._version: object = None
        self.statements = 0
        """How many statements ran."""
        self.thread = threading.get_ident()
        """The thread that made it."""
        _watch(self)
        if self.thread in _interrupted:
            self.is_stopped = True

    def rows(self, sql: str, parameters: Sequence[object] | dict[str, object] = ()) -> list[Row]:
        """Run one SELECT or PRAGMA and fetch all of it; no cursor stays open.

        Raises:
            StoreError: With the sentence for what SQLite said.
            QueryInterruptedError: `interrupt` was called.
        """
        return self.collect(sql, parameters, lambda cursor: cursor.fetchall())

    def collect(
        self,
        sql: str,
        parameters: Sequence[object] | dict[str, object],
        take: Callable[[sqlite3.Cursor], list[_T]],
    ) -> list[_T]:
        """Run one statement as `rows` does, and return what `take` makes of its rows."""
        if self._timed_out:
            raise self._too_long()
        self.check()
        self.statements += 1
        if observe is None:
            return self._fetch(sql, parameters, take)
        start = time.perf_counter()
        try:
            rows = self._fetch(sql, parameters, take)
        except StoreError:
            observe(sql, time.perf_counter() - start, None)
            raise
        observe(sql, time.perf_counter() - start, len(rows))
        return rows

    def _fetch(
        self,
        sql: str,
        parameters: Sequence[object] | dict[str, object],
        take: Callable[[sqlite3.Cursor], list[_T]],
    ) -> list[_T]:
        for attempt in range(1, _IOERR_TRIES + 1):
            self.began = time.monotonic()
            try:
                return take(self._connection.execute(sql, parameters))
            except sqlite3.OperationalError as error:
                if self._timed_out:
                    raise self._too_long() from error
                # SQLite does not always say "interrupted": a virtual table that is being set up
                # says that it failed.
                self.check()
                transient = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_IOERR
                if not transient or attempt == _IOERR_TRIES:
                    raise translate(error, self.path) from error
                time.sleep(_IOERR_PAUSE)  # Hermes retries these three times too (0.20)
            except SQLITE_ERRORS as error:
                if not self._timed_out:
                    self.check()
                raise translate(error, self.path) from error
            finally:
                with self._began_lock:
                    self.began = 0.0
        raise AssertionError("unreachable")

    def _too_long(self) -> StoreDamagedError:
        return StoreDamagedError(
            _("{path} could not be read: a query took longer than {seconds:.0f} seconds.").format(
                path=self.path, seconds=TIME_LIMIT
            ),
            remedy=_("The file may be damaged, or the disk very slow. Reading a copy may work."),
        )

    def time_out(self, began: float) -> None:
        """Interrupt the statement that began at a time, unless it has ended; called by the
        watchdog.

        That is one that takes too long, or one that was interrupted just before it began: SQLite
        forgets that (https://sqlite.org/c3ref/interrupt.html).
        """
        with self._began_lock:  # no other statement takes its place meanwhile
            if self.began == began:
                self._timed_out = self._timed_out or not self.is_stopped
                self.interrupt()

    def columns(self, table: str) -> list[str]:
        """Return the names of the columns of a table, in the order of the file; empty if there is
        no such table."""
        return [str(row[1]) for row in self.rows(f"PRAGMA table_info({sql_name(table)})")]

    def value(self, sql: str, parameters: Sequence[object] = ()) -> object:
        """Return the first column of the first row, or None when there is no row."""
        rows = self.rows(sql, parameters)
        return rows[0][0] if rows else None

    def slices(
        self, sql: str, key: str, size: int, parameters: Sequence[object] = ()
    ) -> Iterator[list[Row]]:
        """Yield the rows of a SELECT in slices by a unique integer key, each in one short
        statement.

        Args:
            sql: Ends in WHERE or AND; the key is its first column.
            key: SQL of the key.
            size: The most rows of a slice.
            parameters: Of `sql`.
        """
        sql = f"{sql} {key} > ? ORDER BY {key} LIMIT {size}"
        last: object = -(2**63)
        while rows := self.rows(sql, [*parameters, last]):
            yield rows
            if len(rows) < size:
                return
            last = rows[-1][0]

    def rows_in(self, sql: str, keys: Sequence[object], before: Sequence[object] = ()) -> list[Row]:
        """Run a statement for many keys, in chunks short enough for any SQLite and any lock.

        The placeholders of the keys replace `{keys}` in it (inside `IN (…)`); the values `before`
        are bound ahead.
        """
        return rows_in(self.rows, sql, keys, before)

    def cache(self) -> StoreCache:
        """Return this connection's cache; a new one when the store has changed since the last
        call."""
        version = self.value(DATA_VERSION)
        if version != self._version:
            self._version, self._cache = version, StoreCache()
        return self._cache

    def begin(self) -> None:
        """Start another piece of work: clear an interrupt or a time-out."""
        self.is_stopped = self._timed_out = False

    def check(self) -> None:
        """Raise if `interrupt` was called; for work between statements.

        Raises:
            QueryInterruptedError: It was.
        """
        if self.is_stopped:
            raise QueryInterruptedError(_("The query was interrupted."))

    def interrupt(self) -> None:
        """Stop the running statement and those to come until `begin`, from any thread."""
        self.is_stopped = True
        try:
            self._connection.interrupt()
        except sqlite3.ProgrammingError:
            return  # closed meanwhile: nothing is running

    def close(self) -> None:
        """Close the file."""
        with _watch_lock:
            _watched.discard(self)
        self._cache = StoreCache()
        self._connection.close()
