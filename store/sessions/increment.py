"""What has changed in a store since its catalog was read, and the catalog with these changes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from ..connection.reader import Reader
from ..connection.stored_values import as_int, first_texts
from .catalog import Catalog
from .models import View
from .session import Session
from .session_rows import read_busy, read_sessions

_REREAD = 200
"""Most recently used conversations whose sessions an increment always reads again."""
_MAX_MESSAGES = 20_000
"""If there are more new messages than this (an import), everything is read again."""


def catalog_of(sessions: Iterable[Session], now: float, known: Catalog | None = None) -> Catalog:
    """Return the catalog of all sessions of a store.

    Sessions of the `known` catalog that have not changed are used again, so that two catalogs need
    not be in memory.
    """
    earlier = known.sessions if known is not None else {}
    again = (before if (before := earlier.get(each.id)) == each else each for each in sessions)
    return Catalog(again, now)


class StoreState(NamedTuple):
    """The state of a store when it was read, to find later changes."""

    message: int
    """The largest message id."""
    session: int
    """The largest rowid of a session."""
    sessions: int
    """Number of sessions."""
    busy: frozenset[str]
    """Ids named by live leases and locks, see `read_busy`."""


def read_state(reader: Reader) -> StoreState:
    """Read the state of a store; call it before reading the catalog, so that no change is missed
    between the two."""
    row = reader.rows(
        "SELECT (SELECT max(id) FROM messages), (SELECT max(rowid) FROM sessions), "
        "(SELECT count(id) FROM sessions)"
    )[0]
    message, session, sessions = map(as_int, row)
    return StoreState(message, session, sessions, read_busy(reader))


class StoreChanges(NamedTuple):
    """What a store has that a catalog may not have."""

    state: StoreState
    sessions: list[Session]
    """Those with new messages, new ones, and those that were asked for."""


def read_changes(
    reader: Reader, state: StoreState, session_ids: Sequence[str]
) -> StoreChanges | None:
    """Read what has changed since a state, and some sessions again; None if the ids started over,
    or too much has changed.

    Reading a catalog of 100,000 sessions takes a second, and a gateway writes several times per
    second. New messages and sessions are found by id and rowid. Changes without such a trace (a
    title, an end, an archiving by another program) are found only in the sessions asked for, see
    `unseen`; others need a new catalog.
    """
    new = read_state(reader)
    is_older = new.message < state.message or new.session < state.session
    if is_older or new.message - state.message > _MAX_MESSAGES:
        return None
    rows = reader.rows(
        "SELECT DISTINCT session_id FROM messages NOT INDEXED WHERE id > ?", [state.message]
    )
    rows += reader.rows("SELECT id FROM sessions WHERE rowid > ?", [state.session])
    ids = dict.fromkeys([*first_texts(rows), *(state.busy ^ new.busy), *session_ids])
    return StoreChanges(new, read_sessions(reader, list(ids), busy=new.busy))


def unseen(catalog: Catalog, touched: Collection[str]) -> list[str]:
    """Return the ids of sessions whose changes leave no trace: the most recently used, those that
    were touched, and their children."""
    recent = map(catalog.conversation, catalog.listed(View.ALL)[-_REREAD:])
    ids = [session.id for conversation in recent for session in conversation.segments]
    for each in touched:
        ids += [each, *(child.id for child in catalog.children_of(each))]
    return list(dict.fromkeys(ids))


def updated(
    catalog: Catalog, changes: StoreChanges, now: float, touched: Collection[str]
) -> tuple[Catalog, StoreState] | None:
    """Return a catalog with changes, and its state; None if sessions are missing.

    `touched` are the ids of sessions that are known to have been changed, deleted or restored.
    """
    read = {session.id: session for session in changes.sessions}
    known = catalog.sessions
    kept = {key: each for key, each in known.items() if key in read or key not in touched}
    kept |= {key: each for key, each in read.items() if known.get(key) != each}
    if len(kept) != changes.state.sessions:
        return None
    return Catalog(kept.values(), now), changes.state
