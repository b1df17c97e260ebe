"""Help with filters: words that look like one nobody knows, and the tools there are."""

from __future__ import annotations

import re
from collections import Counter
from difflib import get_close_matches

from ..connect import Reader
from ..text import as_text
from ..wording import _
from .kept import read_edges
from .query import FILTER_KEYS, Problem, Query, Term, TermKind
from .times import time_order
from .values import NUMBER_KEYS

_LIKE_A_FILTER = re.compile(r"([A-Za-z_]{2,12})(:|[<>]=?)(?=[^\s:/\\<>=])")
_RECENT = 5000
"""Messages whose tools are looked at."""
_MEANT = {
    **{"since": "after", "from": "after", "newer": "after", "until": "before", "older": "before", "to": "before"},
    **{"path": "file", "date": "on", "day": "on", "when": "on", "dir": "cwd", "folder": "cwd", "repo": "cwd"},
    **{"session": "id", "name": "title", "subject": "title", "provider": "model", "author": "role", "by": "role"},
    **{"platform": "source", "channel": "source", "state": "is", "status": "is", "type": "is", "messages": "msgs"},
    **{"price": "cost", "usd": "cost", "size": "tokens", "contains": "has"},
}
"""What other programs call them."""


def _looks(query: Query) -> list[tuple[Term, str, str]]:
    """Words written like a filter, the reason, and the filter that may be meant (else empty)."""
    known = (*FILTER_KEYS, *NUMBER_KEYS)
    found = []
    for term in (*query.terms, *query.excluded):
        match = _LIKE_A_FILTER.match(term.text) if term.kind is not TermKind.PHRASE else None
        if match is None:
            continue
        key, value = match[1].lower(), term.text[match.end() :]
        is_port = match[2] == ":" and value.isdigit()
        meant = _MEANT.get(key, "")
        if not meant and match[1].islower() and not is_port:
            meant = next(iter(get_close_matches(key, known, 1, 0.7)), "")
        if key in FILTER_KEYS:
            reason = _("{written} is no comparison: write {meant}")
            reason = reason.format(written=f"{key}{match[2]}", meant=f"{key}:{value}")
            found.append((term, reason, f"{key}:{value}"))
        elif meant in known:
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


def recent_tools(reader: Reader, most: int) -> tuple[str, ...]:
    """Names of the tools of the newest messages, the most frequent first.

    Args:
        reader: An open reader.
        most: Names to give.
    """
    tool, order = reader.schema.message("tool_name"), time_order(reader, read_edges(reader))
    if order.follows_ids:
        rows = reader.rows(f"SELECT {tool} FROM messages m ORDER BY m.id DESC LIMIT ?", [_RECENT])
    else:
        rows = reader.rows_in(f"SELECT {tool} FROM messages m WHERE m.id IN ({{keys}})", order.ids[-_RECENT:])
    counted = Counter(filter(None, (as_text(row[0]) for row in rows)))
    return tuple(sorted(counted, key=lambda name: (-counted[name], name))[:most])
