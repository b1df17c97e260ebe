"""How far each conversation has been read: marks of this program, kept outside of the store.

A mark is the highest id of a message that was read. Ids grow with every message that Hermes writes
and are never used again (AUTOINCREMENT, https://sqlite.org/autoinc.html), so clocks play no part.
All messages up to the floor count as read: it is set when the marks begin, and by “all read”.
Hermes' own `last_read_at` (0.20) is that of its desktop, and no mark of ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from ..connection.connect import OWN, Store
from ..connection.reader import Reader
from ..connection.stored_values import as_int, as_time
from ..sessions.models import Session
from ..text import text_of
from ..wording import _
from .notes_file import need_notes, notes_of

_FLOOR = f"SELECT message, at FROM floors WHERE {OWN} ORDER BY at DESC LIMIT 1"


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
    notes, none = notes_of(reader), no_marks(reader, now)
    if notes is None:
        return none._replace(have_begun=True)
    found = notes.rows(_FLOOR)
    if not found or as_int(found[0][0]) > none.floor:  # another file, whose ids start over
        return none
    rows = notes.rows(f"SELECT session, max(message) FROM marks WHERE {OWN} GROUP BY session")
    floor, at = found[0]
    marks = {text_of(session): as_int(message) for session, message in rows}
    return ReadMarks(as_int(floor), as_time(at) or now, marks)


def begin_marks(store: Store, now: float) -> None:
    """Begin to keep marks, if there are none yet: what is there is not new; errors as of
    `mark_read`. `now` is in Unix seconds."""
    with store.reader() as reader:
        if not read_marks(reader, now).have_begun:
            _set_floor(reader, _newest(reader), now)


def _set_floor(reader: Reader, floor: int, at: float) -> None:
    with need_notes(reader).changing() as run:
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
    with store.reader() as reader, need_notes(reader).changing() as run:
        read_to = message_id if message_id is not None else _newest(reader)
        for session in session_ids:
            before = as_int(run(f"SELECT max(message) {mine}", session).fetchone()[0])
            run(f"DELETE {mine}", session)
            run("INSERT INTO marks VALUES (?1, ?2, ?3, ?4)", session, max(before, read_to))


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
