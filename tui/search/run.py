"""Run a search on a worker's thread: titles and hits, with their conversations."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from hermes_browse.store.connection.reader import Reader
from hermes_browse.store.messages.chat_message import Hit
from hermes_browse.store.messages.preview import with_names
from hermes_browse.store.search.engine import Answer, Search, until
from hermes_browse.store.search.query import Query
from hermes_browse.store.search.scope import Conditions, make_scope
from hermes_browse.store.search.terms import CompiledQuery, compile_query
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.first_page import read_neighbourhood
from hermes_browse.store.sessions.models import Conversation, View

from .results import SearchResults

if TYPE_CHECKING:
    from ..screens.scanning import Scan

PAGE = 32
"""Hits per page: more than a screen shows; each costs a snippet."""
_MOST_TITLES = 8
_PATIENCE = 120.0
"""Seconds until a scan ends with a partial result; Esc stops it at any time."""


def _titles(
    catalog: Catalog, query: Query, compiled: CompiledQuery, sessions: Collection[str] | None
) -> tuple[Conversation, ...]:
    """Return the newest conversations whose titles, or else ids, contain all words."""
    if not query.groups or query.in_reasoning or query.files:
        return ()
    words = [each.term.text for each in compiled.groups[0]]
    roots = (root for root in catalog.named(words) if sessions is None or root in sessions)
    return tuple(catalog.conversation(root) for root in islice(roots, _MOST_TITLES))


def _joined(first: Answer, second: Answer) -> Answer:
    """Concatenate two answers, of which the first is complete."""
    hits = (*first.hits, *second.hits)
    return replace(
        second,
        hits=hits,
        total=None if second.more else len(hits),
        elapsed_ms=first.elapsed_ms + second.elapsed_ms,
        notes=tuple(dict.fromkeys((*first.notes, *second.notes))),
    )


def run(
    reader: Reader,
    query: Query,
    conditions: Conditions,
    scan: Scan,
    *,
    catalog: Catalog,
    view: View,
    sort: str,
    now: float,
    earlier: SearchResults | None = None,
) -> SearchResults:
    """Search, on a worker's thread.

    Args:
        reader: Open.
        query: Parsed, not empty.
        conditions: Its filters.
        scan: Is told the progress and the hits so far; can end the search with a partial result.
        catalog: Of the whole store if it has been read, for views and filters.
        view: The view to search.
        sort: `newest`, `relevance` or `oldest`.
        now: Unix seconds.
        earlier: Read on after these results.
    """
    scope, compiled = (
        make_scope(reader, conditions, catalog, view),
        compile_query(query, prefix_last=True),
    )
    stopped, limit = until(scan.stopped.is_set, _PATIENCE), PAGE
    shown: tuple[Hit, ...] = ()
    after: Hit | None = None
    past_edits = False
    if earlier is None:
        titles = tuple(with_names(reader, _titles(catalog, query, compiled, scope.sessions)))
        conversations: dict[str, Conversation] = {}
    else:
        titles, conversations = earlier.titles, dict(earlier.conversations)
        if sort == "relevance":  # these hits have no position to read on from: read all pages again
            limit += len(earlier.hits)
        else:
            shown, past_edits = earlier.hits, earlier.past_edits
            after = shown[-1] if shown else None

    def add_conversations(hits: Sequence[Hit]) -> None:
        missing = [hit.session_id for hit in hits if hit.session_id not in conversations]
        conversations.update(_conversations(reader, catalog, missing, now))

    def search_for(edits: bool | None, after: Hit | None, shown: tuple[Hit, ...]) -> Answer:
        def report(hits: tuple[Hit, ...]) -> None:
            add_conversations(hits)
            so_far = Answer(
                query,
                (*shown, *hits),
                "scan",
                False,
                None,
                stopped=True,
                more=True,
                matchers=tuple(compiled.matchers),
            )
            scan.take(
                SearchResults(
                    query, so_far, titles, dict(conversations), sort=sort, is_partial=True
                )
            )

        search = Search(
            reader,
            query,
            scope,
            sort=sort,
            prefix_last=True,
            edits=edits,
            stopped=stopped,
            progress=scan.tell,
        )
        return search.page(limit, after=after, portion=report)

    if not query.files:
        answer = search_for(None, after, shown)
    else:  # a search for a file lists its edits first, then its mentions
        answer = search_for(not past_edits, after, shown)
        if not past_edits and not answer.more:
            past_edits = True
            answer = _joined(answer, search_for(False, None, (*shown, *answer.hits)))
    add_conversations(answer.hits)
    if earlier is not None:
        answer = replace(answer, hits=(*shown, *answer.hits), total=earlier.answer.total)
    return SearchResults(query, answer, titles, conversations, past_edits=past_edits, sort=sort)


def _conversations(
    reader: Reader, catalog: Catalog, session_ids: Sequence[str], now: float
) -> dict[str, Conversation]:
    """Return the conversations of sessions by session id, with previews; read those that the
    catalog lacks."""
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
    return {
        session_id: named[conversation.root_id]
        for session_id, conversation in conversations.items()
    }
