"""Read the first page of the list, or the neighbourhood of a session, without reading the whole
catalog."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ..connection.reader import Reader
from ..connection.stored_values import as_time, first_texts
from .catalog import Catalog
from .models import Session, View
from .relations import AUTOMATION_SOURCES
from .session_rows import LAST_ACTIVE, read_busy, read_sessions

_PAGE = 50
_MESSAGES, _STARTED, _AMONG = 4, 2, 8
"""For each wanted conversation: the newest messages whose sessions are candidates, the newest
sessions that are, and among how many sessions those are searched."""
_WIDER = (1, 4, 16)
"""Factors by which each try widens these numbers."""
_MAX_CANDIDATES = 3000
_ALL = -1
"""As an SQLite LIMIT."""
_SAMPLES, _GROWTH = 20, 1.5
"""`ids_follow_time` samples this many messages; the distance of each from the end grows by this
factor."""
_STEP_BACK = 86_400.0
"""Seconds that a later row may be older: a compression writes messages again with their old times
(0.18)."""


def _newest_candidates(reader: Reader, view: View, wanted: int, *, in_order: bool) -> list[str]:
    """Return the ids of the sessions with the newest messages and of those started last, by index.

    So many are `wanted`. `in_order` is from `ids_follow_time`. If it is False, no index finds the
    newest messages: the sessions with the latest activity are read instead, at the cost of a seek
    for each session of the store.
    """
    order = "s.started_at" if in_order else LAST_ACTIVE
    # If cron jobs start a session a minute, the newest sixty hold no chat. `source` is an early
    # column, so that skipping rows by it is cheap.
    skipped = tuple(sorted(AUTOMATION_SOURCES)) if view is View.CHATS else "()"
    sql = f"""
        SELECT session_id FROM (
            SELECT session_id FROM messages ORDER BY id DESC LIMIT {_MESSAGES * wanted}
        ) UNION SELECT id FROM (
            SELECT id FROM (
                SELECT s.id, s.source FROM session_rows s ORDER BY {order} DESC LIMIT {_AMONG * wanted}
            ) WHERE source IS NULL OR source NOT IN {skipped} LIMIT {_STARTED * wanted}
        )
    """
    return first_texts(reader.rows(sql))


def ids_follow_time(reader: Reader, page: int = _PAGE) -> bool:
    """Return whether the rows with the largest ids are likely to be the newest ones.

    They are not after an import or a restore into another store, which give new ids to old
    conversations, nor after a clock was set back. This is detected by the times of some messages at
    growing distances from the end. An undetected case is corrected once the whole catalog is read.
    The more conversations a `page` has, the more rows at the end count as newest.
    """
    distances = [0, *(int(_MESSAGES * page * _GROWTH**step) for step in range(_SAMPLES))]
    samples = reader.rows(
        "SELECT (SELECT timestamp FROM message_rows WHERE id <= (SELECT max(id) FROM messages) - value "
        "ORDER BY id DESC LIMIT 1) FROM json_each(?)",
        [str(distances)],
    )
    times = [moment for sample in samples if (moment := as_time(sample[0])) is not None]
    return all(later > earlier - _STEP_BACK for later, earlier in pairwise(times))


def _family(reader: Reader, ids: Sequence[str], most: int) -> list[str]:
    """Return the ids of sessions with their ancestors, and descendants of these, at most so many;
    `_ALL` is all of them."""
    statement = (
        "WITH RECURSIVE above(id) AS ("
        "SELECT s.id FROM sessions s WHERE s.id IN ({keys}) UNION "
        "SELECT s.parent_session_id FROM above a CROSS JOIN session_rows s ON s.id = a.id "
        f"WHERE s.parent_session_id IS NOT NULL LIMIT {most}), "
        "family(id) AS (SELECT id FROM above UNION "
        "SELECT s.id FROM family f CROSS JOIN session_rows s ON s.parent_session_id = f.id "
        f"LIMIT {most}) SELECT id FROM family"
    )
    return list(dict.fromkeys(first_texts(reader.rows_in(statement, ids))))


def read_first_page(
    reader: Reader, now: float, *, view: View = View.CHATS, limit: int = _PAGE
) -> Catalog:
    """Read the newest conversations of a view, at a cost that does not grow with the store.

    Candidates are the sessions of the last messages and those started last. If most of them are
    automation, more are read, until a page of `limit` conversations is full or a limit of the cost
    is reached. `now` is in Unix seconds.

    Returns:
        A catalog of these and related sessions; `exact` only if it holds the whole store.
    """
    known: dict[str, Session] = {}
    busy = read_busy(reader)
    in_order = ids_follow_time(reader, limit)
    for wider in _WIDER:
        newest = _newest_candidates(reader, view, wider * limit, in_order=in_order)
        missing = [each for each in _family(reader, newest, _MAX_CANDIDATES) if each not in known]
        known |= {each.id: each for each in read_sessions(reader, missing, busy=busy)}
        beyond = reader.value(
            "SELECT count(*) FROM (SELECT 1 FROM sessions LIMIT ?)", [len(known) + 1]
        )
        catalog = Catalog(known.values(), now, exact=beyond == len(known))
        if catalog.exact or catalog.counts()[view] >= limit or len(known) > _MAX_CANDIDATES:
            break
    return catalog


def read_neighbourhood(reader: Reader, session_ids: Sequence[str], now: float) -> Catalog:
    """Read a catalog of some sessions with their ancestors and all descendants of these."""
    busy, ids = read_busy(reader), _family(reader, session_ids, _ALL)
    return Catalog(read_sessions(reader, ids, busy=busy), now, exact=False)
