"""The search that comes nearest to a line of sums, and what it cannot say."""

from __future__ import annotations

from datetime import timedelta
from typing import NamedTuple

from hermes_browse.store.insights.facts import UNKNOWN
from hermes_browse.store.insights.periods import bucket_from, first_day
from hermes_browse.store.wording import _

_FILTERS = {"source": "source", "model": "model", "project": "cwd", "tool": "tool", "conversation": "id"}


class Search(NamedTuple):
    """A search; empty where there is none."""

    query: str
    word: str
    """In what it differs from the sums, in a few words; empty where it does not."""


def _written(key: str, value: str) -> str:
    return f'{key}:"{value}"' if any(map(str.isspace, value)) else f"{key}:{value}"


def search_for(by: str, key: str, period: str, now: float) -> Search:
    """The search for what a line sums up.

    Args:
        by: What sums are grouped by.
        key: The line's.
        period: One of `periods.PERIODS`.
        now: Unix seconds.
    """
    if key == UNKNOWN:
        return Search("", _("the search cannot ask for what is unknown"))
    if by == "hour":
        return Search("", _("the search cannot ask for an hour of the week"))
    bucket = bucket_from(key, by) if by in ("day", "week", "month") else None
    if bucket is not None:
        if by == "week":
            before, after = bucket + timedelta(days=7), bucket - timedelta(days=1)
            return Search(f"after:{after} before:{before}", "")  # not shown
        return Search(f"on:{key}", "")
    if '"' in key or not key.strip():
        return Search("", _("the search cannot ask for this name"))
    query, words = _written(_FILTERS[by], key), []
    if by == "model":
        words.append(_("models helpers used are left out"))
    if by in ("model", "project"):
        words.append(_("longer names match"))
    since = first_day(period, now)
    if since is not None and by != "conversation":
        query += f" after:{since - timedelta(days=1)}"
    return Search(query, _("; ").join(words))
