"""Search: candidates from Hermes' own index, checked against the text, newest first, cancellable."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from itertools import islice

from ..connection.connect import Reader
from ..errors import (
    NotAStoreError,
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreUnreadableError,
)
from ..messages.models import Hit
from ..wording import _
from .coverage import Damage, remedy
from .judge import RELEVANT, Judge, Scope, SessionFilter, make_scope, most_relevant
from .query import Problem, Query
from .rows import KeptRows
from .spelled import find_joined, other_spellings
from .streams import other_spellings_of
from .terms import Matcher, Plan, make_plan
from .times import EARLIEST
from .walk import Tally, Walk, indexed, merge

COUNT_CAP = 1000
_ENDLESS = 2**62
_COUNT_CHUNK, _COUNT_BATCH = 20_000, 500
"""Ids asked of an index, and rows read, at a time while counting: nobody waits for the first of them."""


@dataclass(frozen=True)
class Answer:
    """What a search found, and how far it can be trusted."""

    query: Query
    hits: tuple[Hit, ...]
    engine: str
    """`fts5`, `trigram`, `scan`, `mixed` or `none`."""
    complete: bool
    """False when rows that may be hits were not looked at: the walk was stopped, or there are too many of them in no
    index."""
    total: int | None
    """All hits there are; None when not counted."""
    at_least: bool
    """`total` is a floor: counting stopped there."""
    elapsed_ms: float
    notes: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    stopped: bool = False
    """The walk was left before the page was full or the rows were through."""
    more: bool = False
    """There may be further hits after the last one."""
    matchers: tuple[Matcher, ...] = field(default=(), repr=False)
    """The terms, for lighting them elsewhere."""


@dataclass(frozen=True, slots=True)
class Total:
    """How many hits there are."""

    count: int
    at_least: bool
    """Counting stopped at the cap, at the deadline, or because it was cancelled."""
    sessions: frozenset[str] = field(default=frozenset(), compare=False, repr=False)
    """The sessions the counted hits are in."""


def _engine(engines: set[str]) -> str:
    if not engines:
        return "none"
    return next(iter(engines)) if len(engines) == 1 else "mixed"


def _stopper(cancelled: Callable[[], bool], deadline: float | None) -> Callable[[], bool]:
    return lambda: cancelled() or (deadline is not None and time.monotonic() > deadline)


def _is_of_index(reader: Reader, error: StoreError) -> bool:
    """Whether the search index alone is at fault: missing shadow tables, an unknown tokenizer, damage in it."""
    if isinstance(error, StoreBusyError | StoreUnreadableError | NotAStoreError):
        return False
    if reader.schema.fts is None and reader.schema.trigram is None:
        return False
    if isinstance(error, StoreDamagedError):
        reader.value("SELECT count(*) FROM sessions")  # raises when more than the index is damaged
    return True


def damage_of(error: StoreError) -> Damage:
    """What is wrong with an index, by how SQLite refuses to use it."""
    return Damage.MALFORMED if "malformed" in error.sentence else Damage.BROKEN


def _do_without(reader: Reader, error: StoreError) -> None:
    """Take the store as having no index from here on, and keep what would mend it."""
    reader.index_remedy = remedy(reader.schema, damage_of(error))
    reader.schema = reader.schema.without_search()


def _total(reader: Reader, kept: KeptRows, plan: Plan, scope: Scope) -> tuple[int | None, bool]:
    """Hits in all when the index can count them at once, up to a cap."""
    index, columns = reader.schema.fts, reader.schema.message_columns
    # Rows Hermes hides are in its index too: where a column tells of them (0.20), only `count` can tell.
    if index is None or not scope.is_open or not plan.index_decides or "display_kind" in columns:
        return None, False
    if kept.holes(reader, index):
        return None, False
    other = other_spellings(reader, index, plan.groups[0])
    if other and reader.rows(f"SELECT 1 FROM {index.name} WHERE {index.name} MATCH ? LIMIT 1", [other]):
        return None, False
    low, high = kept.edges(reader)
    joined = find_joined(reader, (low, high), high)
    if joined.oldest > low or joined.having(plan.groups[0]):
        return None, False  # to find out about all of them takes longer than a page
    role = reader.schema.message("role")
    shown = f"EXISTS (SELECT 1 FROM messages m WHERE m.id = f.rowid AND {role} IS NOT 'session_meta')"
    found = reader.value(
        f"SELECT count(*) FROM (SELECT 1 FROM {index.name} f WHERE f.{index.name} MATCH ? AND {shown} LIMIT ?)",
        [plan.match, COUNT_CAP + 1],
    )
    count = int(str(found or 0))
    return min(count, COUNT_CAP), count > COUNT_CAP


def _moment(hit: Hit) -> float:
    return hit.timestamp if hit.timestamp is not None else EARLIEST


def _in_order(hits: Sequence[Hit], sort: str) -> bool:
    """Whether hits stand in the order of time."""
    places = [(_moment(hit), hit.message_id) for hit in hits]
    return places == sorted(places, reverse=sort != "oldest")


def _can_rank(judge: Judge) -> bool:
    """Whether bm25 can say anything: reasoning, and stores without an index to believe, are read newest first."""
    schema, plan = judge.reader.schema, judge.plan
    return schema.fts is not None and schema.note("fts_stale") is None and bool(plan.match) and not plan.in_reasoning


def _collect(
    judge: Judge, walk: Walk, sort: str, most: int, portion: Callable[[tuple[Hit, ...]], None]
) -> tuple[list[Hit], bool]:
    plan = judge.plan
    if sort == "relevance" and _can_rank(judge):
        light = Judge(judge.reader, plan, judge.scope, with_texts=False)
        walk.tally.wanted = max(RELEVANT, most + 1) if most < _ENDLESS else 0
        best = most_relevant(light, walk, most + 1)
        shown = [found for found in best[:most] if found.said is None]
        texts = {found.id: found for found in judge.judge([found.id for found in shown])}
        return [texts.get(found.id, found).to_hit(plan) for found in best[:most]], len(best) > most
    hits: list[Hit] = []
    told = 0

    def passed() -> None:
        nonlocal told
        if told < len(hits) <= most:
            told = len(hits)
            portion(tuple(hits))

    walk.passed = passed
    for found in islice(judge.walk(walk), most + 1):
        hits.append(found.to_hit(plan))
    return hits[:most], len(hits) > most


def prepare(reader: Reader) -> None:
    """Find out what the first search of a store would have to: how ids stand in time, what the indexes lack.

    It is kept for all readers of the `Store`. A reading of 100,000 messages, in statements of some milliseconds each.

    Raises:
        StoreError: The store cannot be read.
        QueryInterruptedError: `Reader.interrupt` was called; what has been found out is kept.
    """
    kept, schema = reader.keep(KeptRows), reader.schema
    kept.begin(reader)
    kept.order(reader)
    try:
        for index in (schema.fts, schema.trigram):
            if index is not None:
                kept.holes(reader, index)
        if schema.fts is not None:
            find_joined(reader, kept.edges(reader), kept.edges(reader)[0])
    except StoreError as error:
        if not _is_of_index(reader, error):  # a broken index is told of by the search that cannot use it
            raise


def search(
    reader: Reader,
    query: Query,
    *,
    limit: int = 50,
    sort: str = "newest",
    prefix_last: bool = False,
    scope: Scope | None = None,
    sessions: SessionFilter | None = None,
    roles: Collection[str] = (),
    before: Hit | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    deadline: float | None = None,
    now: float | None = None,
    progress: Callable[[float], None] = lambda share: None,
    portion: Callable[[tuple[Hit, ...]], None] = lambda hits: None,
) -> Answer:
    """Find the chat messages that a query asks for.

    Args:
        reader: An open reader.
        query: Parsed.
        limit: The most hits; 0 for all.
        sort: `newest`, `relevance` or `oldest`.
        prefix_last: The last word is still being typed.
        scope: What may be a hit, the query's filters included; None applies these here. All of it acts
            inside the walk, so that a page is full when there are enough hits.
        sessions: More to admit sessions by: a test, or the ids of those that are admitted.
        roles: Only these roles; empty admits all.
        before: Go on after this hit.
        cancelled: Asked between statements.
        deadline: `time.monotonic()` at which a search gives what it has.
        now: Unix seconds, for dates in filters.
        progress: Told while rows are scanned which share of them has been looked at, from 0 to 1; called on
            this thread.
        portion: Given, while rows are scanned, all hits so far, each time there are more; they stay the first of
            the answer. Called on this thread; never where hits are put in the order of relevance.

    Returns:
        An answer that says itself when it is not the whole truth.

    Raises:
        StoreError: The store cannot be read.
        QueryInterruptedError: `Reader.interrupt` was called.
    """
    begun = time.perf_counter()
    if query.is_empty:
        return Answer(query, (), "none", True, 0, False, 0.0, problems=query.problems)
    plan, stopped = make_plan(query, prefix_last=prefix_last), _stopper(cancelled, deadline)
    wanted = make_scope(reader, query, scope, sessions, roles, now)
    kept = reader.keep(KeptRows)
    kept.begin(reader)
    judge, most = Judge(reader, plan, wanted, kept=kept), limit if limit > 0 else _ENDLESS

    after = None if before is None else (_moment(before), before.message_id)

    def run(*, anew: bool = False) -> tuple[Walk, list[Hit], bool]:
        tally, order = Tally(most + 1 if limit > 0 else 0), kept.order(reader, anew=anew)
        walk = Walk(
            reader, plan, sort == "oldest", order, after, stopped=stopped, progress=progress, kept=kept, tally=tally
        )
        return walk, *_collect(judge, walk, sort, most, portion)

    failure: StoreError | None = None
    try:
        walk, hits, more = run()
    except StoreError as error:
        if not _is_of_index(reader, error):
            raise
        # A broken or foreign index is no reason to find nothing: the rows themselves are still there.
        failure = error
        _do_without(reader, error)
        walk, hits, more = run()
    if sort != "relevance" and kept.order(reader).follows_ids and not _in_order(hits, sort):
        walk, hits, more = run(anew=True)  # rows have come under old ids since the times were read
    if failure is not None:
        note = _("Hermes' search index cannot be used ({reason}): {remedy}.")
        walk.notes.insert(0, note.format(reason=failure.sentence, remedy=reader.index_remedy))
    total: int | None = len(hits)
    at_least = False
    if more or before is not None or walk.incomplete:
        total, at_least = (None, False) if walk.incomplete or not more else _total(reader, kept, plan, wanted)
    at_least = at_least or (walk.tally.left_out and total is not None)
    return Answer(
        query=query,
        hits=tuple(hits),
        # A full page from the newest rows needs no index, and is left before one is named.
        engine=_engine(walk.engines or ({"scan"} if hits else set())),
        complete=not (walk.incomplete or walk.tally.left_out),
        total=total,
        at_least=at_least,
        elapsed_ms=(time.perf_counter() - begun) * 1000,
        notes=tuple(dict.fromkeys(walk.notes)),
        problems=query.problems,
        stopped=walk.incomplete,
        more=more or walk.incomplete,
        matchers=tuple(plan.matchers),
    )


def count(
    reader: Reader,
    query: Query,
    *,
    cap: int = COUNT_CAP,
    prefix_last: bool = False,
    scope: Scope | None = None,
    sessions: SessionFilter | None = None,
    roles: Collection[str] = (),
    cancelled: Callable[[], bool] = lambda: False,
    deadline: float | None = None,
    now: float | None = None,
) -> Total:
    """Count the hits of a query as `search` would find them, without making snippets.

    Args:
        cap: Where to stop counting; 0 counts them all.

    The other arguments and what is raised are those of `search`.
    """
    if query.is_empty:
        return Total(0, False)
    plan = make_plan(query, prefix_last=prefix_last)
    wanted = make_scope(reader, query, scope, sessions, roles, now)
    most = cap if cap > 0 else _ENDLESS

    def run() -> Total:
        kept = KeptRows()
        walk = Walk(reader, plan, stopped=_stopper(cancelled, deadline), chunk=_COUNT_CHUNK, kept=kept)
        index, ids = reader.schema.fts, None
        is_whole = index is not None and reader.schema.note("fts_stale") is None and not kept.holes(reader, index)
        if index is not None and is_whole and plan.is_plain:
            # Prefixes too: what makes them dear is to begin, and here that is done once, not for each page.
            ids = merge(walk, [indexed(walk, index, plan.match), other_spellings_of(walk, index, plan.groups[0])])
        judge = Judge(reader, plan, wanted, with_texts=False, matched=ids is not None)
        found, where = 0, set()
        for each in islice(judge.walk(walk, ids, batch=_COUNT_BATCH), most + 1):
            found += 1
            where.add(each.session_id)
        return Total(min(found, most), found > most or walk.incomplete or walk.tally.left_out, frozenset(where))

    try:
        return run()
    except StoreError as error:
        if not _is_of_index(reader, error):
            raise
        _do_without(reader, error)
        return run()
