"""A bundle opened as a temporary store, so that deleted conversations can be listed, read and
searched.

Only the owner can read the temporary file. The bundle is never changed. The store has no search
index: searches scan it, and say so.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from ..connection.schema import sql_name
from ..errors import BrowseError
from ..temporary import TemporaryFolder
from ..wording import _
from .bundle import load, read_lines
from .format import BundleDamagedError, bind

_COLUMNS = {
    "sessions": ("id", "source", "parent_session_id", "title", "started_at"),
    "messages": ("id", "session_id", "role", "content", "timestamp"),
    "system_prompts": ("hash", "prompt"),
}
"""The tables that are read, with the columns to create if the bundle has no rows of them."""
_KEYS = {
    ("sessions", "id"): "PRIMARY KEY",
    ("messages", "id"): "INTEGER PRIMARY KEY",
    ("system_prompts", "hash"): "PRIMARY KEY",
}
"""Types of their keys; other columns have no type, so that values are stored unchanged."""


class OpenedBundle:
    """The temporary store of a bundle, given by its folder; use it as a context manager, or `close`
    it.

    Raises:
        BundleDamagedError: It cannot be read.
        BrowseError: A temporary file cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self.manifest = load(folder)
        """The manifest of the bundle."""
        self.folder = folder
        try:
            self._folder = TemporaryFolder("trash")
        except OSError as error:
            raise _open_error(error) from error
        self.path = self._folder.path / "state.db"
        """The file of the store."""
        try:
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            with contextlib.closing(sqlite3.connect(self.path)) as connection, connection:
                self._fill(connection)
        except (OSError, sqlite3.Error) as error:
            self.close()
            raise _open_error(error) from error
        except (ValueError, KeyError) as error:
            self.close()
            raise BundleDamagedError(_("It has a row that no store accepts.")) from error
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> OpenedBundle:
        return self

    def __exit__(self, *ended: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the temporary store."""
        self._folder.remove()

    def _fill(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA synchronous=OFF")
        columns: dict[str, Sequence[str]] = {}
        for name, least in _COLUMNS.items():
            known = self.manifest.tables.get(name)
            columns[name] = known.columns if known is not None else least
            typed = [
                f"{sql_name(each)} {_KEYS.get((name, each), '')}".rstrip() for each in columns[name]
            ]
            connection.execute(f"CREATE TABLE {name} ({', '.join(typed)})")
        connection.execute("CREATE TABLE schema_version (version INTEGER NOT NULL)")
        connection.execute(
            "INSERT INTO schema_version VALUES (?)", [self.manifest.origin.schema_version or 0]
        )
        for line in read_lines(self.folder):
            if line.table not in _COLUMNS:
                continue
            marks, values = bind({name: line.row[name] for name in columns[line.table]})
            names = ", ".join(map(sql_name, columns[line.table]))
            connection.execute(
                f"INSERT INTO {line.table} ({names}) VALUES ({', '.join(marks)})", values
            )
        connection.execute("CREATE INDEX idx_messages_session ON messages (session_id)")
        if "parent_session_id" in columns["sessions"]:
            connection.execute("CREATE INDEX idx_sessions_parent ON sessions (parent_session_id)")


def _open_error(error: Exception) -> BrowseError:
    return BrowseError(
        _(
            "The bundle cannot be opened, because no temporary file can be written: {reason}."
        ).format(reason=error)
    )
