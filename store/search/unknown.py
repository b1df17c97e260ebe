"""Words that look like a filter nobody knows."""

from __future__ import annotations

import re
from difflib import get_close_matches

from ..wording import _
from .filters import BY_KEY, FILTER_KEYS, MEANT, NUMBER_KEYS
from .query import Problem, Query, Term, TermKind

_LIKE_A_FILTER = re.compile(r"([A-Za-z_]{2,12})(:|[<>]=?)(?=[^\s:/\\<>=])")


def _looks(query: Query) -> list[tuple[Term, str, str]]:
    """Words written like a filter, the reason, and the filter that may be meant (else empty)."""
    found = []
    for term in (*query.terms, *query.excluded):
        match = _LIKE_A_FILTER.match(term.text) if term.kind is not TermKind.PHRASE else None
        if match is None:
            continue
        key, value = match[1].lower(), term.text[match.end() :]
        is_port = match[2] == ":" and value.isdigit()
        meant = MEANT.get(key, "")
        if not meant and match[1].islower() and not is_port:
            meant = next(iter(get_close_matches(key, BY_KEY, 1, 0.7)), "")
        if key in FILTER_KEYS:
            reason = _("{written} is no comparison: write {meant}")
            reason = reason.format(written=f"{key}{match[2]}", meant=f"{key}:{value}")
            found.append((term, reason, f"{key}:{value}"))
        elif meant:
            sign = (match[2] if match[2] != ":" else ">") if meant in NUMBER_KEYS else ":"
            reason = _("no filter {written} (is {meant} meant?): looked for as text")
            reason = reason.format(written=f"{key}{match[2]}", meant=f"{meant}{sign}")
            found.append((term, reason, f"{meant}{sign}{value}"))
        elif match[1].islower() and not is_port:
            reason = _("no filter {written}: looked for as text").format(written=f"{key}{match[2]}")
            found.append((term, reason, ""))
    return sorted(found, key=lambda each: each[0].start)


def unknown_filters(query: Query) -> tuple[Problem, ...]:
    """The plain words of a query that are written like a filter but are none, each with what may be meant.

    `host:8080`, `std::vector`, `https://…` and `TODO:x` are words like any other.
    """
    return tuple(Problem(term.start, term.end, reason) for term, reason, meant in _looks(query))


def meant_filters(query: Query) -> list[tuple[str, str]]:
    """For each word that may be a filter misspelt: the filter, and the query with it in the word's place."""
    text = query.text
    return [
        (meant, text[: term.start] + ("-" if text[term.start] == "-" else "") + meant + text[term.end :])
        for term, reason, meant in _looks(query)
        if meant
    ]
