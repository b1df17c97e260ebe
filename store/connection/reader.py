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
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from ..errors import QueryInterruptedError, StoreDamagedError
from ..wording import _
from .failures import T, patiently, translated
from .schema import Schema

Row = tuple[object, ...]
Parameters = Sequence[object] | dict[str, object]
Stopped = Callable[[], bool]
"""Polled between statements; True ends the work."""
_K = TypeVar("_K")

_CHUNK = 400

SQLITE = sqlite3.sqlite_version
"""The version of the SQLite library in use."""

DATA_VERSION = "PRAGMA data_version"
"""Changes when another connection commits (https://sqlite.org/pragma.html#pragma_data_version)."""
TIME_LIMIT = 60.0
"""Seconds a statement may take before the watchdog interrupts it."""
_WATCH_INTERVAL = 0.5

observe: Callable[[str, float, int | None], None] | None = None
"""Called after each statement with its SQL (without values), the seconds it took, and its rows
(None if it failed)."""

_lock = threading.Lock()
_open: weakref.WeakSet[Reader] = weakref.WeakSet()
_watchdog: threading.Thread | None = None


def _watch(reader: Reader) -> None:
    """Let the watchdog check a reader; its thread ends when no reader is open."""
    global _watchdog
    with _lock:
        _open.add(reader)
        # It is not alive in the child of a fork either.
        if _watchdog is None or not _watchdog.is_alive():
            _watchdog = threading.Thread(target=_interrupt_late, name="watchdog", daemon=True)
            _watchdog.start()


def _interrupt_late() -> None:
    """Interrupt statements that take too long, until no reader is open."""
    global _watchdog
    while True:
        time.sleep(_WATCH_INTERVAL)
        with _lock:
            readers = list(_open)
            if not readers:
                _watchdog = None
                return
        for reader in readers:
            reader.interrupt_late()


def chunks(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield items in chunks of at most `size`."""
    return (items[start : start + size] for start in range(0, len(items), size))


def grouped(items: Iterable[T], key: Callable[[T], _K]) -> dict[_K, list[T]]:
    """Return items by a key of theirs, each group and all of them in the order of the items."""
    groups: dict[_K, list[T]] = {}
    for each in items:
        groups.setdefault(key(each), []).append(each)
    return groups


def rows_in(
    rows: Callable[[str, list[object]], list[Row]],
    sql: str,
    keys: Sequence[object],
    before: Sequence[object] = (),
) -> list[Row]:
    """Run a statement for many keys, in chunks; see `Reader.rows_in`."""
    return [
        row
        for chunk in chunks(keys, _CHUNK)
        for row in rows(sql.replace("{keys}", ",".join("?" * len(chunk))), [*before, *chunk])
    ]


class FileFacts:
    """What is known of a file and outlives its connections.

    All readers of the file share it, on any thread: values are replaced, never changed.
    """

    def __init__(self, key: tuple[int, int]) -> None:
        self.key = key
        """Device and inode of the file."""
        self.schema: tuple[int, Schema] | None = None
        """The schema, and `PRAGMA schema_version` when it was read."""
        self.others: dict[str, Any] = {}
        """By name: each is known to the module that found it."""


class Reader:
    """One open read connection and the schema of its file; used by one thread, interrupted by
    any."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        schema: Schema,
        *,
        snapshot: bool,
        of_file: FileFacts,
        notes: Path | None,
        patience: float,
    ) -> None:
        self._connection, self._patience = connection, patience
        self.path = path
        """The store."""
        self.notes = notes
        """As of the `Store`."""
        self.schema = schema
        """Columns, tables and search indexes of this file."""
        self.snapshot = snapshot
        """Opened as immutable because nothing else was possible: may miss what is written
        meanwhile."""
        self.of_file = of_file
        """What all readers of the file share."""
        self.index_damage = ""
        """What is wrong with the search index, once a search could not use it (`Damage`)."""
        self.is_stopped = False
        """Whether it was interrupted, and `begin` was not called since."""
        self._is_late = False
        self._began: float | None = None
        """When the running statement began, by the monotonic clock."""
        self.kept: dict[object, Any] = {}
        """What is kept for the next search, while the store does not change."""
        self._version: object = None
        _watch(self)

    def rows(self, sql: str, parameters: Parameters = ()) -> list[Row]:
        """Run one SELECT or PRAGMA and fetch all of it; no cursor stays open.

        Raises:
            StoreError: With the sentence for what SQLite said.
            QueryInterruptedError: `interrupt` was called.
        """
        self.check()
        start = time.perf_counter()
        count: int | None = None
        try:
            # SQLite does not always say "interrupted": a virtual table that is being set up says
            # that it failed. So `check` is asked first.
            with translated(self.path):
                rows = patiently(partial(self._fetch, sql, parameters), self._patience, self.check)
            count = len(rows)
            return rows
        finally:
            if observe is not None:
                observe(sql, time.perf_counter() - start, count)

    def _fetch(self, sql: str, parameters: Parameters) -> list[Row]:
        self._began = time.monotonic()
        try:
            return self._connection.execute(sql, parameters).fetchall()
        finally:
            self._began = None

    def value(self, sql: str, parameters: Sequence[object] = ()) -> object:
        """Return the first column of the first row, or None when there is no row."""
        rows = self.rows(sql, parameters)
        return rows[0][0] if rows else None

    def slices(
        self,
        sql: str,
        key: str,
        size: int,
        parameters: Sequence[object] = (),
        after: int | None = None,
    ) -> Iterator[list[Row]]:
        """Yield the rows of a SELECT in slices by a unique integer key, each in one short
        statement.

        Args:
            sql: Ends in WHERE or AND; the key is its first column.
            key: SQL of the key.
            size: The most rows of a slice.
            parameters: Of `sql`.
            after: The key after which to begin.
        """
        sql = f"{sql} {key} > ? ORDER BY {key} LIMIT {size}"
        last: object = -(2**63) if after is None else after
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

    def drop_outdated(self) -> None:
        """Drop what is kept if the store has changed since the last call."""
        version = self.value(DATA_VERSION)
        if version != self._version:
            self._version, self.kept = version, {}

    def begin(self) -> None:
        """Start another piece of work: clear an interrupt or a time-out."""
        self.is_stopped = self._is_late = False

    def check(self) -> None:
        """Raise if `interrupt` was called or a statement took too long; for work between
        statements."""
        if self._is_late:
            raise StoreDamagedError(
                _(
                    "{path} could not be read: a query took longer than {seconds:.0f} seconds.",
                    path=self.path,
                    seconds=TIME_LIMIT,
                ),
                remedy=_(
                    "The file may be damaged, or the disk very slow. Reading a copy may work."
                ),
            )
        if self.is_stopped:
            raise QueryInterruptedError(_("The query was interrupted."))

    def interrupt(self) -> None:
        """Stop the running statement and those to come until `begin`, from any thread."""
        self.is_stopped = True
        with suppress(sqlite3.ProgrammingError):  # closed meanwhile: nothing is running
            self._connection.interrupt()

    def interrupt_late(self) -> None:
        """Interrupt the running statement if it takes too long; called by the watchdog.

        Also one that was interrupted just before it began: SQLite forgets that
        (https://sqlite.org/c3ref/interrupt.html).
        """
        began = self._began
        if began is not None and (self.is_stopped or time.monotonic() - began > TIME_LIMIT):
            self._is_late = self._is_late or not self.is_stopped
            self.interrupt()

    def close(self) -> None:
        """Close the file."""
        with _lock:
            _open.discard(self)
        self.kept = {}
        self._connection.close()
