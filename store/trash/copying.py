"""Write deleted conversations into a bundle: copy rows, compare them, seal the file."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import shutil
import sqlite3
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from ..amounts import size
from ..connection.connect import origin_of
from ..connection.failures import SQLITE_ERRORS, opened, translate, uri_of
from ..connection.reader import DATA_VERSION, Reader, Row, chunks
from ..connection.schema import sql_name
from ..connection.stored_values import first_texts
from ..errors import BrowseError, RefusedError
from ..files import make_folder, private, sync_folder
from ..notes.notes_file import IN_BUNDLE, tags_if_readable
from ..progress import Progress
from ..wording import _
from .bundle import (
    FORMAT,
    PARTIAL,
    SUFFIX,
    SUM,
    BundleFacts,
    SavedConversation,
    TrashError,
    choose,
    record_links,
)
from .session_files import SessionFile, find_files, save_files
from .shelf import MARKS, BundleFate, write_fate
from .tables import CHILDREN, Layout, Table, equal, find_layout, names_of

RESERVE = 16 * 1024 * 1024
"""Bytes left free on a disk for other programs: a gateway with a full disk would lose its turns."""
_PATIENCE = 5.0
"""Seconds to wait for writers of the store."""
_STATEMENT_SECONDS = 0.03
"""A statement that copies holds off commits of others in DELETE mode."""
_SESSIONS_AT_ONCE = 50
_MOST_ROWS = 5_000
_PREPARE = """
-- Nobody needs a bundle that is not finished; `_seal` flushes the finished one.
PRAGMA bundle.journal_mode=OFF;
PRAGMA bundle.synchronous=OFF;
PRAGMA temp_store=MEMORY;
CREATE TABLE bundle.bundle_dangling (
    "table", "column", "row", PRIMARY KEY ("table", "column", "row")
);
"""
_INDEXES = """
CREATE INDEX bundle.bundle_messages ON messages (session_id, id);
CREATE INDEX bundle.bundle_message_ids ON messages (id);
CREATE INDEX bundle.bundle_session_ids ON sessions (id);
CREATE INDEX bundle.bundle_parents ON sessions (parent_session_id);
"""
_DISK_CODES = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)


class ChangedMeanwhileError(RefusedError):
    """Another program has changed what is to be deleted; a new plan tells what is left of it."""

    def __init__(self) -> None:
        super().__init__(_("The conversation has changed meanwhile."))


class WrittenBundle(NamedTuple):
    """A bundle that was completely written."""

    path: Path
    facts: BundleFacts
    layout: Layout
    reparented: tuple[str, ...]
    """Sessions that stay and lose their parent, except those whose id is NULL."""
    files: Sequence[SessionFile]
    """Those of its sessions, as they were found."""


def check_room(folder: Path, needed: int) -> None:
    """Refuse if a disk lacks room.

    Raises:
        TrashError: With the numbers.
    """
    free = _free(folder)
    if free < needed:
        raise TrashError(
            _(
                "This needs about {needed} for a while, and the disk of {folder} has {free} free.",
                needed=size(needed),
                folder=folder,
                free=size(free),
            ),
            remedy=_("Free disk space first."),
            is_unchanged=True,
        )


def _free(folder: Path) -> int:
    """Return the free bytes of a disk without the reserve; a huge number if the system does not
    tell."""
    try:
        return max(0, shutil.disk_usage(folder).free - RESERVE)
    except OSError:  # whatever writes there reports it
        return sys.maxsize


def write_bundle(
    reader: Reader,
    conversations: Sequence[SavedConversation],
    sessions_folder: Path | None,
    trash: Path,
    now: float,
    fate: BundleFate,
    progress: Progress,
) -> WrittenBundle:
    """Copy all rows and files of some conversations into the trash; the store is only read.

    An incomplete bundle is removed.

    Args:
        reader: An open reader of the store.
        conversations: In the order in which they can be restored.
        sessions_folder: Where Hermes keeps files of sessions, if anywhere.
        trash: The folder of the bundles; created if missing.
        now: Unix seconds.
        fate: It stands beside the bundle as soon as it has its name.
        progress: Checked for a stop between statements, and receives reports.

    Raises:
        ChangedMeanwhileError: A session is gone.
        RefusedError: The store is not encoded in UTF-8, so that bytes would not be preserved, or a
            table refers to sessions in a way that a restore could not recreate.
        TrashError: Lack of space or permission, or the bundle reads back differently.
        QueryInterruptedError: It was stopped.
    """
    if reader.value("PRAGMA encoding") != "UTF-8":
        raise RefusedError(_("This store keeps its text in UTF-16, which we do not write."))
    layout, origin = find_layout(reader.rows), origin_of(reader)
    tags = tags_if_readable(reader)
    name = f"{datetime.fromtimestamp(now, UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"
    facts = BundleFacts(name, now, origin, tuple(conversations))
    files = find_files(sessions_folder, facts.sessions)
    partial, path = trash / f"{PARTIAL}{name}{SUFFIX}", trash / f"{name}{SUFFIX}"
    try:
        make_folder(trash)
        open(partial, "xb", opener=private).close()
        copy = _Copy(reader.path, partial, layout, progress)
        with closing(copy.connection):
            reparented = copy.copy_rows(facts.sessions)
            save_files(copy.connection, files)
            copy.write_facts(facts, [(s, tag) for s in facts.sessions for tag in tags.get(s, ())])
            record_links(copy.connection, trash, origin)
        with open(path.with_suffix(SUM), "x", encoding="ascii", opener=private) as file:
            file.write(f"{_seal(partial)}  {path.name}\n")
        write_fate(path, fate)
        os.rename(partial, path)
        sync_folder(trash)
    except BaseException as error:
        for leftover in (partial, path, path.with_suffix(SUM), path.with_suffix(MARKS)):
            with suppress(OSError):  # it stays as a bundle of what the store still has
                leftover.unlink(missing_ok=True)
        if isinstance(error, (OSError, *SQLITE_ERRORS)):
            raise _failure(error, reader.path, trash) from error
        raise
    return WrittenBundle(path, facts, layout, reparented, files)


def _seal(path: Path) -> str:
    """Flush a file to the disk; return its SHA-256, read from the disk."""
    with path.open("r+b", buffering=0) as file:
        os.fsync(file.fileno())
        if hasattr(os, "posix_fadvise"):  # not from the page cache
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        return hashlib.file_digest(file, "sha256").hexdigest()


def _failure(error: Exception, store: Path, trash: Path) -> BrowseError:
    """Tell a failure of the bundle from one of the store, which is open to be read only."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if not isinstance(error, OSError) and code not in _DISK_CODES:
        return translate(error, store)
    reason = getattr(error, "strerror", None) or error
    return TrashError(
        _("The trash at {trash} cannot take it ({reason}).", trash=trash, reason=reason),
        remedy=_(
            "Deleted conversations go there first: free disk space, or check its permissions."
        ),
        is_unchanged=True,
    )


class _Copy:
    """The connection that copies: the store as `main`, to be read only, and the new file as
    `bundle`."""

    def __init__(self, store: Path, path: Path, layout: Layout, progress: Progress) -> None:
        self._layout, self._progress, self._folder = layout, progress, path.parent
        self._size = 100
        self.connection = opened(store, "ro", _PATIENCE)
        self.query("ATTACH ? AS bundle", [uri_of(path, "rw")])
        self.connection.executescript(_PREPARE)
        self._version = self.query(DATA_VERSION)
        for table in layout.owned:
            self.query(f"CREATE TABLE bundle.{sql_name(table.name)} ({names_of(table.columns)})")

    def query(self, sql: str, parameters: Sequence[object] = ()) -> list[Row]:
        """Run a statement and return all its rows."""
        return self.connection.execute(sql, parameters).fetchall()

    def copy_rows(self, sessions: Sequence[str]) -> tuple[str, ...]:
        """Copy the rows of all tables, and compare them with the store; copy the links of sessions
        that stay and lose their parent, and return their ids."""
        for some in chunks(sessions, _SESSIONS_AT_ONCE):
            choose(self.query, some, schema="main")
            for table in self._layout.owned:
                self._copy_owned(table)
        self.connection.executescript(_INDEXES)
        choose(self.query, sessions, schema="main")
        missing = {*sessions}.difference(first_texts(self.query("SELECT id FROM temp.chosen")))
        if missing.intersection(first_texts(self.query("SELECT id FROM main.sessions"))):
            raise RefusedError(
                _("The id of one of its sessions is no proper text."),
                remedy=_("`hermes sessions repair` may help."),
            )
        if missing:
            raise ChangedMeanwhileError
        self.query(
            f"CREATE TABLE bundle.{CHILDREN} AS SELECT id, parent_session_id AS was FROM main.sessions "
            "WHERE parent_session_id IN (SELECT id FROM chosen) AND id NOT IN (SELECT id FROM chosen)"
        )
        return tuple(first_texts(self.query(f"SELECT id FROM bundle.{CHILDREN}")))

    def _copy_owned(self, table: Table) -> None:
        name, same = sql_name(table.name), equal(table.columns)
        listed = f"_rowid_, {names_of(table.columns)}"
        for some in self._pick(table):
            picked = ", ".join(map(str, some))
            # Prompts may have been copied with sessions before.
            self.query(
                f"INSERT OR IGNORE INTO bundle.{name} ({listed}) "
                f"SELECT {listed} FROM main.{name} WHERE _rowid_ IN ({picked})"
            )
            self._check(table.name, table.unlike(f"b._rowid_ IN ({picked})", same))
            if table.name == "messages":
                self._progress.add(len(some))
        for key in table.references:
            self.query(
                "INSERT OR IGNORE INTO bundle.bundle_dangling SELECT ?, ?, b._rowid_ "
                f"FROM {table.bundle} WHERE {table.saved} AND {key.dangling}",
                [table.name, key.column],
            )
        if not table.is_shared:
            self._check(table.name, table.miscounted)

    def _pick(self, table: Table) -> Iterator[Sequence[object]]:
        """Yield the rowids of owned rows, each time as many as are copied in a short statement."""
        found = self.query(f"SELECT m._rowid_ FROM {table.main} WHERE {table.own}")
        rowids = [rowid for (rowid,) in found]
        done = 0
        while some := rowids[done : done + self._size]:
            self._progress.check()
            if _free(self._folder) == 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            began = time.monotonic()
            yield some
            done += len(some)
            fitting = int(len(some) * _STATEMENT_SECONDS / max(time.monotonic() - began, 0.001))
            self._size = max(1, min(_MOST_ROWS, fitting, self._size * 2))

    def _check(self, table: str, different: str) -> None:
        """Refuse a copy that differs by this SELECT, unless others have changed the store
        meanwhile: then a delete compares the rows again in its transaction."""
        if self.query(different) and self._version == self.query(DATA_VERSION):
            raise TrashError(
                _("The copy of {table} differs from the store.", table=table), is_unchanged=True
            )

    def write_facts(self, facts: BundleFacts, tags: Sequence[Row]) -> None:
        """Write what the bundle says of itself, and let go of the file."""
        saved = facts.conversations
        said = {
            "format": FORMAT, "name": facts.name, "created_at": facts.created_at,
            "store": facts.origin.path, "instance": facts.origin.instance,
        }  # fmt: skip
        sessions = [(session, each.id) for each in saved for session in each.sessions]
        tables: dict[str, Iterable[Row]] = {
            "bundle(key,value)": said.items(),
            "bundle_conversations(id,title)": [each[:2] for each in saved],
            "bundle_sessions(id,conversation)": sessions,
            f"{IN_BUNDLE}(session,tag)": tags,
        }
        for table, rows in tables.items():
            self.query(f"CREATE TABLE bundle.{table}")
            self.connection.executemany(f"INSERT INTO bundle.{table} VALUES (?, ?)", rows)
        if self.query("SELECT 1 FROM main.sqlite_master WHERE name = 'schema_version'"):
            self.query("CREATE TABLE bundle.schema_version AS SELECT * FROM main.schema_version")
        self.query("DETACH bundle")
