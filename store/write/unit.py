"""The one place that opens a store for writing: one transaction, inside the life of a reading connection.

The last connection to a store in WAL mode that closes removes the log (https://sqlite.org/wal.html, 2.2). A gateway
whose POSIX locks were dropped does not count as a connection: the log would go from under it, and its next statement
would fail with "disk I/O error" (observed, SQLite 3.40). So a read connection that has read, which holds its shared
lock from then on, is there before the write connection is opened and until it is closed: that one is never the last.
It never checkpoints by itself either; that is Hermes' business.
"""

from __future__ import annotations

import os
import random
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from ..connect import Reader, Row, Store
from ..errors import (
    BrowseError,
    QueryInterruptedError,
    RefusedError,
    StoreBusyError,
    StoreError,
    WriteUnverifiedError,
)
from ..reader import decode
from ..schema import Schema
from ..wording import _
from .failing import CommitFailedError, and_nothing_changed, failure, settle
from .guards import Needs, check_writable

__all__ = ["PATIENCE", "Needs", "Unit", "attempt", "write"]

PATIENCE = 5.0
"""Seconds to wait for other writers."""

_ATTEMPT = 0.2
_PAUSES = (0.02, 0.15)  # as long as Hermes sleeps between its own tries (0.13 to 0.22)

T = TypeVar("T")


def _never() -> bool:
    return False


class Unit:
    """One transaction, given to the work that is done in it.

    Args:
        connection: With the transaction begun.
        path: The store, for sentences.
        schema: What this file has, as the reading connection found it.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path, schema: Schema) -> None:
        self._connection = connection
        self._path = path
        self._before = connection.total_changes
        self.schema = schema
        """Columns, tables and search indexes of this file."""

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[Row]:
        """Run one statement and fetch all of it.

        Args:
            sql: A SELECT or PRAGMA.
            parameters: Values to bind; ids and titles are never part of the statement.

        Raises:
            BrowseError: With the sentence for what SQLite said.
        """
        try:
            return self._connection.execute(sql, parameters).fetchall()
        except sqlite3.Error as error:
            raise failure(error, self._path) from error

    def execute(self, sql: str, parameters: Sequence[object] = ()) -> int:
        """Run one statement that changes rows.

        Args:
            sql: An INSERT, UPDATE or DELETE.
            parameters: Values to bind; ids and titles are never part of the statement.

        Returns:
            How many rows it changed itself, triggers and cascades not counted.

        Raises:
            BrowseError: With the sentence for what SQLite said.
        """
        try:
            return max(0, self._connection.execute(sql, parameters).rowcount)
        except sqlite3.Error as error:
            raise failure(error, self._path) from error

    def changed(self) -> int:
        """Rows changed since the transaction began, those of triggers and cascades included."""
        return self._connection.total_changes - self._before


def write(
    store: Store,
    work: Callable[[Unit], T],
    verify: Callable[[Reader, T], None],
    *,
    needs: Needs | None = None,
    patience: float = PATIENCE,
    stop: Callable[[], bool] = _never,
    foreign_keys: bool = True,
) -> T:
    """Do some work in one transaction, and read back what was committed.

    Args:
        store: The store.
        work: Changes rows; what it raises takes all of it back.
        verify: Reads what was committed and raises WriteUnverifiedError where it is not as it should be.
        needs: What the store must have for this.
        patience: Seconds to wait for other writers.
        stop: Looked at while waiting and before the commit.
        foreign_keys: False for one thing alone, to put back a reference that pointed nowhere before.

    Returns:
        What the work returns.

    Raises:
        RefusedError: It is not safe to write to this store; nothing was changed.
        StoreBusyError: Others did not let go of it in time; nothing was changed.
        BrowseError: Another reason, in its sentence; nothing was changed.
        WriteUnverifiedError: It was committed and does not read back.
        WriteInDoubtError: The commit failed; the sentence says what the store holds now.
    """
    try:
        return attempt(store, work, verify, needs=needs, patience=patience, stop=stop, foreign_keys=foreign_keys)
    except CommitFailedError as failed:
        raise settle(store, failed, verify) from failed


def attempt(
    store: Store,
    work: Callable[[Unit], T],
    verify: Callable[[Reader, T], None],
    *,
    needs: Needs | None = None,
    patience: float = PATIENCE,
    stop: Callable[[], bool] = _never,
    foreign_keys: bool = True,
) -> T:
    """Like `write`, for callers that hold a reader open and must close it before they call `settle`.

    Raises:
        CommitFailedError: The commit failed; all else as of `write`.
    """
    place, has_begun = _place(store.path), False
    try:
        with store.reader() as reader:
            # Opening has read already; this makes sure of it, whatever becomes of that.
            cookie = reader.value("PRAGMA schema_version")
            reader.rows("SELECT 1 FROM sqlite_master LIMIT 1")
            try:
                check_writable(store, reader, needs or Needs())
            except StoreError as error:
                raise and_nothing_changed(error) from error.__cause__
            with _connection(store.path, patience, foreign_keys) as connection:
                _begin(connection, store.path, patience, stop)
                has_begun = True
                try:
                    _check_same(connection, store.path, place, cookie)
                    result = work(Unit(connection, store.path, reader.schema))
                    if stop():
                        raise QueryInterruptedError(_("Stopped. Nothing was changed."))
                    _commit(connection, store.path, result)
                except BaseException:
                    _roll_back(connection)
                    raise
            _verify(reader, store.path, place, verify, result)
    except BaseException:
        if has_begun:  # a journal that was there before is not ours: the store could not have been read
            _finish_rollback(store)
        raise
    return result


def _commit(connection: sqlite3.Connection, path: Path, result: object) -> None:
    """Commit; what SQLite still calls a transaction afterwards is certainly not committed."""
    try:
        connection.execute("COMMIT")
    except BaseException as error:  # a key that interrupts may come before the commit, or behind it
        if connection.in_transaction:
            if isinstance(error, sqlite3.Error):
                raise failure(error, path) from error
            raise
        raise CommitFailedError(result, str(error) or type(error).__name__) from error


def _finish_rollback(store: Store) -> None:
    """Have SQLite take back what a failed write of ours left in a journal: a reader may not, and would be refused."""
    if not _has_journal(store):
        return
    try:
        with _connection(store.path, _ATTEMPT, True) as connection:
            connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()
    except (BrowseError, sqlite3.Error):
        return  # whoever opens it next tries again


def _has_journal(store: Store) -> bool:
    try:
        return store.journal_path.stat().st_size > 0
    except OSError:
        return False


def _place(path: Path) -> tuple[int, int]:
    try:
        found = os.stat(path)
    except OSError:
        return 0, 0
    return found.st_dev, found.st_ino


@contextmanager
def _connection(path: Path, patience: float, foreign_keys: bool) -> Iterator[sqlite3.Connection]:
    """A connection that may write, closed at the end; never makes a file, never moves the log."""
    try:
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=rw",
            uri=True,
            isolation_level=None,
            timeout=min(_ATTEMPT, patience),
            check_same_thread=False,
        )
    except sqlite3.Error as error:
        raise failure(error, path) from error
    try:
        connection.text_factory = decode
        _run(connection, f"PRAGMA foreign_keys={'ON' if foreign_keys else 'OFF'}", path)
        _run(connection, "PRAGMA wal_autocheckpoint=0", path)
        yield connection
    finally:
        connection.close()


def _run(connection: sqlite3.Connection, sql: str, path: Path) -> list[Row]:
    try:
        return connection.execute(sql).fetchall()
    except sqlite3.Error as error:
        raise failure(error, path) from error


def _begin(connection: sqlite3.Connection, path: Path, patience: float, stop: Callable[[], bool]) -> None:
    """Take the write lock in short tries: who waits long in one of them is passed by all who do not."""
    until = time.monotonic() + patience
    while True:
        if stop():
            raise QueryInterruptedError(_("Stopped. Nothing was changed."))
        try:
            _run(connection, "BEGIN IMMEDIATE", path)  # not shown
        except StoreBusyError:
            pause = random.uniform(*_PAUSES)
            if time.monotonic() + pause >= until:
                raise
            time.sleep(pause)
        else:
            break
    # The lock is ours. In DELETE mode the commit still waits for readers, and while it does it lets no new ones in.
    _run(connection, f"PRAGMA busy_timeout={round(patience * 1000)}", path)


def _check_same(connection: sqlite3.Connection, path: Path, place: tuple[int, int], cookie: object) -> None:
    """Whether this is still the file, with the tables, that the guards have looked at."""
    if _place(path) != place:
        raise RefusedError(
            _("{path} was replaced by another file meanwhile. Nothing was changed.").format(path=path),
            remedy=_("Try again."),
        )
    if _run(connection, "PRAGMA schema_version", path)[0][0] != cookie:
        raise RefusedError(
            _("The tables of {path} have just been changed by another process. Nothing was changed.").format(path=path),
            remedy=_("Try again."),
        )


def _roll_back(connection: sqlite3.Connection) -> None:
    """Take the work back; SQLite has done so already after some failures."""
    if connection.in_transaction:
        try:
            connection.execute("ROLLBACK")
        except sqlite3.Error:
            return  # closing the connection takes it back as well


def _verify(reader: Reader, path: Path, place: tuple[int, int], verify: Callable[[Reader, T], None], result: T) -> None:
    if _place(path) != place:
        raise WriteUnverifiedError(
            _("{path} was replaced by another file while it was written to.").format(path=path),
            remedy=_("Look whether it has the change."),
        )
    try:
        verify(reader, result)
    except WriteUnverifiedError:
        raise
    except BrowseError as error:  # a bundle may have become unreadable as well
        raise WriteUnverifiedError(
            _("It was written, but could not be read back: {reason}").format(reason=error.sentence),
            remedy=error.remedy,
        ) from error
