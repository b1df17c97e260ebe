"""The first page of the list, and the neighbourhood of a session: read before the whole catalog is."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ..connection.reader import Reader
from ..connection.values import as_time
from ..text import as_text
from .catalog import Catalog
from .conversations import Forest
from .models import View
from .relations import AUTOMATION_SOURCES
from .rows import newest_message_sql, read_busy, read_child_ids, read_sessions
from .session import Session

_LOOKS, _FARTHER = 20, 1.5
"""To see whether ids follow time: messages that are looked at, and how much farther from the end each is."""
_ROUNDS = ((200, 2, 8), (800, 6, 60), (3200, 20, 200))
"""A try after another: newest messages whose sessions are candidates, newest-started sessions that are, and among
how many these are looked for; the last two times the size of a page."""


_STEP_BACK = 86_400.0
"""Seconds that a later row may be older: a compression writes messages anew with their old times (0.18)."""


_PAGE = 50


_MOST_CANDIDATES = 3000


def _newest_candidates(reader: Reader, view: View, tail: int, started: int, among: int, *, in_order: bool) -> list[str]:
    """Ids of the sessions of the newest messages and of the newest-started ones, both by index.

    Args:
        reader: An open reader.
        view: Which conversations.
        tail: How many messages.
        started: How many sessions.
        among: How many sessions these are looked for among.
        in_order: From `_ids_follow_time`. Where they do not, no index finds the newest messages: the sessions with the
            latest activity are looked for instead, at the cost of a seek for each session of the store.
    """
    sql = "SELECT session_id FROM (SELECT session_id FROM messages ORDER BY id DESC LIMIT ?)"
    values: list[object] = [tail]
    if {"started_at", "source"} <= reader.schema.session_columns:
        newest, recorded = newest_message_sql(reader.schema, "s.id"), reader.schema.session("last_activity_at")
        active = f"COALESCE(max({newest}, {recorded}), {newest}, {recorded}, s.started_at)"
        # Where cron jobs start a session a minute, the newest sixty hold no chat. The source stands early in a row,
        # so that passing over them is cheap.
        passed = sorted(AUTOMATION_SOURCES) if view is View.CHATS else []
        sql += (
            " UNION SELECT id FROM (SELECT id FROM "
            f"(SELECT id, source FROM sessions s ORDER BY {'started_at' if in_order else active} DESC LIMIT ?) "
            f"WHERE source IS NULL OR source NOT IN ({','.join('?' * len(passed))}) LIMIT ?)"
        )
        values += [among, *passed, started]
    return [text for text in (as_text(row[0]) for row in reader.rows(sql, values)) if text is not None]


def _ids_follow_time(reader: Reader, tail: int, started: int) -> bool:
    """Whether the rows with the largest ids are likely to be the newest ones.

    They are not after an import or a restore into another store, which give new ids to old conversations, nor after a
    clock was set back. An import shows in the sessions: those started last are not those with the largest rowids. A
    clock shows in the times of a few messages, ever farther from the end. What goes unseen is put right when the whole
    catalog has been read.

    Args:
        reader: An open reader.
        tail: How many of the last messages count as newest.
        started: How many of the sessions started last are looked at.
    """
    if "timestamp" not in reader.schema.message_columns or "started_at" not in reader.schema.session_columns:
        return True
    last = "(SELECT rowid AS place FROM sessions ORDER BY started_at DESC LIMIT ?1)"
    behind = f"SELECT 1 FROM sessions WHERE rowid >= (SELECT min(place) FROM {last}) LIMIT ?1 + 1"
    distances = [int(tail * _FARTHER**step) for step in range(_LOOKS)]
    ids = [f"(SELECT max(id) FROM messages) - {distance}" for distance in (0, *distances)]
    moments = [f"(SELECT timestamp FROM messages WHERE id <= {each} ORDER BY id DESC LIMIT 1)" for each in ids]
    count, *found = reader.rows(f"SELECT (SELECT count(*) FROM ({behind})), {', '.join(moments)}", [started])[0]
    times = [moment for moment in map(as_time, found) if moment is not None]
    return int(str(count)) <= started and all(later > earlier - _STEP_BACK for later, earlier in pairwise(times))


def _gather(reader: Reader, known: dict[str, Session], ids: Sequence[str], busy: frozenset[str]) -> None:
    """Add the sessions with all their ancestors, and all children of these: enough to tell chains from the rest."""
    added: list[str] = []
    wanted = [each for each in ids if each not in known]
    for _ in range(100):  # Hermes bounds its own walks so
        if not wanted:
            break
        fresh = read_sessions(reader, wanted, busy=busy)
        known.update((session.id, session) for session in fresh)
        added.extend(session.id for session in fresh)
        wanted = list({s.parent_id: None for s in fresh if s.parent_id is not None and s.parent_id not in known})
    for _ in range(100):
        if not added or len(known) > _MOST_CANDIDATES:
            break
        added = [child for child in dict.fromkeys(read_child_ids(reader, added)) if child not in known]
        known.update((child.id, child) for child in read_sessions(reader, added, busy=busy))


def read_first_page(reader: Reader, now: float, *, view: View = View.CHATS, limit: int = _PAGE) -> Catalog:
    """The newest conversations of a view at a cost that does not grow with the store.

    The tail of the messages and the newest-started sessions give the candidates; when automation
    fills them, both are lengthened until a page is full or enough has been looked at.

    Args:
        reader: An open reader.
        now: Unix seconds.
        view: Which conversations.
        limit: How many make a page.

    Returns:
        A catalog of the neighbourhood, `exact` only when it is the whole store.
    """
    busy = read_busy(reader)
    known: dict[str, Session] = {}
    in_order = _ids_follow_time(reader, _ROUNDS[0][0], _ROUNDS[0][2] * limit)
    for tail, started, among in _ROUNDS:
        newest = _newest_candidates(reader, view, tail, started * limit, among * limit, in_order=in_order)
        _gather(reader, known, newest, busy)
        beyond = reader.value("SELECT count(*) FROM (SELECT 1 FROM sessions LIMIT ?)", [len(known) + 1])
        catalog = Catalog(Forest(known.values()), now, exact=beyond == len(known))
        if catalog.exact or catalog.forest.counts()[view] >= limit or len(known) > _MOST_CANDIDATES:
            break
    return catalog


def read_neighbourhood(reader: Reader, session_ids: Sequence[str], now: float) -> Catalog:
    """The catalog around some sessions: their chains, everything above and below them."""
    known: dict[str, Session] = {}
    _gather(reader, known, session_ids, read_busy(reader))
    return Catalog(Forest(known.values()), now, exact=False)
