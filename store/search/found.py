"""What a search shows: hits with their conversations, matching titles and context; how many there
are; and other queries that find something, where one finds too little."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ..connection.reader import Reader, Stopped
from ..connection.stored_values import as_int
from ..messages.chat_message import Hit, HitOrder
from ..messages.decode import read_messages_of, with_names
from ..progress import TellShare, never, quiet
from ..sessions.catalog import UNREAD, Catalog
from ..sessions.first_page import read_neighbourhood
from ..sessions.models import Conversation, View
from ..wording import _
from .conditions import EVERYTHING
from .coverage import read_coverage
from .engine import Answer, Search, Total, until
from .filters import Filter
from .query import Query, QueryProblem, parse, unknown_filters
from .scope import Conditions
from .terms import Term, TermKind, fold_composed

_PATIENCE = 120.0
"""Seconds until a scan ends with a partial result."""
_COUNTING = 20.0
"""Seconds until a count ends with "at least"."""
_CONTEXT_WIDTH = 200
_SECONDS = 1.0
"""Seconds to count the hits of one suggestion."""
_Part = Filter | Term | QueryProblem


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
    named = _titles(search) if titles else []
    newest = [search.catalog.conversation(root) for root in named[:titles]]
    shown = tuple(with_names(reader, newest))

    def found(answer: Answer) -> Found:
        conversations = conversations_of(reader, search.catalog, answer.hits, now)
        return Found(answer, shown, len(named), conversations)

    return found(search.page(limit, after=after, portion=lambda so_far: portion(found(so_far))))


def _titles(search: Search) -> list[str]:
    """Return the roots of the conversations that are found by their names, the newest first."""
    query, roots = search.query, search.roots
    if not query.groups or query.in_reasoning or query.files:
        return []
    found = titled(search.catalog, query)
    return found if roots is None else [root for root in found if root in roots]


def titled(catalog: Catalog, query: Query) -> list[str]:
    """Return the roots of the conversations whose titles or ids contain all words of a group, and
    none that is excluded; the newest first."""
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
    return [roots[index] for index in sorted(found)]


def _names(catalog: Catalog) -> tuple[list[str], list[str]]:
    """Return the roots of all conversations, the newest first, and the folded titles and ids of
    each."""
    conversations = catalog.select(View.ALL)
    names = (
        " ".join(f"{part.title or ''} {part.id}" for part in each.segments)
        for each in conversations
    )
    return [each.root_id for each in conversations], [fold_composed(each) for each in names]


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


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Another query, or the same one in another view, and what it finds."""

    text: str
    """What is different, in a few words."""
    query: str
    hits: int
    at_least: bool
    """There may be more than `hits`."""
    counts_conversations: bool = False
    """`hits` counts conversations, not messages: the query only narrows the list."""


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
    named = {"source": sources, "role": roles}
    options = [Filter(key, ":", each) for key, values in named.items() for each in values]
    query = replace(query, filters=(*query.filters, *options))
    search = Search(reader, query, now, view=view, order=order)
    answer = search.page(limit)
    wider: tuple[Suggestion, ...] = ()
    uncovered = ""
    if not answer.hits:
        wider = suggest(reader, query, search.catalog, view, now, is_typed=False)
        uncovered = read_coverage(reader).reason if query.groups else ""
    total = Total(len(answer.hits), answer.total is None)
    if answer.more and search.counts_quickly:
        total = search.count()
    return HitPage(
        answer,
        total,
        conversations_of(reader, search.catalog, answer.hits, now),
        [read_context(reader, hit, context) if context else [] for hit in answer.hits],
        wider,
        uncovered,
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


def asks_for_conversations(query: Query, conditions: Conditions) -> bool:
    """Whether a query only narrows the list: it has no terms, and all its filters test
    conversations."""
    return not query.groups and bool(query.filters) and conditions.rows == EVERYTHING


def count_matches(
    reader: Reader,
    query: Query,
    catalog: Catalog,
    view: View,
    now: float,
    *,
    stopped: Stopped = never,
    is_typed: bool = True,
) -> Suggestion | None:
    """Count the hits, for at most a second; None if there are none. If the query stands in the search
    box and only narrows the list, its conversations are counted."""
    search = Search(reader, query, now, catalog, view, prefix_last=is_typed)
    if is_typed and asks_for_conversations(query, search.conditions):
        found = Suggestion("", query.text, len(search.roots or ()), False, True)
    else:
        search.stopped = until(stopped, _SECONDS)
        total = search.count()
        found = Suggestion("", query.text, total.count, total.at_least)
    return found if found.hits else None


def suggest(
    reader: Reader,
    query: Query,
    catalog: Catalog,
    view: View,
    now: float,
    *,
    stopped: Stopped = never,
    is_typed: bool = True,
) -> tuple[Suggestion, ...]:
    """Return wider queries that find something in the same view, each counted as by
    `count_matches`; `stopped` ends it with those counted so far."""
    suggestions = []
    untyped = tuple(each for each in query.filters if each.start < 0)
    for wider, text in _variants(query).items():
        if stopped():
            break
        taken = parse(f"{wider} ", now=now)  # what is suggested is taken with a space after it
        taken = replace(taken, filters=(*taken.filters, *untyped))
        offer = count_matches(reader, taken, catalog, view, now, stopped=stopped, is_typed=is_typed)
        if offer is not None:
            suggestions.append(replace(offer, text=text, query=wider))
    return tuple(suggestions)


def _variants(query: Query) -> dict[str, str]:
    """Return wider queries, each with what is different; the closest first."""
    text, terms = query.text, query.terms
    typed = [each for each in query.filters if each.start >= 0]
    variants: dict[str, str] = {}
    for problem in unknown_filters(query):
        if problem.meant:
            dash = "-" * text.startswith("-", problem.start)
            variant = _with(text, problem, dash + problem.meant)
            variants[variant] = _("with {part}", part=problem.meant)
    narrowing: list[_Part] = [*typed, *query.excluded]
    for each in narrowing:
        wider = " ".join(_with(text, each, " ").split())
        variants.setdefault(wider, _("without {part}", part=_typed(query, each)))
    starred = text
    for term in reversed(terms):
        if term.kind is TermKind.WORD:
            starred = _with(starred, term, f"{_typed(query, term)}*")
    variants.setdefault(starred, _("as the beginnings of words"))
    if len(query.groups) == 1 and len(terms) > 1:
        any_term = " OR ".join(_typed(query, each) for each in terms)
        excluded = [f"-{_typed(query, each).removeprefix('-')}" for each in query.excluded]
        rest = [_typed(query, each) for each in typed]
        variants.setdefault(" ".join([any_term, *excluded, *rest]), _("any of the words"))
    # Without its only filter the query would be empty.
    return {wider: what for wider, what in variants.items() if wider not in (text, "")}


def _with(text: str, part: _Part, instead: str) -> str:
    """Return a query with something else instead of one of its parts."""
    return text[: part.start] + instead + text[part.end :]


def _typed(query: Query, part: _Part) -> str:
    """Return a part of a query as it was typed."""
    return query.text[part.start : part.end]
