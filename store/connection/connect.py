"""Short-lived read connections: open, read, close; no handle is held while idle.

Hermes 0.22 counts every process that has the store open as a holder: its prune, optimize and repair
refuse, its index rebuild waits. In DELETE journal mode an open cursor blocks each commit of the
gateway. So a connection lives for a burst of work (`with store.reader()`), every statement is
fetched whole, and between bursts `fingerprint()` notices changes without a handle. The file is
opened through SQLite only: a raw `open()` and `close()` in a process that has a connection drops
the POSIX locks of that connection (https://sqlite.org/howtocorrupt.html, 2.2).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import NamedTuple

from ..errors import (
    Advice,
    NotAStoreError,
    StoreEmptyError,
    StoreMissingError,
    StoreUnreadableError,
)
from ..text import as_text
from ..wording import _
from .failures import opened, patiently, translated
from .reader import FileFacts, Reader
from .schema import read_schema
from .stored_values import has_failed

Fingerprint = tuple[int, ...]


def _facts(path: Path) -> Fingerprint:
    """Return device, inode, mtime and size of a file; zeros if it is missing."""
    try:
        stat = path.stat()
    except OSError:
        return 0, 0, 0, 0
    return stat.st_dev, stat.st_ino, stat.st_mtime_ns, stat.st_size


def _size(path: Path) -> int:
    return _facts(path)[-1]


class RemoteCalls:
    """Calls on a store that is not a file of this machine."""

    def call(self, name: str, values: Mapping[str, object]) -> object:
        """Return the answer of the call of that name there, given its arguments by name."""
        raise NotImplementedError

    def begin(self) -> None:
        """Do the same as `Reader.begin`; nothing where an interrupt ends with the call."""

    def interrupt(self) -> None:
        """Do the same as `Reader.interrupt`."""

    def close(self) -> None:
        """Do the same as `Reader.close`; nothing where nothing is held open."""


class Store:
    """A store by the path of its database file: holds no handle; all threads share it."""

    is_several = False
    """Whether it is several stores as one: no hit has a position to read on from."""

    def __init__(self, path: Path, busy_seconds: float = 5.0, *, notes: Path | None = None) -> None:
        self.path = path
        self.notes = notes
        """The file of tags and read marks (`notes/`); None for a store that has none."""
        self.busy_seconds = busy_seconds
        """How long opening, and each statement, waits for a writer; Hermes' own readers wait as
        long (0.20)."""
        self.on_wait: Callable[[], None] = lambda: None
        """Called when a write begins to wait for other writers, on its thread."""
        self._file = FileFacts((0, 0))
        """What readers share of the file."""

    @property
    def real_path(self) -> str:
        """The path without symbolic links: SQLite keeps its files beside their target."""
        return os.path.realpath(self.path)

    @property
    def wal_path(self) -> Path:
        """Path of the write-ahead log, which may not exist."""
        return Path(f"{self.real_path}-wal")

    @property
    def journal_path(self) -> Path:
        """Path of the rollback journal of DELETE mode: exists during a write, and after a crash in
        one."""
        return Path(f"{self.real_path}-journal")

    def remote_calls(self) -> RemoteCalls | None:
        """Return what carries out the calls elsewhere, so that nothing here may write to the store;
        None for a store of this machine."""
        return None

    def fingerprint(self) -> Fingerprint:
        """Return device, inode, mtime and size of the database and of its log; zeros for a file
        that is missing.

        It changes when the store may have changed: in WAL mode every commit moves the log's mtime,
        in DELETE mode the database's; a replaced file has another inode. Takes microseconds and
        needs no handle.
        """
        return _facts(self.path) + _facts(self.wal_path)

    def sizes(self) -> tuple[int, int]:
        """Return the bytes of the database and of its log; 0 for what is missing, or not known."""
        return _size(self.path), _size(self.wal_path)

    def check(self) -> tuple[int, int]:
        """Check, without opening it, that the store can be opened; return device and inode.

        Raises:
            StoreError: The file is missing, unreachable, a folder, a pipe, a device, or empty.
        """
        try:
            stat = self.path.stat()
            is_folder = S_ISDIR(stat.st_mode)
            if is_folder:
                os.scandir(self.path).close()  # whether it can be read is said first
        except FileNotFoundError:
            raise StoreMissingError(
                _("There is no session store at {path}.", path=self.path),
                remedy=_("Start Hermes once."),
                advice=Advice.OPEN_ANOTHER,
            ) from None
        except OSError as error:
            is_below_file = isinstance(error, NotADirectoryError)  # a file named as a Hermes root
            raise StoreUnreadableError(
                _("{path} cannot be reached: {reason}.", path=self.path, reason=error.strerror),
                remedy="" if is_below_file else _("Check its permissions."),
                advice=Advice.NAME_FILE_OR_ROOT if is_below_file else Advice.NONE,
            ) from error
        if not S_ISREG(stat.st_mode):
            sentence = _("{path} is a folder.") if is_folder else _("{path} is no regular file.")
            raise NotAStoreError(sentence.format(path=self.path), advice=Advice.NAME_FILE_OR_ROOT)
        if not stat.st_size and not _size(self.wal_path):
            raise StoreEmptyError(
                _("{path} is empty: Hermes has not written to it yet.", path=self.path),
                remedy=_("Start a chat in Hermes."),
                advice=Advice.START_CHAT,
            )
        return stat.st_dev, stat.st_ino

    def open(self) -> Reader:
        """Open a read connection; prefer `reader()`, which closes it.

        Raises:
            StoreError: The store cannot be read.
        """
        key, of_file = self.check(), self._file
        if of_file.key != key:  # a file that replaced it starts with nothing
            of_file = self._file = FileFacts(key)
        try:
            return self._open("ro", of_file)
        except StoreUnreadableError:
            # SQLite wants to create -wal and -shm in a folder we may not write to. The file itself
            # is readable unless a log holds newer rows (https://sqlite.org/wal.html, 5) or a
            # journal the older half of a write (https://sqlite.org/lockingv3.html, 4).
            if _size(self.journal_path) or _size(self.wal_path):
                raise
            return self._open("ro&immutable=1", of_file, snapshot=True)

    def _open(self, mode: str, of_file: FileFacts, *, snapshot: bool = False) -> Reader:
        def connect() -> Reader:
            connection = opened(self.path, mode, 0.0)
            try:
                connection.execute("PRAGMA temp_store=MEMORY")
                # One lock for all that is read: a writer in DELETE mode lets others in rarely.
                connection.execute("BEGIN")
                cookie = int(connection.execute("PRAGMA schema_version").fetchone()[0])
                if of_file.schema is None or of_file.schema[0] != cookie:
                    of_file.schema = cookie, read_schema(connection, self.path)
                schema = of_file.schema[1]
                for view in schema.views():
                    connection.execute(view)
                connection.execute("COMMIT")
                connection.create_function("has_failed", 2, has_failed, deterministic=True)
                connection.execute("PRAGMA query_only=1")
            except BaseException:
                connection.close()
                raise
            return Reader(
                connection,
                self.path,
                schema,
                snapshot=snapshot,
                of_file=of_file,
                notes=self.notes,
                patience=self.busy_seconds,
            )

        with translated(self.path):
            return patiently(connect, self.busy_seconds)

    def reader(self) -> closing[Reader]:
        """Open a read connection for a burst of work; it is closed at the end of the block."""
        return closing(self.open())


# Other files name the store that their rows belong to: by its id, or by its path without one

OWN = "CASE WHEN instance IS NULL OR ?2 IS NULL THEN store = ?1 ELSE instance = ?2 END"
"""Rows of one store, by `Origin.values`; see `Origin.is_same`."""


class Origin(NamedTuple):
    """The store that rows come from."""

    path: str
    instance: str | None
    """`store_instance_id` of `state_meta` (0.22)."""

    def is_same(self, other: Origin) -> bool:
        """Return whether two origins are one store: by their ids, else by their paths."""
        if self.instance is not None and other.instance is not None:
            return self.instance == other.instance
        return os.path.realpath(self.path) == os.path.realpath(other.path)

    def values(self) -> list[str | None]:
        """Return what identifies it in the rows of a file: the columns `store` and `instance`."""
        return [os.path.realpath(self.path), self.instance]


def origin_of(reader: Reader) -> Origin:
    """Describe the store behind a reader."""
    instance = None
    if "state_meta" in reader.schema.tables:
        instance = reader.value(
            "SELECT value FROM state_meta WHERE key = 'store_instance_id' AND typeof(value) = 'text'"
        )
    return Origin(str(reader.path), as_text(instance))
