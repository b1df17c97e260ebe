"""What a search shows: hits with their conversations, matching titles; and how many there are."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from types import MappingProxyType
from typing import NamedTuple

from ..connection.reader import Reader
from ..messages.chat_message import Hit
from ..messages.preview import with_names
from ..sessions.catalog import Catalog, read_catalog
from ..sessions.first_page import read_neighbourhood
from ..sessions.models import Conversation, View
from ..trash.progress import never
from .engine import Answer, Search, Total, until
from .query import Query, parse
from .scope import Conditions, Scope, compile_filters, make_scope, roots_in
from .suggest import Suggestion, asks_for_conversations
from .terms import CompiledQuery, compile_query

_PATIENCE = 120.0
"""Seconds until a scan ends with a partial result."""
_SECONDS = 1.0
"""Most seconds to count the hits in another view."""


class Found(NamedTuple):
    """A page of hits."""

    answer: Answer
    titles: tuple[Conversation, ...] = ()
    """The newest conversations whose title or id has the words."""
    conversations: Mapping[str, Conversation] = MappingProxyType({})
    """Of the hits, by session id, with previews."""
    past_edits: bool = False
    """In a search for a file: all edits are listed, and mentions follow."""


def find_hits(
    reader: Reader,
    query: Query | str,
    catalog: Catalog | None = None,
    view: View = View.ALL,
    *,
    sort: str = "newest",
    now: float | None = None,
    limit: int = 50,
    titles: int = 0,
    is_typed: bool = False,
    after: Hit | None = None,
    past_edits: bool = False,
    stopped: Callable[[], bool] = never,
    tell: Callable[[float], None] = lambda share: None,
    portion: Callable[[Found], None] | None = None,
) -> Found:
    """Search for a page of hits.

    Args:
        reader: An open reader.
        query: Parsed, or as it is typed.
        catalog: Of the store, as far as it has been read.
        view: The view to search.
        sort: `newest`, `relevance` or `oldest`.
        now: Unix seconds; the clock's by default.
        limit: The most hits.
        titles: The most titles.
        is_typed: The last word is still being typed.
        after: The hit behind which to read on.
        past_edits: As of the page before.
        stopped: Polled; True ends the search with a partial result.
        tell: Called with the share of a scan that is done.
        portion: Called with what a scan has found so far.
    """
    now = time.time() if now is None else now
    query = parse(query, now=now) if isinstance(query, str) else query
    conditions = compile_filters(query, now)
    whole = whole_catalog(reader, catalog, view, conditions, now)
    scope = make_scope(reader, conditions, whole, view)
    compiled = compile_query(query, prefix_last=is_typed)
    named = _titles(whole, query, compiled, scope, titles) if whole is not None else ()
    shown = tuple(with_names(reader, named))
    ends = until(stopped, _PATIENCE)

    def search_for(edits: bool | None, after: Hit | None, first: tuple[Hit, ...]) -> Answer:
        def report(hits: tuple[Hit, ...]) -> None:
            if portion is None:
                return
            found = (*first, *hits)
            so_far = Answer(
                query,
                found,
                "scan",
                complete=False,
                total=None,
                stopped=True,
                more=True,
                matchers=tuple(compiled.matchers),
            )
            portion(Found(so_far, shown, conversations_of(reader, whole, found, now), past_edits))

        search = Search(
            reader,
            query,
            scope,
            sort=sort,
            prefix_last=is_typed,
            edits=edits,
            stopped=ends,
            progress=tell,
        )
        return search.page(limit, after=after, portion=report)

    if not query.files:
        answer = search_for(None, after, ())
    else:  # edits of the file first, then its mentions
        answer = search_for(not past_edits, after, ())
        if not past_edits and not answer.more:
            past_edits = True
            answer = _joined(answer, search_for(False, None, answer.hits))
    conversations = conversations_of(reader, whole, answer.hits, now)
    return Found(answer, shown, conversations, past_edits)


def whole_catalog(
    reader: Reader, catalog: Catalog | None, view: View, conditions: Conditions, now: float
) -> Catalog | None:
    """Return the catalog, read in full if a search in this view needs that."""
    is_exact = catalog is not None and catalog.exact
    if is_exact or (view is View.ALL and not conditions.needs_catalog):
        return catalog
    return read_catalog(reader, now)


def _titles(
    catalog: Catalog, query: Query, compiled: CompiledQuery, scope: Scope, most: int
) -> list[Conversation]:
    """Return the newest conversations whose titles, or else ids, contain all words."""
    if not query.groups or query.in_reasoning or query.files or not most:
        return []
    words = [each.term.text for each in compiled.groups[0]]
    sessions: Collection[str] | None = scope.sessions
    roots = (root for root in catalog.named(words) if sessions is None or root in sessions)
    return [catalog.conversation(root) for root in islice(roots, most)]


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


def conversations_of(
    reader: Reader, catalog: Catalog | None, hits: Sequence[Hit], now: float
) -> dict[str, Conversation]:
    """Return the conversations of hits by session id, with names; those that the catalog lacks are
    read."""
    unique = list(dict.fromkeys(hit.session_id for hit in hits))
    known = catalog.forest.sessions if catalog is not None else {}
    unknown = [each for each in unique if each not in known]
    read = read_neighbourhood(reader, unknown, now) if unknown else None
    conversations: dict[str, Conversation] = {}
    for session_id in unique:
        source = catalog if session_id in known else read
        conversation = source.of_session(session_id) if source is not None else None
        if conversation is not None:
            conversations[session_id] = conversation
    by_root = {each.root_id: each for each in conversations.values()}
    named = {each.root_id: each for each in with_names(reader, list(by_root.values()))}
    return {
        session_id: named[conversation.root_id]
        for session_id, conversation in conversations.items()
    }


def count(
    reader: Reader,
    query: Query,
    catalog: Catalog,
    view: View,
    now: float,
    *,
    stopped: Callable[[], bool] = never,
    seconds: float = 20.0,
) -> Total:
    """Count all hits; after so many seconds the total is "at least"."""
    conditions = compile_filters(query, now)
    whole = whole_catalog(reader, catalog, view, conditions, now)
    scope = make_scope(reader, conditions, whole, view)
    search = Search(reader, query, scope, prefix_last=True, stopped=until(stopped, seconds))
    return search.count(0)


def count_matches(
    reader: Reader,
    query: Query,
    catalog: Catalog,
    view: View,
    now: float,
    *,
    stopped: Callable[[], bool] = never,
) -> Suggestion | None:
    """Count the hits in a view, or the conversations if a query asks for those; None for none."""
    conditions = compile_filters(query, now)
    whole = whole_catalog(reader, catalog, view, conditions, now)
    if asks_for_conversations(query, conditions) and whole is not None:
        number = len(roots_in(reader, conditions, whole, view))
        found = Suggestion("", query.text, number, at_least=False, of_list=True)
        return found if number else None
    scope = make_scope(reader, conditions, whole, view)
    search = Search(reader, query, scope, prefix_last=True, stopped=until(stopped, _SECONDS))
    total = search.count()
    if not total.count:
        return None
    return Suggestion("", query.text, total.count, total.at_least)
