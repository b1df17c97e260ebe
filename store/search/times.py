"""The order of messages in time: that of their ids, or another in imported, merged and restored stores.

Hermes assigns ids in the order of writing, which is mostly the order of time. But `import_sessions` (0.19, 0.22) and a
restore write old conversations under new ids, and clocks are set back. Nothing in a store says so: the times of all
rows are read once, from an index that holds them, and after that those of new rows only.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from operator import le

from ..connection.reader import Reader, Row
from ..connection.stored_values import as_int, as_time

_SESSIONS = 100
"""Sessions whose times are read in one statement: some ten thousand rows, some milliseconds of a lock."""
_ROWS = 5000
_SPARSE = 8
"""With more ids than this for each row, a table by id is larger than a dictionary."""
_FIRST_WINDOW, _GROWTH, _MOST_RANGES, _NEAR = 500, 8, 32, 64

EARLIEST = -math.inf
"""The time of a row without one."""


@dataclass(frozen=True)
class Window:
    """A part of the order of time."""

    order: TimeOrder
    first: int
    end: int
    """Places in the order, half-open."""

    def __contains__(self, message_id: int) -> bool:
        return self.first <= self.order.place(message_id) < self.end

    def ranges(self) -> list[tuple[int, int]]:
        """Return inclusive ranges of ids that hold all rows of the window: a few wide ones, with other rows in them."""
        ids = sorted(self.order.ids[self.first : self.end])
        gaps = sorted(((after - before, at) for at, (before, after) in enumerate(pairwise(ids), 1)), reverse=True)
        cuts = sorted(at for gap, at in gaps[: _MOST_RANGES - 1] if gap > _NEAR)
        return [(ids[low], ids[high - 1]) for low, high in pairwise([0, *cuts, len(ids)])]


@dataclass(frozen=True)
class TimeOrder:
    """The order of the rows of `messages` in time; rows of the same time are ordered by their ids."""

    newest: int
    """The largest id that has been read."""
    latest: float
    """The latest time among them, Unix seconds."""
    ids: array[int] = field(default_factory=lambda: array("q"))
    """All ids in the order of time; empty where that is the order of ids."""
    times: array[float] = field(default_factory=lambda: array("d"))
    """Their times, in the same order."""
    places: array[int] | dict[int, int] | None = None
    """Places in the order of time, by id or by id minus `low`; None where that is the order of ids."""
    low: int = 0
    """The smallest id."""
    checksum: Row = ()
    """Number and sum of the ids: they change when older rows come or go."""

    @property
    def follows_ids(self) -> bool:
        """Whether the order of ids is the order of time."""
        return self.places is None

    def place(self, message_id: int) -> int:
        """Return the place of a row in the order of time; -1 for an unknown row."""
        if isinstance(self.places, array):
            return self.places[message_id - self.low] if 0 <= message_id - self.low < len(self.places) else -1
        return self.places.get(message_id, -1) if self.places else -1

    def windows(self, *, ascending: bool, after: tuple[float, int] | None) -> Iterator[Window]:
        """Yield all rows behind a time and id, oldest or newest first, in growing windows: mostly one is enough."""
        low, high = 0, len(self.ids)
        if after is not None:
            moment, key = after
            begin, end = bisect_left(self.times, moment), bisect_right(self.times, moment)
            if ascending:
                low = bisect_right(self.ids, key, begin, end)
            else:
                high = bisect_left(self.ids, key, begin, end)
        size = _FIRST_WINDOW
        while low < high:
            first, end = (low, min(low + size, high)) if ascending else (max(high - size, low), high)
            yield Window(self, first, end)
            low, high = (end, high) if ascending else (low, first)
            size *= _GROWTH


def _moment(stamp: object) -> float:
    moment = as_time(stamp)
    return moment if moment is not None else EARLIEST


def _portions(reader: Reader, count: int) -> Iterator[Sequence[Row]]:
    """Yield id and time of every row, with short statements where the store has the index for it.

    The store is not locked between two of them: rows may come and go.
    """
    seen = 0
    if "idx_messages_session" in reader.schema.indexes:
        sessions = [row[0] for row in reader.rows("SELECT id FROM sessions")]
        sql = "SELECT m.id, m.timestamp FROM messages m WHERE m.session_id IN ({keys})"
        for start in range(0, len(sessions), _SESSIONS):
            rows = reader.rows_in(sql, sessions[start : start + _SESSIONS])
            seen += len(rows)
            yield rows
    if seen == count:
        return
    # Some rows belong to no session, or to one whose id is not text: read all rows.
    last: object = None
    while rows := reader.rows(
        "SELECT m.id, m.timestamp FROM messages m WHERE ?1 IS NULL OR m.id > ?1 ORDER BY m.id LIMIT ?2", [last, _ROWS]
    ):
        yield rows
        last = rows[-1][0]


def _checksum(reader: Reader, newest: int) -> Row:
    return reader.rows("SELECT count(*), total(id) FROM messages WHERE id <= ?", [newest])[0]


def _read_all(reader: Reader, edges: tuple[int, int]) -> TimeOrder:
    low, high = edges
    count = as_int(reader.value("SELECT count(*) FROM messages"))
    if "timestamp" not in reader.schema.message_columns or not count:
        return TimeOrder(high, EARLIEST)
    if high - low < _SPARSE * count + _ROWS:
        by_id = array("d", [math.nan]) * (high - low + 1)
        for rows in _portions(reader, count):
            for key, stamp in rows:
                if low <= key <= high:  # type: ignore[operator]  # an INTEGER PRIMARY KEY; larger ones are new
                    by_id[key - low] = _moment(stamp)  # type: ignore[operator]
        ids = array("q", (low + at for at, time in enumerate(by_id) if time == time))
        times = array("d", (time for time in by_id if time == time))
        del by_id
    else:
        moments = {as_int(key): _moment(stamp) for rows in _portions(reader, count) for key, stamp in rows}
        ids = array("q", sorted(key for key in moments if low <= key <= high))
        times = array("d", map(moments.__getitem__, ids))
    if all(map(le, times, times[1:])):
        return TimeOrder(high, times[-1] if times else EARLIEST)
    order = sorted(range(len(ids)), key=times.__getitem__)
    return _ordered(reader, high, array("q", map(ids.__getitem__, order)), array("d", map(times.__getitem__, order)))


def _ordered(reader: Reader, newest: int, ids: array[int], times: array[float]) -> TimeOrder:
    low, span = min(ids), max(ids) - min(ids) + 1
    places: array[int] | dict[int, int] = {}
    if span < _SPARSE * len(ids) + _ROWS:
        places = array("q", [-1]) * span
    for place, key in enumerate(ids):
        places[key - low if isinstance(places, array) else key] = place
    return TimeOrder(newest, times[-1], ids, times, places, low, _checksum(reader, newest))


def read_edges(reader: Reader) -> tuple[int, int]:
    """Return the smallest and the largest id of a message; 0 where there is none."""
    # Two subqueries are two index seeks; min and max in one SELECT would read the whole table.
    row = reader.rows("SELECT (SELECT min(id) FROM messages), (SELECT max(id) FROM messages)")[0]
    low, high = (as_int(value) if value is not None else 0 for value in row)
    return low, high


def time_order(reader: Reader, edges: tuple[int, int], *, reread: bool = False) -> TimeOrder:
    """Return the order of the rows in time; all rows are read once for a store, and after that new rows only.

    Rows that were inserted under old ids meanwhile show in the number and sum of the old ids. Where ids follow time
    these are not compared: the caller sets `reread`, to read all rows again, when hits come out of order. `edges` are
    the smallest and the largest id there is.
    """
    known = reader.shared.get(TimeOrder)
    if (
        reread
        or not isinstance(known, TimeOrder)
        or not (known.follows_ids or _checksum(reader, known.newest) == known.checksum)
    ):
        known = _read_all(reader, edges)
    elif known.newest < edges[1]:
        known = _with_new(reader, known, edges)
    reader.shared[TimeOrder] = known
    return known


def _with_new(reader: Reader, known: TimeOrder, edges: tuple[int, int]) -> TimeOrder:
    """Return the order with the rows added since."""
    if "timestamp" not in reader.schema.message_columns:
        return TimeOrder(edges[1], EARLIEST)
    latest, last = known.latest, known.newest
    ids, times = known.ids[:], known.times[:]
    sql = "SELECT m.id, m.timestamp FROM messages m WHERE m.id > ? ORDER BY m.id LIMIT ?"
    while rows := reader.rows(sql, [last, _ROWS]):
        for key, stamp in rows:
            last, moment = as_int(key), _moment(stamp)
            if not known.follows_ids:
                at = bisect_right(times, moment)
                ids.insert(at, last)
                times.insert(at, moment)
            elif moment < latest:
                return _read_all(reader, edges)
            latest = max(latest, moment)
    return TimeOrder(last, latest) if known.follows_ids else _ordered(reader, last, ids, times)
