"""One pass over the candidates of a search, page by page.

Each page asks all sources of a query for the next ids, and goes on behind them. Every statement is
short and fetched whole: no cursor stays open between pages, and a newer query can stop the search
anywhere.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ..connection.reader import Reader
from ..connection.stored_values import as_int
from .conversation_table import Condition, all_of
from .message_rows import SHOWN, rows_sql
from .sources import CandidateSource

_FIRST, _MOST = 64, 2000
"""Ids from an index, or rows of a scan, that one statement looks at: at first, and at most."""
_LONG_SCAN = 400
"""A scan whose statements look at more rows shows what it has found."""


@dataclass
class Loop:
    """One pass over the candidates of a plan, in the order of ids."""

    reader: Reader
    sources: Sequence[CandidateSource]
    scope: Condition
    edges: tuple[int, int]
    oldest: bool = False
    stopped: Callable[[], bool] = lambda: False
    progress: Callable[[float], None] = lambda share: None
    """Called during a scan with the share of the rows that has been scanned, from 0 to 1."""
    incomplete: bool = False
    """It was stopped before its end."""
    is_long: bool = False
    """It scans more than a look at the newest rows."""

    def __post_init__(self) -> None:
        self._sign = 1 if self.oldest else -1
        """Places are ids times this, so that a loop always goes up."""

    def pages(self, after: int | None = None) -> Iterator[list[int]]:
        """Yield ids that may be hits, behind one in the direction of the loop, in order, each once.

        Pages may be empty: between two of them nothing is open, and the caller may do anything.
        """
        begin, end = self._places(*self.edges)
        total = max(end - begin + 1, 1)
        if after is not None:
            begin = self._sign * after + 1
        sizes = [_FIRST] * len(self.sources)
        while begin <= end:
            if self.stopped():
                self.incomplete = True
                return
            found: set[int] = set()
            reached = end
            for number, source in enumerate(self.sources):
                first, last = self._places(source.low, source.high)
                first, last = max(first, begin), min(last, reached)
                if first > last:
                    continue
                # A source for a part of the rows ends there: what is behind can wait.
                ids, reached = self._page(source, first, last, sizes[number])
                found.update(self._sign * each for each in ids)
                sizes[number] = min(sizes[number] * 2, _MOST)
            yield [self._sign * place for place in sorted(found) if place <= reached]
            begin = reached + 1
            self._tell(sizes, 1 - max(end - reached, 0) / total)

    def _places(self, low: int, high: int) -> tuple[int, int]:
        """Return the first and the last place of a range of ids, or back; an empty one is empty."""
        return (low, high) if self.oldest else (-high, -low)

    def _tell(self, sizes: Sequence[int], share: float) -> None:
        scans = [size for size, source in zip(sizes, self.sources, strict=True) if source.is_scan]
        if scans:
            self.is_long = max(scans) > _LONG_SCAN
            self.progress(share)

    def _page(
        self, source: CandidateSource, first: int, last: int, size: int
    ) -> tuple[list[int], int]:
        """Return the ids of a source between two places, and the last place it has looked at."""
        low, high = self._places(first, last)
        if source.ids is not None:
            ids = [key for key in source.ids if low <= key <= high]
            return self._admitted(ids, source.where), last
        order = "ASC" if self.oldest else "DESC"
        if source.index is None:
            looked = f"SELECT id FROM messages WHERE id BETWEEN ? AND ? ORDER BY id {order} LIMIT ?"
            values: list[object] = [low, high, size]
        else:
            name = source.index.name
            looked = (
                f"SELECT rowid FROM {name} WHERE {name} MATCH ? AND rowid BETWEEN ? AND ? "
                f"ORDER BY rowid {order} LIMIT ?"
            )
            values = [source.match, low, high, size]
        ids = [as_int(row[0]) for row in self.reader.rows(looked, values)]
        reached = self._sign * ids[-1] if len(ids) == size else last
        return self._admitted(ids, source.where), reached

    def _admitted(self, ids: Sequence[int], where: Condition) -> list[int]:
        """Return those of some ids that are shown, in the scope, and meet a condition."""
        if not ids:
            return []
        whole = all_of([Condition(SHOWN), self.scope, where])
        rows = self.reader.rows(
            f"SELECT m.id FROM {rows_sql(self.reader.schema)} "
            f"WHERE m.id IN (SELECT value FROM json_each(?)) AND {whole.sql}",
            [json.dumps(ids), *whole.values],
        )
        return [as_int(row[0]) for row in rows]
