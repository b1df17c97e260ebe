"""Find ids of messages that no row has.

All sessions of a store share the ids of `messages`, so a jump within one session alone proves
nothing. An id that no row has belonged to a deleted row (AUTOINCREMENT never reuses one,
https://sqlite.org/autoinc.html), of this session or of another; it is unknown which.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..connection.reader import Reader

_MOST_IDS = 20_000
"""Ids looked up per conversation: tenths of a second if nothing is cached."""
_MOST_OF_ONE = 2000
"""Ids looked up between two neighbours; a longer step means hours of other sessions."""


class IdGap(NamedTuple):
    """Ids between two neighbouring rows of a session that no row of the store has."""

    first: int
    last: int
    number: int
    """Missing ids from `first` to `last`."""


def read_id_gaps(reader: Reader, neighbours: Iterable[tuple[int, int]]) -> dict[int, IdGap]:
    """Find missing ids between neighbouring rows of a session, given as pairs of ids.

    Returns:
        Id of the row behind a gap → the gap. Very long steps are not checked.
    """
    steps: list[tuple[int, int]] = []
    ids: list[int] = []
    for before, after in neighbours:
        if 0 < before < after - 1 and after - before <= _MOST_OF_ONE and len(ids) < _MOST_IDS:
            steps.append((before, after))
            ids += range(before + 1, after)
    existing = {
        row[0] for row in reader.rows_in("SELECT m.id FROM messages m WHERE m.id IN ({keys})", ids)
    }
    gaps: dict[int, IdGap] = {}
    for before, after in steps:
        missing = [each for each in range(before + 1, after) if each not in existing]
        if missing:
            gaps[after] = IdGap(missing[0], missing[-1], len(missing))
    return gaps
