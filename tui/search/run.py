"""A search run on a worker's thread: titles and hits, with the conversations they are in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice

from hermes_browse.store.connection.connect import Reader
from hermes_browse.store.messages.models import Hit
from hermes_browse.store.messages.preview import with_names
from hermes_browse.store.search import Answer, Conditions, Query, Scope, make_plan, search, split_by_edits
from hermes_browse.store.search.terms import Plan
from hermes_browse.store.sessions.catalog import Catalog
from hermes_browse.store.sessions.first_page import read_neighbourhood
from hermes_browse.store.sessions.models import Conversation, View

from .results import Found
from .totals import scope_of

PAGE = 32
"""Hits read at a time: more than a screen shows, and each costs its snippet."""
_MOST_TITLES = 8


def _titles(
    catalog: Catalog, query: Query, plan: Plan, scope: Callable[[str], bool] | None
) -> tuple[Conversation, ...]:
    """The newest conversations whose titles, or else ids, contain all that is asked for."""
    if not query.groups or query.in_reasoning or query.files:
        return ()
    words = [each.term.text for each in plan.groups[0]]
    roots = (root for root in catalog.named(words) if scope is None or scope(root))
    return tuple(catalog.conversation(root) for root in islice(roots, _MOST_TITLES))


def _joined(first: Answer, second: Answer) -> Answer:
    """Two answers as one; the first has no more hits."""
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
    earlier: Found | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    progress: Callable[[float], None] = lambda share: None,
    portion: Callable[[Found], None] = lambda found: None,
) -> Found:
    """Search, on a worker's thread.

    Args:
        reader: Open.
        query: Parsed; something to look for.
        conditions: Its filters.
        catalog: The whole store if it has been read, for views and filters.
        view: Where to look.
        sort: `newest`, `relevance` or `oldest`.
        now: Unix seconds.
        deadline: `time.monotonic()` at which a scan gives what it has.
        earlier: Read on after these.
        cancelled: Asked between statements: whether to give what there is.
        progress: Told which share of the rows has been scanned, from 0 to 1.
        portion: Given what a scan has found so far, each time that is more.
    """
    scope, plan = scope_of(catalog, view, conditions), make_plan(query, prefix_last=True)
    sessions = scope.sessions
    before = earlier.hits[-1] if earlier is not None and earlier.hits else None
    titles = (
        earlier.titles if earlier is not None else tuple(with_names(reader, _titles(catalog, query, plan, sessions)))
    )
    known = dict(earlier.conversations) if earlier is not None else {}
    # By relevance there is no "after this one": what has been shown is asked for again, and more.
    anew = earlier is None or sort == "relevance"
    shown = earlier.hits if earlier is not None and not anew else ()
    limit = PAGE + (len(earlier.hits) if earlier is not None and anew else 0)

    def meet(hits: Sequence[Hit]) -> None:
        wanted = [hit.session_id for hit in hits if hit.session_id not in known]
        known.update(_conversations(reader, catalog, wanted, now))

    def ask(asked: Scope, behind: Hit | None, ahead: tuple[Hit, ...] = shown) -> Answer:
        def told(hits: tuple[Hit, ...]) -> None:
            meet(hits)
            so_far = Answer(
                query, (*ahead, *hits), "scan", False, None, False, 0.0, stopped=True, more=True, matchers=matchers
            )
            portion(Found(query, so_far, titles, dict(known), sort=sort, is_partial=True))

        return search(
            reader,
            query,
            limit=limit,
            sort=sort,
            prefix_last=True,
            scope=asked,
            before=behind,
            cancelled=cancelled,
            deadline=deadline,
            progress=progress,
            portion=told,
        )

    matchers = tuple(plan.matchers)
    parts, past_edits = split_by_edits(query, conditions), earlier is not None and not anew and earlier.past_edits
    if parts is None:
        answer = ask(scope, None if anew else before)
    else:  # whoever asks for a file looks for where it was made; where it was talked about comes behind
        edits, mentions = (replace(scope, message=part.message) for part in parts)
        answer = ask(mentions if past_edits else edits, None if anew else before)
        if not past_edits and not answer.more:
            past_edits = True
            answer = _joined(answer, ask(mentions, None, (*shown, *answer.hits)))
    meet(answer.hits)
    if earlier is not None:
        answer = replace(answer, hits=(*shown, *answer.hits), total=earlier.answer.total)
    return Found(query, answer, titles, known, past_edits=past_edits, sort=sort)


def _conversations(reader: Reader, catalog: Catalog, session_ids: Sequence[str], now: float) -> dict[str, Conversation]:
    """The conversations of hits, with previews; those the catalog does not know are read."""
    wanted = list(dict.fromkeys(session_ids))
    unknown = [each for each in wanted if each not in catalog.forest.sessions]
    around = read_neighbourhood(reader, unknown, now) if unknown else catalog
    found: dict[str, Conversation] = {}
    for each in wanted:
        conversation = (around if each in unknown else catalog).of_session(each)
        if conversation is not None:
            found[each] = conversation
    detailed = {
        each.root_id: each for each in with_names(reader, list({c.root_id: c for c in found.values()}.values()))
    }
    return {session: detailed[conversation.root_id] for session, conversation in found.items()}
