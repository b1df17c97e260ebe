"""The only module that opens a store for writing: one transaction per write, read back after the
commit.

In WAL mode the last connection that closes deletes the log (https://sqlite.org/wal.html, 2.2). A
gateway whose POSIX locks were dropped does not count as a connection: it would lose the log while
it uses it, and its next statement would fail with "disk I/O error" (observed, SQLite 3.40). So a
read connection that holds its shared lock is opened before the write connection and closed after
it: the write connection is never the last one. It never checkpoints either; Hermes does that.

A failed COMMIT may still have changed the store. In WAL mode the frames may be in the log before
the sync fails (observed, SQLite 3.40, EIO from `fdatasync`), and the next process that opens the
store finds a whole transaction. So after an error in COMMIT the store is read again, and the error
says what was found.
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

from ..connection.connect import Store
from ..connection.failures import SQLITE_ERRORS, SqliteError, decode, translate
from ..connection.reader import Reader, Row, rows_in
from ..connection.schema import Schema, read_again
from ..errors import (
    BrowseError,
    QueryInterruptedError,
    RefusedError,
    StoreBusyError,
    StoreError,
    StoreUnreadableError,
    WriteFailedError,
    WriteInDoubtError,
    WriteUnverifiedError,
)
from ..trash.progress import never
from ..wording import _
from .guards import Needs, check_version, check_writable

PATIENCE = 5.0
"""Seconds to wait for other writers."""

_ATTEMPT = 0.2
_PAUSES = (0.02, 0.15)  # as Hermes sleeps between its own attempts (0.13 to 0.22)

_NO_NEEDS = Needs()

T = TypeVar("T")


class Transaction:
    """An open transaction, passed to the work done in it.

    Ids, titles and other stored text are always bound as parameters, never part of a statement.
    Errors of SQLite are raised as BrowseError.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path, schema: Schema) -> None:
        self._connection = connection
        self._path = path
        self.schema = schema
        """Columns, tables and search indexes of this file."""

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[Row]:
        """Run a SELECT or PRAGMA and fetch all its rows."""
        return _run(self._connection, sql, self._path, parameters)

    def rows_in(self, sql: str, keys: Sequence[object], before: Sequence[object] = ()) -> list[Row]:
        """Run a statement for many keys; see `Reader.rows_in`."""
        return rows_in(self.rows, sql, keys, before)

    def execute(self, sql: str, parameters: Sequence[object] = ()) -> int:
        """Run an INSERT, UPDATE or DELETE.

        Returns:
            Number of rows changed by the statement itself, without triggers and cascades.
        """
        try:
            return max(0, self._connection.execute(sql, parameters).rowcount)
        except SQLITE_ERRORS as error:
            raise failure(error, self._path) from error


def write(
    store: Store,
    work: Callable[[Transaction], T],
    verify: Callable[[Reader, T], None],
    *,
    needs: Needs = _NO_NEEDS,
    stop: Callable[[], bool] = never,
) -> T:
    """Run `work` in one transaction, commit, verify what was committed, and return the result of
    `work`.

    Args:
        work: Changes rows; any exception it raises rolls the transaction back.
        verify: Reads what was committed; raises WriteUnverifiedError if it is not as intended.
        needs: Tables and columns that the store must have.
        stop: Polled while waiting for the lock and before the commit; True cancels.

    Raises:
        RefusedError: It is not safe to write to this store; nothing was changed.
        StoreBusyError: Others did not release it in time; nothing was changed.
        BrowseError: Another reason, in its sentence; nothing was changed.
        WriteUnverifiedError: It was committed and does not read back.
        WriteInDoubtError: The commit failed; the sentence says what the store holds now.
    """
    with writing(store, needs=needs) as writer:
        return writer.run(work, verify, stop=stop)


class StoreWriter:
    """A connection for one transaction after another; made by `writing`."""

    def __init__(self, store: Store, reader: Reader, connection: sqlite3.Connection) -> None:
        self._store, self._connection = store, connection
        self._identity = file_identity(store.path)
        self._schema_version = reader.value("PRAGMA schema_version")
        self.reader = reader
        """A connection that only reads, and sees what was committed."""
        self.outside = Transaction(connection, store.path, reader.schema)
        """Statements outside a transaction: TEMP tables, attached files, and questions."""
        self.has_begun = False
        """Whether there was a transaction."""

    def run(
        self,
        work: Callable[[Transaction], T],
        verify: Callable[[Reader, T], None],
        *,
        stop: Callable[[], bool] = never,
    ) -> T:
        """Run one transaction; arguments and errors as of `write`."""
        connection, path = self._connection, self._store.path
        _begin(connection, self._store, stop)
        self.has_begun = True
        try:
            _check_unchanged(connection, path, self._identity, self._schema_version)
            schema = _read_again(connection, path, self.reader.schema)
            check_version(schema)
            result = work(Transaction(connection, path, schema))
            if stop():
                raise QueryInterruptedError(_("Stopped."), is_unchanged=True)
            _commit(connection, path, result, verify)
        except BaseException:
            _roll_back(connection)
            raise
        _verify(self.reader, path, self._identity, verify, result)
        return result


@contextmanager
def writing(
    store: Store,
    *,
    needs: Needs = _NO_NEEDS,
    foreign_keys: bool = True,
    beside: Reader | None = None,
    in_doubt: str = "",
) -> Iterator[StoreWriter]:
    """Open a store for transactions.

    Args:
        needs: Tables and columns that the store must have.
        foreign_keys: False only to restore references whose targets were missing before.
        beside: An open reader of the caller, closed before the store is read again after a failed
            commit.
        in_doubt: The remedy to name after a failed commit; a general one if empty.

    Raises:
        RefusedError: It is not safe to write to this store; nothing was changed.
        WriteInDoubtError: A commit failed; the sentence says what the store holds now.
    """
    if store.is_elsewhere:
        raise RefusedError(
            _("{path} is changed by the hermes-browse of its own machine only.").format(
                path=store.path
            )
        )
    writer: StoreWriter | None = None
    try:
        with store.reader() as reader:
            # Opening has read already; this makes sure that the connection holds its lock, however
            # it was opened.
            reader.rows("SELECT 1 FROM sqlite_master LIMIT 1")
            try:
                check_writable(store, reader, needs)
            except StoreError as error:
                raise _add_nothing_changed(error) from error.__cause__
            with _open_for_writing(store.path, foreign_keys=foreign_keys) as connection:
                writer = StoreWriter(store, reader, connection)
                yield writer
    except CommitFailedError as failed:
        _finish_rollback(store)
        if beside is not None:
            beside.close()
        raise explain_failed_commit(store, failed, in_doubt) from failed
    except BaseException:
        # Only then a journal is ours; with one from before, the store could not have been read.
        if writer is not None and writer.has_begun:
            _finish_rollback(store)
        raise


class CommitFailedError(Exception):
    """COMMIT failed and the transaction is closed; whether it was committed is unknown."""

    def __init__(self, verify: Callable[[Reader], None], reason: str) -> None:
        super().__init__(reason)
        self.verify = verify
        self.reason = reason


def _commit(
    connection: sqlite3.Connection, path: Path, result: T, verify: Callable[[Reader, T], None]
) -> None:
    """Commit; if SQLite still has the transaction open after an error, it is certainly not
    committed."""
    try:
        connection.execute("COMMIT")
    except BaseException as error:  # KeyboardInterrupt may arrive before the commit or after it
        if connection.in_transaction:
            if isinstance(error, SQLITE_ERRORS):
                raise failure(error, path) from error
            raise
        reason = str(error) or type(error).__name__
        raise CommitFailedError(lambda reader: verify(reader, result), reason) from error


def _finish_rollback(store: Store) -> None:
    """Let SQLite roll back the journal that a failed write left, which a read-only connection
    cannot do."""
    try:
        if not store.journal_path.stat().st_size:
            return
        with _open_for_writing(store.path) as connection:
            connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()
    except (BrowseError, OSError, *SQLITE_ERRORS):
        return  # there is no journal, or the next process that opens the store rolls it back


def file_identity(path: Path) -> tuple[int, int]:
    """Return device and inode of a file; zeros if there is none.

    Raises:
        StoreUnreadableError: The system does not tell, which says nothing about the file.
    """
    try:
        stat = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return 0, 0
    except OSError as error:
        raise StoreUnreadableError(
            _("{path} cannot be reached: {reason}.").format(path=path, reason=error.strerror),
            remedy=_("Check its permissions."),
        ) from error
    return stat.st_dev, stat.st_ino


@contextmanager
def _open_for_writing(path: Path, *, foreign_keys: bool = True) -> Iterator[sqlite3.Connection]:
    """Open a connection that may write; it never creates a file and never checkpoints the log."""
    try:
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=rw",
            uri=True,
            isolation_level=None,
            timeout=_ATTEMPT,
            check_same_thread=False,
        )
    except SQLITE_ERRORS as error:
        raise failure(error, path) from error
    try:
        connection.text_factory = decode
        _run(connection, f"PRAGMA foreign_keys={'ON' if foreign_keys else 'OFF'}", path)
        _run(connection, "PRAGMA wal_autocheckpoint=0", path)
        # The journal of a statement would be a temporary file, which stays if the program is killed
        # at that moment.
        _run(connection, "PRAGMA temp_store=MEMORY", path)
        yield connection
    finally:
        connection.close()


def _run(
    connection: sqlite3.Connection, sql: str, path: Path, parameters: Sequence[object] = ()
) -> list[Row]:
    try:
        return connection.execute(sql, parameters).fetchall()
    except SQLITE_ERRORS as error:
        raise failure(error, path) from error


def _begin(connection: sqlite3.Connection, store: Store, stop: Callable[[], bool]) -> None:
    """Take the write lock in short attempts: during one long wait, all other writers would get
    ahead."""
    deadline, is_waiting = time.monotonic() + PATIENCE, False
    while True:
        if stop():
            raise QueryInterruptedError(_("Stopped."), is_unchanged=True)
        try:
            _run(connection, "BEGIN IMMEDIATE", store.path)
        except StoreBusyError:
            if not is_waiting:
                is_waiting = True
                store.on_wait()
            pause = random.uniform(*_PAUSES)
            if time.monotonic() + pause >= deadline:
                raise
            time.sleep(pause)
        else:
            break
    # The lock is held. In DELETE mode the commit still waits for readers and admits no new ones
    # meanwhile.
    _run(connection, f"PRAGMA busy_timeout={round(PATIENCE * 1000)}", store.path)


def _check_unchanged(
    connection: sqlite3.Connection, path: Path, identity: tuple[int, int], schema_version: object
) -> None:
    """Check that file and schema are still those that the guards have checked."""
    if file_identity(path) != identity:
        raise RefusedError(
            _("{path} was replaced by another file meanwhile.").format(path=path),
            remedy=_("Try again."),
            is_unchanged=True,
        )
    if _run(connection, "PRAGMA schema_version", path)[0][0] != schema_version:
        raise RefusedError(
            _("The tables of {path} have just been changed by another process.").format(path=path),
            remedy=_("Try again."),
            is_unchanged=True,
        )


def _read_again(connection: sqlite3.Connection, path: Path, schema: Schema) -> Schema:
    """Return the schema with what rows say of it now: SQLite's number for the tables does not
    change with them."""
    try:
        return read_again(connection, schema)
    except SQLITE_ERRORS as error:
        raise failure(error, path) from error


def _roll_back(connection: sqlite3.Connection) -> None:
    """Roll back, unless SQLite has done so already, as it does after some failures."""
    if connection.in_transaction:
        try:
            connection.execute("ROLLBACK")
        except SQLITE_ERRORS:
            return  # closing the connection rolls back as well


def _verify(
    reader: Reader,
    path: Path,
    identity: tuple[int, int],
    verify: Callable[[Reader, T], None],
    result: T,
) -> None:
    try:
        if file_identity(path) != identity:
            raise WriteUnverifiedError(
                _("{path} was replaced by another file while it was written to.").format(path=path),
                remedy=_("Check whether it has the change."),
            )
        verify(reader, result)
    except WriteUnverifiedError:
        raise
    except BrowseError as error:  # a bundle may have become unreadable as well
        raise WriteUnverifiedError(
            _("It was written, but could not be read back: {reason}").format(reason=error.sentence),
            remedy=error.remedy,
        ) from error


def failure(error: SqliteError, path: Path) -> BrowseError:
    """Translate an error of SQLite into the error for a write that did not happen."""
    if not isinstance(error, sqlite3.Error):
        return _add_nothing_changed(translate(error, path))
    code, said = getattr(error, "sqlite_errorcode", 0) & 0xFF, str(error)
    match code:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreBusyError(
                _("{path} is busy: another process is using it.").format(path=path),
                remedy=_("Try again in a moment."),
                is_unchanged=True,
            )
        case sqlite3.SQLITE_FULL:
            return WriteFailedError(
                _("There is no room left on the disk of {path}.").format(path=path),
                remedy=_("Free some disk space and try again."),
                is_unchanged=True,
            )
        case (
            sqlite3.SQLITE_READONLY
            | sqlite3.SQLITE_CANTOPEN
            | sqlite3.SQLITE_PERM
            | sqlite3.SQLITE_AUTH
        ):
            return RefusedError(
                _("{path} cannot be written to: SQLite says “{said}”.").format(
                    path=path, said=said
                ),
                remedy=_(
                    "Check the permissions of the file, of its folder, and of the -wal and -shm files beside it."
                ),
                is_unchanged=True,
            )
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_INTERRUPT:
            return _add_nothing_changed(translate(error, path))
        case _:
            sentence = _("{path} could not be written to: SQLite says “{said}”.")
            return WriteFailedError(sentence.format(path=path, said=said), is_unchanged=True)


def _add_nothing_changed(error: BrowseError) -> BrowseError:
    error.is_unchanged = True
    return error


def explain_failed_commit(
    store: Store, failed: CommitFailedError, remedy: str = ""
) -> WriteInDoubtError:
    """Read the store again after a failed commit, through a new connection, and return an error
    that says what it has.

    If no other connection is open, opening the store decides whether a log that was not synced is
    kept; otherwise that may be decided later.
    """
    fields = {"path": store.path, "said": failed.reason}
    try:
        with store.reader() as reader:
            failed.verify(reader)
    except WriteUnverifiedError:
        sentence = _(
            "The last step of writing to {path} failed (“{said}”). Read again, the store does not have the change, "
            "but it may still appear when the store is next opened."
        )
    except BrowseError as error:
        fields["reason"] = error.sentence
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
        sentence.format(**fields),
        remedy=remedy or _("Check the disk, then look at the store again before you repeat this."),
    )
