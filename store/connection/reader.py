"""One open read connection: statements fetched whole, interrupted from any thread, every failure a sentence."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from ..errors import (
    NotAStoreError,
    QueryInterruptedError,
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreUnreadableError,
)
from ..wording import _
from . import time_limit as fuse
from .schema import Schema

Row = tuple[object, ...]
_Kept = TypeVar("_Kept")

_IOERR_TRIES = 3
_IOERR_PAUSE = 0.05
_CHUNK = 400

SQLITE = sqlite3.sqlite_version
"""The version of the SQLite that reads."""

observe: Callable[[str, float, int | None], None] | None = None
"""Is told of each statement as it stands, without values: seconds it took, and rows, None where it failed."""


def decode(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def translate(error: sqlite3.Error, path: Path) -> StoreError | QueryInterruptedError:
    """The sentence for what SQLite said.

    Args:
        error: What a statement or an open raised.
        path: The store, for the sentence.
    """
    extended = getattr(error, "sqlite_errorcode", 0)
    code, said = extended & 0xFF, str(error)
    if code == sqlite3.SQLITE_INTERRUPT:
        return QueryInterruptedError(_("The query was interrupted."))
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreBusyError(
            _("{path} is locked by another process.").format(path=path),
            remedy=_("Hermes may be rewriting it (optimize, VACUUM); try again in a moment."),
        )
    if code == sqlite3.SQLITE_NOTADB:
        return NotAStoreError(
            _("{path} is not a session store: it is no SQLite database, or an encrypted one.").format(path=path),
            remedy=_("Name a Hermes state.db with --db, or its folder with --home."),
        )
    if code == sqlite3.SQLITE_CORRUPT:
        return StoreDamagedError(
            _("{path} is damaged: SQLite says “{said}”.").format(path=path, said=said),
            remedy=_("Copy the file away first, then try `hermes sessions repair`."),
        )
    if extended == sqlite3.SQLITE_READONLY_ROLLBACK:
        # A process was killed within a write (DELETE mode). SQLite takes it back for whoever may write, not for us.
        return StoreUnreadableError(
            _("{path} is in the middle of a write that was broken off.").format(path=path),
            remedy=_(
                "Start a chat in Hermes once: it takes the write back, with the help of the -journal file beside the "
                "store, so leave that where it is. For a file that Hermes does not open, `sqlite3 FILE .tables` does "
                "the same."
            ),
        )
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH):
        return StoreUnreadableError(
            _("{path} cannot be opened: SQLite says “{said}”.").format(path=path, said=said),
            remedy=_(
                "Check the permissions of the file and its folder; beside a -wal file SQLite must be able "
                "to use state.db-shm too. Reading a copy (database and -wal together) always works."
            ),
        )
    unread = _("{path} could not be read: SQLite says “{said}”.").format(path=path, said=said)
    if code == sqlite3.SQLITE_IOERR:
        return StoreUnreadableError(
            unread, remedy=_("If it lies on a network drive, copy it to a local disk and name the copy with --db.")
        )
    return StoreError(unread)


def rows_in(
    rows: Callable[[str, list[object]], list[Row]], sql: str, keys: Sequence[object], before: Sequence[object] = ()
) -> list[Row]:
    """Run a statement for many keys, in chunks; see `Reader.rows_in`."""
    found: list[Row] = []
    for start in range(0, len(keys), _CHUNK):
        chunk = keys[start : start + _CHUNK]
        found.extend(rows(sql.replace("{keys}", ",".join("?" * len(chunk))), [*before, *chunk]))
    return found


class Reader:
    """One open read connection and what this file has; for one thread, but `interrupt` from any."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        schema: Schema,
        *,
        snapshot: bool = False,
        shared: dict[type, object] | None = None,
    ) -> None:
        self._connection = connection
        self.path = path
        """The store."""
        self.schema = schema
        """Columns, tables and search indexes of this file."""
        self.snapshot = snapshot
        """Opened as immutable because nothing else was possible: may miss what is written meanwhile."""
        self.shared: dict[type, object] = {} if shared is None else shared
        """What was found out about the file and outlives this connection, by its type; each piece says how it is kept
        up to date. Values are never changed, only replaced: other threads read them."""
        self.index_remedy = ""
        """What mends the search index, once a search has had to do without it."""
        self._stopped = False
        self.began = 0.0
        """When the statement in flight began, by the monotonic clock; 0 when there is none."""
        self._is_blown = False
        self._landing = threading.Lock()
        fuse.watch(self)
        self._vocabularies: set[str] = set()
        self._terms: dict[tuple[object, ...], list[str]] = {}
        self._ranges: dict[tuple[object, ...], bool] = {}
        self._kept: dict[object, object] = {}
        self.statements = 0
        """How many statements ran; tests count them."""

    def rows(self, sql: str, parameters: Sequence[object] | dict[str, object] = ()) -> list[Row]:
        """Run one statement and fetch all of it; no cursor stays open.

        Args:
            sql: One SELECT or PRAGMA.
            parameters: Values to bind.

        Raises:
            StoreError: With the sentence for what SQLite said.
            QueryInterruptedError: `interrupt` was called.
        """
        if self._is_blown:
            raise self._too_long()
        self.check()
        self.statements += 1
        if observe is None:
            return self._fetch(sql, parameters)
        begun = time.perf_counter()
        try:
            found = self._fetch(sql, parameters)
        except StoreError:
            observe(sql, time.perf_counter() - begun, None)
            raise
        observe(sql, time.perf_counter() - begun, len(found))
        return found

    def _fetch(self, sql: str, parameters: Sequence[object] | dict[str, object]) -> list[Row]:
        for attempt in range(1, _IOERR_TRIES + 1):
            self.began = time.monotonic()
            try:
                return self._connection.execute(sql, parameters).fetchall()
            except sqlite3.OperationalError as error:
                if self._connection.text_factory is str and "decode to UTF-8" in str(error):  # not shown
                    # Invalid bytes in this file: decode by hand from here on. It costs a call for each
                    # text, so stores without such bytes are spared it.
                    self._connection.text_factory = decode
                    return self._fetch(sql, parameters)
                if self._is_blown:
                    raise self._too_long() from error
                # SQLite does not always say "interrupted": a virtual table that is being set up says that it failed.
                self.check()
                transient = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_IOERR
                if not transient or attempt == _IOERR_TRIES:
                    raise translate(error, self.path) from error
                time.sleep(_IOERR_PAUSE)  # Hermes retries these three times too (0.20)
            except sqlite3.Error as error:
                if not self._is_blown:
                    self.check()
                raise translate(error, self.path) from error
            finally:
                with self._landing:
                    self.began = 0.0
        raise AssertionError("unreachable")

    def _too_long(self) -> StoreDamagedError:
        return StoreDamagedError(
            _("{path} could not be read: a question took longer than {seconds:.0f} seconds.").format(
                path=self.path, seconds=fuse.SECONDS
            ),
            remedy=_("The file may be damaged, or the disk very slow. Reading a copy may work."),
        )

    def blow(self, began: float) -> None:
        """The fuse: the statement in flight since then has taken too long; called from a thread of its own."""
        with self._landing:  # no other statement takes its place while we look
            if self.began == began:
                self._is_blown = True
                self.interrupt()

    def value(self, sql: str, parameters: Sequence[object] = ()) -> object:
        """The first column of the first row, or None when there is no row."""
        found = self.rows(sql, parameters)
        return found[0][0] if found else None

    def rows_in(self, sql: str, keys: Sequence[object], before: Sequence[object] = ()) -> list[Row]:
        """Run a statement for many keys, in chunks short enough for any SQLite and any lock.

        Args:
            sql: A statement with `{keys}` where the placeholders go (inside `IN (…)`).
            keys: Values for the placeholders.
            before: Values bound ahead of the keys.
        """
        return rows_in(self.rows, sql, keys, before)

    def index_terms(self, index: str, first: str, beyond: str, most: int) -> list[str]:
        """Terms of an FTS5 table from `first` up to but not including `beyond`, in order.

        They come from a virtual table over the index (https://sqlite.org/fts5.html#the_fts5vocab_virtual_table_module)
        that stands in the temporary database of this connection, which is kept in memory; the store is not written to.

        Args:
            index: Name of the FTS5 table.
            first: The smallest term.
            beyond: The first one too large.
            most: How many are given at most.

        Raises:
            StoreError: With the sentence for what SQLite said.
        """
        sql = f"SELECT term FROM {self._vocabulary(index, 'row')} WHERE term >= ? AND term < ? LIMIT ?"
        key = (index, first, beyond, most, self.value("PRAGMA data_version"))
        if key not in self._terms:
            self._terms[key] = [str(row[0]) for row in self.rows(sql, [first, beyond, most])]
        return self._terms[key]

    def index_has_terms(
        self, index: str, ranges: Sequence[tuple[str, str]], within: Sequence[tuple[str, str]] = ()
    ) -> list[bool]:
        """Whether an FTS5 table has a term in each of many ranges; see `index_terms`.

        Args:
            index: Name of the FTS5 table.
            ranges: For each the smallest term, and the first one too large.
            within: Wider ranges; where one of them has no term, those inside it are not asked for.
        """
        if within:
            there = [
                wide for wide, is_there in zip(within, self.index_has_terms(index, within), strict=True) if is_there
            ]
            bare = [wide for wide in within if wide not in there]
            asked = [each for each in ranges if not any(low <= each[0] and each[1] <= high for low, high in bare)]
            found = dict(zip(asked, self.index_has_terms(index, asked), strict=True)) if asked else {}
            return [found.get(each, False) for each in ranges]
        # By instances: the first of them tells, where a row for each term first counts all that have it.
        vocabulary, version = self._vocabulary(index, "instance"), self.value("PRAGMA data_version")
        unknown = [each for each in dict.fromkeys(ranges) if (index, each, version) not in self._ranges]
        for start in range(0, len(unknown), _CHUNK):
            chunk = unknown[start : start + _CHUNK]
            exists = ", ".join([f"EXISTS (SELECT 1 FROM {vocabulary} WHERE term >= ? AND term < ?)"] * len(chunk))
            answers = self.rows(f"SELECT {exists}", [bound for each in chunk for bound in each])[0]
            self._ranges.update(
                {(index, each, version): bool(is_there) for each, is_there in zip(chunk, answers, strict=True)}
            )
        return [self._ranges[index, each, version] for each in ranges]

    def _vocabulary(self, index: str, kind: str) -> str:
        name = f"{kind}s_of_{index}"
        if name not in self._vocabularies:
            for statement in (
                "PRAGMA temp_store=MEMORY",
                "PRAGMA query_only=0",
                f"CREATE VIRTUAL TABLE temp.{name} USING fts5vocab('main', '{index}', '{kind}')",
                "PRAGMA query_only=1",
            ):
                self.rows(statement)
            self._vocabularies.add(name)
        return f"temp.{name}"

    def keep(self, kind: type[_Kept]) -> _Kept:
        """What one piece of work leaves for the next while this connection lives: made at first, let go at `close`.

        Args:
            kind: What it is; there is one of each.
        """
        found = self._kept.get(kind)
        if not isinstance(found, kind):
            found = self._kept[kind] = kind()
        return found

    def begin(self) -> None:
        """Forget an interrupt: what follows is another piece of work."""
        self._stopped = self._is_blown = False

    def check(self) -> None:
        """Between other work than statements: leave off if `interrupt` was called.

        Raises:
            QueryInterruptedError: It was.
        """
        if self._stopped:
            raise QueryInterruptedError(_("The query was interrupted."))

    def interrupt(self) -> None:
        """Stop the statement in flight and those to come until `begin`, from any thread."""
        self._stopped = True
        try:
            self._connection.interrupt()
        except sqlite3.ProgrammingError:
            return  # closed meanwhile: nothing in flight

    def close(self) -> None:
        """Let go of the file."""
        fuse.forget(self)
        self._kept.clear()
        self._connection.close()
