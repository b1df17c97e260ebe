"""The one place that opens a store for writing: one transaction, read back once it is committed.

The last connection to a store in WAL mode that closes removes the log (https://sqlite.org/wal.html, 2.2). A gateway
whose POSIX locks were dropped does not count as a connection: the log would go from under it, and its next statement
would fail with "disk I/O error" (observed, SQLite 3.40). So a read connection that has read, and holds its shared lock
from then on, is opened before the write connection and closed after it: the write connection is never the last one. It
never checkpoints by itself either; that is Hermes' business.

A commit that fails is not a commit that did nothing. In WAL mode the frames may be in the log before the sync fails
(observed, SQLite 3.40, EIO from `fdatasync`), and the next process that opens the store finds a whole transaction. So
after an error in COMMIT the store is read again, and the sentence says what was found.
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

from ..connection.connect import Reader, Row, Store
from ..connection.reader import decode, rows_in, translate
from ..connection.schema import Schema
from ..errors import (
    BrowseError,
    QueryInterruptedError,
    RefusedError,
    StoreBusyError,
    StoreError,
    WriteFailedError,
    WriteInDoubtError,
    WriteUnverifiedError,
)
from ..trash.progress import never
from ..wording import _
from .guards import Needs, check_writable

__all__ = ["PATIENCE", "Needs", "Transaction", "write"]

PATIENCE = 5.0
"""Seconds to wait for other writers."""

_ATTEMPT = 0.2
_PAUSES = (0.02, 0.15)  # as long as Hermes sleeps between its own tries (0.13 to 0.22)

T = TypeVar("T")


class Transaction:
    """One transaction, passed to the work that is done in it.

    Args:
        connection: With the transaction begun.
        path: The store, for sentences.
        schema: What this file has, as the reading connection found it.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path, schema: Schema) -> None:
        self._connection = connection
        self._path = path
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
        return _run(self._connection, sql, self._path, parameters)

    def rows_in(self, sql: str, keys: Sequence[object], before: Sequence[object] = ()) -> list[Row]:
        """Run a statement for many keys; see `Reader.rows_in`."""
        return rows_in(self.rows, sql, keys, before)

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


def write(
    store: Store,
    work: Callable[[Transaction], T],
    verify: Callable[[Reader, T], None],
    *,
    needs: Needs | None = None,
    patience: float = PATIENCE,
    stop: Callable[[], bool] = never,
    foreign_keys: bool = True,
    beside: Reader | None = None,
    in_doubt: str = "",
) -> T:
    """Do some work in one transaction, and read back what was committed.

    Args:
        store: The store.
        work: Changes rows; whatever it raises takes all of it back.
        verify: Reads what was committed and raises WriteUnverifiedError where it is not as it should be.
        needs: What the store must have for this.
        patience: Seconds to wait for other writers.
        stop: Asked while waiting and before the commit.
        foreign_keys: False for one thing alone, to put back a reference that pointed nowhere before.
        beside: A reader that the caller has open; it is closed before the store is read again after a failed commit.
        in_doubt: What to do when the commit failed; a general remedy where not given.

    Returns:
        What the work returns.

    Raises:
        RefusedError: It is not safe to write to this store; nothing was changed.
        StoreBusyError: Others did not release it in time; nothing was changed.
        BrowseError: Another reason, in its sentence; nothing was changed.
        WriteUnverifiedError: It was committed and does not read back.
        WriteInDoubtError: The commit failed; the sentence says what the store holds now.
    """
    place, has_begun = place_of(store.path), False
    try:
        with store.reader() as reader:
            # Opening has read already; this makes sure that the connection holds its lock, however it was opened.
            cookie = reader.value("PRAGMA schema_version")
            reader.rows("SELECT 1 FROM sqlite_master LIMIT 1")
            try:
                check_writable(store, reader, needs or Needs())
            except StoreError as error:
                raise _and_nothing_changed(error) from error.__cause__
            with _connection(store.path, patience, foreign_keys) as connection:
                _begin(connection, store.path, patience, stop)
                has_begun = True
                try:
                    _check_same(connection, store.path, place, cookie)
                    result = work(Transaction(connection, store.path, reader.schema))
                    if stop():
                        raise QueryInterruptedError(_("Stopped. Nothing was changed."))
                    _commit(connection, store.path, result)
                except BaseException:
                    _roll_back(connection)
                    raise
            _verify(reader, store.path, place, verify, result)
    except _CommitFailedError as failed:
        _finish_rollback(store)
        if beside is not None:
            beside.close()
        raise settle(store, failed, verify, in_doubt) from failed
    except BaseException:
        if has_begun:  # a journal that was there before is not ours: the store could not have been read
            _finish_rollback(store)
        raise
    return result


class _CommitFailedError(Exception):
    """COMMIT raised, and the transaction is over: nobody knows yet how it ended.

    Args:
        result: What the work returned.
        reason: What was raised, in a few words.
    """

    def __init__(self, result: object, reason: str) -> None:
        super().__init__(reason)
        self.result = result
        self.reason = reason


def _commit(connection: sqlite3.Connection, path: Path, result: object) -> None:
    """Commit; a transaction that SQLite still has open after an error is certainly not committed."""
    try:
        connection.execute("COMMIT")
    except BaseException as error:  # a key that interrupts may come before the commit, or behind it
        if connection.in_transaction:
            if isinstance(error, sqlite3.Error):
                raise failure(error, path) from error
            raise
        raise _CommitFailedError(result, str(error) or type(error).__name__) from error


def _finish_rollback(store: Store) -> None:
    """Let SQLite take back what a failed write of ours left in a journal, which readers may not do."""
    try:
        if not store.journal_path.stat().st_size:
            return
        with _connection(store.path, _ATTEMPT, True) as connection:
            connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()
    except (BrowseError, OSError, sqlite3.Error):
        return  # there is no journal, or whoever opens the store next tries again


def place_of(path: Path) -> tuple[int, int]:
    """Return device and inode of a file, zeros where there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return 0, 0
    return found.st_dev, found.st_ino


@contextmanager
def _connection(path: Path, patience: float, foreign_keys: bool) -> Iterator[sqlite3.Connection]:
    """Open a connection that may write, and close it at the end; it never makes a file and never moves the log."""
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


def _run(connection: sqlite3.Connection, sql: str, path: Path, parameters: Sequence[object] = ()) -> list[Row]:
    try:
        return connection.execute(sql, parameters).fetchall()
    except sqlite3.Error as error:
        raise failure(error, path) from error


def _begin(connection: sqlite3.Connection, path: Path, patience: float, stop: Callable[[], bool]) -> None:
    """Take the write lock in short tries: a writer that waits long in one of them is overtaken by all others."""
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
    """Check that this is still the file, with the tables, that the guards looked at."""
    if place_of(path) != place:
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
    """Take the work back, unless SQLite has done so already, as it does after some failures."""
    if connection.in_transaction:
        try:
            connection.execute("ROLLBACK")
        except sqlite3.Error:
            return  # closing the connection takes it back as well


def _verify(reader: Reader, path: Path, place: tuple[int, int], verify: Callable[[Reader, T], None], result: T) -> None:
    if place_of(path) != place:
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


def failure(error: sqlite3.Error, path: Path) -> BrowseError:
    """Translate what SQLite raised into the sentence for a write that did not happen.

    Args:
        error: What SQLite raised.
        path: The store.
    """
    code, said = getattr(error, "sqlite_errorcode", 0) & 0xFF, str(error)
    match code:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreBusyError(
                _("{path} is busy: another process is using it; nothing was changed.").format(path=path),
                remedy=_("Try again in a moment."),
            )
        case sqlite3.SQLITE_FULL:
            return WriteFailedError(
                _("There is no room left on the disk of {path}. Nothing was changed.").format(path=path),
                remedy=_("Make some room and try again."),
            )
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH:
            return RefusedError(
                _("{path} cannot be written to: SQLite says “{said}”. Nothing was changed.").format(
                    path=path, said=said
                ),
                remedy=_("Check the permissions of the file, of its folder, and of the -wal and -shm files beside it."),
            )
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_INTERRUPT:
            return _and_nothing_changed(translate(error, path))
        case _:
            sentence = _("{path} could not be written to: SQLite says “{said}”. Nothing was changed.")
            return WriteFailedError(sentence.format(path=path, said=said))


def _and_nothing_changed(error: BrowseError) -> BrowseError:
    error.sentence = _("{sentence} Nothing was changed.").format(sentence=error.sentence)
    return error


def settle(
    store: Store, failed: _CommitFailedError, verify: Callable[[Reader, T], None], remedy: str = ""
) -> WriteInDoubtError:
    """Read the store again after a failed commit, through a new connection, and say what it holds.

    Where no other connection is open, opening it decides what becomes of a log that was not synced; else that may
    happen later.

    Args:
        store: The store.
        failed: What became of the commit.
        verify: As it was given with the work.
        remedy: What to do; a general one where not given.
    """
    told = {"path": store.path, "said": failed.reason}
    try:
        with store.reader() as reader:
            verify(reader, failed.result)  # type: ignore[arg-type]
    except WriteUnverifiedError:
        sentence = _(
            "The last step of writing to {path} failed (“{said}”). Read again, the store does not have the change, "
            "but it may still appear when the store is next opened."
        )
    except BrowseError as error:
        told["reason"] = error.sentence
        sentence = _(
            "The last step of writing to {path} failed (“{said}”). The store could not be read again, so it is not "
            "known whether it has the change: {reason}"
        )
    else:
        sentence = _(
            "The last step of writing to {path} failed (“{said}”). Read again, the store has the change, but the disk "
            "may not keep it."
        )
    return WriteInDoubtError(
        sentence.format(**told),
        remedy=remedy or _("Check the disk, then look at the store again before you repeat this."),
    )
