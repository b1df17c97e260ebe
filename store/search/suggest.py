"""What else to look for when nothing was found: only what has been tried and does find something."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..connect import Reader
from .engine import search
from .query import Query, TermKind, parse

_CAP = 1000


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Another query and what it finds."""

    text: str
    """What it is, in a few words."""
    query: str
    hits: int
    at_least: bool
    """There are more than `hits`."""


def _variants(query: Query) -> list[tuple[str, str]]:
    """Wider queries with what they are."""
    words = [term.text for term in query.terms]
    quoted = [f'"{term.text}"' if term.kind is TermKind.PHRASE else term.text for term in query.terms]
    found: list[tuple[str, str]] = []
    if query.filters and words:
        found.append(("without the filters", " ".join(quoted)))
    if words:
        starred = [word if word.startswith('"') else f"{word}*" for word in quoted]
        found.append(("as the beginnings of words", " ".join(starred)))
        bare = " ".join(re.sub(r"[\W_]+", " ", " ".join(words)).split())
        if bare and bare != " ".join(words):
            found.append(("without the punctuation", bare))
    if len(words) > 1:
        found.append(("any of the words", " OR ".join(quoted)))
    return found


def suggest(reader: Reader, query: Query) -> tuple[Suggestion, ...]:
    """Wider queries that find something, each measured.

    Args:
        reader: An open reader.
        query: One that found nothing.
    """
    found: list[Suggestion] = []
    for text, wider in _variants(query):
        answer = search(reader, parse(wider), limit=_CAP)
        if answer.hits:
            found.append(Suggestion(text, wider, len(answer.hits), answer.more))
    return tuple(found)
