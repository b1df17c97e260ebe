"""Relevance at a bounded price: the newest hits put in the order of bm25."""

from __future__ import annotations

from ..wording import _
from .rows import Found, Judge
from .walk import Walk

RELEVANT = 2000
"""Relevance is judged among this many newest hits, or as many as are wanted where those are more: bm25 over all of
them takes most of a second (1M rows)."""


def most_relevant(judge: Judge, walk: Walk, limit: int) -> list[Found]:
    """The best by bm25 among the newest hits; newest first where no index can rank.

    Args:
        judge: One that reads texts only where they decide.
        walk: Newest first.
        limit: The most to give.

    Returns:
        Hits, best first; equally good ones newest first.
    """
    pool: list[Found] = []
    most = max(RELEVANT, limit)
    for found in judge.walk(walk):
        pool.append(found)
        if len(pool) >= most:
            walk.notes.append(_("Ranked among the newest {count:,} hits.").format(count=most))
            break
    index, match = judge.reader.schema.fts, judge.plan.match
    if index is None or not match or "fts5" not in walk.engines or not pool:
        return pool[:limit]
    rows = judge.reader.rows(
        f"SELECT rowid FROM {index.name} WHERE {index.name} MATCH ? AND rowid >= ? ORDER BY rank",
        [match, min(found.id for found in pool)],
    )
    places = {int(str(row[0])): place for place, row in enumerate(rows)}
    pool.sort(key=lambda found: places.get(found.id, len(places)))
    return pool[:limit]
