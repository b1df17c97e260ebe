"""The file of tags and read marks: `notes.db`, one for all stores of a user; and the read marks in it.

It is written at once, in transactions of its own, so that two browsers and a kill lose nothing. The
store itself is never touched.

A tag stands for every session of a conversation, and one of them is enough to find it: so it stays
through compressions, through a prune of Hermes that removes the first sessions, and through delete
and restore. Hermes itself stores no tags (0.13 to 0.22).

A mark is the highest id of a message that was read. Ids grow with every message that Hermes writes
and are never used again (AUTOINCREMENT, https://sqlite.org/autoinc.html), so clocks play no part.
All messages up to the floor count as read: it is set when the marks begin, and by “all read”.
Hermes' own `last_read_at` (0.20) is that of its desktop, and no mark of ours.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from types import MappingProxyType
from typing import NamedTuple

from ..connection.connect import OWN, Store, origin_of
from ..connection.failures import own_file, refused_as
from ..connection.reader import Reader, Row
from ..connection.stored_values import as_int, as_time
from ..errors import BrowseError, RefusedError
from ..sessions.models import Session
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


class NotesError(BrowseError):
    """The file cannot be read or written; nothing was changed."""

    exit_code = 5


def notes_rows(reader: Reader, sql: str) -> list[Row]:
    """Return the rows of a SELECT from the file, of the store behind a reader; none if it keeps no
    notes, or there is no file yet.

    `?1` and `?2` of the statement are the identity of the store, as in `connect.OWN`.

    Raises:
        NotesError: The file cannot be read.
    """
    path = reader.notes
    if path is None:
        return []
    with refused_as(NotesError, path):
        if not path.exists():
            return []
    with own_file(path, _TABLES, NotesError) as connection:
        return connection.execute(sql, origin_of(reader).values()).fetchall()


@contextlib.contextmanager
def changing_notes(reader: Reader) -> Iterator[Callable[..., sqlite3.Cursor]]:
    """Yield what runs statements on the file as `notes_rows` does, with values after the identity of
    the store, in one transaction; the file is created if it is missing.

    Raises:
        RefusedError: The store keeps no notes.
        NotesError: The file cannot be written.
    """
    if reader.notes is None:
        raise RefusedError(
            _("Tags and read marks are kept for stores of Hermes alone."), is_unchanged=True
        )
    origin = origin_of(reader).values()
    with own_file(reader.notes, _TABLES, NotesError) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield lambda sql, *values: connection.execute(sql, [*origin, *values])
        connection.execute("COMMIT")


def read_tags(reader: Reader) -> Mapping[str, tuple[str, ...]]:
    """Read the tags of all sessions of a store, or of a deletion in the trash, by session id.

    Raises:
        NotesError: The file cannot be read.
    """
    if IN_BUNDLE in reader.schema.tables:
        rows = reader.rows(f"SELECT session, tag FROM {IN_BUNDLE} ORDER BY session, tag")
    else:
        mine = f"SELECT DISTINCT session, tag FROM tags WHERE {OWN} ORDER BY session, tag"
        rows = notes_rows(reader, mine)
    by_session = groupby(rows, key=itemgetter(0))
    return {text_of(id): tuple(text_of(tag) for _id, tag in pairs) for id, pairs in by_session}


def tags_if_readable(reader: Reader) -> Mapping[str, tuple[str, ...]]:
    """Read the tags beside something else; none if the file cannot be read.

    It must not keep anyone from reading the store. The health check reports it, and so does
    whatever asks for tags or changes them.
    """
    try:
        return read_tags(reader)
    except NotesError:
        return {}


class ReadMarks(NamedTuple):
    """How far a store has been read."""

    floor: int
    """The id up to which every message counts as read."""
    at: float
    """When it was set, in Unix seconds."""
    by_session: Mapping[str, int] = MappingProxyType({})
    """The highest id that was read; each session of a conversation has that of the conversation."""
    have_begun: bool = True
    """False if there are none yet: then nothing is new."""

    def of(self, segments: Sequence[Session]) -> int:
        """Return the mark of a conversation."""
        return max(self.floor, *(self.by_session.get(segment.id, 0) for segment in segments))


class AllRead(NamedTuple):
    """Everything was marked as read."""

    sentence: str
    before: Mapping[str, tuple[int, float]]
    """The floor before, and when it was set, by the name of the place, which is `""` for a single
    store."""


def _newest(reader: Reader) -> int:
    """Return the largest id that a message has had: those of deleted ones are not used again."""
    newest = as_int(reader.value("SELECT max(id) FROM messages"))
    if "sqlite_sequence" not in reader.schema.tables:
        return newest
    return max(
        newest, as_int(reader.value("SELECT seq FROM sqlite_sequence WHERE name = 'messages'"))
    )


def no_marks(reader: Reader, now: float) -> ReadMarks:
    """Return the marks of a store that has none yet."""
    return ReadMarks(_newest(reader), now, have_begun=False)


def read_marks(reader: Reader, now: float) -> ReadMarks:
    """Read the marks of a store.

    Raises:
        NotesError: The file cannot be used.
    """
    none = no_marks(reader, now)
    newest_floor = f"SELECT message, at FROM floors WHERE {OWN} ORDER BY at DESC LIMIT 1"
    floors = notes_rows(reader, newest_floor)
    if not floors or as_int(floors[0][0]) > none.floor:  # another file, whose ids start over
        return none
    newest = f"SELECT session, max(message) FROM marks WHERE {OWN} GROUP BY session"
    rows = notes_rows(reader, newest)
    floor, at = floors[0]
    marks = {text_of(session): as_int(message) for session, message in rows}
    return ReadMarks(as_int(floor), as_time(at) or now, marks)


def begin_marks(store: Store, now: float) -> None:
    """Begin to keep marks, if there are none yet: what is there is not new; errors as of
    `mark_read`. `now` is in Unix seconds."""
    with store.reader() as reader:
        if not read_marks(reader, now).have_begun:
            _set_floor(reader, _newest(reader), now)


def _set_floor(reader: Reader, floor: int, at: float) -> None:
    with changing_notes(reader) as run:
        run(f"DELETE FROM floors WHERE {OWN}")
        run("INSERT INTO floors VALUES (?1, ?2, ?3, ?4)", floor, at)


def mark_read(store: Store, session_ids: Sequence[str], message_id: int | None) -> None:
    """Mark a conversation as read; a mark never falls.

    Args:
        store: The store.
        session_ids: All its sessions.
        message_id: Up to this message; None for all that it has.

    Raises:
        NotesError: It cannot be written.
    """
    mine = f"FROM marks WHERE {OWN} AND session = ?3"
    insert = f"INSERT INTO marks SELECT ?1, ?2, ?3, ?4 WHERE NOT EXISTS (SELECT 1 {mine})"
    with store.reader() as reader, changing_notes(reader) as run:
        read_to = message_id if message_id is not None else _newest(reader)
        for session in session_ids:
            run(f"DELETE {mine} AND message <= ?4", session, read_to)
            run(insert, session, read_to)


def mark_all_read(store: Store, now: float) -> AllRead:
    """Mark every message of a store as read; errors as of `mark_read`."""
    with store.reader() as reader:
        before = read_marks(reader, now)
        _set_floor(reader, _newest(reader), now)
    return AllRead(_("everything is marked as read"), {"": (before.floor, before.at)})


def undo_all_read(store: Store, done: AllRead) -> AllRead:
    """Undo `mark_all_read`: the marks of single conversations are as they were."""
    with store.reader() as reader:
        _set_floor(reader, *done.before[""])
    return done._replace(sentence=_("undone: {done}", done=done.sentence))
