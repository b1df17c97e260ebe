"""A temporary store of old transcripts, so that they are listed, read, searched and exported like
any conversation.

The file is private to its owner, filled in portions and removed when closed; the transcripts are
never changed. It has no search index: searches scan it, and report that.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Collection, Iterator
from pathlib import Path

from ..demo.store_writer import INDEXES, TABLES, VERSION, Row, insert
from ..errors import BrowseError
from ..files import TemporaryFolder
from ..wording import _, ngettext
from .transcript_files import find_files, read_transcript

_PORTION_FILES, _PORTION_BYTES = 200, 16 << 20
"""A portion is committed after this number of files or bytes, whichever comes first."""
_IDS_PER_FILE = 1 << 24
"""Message ids reserved for each file. Newer files are read first and still get larger ids, as in a
store."""
_INDEXES = ("idx_sessions_started", "idx_sessions_parent", "idx_messages_session")


class OldTranscripts:
    """The temporary store; use as a context manager, or `close` it.

    Args:
        folder: `sessions` of a Hermes home.
        known: Ids of the sessions in the home's store, whose files are skipped.
        only: Prefixes of file names to read; empty for all.

    Raises:
        BrowseError: The folder cannot be read, or there is no room for a temporary file.
    """

    def __init__(self, folder: Path, known: Collection[str], *, only: Collection[str] = ()) -> None:
        self.folder = folder
        """Folder of the transcripts."""
        with self._told():
            files = list(find_files(folder, known))
            self._folder = TemporaryFolder("old")
        prefixes = tuple(only) or ("",)
        files = [file for file in files if file.path.name.startswith(prefixes)]
        self._queue = sorted(files, key=lambda file: (file.modified, file.path.name))
        """Files to read, newest last."""
        self.files = len(files)
        """Number of files."""
        self.notes = 0
        """Number of places in them that cannot be read."""
        self.path = self._folder.path / "state.db"
        """The store."""
        self._lock = threading.Lock()
        with self._told():
            self._connection = self._create()

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """Raise a failure in the block as BrowseError; nothing is read after it."""
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            self._queue = []
            raise BrowseError(
                _(
                    "The old transcripts in {folder} cannot be read: {reason}.",
                    folder=self.folder,
                    reason=error,
                )
            ) from error

    def _create(self) -> sqlite3.Connection:
        self.path.touch(mode=0o600, exist_ok=False)
        connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        # In WAL mode the writing thread and the reading threads do not wait for each other.
        statements = ["PRAGMA journal_mode=WAL", "PRAGMA synchronous=OFF"]
        statements += [*TABLES.values(), *(INDEXES[name] for name in _INDEXES)]
        statements.append(f"INSERT INTO schema_version (version) VALUES ({VERSION})")
        for statement in statements:
            connection.execute(statement)
        return connection

    def __enter__(self) -> OldTranscripts:
        return self

    def __exit__(self, *ended: object) -> None:
        self.close()

    def fill(self) -> bool:
        """Read the next portion, newest files first; return whether there is more.

        Raises:
            BrowseError: It could not be written.
        """
        with self._lock, self._told():
            self._fill()
            return bool(self._queue)

    def fill_all(self) -> None:
        """Read all files."""
        while self.fill():
            pass

    def _fill(self) -> None:
        sessions: list[Row] = []
        messages: list[Row] = []
        size = 0
        while self._queue and len(sessions) < _PORTION_FILES and size < _PORTION_BYTES:
            file = self._queue.pop()
            size += file.size
            session, rows, notes = read_transcript(file)
            sessions.append(session)
            first = len(self._queue) * _IDS_PER_FILE + 1
            messages += [
                {"id": id, **row} for id, row in enumerate(rows[: _IDS_PER_FILE - 1], first)
            ]
            self.notes += notes
        if sessions:
            self._connection.execute("BEGIN")
            insert(self._connection, "sessions", sessions)
            insert(self._connection, "messages", messages)
            self._connection.execute("COMMIT")

    def describe(self) -> str:
        """Describe the progress, and what could not be read."""
        text = ngettext(
            "{count:,} old transcript in {folder}",
            "{count:,} old transcripts in {folder}",
            self.files,
            count=self.files,
            folder=self.folder,
        )
        if self._queue:
            text = _("{done:,} of {text}", done=self.files - len(self._queue), text=text)
        if not self.notes:
            return text
        notes = ngettext(
            "{count:,} place in them cannot be read",
            "{count:,} places in them cannot be read",
            self.notes,
            count=self.notes,
        )
        return f"{text} · {notes}"

    def close(self) -> None:
        """Remove the temporary store, after the current portion."""
        with self._lock:
            self._queue = []
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            self._folder.remove()
