"""Run a search on a worker's thread: titles and hits, with their conversations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice

from hermes_browse.store.connection.connect import Reader
from hermes_browse.store.messages.chat_message import Hit
from hermes_browse.store.messages.preview import with_names
from hermes_browse.store.search import Answer, Conditions, Query, Scope, make_plan, search, split_by_edits
from hermes_browse.store.search.terms import CompiledQuery
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.first_page import read_neighbourhood
from hermes_browse.store.sessions.models import Conversation, View

from .results import SearchResults
from .totals import scope_of

PAGE = 32
"""Hits per page: more than a screen shows; each costs a snippet."""
_MOST_TITLES = 8


def _titles(
    catalog: Catalog, query: Query, plan: CompiledQuery, scope: Callable[[str], bool] | None
) -> tuple[Conversation, ...]:
    """Return the newest conversations whose titles, or else ids, contain all words."""
    if not query.groups or query.in_reasoning or query.files:
        return ()
    words = [each.term.text for each in plan.groups[0]]
    roots = (root for root in catalog.named(words) if scope is None or scope(root))
    return tuple(catalog.conversation(root) for root in islice(roots, _MOST_TITLES))


def _joined(first: Answer, second: Answer) -> Answer:
    """Concatenate two answers, of which the first is complete."""
    hits = (*first.hits, *second.hits)
    return replace(
        second,
        hits=hits,
        total=None if second.more else len(hits),
        at_least=False,
        elapsed_ms=first.elapsed_ms + second.elapsed_ms,
        notes=tuple(dict.fromkeys((*first.notes, *second.notes))),
    )


def run(
    reader: Reader,
    query: Query,
    conditions: Conditions,
    *,
    catalog: Catalog,
    view: View,
    sort: str,
    now: float,
    deadline: float,
    earlier: SearchResults | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    progress: Callable[[float], None] = lambda share: None,
    portion: Callable[[SearchResults], None] = lambda found: None,
) -> SearchResults:
    """Search, on a worker's thread.

    Args:
        reader: Open.
        query: Parsed, not empty.
        conditions: Its filters.
        catalog: Of the whole store if it has been read, for views and filters.
        view: The view to search.
        sort: `newest`, `relevance` or `oldest`.
        now: Unix seconds.
        deadline: `time.monotonic()` at which a scan ends with a partial result.
        earlier: Read on after these results.
        cancelled: Called between statements; True ends the search with a partial result.
        progress: Called with the share of the rows scanned, from 0 to 1.
        portion: Called with the results of a scan so far, each time there are more.
    """
    scope, plan = scope_of(catalog, view, conditions), make_plan(query, prefix_last=True)
    sessions = scope.sessions
    before = earlier.hits[-1] if earlier is not None and earlier.hits else None
    titles = (
        earlier.titles if earlier is not None else tuple(with_names(reader, _titles(catalog, query, plan, sessions)))
    )
    conversations = dict(earlier.conversations) if earlier is not None else {}
    # Hits by relevance have no position to read on from: read all pages again.
    from_start = earlier is None or sort == "relevance"
    shown = earlier.hits if earlier is not None and not from_start else ()
    limit = PAGE + (len(earlier.hits) if earlier is not None and from_start else 0)

    def add_conversations(hits: Sequence[Hit]) -> None:
        missing = [hit.session_id for hit in hits if hit.session_id not in conversations]
        conversations.update(_conversations(reader, catalog, missing, now))

    def search_in(scope: Scope, after: Hit | None, shown: tuple[Hit, ...] = shown) -> Answer:
        def report(hits: tuple[Hit, ...]) -> None:
            add_conversations(hits)
            so_far = Answer(
                query, (*shown, *hits), "scan", False, None, False, 0.0, stopped=True, more=True, matchers=matchers
            )
            portion(SearchResults(query, so_far, titles, dict(conversations), sort=sort, is_partial=True))

        return search(
            reader,
            query,
            limit=limit,
            sort=sort,
            prefix_last=True,
            scope=scope,
            before=after,
            cancelled=cancelled,
            deadline=deadline,
            progress=progress,
            portion=report,
        )

    matchers = tuple(plan.matchers)
    parts, past_edits = split_by_edits(query, conditions), earlier is not None and not from_start and earlier.past_edits
    if parts is None:
        answer = search_in(scope, None if from_start else before)
    else:  # a search for a file lists its edits first, then its mentions
        edits, mentions = (replace(scope, message=part.message) for part in parts)
        answer = search_in(mentions if past_edits else edits, None if from_start else before)
        if not past_edits and not answer.more:
            past_edits = True
            answer = _joined(answer, search_in(mentions, None, (*shown, *answer.hits)))
    add_conversations(answer.hits)
    if earlier is not None:
        answer = replace(answer, hits=(*shown, *answer.hits), total=earlier.answer.total)
    return SearchResults(query, answer, titles, conversations, past_edits=past_edits, sort=sort)


def _conversations(reader: Reader, catalog: Catalog, session_ids: Sequence[str], now: float) -> dict[str, Conversation]:
    """Return the conversations of sessions by session id, with previews; read those that the catalog lacks."""
    unique = list(dict.fromkeys(session_ids))
    unknown = [each for each in unique if each not in catalog.forest.sessions]
    neighbourhood = read_neighbourhood(reader, unknown, now) if unknown else catalog
    conversations: dict[str, Conversation] = {}
    for session_id in unique:
        conversation = (neighbourhood if session_id in unknown else catalog).of_session(session_id)
        if conversation is not None:
            conversations[session_id] = conversation
    by_root = {each.root_id: each for each in conversations.values()}
    named = {each.root_id: each for each in with_names(reader, list(by_root.values()))}
    return {session_id: named[conversation.root_id] for session_id, conversation in conversations.items()}
