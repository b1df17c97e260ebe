"""Rows of sessions read in slices: each statement is short, whatever the size of a conversation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ..errors import QueryInterruptedError, RefusedError
from ..wording import _
from .layout import Layout, Link, Part, Rows
from .values import Line, encode, encode_row, quoted, reading

_KEYS_AT_ONCE = 400
_ROWIDS_AT_ONCE = 20_000
_MOST_ROWS, _MUCH, _LITTLE = 400, 4_000_000, 1_000_000
"""Rows a statement reads at most, and the bytes above and below which the next one reads fewer or more."""


def fill(condition: str, count: int) -> str:
    """A condition for so many ids, which are bound first (`?1` …)."""
    marks = [f"?{number}" for number in range(1, count + 1)]
    return condition.replace("{keys}", ",".join(marks)).replace("{values}", ",".join(f"({mark})" for mark in marks))


def chunks(ids: Sequence[str], size: int = _KEYS_AT_ONCE) -> Iterator[list[str]]:
    """The ids in portions that any SQLite takes as parameters."""
    for start in range(0, len(ids), size):
        yield list(ids[start : start + size])


def never() -> bool:
    """What is never stopped."""
    return False


def read_part(source: Rows, part: Part, ids: Sequence[str], stop: Callable[[], bool] = never) -> Iterator[Line]:
    """The rows of a part, the same order each time; each statement is short, whatever the size of a conversation.

    Args:
        source: A reader or a unit.
        part: From `discover` on the same store.
        ids: Of sessions.
        stop: Looked at between statements.

    Raises:
        QueryInterruptedError: It was stopped.
    """
    for chunk in chunks(ids):
        condition = fill(part.condition, len(chunk))
        if not part.rowid:
            order = ", ".join(map(quoted, part.key)) or "1"
            select = f"SELECT {reading(part.columns)} FROM {quoted(part.table)} WHERE {condition} ORDER BY {order}"
            for values in source.rows(select, chunk):
                yield Line(part.table, None, encode_row(part.columns, values))
            continue
        last = -(2**63)
        # The plus signs keep SQLite from walking all of a large table in the order of its rowids.
        select = (
            f"SELECT {part.rowid} FROM {quoted(part.table)} WHERE ({condition}) AND +{part.rowid} > ?{len(chunk) + 1} "
            f"ORDER BY +{part.rowid} LIMIT {_ROWIDS_AT_ONCE}"
        )
        while True:
            numbers = [int(str(row[0])) for row in source.rows(select, [*chunk, last])]
            yield from read_rows(source, part, numbers, stop)
            if len(numbers) < _ROWIDS_AT_ONCE:
                break
            last = numbers[-1]


def read_rows(source: Rows, part: Part, rowids: Sequence[int], stop: Callable[[], bool] = never) -> Iterator[Line]:
    """Rows by their rowids, in order; those that are gone are left out."""
    start, count = 0, 8
    while start < len(rowids):
        if stop():
            raise QueryInterruptedError(_("Stopped; nothing was changed."))
        portion = rowids[start : start + count]
        start += count
        marks = ",".join("?" * len(portion))
        rows = source.rows(
            f"SELECT {part.rowid}, {reading(part.columns)} FROM {quoted(part.table)} WHERE {part.rowid} IN ({marks}) "
            f"ORDER BY {part.rowid}",
            portion,
        )
        size = sum(len(value) for row in rows for value in row if isinstance(value, bytes))
        if size > _MUCH:
            count = max(1, count // 4)
        elif size < _LITTLE:
            count = min(_MOST_ROWS, count * 2)
        for number, *values in rows:
            rowid = None if part.rowid_is_column else int(str(number))
            yield Line(part.table, rowid, encode_row(part.columns, values))


def read_links(source: Rows, layout: Layout, ids: Sequence[str]) -> list[Link]:
    """References to the sessions, and to their rows, from rows that stay.

    Args:
        source: A reader or a unit.
        layout: Of the same store.
        ids: Of the sessions that go.
    """
    gone = set(ids)
    found: list[Link] = []
    for loose in layout.loose:
        if not loose.key:
            sentence = _("Rows of {table} cannot be told apart, so that a delete could not be undone.")
            raise RefusedError(sentence.format(table=loose.table))
        wanted = (*loose.key, loose.column)
        for chunk in chunks(ids):
            condition = fill(loose.condition, len(chunk))
            order = ", ".join(map(quoted, loose.key))
            select = f"SELECT {reading(wanted)} FROM {quoted(loose.table)} WHERE {condition} ORDER BY {order}"
            for values in source.rows(select, chunk):
                row = encode_row(loose.key, values)
                if loose.table == "sessions" and isinstance(row["id"], str) and row["id"] in gone:
                    continue
                found.append(Link(loose.table, row, loose.column, encode(values[-2], values[-1])))
    return found
