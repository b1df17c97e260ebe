"""Search: candidates from Hermes' own index, checked against the text, newest first, cancellable."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from ..connect import Reader
from ..errors import QueryInterruptedError, StoreDamagedError, StoreError
from ..messages import is_hidden, state_of
from ..models import Hit, State
from ..text import as_text
from ..values import as_time
from .conditions import MessageCondition
from .query import Problem, Query
from .snippet import make_snippet
from .streams import Walk, candidates, join_text, partly_indexed
from .terms import Matcher, Plan, make_plan

_FETCH = 32
_COUNT_CAP = 1000
_RELEVANT = 2000
"""Relevance is judged among this many newest hits: bm25 over all of them takes most of a second (1M rows)."""


@dataclass(frozen=True)
class Answer:
    """What a search found, and how far it can be trusted."""

    query: Query
    hits: tuple[Hit, ...]
    engine: str
    """`fts5`, `trigram`, `scan`, `mixed` or `none`."""
    complete: bool
    """False when the walk was stopped before the page was full or the rows were through."""
    total: int | None
    """All hits there are; None when not counted."""
    at_least: bool
    """`total` is a floor: counting stopped there."""
    elapsed_ms: float
    notes: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    more: bool = False
    """There may be further hits after the last one."""
    matchers: tuple[Matcher, ...] = field(default=(), repr=False)
    """The terms, for lighting them elsewhere."""


@dataclass(frozen=True)
class Scope:
    """Which rows may be hits, apart from the words."""

    sessions: Callable[[str], bool] | None = None
    """Whether a session is in the view, source and filters asked for; None admits all."""
    roles: frozenset[str] = frozenset()
    """Only these roles; empty admits all."""
    message: MessageCondition | None = None
    """Filters of the query that look at the row itself."""

    @property
    def is_open(self) -> bool:
        """Nothing is left out."""
        return self.sessions is None and not self.roles and self.message is None


EVERYTHING = Scope()


def _fetch(reader: Reader, ids: Sequence[int]) -> dict[int, tuple[object, ...]]:
    schema = reader.schema
    columns = (
        "session_id",
        "role",
        "timestamp",
        "content",
        "tool_name",
        "tool_calls",
        "display_kind",
        "display_metadata",
    )
    selected = ", ".join(schema.message(column) for column in columns)
    rows = reader.rows_in(
        f"SELECT m.id, {selected}, {schema.active()}, {schema.compacted()} FROM messages m WHERE m.id IN ({{keys}})",
        list(ids),
    )
    return {int(str(row[0])): row[1:] for row in rows}


def _to_hit(message_id: int, row: tuple[object, ...], plan: Plan, scope: Scope) -> Hit | None:
    session, role, stamp, content, tool_name, tool_calls, kind, metadata, active, compacted = row
    who, session_id = as_text(role) or "unknown", as_text(session) or ""
    if is_hidden(who, as_text(kind), metadata) or (scope.roles and who not in scope.roles):
        return None
    if scope.sessions is not None and not scope.sessions(session_id):
        return None
    state = state_of(active, compacted)
    moment = as_time(stamp)
    if scope.message is not None and not scope.message.accepts(
        who, moment, state, as_text(content) or "", as_text(tool_name) or "", as_text(tool_calls) or ""
    ):
        return None
    # The index has decided for plain words: checking them again could only disagree with FTS5 about
    # what a letter is. Everything else is checked in the text.
    if not _index_decides(plan) and not plan.accepts(join_text(content, tool_name, tool_calls)):
        return None
    snippet, ranges = make_snippet(
        as_text(content) or "", as_text(tool_name) or "", as_text(tool_calls) or "", plan.matchers
    )
    return Hit(message_id, session_id, who, moment, snippet, ranges, state)


def _index_decides(plan: Plan) -> bool:
    """One group of plain words without short prefixes: MATCH is the whole truth."""
    if len(plan.groups) != 1 or plan.excluded:
        return False
    return all(each.is_plain and not (each.is_prefix and len(each.words[-1]) <= 2) for each in plan.groups[0])


def _hits(walk: Walk, scope: Scope) -> Iterator[Hit]:
    waiting: list[int] = []

    def flush() -> Iterator[Hit]:
        rows = _fetch(walk.reader, waiting)
        for message_id in waiting:
            if message_id in rows:
                hit = _to_hit(message_id, rows[message_id], walk.plan, scope)
                if hit is not None:
                    yield hit
        waiting.clear()

    for message_id in candidates(walk):
        waiting.append(message_id)
        if len(waiting) >= _FETCH:
            yield from flush()
    yield from flush()


def _relevant(reader: Reader, walk: Walk, plan: Plan, scope: Scope, limit: int) -> list[Hit]:
    """The best by bm25 among the newest hits; newest first where no index can rank."""
    pool: list[Hit] = []
    for hit in _hits(walk, scope):
        pool.append(hit)
        if len(pool) >= _RELEVANT:
            walk.notes.append(f"Ranked among the newest {_RELEVANT:,} hits.")
            break
    index = reader.schema.fts
    words = [each.fts for each in plan.matchers if each.words]
    if index is None or not words or "fts5" not in walk.engines or not pool:
        return pool[:limit]
    lowest = min(hit.message_id for hit in pool)
    ranks = {
        int(str(row[0])): position
        for position, row in enumerate(
            reader.rows(
                f"SELECT rowid FROM {index.name} WHERE {index.name} MATCH ? AND rowid >= ? ORDER BY rank",
                [" OR ".join(words), lowest],
            )
        )
    }
    pool.sort(key=lambda hit: ranks.get(hit.message_id, len(ranks)))
    return pool[:limit]


def _total(reader: Reader, plan: Plan, scope: Scope) -> tuple[int | None, bool]:
    """Hits in all when the index can count them, up to a cap."""
    index = reader.schema.fts
    # Rows Hermes hides are in its index too: where there may be some, only a full walk could count.
    if "display_kind" in reader.schema.message_columns:
        return None, False
    if index is None or not scope.is_open or not _index_decides(plan):
        return None, False
    match = " AND ".join(each.fts for each in plan.groups[0])
    found = reader.value(
        f"SELECT count(*) FROM (SELECT 1 FROM {index.name} WHERE {index.name} MATCH ? LIMIT {_COUNT_CAP + 1})", [match]
    )
    count = int(str(found or 0))
    return min(count, _COUNT_CAP), count > _COUNT_CAP


def _engine(engines: set[str]) -> str:
    if not engines:
        return "none"
    return next(iter(engines)) if len(engines) == 1 else "mixed"


def search(
    reader: Reader,
    query: Query,
    *,
    limit: int = 50,
    sort: str = "newest",
    prefix_last: bool = False,
    scope: Scope = EVERYTHING,
    before: int | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    deadline: float | None = None,
) -> Answer:
    """Find the chat messages that a query asks for.

    Args:
        reader: An open reader.
        query: Parsed.
        limit: The most hits; 0 for all.
        sort: `newest`, `relevance` or `oldest`.
        prefix_last: The last word is still being typed.
        scope: Views, sources and filters; applied inside the walk, so that a page is full when there
            are enough hits.
        before: Go on after the hit with this message id.
        cancelled: Asked between statements.
        deadline: `time.monotonic()` at which a scan gives what it has.

    Returns:
        An answer that says itself when it is not the whole truth.

    Raises:
        StoreError: The store cannot be read.
        QueryInterruptedError: `Reader.interrupt` was called.
    """
    begun = time.perf_counter()
    plan = make_plan(query, prefix_last=prefix_last)

    def stopped() -> bool:
        return cancelled() or (deadline is not None and time.monotonic() > deadline)

    if query.is_empty:
        return Answer(query, (), "none", True, 0, False, 0.0, problems=query.problems)
    walk = Walk(reader, plan, sort == "oldest", before, stopped)
    most = limit if limit > 0 else 2**62
    try:
        hits, more = _collect(reader, walk, plan, scope, sort, most)
    except QueryInterruptedError:
        raise
    except StoreError as error:
        # A broken or foreign index (missing shadow tables, an unknown tokenizer) is no reason to
        # find nothing: the rows themselves are still there.
        if reader.schema.fts is None and reader.schema.trigram is None:
            raise
        if isinstance(error, StoreDamagedError):
            reader.value("SELECT count(*) FROM sessions")  # raises again if it is not the index alone
        reader.schema = reader.schema.without_search()
        walk = Walk(reader, plan, sort == "oldest", before, stopped)
        walk.notes.append(f"Hermes' search index cannot be used ({error.sentence}).")
        hits, more = _collect(reader, walk, plan, scope, sort, most)
    total: int | None = len(hits)
    at_least = False
    if more or before is not None or walk.incomplete:
        total, at_least = (None, False) if walk.incomplete or not more else _total(reader, plan, scope)
    gap = partly_indexed(reader)
    notes = [*walk.notes, gap] if gap and "fts5" in walk.engines else walk.notes
    return Answer(
        query=query,
        hits=tuple(hits),
        engine=_engine(walk.engines),
        complete=not walk.incomplete,
        total=total,
        at_least=at_least,
        elapsed_ms=(time.perf_counter() - begun) * 1000,
        notes=tuple(dict.fromkeys(notes)),
        problems=query.problems,
        more=more,
        matchers=tuple(plan.matchers),
    )


def _collect(reader: Reader, walk: Walk, plan: Plan, scope: Scope, sort: str, most: int) -> tuple[list[Hit], bool]:
    if sort == "relevance":
        found = _relevant(reader, walk, plan, scope, most + 1)
        return found[:most], len(found) > most
    hits: list[Hit] = []
    for hit in _hits(walk, scope):
        if len(hits) >= most:
            return hits, True
        hits.append(hit)
    return hits, False


def read_context(reader: Reader, hit: Hit, count: int) -> list[tuple[int, str, str]]:
    """The chat messages around a hit, itself included, in order: id, role, text to 200 code points.

    Args:
        reader: An open reader.
        hit: One of an answer.
        count: How many before and how many after.
    """
    from ..messages import select, to_message

    columns = select(reader.schema)
    found = []
    for comparison, order, most in (("<", "DESC", count), (">=", "ASC", count + 1)):
        rows = reader.rows(
            f"SELECT {columns} FROM messages m WHERE m.session_id = ? AND m.id {comparison} ? "
            f"ORDER BY m.id {order} LIMIT ?",
            [hit.session_id, hit.message_id, most * 2],
        )
        messages = [
            message
            for message in map(to_message, rows)
            if message.id == hit.message_id or (not message.is_hidden and message.state is not State.REWOUND)
        ]
        found += messages[:most]
    found.sort(key=lambda message: message.id)
    return [(message.id, message.role, message.text[:200]) for message in found]
