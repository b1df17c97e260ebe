"""What a search shows: hits with their conversations, matching titles and context; how many there
are."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence, Set
from typing import NamedTuple

from ..connection.reader import Reader, Stopped
from ..connection.stored_values import as_int
from ..messages.chat_message import Hit, HitOrder
from ..messages.decode import read_messages_of, with_names
from ..progress import TellShare, never, quiet
from ..sessions.catalog import UNREAD, Catalog
from ..sessions.first_page import read_neighbourhood
from ..sessions.models import Conversation, View
from .coverage import read_coverage
from .engine import Answer, Search, Total, until
from .filters import Filter
from .query import Query, parse
from .suggestions import Suggestion, suggest
from .terms import fold_composed

_PATIENCE = 120.0
"""Seconds until a scan ends with a partial result."""
_COUNTING = 20.0
"""Seconds until a count ends with "at least"."""
_CONTEXT_WIDTH = 200


class Found(NamedTuple):
    """A page of hits."""

    answer: Answer
    titles: tuple[Conversation, ...]
    """The newest conversations whose title or id has the words."""
    title_count: int
    """How many such conversations there are."""
    conversations: Mapping[str, Conversation]
    """Of the hits, by session id, with previews."""


def find_hits(
    reader: Reader,
    query: Query | str,
    catalog: Catalog = UNREAD,
    view: View = View.ALL,
    *,
    order: HitOrder = HitOrder.NEWEST,
    now: float | None = None,
    limit: int = 50,
    titles: int = 0,
    is_typed: bool = False,
    after: Hit | None = None,
    stopped: Stopped = never,
    tell: TellShare = quiet,
    portion: Callable[[Found], object] = quiet,
) -> Found:
    """Search for a page of hits.

    Args:
        reader: An open reader.
        query: Parsed, or as it is typed.
        catalog: Of the store, as far as it has been read.
        view: The view to search.
        order: Which hits come first.
        now: Unix seconds; the clock's by default.
        limit: The most hits.
        titles: The most titles.
        is_typed: The last word is still being typed.
        after: The hit after which to read on.
        stopped: Polled; True ends the search with a partial result.
        tell: Called with the share of a scan that is done.
        portion: Called with what a scan has found so far.
    """
    now = time.time() if now is None else now
    query = parse(query, now=now) if isinstance(query, str) else query
    search = Search(
        reader,
        query,
        now,
        catalog,
        view,
        order=order,
        prefix_last=is_typed,
        edits_first=True,
        stopped=until(stopped, _PATIENCE),
        progress=tell,
    )
    has_titles = titles and not (query.in_reasoning or query.files)
    named = titled(search.catalog, query, search.roots) if has_titles else []
    newest = [search.catalog.conversation(root) for root in named[:titles]]
    shown = tuple(with_names(reader, newest))

    def found(answer: Answer) -> Found:
        conversations = conversations_of(reader, search.catalog, answer.hits, now)
        return Found(answer, shown, len(named), conversations)

    return found(search.page(limit, after=after, portion=lambda so_far: portion(found(so_far))))


def titled(catalog: Catalog, query: Query, among: Set[str] | None) -> list[str]:
    """Return the roots of the conversations whose titles or ids contain all words of a group, and
    none that is excluded; the newest first. `among` are the roots to choose from, None for all."""
    roots, names = catalog.kept(_names)
    found: set[int] = set()
    for group in query.groups:
        first, *others = (fold_composed(each.text) for each in group)
        indexes = [index for index, name in enumerate(names) if first in name]
        for word in others:
            indexes = [index for index in indexes if word in names[index]]
        found.update(indexes)
    for each in query.excluded:
        found = {index for index in found if not each.first(names[index])}
    in_order = map(roots.__getitem__, sorted(found))
    return [root for root in in_order if among is None or root in among]


def _names(catalog: Catalog) -> tuple[list[str], list[str]]:
    """Return the roots of all conversations, the newest first, and the folded titles and ids of
    each."""
    conversations = catalog.select(View.ALL)
    names = (
        " ".join(f"{part.title or ''} {part.id}" for part in each.segments)
        for each in conversations
    )
    return [each.root_id for each in conversations], list(map(fold_composed, names))


def conversations_of(
    reader: Reader, catalog: Catalog, hits: Sequence[Hit], now: float
) -> dict[str, Conversation]:
    """Return the conversations of hits by session id, with names; those that the catalog lacks are
    read."""
    ids = dict.fromkeys(hit.session_id for hit in hits)
    unknown = [each for each in ids if each not in catalog.sessions]
    others = read_neighbourhood(reader, unknown, now) if unknown else UNREAD
    found = {
        id: conversation
        for id in ids
        if (conversation := catalog.of_session(id) or others.of_session(id))
    }
    return dict(zip(found, with_names(reader, list(found.values())), strict=True))


def count(
    reader: Reader,
    query: Query,
    catalog: Catalog,
    view: View,
    now: float,
    *,
    stopped: Stopped = never,
) -> Total:
    """Count all hits; after twenty seconds the total is "at least"."""
    ends = until(stopped, _COUNTING)
    return Search(reader, query, now, catalog, view, prefix_last=True, stopped=ends).count(0)


class HitPage(NamedTuple):
    """The first hits of a search, with what a script asks for beside them."""

    answer: Answer
    total: Total
    conversations: Mapping[str, Conversation]
    """By session id."""
    contexts: list[list[tuple[int, str, str]]]
    """Of each hit: id, role and text of the messages around it, itself included; empty if not asked
    for."""
    suggestions: tuple[Suggestion, ...]
    """Where nothing was found: wider queries that find something."""
    uncovered: str
    """Where nothing was found: what the index lacks."""


def read_hit_page(
    reader: Reader,
    query: Query,
    now: float,
    view: View = View.ALL,
    *,
    sources: Sequence[str] = (),
    roles: Sequence[str] = (),
    order: HitOrder = HitOrder.NEWEST,
    limit: int = 50,
    context: int = 0,
) -> HitPage:
    """Search; `sources` and `roles` are filters like those of the query, `limit` is the most hits (0
    for all), `context` the messages before and after each."""
    options = (
        *(Filter("source", ":", each) for each in sources),
        *(Filter("role", ":", each) for each in roles),
    )
    query = query._replace(filters=query.filters + options)
    search = Search(reader, query, now, view=view, order=order)
    answer = search.page(limit)
    is_counted = answer.more and search.counts_quickly
    is_missed = not answer.hits and query.groups
    return HitPage(
        answer,
        search.count() if is_counted else Total(len(answer.hits), answer.total is None),
        conversations_of(reader, search.catalog, answer.hits, now),
        [read_context(reader, hit, context) if context else [] for hit in answer.hits],
        () if answer.hits else suggest(reader, query, search.catalog, view, now, is_typed=False),
        read_coverage(reader).reason if is_missed else "",
    )


_SHOWN = "session_id = :session AND NOT hidden AND state <> 'rewound'"
_AROUND = f"""
    SELECT :id UNION SELECT * FROM (
        SELECT id FROM message_rows WHERE {_SHOWN} AND id < :id ORDER BY id DESC LIMIT :count
    ) UNION SELECT * FROM (
        SELECT id FROM message_rows WHERE {_SHOWN} AND id > :id ORDER BY id LIMIT :count
    ) ORDER BY 1
"""


def read_context(reader: Reader, hit: Hit, count: int) -> list[tuple[int, str, str]]:
    """Return the chat messages around a hit, itself included, in order: id, role, text to 200 code
    points.

    `count` is how many before and how many after; rewound and hidden rows do not count.
    """
    rows = reader.rows(_AROUND, {"session": hit.session_id, "id": hit.message_id, "count": count})
    messages = read_messages_of(reader, [as_int(row[0]) for row in rows])
    return [(message.id, message.role, message.text[:_CONTEXT_WIDTH]) for message in messages]
