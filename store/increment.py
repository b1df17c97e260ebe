"""What has changed in a store since all of it was read: the sessions of new messages and the new sessions.

A catalog of 100,000 sessions takes a second to read, and a gateway writes several times in each. A message or
a session that is new is found by its number; changes that leave no such trace (a title, an end, an archiving by
another program) are looked for among the sessions used last, and found elsewhere when all is read again.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from .catalog import Catalog
from .reader import Reader
from .sessions import read_busy, read_sessions
from .text import as_text

_AGAIN = 200
"""Conversations used last, whose sessions are read again in any case."""
_MOST_MESSAGES = 20_000
"""With more new messages than this (an import) all is read again."""


class Mark(NamedTuple):
    """How far a store has been read."""

    message: int
    """The largest message id."""
    session: int
    """The largest rowid of a session."""
    sessions: int
    """How many there are."""
    busy: frozenset[str]
    """What live leases and locks name."""


def read_mark(reader: Reader) -> Mark:
    """The mark of a store as it is now; taken before a reading, so that nothing falls between the two.

    Args:
        reader: An open reader.
    """
    row = reader.rows(
        "SELECT (SELECT max(id) FROM messages), (SELECT max(rowid) FROM sessions), (SELECT count(*) FROM sessions)"
    )[0]
    message, session, sessions = (int(str(value or 0)) for value in row)
    return Mark(message, session, sessions, read_busy(reader))


def read_increment(
    reader: Reader, catalog: Catalog, mark: Mark, now: float, touched: Collection[str] = ()
) -> tuple[Catalog, Mark] | None:
    """The catalog as it is now, from what has changed alone.

    Args:
        reader: An open reader.
        catalog: An exact one.
        mark: Of the time it was read.
        now: Unix seconds.
        touched: Sessions known to have been changed, deleted or put back meanwhile.

    Returns:
        The new catalog and its mark; None when only reading all of it can tell (sessions are gone, or the
        numbering began anew).
    """
    new = read_mark(reader)
    if new.message < mark.message or new.session < mark.session or new.message - mark.message > _MOST_MESSAGES:
        return None
    rows = reader.rows("SELECT DISTINCT session_id FROM messages WHERE id > ?", [mark.message])
    added = reader.rows("SELECT id FROM sessions WHERE rowid > ?", [mark.session])
    known = catalog.forest.sessions
    ids = {text: None for text in (as_text(row[0]) for row in (*rows, *added)) if text is not None}
    begun = set(ids)
    for chain in catalog.forest.newest(_AGAIN):
        ids.update((segment.id, None) for segment in chain.segments)
    ids.update(dict.fromkeys(mark.busy ^ new.busy))
    for each in touched:
        ids[each] = None
        ids.update((child.id, None) for child in catalog.forest.children.get(each, ()))
    found = read_sessions(reader, list(ids), busy=new.busy)
    there = {each.id for each in found}
    gone = {each for each in touched if each in known and each not in there}
    back = {each for each in touched if each not in known and each in there and each not in begun}
    if mark.sessions + len(added) + len(back) - len(gone) != new.sessions:
        return None
    fresh = [each for each in found if known.get(each.id) != each]
    updated = Catalog(catalog.forest.updated(fresh, gone) if fresh or gone else catalog.forest, now)
    updated.take_names(catalog)
    return updated, new
