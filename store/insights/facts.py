"""What sums are made of, read once: money and project of each session, its use by model, when its messages came.

After that any period and any grouping is a matter of adding up, without the store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ..connect import Reader
from ..prune.sizes import Stopped, check, never
from ..sessions.catalog import Catalog
from ..sessions.session import Session
from ..text import as_text
from ..values import as_money, as_time
from .periods import QUARTER
from .usage import Used, read_usage

_SLICE = 1000
_MOST_SESSIONS = 200
_MOST_MESSAGES = 20_000
"""A statement covers as many sessions as have so many messages by their counters."""

Tell = Callable[[float], None]
"""Takes how far the work is, from 0 to 1."""


def silent(share: float) -> None:
    """A `Tell` for work nobody watches."""


class Money(NamedTuple):
    """What a session cost, as Hermes recorded it."""

    estimated_usd: float | None
    actual_usd: float | None
    status: str
    """`cost_status`: `actual`, `estimated`, `included`, `unknown` (0.19), or empty."""


_NO_MONEY = Money(None, None, "")


class Facts(NamedTuple):
    """Everything there is to add up."""

    catalog: Catalog
    money: dict[str, Money]
    """By session id; those of which nothing is recorded are left out."""
    projects: dict[str, str]
    """Root of the repository, else working directory, by session id."""
    usage: dict[str, list[Used]]
    """By session id; empty in stores older than 0.19."""
    moments: dict[str, list[tuple[int | None, int]]]
    """By session id: quarter of an hour since 1970, None for no usable time, and how many messages."""
    strays: int
    """Messages of no session at all: they are in no sum."""

    def money_of(self, session_id: str) -> Money:
        """What is recorded of a session's cost."""
        return self.money.get(session_id, _NO_MONEY)


def _read_sessions(reader: Reader, stopped: Stopped) -> tuple[dict[str, Money], dict[str, str]]:
    schema, money, projects = reader.schema, dict[str, Money](), dict[str, str]()
    names = ("git_repo_root", "cwd", "estimated_cost_usd", "actual_cost_usd", "cost_status")
    columns = ", ".join(map(schema.session, names))
    statement = f"SELECT s.rowid, s.id, {columns} FROM sessions s WHERE s.rowid > ? ORDER BY s.rowid LIMIT {_SLICE}"
    last = -(2**63)
    while True:
        check(stopped)
        rows = reader.rows(statement, [last])
        for number, stored, root, cwd, estimated, actual, status in rows:
            last = int(str(number))
            session_id = as_text(stored)
            if session_id is None:
                continue
            if project := as_text(root) or as_text(cwd):
                projects[session_id] = project
            found = Money(as_money(estimated), as_money(actual), as_text(status) or "")
            if found != _NO_MONEY:
                money[session_id] = found
        if len(rows) < _SLICE:
            return money, projects


def _chunks(sessions: Sequence[Session]) -> Iterator[list[str]]:
    """Ids of sessions, few enough in each for a short statement."""
    chunk: list[str] = []
    messages = 0
    for session in sessions:
        chunk.append(session.id)
        messages += session.message_count
        if len(chunk) >= _MOST_SESSIONS or messages >= _MOST_MESSAGES:
            yield chunk
            chunk, messages = [], 0
    if chunk:
        yield chunk


def _read_moments(
    reader: Reader, sessions: Sequence[Session], stopped: Stopped, tell: Tell
) -> dict[str, list[tuple[int | None, int]]]:
    """When messages came, counted by SQLite from the index on session and time."""
    stamp = reader.schema.message("timestamp")
    plain = f"typeof({stamp}) IN ('integer', 'real') AND {stamp} >= 0 AND {stamp} < 1e11"
    statement = (
        f"SELECT m.session_id, CASE WHEN {plain} THEN CAST({stamp} / {QUARTER}.0 AS INTEGER) END, "
        f"CASE WHEN NOT ({plain}) THEN {stamp} END, count(*) FROM messages m "
        "WHERE m.session_id IN ({keys}) GROUP BY 1, 2, 3"
    )
    found: dict[str, list[tuple[int | None, int]]] = {}
    done = 0
    for chunk in _chunks(sessions):
        check(stopped)
        for stored, quarter, odd, count in reader.rows_in(statement, chunk):
            if quarter is None:
                moment = as_time(odd)
                quarter = int(moment // QUARTER) if moment is not None else None
            pair = (int(str(quarter)) if quarter is not None else None, int(str(count)))
            found.setdefault(as_text(stored) or "", []).append(pair)
        done += len(chunk)
        tell(done / len(sessions))
    return found


def read_facts(reader: Reader, catalog: Catalog, *, stopped: Stopped = never, tell: Tell = silent) -> Facts:
    """Everything there is to add up, in short statements.

    Args:
        reader: An open reader.
        catalog: Of the whole store.
        stopped: Looked at between statements.
        tell: Takes how far it is.

    Raises:
        QueryInterruptedError: Cancelled.
    """
    money, projects = _read_sessions(reader, stopped)
    usage = read_usage(reader, stopped)
    moments = _read_moments(reader, list(catalog.forest.sessions.values()), stopped, tell)
    counted = sum(count for pairs in moments.values() for _, count in pairs)
    whole = int(str(reader.value("SELECT count(*) FROM messages") or 0))
    return Facts(catalog, money, projects, usage, moments, max(0, whole - counted))
