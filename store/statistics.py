"""Sums over a store: sessions, messages, tokens, cost and bytes, in all and by model, source, day or tool.

Tokens and costs are what Hermes recorded per session, or per session and model where it did (0.19
`session_model_usage`); messages and bytes are counted. Bytes are those of texts, tool calls, reasoning and images,
without the search index.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from .connect import Reader
from .insights.usage import UNKNOWN, read_usage
from .messages import decode_tool_calls
from .prune.scan import scan_messages
from .prune.sizes import Stopped, check, never
from .sessions.catalog import Catalog
from .sessions.models import View
from .sessions.session import Session
from .text import as_text
from .values import as_time

BY = ("model", "source", "day", "tool")
"""What sums can be grouped by."""

_SLICE = 1000
_QUARTER = 900
"""Seconds: no zone begins its day within a quarter of an hour."""
_TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")


class Tally(NamedTuple):
    """The sums of one key."""

    key: str
    conversations: int
    sessions: int
    messages: int
    """Rows, shown or not."""
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    reasoning_tokens: int
    cost_usd: float
    """Of the sessions that know one."""
    bytes: int
    calls: int | None = None
    """By tool: how often it was called."""
    archived_sessions: int = 0
    """How many of the sessions are archived; `hermes sessions stats` (0.19) counts the others alone."""


class Statistics(NamedTuple):
    """All sums."""

    total: Tally
    by: str
    rows: tuple[Tally, ...]
    """Days in order, all else by what it is about, most first."""


class _Sums:
    """Sums in the making."""

    __slots__ = ("bytes", "calls", "conversations", "cost", "messages", "sessions", "tokens")

    def __init__(self) -> None:
        self.conversations: set[str] = set()
        self.sessions: set[str] = set()
        self.messages = self.bytes = self.calls = 0
        self.tokens = [0, 0, 0, 0, 0]
        self.cost = 0.0

    def use(self, tokens: tuple[int, ...], cost: float) -> None:
        """Add what a session, or a part of it, used."""
        self.tokens = [have + more for have, more in zip(self.tokens, tokens, strict=True)]
        self.cost += cost

    def tally(self, key: str, archived: frozenset[str] = frozenset(), *, calls: bool = False) -> Tally:
        """The sums as a line."""
        return Tally(
            key=key,
            conversations=len(self.conversations),
            sessions=len(self.sessions),
            messages=self.messages,
            **dict(zip(_TOKENS, self.tokens, strict=True)),
            cost_usd=self.cost,
            bytes=self.bytes,
            calls=self.calls if calls else None,
            archived_sessions=len(self.sessions & archived),
        )


class _Groups:
    """Sums by key."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self.found: dict[str, _Sums] = {}

    def of(self, key: str) -> _Sums:
        """The sums of a key."""
        return self.found.setdefault(key, _Sums())

    def include(self, key: str, session_id: str, *, conversation: bool = True) -> _Sums:
        """The sums of a key, which a session now is part of; its conversation too, unless that counts elsewhere."""
        sums = self.of(key)
        sums.sessions.add(session_id)
        root = self._catalog.forest.root_of(session_id) if conversation else None
        if root is not None:
            sums.conversations.add(root)
        return sums


def _used(session: Session) -> tuple[int, ...]:
    return tuple(session.tokens)


class _Days:
    """Local days of times, looked up once for each quarter of an hour."""

    def __init__(self) -> None:
        self._known: dict[int, str] = {}

    def of(self, moment: float | None) -> str:
        """`2026-03-05`, or that it is unknown."""
        if moment is None:
            return UNKNOWN
        quarter = int(moment // _QUARTER)
        day = self._known.get(quarter)
        if day is None:
            day = datetime.fromtimestamp(quarter * _QUARTER).strftime("%Y-%m-%d")
            self._known[quarter] = day
        return day


def _by_model(reader: Reader, catalog: Catalog, groups: _Groups, stopped: Stopped) -> None:
    """Use by model; what the rows per model leave of a session's own counters goes to the model it names."""
    usage = read_usage(reader, stopped)
    for session in catalog.forest.sessions.values():
        left, cost = list(_used(session)), session.cost_usd or 0.0
        for used in usage.get(session.id, ()):
            groups.include(used.model, session.id).use(used.tokens, used.cost_usd)
            left = [max(0, have - gone) for have, gone in zip(left, used.tokens, strict=True)]
            cost = max(0.0, cost - used.cost_usd)
        if session.id not in usage or any(left) or cost > 1e-9:
            groups.include(session.model or UNKNOWN, session.id).use(tuple(left), cost)


def _by_session(catalog: Catalog, groups: _Groups, key: Callable[[Session], str]) -> None:
    """Use by a property of the session; a conversation counts where its root does."""
    for session in catalog.forest.sessions.values():
        sums = groups.include(key(session), session.id, conversation=False)
        if catalog.forest.root_of(session.id) == session.id:
            sums.conversations.add(session.id)
        sums.use(_used(session), session.cost_usd or 0.0)


def _count_calls(reader: Reader, groups: _Groups, stopped: Stopped) -> None:
    calls = reader.schema.message("tool_calls")
    if calls == "NULL":
        return
    statement = f"SELECT m.id, m.session_id, {calls} FROM messages m WHERE m.id > ? ORDER BY m.id LIMIT {_SLICE}"
    last = -(2**63)
    while True:
        check(stopped)
        rows = reader.rows(statement, [last])
        for _, session_id, stored in rows:
            if stored is not None:
                for call in decode_tool_calls(stored):
                    groups.include(call.name or UNKNOWN, as_text(session_id) or "").calls += 1
        if len(rows) < _SLICE:
            return
        last = int(str(rows[-1][0]))


def read_statistics(reader: Reader, catalog: Catalog, by: str = "source", *, stopped: Stopped = never) -> Statistics:
    """The sums of a store; reads every message once, in slices.

    By source and model, messages and bytes count for their session's; by day for the local day of the message, and
    sessions, tokens and cost for the day the session began; by tool, messages and bytes are those of its results, and
    tokens and cost, which nobody recorded by tool, are 0.

    Args:
        reader: An open reader.
        catalog: Of the whole store.
        by: One of `BY`.
        stopped: Looked at between slices.

    Raises:
        QueryInterruptedError: Cancelled.
    """
    groups, total, days = _Groups(catalog), _Sums(), _Days()
    sessions = catalog.forest.sessions
    for session in sessions.values():
        total.use(_used(session), session.cost_usd or 0.0)
    if by == "model":
        _by_model(reader, catalog, groups, stopped)
    elif by == "source":
        _by_session(catalog, groups, lambda session: session.source)
    elif by == "day":
        _by_session(catalog, groups, lambda session: days.of(session.started_at))
    else:
        _count_calls(reader, groups, stopped)
    for rows in scan_messages(reader, stopped):
        for row in rows:
            total.messages += 1
            total.bytes += row.total
            owner = sessions.get(row.session_id)
            if by == "tool":
                if row.role != "tool":
                    continue
                sums, size = groups.include(row.tool_name or UNKNOWN, row.session_id), row.content
            elif by == "day":
                moment = as_time(row.timestamp)
                started = owner.started_at if owner is not None else None
                sums, size = groups.of(days.of(moment if moment is not None else started)), row.total
            else:
                source = owner.source if owner is not None else UNKNOWN
                model = (owner.model if owner is not None else None) or UNKNOWN
                sums, size = groups.of(source if by == "source" else model), row.total
            sums.messages += 1
            sums.bytes += size
    archived = frozenset(each.id for each in sessions.values() if each.archived)
    lines = [each.tally(key, archived, calls=by == "tool") for key, each in groups.found.items()]
    if by == "day":
        lines.sort(key=lambda each: each.key)
    else:
        lines.sort(key=lambda each: (-(each.calls or 0), -each.messages, -each.bytes, each.key))
    whole = total.tally("")._replace(
        conversations=catalog.forest.counts()[View.ALL], sessions=len(sessions), archived_sessions=len(archived)
    )
    return Statistics(whole, by, tuple(lines))
