"""Values near one that nothing has: `source:telegran` beside a store full of telegram."""

from __future__ import annotations

from difflib import get_close_matches

from ..connect import Reader
from ..wording import _
from .filters import BY_KEY
from .query import Filter, Query

_MOST = 2
"""Values offered for one filter."""


def _near(value: str, known: tuple[str, ...]) -> list[str]:
    by_fold = {each.casefold(): each for each in known}
    wanted = value.casefold()
    if wanted in by_fold:
        return []
    begun = [each for each in by_fold if wanted and each.startswith(wanted)]
    close = get_close_matches(wanted, by_fold, _MOST, 0.6)
    return [by_fold[each] for each in dict.fromkeys([*begun, *close])][:_MOST]


def _with(query: Query, each: Filter, value: str) -> tuple[str, str]:
    written = f"{each.key}:{value}" if not any(map(str.isspace, value)) else f'{each.key}:"{value}"'
    return _("with {part}").format(part=written), query.text[: each.start] + written + query.text[each.end :]


def nearby_values(reader: Reader, query: Query) -> list[tuple[str, str]]:
    """For each filter with a value the store does not have: what it may be, and the query with that instead.

    Args:
        reader: An open reader.
        query: Parsed.
    """
    found: list[tuple[str, str]] = []
    for each in query.filters:
        known = BY_KEY[each.key].known
        if known is not None and not each.negated:
            found += [_with(query, each, value) for value in _near(each.value, known(reader))]
    return found
