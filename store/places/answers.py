"""What several places have answered, as one answer, with keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import TypeVar

from ..connection.reader import grouped
from ..errors import RefusedError
from ..notes.notes_file import AllRead
from ..search.coverage import Coverage
from ..search.engine import Answer, Total, engine_of
from ..search.found import Found
from ..search.query import USUAL, Vocabulary
from ..search.suggestions import Suggestion
from ..sessions.models import FAR_PAST
from ..since import Attention
from ..since.since import Since, order
from ..wording import _
from .place import Place

T = TypeVar("T")
Answers = Sequence[tuple[Place, T]]
"""What places have answered, with their own ids."""
Notes = Sequence[str]
"""Why others have not."""


def merged_hits(
    pages: Answers[Found],
    notes: Notes,
    *,
    limit: int,
    titles: int,
    is_part: bool,
) -> Found:
    """Return the hits of places as one page, newest first.

    Args:
        pages: Of the places, with keys.
        notes: Why places are missing.
        limit: The most hits, as `titles` is that of titles.
        is_part: More places are asked, or would have been.
    """
    found = [each for _place, each in pages]
    answers = [each.answer for each in found]
    hits = sorted(
        (hit for each in answers for hit in each.hits),
        key=lambda hit: hit.timestamp or 0.0,
        reverse=True,
    )
    titled = sorted(
        (each for page in found for each in page.titles),
        key=lambda each: each.last_active or FAR_PAST,
        reverse=True,
    )
    place_notes = [f"{place.name}: {note}" for place, each in pages for note in each.answer.notes]
    answer = Answer(
        tuple(hits[:limit]),
        engine_of(each.engine for each in answers),
        complete=not notes and not is_part and all(each.complete for each in answers),
        elapsed_ms=max((each.elapsed_ms for each in answers), default=0.0),
        notes=(*notes, *dict.fromkeys(place_notes)),
        stopped=is_part or any(each.stopped for each in answers),
        more=is_part or len(hits) > limit or any(each.more for each in answers),
        matchers=answers[0].matchers if answers else (),
    )
    title_count = sum(each.title_count for each in found)
    conversations = {key: each for page in found for key, each in page.conversations.items()}
    return Found(answer, tuple(titled[:titles]), title_count, conversations)


def _total(answers: Answers[Total], notes: Notes) -> Total:
    sessions = (key for place, each in answers for key in place.with_keys(each.sessions))
    is_part = bool(notes) or any(each.at_least for _place, each in answers)
    return Total(sum(each.count for _place, each in answers), is_part, frozenset(sessions))


def _best(answers: Answers[Suggestion | None], notes: Notes) -> Suggestion | None:
    found = [(place, (each,)) for place, each in answers if each is not None]
    return next(iter(_added_up(found, notes)), None)


def _added_up(answers: Answers[tuple[Suggestion, ...]], notes: Notes) -> tuple[Suggestion, ...]:
    """Return one suggestion for each query, with the hits of all places."""
    every = (each for _place, found in answers for each in found)
    return tuple(
        replace(
            same[0],
            hits=sum(each.hits for each in same),
            at_least=any(each.at_least for each in same),
        )
        for same in grouped(every, attrgetter("query")).values()
    )


def _roots(answers: Answers[list[str]], notes: Notes) -> list[str]:
    return [root for place, roots in answers for root in place.with_keys(roots)]


def _vocabulary(answers: Answers[Vocabulary], notes: Notes) -> Vocabulary:
    words: Vocabulary = {}
    for _place, vocabulary in answers:
        for key, values in vocabulary.items():
            words[key] = tuple(dict.fromkeys([*words.get(key, ()), *values]))
    return words or USUAL


def _coverage(answers: Answers[Coverage], notes: Notes) -> Coverage:
    reasons = [f"{place.name}: {each.reason}" for place, each in answers if each.reason]
    return Coverage(sum(each.messages for _place, each in answers), " · ".join(reasons))


def _attention(answers: Answers[Attention], notes: Notes) -> Attention:
    every = [place.with_keys(each) for place, each in answers]
    unread = {root: new for each in every for root, new in each.unread.items()}
    waiting = frozenset(root for each in every for root in each.waiting)
    failures = sum(each.failures for each in every)
    return Attention(unread, waiting, failures, all(each.have_marks for each in every))


def _since(answers: Answers[Since], notes: Notes) -> Since:
    _need_one(answers, notes)
    items = [
        item._replace(place=place.name)
        for place, each in answers
        for item in place.with_keys(each).items
    ]
    since = min(each.since for _place, each in answers)
    said = dict.fromkeys([*notes, *(note for _place, each in answers for note in each.notes)])
    return Since(since, tuple(sorted(items, key=order)), tuple(said))


def _need_one(answers: Answers[T], notes: Notes) -> None:
    """Refuse what no place has done."""
    if not answers:
        raise RefusedError(" · ".join(notes))


def _nothing(answers: Answers[None], notes: Notes) -> None:
    """Take no notice of a place that may only be read: it keeps no marks."""


def _all_read(answers: Answers[AllRead], notes: Notes) -> AllRead:
    _need_one(answers, notes)
    before = {place.name: done.before[""] for place, done in answers}
    return AllRead(" · ".join([_("everything is marked as read"), *notes]), before)


MERGED: Mapping[str, Callable[..., object]] = {
    "count_hits": _total,
    "count_matches": _best,
    "suggestions": _added_up,
    "roots": _roots,
    "vocabulary": _vocabulary,
    "coverage": _coverage,
    "attention": _attention,
    "since": _since,
    "begin_marks": _nothing,
    "mark_all_read": _all_read,
}
"""Calls about all places: what makes one answer of theirs, and of why others did not answer."""
