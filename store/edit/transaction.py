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

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from ..connection.connect import Store
from ..connection.failures import (
    CLOSED_CODES,
    READING,
    SQLITE_ERRORS,
    Failures,
    SqliteFailure,
    T,
    opened,
    patiently,
    translated,
)
from ..connection.reader import DATA_VERSION, Reader, Row
from ..connection.schema import read_again
from ..errors import (
    BrowseError,
    RefusedError,
    StoreBusyError,
    WriteFailedError,
    WriteInDoubtError,
    WriteUnverifiedError,
)
from ..wording import N_, _
from .guards import check_version, check_writable

PATIENCE = 5.0
"""Seconds to wait for other writers."""
_ATTEMPT = 0.2
"""Seconds that SQLite itself waits, of these."""
_OTHER = SqliteFailure(
    WriteFailedError, N_("{path} could not be written to: SQLite says “{said}”.")
)
_WRITING: Failures = {
    **READING,
    **dict.fromkeys(
        CLOSED_CODES,
        SqliteFailure(
            RefusedError,
            N_("{path} cannot be written to: SQLite says “{said}”."),
            N_(
                "Check the permissions of the file, of its folder, and of the -wal and -shm files beside it."
            ),
        ),
    ),
    sqlite3.SQLITE_FULL: SqliteFailure(
        WriteFailedError,
        N_("There is no room left on the disk of {path}."),
        N_("Free some disk space and try again."),
    ),
    sqlite3.SQLITE_IOERR: _OTHER,
    sqlite3.SQLITE_OK: _OTHER,
}
"""What a write that did not happen is told as; as a read where SQLite says the same to both."""


class Writer:
    """A connection for one transaction after another; made by `writing`.

    Ids, titles and other stored text are always bound as parameters, never part of a statement.
    Errors of SQLite are raised as BrowseError.
    """

    def __init__(self, store: Store, reader: Reader, connection: sqlite3.Connection) -> None:
        self._store, self._connection = store, connection
        self._identity = store.check()
        self._cookie = reader.value("PRAGMA schema_version")
        self.reader = reader
        """A connection that only reads, and sees what was committed."""
        self.schema = reader.schema
        """Columns, tables and search indexes of this file."""
        self.has_written = False
        """Whether anything was committed, or may have been."""

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[Row]:
        """Run a statement and fetch all its rows; outside a transaction, wait for other writers."""

        def fetch() -> list[Row]:
            return self._connection.execute(sql, parameters).fetchall()

        with translated(self._store.path, _WRITING):
            return fetch() if self._connection.in_transaction else patiently(fetch, PATIENCE)

    def execute(self, sql: str, parameters: Sequence[object] = ()) -> int:
        """Run an INSERT, UPDATE or DELETE; return how many rows it changed by itself, without
        triggers and cascades."""
        with translated(self._store.path, _WRITING):
            return self._connection.execute(sql, parameters).rowcount

    def version(self) -> object:
        """Return a number that changes when another process commits."""
        return self.rows(DATA_VERSION)

    def run(self, work: Callable[[Writer], T], verify: Callable[[Reader, T], None]) -> T:
        """Run `work` in one transaction, commit, verify what was committed, and return the result
        of `work`.

        Args:
            work: Changes rows; any exception it raises rolls the transaction back.
            verify: Reads what was committed; raises WriteUnverifiedError if it is not as intended.

        Raises:
            BrowseError: With the reason, such as StoreBusyError; nothing was changed.
            WriteUnverifiedError: It was committed and does not read back.
            WriteInDoubtError: The commit failed; the sentence says what the store holds now. There
                can be no further transaction.
        """

        self._begin()
        try:
            self._check_unchanged()
            result = work(self)
        except BaseException:
            self._roll_back()
            raise
        self._commit(lambda reader: verify(reader, result))
        return result

    def _begin(self) -> None:
        """Take the write lock in short attempts: during one long wait, all other writers would get
        ahead."""
        self._wait(_ATTEMPT)
        try:
            self.execute("BEGIN IMMEDIATE")
        except StoreBusyError:
            self._store.on_wait()
            self.rows("BEGIN IMMEDIATE")
        # The lock is held. In DELETE mode the commit still waits for readers and admits no new ones
        # meanwhile.
        self._wait(PATIENCE)

    def _wait(self, seconds: float) -> None:
        """Let SQLite itself wait so long for other processes."""
        self.execute(f"PRAGMA busy_timeout={round(seconds * 1000)}")

    def _check_unchanged(self) -> None:
        """Check that file and tables are still those that the guards have checked; read again what
        rows say of the schema, because SQLite's number for the tables does not change with them."""
        path = self._store.path
        if self._store.check() != self._identity:
            raise RefusedError(
                _("{path} was replaced by another file meanwhile.", path=path),
                remedy=_("Try again."),
            )
        if self.rows("PRAGMA schema_version")[0][0] != self._cookie:
            raise RefusedError(
                _("The tables of {path} have just been changed by another process.", path=path),
                remedy=_("Try again."),
            )
        with translated(path, _WRITING):
            self.schema = read_again(self._connection, self.schema)
        check_version(self.schema)

    def _roll_back(self) -> None:
        """Roll back, unless SQLite has done so already, as it does after some failures."""
        with suppress(*SQLITE_ERRORS):  # closing the connection rolls back as well
            self._connection.rollback()

    def _commit(self, verify: Callable[[Reader], None]) -> None:
        """Commit, and verify what was committed; if SQLite still has the transaction open after an
        error, it is certainly not committed."""
        try:
            self._connection.execute("COMMIT")
        except BaseException as error:  # KeyboardInterrupt may arrive before the commit or after it
            if self._connection.in_transaction:
                self._roll_back()
                with translated(self._store.path, _WRITING):
                    raise
            self.has_written = True
            # If no other connection is open, opening the store decides whether a log that was not
            # synced is kept; otherwise that may be decided later.
            self._connection.close()
            self.reader.close()
            _finish_rollback(self._store)
            said = str(error) or type(error).__name__
            raise _explain(self._store, said, verify) from error
        self.has_written = True
        try:
            if self._store.check() != self._identity:
                raise WriteUnverifiedError(
                    _(
                        "{path} was replaced by another file while it was written to.",
                        path=self._store.path,
                    ),
                    remedy=_("Check whether it has the change."),
                )
            verify(self.reader)
        except WriteUnverifiedError:
            raise
        except BrowseError as error:  # a bundle may have become unreadable as well
            raise unverified(error) from error


@contextmanager
def writing(store: Store, tables: Iterable[str]) -> Iterator[Writer]:
    """Open a store for transactions; an error in the block says that nothing was changed if, and only
    if, that is so.

    Args:
        store: A store of this machine.
        tables: Those that are written to, as of `check_triggers`.

    Raises:
        RefusedError: It is not safe to write to this store; nothing was changed.
    """
    with store.reader() as reader:
        try:
            check_writable(store, reader, tables)  # it reads: now this connection holds its lock
            connection = _open_for_writing(store.path)
        except BrowseError as error:
            error.is_unchanged = True
            raise
        with closing(connection):
            writer = Writer(store, reader, connection)
            try:
                yield writer
            except BaseException as error:
                if isinstance(error, BrowseError):
                    error.is_unchanged = not writer.has_written
                connection.close()
                # A journal is ours: with one from before, the store could not have been read.
                _finish_rollback(store)
                raise


def _finish_rollback(store: Store) -> None:
    """Let SQLite roll back the journal that a failed write left, which a read-only connection
    cannot do; without one, the next process that opens the store does."""
    with suppress(BrowseError, OSError, *SQLITE_ERRORS):
        if store.journal_path.stat().st_size:
            with closing(_open_for_writing(store.path)) as connection:
                connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()


def _open_for_writing(path: Path) -> sqlite3.Connection:
    """Open a connection that may write; it never creates a file and never checkpoints the log."""
    with translated(path, _WRITING):
        connection = opened(path, "rw", _ATTEMPT)
        # The journal of a statement would be a temporary file, which stays if the program is killed
        # at that moment.
        connection.executescript(
            "PRAGMA foreign_keys=1; PRAGMA wal_autocheckpoint=0; PRAGMA temp_store=MEMORY"
        )
        return connection


def unverified(error: BrowseError) -> WriteUnverifiedError:
    """Return the error for a change that was written, and then could not be read."""
    error.is_unchanged = False
    return WriteUnverifiedError(
        _("It was written, but could not be read back: {reason}", reason=error.sentence),
        remedy=error.remedy,
    )


def _explain(store: Store, said: str, verify: Callable[[Reader], None]) -> WriteInDoubtError:
    """Read the store again after a failed commit, through a new connection, and return an error
    that says what it has."""
    reason = ""
    try:
        with store.reader() as reader:
            verify(reader)
        sentence = _(
            "The last step of writing to {path} failed (“{said}”). Read again, the store has the change, but the disk "
            "may not keep it."
        )
    except WriteUnverifiedError:
        sentence = _(
            "The last step of writing to {path} failed (“{said}”). Read again, the store does not have the change, "
            "but it may still appear when the store is next opened."
        )
    except BrowseError as error:
        reason = error.sentence
        sentence = _(
            "The last step of writing to {path} failed (“{said}”). The store could not be read again, so it is not "
            "known whether it has the change: {reason}"
        )
    return WriteInDoubtError(
        sentence.format(path=store.path, said=said, reason=reason),
        remedy=_("Check the disk, then look at the store again before you repeat this."),
    )
