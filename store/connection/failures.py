"""Opening an SQLite file, a store or one of our own, and what SQLite says about one that it cannot
read, as our errors."""

from __future__ import annotations

import errno
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

from ..errors import (
    Advice,
    BrowseError,
    NotAStoreError,
    QueryInterruptedError,
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreUnreadableError,
)
from ..files import write_private
from ..text import one_line
from ..wording import N_, _

SQLITE_ERRORS = (sqlite3.Error, MemoryError, UnicodeDecodeError)
"""All that a call of the sqlite3 module raises because of a file.

A damaged search index makes SQLite ask for any amount of memory, which is refused. A damaged name
in the schema makes a message of SQLite that is not UTF-8, which the module cannot turn into an
error of its own (observed, Python 3.11).
"""
_OWN_PATIENCE = 10.0
"""Seconds to wait for another browser, which holds a file of ours for milliseconds."""
_BUSY_PAUSE = 0.005
_IOERR_TRIES, _IOERR_PAUSE = 3, 0.05  # as Hermes tries it (0.20)
T = TypeVar("T")


class SqliteFailure(NamedTuple):
    """An error for a code of SQLite."""

    kind: type[BrowseError]
    sentence: str
    remedy: str = ""
    advice: Advice = Advice.NONE


_DAMAGED = SqliteFailure(
    StoreDamagedError,
    N_("{path} is damaged: SQLite says “{said}”."),
    N_("Copy the file away first, then try `hermes sessions repair`."),
)
_UNREAD = N_("{path} could not be read: SQLite says “{said}”.")
CLOSED_CODES = (
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_AUTH,
)
"""SQLite may not open the file, or not as it is asked to."""
BUSY_CODES = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
"""Another process, or another connection, holds it."""
Failures = Mapping[int | type[BaseException], SqliteFailure]
"""By code, extended or primary, and by exceptions without one; SQLITE_OK stands for all others."""
READING: Failures = {
    sqlite3.SQLITE_OK: SqliteFailure(StoreError, _UNREAD),
    MemoryError: SqliteFailure(
        StoreDamagedError,
        N_("{path} could not be read: SQLite asked for more memory than there is."),
        N_("The file may be damaged, or this machine short of memory."),
    ),
    UnicodeDecodeError: _DAMAGED,
    **dict.fromkeys(
        BUSY_CODES,
        SqliteFailure(
            StoreBusyError,
            N_("{path} is locked by another process."),
            N_("Hermes may be rewriting it (optimize, VACUUM); try again in a moment."),
        ),
    ),
    **dict.fromkeys(
        CLOSED_CODES,
        SqliteFailure(
            StoreUnreadableError,
            N_("{path} cannot be opened: SQLite says “{said}”."),
            N_(
                "Check the permissions of the file and its folder; beside a -wal file SQLite must be able "
                "to use state.db-shm too. Reading a copy (database and -wal together) always works."
            ),
        ),
    ),
    sqlite3.SQLITE_NOTADB: SqliteFailure(
        NotAStoreError,
        N_("{path} is not a session store: it is no SQLite database, or an encrypted one."),
        advice=Advice.NAME_STORE,
    ),
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    # A process was killed during a write (DELETE mode). SQLite rolls it back for a writer, not for
    # a reader.
    sqlite3.SQLITE_READONLY_ROLLBACK: SqliteFailure(
        StoreUnreadableError,
        N_("{path} is in the middle of an interrupted write."),
        N_(
            "Start a chat in Hermes once: it takes the write back, with the help of the -journal "
            "file beside the store, so leave that where it is. For a file that Hermes does not "
            "open, `sqlite3 FILE .tables` does the same."
        ),
    ),
    sqlite3.SQLITE_IOERR: SqliteFailure(
        StoreUnreadableError,
        _UNREAD,
        N_("If it lies on a network drive, copy it to a local disk."),
        Advice.OPEN_COPY,
    ),
}
"""What a failed read is told as."""


def decode(raw: bytes) -> str:
    """Decode a text of a file that may be damaged: invalid bytes become U+FFFD."""
    return raw.decode("utf-8", "replace")


def uri_of(path: Path, mode: str) -> str:
    """Return the URI of a file, with `ro` or `rw`, and perhaps more parameters
    (https://sqlite.org/uri.html)."""
    return f"{path.absolute().as_uri()}?mode={mode}"


def opened(path: Path, mode: str, patience: float) -> sqlite3.Connection:
    """Open a file that is there; no statement begins a transaction by itself.

    Args:
        path: The file.
        mode: As of `uri_of`.
        patience: Seconds that a statement waits for other processes.
    """
    connection = sqlite3.connect(
        uri_of(path, mode),
        uri=True,
        isolation_level=None,
        timeout=patience,
        check_same_thread=False,
    )
    connection.text_factory = decode
    return connection


@contextmanager
def refused_as(kind: type[BrowseError], path: Path) -> Iterator[None]:
    """Raise what keeps a file of this program from being used in the block as an error of a kind."""
    try:
        yield
    except (OSError, *SQLITE_ERRORS) as error:
        reason = getattr(error, "strerror", None) or error
        raise kind(
            _("{path} cannot be used ({reason}).", path=path, reason=reason),
            remedy=_("Free disk space, or check its permissions; if it is damaged, move it away."),
            is_unchanged=True,
        ) from error


@contextmanager
def own_file(
    path: Path, tables: Sequence[str], kind: type[BrowseError]
) -> Iterator[sqlite3.Connection]:
    """Open an SQLite file of this program, which may be new, or left by a killed process.

    It is opened through SQLite only, as another thread may have it open
    (https://sqlite.org/howtocorrupt.html, 2.2).

    Raises:
        BrowseError: Of that kind: it cannot be used, or SQLite failed in the block.
    """
    with refused_as(kind, path):
        if not path.exists():
            with suppress(FileExistsError):  # another thread was quicker
                write_private(path, "", replace=False)
        if not path.is_file():  # a pipe, which SQLite would wait for
            raise OSError(errno.EINVAL, _("it is no regular file"), str(path))
        with closing(opened(path, "rw", _OWN_PATIENCE)) as connection:
            for statement in tables:
                connection.execute(statement)
            yield connection


def translate(error: Exception, path: Path, failures: Failures = READING) -> BrowseError:
    """Return our error for what SQLite raised on a statement or an open; its sentence names the
    store."""
    extended = getattr(error, "sqlite_errorcode", 0)
    code = extended & 0xFF
    if code == sqlite3.SQLITE_INTERRUPT:
        return QueryInterruptedError(_("The query was interrupted."))
    said = str(error)
    if isinstance(error, UnicodeDecodeError):
        said = one_line(decode(error.object), 200)
    known = map(failures.get, (type(error), extended, code))
    failure = next(filter(None, known), failures[sqlite3.SQLITE_OK])
    sentence = _(failure.sentence, path=path, said=said)
    return failure.kind(sentence, remedy=_(failure.remedy), advice=failure.advice)


@contextmanager
def translated(path: Path, failures: Failures = READING) -> Iterator[None]:
    """Raise what SQLite raises in the block as our error; see `translate`."""
    try:
        yield
    except SQLITE_ERRORS as error:
        raise translate(error, path, failures) from error


def patiently(
    work: Callable[[], T], patience: float, check: Callable[[], object] = lambda: None
) -> T:
    """Return what `work` reads of a file, tried again while another process holds it.

    Where SQLite itself waits, it sleeps for up to a tenth of a second between two tries, and in
    DELETE mode a writer at full speed lets others in for milliseconds only.

    Args:
        work: Does it, outside a transaction, which some errors would end.
        patience: Seconds to wait for other processes.
        check: Raises if the work is to stop; called after each failure.

    Raises:
        SQLITE_ERRORS: As `work` does.
    """
    until, faults = time.monotonic() + patience, 0
    while True:
        try:
            return work()
        except SQLITE_ERRORS as error:
            check()
            code, pause = getattr(error, "sqlite_errorcode", 0) & 0xFF, _BUSY_PAUSE
            is_over = code not in BUSY_CODES or time.monotonic() > until
            if code == sqlite3.SQLITE_IOERR:
                faults, pause = faults + 1, _IOERR_PAUSE
                is_over = faults == _IOERR_TRIES
            if is_over:
                raise
        time.sleep(pause)
