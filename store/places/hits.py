"""The hits of several places as one page, merged as they come."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..messages.chat_message import Hit
from ..search.engine import Answer
from ..search.found import Found
from ..search.query import Query
from ..sessions.models import FAR_PAST, Conversation
from .place import Place

Answers = Sequence[tuple[Place, Found]]
"""What places have found, with their own ids."""


def merged(
    query: Query,
    found: Answers,
    notes: Sequence[str] = (),
    *,
    is_partial: bool = False,
    is_stopped: bool = False,
    sort: str = "newest",
    limit: int = 50,
    titles: int = 0,
) -> Found:
    """Return the hits of places as one page, with keys.

    Args:
        notes: Why places are missing.
        is_partial: More places are asked.
        is_stopped: The search was stopped.
        sort: As of the search, likewise `limit` and `titles`.
    """
    answers = [each.answer for _place, each in found]
    hits = _ordered(found, sort)
    is_cut = len(hits) > limit
    totals = [each.total for each in answers]
    is_counted = not (is_cut or is_partial or notes or None in totals)
    engines = {each.engine for each in answers} - {"none"}
    named = [f"{place.name}: {note}" for place, each in found for note in each.answer.notes]
    answer = Answer(
        query,
        tuple(hits[:limit]),
        engines.pop() if len(engines) == 1 else "mixed" if engines else "none",
        complete=not notes and not is_partial and all(each.complete for each in answers),
        total=sum(total or 0 for total in totals) if is_counted else None,
        elapsed_ms=max((each.elapsed_ms for each in answers), default=0.0),
        notes=(*notes, *dict.fromkeys(named)),
        stopped=is_partial or is_stopped or any(each.stopped for each in answers),
        more=is_cut or is_partial or any(each.more for each in answers),
        matchers=next((each.matchers for each in answers if each.matchers), ()),
    )
    conversations = [
        (place.keys.here([session_id])[0], place.keys.here(conversation))
        for place, each in found
        for session_id, conversation in each.conversations.items()
    ]
    newest = sorted(_titles(found), key=lambda each: each.last_active or FAR_PAST, reverse=True)
    return Found(answer, tuple(newest[:titles]), dict(conversations))


def _ordered(found: Answers, sort: str) -> list[Hit]:
    """Return all hits, in the order of the search; by relevance, the best of each first."""
    ranked = [
        (rank, place.keys.here(hit))
        for place, each in found
        for rank, hit in enumerate(each.answer.hits)
    ]
    if sort == "relevance":
        ranked.sort(key=lambda each: each[0])
    else:
        ranked.sort(key=lambda each: each[1].timestamp or 0.0, reverse=sort == "newest")
    return [hit for _rank, hit in ranked]


def _titles(found: Answers) -> Iterable[Conversation]:
    return (place.keys.here(title) for place, each in found for title in each.titles)
