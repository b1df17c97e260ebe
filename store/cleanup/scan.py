"""The bytes of every message of a store, row by row: for sums that need what else stands in the row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..connect import Reader, Row
from ..schema import Schema
from ..text import as_text
from .sizes import REASONING, Stopped, bytes_sql, check, never

_SLICE = 1000


class MessageRow(NamedTuple):
    """The bytes of one row of `messages`."""

    id: int
    session_id: str
    role: str
    content: int
    kind: int
    """0 text, 1 multimodal, 2 multimodal with embedded data."""
    calls: int
    reasoning: int
    sent: int
    """`api_content`."""
    tool_name: str | None
    timestamp: object

    @property
    def total(self) -> int:
        """All bytes of the row that are counted."""
        return self.content + self.calls + self.reasoning + self.sent


def _columns(schema: Schema) -> str:
    content = schema.message("content")
    # SQLite's text functions end at a NUL: a text that begins with one has no first letter (Hermes' multimodal mark).
    kind = (
        f"CASE WHEN typeof({content}) = 'text' AND {content} <> '' AND substr({content}, 1, 1) = '' "
        f"THEN 1 + (instr(CAST({content} AS BLOB), CAST(';base64,' AS BLOB)) > 0) ELSE 0 END"
    )
    reasoning = " + ".join(bytes_sql(schema.message(name)) for name in REASONING)
    return (
        f"m.id, m.session_id, {schema.message('role')}, {bytes_sql(content)}, {kind if content != 'NULL' else '0'}, "
        f"{bytes_sql(schema.message('tool_calls'))}, {reasoning}, {bytes_sql(schema.message('api_content'))}, "
        f"{schema.message('tool_name')}, {schema.message('timestamp')}"
    )


def _decode(rows: Iterable[Row]) -> list[MessageRow]:
    return [
        MessageRow(
            int(str(row[0])),
            as_text(row[1]) or "",
            as_text(row[2]) or "",
            int(str(row[3])),
            int(str(row[4])),
            int(str(row[5])),
            int(str(row[6])),
            int(str(row[7])),
            as_text(row[8]),
            row[9],
        )
        for row in rows
    ]


def scan_messages(reader: Reader, stopped: Stopped = never) -> Iterator[list[MessageRow]]:
    """The bytes of every message of the store, a slice by id at a time.

    Args:
        reader: An open reader.
        stopped: Looked at between slices.

    Raises:
        QueryInterruptedError: Cancelled.
    """
    statement = f"SELECT {_columns(reader.schema)} FROM messages m WHERE m.id > ? ORDER BY m.id LIMIT {_SLICE}"
    last = -(2**63)
    while True:
        check(stopped)
        rows = _decode(reader.rows(statement, [last]))
        yield rows
        if len(rows) < _SLICE:
            return
        last = rows[-1].id
