"""Write deleted conversations into a bundle: copy rows, compare them, seal the file."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import secrets
import shutil
import sqlite3
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from ..connection.failures import SQLITE_ERRORS, SqliteError, decode, translate
from ..connection.reader import DATA_VERSION, Reader, Row
from ..connection.schema import sql_name
from ..connection.stored_values import as_int
from ..errors import BrowseError, RefusedError
from ..files import sync_folder
from ..text import as_text
from ..wording import _
from .bundle import (
    FORMAT,
    PARTIAL,
    SUFFIX,
    SUM,
    BundleFacts,
    Origin,
    SavedConversation,
    TrashError,
    origin_of,
)
from .progress import NOBODY, Progress, Stage
from .session_files import SessionFile, make_folder, save_files
from .tables import CHOSEN, Layout, Part, RowFate, Table, differs, find_layout, names_of

RESERVE = 16 * 1024 * 1024
"""Bytes left free on a disk for other programs: a gateway with a full disk would lose its turns."""
_STATEMENT_SECONDS = 0.05
"""A statement that copies holds off commits of others in DELETE mode."""
_SESSIONS_AT_ONCE = 50
_MOST_ROWS = 5_000
_DISK_CODES = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)


class WrittenBundle(NamedTuple):
    """A bundle that was completely written."""

    path: Path
    facts: BundleFacts
    layout: Layout
    reparented: tuple[str, ...]
    """Sessions that stay and lose their parent, except those whose id is NULL."""
    files: tuple[str, ...]
    """Names of the session files in it."""


def check_room(folder: Path, needed: int, sentence: str) -> None:
    """Refuse if a disk lacks room.

    Raises:
        TrashError: With the sentence, which has `{needed}`, `{folder}` and `{free}`.
    """
    free = _free(folder)
    if free is not None and free < needed:
        raise TrashError(
            sentence.format(needed=_megabytes(needed), folder=folder, free=_megabytes(free)),
            remedy=_("Free disk space first."),
            is_unchanged=True,
        )


def _free(folder: Path) -> int | None:
    """Return the free bytes of a disk without the reserve; None if the system does not tell."""
    try:
        return max(0, shutil.disk_usage(folder).free - RESERVE)
    except OSError:  # whatever writes there reports it
        return None


def _megabytes(count: int) -> str:
    return f"{count / 1e6:,.1f} MB"


def write_bundle(
    reader: Reader,
    conversations: Sequence[SavedConversation],
    files: Sequence[SessionFile],
    trash: Path,
    now: float,
    progress: Progress = NOBODY,
    *,
    messages: int = 0,
) -> WrittenBundle:
    """Copy all rows and files of some conversations into the trash; the store is only read.

    An incomplete bundle is removed.

    Args:
        reader: An open reader of the store.
        conversations: In the order in which they can be restored.
        files: Files of their sessions.
        trash: The folder of the bundles; created if missing.
        now: Unix seconds.
        progress: Checked for a stop between statements, and receives reports.
        messages: Approximate number of messages, for the reports only.

    Raises:
        RefusedError: The store is not encoded in UTF-8, so that bytes would not be preserved, or a
            table refers to sessions in a way that a restore could not recreate.
        TrashError: Lack of space or permission, or the bundle reads back differently.
        QueryInterruptedError: It was stopped.
    """
    if reader.value("PRAGMA encoding") != "UTF-8":
        raise RefusedError(_("This store keeps its text in UTF-16, which we do not write."))
    layout = find_layout(reader.rows)
    name = f"{datetime.fromtimestamp(now, UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"
    partial, path = trash / f"{PARTIAL}{name}{SUFFIX}", trash / f"{name}{SUFFIX}"
    try:
        try:
            make_folder(trash)
            os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            with contextlib.closing(_Copy(reader, partial, layout, progress, messages)) as copy:
                copy.copy_rows(conversations)
                reparented = copy.reparented()
                save_files(copy.connection, files)
                count = copy.finish(name, now, origin_of(reader), conversations)
            with open(path.with_suffix(SUM), "x", encoding="ascii", opener=_private) as file:
                file.write(f"{_seal(partial)}  {path.name}\n")
            os.rename(partial, path)
            sync_folder(trash)
        except SQLITE_ERRORS as error:
            raise _failure(error, reader.path, trash) from error
        except OSError as error:
            raise _trash_error(trash, error.strerror or str(error)) from error
    except BaseException:
        for each in (partial, path, path.with_suffix(SUM)):
            with contextlib.suppress(OSError):  # it stays as a bundle of what the store still has
                each.unlink(missing_ok=True)
        raise
    facts = BundleFacts(name, now, origin_of(reader), count, tuple(conversations))
    return WrittenBundle(path, facts, layout, reparented, tuple(each.path.name for each in files))


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _seal(path: Path) -> str:
    """Flush a file to the disk; return its SHA-256, read from the disk."""
    with path.open("r+b", buffering=0) as file:
        os.fsync(file.fileno())
        if hasattr(os, "posix_fadvise"):  # not from the page cache
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        return hashlib.file_digest(file, "sha256").hexdigest()


def _trash_error(trash: Path, reason: str) -> TrashError:
    return TrashError(
        _("The trash at {trash} cannot take it ({reason}).").format(trash=trash, reason=reason),
        remedy=_(
            "Deleted conversations go there first: free disk space, or check its permissions."
        ),
        is_unchanged=True,
    )


def _failure(error: SqliteError, store: Path, trash: Path) -> BrowseError:
    """Tell a failure of the bundle from one of the store, which is open to be read only."""
    if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DISK_CODES:
        return _trash_error(trash, str(error))
    return translate(error, store)


class _Copy:
    """The connection that copies: the store as `main`, to be read only, and the new file as
    `bundle`."""

    def __init__(
        self, reader: Reader, path: Path, layout: Layout, progress: Progress, messages: int
    ) -> None:
        self._layout, self._progress, self._folder = layout, progress, path.parent
        self._messages, self._done, self._size = messages, 0, 100
        self.connection = sqlite3.connect(
            f"{reader.path.absolute().as_uri()}?mode=ro",
            uri=True,
            isolation_level=None,
            timeout=5.0,
            check_same_thread=False,
        )
        self.connection.text_factory = decode
        self._execute("PRAGMA temp_store=MEMORY")
        self._execute("ATTACH ? AS bundle", [f"{path.absolute().as_uri()}?mode=rw"])
        # Nobody needs a bundle that is not finished; `_seal` flushes the finished one.
        self._execute("PRAGMA bundle.journal_mode=OFF")
        self._execute("PRAGMA bundle.synchronous=OFF")
        self._version = self._query(DATA_VERSION)
        self._execute("CREATE TEMP TABLE chosen (id)")
        self._execute("CREATE TEMP TABLE picked (n INTEGER PRIMARY KEY, id)")
        for part in layout.parts:
            columns = names_of(layout.tables[part.table].columns)
            self._execute(f"CREATE TABLE bundle.{sql_name(part.table)} ({columns})")
        self._execute('CREATE TABLE bundle.bundle_dangling ("table", "column", "row")')

    def close(self) -> None:
        """Close it; the bundle is complete only after `finish`."""
        self.connection.close()

    def _execute(self, sql: str, parameters: Sequence[object] = ()) -> int:
        return self.connection.execute(sql, parameters).rowcount

    def _query(self, sql: str) -> list[Row]:
        return self.connection.execute(sql).fetchall()

    def _count(self, sql: str) -> int:
        return as_int(self._query(f"SELECT count(*) FROM {sql}")[0][0])

    def _choose(self, sessions: Sequence[str]) -> None:
        self._execute("DELETE FROM temp.chosen")
        self.connection.executemany("INSERT INTO temp.chosen VALUES (?)", [(s,) for s in sessions])

    def copy_rows(self, conversations: Sequence[SavedConversation]) -> None:
        """Copy the rows of all tables, and those references to them that a delete sets to NULL."""
        self._progress.tell(Stage("saving", 0, self._messages))
        sessions = [session for each in conversations for session in each.sessions]
        for start in range(0, len(sessions), _SESSIONS_AT_ONCE):
            self._choose(sessions[start : start + _SESSIONS_AT_ONCE])
            for part in self._layout.parts:
                self._copy_part(part)
        self._execute("CREATE INDEX bundle.bundle_messages ON messages (session_id, id)")
        self._execute("CREATE INDEX bundle.bundle_message_ids ON messages (id)")
        self._execute("CREATE INDEX bundle.bundle_session_ids ON sessions (id)")
        if "parent_session_id" in self._layout.tables["sessions"].columns:
            self._execute("CREATE INDEX bundle.bundle_parents ON sessions (parent_session_id)")
        self._choose(sessions)
        for each in self._layout.cleared:
            key, column = names_of(self._layout.tables[each.table].key), sql_name(each.column)
            stays = f" AND id NOT IN ({CHOSEN})" if each.table == "sessions" else ""
            self._execute(
                f"CREATE TABLE bundle.{each.record} AS SELECT {key}, {column} AS was "
                f"FROM main.{sql_name(each.table)} WHERE ({each.where('main')}){stays}"
            )

    def _copy_part(self, part: Part) -> None:
        table, name = self._layout.tables[part.table], sql_name(part.table)
        where = f"({part.where('main')})"
        if not table.rowid:
            key = " AND ".join(f"x.{each} IS {name}.{each}" for each in map(sql_name, table.key))
            is_new = f"NOT EXISTS (SELECT 1 FROM bundle.{name} x WHERE {key})"
            self._insert_and_compare(table, name, f"{where} AND {is_new}")
        else:
            is_new = f"NOT EXISTS (SELECT 1 FROM bundle.{name} x WHERE x.{table.rowid} = m.{table.rowid})"
            self._execute("DELETE FROM temp.picked")
            self._execute(
                f"INSERT INTO temp.picked (id) SELECT m.{table.rowid} FROM main.{name} AS m "
                f"WHERE {where} AND {is_new}"
            )
            for first, last in self._ranges():
                picked = f"SELECT id FROM temp.picked WHERE n BETWEEN {first} AND {last}"
                copied = self._insert_and_compare(table, name, f"{table.rowid} IN ({picked})")
                if part.table == "messages":
                    self._done += copied
                    self._progress.tell(Stage("saving", self._done, self._messages))
        self._note_dangling(part.table, table)
        if part.fate is RowFate.TAKEN:
            in_store = self._count(f"main.{name} WHERE {where}")
            self._check(part.table, in_store, f"bundle.{name} WHERE {part.where('bundle')}")

    def _ranges(self) -> Iterator[tuple[int, int]]:
        """Yield ranges of numbers of `picked`, as long as are copied in short statements."""
        total, first = self._count("temp.picked"), 1
        while first <= total:
            self._progress.check()
            if _free(self._folder) == 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            began = time.monotonic()
            yield first, first + self._size - 1
            first += self._size
            took = time.monotonic() - began
            if took > _STATEMENT_SECONDS:
                self._size = max(1, self._size // 2)
            elif took < _STATEMENT_SECONDS / 3:
                self._size = min(_MOST_ROWS, self._size * 2)

    def _insert_and_compare(self, table: Table, name: str, where: str) -> int:
        """Copy rows and compare each value and storage class with the store; return the number of
        rows."""
        columns = names_of(table.columns)
        listed = f"{table.rowid}, {columns}" if table.rowid else columns
        count = self._execute(
            f"INSERT INTO bundle.{name} ({listed}) SELECT {listed} FROM main.{name} WHERE {where}"
        )
        same = " AND NOT ".join(map(differs, table.columns))
        condition = f"b.{where}" if table.rowid else "1"
        copied = count if table.rowid else self._count(f"bundle.{name}")
        joined = f"bundle.{name} AS b JOIN main.{name} AS m ON {table.join}"
        self._check(name, copied, f"{joined} WHERE {condition} AND NOT {same}")
        return count

    def _check(self, table: str, expected: int, counted: str) -> None:
        """Compare a number of rows, unless others have changed the store meanwhile: then a delete
        compares them again in its transaction."""
        if self._count(counted) != expected and self._version == self._query(DATA_VERSION):
            raise TrashError(
                _("The copy of {table} differs from the store.").format(table=table),
                is_unchanged=True,
            )

    def _note_dangling(self, name: str, table: Table) -> None:
        """Record references of the copied rows that lead to no row of the store."""
        for each in self._layout.references_of(name):
            if table.rowid:
                target, column = sql_name(each.target), sql_name(each.column)
                self._execute(
                    f"INSERT INTO bundle.bundle_dangling SELECT ?, ?, b.{table.rowid} "
                    f"FROM bundle.{sql_name(name)} AS b WHERE b.{column} IS NOT NULL AND NOT EXISTS "
                    f"(SELECT 1 FROM main.{target} AS t WHERE t.{sql_name(each.to)} = b.{column}) "
                    'AND NOT EXISTS (SELECT 1 FROM bundle.bundle_dangling d WHERE d."table" = ? '
                    f'AND d."column" = ? AND d."row" = b.{table.rowid})',
                    [name, each.column, name, each.column],
                )

    def reparented(self) -> tuple[str, ...]:
        """Return the ids of the sessions that lose their parent."""
        records = [
            each for each in self._layout.cleared
            if (each.table, each.column) == ("sessions", "parent_session_id")
        ]  # fmt: skip
        rows = [
            row for each in records for row in self._query(f"SELECT id FROM bundle.{each.record}")
        ]
        return tuple(id for (value,) in rows if (id := as_text(value)) is not None)

    def finish(
        self, name: str, now: float, origin: Origin, conversations: Sequence[SavedConversation]
    ) -> int:
        """Write the facts, and let go of the file; return the number of messages in it."""
        connection = self.connection
        messages = self._count("bundle.messages")
        facts: dict[str, object] = {
            "format": FORMAT, "name": name, "created_at": now, "store": origin.path,
            "instance": origin.instance, "messages": messages,
        }  # fmt: skip
        self._execute("CREATE TABLE bundle.bundle (key, value)")
        connection.executemany("INSERT INTO bundle.bundle VALUES (?, ?)", facts.items())
        self._execute("CREATE TABLE bundle.bundle_conversations (id, title)")
        connection.executemany(
            "INSERT INTO bundle.bundle_conversations VALUES (?, ?)",
            [(each.id, each.title) for each in conversations],
        )
        self._execute("CREATE TABLE bundle.bundle_sessions (id, conversation)")
        connection.executemany(
            "INSERT INTO bundle.bundle_sessions VALUES (?, ?)",
            [(session, each.id) for each in conversations for session in each.sessions],
        )
        self._execute("CREATE TABLE bundle.bundle_tags (session, tag)")
        if self._query("SELECT 1 FROM main.sqlite_master WHERE name = 'schema_version'"):
            self._execute("CREATE TABLE bundle.schema_version AS SELECT * FROM main.schema_version")
        self._execute("DETACH bundle")
        return messages
