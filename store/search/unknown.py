"""Help with filters: words that look like one nobody knows, and the tools there are."""

from __future__ import annotations

import re
from difflib import get_close_matches

from ..connect import Reader
from ..text import as_text
from .query import FILTER_KEYS, Problem, Query, TermKind
from .values import NUMBER_KEYS

_LIKE_A_FILTER = re.compile(r"([A-Za-z_]{2,12})(:|[<>]=?)(?=[^\s:/\\<>=])")
_RECENT = 5000
"""Messages whose tools are looked at."""
_MEANT = {
    **{"since": "after", "from": "after", "newer": "after", "until": "before", "older": "before", "to": "before"},
    **{"date": "on", "day": "on", "when": "on", "dir": "cwd", "folder": "cwd", "repo": "cwd"},
    **{"session": "id", "name": "title", "subject": "title", "provider": "model", "author": "role", "by": "role"},
    **{"platform": "source", "channel": "source", "state": "is", "status": "is", "type": "is", "messages": "msgs"},
    **{"price": "cost", "usd": "cost", "size": "tokens", "contains": "has"},
}
"""What other programs call them."""


def unknown_filters(query: Query) -> tuple[Problem, ...]:
    """The plain words of a query that are written like a filter but are none, each with what may be meant.

    `host:8080`, `std::vector`, `https://…` and `TODO:x` are words like any other.
    """
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
            reason = f"{key}{match[2]} is no comparison: write {key}:{value}"
        elif meant in known:
            sign = ">" if meant in NUMBER_KEYS else ":"
            reason = f"no filter {key}{match[2]} (is {meant}{sign} meant?): looked for as text"
        elif match[1].islower() and not is_port:
            reason = f"no filter {key}{match[2]}: looked for as text"
        else:
            continue
        found.append(Problem(term.start, term.end, reason))
    return tuple(sorted(found, key=lambda problem: problem.start))


def recent_tools(reader: Reader, most: int) -> tuple[str, ...]:
    """Names of the tools of the newest messages, the most frequent first.

    Args:
        reader: An open reader.
        most: Names to give.
    """
    rows = reader.rows(
        f"SELECT tool FROM (SELECT {reader.schema.message('tool_name')} AS tool FROM messages m "
        "ORDER BY m.id DESC LIMIT ?) WHERE tool <> '' GROUP BY tool ORDER BY count(*) DESC, tool LIMIT ?",
        [_RECENT, most],
    )
    return tuple(name for name in (as_text(row[0]) for row in rows) if name)
