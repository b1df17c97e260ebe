"""Find rows that repeat another: compaction in place inserts the messages it keeps again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..connection.reader import Reader
from ..connection.stored_values import as_int, first_texts
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

    def message_of(row: RowInfo) -> object:
        if row.order is not None:
            return row.order
        return row.timestamp, identities.get(row.id, row.id)

    by_rank = sorted(kept, key=lambda row: (row.state is State.LIVE, row.id))
    shown = {message_of(row): row.id for row in by_rank}  # the last one of each message
    copies = {row.id: shown[message_of(row)] for row in kept}
    copies = {copy: row for copy, row in copies.items() if copy != row}
    others = [row for row in unordered if row.id in identities and row.id not in copies]
    return copies | _repeated_tail(others, identities)


def _repeated_tail(rows: Sequence[RowInfo], identities: Mapping[int, Identity]) -> dict[int, int]:
    """Find the end of the compacted rows that the live rows repeat, after at most one summary
    row."""
    compacted = [row.id for row in rows if row.state is State.COMPACTED]
    last = max(compacted, default=0)
    live = [row.id for row in rows if row.state is State.LIVE and row.id > last]
    for start in (0, 1):
        for length in range(min(len(live) - start, len(compacted)), 0, -1):
            if identities[compacted[-length]] != identities[live[start]]:
                continue
            pairs = dict(zip(compacted[-length:], live[start:], strict=False))
            if all(identities[old] == identities[new] for old, new in pairs.items()):
                return pairs
    return {}


def with_repeated_head(reader: Reader, compressed: Mapping[str, int]) -> set[str]:
    """Return the sessions in which one of the first two rows after the last compacted one repeats a
    compacted row, so that a repeated tail may start there.

    Args:
        reader: An open reader.
        compressed: By session id, the last compacted row.
    """
    schema, active = reader.schema, reader.schema.active()
    first_live = (
        "SELECT m.id FROM messages m WHERE m.session_id = ? AND +m.id > ? "
        f"AND {active} = 1 ORDER BY m.id LIMIT 2"
    )
    heads = [row[0] for item in compressed.items() for row in reader.rows(first_live, item)]
    columns = [f"m.{name} IS h.{name}" for name in _IDENTITY if name in schema.message_columns]
    statement = (
        "SELECT DISTINCT h.session_id FROM messages h "
        "CROSS JOIN messages m ON m.session_id = h.session_id AND +m.id < h.id "
        f"AND {schema.compacted()} = 1 AND {active} <> 1 AND {' AND '.join(columns) or '1'} "
        "WHERE h.id IN ({keys})"
    )
    return set(first_texts(reader.rows_in(statement, heads)))
