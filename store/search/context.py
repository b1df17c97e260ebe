"""The chat messages around a hit."""

from __future__ import annotations

from ..connect import Reader
from ..messages import select, to_message
from ..models import ChatMessage, Hit, State

_WIDTH = 200


def _is_said(message: ChatMessage) -> bool:
    return not message.is_hidden and message.state is not State.REWOUND


def read_context(reader: Reader, hit: Hit, count: int) -> list[tuple[int, str, str]]:
    """The chat messages around a hit, itself included, in order: id, role, text to 200 code points.

    Args:
        reader: An open reader.
        hit: One of an answer.
        count: How many before and how many after; rows that were taken back or are hidden do not count.
    """
    columns = select(reader.schema)
    here = reader.rows(f"SELECT {columns} FROM messages m WHERE m.id = ?", [hit.message_id])
    found = list(map(to_message, here))
    for comparison, order in (("<", "DESC"), (">", "ASC")):
        beside: list[ChatMessage] = []
        last, chunk = hit.message_id, count + 4
        while len(beside) < count:
            rows = reader.rows(
                f"SELECT {columns} FROM messages m WHERE m.session_id = ? AND m.id {comparison} ? "
                f"ORDER BY m.id {order} LIMIT ?",
                [hit.session_id, last, chunk],
            )
            beside += filter(_is_said, map(to_message, rows))
            if len(rows) < chunk:
                break
            last = int(str(rows[-1][0]))
        found += beside[:count]
    found.sort(key=lambda message: message.id)
    return [(message.id, message.role, message.text[:_WIDTH]) for message in found]
