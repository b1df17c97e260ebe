"""Find rows that repeat another: compaction in place inserts the messages it keeps again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..connection.reader import Reader
from ..connection.stored_values import as_int
from ..text import as_text
from .chat_message import RowInfo, State

_IDENTITY = ("role", "content", "tool_call_id", "tool_calls", "tool_name")
"""Columns that are equal in rows for the same message."""
Identity = tuple[object, ...]


def read_identities(reader: Reader, ids: Sequence[int]) -> dict[int, Identity]:
    """Read what is equal in rows for the same message, by id."""
    columns = ", ".join(map(reader.schema.message, _IDENTITY))
    rows = reader.rows_in(f"SELECT m.id, {columns} FROM messages m WHERE m.id IN ({{keys}})", ids)
    return {as_int(row[0]): row[1:] for row in rows}


def find_copies(reader: Reader, rows: Sequence[RowInfo]) -> dict[int, int]:
    """Find the rows of one session that repeat another, given its rows in order of id.

    Rows of equal `display_order` (0.22) are one message. Without it, rows that differ only in
    their state are, and so is a live row that repeats the compacted tail right after a summary.

    Returns:
        Copy → the row to show: the live row, else the newest (Hermes 0.22, display order).
    """
    if not any(row.state is State.COMPACTED for row in rows):
        return {}
    kept = [row for row in rows if row.state is not State.REWOUND]
    unordered = [row for row in kept if row.order is None]
    identities = read_identities(reader, [row.id for row in unordered])
    messages: dict[object, list[RowInfo]] = {}
    for row in kept:
        key = (row.timestamp, identities.get(row.id, row.id)) if row.order is None else row.order
        messages.setdefault((row.order is None, key), []).append(row)
    copies: dict[int, int] = {}
    for same in messages.values():
        shown = max(same, key=lambda row: (row.state is State.LIVE, row.id))
        copies |= {row.id: shown.id for row in same if row is not shown}
    return copies | _repeated_tail([row for row in unordered if row.id not in copies], identities)


def _repeated_tail(rows: Sequence[RowInfo], identities: Mapping[int, Identity]) -> dict[int, int]:
    """Find the end of the compacted rows that the live rows repeat, after at most one summary
    row."""
    compacted = [row.id for row in rows if row.state is State.COMPACTED]
    live = [
        row.id for row in rows if compacted and row.state is State.LIVE and row.id > compacted[-1]
    ]
    for head in (live, live[1:]):
        for length in range(min(len(head), len(compacted)), 0, -1):
            if identities[compacted[-length]] != identities[head[0]]:
                continue
            pairs = list(zip(compacted[-length:], head, strict=False))
            if all(identities[old] == identities[new] for old, new in pairs):
                return dict(pairs)
    return {}


def may_have_copies(reader: Reader, compressed: Mapping[str, int]) -> set[str]:
    """Return the sessions in which `find_copies` may find something, without reading most texts.

    A session surely has none if its rows all have different orders. Neither has one without orders
    whose rows all have different times, if no compacted row equals one of the two rows with which
    a repeated tail could start.

    Args:
        reader: An open reader.
        compressed: By session id, the last compacted row; all flags in these sessions are 0 or 1.
    """
    clear, unordered = _by_order(reader, compressed)
    different_times = _with_different_times(reader, unordered)
    repeated = _with_repeated_head(reader, {each: compressed[each] for each in different_times})
    return compressed.keys() - clear - (different_times - repeated)


def _by_order(reader: Reader, compressed: Mapping[str, int]) -> tuple[set[str], list[str]]:
    """Return the sessions whose rows all have different orders, and those whose rows have none."""
    schema, order = reader.schema, reader.schema.message("display_order")
    if order == "NULL":
        return set(), list(compressed)
    kept = f"({schema.active()} = 1 OR {schema.compacted()} = 1)"
    statement = (
        f"SELECT m.session_id, count({order}), sum({kept}), sum({kept} AND typeof({order}) = 'integer'), "
        f"count(DISTINCT CASE WHEN {kept} THEN {order} END) "
        "FROM messages m WHERE m.session_id IN ({keys}) GROUP BY 1"
    )
    clear: set[str] = set()
    unordered: list[str] = []
    for session_id, orders, rows, integers, different in reader.rows_in(
        statement, list(compressed)
    ):
        key = as_text(session_id) or ""
        if not orders:
            unordered.append(key)
        elif rows == integers == different:
            clear.add(key)
    return clear, unordered


def _with_different_times(reader: Reader, session_ids: Sequence[str]) -> set[str]:
    """Return the sessions whose rows all have different valid times.

    From an index alone, so rewound rows count too; they seldom have the same time as others.
    """
    if "timestamp" not in reader.schema.message_columns:
        return set()
    valid = "typeof(m.timestamp) IN ('real', 'integer') AND m.timestamp BETWEEN 0 AND 1e11"
    statement = (
        f"SELECT m.session_id FROM messages m WHERE m.session_id IN ({{keys}}) GROUP BY 1 "
        f"HAVING count(*) = sum({valid}) AND count(*) = count(DISTINCT m.timestamp)"
    )
    return {as_text(row[0]) or "" for row in reader.rows_in(statement, session_ids)}


def _with_repeated_head(reader: Reader, compressed: Mapping[str, int]) -> set[str]:
    """Return the sessions in which one of the first two rows after the last compacted one repeats a
    compacted row."""
    schema, active = reader.schema, reader.schema.active()
    first_live = f"SELECT m.id FROM messages m WHERE m.session_id = ? AND +m.id > ? AND {active} = 1 ORDER BY m.id LIMIT 2"
    heads = [row[0] for item in compressed.items() for row in reader.rows(first_live, item)]
    columns = [f"m.{name} IS h.{name}" for name in _IDENTITY if name in schema.message_columns]
    statement = (
        "SELECT DISTINCT h.session_id FROM messages h CROSS JOIN messages m ON m.session_id = h.session_id "
        f"AND +m.id < h.id AND {schema.compacted()} = 1 AND {active} <> 1 AND {' AND '.join(columns) or '1'} "
        "WHERE h.id IN ({keys})"
    )
    return {as_text(row[0]) or "" for row in reader.rows_in(statement, heads)}
