"""Which messages are new, by conversation: each once, however often Hermes has written it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from types import MappingProxyType
from typing import NamedTuple

from ..compression.compactions import is_compressed, read_history
from ..connection.reader import Reader
from ..connection.stored_values import as_int, as_time
from ..messages.transcript import read_identities
from ..notes.notes_file import ReadMarks
from ..sessions.catalog import Catalog
from ..sessions.models import FAR_PAST, Conversation, Relation
from ..text import text_of
from . import Unread

_NEWEST = "newest"
"""Keys in the facts about a file."""
_UNREAD = "unread"


class NewestIds(NamedTuple):
    """The newest message of each session that has one behind the floor of the read marks."""

    floor: int = -1
    read_to: int = -1
    """The largest id that has been looked at."""
    by_session: Mapping[str, int] = MappingProxyType({})


_Rows = Iterator[tuple[str, int, float | None]]
"""Rows of messages: the root id of the conversation, the id, and the time."""


def find_written(reader: Reader, catalog: Catalog, after: float) -> Mapping[str, Unread]:
    """Find the messages since a time, in Unix seconds; returns as `find_unread`."""
    sessions = catalog.sessions.values()
    recent = [each.id for each in sessions if (each.last_active or FAR_PAST) >= after]
    # To SQLite a time that is a text is later than any number.
    rows = _shown(reader, catalog, recent, "m.timestamp >= ?", after)
    return _count(reader, catalog, (row for row in rows if row[2] is None or row[2] >= after))


def find_unread(reader: Reader, catalog: Catalog, marks: ReadMarks) -> Mapping[str, Unread]:
    """Find the messages behind the read marks, of all listed conversations.

    Returns:
        By root id; conversations without new messages are left out.
    """
    newest: dict[str, int] = {}
    for session, id in _newest_ids(reader, marks.floor).items():
        if root := _listed(catalog, session):
            newest[root] = max(newest.get(root, 0), id)
    keys: dict[str, tuple[int, object, object, object]] = {}
    for root, id in newest.items():
        conversation = catalog.conversation(root)
        mark = marks.of(conversation.segments)
        if id > mark:  # a rewind shows in the counter of Hermes
            keys[root] = mark, id, conversation.last_active, conversation.message_count
    known = reader.of_file.others.get(_UNREAD, {})
    chosen = [root for root, key in keys.items() if (root, key) not in known]
    sessions = [id for root in chosen for id in catalog.conversation(root).session_ids]
    rows = _shown(reader, catalog, sessions, "m.id > ?", marks.floor)
    counted = _count(reader, catalog, (row for row in rows if row[1] > keys[row[0]][0]))
    known = known | {(root, keys[root]): counted.get(root) for root in chosen}
    found = {key: known[key] for key in keys.items()}
    reader.of_file.others[_UNREAD] = found
    return {root: unread for (root, _key), unread in found.items() if unread is not None}


def _listed(catalog: Catalog, session_id: str) -> str | None:
    """Return the root id of a session's conversation; None if no view of its own lists it."""
    conversation = catalog.of_session(session_id)
    is_listed = conversation is not None and conversation.view is not None
    return catalog.root_of(session_id) if is_listed else None


def _newest_ids(reader: Reader, floor: int) -> Mapping[str, int]:
    """Return the newest id of each session with messages behind a floor; only what was written
    since the last call is read."""
    known = reader.of_file.others.get(_NEWEST, NewestIds())
    if known.floor != floor:
        known = NewestIds(floor, floor)
    rows = reader.rows(
        "SELECT session_id, max(id) FROM messages NOT INDEXED WHERE id > ? GROUP BY session_id",
        [known.read_to],
    )
    added = {text_of(session): as_int(id) for session, id in rows}
    read_to = max(added.values(), default=known.read_to)
    by_session = {**known.by_session, **added}
    reader.of_file.others[_NEWEST] = NewestIds(floor, read_to, by_session)
    return by_session


def _shown(
    reader: Reader, catalog: Catalog, session_ids: Sequence[str], condition: str, value: object
) -> _Rows:
    """Yield the rows that people see, of listed conversations."""
    for session, id, time in reader.rows_in(
        "SELECT m.session_id, m.id, m.timestamp FROM message_rows m "
        f"WHERE {condition} AND m.state <> 'rewound' AND NOT m.hidden AND m.session_id IN ({{keys}})",
        session_ids,
        [value],
    ):
        if root := _listed(catalog, text_of(session)):
            yield root, as_int(id), as_time(time)


def _count(reader: Reader, catalog: Catalog, rows: _Rows) -> Mapping[str, Unread]:
    """Count rows by the root id of their conversations, without those that Hermes wrote again."""
    by_root: defaultdict[str, dict[int, float | None]] = defaultdict(dict)
    for root, id, at in rows:
        by_root[root][id] = at
    unread: dict[str, Unread] = {}
    for root, times in by_root.items():
        new = times.keys() - _written_again(reader, catalog, catalog.conversation(root))
        if new:
            newest = max((at for id in new if (at := times[id]) is not None), default=None)
            unread[root] = Unread(len(new), min(new), newest)
    return unread


def _written_again(reader: Reader, catalog: Catalog, conversation: Conversation) -> set[int]:
    """Return the rows that are no messages of their own: copies and summaries of compressions, and
    what a branch has from the conversation that it left."""
    again: set[int] = set()
    if is_compressed(reader, conversation.segments):
        history = read_history(reader, conversation.segments)
        again.update(history.copies)
        again.update(row.id for row in history.rows if row.summary is not None)
    above = catalog.parent_chain(conversation)
    if conversation.relation is Relation.BRANCHED and above is not None:
        again.update(_branched_off(reader, conversation, above))
    return again


def _branched_off(reader: Reader, branch: Conversation, above: Conversation) -> Iterator[int]:
    """Yield the first rows of a branch, as far as the conversation above has them too."""
    statement = "SELECT m.id FROM messages m WHERE m.session_id IN ({keys})"
    own, theirs = (
        sorted(as_int(row[0]) for row in reader.rows_in(statement, ids))
        for ids in ([branch.root_id], above.session_ids)
    )
    identities = read_identities(reader, [*own, *theirs])
    # In order, as `in` takes all up to the one that it finds: a short answer may stand there several
    # times, and be given once more.
    rest = (identities[id] for id in theirs)
    yield from takewhile(lambda id: identities[id] in rest, own)
