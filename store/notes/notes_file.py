"""The file of tags and read marks: `notes.db`, one for all stores of a user.

It is written at once, in transactions of its own, so that two browsers and a kill lose nothing. The
store itself is never touched.

A tag stands for every session of a conversation, and one of them is enough to find it: so it stays
through compressions, through a prune of Hermes that removes the first sessions, and through delete
and restore. Hermes itself stores no tags (0.13 to 0.22).
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from ..connection.connect import OWN, origin_of
from ..connection.failures import SQLITE_ERRORS, opened
from ..connection.reader import Reader, Row
from ..errors import BrowseError, RefusedError
from ..files import make_folder, open_regular
from ..text import text_of
from ..wording import _

_TABLES = (
    "CREATE TABLE IF NOT EXISTS tags "
    "(store, instance, session, tag, PRIMARY KEY (store, instance, session, tag))",
    "CREATE TABLE IF NOT EXISTS marks "
    "(store, instance, session, message, PRIMARY KEY (store, instance, session))",
    "CREATE TABLE IF NOT EXISTS floors "
    "(store, instance, message, at, PRIMARY KEY (store, instance))",
)
IN_BUNDLE = "bundle_tags"
"""The table of a deletion in the trash, with the tags of its sessions."""
_PATIENCE = 10.0
"""Seconds to wait for another browser, which holds the file for milliseconds."""


class NotesError(BrowseError):
    """The file cannot be read or written; nothing was changed."""

    exit_code = 5
    code = "notes"


class Notes:
    """The rows of one store in the file.

    Statements have the identity of the store as `?1` and `?2`, for `origin.OWN`; values follow.
    """

    def __init__(self, path: Path, origin: Sequence[str | None]) -> None:
        self._path, self._origin = path, origin

    def rows(self, sql: str, *values: object) -> list[Row]:
        """Return the rows of a SELECT; none if there is no file yet.

        Raises:
            NotesError: The file cannot be read.
        """
        with self._refusals():
            if not self._path.exists() or not self._path.stat().st_size:
                return []
            with self._opened() as connection:
                return connection.execute(sql, [*self._origin, *values]).fetchall()

    @contextlib.contextmanager
    def changing(self) -> Iterator[Callable[..., sqlite3.Cursor]]:
        """Yield what runs statements, in one transaction; the file is created if it is missing.

        Raises:
            NotesError: It cannot be written.
        """
        with self._refusals():
            if not self._path.exists():
                make_folder(self._path.parent)
                os.close(os.open(self._path, os.O_CREAT | os.O_WRONLY, 0o600))
            with self._opened() as connection:
                connection.execute("BEGIN IMMEDIATE")
                for statement in _TABLES:
                    connection.execute(statement)
                yield lambda sql, *values: connection.execute(sql, [*self._origin, *values])
                connection.execute("COMMIT")

    @contextlib.contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        with open_regular(self._path):  # no pipe, which SQLite would wait for
            pass
        with contextlib.closing(opened(self._path, "rw", _PATIENCE)) as connection:
            yield connection

    @contextlib.contextmanager
    def _refusals(self) -> Iterator[None]:
        """Report what keeps the file from being used."""
        try:
            yield
        except (OSError, *SQLITE_ERRORS) as error:
            raise NotesError(
                _(
                    "The file of tags and read marks, {path}, cannot be used ({reason}).",
                    path=self._path,
                    reason=error,
                ),
                remedy=_("Check its permissions; if it is damaged, move it away."),
                is_unchanged=True,
            ) from error


def notes_of(reader: Reader) -> Notes | None:
    """Return the notes on the store behind a reader; None for a store that has none."""
    return Notes(reader.notes, origin_of(reader).values()) if reader.notes is not None else None


def need_notes(reader: Reader) -> Notes:
    """Return them, to be changed.

    Raises:
        RefusedError: The store has none.
    """
    notes = notes_of(reader)
    if notes is None:
        raise RefusedError(
            _("Tags and read marks are kept for stores of Hermes alone."), is_unchanged=True
        )
    return notes


def read_tags(reader: Reader) -> Mapping[str, tuple[str, ...]]:
    """Read the tags of all sessions of a store, or of a deletion in the trash, by session id.

    A file that cannot be read has none: it must not keep anyone from reading the store. The health
    check reports it, and so does whatever changes tags.
    """
    notes = notes_of(reader)
    if IN_BUNDLE in reader.schema.tables:
        rows = reader.rows(f"SELECT session, tag FROM {IN_BUNDLE} ORDER BY tag")
    elif notes is None:
        return {}
    else:
        try:
            rows = notes.rows(f"SELECT DISTINCT session, tag FROM tags WHERE {OWN} ORDER BY tag")
        except NotesError:
            return {}
    found: dict[str, tuple[str, ...]] = {}
    for session, tag in rows:
        key = text_of(session)
        found[key] = (*found.get(key, ()), text_of(tag))
    return found
