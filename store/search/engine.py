"""Search: candidates from Hermes' own index, checked against the text, newest first, cancellable."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from ..connection.reader import Reader
from ..connection.stored_values import as_int
from ..errors import NotAStoreError, StoreBusyError, StoreDamagedError, StoreError, StoreUnreadableError
from ..messages.chat_message import Hit
from ..wording import _
from .checker import RELEVANT, Checker, most_relevant
from .conditions import EVERYTHING, Scope, read_scope
from .coverage import Damage, remedy
from .joined_words import find_joined
from .message_rows import RowText, SearchCache, StoredRow
from .query import Query
from .snippets import make_snippet
from .spelled import other_spellings
from .streams import other_spellings_of
from .terms import CompiledQuery, Matcher, compile_query
from .times import EARLIEST
from .walk import CandidateCounts, Walk, indexed, merge

COUNT_CAP = 1000
_ENDLESS = 2**62
_COUNT_CHUNK, _COUNT_BATCH = 20_000, 500
"""Ids read from an index, and rows read, at a time while counting: the first of them are not shown at once."""


@dataclass(frozen=True)
class Answer:
    """What a search found, and what it did not cover."""

    query: Query
    hits: tuple[Hit, ...] = ()
    engine: str = "none"
    """`fts5`, `trigram`, `scan`, `mixed` or `none`."""
    complete: bool = True
    """False when rows that may be hits were not checked: the search was stopped, or too many are in no index."""
    total: int | None = 0
    """The number of all hits; None when not counted."""
    at_least: bool = False
    """`total` is a lower bound: counting stopped there."""
    elapsed_ms: float = 0.0
    notes: tuple[str, ...] = ()
    stopped: bool = False
    """The search was stopped before the page was full."""
    more: bool = False
    """There may be further hits after the last one."""
    matchers: tuple[Matcher, ...] = field(default=(), repr=False)
    """The terms, to highlight them elsewhere."""


@dataclass(frozen=True, slots=True)
class Total:
    """How many hits there are."""

    count: int
    at_least: bool
    """Counting stopped at the cap, at the deadline, or because it was cancelled."""
    sessions: frozenset[str] = field(default=frozenset(), compare=False, repr=False)
    """The sessions of the counted hits."""


def _stopper(cancelled: Callable[[], bool], deadline: float | None) -> Callable[[], bool]:
    return lambda: cancelled() or (deadline is not None and time.monotonic() > deadline)


def _is_of_index(reader: Reader, error: StoreError) -> bool:
    """Whether only the search index is at fault: missing shadow tables, an unknown tokenizer, damage in it."""
    if isinstance(error, StoreBusyError | StoreUnreadableError | NotAStoreError):
        return False
    if reader.schema.fts is None and reader.schema.trigram is None:
        return False
    if isinstance(error, StoreDamagedError):
        reader.value("SELECT count(*) FROM sessions")  # raises when more than the index is damaged
    return True


def damage_of(error: StoreError) -> Damage:
    """Return what is wrong with an index, by the error of SQLite."""
    return Damage.MALFORMED if "malformed" in error.sentence else Damage.BROKEN


def _disable_index(reader: Reader, error: StoreError) -> None:
    """Search without the index from here on; raise the error if the index is not at fault."""
    if not _is_of_index(reader, error):
        raise error
    reader.index_remedy = remedy(reader.schema, damage_of(error))
    reader.schema = reader.schema.without_search()


def _total(reader: Reader, cache: SearchCache, compiled: CompiledQuery, scope: Scope) -> tuple[int | None, bool]:
    """Return the number of all hits, up to a cap, and whether there are more; None if the index cannot tell at once."""
    index, columns = reader.schema.fts, reader.schema.message_columns
    # Rows that Hermes hides (`display_kind`, 0.20) are in its index too: then only `count` can tell.
    if index is None or scope != EVERYTHING or not compiled.index_decides or "display_kind" in columns:
        return None, False
    if cache.holes(reader, index):
        return None, False
    other = other_spellings(reader, index, compiled.groups[0])
    if other and reader.rows(f"SELECT 1 FROM {index.name} WHERE {index.name} MATCH ? LIMIT 1", [other]):
        return None, False
    low, high = cache.edges(reader)
    joined = find_joined(reader, (low, high), high)
    if joined.oldest > low or joined.having(compiled.groups[0]):
        return None, False  # finding all of them takes longer than a page
    role = reader.schema.message("role")
    shown = f"EXISTS (SELECT 1 FROM messages m WHERE m.id = f.rowid AND {role} IS NOT 'session_meta')"
    value = reader.value(
        f"SELECT count(*) FROM (SELECT 1 FROM {index.name} f WHERE f.{index.name} MATCH ? AND {shown} LIMIT ?)",
        [compiled.match, COUNT_CAP + 1],
    )
    number = as_int(value)
    return min(number, COUNT_CAP), number > COUNT_CAP


def _moment(hit: Hit) -> float:
    return hit.timestamp if hit.timestamp is not None else EARLIEST


def _in_order(hits: Sequence[Hit], sort: str) -> bool:
    """Whether hits are in the order of time."""
    places = [(_moment(hit), hit.message_id) for hit in hits]
    return places == sorted(places, reverse=sort != "oldest")


def _can_rank(checker: Checker) -> bool:
    """Whether bm25 can rank: not reasoning, which is in no index, and not with a stale index."""
    schema, compiled = checker.reader.schema, checker.compiled
    return (
        schema.fts is not None
        and schema.note("fts_stale") is None
        and bool(compiled.match)
        and not compiled.in_reasoning
    )


def _to_hit(row: StoredRow, compiled: CompiledQuery) -> Hit:
    snippet, ranges = make_snippet(row.searched or RowText(""), compiled.matchers, is_result=row.role == "tool")
    return Hit(row.id, row.session_id, row.role, row.moment, snippet, ranges, row.state)


def _collect(
    checker: Checker, walk: Walk, sort: str, most: int, portion: Callable[[tuple[Hit, ...]], None]
) -> tuple[list[Hit], bool]:
    """Return at most so many hits, and whether there are more."""
    compiled = checker.compiled
    if sort == "relevance" and _can_rank(checker):
        light = Checker(checker.reader, compiled, checker.scope, with_texts=False)
        walk.tally.needed = max(RELEVANT, most + 1) if most < _ENDLESS else 0
        best, more = most_relevant(light, walk, most)
        with_texts = {row.id: row for row in checker.check([row.id for row in best if row.searched is None])}
        return [_to_hit(with_texts.get(row.id, row), compiled) for row in best], more
    hits: list[Hit] = []
    reported = 0

    def on_scanned() -> None:
        nonlocal reported
        if reported < len(hits) <= most:
            reported = len(hits)
            portion(tuple(hits))

    walk.on_scanned = on_scanned
    for row in islice(checker.hits(walk), most + 1):
        hits.append(_to_hit(row, compiled))
    return hits[:most], len(hits) > most


def prepare(reader: Reader) -> None:
    """Read what the first search of a store needs: how ids and times relate, and what the indexes lack.

    All readers of the `Store` share it. At most one pass over the messages, in statements of some milliseconds each.

    Raises:
        StoreError: The store cannot be read.
        QueryInterruptedError: `Reader.interrupt` was called; what has been read is kept.
    """
    cache, schema = reader.cached(SearchCache), reader.schema
    cache.order(reader)
    try:
        for index in (schema.fts, schema.trigram):
            if index is not None:
                cache.holes(reader, index)
        if schema.fts is not None:
            find_joined(reader, cache.edges(reader), cache.edges(reader)[0])
    except StoreError as error:
        if not _is_of_index(reader, error):  # the search that cannot use a broken index reports it
            raise


def search(
    reader: Reader,
    query: Query,
    *,
    limit: int = 50,
    sort: str = "newest",
    prefix_last: bool = False,
    scope: Scope | None = None,
    before: Hit | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    deadline: float | None = None,
    now: float | None = None,
    progress: Callable[[float], None] = lambda share: None,
    portion: Callable[[tuple[Hit, ...]], None] = lambda hits: None,
) -> Answer:
    """Find the chat messages that match a query.

    Args:
        reader: An open reader.
        query: Parsed.
        limit: The most hits; 0 for all.
        sort: `newest`, `relevance` or `oldest`.
        prefix_last: The last word is still being typed.
        scope: Which rows may be hits, the query's filters included; None applies those to the whole store. It acts
            inside the walk, so that a page is full when there are enough hits.
        before: Continue after this hit.
        cancelled: Called between statements; True stops the search.
        deadline: `time.monotonic()` at which the search stops.
        now: Unix seconds, for dates in filters.
        progress: Called during a scan with the share of the rows that has been scanned, from 0 to 1; on this thread.
        portion: Called during a scan with all hits so far, each time there are more; the answer begins with them.
            Called on this thread; never for the order of relevance.

    Raises:
        StoreError: The store cannot be read.
        QueryInterruptedError: `Reader.interrupt` was called.
    """
    start = time.perf_counter()
    if query.is_empty:
        return Answer(query)
    compiled, stopped = compile_query(query, prefix_last=prefix_last), _stopper(cancelled, deadline)
    scope = read_scope(reader, query, now) if scope is None else scope
    cache = reader.cached(SearchCache)
    checker, most = Checker(reader, compiled, scope, cache=cache), limit if limit > 0 else _ENDLESS
    after = None if before is None else (_moment(before), before.message_id)

    def run(*, reread: bool = False) -> tuple[Walk, list[Hit], bool]:
        tally, order = CandidateCounts(most + 1 if limit > 0 else 0), cache.order(reader, reread=reread)
        walk = Walk(
            reader,
            compiled,
            sort == "oldest",
            order,
            after,
            stopped=stopped,
            progress=progress,
            cache=cache,
            tally=tally,
        )
        return walk, *_collect(checker, walk, sort, most, portion)

    notes: list[str] = []
    try:
        walk, hits, more = run()
    except StoreError as error:
        # A broken or foreign index is no reason to find nothing: the rows themselves are still there.
        _disable_index(reader, error)
        note = _("Hermes' search index cannot be used ({reason}): {remedy}.")
        notes.append(note.format(reason=error.sentence, remedy=reader.index_remedy))
        walk, hits, more = run()
    if sort != "relevance" and cache.order(reader).follows_ids and not _in_order(hits, sort):
        walk, hits, more = run(reread=True)  # rows with old ids have come since the times were read
    total: int | None = len(hits)
    at_least = False
    if more or before is not None or walk.incomplete:
        total, at_least = (None, False) if walk.incomplete or not more else _total(reader, cache, compiled, scope)
    # A full page from the newest rows needs no index, and ends before one is named.
    engines = walk.engines or ({"scan"} if hits else {"none"})
    return Answer(
        query=query,
        hits=tuple(hits),
        engine=next(iter(engines)) if len(engines) == 1 else "mixed",
        complete=not (walk.incomplete or walk.tally.skipped),
        total=total,
        at_least=at_least or (walk.tally.skipped and total is not None),
        elapsed_ms=(time.perf_counter() - start) * 1000,
        notes=tuple(dict.fromkeys([*notes, *walk.notes])),
        stopped=walk.incomplete,
        more=more or walk.incomplete,
        matchers=tuple(compiled.matchers),
    )


def count(
    reader: Reader,
    query: Query,
    *,
    cap: int = COUNT_CAP,
    prefix_last: bool = False,
    scope: Scope | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    deadline: float | None = None,
    now: float | None = None,
) -> Total:
    """Count the hits that `search` would find, without making snippets.

    Args:
        cap: Where to stop counting; 0 counts them all.

    The other arguments and errors are those of `search`.
    """
    if query.is_empty:
        return Total(0, False)
    compiled = compile_query(query, prefix_last=prefix_last)
    admitted = read_scope(reader, query, now) if scope is None else scope
    most = cap if cap > 0 else _ENDLESS

    def run() -> Total:
        cache = SearchCache()
        walk = Walk(reader, compiled, stopped=_stopper(cancelled, deadline), chunk=_COUNT_CHUNK, cache=cache)
        index, ids = reader.schema.fts, None
        is_whole = index is not None and reader.schema.note("fts_stale") is None and not cache.holes(reader, index)
        if index is not None and is_whole and compiled.is_plain:
            # Prefixes too: what makes them expensive is starting the query, and that is done once here.
            ids = merge(
                walk, [indexed(walk, index, compiled.match), other_spellings_of(walk, index, compiled.groups[0])]
            )
        checker = Checker(reader, compiled, admitted, with_texts=False, matched=ids is not None)
        number, sessions = 0, set()
        for row in islice(checker.hits(walk, ids, batch=_COUNT_BATCH), most + 1):
            number += 1
            sessions.add(row.session_id)
        return Total(min(number, most), number > most or walk.incomplete or walk.tally.skipped, frozenset(sessions))

    try:
        return run()
    except StoreError as error:
        _disable_index(reader, error)
        return run()
