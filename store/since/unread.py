"""Which messages are new, by conversation: each once, however often Hermes has written it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import takewhile

from ..compression.compactions import is_compressed, read_history
from ..connection.reader import Reader
from ..connection.stored_values import as_int, as_time, first_texts
from ..messages.chat_message import State
from ..messages.copies import read_identities
from ..messages.decode import is_hidden, state_of
from ..notes.read_marks import read_marks
from ..sessions.catalog import Catalog
from ..sessions.models import FAR_PAST, Conversation, Relation
from ..text import as_text, text_of
from .attention import Unread


def find_unread(
    reader: Reader, catalog: Catalog, now: float, after: float | None = None
) -> Mapping[str, Unread]:
    """Find the new messages of all listed conversations.

    Args:
        reader: An open reader.
        catalog: Of the whole store.
        now: Unix seconds.
        after: Messages since this time are new; None for those behind the read marks.

    Returns:
        By root id; conversations without new messages are left out.
    """
    found = (
        _rows_after(reader, catalog, after) if after is not None else _marked(reader, catalog, now)
    )
    unread: dict[str, Unread] = {}
    for root, rows in found.items():
        again = _written_again(reader, catalog, catalog.conversation(root))
        own = {id: at for id, at in rows.items() if id not in again}
        if own:
            times = [at for at in own.values() if at is not None]
            unread[root] = Unread(len(own), min(own), max(times, default=None))
    return unread


_Rows = dict[str, dict[int, float | None]]
"""By root id: the ids of messages, with their times."""


def _marked(reader: Reader, catalog: Catalog, now: float) -> _Rows:
    """Return the rows behind the read marks."""
    marks = read_marks(reader, now)
    sessions = reader.rows(
        "SELECT DISTINCT session_id FROM messages NOT INDEXED WHERE id > ?", [marks.floor]
    )
    found = _select(reader, catalog, first_texts(sessions), "m.id > ?", marks.floor)
    behind: _Rows = {}
    for root, rows in found.items():
        mark = marks.of(catalog.conversation(root).segments)
        if own := {id: at for id, at in rows.items() if id > mark}:
            behind[root] = own
    return behind


def _rows_after(reader: Reader, catalog: Catalog, after: float) -> _Rows:
    """Return the rows since a time."""
    sessions = catalog.sessions.values()
    recent = [each.id for each in sessions if (each.last_active or FAR_PAST) >= after]
    return _select(reader, catalog, recent, f"{reader.schema.message('timestamp')} >= ?", after)


def _select(
    reader: Reader, catalog: Catalog, session_ids: Iterable[str], condition: str, value: object
) -> _Rows:
    """Return rows that people see, of listed conversations."""
    schema = reader.schema
    names = ("role", "timestamp", "display_kind", "display_metadata")
    columns = [*map(schema.message, names), schema.active(), schema.compacted()]
    chosen = [id for id in session_ids if _is_listed(catalog.of_session(id))]
    found: _Rows = {}
    for session, id, stored_role, time, kind, metadata, active, compacted in reader.rows_in(
        f"SELECT m.session_id, m.id, {', '.join(columns)} FROM messages m "
        f"WHERE {condition} AND m.session_id IN ({{keys}})",
        chosen,
        [value],
    ):
        is_gone = state_of(active, compacted) is State.REWOUND
        if is_gone or is_hidden(text_of(stored_role, "unknown"), as_text(kind), metadata):
            continue
        root = catalog.root_of(text_of(session))
        if root is not None:
            found.setdefault(root, {})[as_int(id)] = as_time(time)
    return found


def _is_listed(conversation: Conversation | None) -> bool:
    return conversation is not None and conversation.view is not None


def _written_again(reader: Reader, catalog: Catalog, conversation: Conversation) -> set[int]:
    """Return the rows that are no messages of their own: copies and summaries of compressions, and
    what a branch has from the conversation that it left."""
    again: set[int] = set()
    if is_compressed(reader, conversation.segments):
        history = read_history(reader, conversation.segments)
        again.update(history.copies)
        rows = (row for generation in history.generations for row in generation.rows)
        again.update(row.id for row in rows if row.summary is not None)
    above = catalog.parent_chain(conversation)
    if conversation.relation is Relation.BRANCHED and above is not None:
        again.update(_branched_off(reader, conversation, above))
    return again


def _branched_off(reader: Reader, branch: Conversation, above: Conversation) -> Iterator[int]:
    """Yield the first rows of a branch, as far as the conversation above has them too."""
    own = _ids(reader, [branch.root_id])
    theirs = _ids(reader, [segment.id for segment in above.segments])
    identities = read_identities(reader, [*own, *theirs])
    known = {identities[id] for id in theirs}
    yield from takewhile(lambda id: identities[id] in known, own)


def _ids(reader: Reader, session_ids: list[str]) -> list[int]:
    rows = reader.rows_in("SELECT m.id FROM messages m WHERE m.session_id IN ({keys})", session_ids)
    return sorted(as_int(row[0]) for row in rows)
