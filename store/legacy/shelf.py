"""Old transcripts as a store of their own, so that they are listed, read, searched and exported like any conversation.

The store is a temporary file, for its owner alone, filled in portions and gone when it is closed; the transcripts are
read, and never changed. It has no search index: searches scan it, and say so.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import threading
from collections.abc import Collection
from pathlib import Path

from ..demo.schema import INDEXES, TABLES, VERSION, table_statement
from ..demo.writer import Row, insert
from ..errors import BrowseError
from ..temporary import TemporaryFolder
from ..wording import _, ngettext
from .finding import OldFile, find_files
from .parsing import read_pieces, to_transcript

_PORTION_FILES, _PORTION_BYTES = 200, 16 << 20
"""A portion is committed after this many files or bytes of them, whichever comes first."""
_PLACES = 1 << 24
"""Message ids reserved for each file. Newer files are read first and still get larger ids, as in a store."""
_INDEXES = ("idx_sessions_started", "idx_sessions_parent", "idx_messages_session")
_SPARE = 256 << 20
"""Bytes of the temporary folder that stay free."""


class Shelf:
    """The temporary store; use as a context manager, or `close` it.

    Args:
        folder: `sessions` of a Hermes home.
        known: Ids of the sessions in the store beside it: those are not old.
        only: Beginnings of file names; only such files are read. Empty for all.

    Raises:
        BrowseError: The folder cannot be read, or there is no room for a temporary file.
    """

    def __init__(self, folder: Path, known: Collection[str], *, only: Collection[str] = ()) -> None:
        self.folder = folder
        """Where the transcripts are."""
        try:
            begins = tuple(only) or ("",)
            found = [each for each in find_files(folder, known) if each.path.name.startswith(begins)]
            self._folder = TemporaryFolder("old")
        except OSError as error:
            where = error.filename or folder
            said = _("The old transcripts in {folder} cannot be listed: {where}: {reason}.")
            raise BrowseError(said.format(folder=folder, where=where, reason=error.strerror)) from error
        self._waiting = sorted(found, key=lambda file: (file.modified, file.path.name))
        self.files = len(found)
        """How many there are."""
        self.done = 0
        """How many have been read."""
        self.notes = 0
        """Places in them that cannot be read."""
        self.left_out = 0
        """Files that were not read because the temporary folder has no room."""
        self.path = self._folder.path / "state.db"
        """The store."""
        self._lock = threading.Lock()
        self._is_closed = False
        try:
            self._connection = self._make()
        except (OSError, sqlite3.Error) as error:
            self._folder.remove()
            said = _("There is no room for old transcripts in {folder}: {reason}.")
            raise BrowseError(said.format(folder=self._folder.path.parent, reason=error)) from error

    def _make(self) -> sqlite3.Connection:
        os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        # In WAL mode the thread that fills it and those that read it do not wait for each other.
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=OFF")
        for name, columns in TABLES.items():
            connection.execute(table_statement(name, columns))
        for name in _INDEXES:  # nothing here needs the others
            connection.execute(INDEXES[name])
        connection.execute("INSERT INTO schema_version (version) VALUES (?)", [VERSION])
        return connection

    def __enter__(self) -> Shelf:
        return self

    def __exit__(self, *ended: object) -> None:
        self.close()

    @property
    def is_done(self) -> bool:
        """Whether all have been read."""
        return not self._waiting

    def fill(self) -> bool:
        """Read the next portion, the newest files first.

        Returns:
            Whether there is more.

        Raises:
            BrowseError: It could not be written.
        """
        with self._lock:
            if self._is_closed or not self._waiting:
                return False
            try:
                self._fill()
            except sqlite3.Error as error:
                self._waiting = []
                said = _("Old transcripts could not be read into {folder}: {reason}.")
                raise BrowseError(said.format(folder=self._folder.path, reason=error)) from error
            return not self.is_done

    def fill_all(self) -> None:
        """Read all of them."""
        while self.fill():
            pass

    def _fill(self) -> None:
        portion: list[tuple[int, OldFile]] = []
        size = 0
        room = shutil.disk_usage(self._folder.path).free - _SPARE
        while self._waiting and len(portion) < _PORTION_FILES and size < _PORTION_BYTES:
            file = self._waiting.pop()
            if file.size > room - size:
                self.left_out += 1
                continue
            portion.append((len(self._waiting), file))
            size += file.size
        sessions: list[Row] = []
        messages: list[Row] = []
        for place, file in portion:
            transcript = to_transcript(file, read_pieces(file.path))
            sessions.append(transcript.session)
            first = place * _PLACES + 1
            messages += [{"id": first + index, **row} for index, row in enumerate(transcript.messages[: _PLACES - 1])]
            self.notes += transcript.notes
        self._connection.execute("BEGIN")
        try:
            insert(self._connection, "sessions", sessions)
            insert(self._connection, "messages", messages)
        finally:
            self._connection.execute("COMMIT")
        self.done += len(portion)

    def describe(self) -> str:
        """A sentence about the progress, and about what is missing."""
        if self.is_done:
            said = ngettext("{count:,} old transcript in {folder}", "{count:,} old transcripts in {folder}", self.files)
        else:
            said = ngettext(
                "{done:,} of {count:,} old transcript in {folder}",
                "{done:,} of {count:,} old transcripts in {folder}",
                self.files,
            )
        parts = [said.format(done=self.done, count=self.files, folder=self.folder)]
        if self.notes:
            said = ngettext(
                "{count:,} place in them cannot be read", "{count:,} places in them cannot be read", self.notes
            )
            parts.append(said.format(count=self.notes))
        if self.left_out:
            said = _("{count:,} left out: {folder} has no room for them")
            parts.append(said.format(count=self.left_out, folder=self._folder.path.parent))
        return " · ".join(parts)

    def close(self) -> None:
        """Remove the temporary store; waits for a portion that is being read."""
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            self._waiting = []
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            self._folder.remove()
